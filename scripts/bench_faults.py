"""Five cases in which Blender's IK constraint goes wrong, run on both.

A limb of lengths 1 and 1 points up, its knee towards -X. All targets are in its plane.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import cos, radians, sin
from random import Random

import bpy
from mathutils import Quaternion, Vector

from .bench_rigs import Limbs, bent_limb

SOLVES = 400

Way = Callable[[Limbs], None]


def main() -> None:
    rows: list[tuple[str, Callable[[Way], str]]] = [
        *[
            (f"half-bend {b} rad, bends to the wrong side", lambda way, b=b: wrong_sides(way, b))
            for b in (0.02, 0.05, 0.1)
        ],
        ("straight, target in line at 1.5: tip error", in_line),
        ("  the same with a pole", in_line_with_pole),
        ("half-bend 0.05, 1 degree of target: knee jumps", jump),
        ("-20 degrees left on the lower bone: knee's x", leftover),
        ("stretch 0.2, target at 1.5: the bones' lengths", stretched),
    ]
    print(f"{'':50}{'constraint':>18}{'chain':>18}")
    for name, case in rows:
        print(f"{name:50}{case(by_constraint):>18}{case(by_chain):>18}", flush=True)


def by_constraint(limbs: Limbs) -> None:
    limbs.pose_by_constraints()


def by_chain(limbs: Limbs) -> None:
    limbs.pose_by_chains()


def wrong_sides(way: Way, half_bend: float) -> str:
    """How many targets within 60 degrees of rest make the knee bend the other way than at rest."""
    limbs = bent_limb(half_bend)
    way(limbs)
    chance = Random(1)  # noqa: S311 (no secret)
    wrong = 0
    for _ in range(SOLVES):
        place = at(chance.uniform(-60.0, 60.0), chance.uniform(0.3, 1.95))
        knee, _ = limbs.reach_for(place)
        wrong += place.x * knee.z - place.z * knee.x < 0.0
    return f"{100.0 * wrong / SOLVES:.1f} %"


def in_line(way: Way) -> str:
    limbs = bent_limb(0.0)
    way(limbs)
    return f"{(limbs.reach_for(at(0.0, 1.5))[1] - at(0.0, 1.5)).length:.1e}"


def in_line_with_pole(way: Way) -> str:
    limbs = bent_limb(0.0)
    limbs.pole.location = (-5.0, 0.0, 1.0)
    if way is by_chain:
        limbs.pose_by_chains(plane="POLE")
    else:
        limbs.pose_by_constraints(has_pole=True)
    return f"{(limbs.reach_for(at(0.0, 1.5))[1] - at(0.0, 1.5)).length:.1e}"


def jump(way: Way) -> str:
    """The farthest that the knee goes between two targets 1 degree apart."""
    limbs = bent_limb(0.05)
    way(limbs)
    knees = [limbs.reach_for(at(angle + 0.5, 1.5))[0] for angle in range(-90, 90)]
    return f"{max((b - a).length for a, b in pairwise(knees)):.3f}"


def leftover(way: Way) -> str:
    """Where the knee is without and with a rotation of the lower bone that was left from earlier."""
    places = []
    for angle in (0.0, -20.0):
        limbs = bent_limb(0.1)
        lower = limbs.rig.pose.bones["lower0"]
        across = lower.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 1.0, 0.0))
        lower.rotation_quaternion = Quaternion(across, radians(angle))
        way(limbs)
        places.append(limbs.reach_for(at(10.0, 1.5))[0].x)
    return f"{places[0]:+.2f}, {places[1]:+.2f}"


def stretched(way: Way) -> str:
    """The lengths of both bones when both may stretch but need not."""
    limbs = bent_limb(0.05)
    way(limbs)
    if way is by_chain:
        limbs.pose_by_chains(stretch=0.2)
    else:
        for bone in limbs.rig.pose.bones:
            bone.ik_stretch = 0.2
    bpy.context.view_layer.update()
    knee, tip = limbs.reach_for(at(0.0, 1.5))
    return f"{knee.length:.2f}, {(tip - knee).length:.2f}"


def at(degrees: float, distance: float) -> Vector:
    """A place in the limb's plane: degrees from up towards +X."""
    return Vector((distance * sin(radians(degrees)), 0.0, distance * cos(radians(degrees))))
