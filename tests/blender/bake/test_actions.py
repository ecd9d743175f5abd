"""Baked keys act whatever the action held before, and leave alone what is not theirs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import (
    FRAMES,
    assert_same,
    bake_scene,
    channel,
    key_hip,
    key_setting,
    key_thigh,
    make_chain,
    make_leg,
    motion,
    push_down,
)
from tests.blender.rigs import curves, set_keys

slotted = pytest.mark.skipif(bpy.app.version < (4, 4), reason="actions have slots from 4.4 on")


def mute_curves(of: list[Any]) -> None:
    for curve in of:
        curve.mute = True


def mute_groups(of: list[Any]) -> None:
    for curve in of:
        if curve.group is None:  # as keys set by a script leave it before 4.4
            curve.group = curve.id_data.groups.new(curve.data_path)
        curve.group.mute = True
        curve.mute = False  # Setting this, unlike the group's, tells the scene.


def add_noise(of: list[Any]) -> None:
    for curve in of:
        curve.modifiers.new("NOISE")


def make_samples(of: list[Any]) -> None:
    for curve in of:
        curve.convert_to_samples(-8, 41)
        curve.mute = False


def clear_keys(of: list[Any]) -> None:
    for curve in of:
        curve.keyframe_points.clear()


@pytest.mark.parametrize("change", [mute_curves, mute_groups, add_noise, make_samples, clear_keys])
def test_keys_act_where_a_curve_did_not_or_did_otherwise(addon, change):
    ob = make_leg()
    make_chain(ob)
    key_thigh(ob)
    change([*curves(ob).values()])
    wanted = motion(ob)
    bake_scene()
    assert_same(motion(ob), wanted)


@pytest.mark.parametrize("tracks", ["none", "empty", "muted", "with a strip"])
def test_a_muted_group_goes_on_to_mute_its_other_curves(addon, tracks):
    """From 4.4 on, muted groups silence nothing where there are no NLA strips."""
    ob = make_leg()
    make_chain(ob)
    key_hip(ob)
    key_thigh(ob)
    thigh = ob.pose.bones["thigh"]
    set_keys(thigh, "location.x", {1: 0.0, 24: 0.5})
    track = ob.animation_data.nla_tracks.new() if tracks != "none" else None
    if track and tracks != "empty":
        track.strips.new("nothing", 1, bpy.data.actions.new("nothing"))
        track.mute = tracks == "muted"
    mute_groups([*curves(ob).values()])
    wanted = motion(ob)
    assert np.ptp(wanted[:, 0], axis=0).any() == (bpy.app.version >= (4, 4) and tracks != "with a strip")
    bake_scene()
    assert_same(motion(ob), wanted)


def test_samples_outside_the_range_stay(addon):
    ob = make_leg()
    make_chain(ob, influence=0.5)
    key_thigh(ob)
    make_samples([*curves(ob).values()])
    key = ('pose.bones["thigh"].rotation_quaternion', 1)
    before = [curves(ob)[key].evaluate(frame) for frame in (-8, 0, 30, 40)]
    bake_scene(np.arange(5.0, 20.0))
    assert [curves(ob)[key].evaluate(frame) for frame in (-8, 0, 30, 40)] == pytest.approx(before, abs=1e-6)


def test_keys_on_the_ends_of_the_range_are_replaced(addon):
    ob = make_leg()
    make_chain(ob)
    key_thigh(ob)
    wanted = motion(ob)
    bake_scene()
    assert len(channel(ob, "thigh", "rotation_quaternion")) == len(FRAMES)
    assert_same(motion(ob), wanted)


def test_cycles_go_on_beyond_the_range(addon):
    ob = make_leg()
    make_chain(ob)
    key_thigh(ob)
    for curve in curves(ob).values():
        curve.modifiers.new("CYCLES")
    bake_scene()
    knees = motion(ob, np.arange(2.0, 48.0))[:, 1]
    assert_same(knees[23:], knees[:23])


def test_a_keyed_switch_stays_off(addon):
    ob = make_leg()
    chain = make_chain(ob, influence=0.5)
    key_setting(ob, "enabled", True, True)
    wanted = motion(ob)
    bake_scene()
    assert_same(motion(ob), wanted)
    assert not chain.enabled


@pytest.mark.parametrize("old", [50, 200])
@pytest.mark.parametrize("tolerance", [0.0, 0.02])
def test_keys_are_where_the_scene_that_stretches_time_plays_them(addon, old, tolerance):
    ob = make_leg()
    make_chain(ob)
    bpy.context.scene.render.frame_map_old = old
    wanted = motion(ob)
    report = bake_scene(tolerance=tolerance)
    assert_same(motion(ob), wanted, tolerance or 2e-6)
    assert channel(ob, "shin", "rotation_quaternion").shape == (report.keys, 4)


def restrict(modifier: Any) -> None:
    modifier.use_restricted_range, modifier.frame_start, modifier.frame_end = True, -6.0, 30.0
    modifier.blend_in, modifier.blend_out = 4.0, 5.0


OUTSIDE = (-9.0, -3.5, 1.0, 4.0, 20.0, 20.5, 28.0, 40.0)
"""Frames around a bake from 5 to 19."""


@pytest.mark.parametrize("kind", ["NOISE", "GENERATOR", "ENVELOPE", "STEPPED", "LIMITS"])
@pytest.mark.parametrize("change", [lambda modifier: None, restrict])
def test_modifiers_act_outside_the_range_as_before(addon, kind, change):
    ob = make_leg()
    make_chain(ob, influence=0.5)
    key_thigh(ob)
    curve = curves(ob)['pose.bones["thigh"].rotation_quaternion', 1]
    for frame in (*OUTSIDE, 5, 19):  # so that keys are there and stay as they are
        curve.keyframe_points.insert(frame, 0.04 * frame).interpolation = "LINEAR"
    modifier = curve.modifiers.new(kind)
    if kind == "ENVELOPE":
        modifier.control_points.add(3.0)
        modifier.control_points.add(9.0)
        modifier.control_points.foreach_set("max", [3.0, 2.0])  # one by one may crash: see addon/bake/modifiers.py
    elif kind == "LIMITS":
        modifier.use_max_y, modifier.max_y = True, 0.1
    if kind != "STEPPED":
        change(modifier)
    before = [curve.evaluate(frame) for frame in OUTSIDE]
    frames = np.arange(5.0, 20.0)
    wanted = motion(ob, frames)
    bake_scene(frames)
    curve = curves(ob)['pose.bones["thigh"].rotation_quaternion', 1]
    assert [curve.evaluate(frame) for frame in OUTSIDE] == pytest.approx(before, abs=1e-6)
    assert_same(motion(ob, frames), wanted)


@slotted
def test_an_object_without_a_slot_gets_one_of_its_own(addon):
    legs = [make_leg("one"), make_leg("two"), make_leg("three")]
    key_hip(legs[0])
    action = legs[0].animation_data.action
    for ob in legs:
        make_chain(ob)
    for ob in legs[1:]:
        ob.animation_data_create().action = action
        ob.animation_data.action_slot = None
    wanted = [motion(ob) for ob in legs]
    bake_scene()
    assert len(action.slots) == 3
    for ob, places in zip(legs, wanted, strict=True):
        assert ob.animation_data.action == action
        assert_same(motion(ob), places)


@slotted
@pytest.mark.parametrize("into_new", [False, True])
def test_two_objects_with_slots_of_one_action_keep_them(addon, into_new):
    legs = [make_leg("one"), make_leg("two")]
    key_hip(legs[0])
    action = legs[0].animation_data.action
    data = legs[1].animation_data_create()
    data.action, data.action_slot = action, action.slots.new("OBJECT", "two")
    for ob in legs:
        make_chain(ob)
    wanted = [motion(ob) for ob in legs]
    identifiers = [ob.animation_data.action_slot.identifier for ob in legs]
    bake_scene(into_new=into_new)
    assert [ob.animation_data.action_slot.identifier for ob in legs] == identifiers
    assert {ob.animation_data.action == action for ob in legs} == {not into_new}
    for ob, places in zip(legs, wanted, strict=True):
        assert_same(motion(ob), places)


def key_mode(ob: Any) -> None:
    ob.pose.bones["thigh"].keyframe_insert("rotation_mode", frame=1)


def tweak(ob: Any) -> None:
    push_down(ob)
    ob.animation_data.use_tweak_mode = True


def solo(ob: Any) -> None:
    push_down(ob)
    ob.animation_data.nla_tracks[0].is_solo = True


def mix(ob: Any) -> None:
    push_down(ob)
    ob.animation_data.action_influence = 0.5


def drive_switch(ob: Any) -> None:
    ob.driver_add('pose.bones["shin"].planar_ik.enabled').driver.expression = "frame < 100"


def blend_switch(ob: Any) -> None:
    key_setting(ob, "enabled", True, True)
    data = ob.animation_data
    data.nla_tracks.new().strips.new("switch", 1, data.action)
    data.action = None


REFUSED: dict[Callable[[Any], None], str] = {
    key_mode: "rotation mode of 'thigh' is animated",
    tweak: "in tweak mode",
    solo: "plays solo",
    mix: "mixed into its NLA strips",
    drive_switch: "switch the chain of 'shin' on again",
    blend_switch: "switch the chain of 'shin' on again",
}


@pytest.mark.parametrize("change", REFUSED)
def test_what_would_keep_the_keys_from_acting_is_refused(addon, change):
    ob = make_leg()
    chain = make_chain(ob)
    change(ob)
    count = len(bpy.data.actions)
    with pytest.raises(installed.addon("addon.bake").Refused, match=REFUSED[change]):
        bake_scene()
    assert chain.enabled
    assert len(bpy.data.actions) == count


def test_strips_that_are_not_evaluated_refuse_nothing(addon):
    ob = make_leg()
    make_chain(ob)
    mix(ob)
    ob.animation_data.use_nla = False
    wanted = motion(ob)
    bake_scene()
    assert_same(motion(ob), wanted)


def test_handles_lie_on_the_straight_lines_that_are_played(addon):
    """But for those of the first key, to which an older one may lead."""
    ob = make_leg()
    make_chain(ob)
    bake_scene()
    points = curves(ob)['pose.bones["thigh"].rotation_quaternion', 1].keyframe_points
    kinds = [(point.interpolation, point.handle_left_type, point.handle_right_type) for point in points]
    assert kinds == [("LINEAR", "AUTO_CLAMPED", "AUTO_CLAMPED")] + [("LINEAR", "VECTOR", "VECTOR")] * (len(FRAMES) - 1)
    for point, following in pairwise([*points][1:]):
        assert (point.handle_right - point.co.lerp(following.co, 1.0 / 3.0)).length < 1e-5
