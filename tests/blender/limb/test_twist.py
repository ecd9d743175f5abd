"""What keeps a pose keeps how bones are turned about their own lines: whole matrices, at frames and between them."""

from __future__ import annotations

import random
from math import radians

import bpy
import pytest
from mathutils import Matrix, Quaternion, Vector

from tests.blender import rigs, turned

FRAMES = (1, 60)
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


def with_the_hand(ob, rng):
    """The forearm turns with the hand by 60 degrees."""
    for frame, angle in ((1, 0.0), (30, 60.0), (60, -10.0)):
        key(ob, "upper_arm.L", frame, Quaternion((0, 0, 1), -0.01 * frame))
        key(ob, "forearm.L", frame, Quaternion((0, 1, 0), radians(angle)) @ Quaternion((0, 0, 1), -0.4 - 0.01 * frame))


def hinge(off):
    """The elbow is straight in the first frame, and its axis so many degrees off the guess."""

    def animate(ob, rng):
        axis = Quaternion((0, 1, 0), radians(off)) @ Vector((0, 0, 1))
        for frame, angle in ((1, 0.0), (20, 0.9), (40, 0.2), (60, 1.4)):
            key(ob, "upper_arm.L", frame, Quaternion((1, 0, 0), 0.01 * frame))
            key(ob, "forearm.L", frame, Quaternion(axis, -angle))

    return animate


def nearly_straight(ob, rng):
    """For a moment the elbow is open but for 0.6 degrees, sideways."""
    for frame, axis, angle in ((1, (0, 0, 1), 40.0), (20, (0, 0, 1), 8.0), (30, (1, 0, 0), 0.6), (40, (0, 0, 1), 9.0)):
        key(ob, "upper_arm.L", frame, Quaternion((1, 0, 0), 0.02 * frame))
        key(ob, "forearm.L", frame, Quaternion(axis, radians(-angle)))
    key(ob, "upper_arm.L", 60, Quaternion((1, 0, 0), 0.7))
    key(ob, "forearm.L", 60, Quaternion((0, 0, 1), -1.0))


ANIMATIONS = {
    "anyhow": (anyhow, 0.03),
    "with the hand": (with_the_hand, 0.02),
    "hinge 0": (hinge(0), 0.0),
    "hinge 20": (hinge(20), 0.0),
    "hinge 40": (hinge(40), 0.0),
    "hinge 115": (hinge(115), 0.0),
    "nearly straight": (nearly_straight, 0.0),
}


def size(ob):
    return sum(ob.data.bones[name].length for name in LIMB)


def poles(ob, last):
    """How far the pole is from the knee in each frame, as a part of how far at rest; and how it turns and the knee."""
    pole = ob.pose.bones[last.planar_ik.pole_subtarget]
    rest = (pole.bone.head_local - ob.data.bones[LIMB[1]].head_local).length
    shares = []
    for frame in range(*FRAMES):
        bpy.context.scene.frame_set(frame)
        shares.append((pole.head - ob.pose.bones[LIMB[1]].head).length / rest)
    return shares


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("knee", ["FREE", "POLE"])
@pytest.mark.parametrize("kind", ANIMATIONS)
def test_add_keeps_the_turn(add, kind, knee, mode):
    animate, bend = ANIMATIONS[kind]
    ob = arm(bend)
    ob.matrix_world = Matrix.Rotation(0.4, 4, "Z")
    animate(ob, random.Random(kind))
    bpy.context.scene.frame_set(1)
    names = [*LIMB, "hand.L"]
    before = turned.read(ob, names, turned.halves(*FRAMES))
    last = add(ob, "forearm.L", knee=knee, mode=mode)[0]
    after = turned.read(ob, names, turned.halves(*FRAMES))
    moved, places = turned.compare(before, after), turned.compare(turned.whole(before), turned.whole(after))
    assert places.place < 1e-3 * size(ob)
    assert moved.turn < 1.0
    assert moved.step < 1.0
    assert kind.startswith("hinge") == ("IK Twist" not in last)
    if knee == "POLE":
        shares = poles(ob, last)
        assert min(shares) > 0.8
        assert max(shares) < 1.25
