"""Characters as people bring them, each to be given IK with one press of Add, and which way their knees belong."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

from tests.blender import rigs

FORWARD, BACK, UP = Vector((0, -1, 0)), Vector((0, 1, 0)), Vector((0, 0, 1))


class Character(NamedTuple):
    """How to make one, and which way the knee of each limb, by its last bone, has to go as its target comes nearer."""

    make: Callable[[], Any]
    knees: dict[str, Vector]


def both(knees: dict[str, Vector]) -> dict[str, Vector]:
    """The same for the left and the right side."""
    return {f"{name}.{side}": way for name, way in knees.items() for side in "LR"}


def person(arm: Vector, size: float = 1.0, prefix: str = "") -> Any:
    """Straight legs, straight arms along ``arm``, default rolls."""
    bones: dict[str, Any] = {
        "root": ((0, 0, 0), (0, 0.3, 0), ""),
        "hips": ((0, 0, 1), (0, 0, 1.1), "root"),
        "spine": ((0, 0, 1.1), (0, 0, 1.5), "hips"),
        "head": ((0, 0, 1.55), (0, 0, 1.8), "spine"),
    }
    for side, x in ((".L", 1), (".R", -1)):
        shoulder = Vector((0.18 * x, 0, 1.45))
        way = Vector((arm.x * x, arm.y, arm.z)).normalized()
        elbow, wrist, end = (shoulder + way * along for along in (0.28, 0.54, 0.64))
        bones |= {
            f"thigh{side}": ((0.1 * x, 0, 1), (0.1 * x, 0, 0.55), "hips"),
            f"shin{side}": ((0.1 * x, 0, 0.55), (0.1 * x, 0, 0.1), f"thigh{side}"),
            f"foot{side}": ((0.1 * x, 0, 0.1), (0.1 * x, -0.14, 0.02), f"shin{side}"),
            f"toe{side}": ((0.1 * x, -0.14, 0.02), (0.1 * x, -0.22, 0.02), f"foot{side}"),
            f"shoulder{side}": ((0.03 * x, 0, 1.45), shoulder[:], "spine"),
            f"upper_arm{side}": (shoulder[:], elbow[:], f"shoulder{side}"),
            f"forearm{side}": (elbow[:], wrist[:], f"upper_arm{side}"),
            f"hand{side}": (wrist[:], end[:], f"forearm{side}"),
        }
    return rigs.rig(bones)


MIXAMO = {
    "Hips": ((0, 0, 100), ""), "Spine": ((0, 1, 112), "Hips"), "Spine1": ((0, 1, 124), "Spine"),
    "Neck": ((0, 1, 150), "Spine1"), "Head": ((0, 0, 158), "Neck"), "HeadTop_End": ((0, -1, 178), "Head"),
    "LeftShoulder": ((4, 1, 146), "Spine1"), "LeftArm": ((18, 2, 145), "LeftShoulder"),
    "LeftForeArm": ((45, 2, 145), "LeftArm"), "LeftHand": ((71, 2, 145), "LeftForeArm"),
    "LeftHandIndex1": ((80, 0, 145), "LeftHand"), "LeftHandIndex2": ((83, 0, 145), "LeftHandIndex1"),
    "LeftHandIndex3": ((86, 0, 145), "LeftHandIndex2"), "LeftHandThumb1": ((74, -2, 144), "LeftHand"),
    "LeftHandThumb2": ((77, -4, 143), "LeftHandThumb1"),
    "LeftUpLeg": ((9, 0, 95), "Hips"), "LeftLeg": ((9, 0, 52), "LeftUpLeg"), "LeftFoot": ((9, 2, 10), "LeftLeg"),
    "LeftToeBase": ((9, -11, 2), "LeftFoot"), "LeftToe_End": ((9, -20, 2), "LeftToeBase"),
}  # fmt: skip


def mixamo() -> Any:
    """As the FBX importer leaves it: a hundred times too large and scaled down, lying and turned up, in a T-pose."""
    joints = MIXAMO | {
        name.replace("Left", "Right"): ((-place[0], *place[1:]), parent.replace("Left", "Right"))
        for name, (place, parent) in MIXAMO.items()
        if name.startswith("Left")
    }
    bones: dict[str, Any] = {}
    for name, ((x, y, z), parent) in joints.items():
        ahead = [place for place, of in joints.values() if of == name]
        x2, y2, z2 = ahead[0] if ahead else (x, y - 3, z)
        bones[f"mixamorig:{name}"] = ((x, z, -y), (x2, z2, -y2), f"mixamorig:{parent}" if parent else "")
    ob = rigs.rig(bones)
    ob.scale, ob.rotation_euler = (0.01,) * 3, (pi / 2, 0.0, 0.0)
    return ob


def puppet() -> Any:
    """Flat in the XZ plane, looking to +X, with straight legs and arms, and one of each behind the other."""
    bones: dict[str, Any] = {"root": ((0, 0, 0), (0.2, 0, 0), ""), "body": ((0, 0, 0.9), (0, 0, 1.4), "root"),
                             "head": ((0, 0, 1.45), (0.03, 0, 1.7), "body")}  # fmt: skip
    for side in "LR":
        bones |= {
            f"thigh.{side}": ((0, 0, 0.9), (0, 0, 0.5), "body"),
            f"shin.{side}": ((0, 0, 0.5), (0, 0, 0.08), f"thigh.{side}"),
            f"foot.{side}": ((0, 0, 0.08), (0.18, 0, 0.02), f"shin.{side}"),
            f"upper_arm.{side}": ((0, 0, 1.35), (0, 0, 1.1), "body"),
            f"forearm.{side}": ((0, 0, 1.1), (0, 0, 0.86), f"upper_arm.{side}"),
            f"hand.{side}": ((0, 0, 0.86), (0, 0, 0.76), f"forearm.{side}"),
        }
    return rigs.rig(bones)


def insect() -> Any:
    """Six legs of hip, thigh and shin around a body, with the knees up; the last bone ends on the ground."""
    bones: dict[str, Any] = {
        "root": ((0, 0, 0), (0, 0.3, 0), ""),
        "body": ((0, 0.3, 0.4), (0, -0.3, 0.4), "root"),
        "head": ((0, -0.3, 0.4), (0, -0.5, 0.38), "body"),
    }
    for side, x in (("L", 1), ("R", -1)):
        for i, angle in enumerate((-0.8, 0.0, 0.8)):
            way = Vector((x * cos(angle), sin(angle), 0))
            start = Vector((0.08 * x, 0.2 * (i - 1), 0.4))
            places = [start, start + 0.1 * way, start + 0.35 * way + 0.25 * UP, start + 0.7 * way - 0.4 * UP]
            parent = "body"
            for name, a, b in zip(("coxa", "femur", "tibia"), places, places[1:], strict=False):
                bones[f"{name}.{i + 1}.{side}"] = (a[:], b[:], parent)
                parent = f"{name}.{i + 1}.{side}"
    return rigs.rig(bones)


def metarig(name: str) -> Any:
    """One of Rigify's."""
    import addon_utils

    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{name}_metarig_add")()
    ob = bpy.context.object
    rigs.activate(ob)
    return ob


LEGS = both({"shin": FORWARD})
ARMS = both({"forearm": BACK})
CHARACTERS = {
    "T-pose": Character(lambda: person(Vector((1, 0, 0))), LEGS | ARMS),
    "A-pose": Character(lambda: person(Vector((1, 0, -1))), LEGS | ARMS),
    "human": Character(lambda: metarig("human"), LEGS | ARMS),
    "cat": Character(lambda: metarig("cat"), both({"forearm": BACK, "foot": FORWARD})),
    "wolf": Character(lambda: metarig("wolf"), both({"front_shin": BACK, "foot": FORWARD})),
    "horse": Character(lambda: metarig("horse"), both({"forearm": BACK, "hind_foot": FORWARD})),
    "Mixamo": Character(
        mixamo,
        {f"mixamorig:{side}{name}": way for name, way in (("Leg", FORWARD), ("ForeArm", BACK))
         for side in ("Left", "Right")},
    ),
    "puppet": Character(puppet, both({"shin": Vector((1, 0, 0)), "forearm": Vector((-1, 0, 0))})),
    "insect": Character(insect, both({f"tibia.{i}": UP for i in (1, 2, 3)})),
}  # fmt: skip


def select_all(ob: Any) -> None:
    """As A in the 3D view."""
    for bone in ob.pose.bones:
        rigs.select(bone)
