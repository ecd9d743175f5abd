"""Files of 2.7x and 2.8x keep rest matrices that Blender makes anew as Edit Mode is left, a little elsewhere."""

from __future__ import annotations

import ctypes

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import rigs
from tests.blender.snapshots import differences, snapshot

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


def ends_of(bone):
    """Head and tail of a bone in the armature, in Blender's own memory."""
    return in_memory(bone, [*bone.head_local, *bone.tail_local])


def in_memory(bone, numbers):
    """Numbers of a bone at rest in Blender's own memory: Python may read but not set them."""
    memory, flat = np.frombuffer((ctypes.c_char * 320).from_address(bone.as_pointer()), np.float32), np.ravel(numbers)
    (start, *_) = (i for i in range(len(memory)) if np.array_equal(memory[i : i + len(flat)], flat.astype(np.float32)))
    return memory[start : start + len(flat)]


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_what_edit_mode_moves_is_refused_and_taken_after_it(addon, mode):
    """Nothing moves but what Edit Mode does, which a person enters and sees."""
    ob, add = rigs.biped(), addon("tasks.adding")
    as_old(ob, ("thigh.L", "shin.L"))
    before = snapshot()
    with pytest.raises(RuntimeError, match=r"Edit Mode moves 'thigh\.L'"):
        add.add(bpy.context, [add.LimbRequest(ob.pose.bones["shin.R"])], mode=mode)
    assert not differences(before, snapshot())
    rigs.activate(ob, "EDIT")
    rigs.activate(ob, "POSE")
    (last,) = add.add(bpy.context, [add.LimbRequest(ob.pose.bones["shin.L"])], mode=mode).limbs
    assert last.planar_ik.message == "On target"
