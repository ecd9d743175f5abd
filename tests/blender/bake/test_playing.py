"""Bakes while somebody's handler runs as frames change: by arrays where that is what plays, else stepped."""

from __future__ import annotations

import math
from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import (
    EXACT,
    FRAMES,
    LENGTH,
    add_pole,
    assert_same,
    bake_scene,
    circling,
    handled,
    joints,
    key_hip,
    key_setting,
    make_chain,
    make_leg,
    motion,
)
from tests.blender.rigs import curves, make_empty

PLAYED, STEPPED = "curves, then played", "stepped"


def rig() -> Any:
    return bpy.data.objects["leg"]


def target() -> Any:
    return bpy.data.objects["target"]


def chain() -> Any:
    return rig().pose.bones["shin"].planar_ik


def do_nothing(scene: Any, *_args: Any) -> None:
    pass


def move_another(scene: Any, *_args: Any) -> None:
    """By what an object and the tip do, to where it does not matter."""
    bpy.data.objects["other"].location = target().location + rig().pose.bones["shin"].tail


def count_calls(scene: Any, *_args: Any) -> None:
    bpy.data.objects["other"]["calls"] = bpy.data.objects["other"].get("calls", 0) + 1


def move_target_by_tip(scene: Any, *_args: Any) -> None:
    target().delta_location.x = 0.1 * rig().pose.bones["shin"].tail.z * (scene.frame_current > 1)


def push_target(scene: Any, *_args: Any) -> None:
    """A little farther each time it is called, for so many times that it comes back."""
    count_calls(scene)
    target().delta_location.x = 0.1 * (bpy.data.objects["other"]["calls"] % 5)


def move_target_late(scene: Any, *_args: Any) -> None:
    target().delta_location.x = 0.2 * (scene.frame_current > 20)


def move_pole(scene: Any, *_args: Any) -> None:
    bpy.data.objects["pole"].location.x = math.sin(scene.frame_current)


def turn_hip(scene: Any, *_args: Any) -> None:
    rig().pose.bones["hip"].scale = [1.0 + 0.01 * scene.frame_current] * 3


def bend_back(scene: Any, *_args: Any) -> None:
    chain().bend = -1.0 if scene.frame_current > 12 else 1.0


def move_thigh(scene: Any, *_args: Any) -> None:
    rig().pose.bones["thigh"].location.x = 0.01 * scene.frame_current


def make_limb() -> Any:
    ob = make_leg()
    make_chain(ob)
    key_hip(ob)
    add_pole(chain())
    make_empty("other")
    bpy.context.view_layer.update()
    return ob


@pytest.mark.parametrize(
    ("handler", "way"),
    [
        (do_nothing, PLAYED),
        (move_another, PLAYED),
        (count_calls, PLAYED),
        (move_target_by_tip, STEPPED),
        (push_target, STEPPED),
        (move_target_late, STEPPED),
        (move_pole, STEPPED),
        (turn_hip, STEPPED),
        (bend_back, STEPPED),
        (move_thigh, STEPPED),
    ],
)
@pytest.mark.parametrize("event", ["pre", "post"])
def test_what_a_handler_does_to_a_limb_is_in_its_keys(addon, handler, way, event):
    """As it is when live chains are stepped, and played if there is no difference. The first frame may hang on that
    which was there before."""
    ob = make_limb()
    with handled(handler, event):
        stepped = sampled_by_stepping()
        bpy.context.scene.frame_set(1)
        baked = bake_scene().chains[0]
        assert baked.way == way
        if handler != push_target:
            assert_same(baked.joints.knee[1:], stepped.joints.knee[1:])
            assert_same(baked.joints.tip[1:], stepped.joints.tip[1:])
        if way == PLAYED:
            assert_same(motion(ob)[:, 2], stepped.joints.tip)


def sampled_by_stepping() -> Any:
    """As reports do, which write no keys to try."""
    baking = installed.addon("addon.bake")
    sample = baking.finish(baking.sample_chains(bpy.context, baking.chains_of_scene(bpy.context), FRAMES))[0]
    assert sample.way == STEPPED
    return sample


@pytest.mark.parametrize("change", ["influence", "stretch", "switch"])
def test_a_limb_whose_own_pose_counts_is_stepped(addon, change):
    """Its keys would hide what a handler makes of that."""
    ob = make_limb()
    if change == "switch":
        key_setting(ob, "enabled", True, False, True)
    else:
        setattr(chain(), change, 0.5)

    def turn_thigh(scene: Any, *_args: Any) -> None:
        rig().pose.bones["thigh"].rotation_quaternion = (1.0, 0.01 * scene.frame_current, 0.0, 0.0)

    with handled(turn_thigh, "pre"):
        wanted = motion(ob)
        assert bake_scene().chains[0].way == STEPPED
        assert_same(motion(ob), wanted)


def test_a_target_that_a_driver_moves_by_a_property_of_the_limb_is_where_that_puts_it(addon):
    ob = make_limb()
    shin = ob.pose.bones["shin"]
    for frame, value in ((1, 0.0), (20, 0.5)):
        shin["aside"] = value
        shin.keyframe_insert('["aside"]', frame=frame)
    driver = target().driver_add("delta_location", 0).driver
    driver.expression = "aside"
    variable = driver.variables.new()
    variable.name = "aside"
    variable.targets[0].id, variable.targets[0].data_path = ob, 'pose.bones["shin"]["aside"]'
    with handled(do_nothing):
        stepped = sampled_by_stepping()
        baked = bake_scene().chains[0]
        assert_same(baked.joints.tip, stepped.joints.tip)
        assert_same(motion(ob)[:, 2], stepped.joints.tip)
    assert baked.way == "evaluated in the scene, then played"


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_a_bake_cancelled_while_it_plays_leaves_all_as_it_was(addon, share):
    ob = make_limb()
    bpy.context.scene.frame_set(7)
    before = state(ob)
    baking = installed.addon("addon.bake")
    with handled(do_nothing, "pre"):
        steps = baking.bake(bpy.context, baking.Request(baking.chains_of_scene(bpy.context), FRAMES))
        while next(steps) < share:
            pass
        steps.close()
    bpy.context.view_layer.update()
    assert state(ob) == before


def state(ob: Any) -> Any:
    keys = {key: [tuple(point.co) for point in curve.keyframe_points] for key, curve in curves(ob).items()}
    scene = bpy.context.scene
    where = np.round(joints(ob), 6).tolist()
    return keys, len(bpy.data.actions), scene.frame_current, scene.planar_ik.live, chain().enabled, where


def test_a_target_that_a_handler_moves_is_followed_at_half_frames(addon):
    ob = make_limb()
    target().animation_data_clear()
    frames = np.arange(3.0, 9.0, 0.5)
    with handled(circling(target()), "pre"):
        wanted = motion(ob, frames)
        assert bake_scene(frames).chains[0].way == STEPPED
        assert_same(motion(ob, frames), wanted, EXACT * LENGTH)
