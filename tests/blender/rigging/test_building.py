"""Mechanisms come and go without a trace."""

from __future__ import annotations

import bpy
import pytest

from tests.blender import legs, rigs


def test_objects_that_share_an_armature(addon):
    """Taking one's mechanism away leaves the other's, whose bones are the same."""
    last = legs.rig_leg(addon)
    ob = last.id_data
    rigs.activate(ob, "OBJECT")
    bpy.ops.object.duplicate(linked=True)
    twin = bpy.context.object
    assert twin.data == ob.data
    other = twin.pose.bones["shin.L"]
    addon("tasks.modes").to_live(bpy.context, [ob.pose.bones["shin.L"]])
    assert legs.problem(addon, other) == ""
    assert legs.worst(other) < 1e-5
    addon("tasks.modes").to_live(bpy.context, [other])
    assert not legs.parts(ob)


def test_what_deleted_limbs_leave(addon):
    last = legs.rig_leg(addon)
    ob = last.id_data
    legs.rig_leg(addon, ob=ob, side=".R")
    rigs.activate(ob, "EDIT")
    for name in ("thigh.L", "shin.L"):
        ob.data.edit_bones.remove(ob.data.edit_bones[name])
    rigs.activate(ob, "POSE")
    assert addon("rigging.marks").made_on(ob)[""].bones
    addon("tasks.modes").rebuild(bpy.context, [ob.pose.bones["shin.R"]])
    assert {*legs.parts(ob)} == {*addon("rigging.marks").made_on(ob)["shin.R"].bones}
    assert legs.worst(ob.pose.bones["shin.R"], "target.R") < 1e-5


def test_without_a_target_it_stands_as_in_its_reference(addon):
    last = legs.rig_leg(addon, {"plane": "FREE"})
    bpy.data.objects.remove(bpy.data.objects["target.L"])
    rest = [last.id_data.data.bones[name].matrix_local for name in ("thigh.L", "shin.L")]
    for now, at_rest in zip(rigs.matrices(last.id_data, ("thigh.L", "shin.L")), rest, strict=True):
        assert abs(now - at_rest).max() < 1e-5


@pytest.mark.parametrize("side", [".L", ".R"])
def test_unkeyed_influence_is_still_in_effect_after_a_rebuild(addon, side):
    ob = legs.rig_leg(addon).id_data
    legs.rig_leg(addon, ob=ob, side=".R")
    last = ob.pose.bones["shin.L"]
    last["IK Influence"] = 0.0
    last.keyframe_insert('["IK Influence"]', frame=1)
    bpy.context.scene.frame_set(1)
    last["IK Influence"] = 1.0
    ob.pose.bones["shin" + side].planar_ik.max_angle = 3.0  # which rebuilds it
    bpy.context.view_layer.update()
    last = ob.pose.bones["shin.L"]
    assert last["IK Influence"] == 1.0
    assert last.planar_ik.reach == "REACHED", last.planar_ik.message
    assert legs.off(last) < 1e-5
