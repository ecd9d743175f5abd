"""No operator moves a limb that was in reach, but those that are for it; each is undone and done again in one step."""

from __future__ import annotations

from math import sin
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender import rigs

from .conftest import bent_biped, call, select

WATCHED = [f"{name}.{side}" for side in "LR" for name in ("thigh", "shin", "foot", "toe")]

STILL = 3e-5
"""How far joints may be from where they were, of legs 0.9 long."""

FK, IK = {"influence": 0.0}, {"influence": 1.0}
STAYING: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "other mode": ("set", {}, IK),
    "other mode in FK": ("set", {}, FK),
    "other mode between": ("set", {}, {"influence": 0.4}),
    "to FK": ("switch", {"to": "FK"}, IK),
    "to IK": ("switch", {"to": "IK"}, FK),
    "snap FK": ("snap_fk", {}, IK),
    "snap IK": ("snap_target", {}, FK),
    "to a pole": ("set", {"plane": "POLE"}, IK),
    "to a hinge": ("set", {"plane": "HINGE"}, IK),
    "to no plane": ("set", {"plane": "FREE"}, IK),
    "foot": ("set", {"foot_follows": False}, FK),
    "limits": ("set", {"min_angle": 0.1, "max_angle": 3.1}, IK),
    "new target": ("pick", {"role": "TARGET", "followed": "\n"}, IK),
    "new pole": ("pick", {"role": "POLE", "followed": "\n"}, IK),
    "other target": ("pick", {"role": "TARGET", "followed": "rig\nhips"}, FK),
    "select": ("select", {"role": "LIMB"}, IK),
    "mirror": ("mirror", {}, IK),
    "bake": ("bake", {"range": "GIVEN", "frame_start": 1, "frame_end": 3}, IK),
    "bake and remove": ("bake", {"range": "GIVEN", "frame_start": 1, "frame_end": 3, "remove": True}, IK),
    "remove in FK": ("remove", {}, FK),
}
"""What to call, with what, and how the limb is set before."""


def joints() -> np.ndarray:
    """The heads and tails of the legs, evaluated."""
    pose = rigs.evaluated(bpy.data.objects["rig"]).pose.bones
    return np.array([end for name in WATCHED for end in (pose[name].head[:], pose[name].tail[:])])


def settings() -> dict[str, Any]:
    """What is on the rig: its bones, and all that limbs have."""
    ob = bpy.data.objects["rig"]
    return {bone.name: (sorted(bone.keys()), [c.name for c in bone.constraints]) for bone in ob.pose.bones}


def add(mode: str, sides: str) -> None:
    """Legs with IK."""
    bent_biped()
    select(*(f"shin.{side}" for side in sides))
    assert not call("add", mode=mode)


def begin(mode: str, sides: str = "L", **limb: Any) -> None:
    """Legs with IK, whose targets were moved in reach, and whose FK pose is another; all are selected."""
    rigs.opened(f"begun {mode} {sides}", lambda: add(mode, sides))
    ob = bpy.data.objects["rig"]
    for side, place in zip(sides, ((0.05, -0.1, 0.08), (-0.03, 0.06, 0.1)), strict=False):
        target = ob.pose.bones[f"foot_ik.{side}"]
        target.location += target.bone.matrix_local.to_3x3().inverted() @ rigs.Vector(place)
        for name, value in limb.items():
            setattr(ob.pose.bones[f"shin.{side}"].planar_ik, name, value)
    bpy.context.view_layer.update()
    bpy.ops.ed.undo_push(message="begun")


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("case", STAYING)
def test_stays(case: str, mode: str) -> None:
    """Of one leg, which Mirror gives the other as well, or of both at once."""
    name, options, limb = STAYING[case]
    sides = "L" if case == "mirror" else "LR"
    begin(mode, sides, **limb)
    before, had = joints(), settings()
    if limb == IK:
        bones = bpy.data.objects["rig"].pose.bones
        assert {bones[f"shin.{side}"].planar_ik.reach for side in sides} == {"REACHED"}
    assert not call(
        name, **({"mode": {"RIG": "LIVE", "LIVE": "RIG"}[mode]} if name == "set" and not options else options)
    )
    after, has = joints(), settings()
    watched = slice(0, len(before) // 2 if case == "mirror" else None)
    assert abs(after - before)[watched].max() < STILL
    bpy.ops.ed.undo()
    assert abs(joints() - before).max() < STILL
    assert settings() == had
    bpy.ops.ed.redo()
    assert abs(joints() - after).max() < STILL
    assert settings() == has


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_flip_bends_to_the_other_side(biped: Any, mode: str) -> None:
    begin(mode)
    before, knee, tip = joints(), 2 * WATCHED.index("shin.L"), 2 * WATCHED.index("foot.L")
    root = before[0]
    assert not call("set", flip=True)
    after = joints()
    assert abs(after[tip] - before[tip]).max() < STILL
    line = (before[tip] - root) / np.linalg.norm(before[tip] - root)
    sides = [each[knee] - root - line * ((each[knee] - root) @ line) for each in (before, after)]
    assert np.linalg.norm(sides[0]) > 0.05
    assert abs(sides[0] + sides[1]).max() < 1e-3
    assert not call("set", flip=False)
    assert abs(joints() - before).max() < STILL


@pytest.mark.parametrize(("mode", "plane"), [("RIG", "POLE"), ("LIVE", "FREE"), ("RIG", "FREE"), ("RIG", "given")])
@pytest.mark.parametrize("towards", [(0, -1), (1, 0), (-0.6, 0.8)], ids=str)
@pytest.mark.parametrize("rest", [0.03, 0.002, -0.002, -0.03])
def test_poles_stand_where_knees_point(rest: float, towards: Any, mode: str, plane: str) -> None:
    """Also of legs that rest bent a little to the other side, as captures have them."""
    ahead, frames = Vector((*towards, 0)), range(1, 9)
    bones: dict[str, Any] = {"hips": ((0, 0, 1), (0, 0, 1.1), "")}
    for side, x in ((".L", 0.1), (".R", -0.1)):
        root, knee, tip = Vector((x, 0, 1)), Vector((x, 0, 0.55)) + ahead * rest, Vector((x, 0, 0.1))
        bones |= {f"thigh{side}": (root, knee, "hips"), f"shin{side}": (knee, tip, f"thigh{side}")}
        bones[f"foot{side}"] = (tip, tip + Vector((0, -0.14, -0.08)), f"shin{side}")
        if plane == "given":
            bones[f"knee{side}"] = (knee + ahead, knee + ahead + Vector((0, 0, 0.1)), "")
    ob, axis = rigs.rig(bones), ahead.cross((0, 0, 1))
    for frame, bone in ((frame, bone) for frame in frames for bone in ob.pose.bones if bone.name[:2] in ("th", "sh")):
        angle = -0.4 * sin(frame) if bone.name[0] == "t" else 0.8 + 0.4 * sin(frame)
        turn = bone.bone.matrix_local.to_quaternion()
        bone.rotation_quaternion = turn.inverted() @ Quaternion(axis, -angle) @ turn
        bone.keyframe_insert("rotation_quaternion", frame=frame)

    def seen() -> Any:
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            yield rigs.matrices(ob, bones)

    before = [*seen()]
    bpy.context.scene.frame_set(1)
    select("shin.L", "shin.R")
    if plane == "given":
        bpy.ops.pose.planar_ik_add(limbs="shin.L shin.R", pole="knee.L", mode=mode)
    else:
        assert not call("add", mode=mode, plane=plane)
        assert not call("set", plane="POLE")
    for was, now in zip(before, seen(), strict=True):
        assert np.abs(was - now).max() < 1e-3
        for side in (".L", ".R"):
            limb, pose = ob.pose.bones[f"shin{side}"].planar_ik, rigs.evaluated(ob).pose.bones
            assert (pose[limb.pole_subtarget].head - pose[f"shin{side}"].head).dot(
                pose[f"shin{side}"].head - (pose[f"thigh{side}"].head + pose[f"shin{side}"].tail) / 2.0
            ) > 0.0
            assert not limb.flip
