"""What keeps a pose keeps how bones are turned about their own lines: whole matrices, at frames and between them."""

from __future__ import annotations

import random

import bpy
import pytest
from mathutils import Quaternion

from tests.blender import rigs
from tests.blender.combinations import off
from tests.blender.legs import seen

ARM = {
    "chest": ((0, 0, 1.2), (0, 0, 1.5), ""),
    "upper_arm.L": ((0.2, 0, 1.4), (0.5, 0, 1.4), "chest"),
    "forearm.L": ((0.5, 0, 1.4), (0.76, 0, 1.4), "upper_arm.L"),
    "hand.L": ((0.76, 0, 1.4), (0.86, 0, 1.4), "forearm.L"),
}
LIMB = ("upper_arm.L", "forearm.L")


def arm(bend=0.0):
    """An arm in a T-pose, straight or with its elbow a little to the back; no root bone."""
    elbow = (0.5, bend, 1.4)
    upper, lower = (ARM[name] for name in LIMB)
    return rigs.rig({**ARM, LIMB[0]: (upper[0], elbow, upper[2]), LIMB[1]: (elbow, *lower[1:])})


def key(ob, name, frame, turn):
    ob.pose.bones[name].rotation_quaternion = turn
    ob.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)


def anyhow(ob, rng):
    """Both bones turn about all axes, the elbow never straight."""
    for frame in range(1, 62, 12):
        for name in (*LIMB, "hand.L"):
            bend = Quaternion((0, 0, 1), -0.9) if name == LIMB[1] else Quaternion()
            key(ob, name, frame, bend @ rigs.turn(rng, 0.7))


def size(ob):
    return sum(ob.data.bones[name].length for name in LIMB)


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_solve_exactly_keeps_the_turn(addon, mode):
    """Blender's IK turns the bones of an arm that is posed by FK below it, and knows of no hinge."""
    ob, rng = arm(0.03), random.Random(2)
    anyhow(ob, rng)
    constraint = ob.pose.bones["forearm.L"].constraints.new("IK")
    constraint.target, constraint.chain_count = rigs.empty("target"), 2
    for frame in range(1, 62, 12):
        constraint.target.location = (
            0.4 + rng.uniform(-0.1, 0.1),
            rng.uniform(-0.1, 0.2),
            1.3 + rng.uniform(-0.1, 0.2),
        )
        constraint.target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    frames = [frame / 2 for frame in range(2, 121)]
    before = seen(ob, LIMB, frames)
    addon("tasks.converting").convert(bpy.context, [ob.pose.bones["forearm.L"]], mode=mode)
    after = seen(ob, LIMB, frames)
    place, turn, _ = off(before, after, size(ob)).max(axis=(0, 1))
    assert place < 2e-3  # Blender's IK misses its target by as much
    assert turn < 1.0
    steps = [off(each[1:], each[:-1], 1.0)[..., 1] for each in (after, before)]
    assert (steps[0] - steps[1]).max() < 1.0


def test_solve_exactly_keeps_the_turn_out_of_reach(addon):
    """An arm that stretches for what it never reaches, and is turned about its line by keys."""
    ob = arm(0.03)
    for frame, angle in ((1, 0.0), (60, 0.9)):
        key(ob, "upper_arm.L", frame, Quaternion((0, 1, 0), angle))
    constraint = ob.pose.bones["forearm.L"].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.use_stretch = rigs.empty("target"), 2, False
    for frame, place in ((1, (1.0, 0.1, 1.5)), (60, (0.9, -0.3, 1.7))):
        constraint.target.location = place
        constraint.target.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(1)
    before = seen(ob, LIMB, range(1, 61))
    addon("tasks.converting").convert(bpy.context, [ob.pose.bones["forearm.L"]], mode="RIG")
    place, turn, _ = off(before, seen(ob, LIMB, range(1, 61)), size(ob)).max(axis=(0, 1))
    assert place < 2e-3
    assert turn < 1.0
