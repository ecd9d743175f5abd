"""The beetle, with six legs of two bones: its bones, its shape, and what poses its legs.

A leg is a coxa, which yaws towards the foot's target, and a femur and tibia, which are the limb: so the limb's own
plane always contains the target, and it is a hinge.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, radians, sin
from typing import Any

from bpy.types import Armature, Object
from mathutils import Vector

from .clay import BRASS, CREAM, DARK, LAMP, PUPIL, RUBBER, SPARK, WHITE, Clay, along, paint
from .creature import Creature, add_bone
from .gait import Leg

RIDE = 0.60
"""Height of the body over the ground."""

COXA = (0.16, 0.0)
FEMUR = (0.32, 0.40)
TIBIA = (0.36, -0.95)
"""The parts of a leg at rest: outwards and up."""

HIPS = (("front", 0.40, 0.30, 42.0), ("middle", 0.02, 0.37, 88.0), ("rear", -0.40, 0.31, 136.0))
"""The hips of the left side: name, place ahead and aside, and the direction of the leg in degrees from ahead."""

HEAD = (Vector((0.64, 0.0, 0.12)), Vector((0.30, 0.36, 0.27)))
"""The middle and the half axes of the head."""


def legs() -> list[tuple[Leg, list[Vector]]]:
    """The six legs. Neighbours step in turn."""
    legs = []
    for sign, letter in ((1.0, "L"), (-1.0, "R")):
        for i, (name, x, y, degrees) in enumerate(HIPS):
            out = Vector((cos(radians(degrees)), sign * sin(radians(degrees)), 0.0))
            joints = [Vector((x, sign * y, -0.04))]
            for ahead, up in (COXA, FEMUR, TIBIA):
                joints.append(joints[-1] + ahead * out + Vector((0.0, 0.0, up)))
            phase = 0.5 * ((i + (sign < 0.0)) % 2)
            legs.append((Leg(f"{name}.{letter}", joints[-1].x, joints[-1].y, phase), joints))
    return legs


def _attach(rig: Object, name: str, target: Object) -> None:
    """Let a leg follow its target."""
    yaw: Any = rig.pose.bones[f"coxa_{name}"].constraints.new("LOCKED_TRACK")
    yaw.target, yaw.track_axis, yaw.lock_axis = target, "TRACK_Y", "LOCK_Z"
    ik = rig.pose.bones[f"tibia_{name}"].planar_ik
    ik.target, ik.plane = target, "HINGE"


def _fidget(rig: Object, frame: int) -> None:
    """Let the head look about and the feelers swing."""
    step, bones = 2.0 * pi * frame / 22.0, rig.pose.bones
    bones["head"].rotation_euler = (0.05 * sin(2.0 * step), 0.10 * sin(step), 0.28 * sin(0.055 * frame - 1.2))
    bones["tail"].rotation_euler = (0.05 * sin(2.0 * step - 1.0), 0.0, 0.07 * sin(step - 0.7))
    for name in ("feeler.L", "feeler.R"):
        bones[name].rotation_euler = (0.16 * sin(2.0 * step - 1.3), 0.0, 0.10 * sin(step))


def _bones(armature: Armature) -> Any:
    up = Vector((0.0, 0.0, RIDE))
    body = add_bone(armature, "body", up + Vector((-0.4, 0.0, 0.0)), up + Vector((0.4, 0.0, 0.0)))
    head = add_bone(armature, "head", up + Vector((0.42, 0.0, 0.08)), up + Vector((0.85, 0.0, 0.10)), body)
    add_bone(armature, "tail", up + Vector((-0.1, 0.0, 0.05)), up + Vector((-0.8, 0.0, 0.05)), body)
    for name, sign in (("feeler.L", 1.0), ("feeler.R", -1.0)):
        start = up + Vector((0.60, 0.09 * sign, 0.36))
        add_bone(armature, name, start, start + Vector((0.12, 0.16 * sign, 0.5)), head)
    return body


CORAL = "Coral", (0.86, 0.11, 0.03), 0.3, 0.0, 0.8
BLUSH = "Blush", (0.90, 0.28, 0.22), 0.6


def _make_skin() -> Clay:
    clay = Clay()
    _shape_body(clay)
    _shape_head(clay)
    for leg, joints in legs():
        _shape_leg(clay, leg.name, *joints)
    return clay


def _shape_body(clay: Clay) -> None:
    coral, cream, dark = paint(*CORAL), paint(*CREAM), paint(*DARK)
    clay.ball((0.0, 0.0, -0.04), (0.66, 0.45, 0.17), dark, "body")
    clay.ball((0.40, 0.0, 0.09), (0.20, 0.31, 0.23), dark, "body")
    middle, radii = Vector((-0.14, 0.0, 0.06)), Vector((0.62, 0.47, 0.40))
    clay.ball(middle, radii, coral, "tail")
    clay.ball(middle, (radii.x * 1.006, 0.012, radii.z * 1.012), dark, "tail")
    clay.ball(middle + Vector((0.0, 0.0, -0.06)), (0.645, 0.492, 0.10), cream, "tail")
    for ahead, aside, size in ((0.55, 38, 0.085), (0.05, 52, 0.115), (-0.5, 36, 0.09), (-0.1, 20, 0.06)):
        for sign in (1.0, -1.0):
            across = (1.0 - ahead * ahead) ** 0.5
            outwards = Vector((ahead, sign * across * sin(radians(aside)), across * cos(radians(aside))))
            turn = along(
                (0.0, 0.0, 0.0), Vector(number / radius for number, radius in zip(outwards, radii, strict=True))
            )
            clay.ball(middle + outwards * radii, (size, size, 0.016), cream, "tail", turn)
    clay.ball((-0.74, 0.0, 0.03), (0.10, 0.16, 0.12), paint(*LAMP), "tail")


def _shape_head(clay: Clay) -> None:
    cream, dark, lamp = paint(*CREAM), paint(*DARK), paint(*LAMP)
    clay.ball(HEAD[0], HEAD[1], cream, "head")
    for sign in (1.0, -1.0):
        eye = Vector((0.76, 0.175 * sign, 0.235))
        clay.ball(eye, (0.165, 0.165, 0.175), paint(*WHITE), "head")
        gaze = Vector((0.93, 0.16 * sign, 0.08)).normalized()
        clay.ball(eye + 0.118 * gaze, (0.098, 0.098, 0.060), paint(*PUPIL), "head", along((0.0, 0.0, 0.0), gaze))
        clay.ball(eye + 0.165 * gaze + Vector((0.0, -0.035, 0.045)), (0.024, 0.024, 0.024), paint(*SPARK), "head")
        clay.ball((0.85, 0.235 * sign, 0.045), (0.045, 0.055, 0.04), paint(*BLUSH), "head")
        root = Vector((0.60, 0.09 * sign, 0.36))
        joint, end = root + Vector((0.02, 0.05 * sign, 0.26)), root + Vector((0.14, 0.16 * sign, 0.46))
        feeler = "feeler.L" if sign > 0 else "feeler.R"
        clay.limb(root, joint, (0.024, 0.018), dark, feeler)
        clay.limb(joint, end, (0.018, 0.014), dark, feeler)
        clay.ball(end, (0.058, 0.058, 0.058), lamp, feeler)
    smile = []
    for t in (-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1):
        aside, down = 0.13 * t / HEAD[1].y, (0.05 * t * t - 0.085) / HEAD[1].z
        outwards = Vector(((1.0 - aside * aside - down * down) ** 0.5, aside, down))
        smile.append(HEAD[0] + outwards * HEAD[1])
    for start, end in pairwise(smile):
        clay.limb(start, end, (0.014, 0.014), dark, "head")


def _shape_leg(clay: Clay, name: str, hip: Vector, shoulder: Vector, knee: Vector, tip: Vector) -> None:
    coral, cream, dark, brass = paint(*CORAL), paint(*CREAM), paint(*DARK), paint(*BRASS)
    thigh, shin = knee - shoulder, tip - knee
    across = thigh.cross(shin).normalized()
    clay.ball(hip, (0.115, 0.115, 0.13), dark, f"coxa_{name}")
    clay.limb(hip, shoulder, (0.085, 0.075), dark, f"coxa_{name}")
    clay.ball(shoulder, (0.098, 0.098, 0.098), brass, f"coxa_{name}")
    clay.limb(shoulder + 0.16 * thigh, shoulder + 0.84 * thigh, (0.105, 0.080), coral, f"femur_{name}")
    clay.limb(shoulder, knee, (0.05, 0.05), dark, f"femur_{name}")
    clay.band(knee, across, (0.088, 0.085), dark, f"femur_{name}")
    clay.band(knee, across, (0.05, 0.10), brass, f"femur_{name}")
    clay.limb(knee, knee + 0.5 * shin, (0.05, 0.05), dark, f"tibia_{name}")
    clay.limb(knee + 0.13 * shin, knee + 0.70 * shin, (0.088, 0.058), cream, f"tibia_{name}")
    along = shin.normalized()
    clay.limb(knee + 0.72 * shin, tip - 0.055 * along, (0.066, 0.055), paint(*RUBBER), f"tibia_{name}")
    clay.band(knee + 0.74 * shin, shin, (0.076, 0.02), brass, f"tibia_{name}")


BEETLE = Creature(
    name="Beetle",
    ride=RIDE,
    parts=("coxa", "femur", "tibia"),
    legs=legs(),
    bones=_bones,
    make_skin=_make_skin,
    attach=_attach,
    fidget=_fidget,
)
