"""A bake for games leaves a rig that moves the same by keys of its deforming bones alone."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.legs import bake, seen, walker

KEPT = ("thigh.L", "shin.L", "foot.L", "toe.L", "hand.R", "hips")


def creature(addon: Any, **settings: Any) -> Any:
    """A live walker with a skin, a control that nothing deforms by, and a bone that follows it."""
    last = walker(addon, "LIVE", **settings)
    ob = last.id_data
    rigs.activate(ob, "EDIT")
    for name, parent in (("control", None), ("patch", "hips")):
        bone = ob.data.edit_bones.new(name)
        bone.head, bone.tail = (0.5, 0.0, 1.0), (0.5, 0.0, 1.2)
        bone.use_deform, bone.parent = name == "patch", ob.data.edit_bones.get(parent or "")
    bpy.ops.object.mode_set(mode="POSE")
    ob.pose.bones["patch"].constraints.new("COPY_LOCATION").target = ob
    ob.pose.bones["patch"].constraints[0].subtarget = "control"
    driver = ob.pose.bones["hand.R"].driver_add("rotation_quaternion", 1).driver
    driver.expression = "0.1 * frame"
    for frame, x in ((1, 0.0), (12, 0.7)):
        ob.pose.bones["control"].location.x = x
        ob.pose.bones["control"].keyframe_insert("location", frame=frame)
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata([(0.1, 0, 0.9), (0.1, 0, 0.4), (0.1, -0.1, 0.05), (0.5, 0, 1.1)], [], [])
    skin = bpy.data.objects.new("skin", mesh)
    bpy.context.collection.objects.link(skin)
    for i, name in enumerate(("thigh.L", "shin.L", "foot.L", "patch")):
        skin.vertex_groups.new(name=name).add([i], 1.0, "REPLACE")
    skin.modifiers.new("rig", "ARMATURE").object = ob
    return ob.pose.bones["shin.L"]


@pytest.mark.parametrize("volume", ["LENGTH", "UNIFORM"])
@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_joints_of_a_limb_that_stretches(addon, mode, volume):
    """Stay where they are, without scale; the bones below are disconnected for it."""
    last = creature(addon, stretch=1.0, stretch_max=1.5)
    bpy.data.objects["to foot"].delta_location = (0.0, -0.5, -0.4)
    last.planar_ik.stretch_volume = volume
    ob = last.id_data
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [last])
    before = seen(ob, KEPT)[..., :3, 3]
    report = bake(addon, ob.pose.bones["shin.L"], for_game=True)
    assert len(report.warnings) >= 2
    np.testing.assert_allclose(seen(ob, KEPT)[..., :3, 3], before, atol=2e-5)
    assert not ob.data.bones["shin.L"].use_connect
    assert ob.data.bones["hand.R"].use_connect
