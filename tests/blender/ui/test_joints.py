"""Limbs that importers left too short, as they have twist bones: exported and imported by Blender's own, and mended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import addon_utils
import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender.rigs import HIP, LEG, SHIN, Bone, assert_on_target, make_rig, press, put, select, update
from tests.blender.ui.test_operators import refuses

FOOT = Bone("foot", SHIN.tail, (0.1, 0.4, -2), "shin", connected=True)
WAYS = {
    "glb": ("io_scene_gltf2", "export_scene.gltf", "import_scene.gltf"),
    "fbx": ("io_scene_fbx", "export_scene.fbx", "import_scene.fbx"),
    "bvh": ("io_anim_bvh", "export_anim.bvh", "import_anim.bvh"),
}
"""By what a file's name ends: the add-on, its exporter and its importer."""


def twist(bone: Bone) -> Bone:
    """A bone from the middle of another to three quarters."""
    head, tail = Vector(bone.head), Vector(bone.tail)
    return Bone(f"{bone.name}_twist", tuple(head.lerp(tail, 0.5)), tuple(head.lerp(tail, 0.75)), bone.name)


def called(name: str, path: Path) -> None:
    """Call an exporter or importer."""
    group, operator = name.split(".")
    assert getattr(getattr(bpy.ops, group), operator)(filepath=str(path)) == {"FINISHED"}


def imported(way: str, folder: Path) -> Any:
    """A leg with twist bones as an importer makes it, its shin selected, its thigh turned."""
    module, exporter, importer = WAYS[way]
    addon_utils.enable(module)
    ob = make_rig((HIP, *LEG[1:], FOOT, *map(twist, LEG[1:])))
    bpy.ops.object.mode_set(mode="OBJECT")
    called(exporter, folder / f"leg.{way}")
    bpy.data.objects.remove(ob)
    called(importer, folder / f"leg.{way}")
    ob = next(ob for ob in bpy.data.objects if ob.type == "ARMATURE")
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="POSE")
    thigh = ob.pose.bones["thigh"]
    thigh.rotation_mode = "XYZ"
    put(thigh.rotation_euler, x=0.3)
    select(ob, "shin")
    update()
    return ob


@pytest.mark.parametrize("way", WAYS)
def test_bones_that_end_at_twist_bones_are_mended_in_one_click(way: str, tmp_path: Path) -> None:
    ob = imported(way, tmp_path)
    held = bpy.data.objects.new("held", None)
    bpy.context.collection.objects.link(held)
    held.parent, held.parent_type, held.parent_bone = ob, "BONE", "shin"
    update()
    before = {each.name: np.array(each.matrix) for each in ob.pose.bones}
    place = np.array(held.matrix_world)
    refuses(bpy.ops.pose.planar_ik_add, "'thigh' and 'shin' do not end at the next joints: press End Bones at Joints")
    press(ob, "end_at_joints")
    for name, matrix in before.items():
        assert np.allclose(np.array(ob.pose.bones[name].matrix), matrix, atol=1e-5), name
    assert np.allclose(np.array(held.matrix_world), place, atol=1e-5)
    refuses(bpy.ops.pose.planar_ik_end_at_joints, "but not where that ends")
    press(ob, "add")
    chain = ob.pose.bones["shin"].planar_ik
    ankle = ob.matrix_world @ ob.pose.bones["foot"].head
    assert (chain.target.matrix_world.translation - ankle).length < 1e-5
    assert_on_target(ob, chain.target, within=1e-5)


def test_a_shin_that_ends_at_its_twist_bone_below_a_thigh_that_does_not_is_mended() -> None:
    """Its tip would be in the middle of the shin."""
    half = tuple(Vector(SHIN.head).lerp(Vector(SHIN.tail), 0.5))
    lower = Bone("shin_twist", half, SHIN.tail, "shin", connected=True)
    ob = make_rig((*LEG[:2], SHIN._replace(tail=half), lower, FOOT._replace(connected=False)))
    bpy.ops.object.mode_set(mode="POSE")
    select(ob, "shin_twist")
    refuses(bpy.ops.pose.planar_ik_add, "no limb")
    select(ob, "shin")
    refuses(bpy.ops.pose.planar_ik_add, "'thigh' and 'shin' do not end at the next joints: press End Bones at Joints")
    press(ob, "end_at_joints")
    press(ob, "add")
    tip = ob.pose.bones["shin"].planar_ik.target.matrix_world.translation
    assert (tip - Vector(SHIN.tail)).length < 1e-5


def test_bones_that_end_at_joints_are_left_as_they_are() -> None:
    toe = Bone("toe", (0.1, 0.6, -2), (0.1, 0.8, -2), "foot")
    ob = make_rig((HIP, *LEG[1:], FOOT, toe, *map(twist, LEG[1:])))
    for name in ("shin", "foot", "shin_twist", "thigh_twist"):
        select(ob, name)
        assert not bpy.ops.pose.planar_ik_end_at_joints.poll(), name
