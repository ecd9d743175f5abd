"""What Blender does to a rig, its mechanisms go along with."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import rigs


def test_symmetrized_live_limbs_have_the_colours_of_their_side(addon):
    ob = rigs.biped()
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_add(plane="POLE", mode="LIVE")
    rigs.activate(ob, "EDIT")
    made = ("thigh.L", "shin.L", "foot.L", "foot_ik.L", "knee_pole.L")
    for bone in ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name in made
    bpy.ops.armature.symmetrize()
    rigs.activate(ob, "POSE")
    edited = addon("tasks.modes")
    assert edited.edited_limbs(ob) == [ob.pose.bones["shin.R"]]
    colours = [ob.data.bones[f"foot_ik.{side}"].color for side in "LR"]
    assert colours[0].palette == colours[1].palette
    assert edited.rebuild_edited(bpy.context, ob)
    assert colours[0].palette != colours[1].palette
    assert edited.edited_limbs(ob) == []


def added(mode):
    """All limbs of a biped, and where its own bones are."""
    ob = rigs.biped()
    own = ob.pose.bones.keys()
    for bone in ob.pose.bones:
        rigs.select(bone)
    bpy.ops.pose.planar_ik_add(mode=mode)
    return ob, own, rigs.matrices(ob, own)


def messages(ob):
    bpy.context.view_layer.update()
    return {bone.planar_ik.message for bone in ob.pose.bones if bone.planar_ik.enabled}


@pytest.mark.parametrize("repair", ["TARGET", "POLE"])
@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_control_that_was_deleted_is_made_anew(mode, repair):
    """As X does in Edit Mode, which empties its name in the constraint."""
    ob, own, before = added(mode)
    name = {"TARGET": "foot_ik.L", "POLE": "knee_pole.L"}[repair]
    rigs.activate(ob, "EDIT")
    for bone in ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name == name
    bpy.ops.armature.delete()
    rigs.activate(ob)
    assert messages(ob) == {f"The control '{name}' is gone: make it anew", "On target"}
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_repair(repair=repair)
    assert messages(ob) == {"On target"}
    assert name in ob.pose.bones
    assert np.abs(rigs.matrices(ob, own) - before).max() < 2e-5


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.names_nothing  # until it is repaired
def test_a_pole_of_ones_own_that_was_deleted_is_made_anew(addon, mode):
    """By a script, which leaves its name in the constraint."""
    ob, own, _ = added(mode)
    rigs.activate(ob, "EDIT")
    ob.data.edit_bones.remove(ob.data.edit_bones["knee_pole.L"])
    rigs.activate(ob)
    assert messages(ob) == {"'rig' has no bone 'knee_pole.L': pick another pole", "On target"}
    assert addon("tasks.modes").repairs_for(ob.pose.bones["shin.L"]) == ["POLE"]
    before = rigs.matrices(ob, own)
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_repair(repair="POLE")
    assert messages(ob) == {"On target"}
    assert np.abs(rigs.matrices(ob, own) - before).max() < 2e-5


def test_limbs_go_on_after_apply_and_join(addon):
    for mode in ("RIG", "LIVE"):
        ob, own, before = added(mode)
        other, _, _ = added(mode)
        for each in (ob, other):
            each.scale, each.location = (2.0,) * 3, (0.3, 0.1, 0.7 if each == ob else 1.3)
        rigs.activate(ob, "OBJECT")
        bpy.ops.object.transform_apply(location=False, rotation=False)
        other.select_set(True)
        bpy.ops.object.join()
        rigs.activate(ob)
        assert addon("tasks.modes").rebuild_edited(bpy.context, ob) == (mode == "RIG")
        assert messages(ob) == {"On target"}
        assert not addon("tasks.modes").edited_limbs(ob)
        before[:, :3, 3] *= 2.0
        assert np.abs(rigs.matrices(ob, own) - before).max() < 2e-5
        bpy.data.objects.remove(ob)


def test_the_first_bone_is_locked_where_its_location_would_be_lost():
    ob, _, _ = added("RIG")
    first = ob.pose.bones["thigh.L"]
    assert all(first.lock_location)
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_remove()
    assert not any(ob.pose.bones["thigh.L"].lock_location)


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("inherit", ["ALIGNED", "FIX_SHEAR"])
def test_below_a_squashed_parent_the_cause_is_named(inherit, mode):
    ob, _, _ = added(mode)
    for name in ("thigh.L", "shin.L"):
        ob.data.bones[name].inherit_scale = inherit
    ob.pose.bones["hips"].scale = (1.3, 0.7, 1.0)
    ob.pose.bones["foot_ik.L"].location = (0.0, 0.1, 0.2)
    assert "'thigh.L' is scaled differently from its parent: set its Inherit Scale to Full" in messages(ob)


@pytest.mark.parametrize("scale", [1.0001, 1.01])
def test_a_scale_that_nobody_sees_is_taken(scale):
    ob = rigs.biped()
    for frame, size in ((1, scale), (10, 1.0)):
        ob.pose.bones["thigh.L"].scale = (size,) * 3
        ob.pose.bones["thigh.L"].keyframe_insert("scale", frame=frame)
    rigs.click(ob, "shin.L")
    if scale > 1.001:
        with pytest.raises(RuntimeError, match="clear its scale, and delete the keys"):
            bpy.ops.pose.planar_ik_add()
    else:
        bpy.ops.pose.planar_ik_add()
        assert messages(ob) == {"On target"}


@pytest.mark.names_nothing  # what a bone was called
@pytest.mark.parametrize("what", ["twist", "location"])
def test_a_rename_that_blender_follows_by_half_is_told(addon, what):
    """It leaves the paths of drivers that end in a number, before 5.3."""
    ob = rigs.biped()
    if what == "location":
        ob.pose.bones["thigh.L"].location = (0.02, 0.01, 0.03)
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_add(mode="RIG")
    if what == "twist":
        bpy.ops.pose.planar_ik_set(twist=True)
    ob.pose.bones["shin.L"].name, ob.pose.bones["thigh.L"].name = "calf.L", "upper.L"
    bpy.context.view_layer.update()
    is_told = ob.pose.bones["calf.L"].planar_ik.message.endswith("rebuild the limb")
    assert is_told == (bpy.app.version < (5, 3))
    rigs.click(ob, "calf.L")
    bpy.ops.pose.planar_ik_rebuild()
    assert messages(ob) == {"On target"}
    assert all(curve.driver.is_valid for curve in ob.animation_data.drivers)
