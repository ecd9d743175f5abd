"""Machines of the guide and of the sample file: bones drawn in a plane, and the presses that make them move.

The pictures of docs/machines.md are played in Blender's real window by scripts/pictures.py.
"""

from __future__ import annotations

from cmath import exp, rect
from math import acos, pi, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

from . import sample, studio

if TYPE_CHECKING:
    from tests.window.hand import Hand

Bone = tuple[complex, complex, str]
"""Where a bone begins and ends in the XZ plane, and its parent."""


class Machine(NamedTuple):
    """Bones by name, and those that are turned, by how much to and fro, or all round; those that slide; and cylinders,
    each two bones."""

    bones: dict[str, Bone]
    turns: dict[str, float]
    slides: tuple[str, ...] = ()
    cylinders: tuple[tuple[str, str], ...] = ()
    width: float = 0.05


def scissor(stages: int) -> Machine:
    """A lift of bars that cross in their middles: the foot of one turns, that of the other slides."""
    end = rect(1.0, 0.7)
    foot, middle, rise = complex(end.real), end / 2.0, end.imag
    bones: dict[str, Bone] = {
        "ground": (-0.1j, complex(1.2, -0.1), ""),
        "bar": (0j, end, "ground"),
        "pin": (middle, middle + 0.1j, "bar"),
        "roller": (foot + 0.3, foot, "ground"),
        "cross bar": (foot, middle, "roller"),
    }
    bones["cross bar top"] = (middle, 2.0 * middle - foot, "cross bar")
    start, on_start, on_end = 2.0 * middle - foot, "cross bar", "bar"
    for k in range(2, stages + 1):
        middle += complex(0.0, rise)
        bones[f"pin {k}"] = (end, end + 0.1j, on_end)
        bones[f"bar {k}"] = (start, middle, on_start)
        bones[f"cross bar {k}"] = (middle, end, f"bar {k}")
        start, end = 2.0 * middle - end, 2.0 * middle - start
        on_start, on_end = f"cross bar {k}", f"bar {k}"
        bones[f"cross bar top {k}"] = (middle, start, on_start)
        bones[f"bar top {k}"] = (middle, end, on_end)
    return Machine(bones, {"bar": 0.3}, ("roller",), width=0.03)


FOUR_BARS = Machine(
    {
        "ground": (-0.1j, complex(1.1, -0.1), ""),
        "crank": (0j, 0.3j, "ground"),
        "pin": (0.3j, 0.4j, "crank"),
        "rocker": (1.1 + 0j, 1.2 + 0.75j, "ground"),
        "rod": (1.2 + 0.75j, 0.3j, "rocker"),
    },
    {"crank": 2.0 * pi},
)
PISTON = {
    "rocker pin": (1.2 + 0.75j, 1.2 + 0.85j, "rocker"),
    "piston": (1.2 + 1.9j, 1.2 + 1.5j, "ground"),
    "piston rod": (1.2 + 1.5j, 1.2 + 0.75j, "piston"),
}
ENGINE = FOUR_BARS._replace(bones=FOUR_BARS.bones | PISTON, slides=("piston",))
BRACE = Machine(
    {
        "wing": (0.1j, 1.0 + 0.1j, ""),
        "leg": (0j, 0.1 - 0.9j, "wing"),
        "pin": (0.06 - 0.5j, 0.06 - 0.4j, "leg"),
        "upper brace": (0.9 + 0j, 0.62 - 0.42j, "wing"),
        "lower brace": (0.62 - 0.42j, 0.06 - 0.5j, "upper brace"),
    },
    {"leg": 0.5},
)
EXCAVATOR = Machine(
    {
        "base": (0j, 0.5j, ""),
        "boom": (0.5j, 1.1 + 1.5j, "base"),
        "stick": (1.1 + 1.5j, 2.0 + 0.9j, "boom"),
        "housing": (0.3 + 0.3j, 0.46 + 0.7j, "base"),
        "rod": (0.7 + 1.3j, 0.54 + 0.9j, "boom"),
        "lever": (1.7 + 1.1j, 1.85 + 1.4j, "stick"),
        "lever pin": (1.85 + 1.4j, 1.85 + 1.5j, "lever"),
        "bucket": (2.0 + 0.9j, 2.2 + 1.15j, "stick"),
        "link": (2.2 + 1.15j, 1.85 + 1.4j, "bucket"),
        "shovel": (2.0 + 0.9j, 2.35 + 0.5j, "bucket"),
    },
    {"boom": 0.25, "lever": 0.4},
    cylinders=(("housing", "rod"),),
    width=0.07,
)
BOOM = EXCAVATOR._replace(
    bones={name: bone for name, bone in EXCAVATOR.bones.items() if name not in ("lever", "lever pin", "link", "shovel")}
    | {
        "bucket": (2.0 + 0.9j, 2.35 + 0.5j, "stick"),
        "housing": (0.3 + 0.3j, 0.53 + 0.87j, "base"),
        "rod": (0.7 + 1.3j, 0.47 + 0.73j, "boom"),
    },
    turns={},
)
SCISSOR = scissor(4)


def meet(a: complex, r: float, b: complex, q: float, side: float = 1.0) -> complex:
    """Where circles around two places meet, to the left of the way from the first to the second, or to the right."""
    d = abs(b - a)
    return a + r * (b - a) / d * exp(1j * side * acos((r * r + d * d - q * q) / (2.0 * r * d)))


def jansen(size: float = 0.02) -> Machine:
    """Theo Jansen's leg, by his numbers: a crank, and three loops."""
    crank, pivot = 15.0 + 0j, -38.0 - 7.8j
    upper, lower = meet(pivot, 41.5, crank, 50.0), meet(pivot, 39.3, crank, 61.9, -1.0)
    back = meet(pivot, 40.1, upper, 55.8)
    knee = meet(back, 39.4, lower, 36.7, -1.0)
    bones = {
        "frame": (pivot, 0j, ""),
        "crank": (0j, crank, "frame"),
        "b": (pivot, upper, "frame"),
        "j": (upper, crank, "b"),
        "d": (pivot, back, "b"),
        "c": (pivot, lower, "frame"),
        "k": (lower, crank, "c"),
        "f": (back, knee, "d"),
        "g": (knee, lower, "f"),
        "h": (knee, meet(knee, 65.7, lower, 49.0, -1.0), "g"),
    }
    return _scaled(bones, size, {"crank": 2.0 * pi})


def klann(size: float = 0.015) -> Machine:
    """Joseph Klann's leg, with the lengths that boim.com's optimizer gives: two loops."""
    crank, below, above = 17.5 + 0j, -38.8 - 12.5j, -14.6 + 41.9j
    elbow = meet(below, 23.7, crank, 38.8)
    knee = meet(elbow, 35.2, crank, 73.4)
    hip = meet(above, 34.1, knee, 57.7, -1.0)
    bones = {
        "frame": (below, 0j, ""),
        "crank": (0j, crank, "frame"),
        "lower rocker": (below, elbow, "frame"),
        "rod": (elbow, crank, "lower rocker"),
        "arm": (elbow, knee, "rod"),
        "upper rocker": (above, hip, "frame"),
        "thigh": (hip, knee, "upper rocker"),
        "foot": (knee, meet(hip, 111.7, knee, 59.0), "thigh"),
    }
    return _scaled(bones, size, {"crank": 2.0 * pi})


def hoekens(size: float = 0.4) -> Machine:
    """Hoekens' linkage, 1 : 2 : 2.5 : 2.5 : 2.5: half of each turn, its point goes along a straight line."""
    crank, ground = -1.0 + 0j, 2.0 + 0j
    joint = meet(ground, 2.5, crank, 2.5, -1.0)
    bones = {
        "frame": (ground, 0j, ""),
        "crank": (0j, crank, "frame"),
        "rocker": (ground, joint, "frame"),
        "rod": (joint, crank, "rocker"),
        "point": (joint, 2.0 * joint - crank, "rod"),
    }
    return _scaled(bones, size, {"crank": 2.0 * pi})


def peaucellier(size: float = 0.3) -> Machine:
    """The inversor of Peaucellier and Lipkin: two arms of 5, a rhombus of 3, and a crank as long as its pivot is from
    theirs, 1.5: the rhombus' far corner goes along a line."""
    pivot = 1.5 + 0j
    near = pivot + rect(1.5, 0.9)
    sides = {side: meet(0j, 5.0, near, 3.0, turn) for side, turn in (("upper", 1.0), ("lower", -1.0))}
    far = sides["upper"] + sides["lower"] - near
    bones = {
        "frame": (0j, pivot, ""),
        "crank": (pivot, near, "frame"),
        **{f"{side} arm": (0j, corner, "frame") for side, corner in sides.items()},
        **{f"{side} link": (corner, near, f"{side} arm") for side, corner in sides.items()},
        "upper bar": (sides["upper"], far, "upper arm"),
        "lower bar": (far, sides["lower"], "upper bar"),
    }
    return _scaled(bones, size, {"crank": 0.5})


def watt(size: float = 0.4) -> Machine:
    """Watt's linkage with bars of 2 : sqrt 2 : 2 : sqrt 2: the middle of the rod draws Bernoulli's lemniscate."""
    left, right = -1.0 + 0j, 1.0 + 0j
    end = left + sqrt(2.0) * 1j
    joint = meet(right, sqrt(2.0), end, 2.0)
    bones = {
        "frame": (left, right, ""),
        "lever": (left, end, "frame"),
        "rocker": (right, joint, "frame"),
        "rod": (joint, end, "rocker"),
        "middle": ((joint + end) / 2.0, (joint + end) / 2.0 + 0.2j, "rod"),
    }
    return _scaled(bones, size, {"lever": 0.6})


def _scaled(bones: dict[str, Bone], size: float, turns: dict[str, float]) -> Machine:
    return Machine(
        {name: (size * head, size * tail, on) for name, (head, tail, on) in bones.items()}, turns, width=0.03
    )


JANSEN = jansen()


def build(name: str, machine: Machine, place: sample.Place, is_skinned: bool = True) -> Any:
    """A machine in a collection of its own, which is an asset, with keys over 25 frames; give the armature's object."""
    import bpy

    collection, rig = sample.begin(name, place)
    data = rig.data
    for bone_name, (head, tail, parent) in machine.bones.items():
        bone = data.edit_bones.new(bone_name)
        bone.head, bone.tail = (head.real, 0.0, head.imag), (tail.real, 0.0, tail.imag)
        bone.parent = data.edit_bones[parent] if parent else None
        bone.align_roll((0.0, -1.0, 0.0))
    bpy.ops.object.mode_set(mode="POSE")
    if is_skinned:
        collection.objects.link(sample.skin(rig, parts_of(machine), True))
    for pair in machine.cylinders:
        sample.select(rig, *pair)
        bpy.ops.pose.planar_ik_cylinder()
    for bone_name in machine.slides:
        rig.pose.bones[bone_name].lock_rotation = (True, True, True)
    if machine.turns:
        sample.select(rig, *machine.bones)
        bpy.ops.pose.planar_ik_add()
    turn(rig, machine)
    bpy.ops.object.mode_set(mode="OBJECT")
    collection.asset_mark()
    collection.asset_data.description = f"{name} on limbs of Planar IK: it works without the extension"
    return rig


def parts_of(machine: Machine) -> list[sample.Part]:
    """What the machine is covered with, a box for each bone but pins."""
    parts = []
    for k, (name, (head, tail, parent)) in enumerate(machine.bones.items()):
        if "pin" not in name:
            places = [(place.real, 0.0, place.imag) for place in (head, tail)]
            parts.append(sample.Part(name, parent, *places, machine.width, machine.width, k % 4))
    return parts


def turn(rig: Any, machine: Machine) -> None:
    """Key what drives a machine."""
    for name, most in machine.turns.items():
        bone = rig.pose.bones[name]
        bone.rotation_mode = "XYZ"
        is_round = most > pi
        steps = [most * k / 24.0 for k in range(25)] if is_round else [0.0, most, 0.0, -most, 0.0]
        for k, angle in enumerate(steps):
            bone.rotation_euler.z = angle
            bone.keyframe_insert("rotation_euler", index=2, frame=1 + k * (1 if is_round else 6))


SHOTS: dict[str, tuple[Machine, int, tuple[str, ...]]] = {
    "linkage": (FOUR_BARS, 8, ("pin", "rocker", "rod")),
    "brace": (BRACE, 10, ("pin", "upper brace", "lower brace")),
    "excavator": (EXCAVATOR, 7, ("housing", "rod")),
    "scissor": (SCISSOR, 7, ("pin 2", "bar 2", "cross bar 2")),
    "piston": (ENGINE, 8, ("rocker pin", "piston", "piston rod")),
    "jansen": (JANSEN, 8, ("f", "g")),
}
"""The machines of the guide, in which frame, and what is clicked for one of their loops."""


def shows_machines(hand: Hand) -> Any:
    """Played inside Blender: each machine in Pose Mode, the bones selected that one of its loops is made of; and where
    these are in its picture."""
    import bpy

    findings = {}
    for name, (machine, frame, clicked) in SHOTS.items():
        yield from studio.empty(hand, 1.5)
        rig = build(name, machine, (0.0, 0.0, 0.0))
        bpy.context.scene.frame_set(frame)
        bpy.ops.object.mode_set(mode="POSE")
        findings[name] = yield from photographed(hand, rig, name, clicked)
    return findings


def shows_puppet(hand: Hand) -> Any:
    """A cut-out puppet that is turned round, with a hand that is lifted by its control."""
    import bpy

    yield from studio.empty(hand, 1.5)
    rig = sample.build("puppet", sample.PUPPET, (0.0, 0.0, 0.0), True)
    bpy.ops.object.mode_set(mode="POSE")
    rig.pose.bones["root"].scale.y = -1.0
    bpy.context.view_layer.update()
    studio.move(rig, "hand_ik.L", (-0.3, 0.0, 0.35))
    yield from photographed(hand, rig, "picture", ("root",))
    return {"puppet": sorted(bone.planar_ik.message for bone in rig.pose.bones if bone.planar_ik.enabled)}


def shows_boom(hand: Hand) -> Any:
    """An excavator whose stick was clicked, and one press of Add; its bucket is lifted by the control."""
    import bpy

    yield from studio.empty(hand, 2.0)
    rig = build("Excavator", BOOM, (0.0, 0.0, 0.0))
    bpy.ops.object.mode_set(mode="POSE")
    sample.select(rig, "stick")
    bpy.ops.pose.planar_ik_add()
    limb = rig.pose.bones["stick"].planar_ik
    studio.move(rig, limb.subtarget, (-0.15, 0.0, 0.75), (0.0, -0.35, 0.0))
    yield from photographed(hand, rig, "picture", (limb.subtarget,), (1280, 1280))
    return {"stick": limb.message, "plane": limb.plane}


def photographed(hand: Hand, rig: Any, name: str, clicked: tuple[str, ...], size: tuple[int, int] = (660, 584)) -> Any:
    """From ahead, all of it, with these bones selected; the size is within the view. Returns where these are in it."""
    import bpy
    from mathutils import Euler

    space = studio.tidy(hand, "SOLID")
    space.region_3d.view_rotation = Euler((pi / 2.0, 0.0, 0.0)).to_quaternion()
    space.region_3d.view_perspective = "ORTHO"
    yield from hand.to_the_middle()
    yield from hand.keys("A", "HOME")
    sample.select(rig, *clicked)
    space.region_3d.view_distance *= 0.95
    yield from studio.settle(1.0)
    x, y, _, height = part = studio.middle(hand, *size)
    hand.picture(name, part)
    now = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    places = [hand.on_screen(rig.matrix_world @ now[bone].center) for bone in clicked]
    return [[across - x, height - (up - y)] for across, up in places]
