"""Whatever a mechanism is given, it comes back."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix

from tests.blender import another, legs, rigs
from tests.blender.legs import EVERYTHING

pytestmark = pytest.mark.dear

KINDS = ({"plane": "HINGE"}, {"plane": "FREE"}, EVERYTHING, {**EVERYTHING, "plane": "HINGE"})
KIND = pytest.mark.parametrize("settings", KINDS, ids=lambda each: f"{each['plane']} {len(each)}")


def invalid(ob):
    return [curve.data_path for curve in ob.animation_data.drivers if not curve.driver.is_valid]


def joints(ob):
    return rigs.matrices(ob, ("thigh.L", "shin.L"))


@KIND
def test_targets_at_the_root_in_line_and_opposite(addon, settings):
    last = legs.rig_leg(addon, settings)
    root = rigs.place(last.id_data, "thigh.L")
    rest = last.id_data.data.bones
    line = (rest["foot.L"].head_local - rest["thigh.L"].head_local).normalized()
    for along in (1.0, 0.5, 1e-4, -1e-4, -0.5, -1.0, -3.0):
        legs.move("target.L", root + along * line)
        assert np.isfinite(joints(last.id_data)).all()
        assert not invalid(last.id_data)
        if settings["plane"] != "HINGE" and along < 0.0:  # straight back, there are many shortest turns
            foot = (rigs.place(last.id_data, "foot.L") - root).normalized()
            assert (foot + line).length < 1e-3
        else:
            assert legs.off(last) < (2e-3 if abs(along) < 1e-2 else 2e-5)
    if settings["plane"] == "POLE":
        legs.move("target.L", root + 0.5 * line)
        legs.move("pole.L", root + 2.0 * line)
        assert np.isfinite(joints(last.id_data)).all()


@KIND
def test_resetting_all_channels_changes_nothing(addon, settings):
    """Exporters and scripts set the channels of all bones, also of hidden ones, to identity, or to what they read."""
    last = legs.rig_leg(addon, settings)
    ob = last.id_data
    before = joints(ob)
    for bone in ob.pose.bones:
        bone.matrix_basis = bone.matrix_basis.copy()
    assert abs(joints(ob) - before).max() < 1e-5
    for bone in ob.pose.bones:
        bone.matrix_basis = Matrix()
    ob.update_tag()
    assert abs(joints(ob) - before).max() < 1e-6
    assert legs.worst(last) < 1e-5


@pytest.mark.parametrize("exporter", ["export_scene.gltf", "export_scene.fbx"])
def test_exporters(addon, exporter, tmp_path):
    name = exporter.rpartition(".")[2]
    last = legs.whole_leg(addon)
    target = bpy.data.objects["target.L"]
    for frame, place in zip((1, 5), legs.PLACES[:2], strict=True):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    last.keyframe_insert('["IK Swivel"]', frame=1)
    bpy.context.scene.frame_end = 5
    bpy.context.scene.frame_set(3)
    before = joints(last.id_data)
    rig, after = tmp_path / "rig.blend", tmp_path / "after.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(rig))
    another.export(
        {"gltf": "io_scene_gltf2", "fbx": "io_scene_fbx"}[name], exporter, rig, tmp_path / f"out.{name}", after
    )
    bpy.ops.wm.open_mainfile(filepath=str(after))
    bpy.context.scene.frame_set(3)
    last = bpy.data.objects["rig"].pose.bones["shin.L"]
    assert abs(joints(last.id_data) - before).max() < 1e-5
    assert legs.problem(addon, last) == ""
