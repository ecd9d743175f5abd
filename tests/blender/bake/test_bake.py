"""Baked keys give the pose that the chains gave, on every frame; judged by where the joints are."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Euler

from scripts import installed
from tests.blender.bake_rigs import (
    FEATURES,
    FRAMES,
    assert_same,
    bake_scene,
    by_ways,
    channel,
    joints,
    key_hip,
    key_setting,
    key_thigh,
    make_chain,
    make_leg,
    motion,
)
from tests.blender.natives import make_portable
from tests.blender.rigs import MODES, curves, set_keys


@pytest.fixture
def bake(addon: ModuleType) -> Callable[..., Any]:
    return bake_scene


@pytest.mark.parametrize("feature", FEATURES)
@pytest.mark.parametrize("mode", ["QUATERNION", "ZXY"])
def test_keys_give_the_live_pose(bake, feature, mode):
    ob = make_leg(mode=mode)
    chain = make_chain(ob)
    FEATURES[feature](ob, chain)
    wanted = motion(ob)
    bpy.context.scene.frame_set(7)
    report = bake()
    assert bpy.context.scene.frame_current == 7
    assert not chain.enabled
    assert report.frames == len(FRAMES)
    assert_same(motion(ob), wanted)


def test_a_stretch_that_ends_before_the_last_frame(bake):
    """With what only stepping the scene follows."""
    ob = make_leg()
    chain = make_chain(ob, stretch=1.0)
    FEATURES["driven constraint"](ob, chain)
    bpy.context.view_layer.update()
    key_setting(ob, "stretch", 1.0, 0.0)
    wanted = motion(ob)
    bake()
    assert_same(motion(ob), wanted)


@pytest.mark.parametrize("mode", MODES)
def test_rotations_go_on_without_jumps(bake, mode):
    ob = make_leg(mode=mode)
    chain = make_chain(ob)
    key_hip(ob)
    wanted = motion(ob)
    bake()
    assert not chain.enabled
    assert_same(motion(ob), wanted)
    name = {"QUATERNION": "rotation_quaternion", "AXIS_ANGLE": "rotation_axis_angle"}.get(mode, "rotation_euler")
    for bone in ("thigh", "shin"):
        steps = np.abs(np.diff(channel(ob, bone, name), axis=0))
        assert steps.max() < (1.0 if mode == "QUATERNION" else math.pi)


def test_subframes(bake):
    ob = make_leg()
    make_chain(ob)
    frames = np.arange(2.0, 9.0, 0.25)
    wanted = motion(ob, frames)
    bake(frames)
    assert_same(motion(ob, frames), wanted)
    assert len(channel(ob, "shin", "rotation_quaternion")) == len(frames)


def test_a_chain_that_hangs_on_another_chain(bake):
    ob = make_leg()
    make_chain(ob)
    other = make_leg("other")
    chain = make_chain(other)
    chain.target, chain.subtarget = ob, "shin"
    bpy.context.view_layer.update()
    wanted = motion(ob), motion(other)
    report = bake()
    assert len(report.chains) == 2
    assert_same(motion(ob), wanted[0])
    assert_same(motion(other), wanted[1])


@pytest.mark.parametrize("stretch", [0.0, 0.5])
def test_a_chain_that_is_kept_gives_the_same_pose(bake, stretch):
    ob = make_leg()
    chain = make_chain(ob, stretch=stretch)
    wanted = motion(ob)
    bake(keep=True)
    assert chain.enabled
    assert_same(motion(ob), wanted)


@pytest.mark.parametrize("feature", ["plain", "driven constraint"])
def test_a_chain_that_is_kept_may_be_switched_by_its_influence(bake, feature):
    ob = make_leg()
    chain = make_chain(ob)
    FEATURES[feature](ob, chain)
    key_thigh(ob)
    key_setting(ob, "influence", 1.0, 0.0, 1.0)
    for point in curves(ob)['pose.bones["shin"].planar_ik_influence', 0].keyframe_points:
        point.interpolation = "CONSTANT"
    wanted = motion(ob)
    bake(keep=True)
    assert_same(motion(ob), wanted)


@pytest.mark.parametrize("feature", ["plain", "driven constraint"])
def test_a_chain_that_is_kept_would_blend_twice(bake, feature):
    ob = make_leg()
    chain = make_chain(ob)
    FEATURES[feature](ob, chain)
    key_setting(ob, "influence", 1.0, 0.0)
    with pytest.raises(installed.addon("addon.bake").Refused, match="between 0 and 1"):
        bake(keep=True)
    bake(range(11, 25), keep=True)


def test_keys_outside_the_range_and_other_channels_stay(bake):
    ob = make_leg()
    make_chain(ob)
    shin = ob.pose.bones["shin"]
    for frame in (-20, -10, 5, 40, 60):
        shin.rotation_quaternion = Euler((frame / 40, 0, 0)).to_quaternion()
        shin.keyframe_insert("rotation_quaternion", frame=frame)
    key_hip(ob)
    before = {key: [tuple(p.co) for p in c.keyframe_points] for key, c in curves(ob).items()}
    outside = [-20, -15, -10, 40, 50, 60]
    values = [
        [c.evaluate(frame) for frame in outside] for _, c in sorted(curves(ob).items()) if "rotation_quat" in _[0]
    ]
    bake()
    after = curves(ob)
    for key, points in before.items():
        left = [tuple(p.co) for p in after[key].keyframe_points]
        if "hip" in key[0]:
            assert left == points
        else:
            assert [p for p in left if not 1 <= p[0] <= 24] == [p for p in points if not 1 <= p[0] <= 24]
            assert len(left) == len(FRAMES) + 4
    again = [[after[key].evaluate(frame) for frame in outside] for key in sorted(before) if "rotation_quat" in key[0]]
    assert np.allclose(again, values, atol=1e-6)


@pytest.mark.parametrize(("end", "step", "count"), [(1.7, 0.1, 8), (24.0, 1.0, 24), (2.0, 0.3, 4), (1.0, 7.0, 1)])
def test_both_ends_are_frames_where_the_step_comes_to_them(addon, end, step, count):
    """Which steps of a tenth do by rounding only."""
    frames = installed.addon("addon.bake").frames_between(1.0, end, step)
    assert (len(frames), frames[0]) == (count, 1.0)
    assert frames[-1] <= end + 1e-6


def test_what_keys_do_where_a_chain_is_off_is_no_error_of_it(addon):
    """Of two frames it is off in the first."""
    samples = installed.addon("addon.bake.samples")
    sample = samples.empty_sample(make_leg().pose.bones["shin"], 2)
    sample.reach[1] = 0
    assert sample.worst_residual(np.array([[5.0, 0.0, 0.0], [0.25, 0.0, 0.0]])) == 0.25


def test_a_new_action_leaves_the_current_one_alone(bake):
    ob = make_leg()
    make_chain(ob)
    key_hip(ob)
    old = ob.animation_data.action
    count = len(curves(ob))
    wanted = motion(ob)
    bake(into_new=True)
    assert ob.animation_data.action != old
    assert old.use_fake_user or old.users
    assert_same(motion(ob), wanted)
    assert len(curves(ob)) == count + 8
    ob.animation_data.action = old
    assert len(curves(ob)) == count


def test_keys_look_as_blenders_own_bake_leaves_them(bake):
    ob = make_leg()
    make_chain(ob)
    bake()
    curve = curves(ob)['pose.bones["shin"].rotation_quaternion', 0]
    assert curve.group.name == "shin"
    assert {point.interpolation for point in curve.keyframe_points} == {"LINEAR"}
    if hasattr(ob.animation_data, "action_slot"):
        action = ob.animation_data.action
        assert (len(action.layers), len(action.layers[0].strips), len(action.slots)) == (1, 1, 1)
        assert ob.animation_data.action_slot == action.slots[0]


def test_the_report_counts_what_was_not_reached(bake):
    ob = make_leg()
    make_chain(ob, plane="SWING")
    report = bake()
    assert 0 < report.unreached < len(FRAMES)
    assert report.residual > 0.1


@pytest.mark.parametrize("feature", ["plain", "driven constraint"])
def test_what_a_chain_does_not_reach_while_it_is_off_is_not_counted(bake, feature):
    ob = make_leg()
    chain = make_chain(ob, plane="SWING")
    FEATURES[feature](ob, chain)
    chain.target.animation_data_clear()
    set_keys(chain.target, "location", {1: (0.1, 0.0, -9.0), 10: (0.1, 0.0, -9.0), 11: (0.1, 0.0, -1.4)})
    key_setting(ob, "enabled", False, True)
    report = bake()
    assert report.unreached == 0
    assert report.residual < 0.1


@pytest.mark.parametrize("runs_on", ["EXTENSION", "RIG"])
def test_what_a_limb_in_fk_does_not_reach_is_not_counted(addon, runs_on):
    """Its target is out of reach in all frames but the last; in the fifth to the tenth it is in FK."""
    ob = make_leg()
    target = make_chain(ob, plane="SWING").target
    target.animation_data_clear()
    set_keys(target, "location", {1: (0.1, 0.0, -9.0), 19: (0.1, 0.0, -9.0), 20: (0.1, 0.0, -1.4)})
    for frame, influence in ((1, 1.0), (4, 1.0), (5, 0.0), (10, 0.0), (11, 1.0)):
        ob.pose.bones["shin"].planar_ik.influence = influence
        ob.keyframe_insert('pose.bones["shin"].planar_ik_influence', frame=frame)
    if runs_on == "RIG":
        make_portable(ob)
    frames = range(1, 21)
    found = by_ways(frames)
    assert {"1", "3"} <= found.keys()
    for way, sample in found.items():
        assert [frame for frame, off in zip(frames, sample.misses, strict=True) if not off] == [*range(5, 11), 20], way
    assert bake_scene(frames).unreached == 13


def test_a_target_that_is_nowhere_is_unreached_but_no_distance_away(bake):
    ob = make_leg()
    curve = curves(make_chain(ob, plane="SWING").target)["location", 1]
    curve.keyframe_points[4].co[1] = float("inf")
    curve.update()
    report = bake(range(9, 13))
    assert report.unreached == 2
    assert report.residual < 0.1


@pytest.mark.parametrize("live", ["plain", "constrained target"])
def test_the_report_says_what_the_live_chains_do(bake, live):
    """Its frames, those that any chain does not reach in, and how far a tip then is from its target."""
    legs = [make_leg("one"), make_leg("two")]
    for ob, away in zip(legs, (range(4), range(2, 9)), strict=True):
        chain = make_chain(ob, plane="SWING")
        FEATURES[live](ob, chain)
        chain.target.animation_data_clear()
        for i in range(len(FRAMES)):
            chain.target.location = (0.1, 0.0, -2.0 - 0.1 * (i + 1)) if i in away else (0.1, 0.3, -1.3)
            chain.target.keyframe_insert("location", frame=FRAMES[i])
    off, gaps = set(), []
    for i, frame in enumerate(FRAMES):
        bpy.context.scene.frame_set(int(frame))
        for ob in legs:
            chain = ob.pose.bones["shin"].planar_ik
            off |= {i} - ({i} if chain.reach == "REACHED" else set())
            gaps.append(np.linalg.norm(joints(ob)[2] - np.array(chain.target.matrix_world.translation)))
    report = bake()
    assert (report.frames, len(report.chains), report.keys) == (24, 2, 48)
    assert off == set(range(9))
    assert report.unreached == len(off)
    assert report.residual == pytest.approx(max(gaps), abs=2e-6)


def test_frames_off_the_plane_of_the_limb_count_as_unreached(bake):
    """Of a hinge whose target swings through its plane."""
    ob = make_leg()
    chain = make_chain(ob, plane="REST")
    reached = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(int(frame))
        gap = np.linalg.norm(joints(ob)[2] - np.array(chain.target.matrix_world.translation))
        reached.append(chain.reach)
        assert (chain.reach == "REACHED") == (gap < 1e-4)
    report = bake()
    assert {"OFF_PLANE"} <= {*reached}
    assert report.unreached == report.chains[0].unreached == sum(each != "REACHED" for each in reached)
    names = {each.value: each.name for each in installed.addon("addon.solver").Reach}
    assert [names[code] for code in report.chains[0].reach.tolist()] == reached


@pytest.mark.parametrize("feature", ["constrained target", "driven by Python"])
def test_a_cancelled_bake_leaves_everything(addon, feature):
    baking = installed.addon("addon.bake")
    ob = make_leg()
    chain = make_chain(ob)
    FEATURES[feature](ob, chain)
    bpy.context.scene.frame_set(3, subframe=0.5)
    before = joints(ob)
    steps = baking.bake(bpy.context, baking.Request(baking.chains_of_scene(bpy.context), FRAMES))
    assert next(steps) == 0.0
    assert 0.0 < next(steps) < next(steps) < 1.0
    steps.close()
    assert ob.animation_data is None
    assert len(bpy.data.scenes) == 1
    assert chain.enabled
    assert (bpy.context.scene.frame_current, bpy.context.scene.frame_subframe) == (3, 0.5)
    assert_same(joints(ob), before)


def test_what_cannot_be_baked_is_refused_with_a_sentence(bake, addon):
    refused = installed.addon("addon.bake").Refused
    with pytest.raises(refused, match="no chain"):
        bake()
    ob = make_leg()
    chain = make_chain(ob)
    chain.target = None
    with pytest.raises(refused, match="has no target"):
        bake()
    assert ob.animation_data is None


@pytest.mark.parametrize("into_new", [False, True])
def test_two_objects_that_share_an_action_get_their_own(bake, into_new):
    legs = [make_leg("one"), make_leg("two")]
    for ob in legs:
        make_chain(ob)
    key_hip(legs[0])
    data = legs[1].animation_data_create()
    data.action = legs[0].animation_data.action
    if hasattr(data, "action_slot"):
        data.action_slot = legs[0].animation_data.action_slot
    wanted = [motion(ob) for ob in legs]
    bake(into_new=into_new)
    assert legs[0].animation_data.action != legs[1].animation_data.action
    for ob, places in zip(legs, wanted, strict=True):
        assert_same(motion(ob), places)


def test_another_object_that_shares_the_action_is_not_given_the_keys(bake):
    ob, other = make_leg("one"), make_leg("two")
    make_chain(ob)
    key_hip(ob)
    action, data = ob.animation_data.action, other.animation_data_create()
    data.action = action
    if hasattr(data, "action_slot"):
        data.action_slot = ob.animation_data.action_slot
    wanted = [motion(ob), motion(other)]
    bake()
    assert data.action == action
    for each, places in zip((ob, other), wanted, strict=True):
        assert_same(motion(each), places)
