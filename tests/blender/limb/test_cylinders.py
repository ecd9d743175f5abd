"""Cylinders: two bones that aim at each other's foot, exactly, and that no limb is made of."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.snapshots import differences, snapshot


def boom():
    """A boom of two bones on a post, with a cylinder from the post to the boom."""
    return rigs.rig(
        {
            "post": ((0, 0, 0), (0, 0, 1), ""),
            "boom": ((0, 0, 1), (0.3, 0, 2.2), "post"),
            "stick": ((0.3, 0, 2.2), (1.4, 0, 2.0), "boom"),
            "bucket": ((1.4, 0, 2.0), (1.5, 0, 1.6), "stick"),
            "housing": ((0.3, 0, 0.4), (0.5, 0, 1.0), "post"),
            "rod": ((0.25, 0.1, 1.6), (0.4, 0.1, 1.2), "boom"),
        }
    )


def added():
    ob = boom()
    rigs.click(ob, "housing", "rod")
    assert bpy.ops.pose.planar_ik_cylinder() == {"FINISHED"}
    return ob


def off(ob):
    """How far the bones' axes are off the line from foot to foot."""
    bones = rigs.evaluated(ob).pose.bones
    housing, rod = bones["housing"], bones["rod"]
    line = (rod.head - housing.head).normalized()
    return max((housing.y_axis - line).length, (rod.y_axis + line).length)


def test_both_aim_at_each_other_wherever_the_boom_is():
    ob = added()
    ob.pose.bones["boom"].rotation_mode = "XYZ"
    for turn in np.linspace(-1.5, 1.5, 13):
        ob.pose.bones["boom"].rotation_euler = (turn, 0.3 * turn, turn)
        ob.pose.bones["post"].location = (0.1 * turn, 0.2, 0.3)
        assert off(ob) < 2e-6


def test_its_feet_stay_on_what_they_hang_on():
    ob = boom()
    before = rigs.matrices(ob, ["housing", "rod", "boom"])[:, :3, 3]
    rigs.click(ob, "housing", "rod")
    assert bpy.ops.pose.planar_ik_cylinder() == {"FINISHED"}
    np.testing.assert_array_equal(rigs.matrices(ob, ["housing", "rod", "boom"])[:, :3, 3], before)


def test_removed_without_a_trace():
    ob = boom()
    rigs.click(ob, "housing", "rod")
    before = snapshot()
    assert bpy.ops.pose.planar_ik_cylinder() == {"FINISHED"}
    rigs.click(ob, "rod")
    assert bpy.ops.pose.planar_ik_cylinder(remove=True) == {"FINISHED"}
    rigs.click(ob, "housing", "rod")
    assert [found for found in differences(before, snapshot()) if "select_head" not in found] == []


def test_add_leaves_them_alone():
    ob = added()
    rigs.click(ob, "boom", "stick", "housing", "rod")
    assert bpy.ops.pose.planar_ik_add() == {"FINISHED"}
    assert [bone.name for bone in ob.pose.bones if bone.planar_ik.enabled] == ["stick"]
    assert off(ob) < 2e-6


def test_cylinders_of_others_are_known(addon):
    ob = boom()
    for name, at in (("housing", "rod foot"), ("rod", "housing foot")):
        rigs.activate(ob, "EDIT")
        bones = ob.data.edit_bones
        foot = bones.new(at)
        foot.head, foot.parent = bones[at.split()[0]].head, bones[at.split()[0]].parent
        foot.tail = foot.head + foot.head.__class__((0, 0, 0.1))
        rigs.activate(ob)
        aim = ob.pose.bones[name].constraints.new("DAMPED_TRACK")
        aim.target, aim.subtarget, aim.track_axis = ob, at, "TRACK_Y"
    assert addon("finding.loops").bones_of_cylinders(ob) == {"housing", "rod"}
    rigs.click(ob, "housing")
    with pytest.raises(RuntimeError, match="cylinders are left alone"):
        bpy.ops.pose.planar_ik_add()


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (("housing",), "Select the two bones"),
        (("boom", "stick"), "moves with the cylinder"),
        (("post", "rod"), "moves with the cylinder"),
        (("boom", "housing", "rod"), "Select the two bones"),
    ],
)
def test_refused(names, why):
    ob = boom()
    rigs.click(ob, *names)
    with pytest.raises(RuntimeError, match=why):
        bpy.ops.pose.planar_ik_cylinder()
