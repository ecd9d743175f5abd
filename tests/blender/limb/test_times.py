"""Where time is stretched, by the scene or by strips, every frame looks as before; and a task over frames that is
stopped leaves nothing."""

from __future__ import annotations

import random

import bpy
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


MOST = {"add": 2.1, "snap_target": 2.1, "snap_fk": 3, "switch": 3, "mirror": 3.4, "convert": 2.95}


@pytest.mark.parametrize("task", MOST)
def test_frames_are_stepped_so_often_at_most(add, addon, task):
    """Frames are read once, and some once more to check; what is halfway, where curves do not say it."""
    ob, frames, stepped = walking(addon), range(1, 21), []
    if task == "convert":
        converted(addon, ob)
    elif task != "add":
        add(ob, "shin.L", mode="RIG")
    last, snapping = ob.pose.bones["shin.L"], addon("tasks.snapping")
    bpy.app.handlers.frame_change_post.append(lambda *_: stepped.append(1))
    {
        "add": lambda: add(ob, "shin.L", mode="RIG"),
        "snap_target": lambda: snapping.snap_target(bpy.context, [last], frames),
        "snap_fk": lambda: snapping.snap_fk(bpy.context, [last], frames),
        "switch": lambda: snapping.switch_over(bpy.context, [last], "FK", frames),
        "mirror": lambda: addon("tasks.mirroring").mirror(bpy.context, [last], frames),
        "convert": lambda: addon("tasks.converting").convert(bpy.context, [last], mode="RIG"),
    }[task]()
    bpy.app.handlers.frame_change_post.pop()
    assert len(frames) <= len(stepped) <= MOST[task] * len(frames) + 3


def converted(addon, ob):
    """The leg as Blender's own IK poses it, with a target that is keyed."""
    target = rigs.empty("target")
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


TASKS = ("add", "snap_target", "snap_fk", "switch", "mirror", "hold", "find", "plant", "convert", "bake")


@pytest.mark.parametrize("task", TASKS)
def test_what_is_stopped_leaves_nothing(add, addon, task):
    ob = walking(addon)
    frames, context = range(1, 21), bpy.context
    if task == "convert":
        converted(addon, ob)
    elif task != "add":
        add(ob, "shin.L", mode="RIG")
    adding, snapping, holding, bake = (
        addon(name) for name in ("tasks.adding", "tasks.snapping", "tasks.holding", "tasks.baking")
    )
    planting, span = addon("tasks.holding"), [[holding.sole_contact(addon("feet.contacts").FrameRange(8, 12))]]
    steps_of = {
        "add": lambda last: adding.add.steps(context, [adding.LimbRequest(last)], mode="RIG"),
        "snap_target": lambda last: snapping.snap_target.steps(context, [last], frames),
        "snap_fk": lambda last: snapping.snap_fk.steps(context, [last], frames),
        "switch": lambda last: addon("tasks.snapping").switch_over.steps(context, [last], "FK", frames[4:16]),
        "mirror": lambda last: addon("tasks.mirroring").mirror.steps(context, [last], frames),
        "plant": lambda last: planting.plant.steps(context, [], [last], frames, planting.PlantOptions(1.0, 1.0)),
        "hold": lambda last: holding.hold_tips.steps(context, [last], span, holding.HoldOptions()),
        "find": lambda last: addon("tasks.contact_markers").find_contacts.steps(context, [last], frames),
        "convert": lambda last: addon("tasks.converting").convert.steps(context, [last], mode="RIG"),
        "bake": lambda last: bake.bake.steps(context, bake.BakeRequest([last], [*frames], remove=True)),
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
    assert closed >= (1 if task in ("bake", "switch") else 2)
