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


class Stopped(BaseException):
    """What somebody who has waited long enough raises."""


@pytest.mark.parametrize("task", ["add", "snap_target", "snap_fk", "hold"])
def test_what_is_stopped_leaves_nothing(add, addon, task):
    ob = walking(addon)
    snapping, holding = addon("tasks.snapping"), addon("tasks.holding")
    span = [[holding.over(addon("poses.contacts").Span(8, 12))]]
    lasts = [] if task == "add" else add(ob, "shin.L", mode="RIG")
    does = {
        "add": lambda stop: add(ob, "shin.L", mode="RIG", progress=stop),
        "snap_target": lambda stop: snapping.snap_target(bpy.context, lasts, range(1, 21), stop),
        "snap_fk": lambda stop: snapping.snap_fk(bpy.context, lasts, range(1, 21), stop),
        "hold": lambda stop: holding.hold_tips(bpy.context, lasts, span, holding.Request(), progress=stop),
    }[task]
    before = rigs.snapshot()
    for share in (0.0, 0.3, 0.6, 0.75):

        def stop(done, share=share):
            if done > share:
                raise Stopped

        with pytest.raises(Stopped):
            does(stop)
        lasts = [ob.pose.bones["shin.L"]]
        assert rigs.snapshot() == before
