"""A limb of another version of the extension says so, and is rebuilt from what is understood of it."""

from __future__ import annotations

import json
from typing import Any

import bpy
import pytest

from tests.blender import oracle, rigs
from tests.blender.limb.test_rolling import parts


def made(mode: str, ob: Any = None) -> Any:
    """A limb with some of everything."""
    ob = ob or rigs.biped()
    ob.pose.bones["thigh.L"].rotation_quaternion = (0.9, 0.4, 0.1, 0.0)
    ob.pose.bones["shin.L"].rotation_quaternion = (0.8, -0.6, 0.0, 0.0)
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_add(mode=mode, plane="POLE", foot_roll=True)
    ob.pose.bones["shin.L"].planar_ik.softness = 0.1
    rigs.click(ob, "shin.L")
    return ob


def shin(ob: Any) -> Any:
    return ob.pose.bones["shin.L"]


def root_of(ob: Any) -> Any:
    return next((bone for bone in ob.data.bones if bone.planar_ik_spec), None)


def older(ob: Any) -> None:
    """It knew no versions, nor one of the fields."""
    oracle.keep(shin(ob), without="version")
    edit_spec(ob, lambda spec: spec.pop("choices"))


def newer(ob: Any) -> None:
    """It knows another plane, and more of everything."""
    oracle.keep(shin(ob), version=99, bounce={"height": 1.0}, plane="SPIRAL")
    edit_spec(ob, lambda spec: spec.update(bounce=2.0))
    if root := root_of(ob):
        rigs.activate(ob, "EDIT")
        bone = ob.data.edit_bones.new("MCH-bounce")
        bone.tail, bone.parent = (0.0, 0.0, 1.0), ob.data.edit_bones[root.name]
        bone.planar_ik_part = "bounce"
        rigs.activate(ob, "POSE")
        more = ob.pose.bones["shin.L"].constraints.new("LIMIT_ROTATION")
        more.name = "Planar IK Bounce"


def incomplete(ob: Any) -> None:
    """Things are missing without which there is no shape."""
    oracle.keep(shin(ob), without="plane", version=99)
    edit_spec(ob, lambda spec: spec.pop("lengths"))


def edit_spec(ob: Any, edit: Any) -> None:
    if root := root_of(ob):
        spec = json.loads(root.planar_ik_spec)
        edit(spec)
        root.planar_ik_spec = json.dumps(spec)


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("edit", [older, newer, incomplete], ids=lambda edit: edit.__name__)
def test_another_version_is_said_and_rebuilt(edit: Any, mode: str) -> None:
    ob = made(mode)
    names = {bone.name for bone in ob.data.bones}
    edit(ob)
    rigs.click(ob, "shin.L")
    bpy.context.view_layer.update()
    limb = ob.pose.bones["shin.L"].planar_ik
    assert (limb.enabled, limb.mode, limb.reach) == (True, mode, "INVALID")
    assert limb.message.startswith(f"'shin.L' was made by a{'n older' if edit is older else ' newer'} Planar IK")
    assert limb.plane == ("POLE" if edit is older else "FREE")
    assert bpy.ops.pose.planar_ik_rebuild() == {"FINISHED"}
    ob.pose.bones["shin.L"].planar_ik.plane = "POLE"
    bpy.context.view_layer.update()
    limb = ob.pose.bones["shin.L"].planar_ik
    assert (limb.reach, limb.message) == ("REACHED", "On target")
    assert {bone.name for bone in ob.data.bones} == names
    assert "Planar IK Bounce" not in limb.bone.constraints
    assert "bounce" not in oracle.kept(shin(ob))


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("edit", [older, newer, incomplete], ids=lambda edit: edit.__name__)
def test_another_version_is_removed(edit: Any, mode: str) -> None:
    ob = rigs.biped()
    bare = parts(ob)
    edit(made(mode, ob))
    rigs.click(ob, "shin.L")
    assert bpy.ops.pose.planar_ik_remove() == {"FINISHED"}
    assert parts(ob) == bare
