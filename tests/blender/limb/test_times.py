"""Where time is stretched, by the scene or by strips, every frame looks as before; and a task over frames that is
stopped leaves nothing."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from tests.blender import rigs

NAMES = ("thigh.L", "shin.L", "foot.L")
KEYED = (1, 8, 14, 20)


def walking(addon):
    """A biped whose leg is keyed."""
    ob = rigs.biped()
    rng = random.Random(3)
    for frame in KEYED:
        ob.pose.bones["thigh.L"].rotation_quaternion = rigs.turn(rng, 0.6)
        ob.pose.bones["shin.L"].rotation_quaternion = Quaternion((1, 0, 0), rng.uniform(0.2, 1.0))
        for name in NAMES[:2]:
            ob.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    return ob


def seen(ob, frames):
    joints = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        joints.append(rigs.matrices(ob, NAMES)[:, :3, 3])
    return np.array(joints)


@pytest.mark.parametrize("stretched", [50, 100, 200])
def test_time_stretching(add, addon, stretched):
    ob = walking(addon)
    bpy.context.scene.render.frame_map_new = stretched
    frames = range(int(KEYED[-1] * stretched / 100) + 3)
    before = seen(ob, frames)
    last = add(ob, "shin.L", mode="RIG")[0]
    assert np.abs(seen(ob, frames) - before).max() < 1e-3
    addon("tasks.snapping").snap_fk(bpy.context, [last], frames)
    ob.pose.bones["shin.L"].planar_ik.influence = 0.0
    assert np.abs(seen(ob, frames) - before).max() < 1e-3


def test_a_strip_that_is_scaled(add, addon):
    ob = walking(addon)
    data = ob.animation_data
    action = data.action
    strip = data.nla_tracks.new().strips.new("walk", 1, action)
    data.action = None
    strip.scale = 1.5
    frames = range(1, 33)
    before = seen(ob, frames)
    assert np.abs(np.diff(before[20:28], axis=0)).max() > 1e-3
    add(ob, "shin.L", mode="RIG")
    assert np.abs(seen(ob, frames) - before).max() < 1e-3


def converted(addon, ob):
    """The leg as Blender's own IK poses it, with a target that is keyed."""
    target = bpy.data.objects.new("target", None)
    bpy.context.scene.collection.objects.link(target)
    made = ob.pose.bones["shin.L"].constraints.new("IK")
    made.target, made.chain_count = target, 2
    for frame, (x, y, z) in zip(KEYED, ((0, 0.1, 0), (0.05, -0.1, 0.1), (0, 0, 0.2), (0.1, 0.1, 0.1)), strict=True):
        target.location = ob.matrix_world @ ob.pose.bones["shin.L"].bone.tail_local
        target.location.x, target.location.y, target.location.z = (
            target.location.x + x,
            target.location.y + y,
            target.location.z + z,
        )
        target.keyframe_insert("location", frame=frame)


TASKS = ("add", "snap_target", "snap_fk", "hold", "find", "convert", "bake")


@pytest.mark.parametrize("task", TASKS)
def test_what_is_stopped_leaves_nothing(add, addon, task):
    ob = walking(addon)
    frames, context = range(1, 21), bpy.context
    if task == "convert":
        converted(addon, ob)
    elif task != "add":
        add(ob, "shin.L", mode="RIG")
    adding, snapping, holding, bake = (
        addon(name) for name in ("tasks.adding", "tasks.snapping", "tasks.holding", "bake")
    )
    span = [[holding.over(addon("poses.contacts").Span(8, 12))]]
    steps_of = {
        "add": lambda last: adding.add.steps(context, [adding.Request(last)], mode="RIG"),
        "snap_target": lambda last: snapping.snap_target.steps(context, [last], frames),
        "snap_fk": lambda last: snapping.snap_fk.steps(context, [last], frames),
        "hold": lambda last: holding.hold_tips.steps(context, [last], span, holding.Request()),
        "find": lambda last: addon("tasks.contact_markers").find_contacts.steps(context, [last], frames),
        "convert": lambda last: addon("tasks.converting").convert.steps(context, [last], mode="RIG"),
        "bake": lambda last: bake.bake.steps(context, bake.Request([last], [*frames], remove=True)),
    }[task]
    context.scene.frame_set(5)
    ob.pose.bones["thigh.L"].rotation_quaternion = Quaternion((0, 1, 0), 0.4)  # without a key
    context.view_layer.update()
    before, closed = rigs.snapshot(), 0
    for count in (1, 7, 20, 21, 30, 39):
        steps = steps_of(ob.pose.bones["shin.L"])
        if any(next(steps, None) is None for _ in range(count)):
            break
        steps.close()
        closed += 1
        assert rigs.snapshot() == before
    assert closed >= (1 if task == "bake" else 2)
