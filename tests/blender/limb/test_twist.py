"""What keeps a pose keeps how bones are turned about their own lines: whole matrices, at frames and between them."""

from __future__ import annotations

import random
from itertools import pairwise
from math import degrees, radians

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
    """How far the pole is from the knee in each frame, as a part of how far at rest, and by how much more than the knee
    itself it turns around the limb from one frame to the next, in degrees, where that is bent by 5 or more."""
    pole, knee = (ob.pose.bones[name] for name in (last.planar_ik.pole_subtarget, LIMB[1]))
    rest, shares, seen = (pole.bone.head_local - knee.bone.head_local).length, [], []
    for frame in range(*FRAMES):
        bpy.context.scene.frame_set(frame)
        root, tip = ob.pose.bones[LIMB[0]].head, ob.pose.bones["hand.L"].head
        shares.append((pole.head - knee.head).length / rest)
        line = (tip - root).normalized()
        ahead = [each - each.dot(line) * line for each in (knee.head - root, pole.head - knee.head)]
        seen.append((*ahead, (knee.head - root).angle(tip - knee.head) >= radians(5.0)))
    steps = [
        degrees(pole.angle(other_pole, 0.0) - knee.angle(other_knee, 0.0))
        for (knee, pole, bent), (other_knee, other_pole, other_bent) in pairwise(seen)
        if bent and other_bent
    ]
    return shares, max(steps)


def stays(ob, names, before, size):
    """Joints and whole bones are where they were, in frames and halfway between."""
    moved = turned.compare(before, turned.read(ob, names, before.frames))
    assert moved.place < 1e-3 * size
    assert moved.turn < 1.0
    assert moved.step < 1.0


WAYS = (("FREE", "RIG"), ("POLE", "LIVE"), ("POLE", "RIG"), ("FREE", "LIVE"))
CASES = [(kind, *WAYS[(i + k) % 4]) for i, kind in enumerate(ANIMATIONS) for k in (0, 1)]


@pytest.mark.parametrize(("kind", "knee", "mode"), CASES)
def test_add_keeps_the_turn(add, kind, knee, mode):
    animate, bend = ANIMATIONS[kind]
    ob = arm(bend)
    ob.matrix_world = Matrix.Rotation(0.4, 4, "Z")
    animate(ob, random.Random(kind))
    bpy.context.scene.frame_set(1)
    names = [*LIMB, "hand.L"]
    before = turned.read(ob, names, turned.halves(*FRAMES))
    last = add(ob, "forearm.L", knee=knee, mode=mode)[0]
    stays(ob, names, before, size(ob))
    assert kind.startswith("hinge") == ("IK Twist" not in last)
    if knee == "POLE":
        shares, step = poles(ob, last)
        assert min(shares) > 0.8
        assert max(shares) < 1.25
        assert step < 0.5


@pytest.mark.parametrize(("count", "knee", "mode"), [(2, "POLE", "RIG"), (3, "FREE", "LIVE"), (4, "POLE", "RIG")])
def test_there_and_back(add, addon, count, knee, mode):
    """Add, Snap IK to FK and Snap FK to IK of bones that turn about all their axes, as IK with twist has them."""
    rng = random.Random(count)
    ob = rigs.random_limb(rng, count=count)
    segments, names = (1,) * count, [*("upper", "middle.1", "middle.2")[: count - 1], "lower", "foot"]
    twisted_walk(add(ob, "lower", knee="FREE", segments=segments, mode="LIVE")[0], addon, rng)
    length = sum(ob.data.bones[name].length for name in names[:-1])
    before = turned.read(ob, names, turned.halves(*WALK))
    last = add(ob, "lower", knee=knee, segments=segments, mode=mode)[0]
    assert "IK Twist" in last
    stays(ob, names, before, length)
    snapping, frames = addon("tasks.snapping"), range(WALK[0], WALK[1] + 1)
    snapping.snap_fk(bpy.context, [last], frames)
    last.planar_ik.influence = 0.0
    stays(ob, names, before, length)
    snapping.snap_target(bpy.context, [last], frames)
    last.planar_ik.influence = 1.0
    stays(ob, names, before, length)


WALK = (1, 25)


def twisted_walk(last, addon, rng):
    """Have bones go as a limb with twist does, by keys of their own, in each frame."""
    ob, name = last.id_data, last.name
    addon("tasks.features").add_twist(bpy.context, [last])
    last = ob.pose.bones[name]
    target, root = ob.pose.bones[last.planar_ik.subtarget], rigs.place(ob, "upper")
    to_tip = rigs.place(ob, "foot") - root
    for frame in range(WALK[0], WALK[1] + 1, 12):
        rigs.put(target, root + rigs.turn(rng, 0.6) @ (to_tip * rng.uniform(0.8, 0.95)))
        target.keyframe_insert("location", frame=frame)
        last["IK Swivel"] = rng.uniform(-1.0, 1.0)
        last["IK Twist"] = [rng.uniform(-1.0, 1.0) for _ in last["IK Twist"]]
        sliders = ["IK Swivel", "IK Twist"]
        if "IK Ankle" in last:
            last["IK Ankle"] = rng.uniform(-0.2, 0.2)
            sliders.append("IK Ankle")
        for slider in sliders:
            last.keyframe_insert(f'["{slider}"]', frame=frame)
    frames = [float(frame) for frame in range(WALK[0], WALK[1] + 1)]
    addon("tasks.baking").bake(bpy.context, addon("tasks.baking").BakeRequest([last], frames, remove=True))
    bpy.context.scene.frame_set(WALK[0])


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
    before = turned.read(ob, LIMB, turned.halves(*FRAMES))
    addon("tasks.converting").convert(bpy.context, [ob.pose.bones["forearm.L"]], mode=mode)
    moved = turned.compare(before, turned.read(ob, LIMB, before.frames))
    assert moved.place < 2e-3 * size(ob)  # Blender's IK misses its target by as much
    assert moved.turn < 1.0
    assert moved.step < 1.0


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
    before = turned.read(ob, LIMB, range(1, 61))
    addon("tasks.converting").convert(bpy.context, [ob.pose.bones["forearm.L"]], mode="RIG")
    moved = turned.compare(before, turned.read(ob, LIMB, before.frames))
    assert moved.place < 2e-3 * size(ob)
    assert moved.turn < 1.0
