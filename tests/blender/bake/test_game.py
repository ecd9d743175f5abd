"""A bake for games leaves a rig that moves the same by keys of its deforming bones alone."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.legs import bake, seen, walker

KEPT = ("thigh.L", "shin.L", "foot.L", "toe.L", "hand.R", "hips")


def creature(addon: Any, mode: str, **settings: Any) -> Any:
    """A walker with a skin, a control that nothing deforms by, and a bone that follows it."""
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
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [ob.pose.bones["shin.L"]])
    return ob.pose.bones["shin.L"]


@pytest.mark.parametrize("volume", ["LENGTH", "UNIFORM"])
@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_joints_of_a_limb_that_stretches(addon, mode, volume):
    """Stay where they are, without scale; the bones below are disconnected for it."""
    last = creature(addon, "LIVE", stretch=1.0, stretch_max=1.5)
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


def test_what_strips_do(addon):
    """Root motion in a strip, and a strip that moves the hips."""
    last = walker(addon)
    ob = last.id_data
    data = ob.animation_data
    hips, data.action = data.action, None
    for frame, x in ((1, 0.0), (12, 1.0)):
        ob.location.x = x
        ob.keyframe_insert("location", frame=frame)
    root, data.action = data.action, None
    for action in (hips, root):
        data.nla_tracks.new().strips.new(action.name, 1, action)
    before = seen(ob, KEPT)
    bake(addon, last, for_game=True)
    assert not data.use_nla
    np.testing.assert_allclose(seen(ob, KEPT), before, atol=2e-5)


def test_a_rig_from_a_library(addon, tmp_path):
    """Takes no edits of its bones: refused where it would need some, before anything is written."""
    ob = walker(addon, "RIG").id_data
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "library.blend"))
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(tmp_path / "library.blend"), link=True) as (_, into):
        into.objects = ["rig", "to foot"]
    for each in into.objects:
        bpy.context.collection.objects.link(each)
    ob = into.objects[0].override_create(remap_local_usages=True)
    bpy.context.view_layer.update()
    before = seen(ob)
    for options in ({"for_game": True}, {"remove": True}):
        with pytest.raises(addon("blender.words").Refused):
            bake(addon, ob.pose.bones["shin.L"], **options)
    bake(addon, ob.pose.bones["shin.L"])
    np.testing.assert_allclose(seen(ob), before, atol=2e-5)
