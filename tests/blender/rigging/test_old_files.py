"""Files of 2.7x and 2.8x keep rest matrices that Blender makes anew as Edit Mode is left, a little elsewhere."""

from __future__ import annotations

import ctypes

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender import legs, rigs

SHIFT = Vector((4e-4, -6e-4, 3e-4))
"""By how much a knee goes elsewhere, in a leg of 0.9."""


def as_old(ob, *knees):
    """Have the first and second of each two bones meet elsewhere once Edit Mode was left, as in an old file: what it
    has written of heads and tails does not fit its matrices."""
    rigs.activate(ob, "OBJECT")
    for upper, lower in knees:
        ends_of(ob.data.bones[upper])[3:] += np.array(SHIFT, np.float32)
        ends_of(ob.data.bones[lower])[:3] += np.array(SHIFT, np.float32)
    rigs.activate(ob, "POSE")


def with_old_axes(ob, name, factor):
    """Have the X axes of a bone and of those below be so long at rest, as in files of Blender 2.7x where the first
    points along -Y of its parent; heads and tails fit."""
    rigs.activate(ob, "OBJECT")
    first = ob.data.bones[name]
    in_memory(first, np.array(first.matrix).T)[:3] *= factor
    for bone in (first, *first.children_recursive):
        in_memory(bone, np.array(bone.matrix_local).T)[:3] *= factor
    ob.data.update_tag()
    rigs.activate(ob, "POSE")


def ends_of(bone):
    """Head and tail of a bone in the armature, in Blender's own memory."""
    return in_memory(bone, [*bone.head_local, *bone.tail_local])


def in_memory(bone, numbers):
    """Numbers of a bone at rest in Blender's own memory: Python may read but not set them."""
    memory, flat = np.frombuffer((ctypes.c_char * 320).from_address(bone.as_pointer()), np.float32), np.ravel(numbers)
    (start, *_) = (i for i in range(len(memory)) if np.array_equal(memory[i : i + len(flat)], flat.astype(np.float32)))
    return memory[start : start + len(flat)]


def test_edit_mode_shifts_the_rest_pose():
    ob = rigs.biped()
    as_old(ob, ("thigh.L", "shin.L"))
    before = np.array(ob.data.bones["shin.L"].matrix_local)
    for expected in (3e-4, 0.0):
        rigs.activate(ob, "EDIT")
        rigs.activate(ob, "POSE")
        after = np.array(ob.data.bones["shin.L"].matrix_local)
        assert (np.abs(after - before).max() > expected) == (expected > 0.0)
        before = after


@pytest.mark.parametrize("settings", [{}, {"plane": "POLE", "softness": 0.1, "stretch": 0.3}])
def test_a_limb_put_on_the_rig_fits_it(addon, settings):
    ob = rigs.biped()
    as_old(ob, ("thigh.L", "shin.L"))
    last = legs.rig_leg(addon, settings, ob)
    assert legs.problem(addon, last) == ""
    assert legs.worst(last) < 2e-5


def test_a_limb_that_was_converted_fits_it(addon):
    ob = rigs.biped()
    last = ob.pose.bones["shin.L"]
    ik = last.constraints.new("IK")
    ik.target, ik.chain_count = rigs.empty("target.L", (0.15, -0.2, 0.25)), 2
    as_old(ob, ("thigh.L", "shin.L"), ("thigh.R", "shin.R"))
    addon("tasks.converting").convert(bpy.context, [last], mode="RIG")
    last = ob.pose.bones["shin.L"]
    assert last.planar_ik.reach == "REACHED"
    assert last.planar_ik.message == "On target"
    knee = rigs.matrices(ob, ["shin.L"])[0, :3, 3]
    addon("tasks.converting").unconvert(bpy.context, [last])  # Blender's IK on the rest pose as it is after Edit Mode
    assert np.abs(rigs.matrices(ob, ["shin.L"])[0, :3, 3] - knee).max() < 2e-3


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_keyed_limb_stays_whose_axes_edit_mode_makes_anew(addon, mode):
    ob = rigs.biped()
    for frame, angle in ((1, 0.9), (5, -0.4)):  # radians, to the side
        for name, share in (("thigh.L", 1.0), ("shin.L", 0.3)):
            bone = ob.pose.bones[name]
            bone.rotation_quaternion = Quaternion((0.0, 0.0, 1.0), share * angle)
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    frames = np.arange(1.0, 5.5, 0.5)
    before = [shown_at(ob, frame) for frame in frames]
    bpy.context.scene.frame_set(1)
    with_old_axes(ob, "thigh.L", 0.998)
    add, length = addon("tasks.adding"), 0.9
    added = add.add(bpy.context, [add.LimbRequest(ob.pose.bones["shin.L"])], mode=mode)
    assert ["thigh.L" in str(warning) for warning in added.warnings] == [True]
    for frame, matrices in zip(frames, before, strict=True):
        after = shown_at(ob, frame)
        assert np.abs(after - matrices)[:, :3, 3].max() < 1e-3 * length
        assert np.abs(after - matrices)[:, :3, :3].max() < 3e-3


def shown_at(ob, frame):
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
    return rigs.matrices(ob, ("thigh.L", "shin.L", "foot.L"))
