"""No operator moves a limb that was in reach, but those that are for it; each is undone and done again in one step."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

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
