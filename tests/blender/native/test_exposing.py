"""Settings that are keyed or driven on the rig and are no custom property yet: they become one as soon as nobody is
busy, of which Blender tells by calling a timer. Without a window it calls none, so that the tests do."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.natives import leg_on_rig, make_live, matrices
from tests.blender.rigs import activate, copied, curves, make_chain, make_empty, make_rig, press, put, update

ON_BONE, ON_RIG = 'pose.bones["shin"].planar_ik_softness', 'pose.bones["shin"]["planar_ik.softness"]'


def leg(**settings: Any) -> Any:
    """A leg on the rig that holds its softness fixed, with an undo step."""
    ob = leg_on_rig(plane="SWING", **settings)
    bpy.ops.ed.undo_push(message="leg")
    return ob


def key(ob: Any) -> None:
    """Key the softness, as *I* over its slider does."""
    ob.pose.bones["shin"].keyframe_insert("planar_ik_softness", frame=1)
    bpy.ops.ed.undo_push(message="Insert Keyframe")
    update()


def call_timer(addon: ModuleType) -> bool:
    """Do what Blender does next in its window; return whether it has a timer to call."""
    expose = addon.native.exposing.expose
    if not bpy.app.timers.is_registered(expose):
        return False
    assert expose() is None
    update()
    bpy.app.timers.unregister(expose)
    return True


def hang(ob: Any) -> None:
    """Let a chain follow what hangs on it, with which no mechanism can be made."""
    empty = make_empty("circle")
    empty.parent, empty.parent_type, empty.parent_bone = ob, "BONE", "shin"
    ob.pose.bones["shin"].planar_ik.target = empty
    update()


def drive(ob: Any) -> None:
    """Drive the softness by a number."""
    ob.pose.bones["shin"].driver_add("planar_ik_softness").driver.expression = "0.0"
    update()


@pytest.mark.parametrize("animate", [key, drive])
def test_what_is_animated_is_exposed_and_nothing_moves(addon: ModuleType, animate: Any) -> None:
    ob = leg(influence=0.7)
    put(ob.pose.bones["thigh"], rotation_quaternion=(1, 0.3, 0.1, 0))
    before = matrices(ob)
    animate(ob)
    assert call_timer(addon)
    bone = ob.pose.bones["shin"]
    assert "planar_ik.softness" in bone.keys()  # noqa: SIM118
    drivers = [curve.data_path for curve in ob.animation_data.drivers]
    assert ON_RIG in (drivers if animate == drive else [path for path, _ in curves(ob)])
    assert bone.planar_ik.message == ""
    assert np.abs(matrices(ob) - before).max() < 1e-5
    assert not call_timer(addon)


def test_a_frame_that_is_shown_next_has_it_noticed_too(addon: ModuleType) -> None:
    ob = leg()
    ob.pose.bones["shin"].keyframe_insert("planar_ik_softness", frame=1)
    bpy.context.scene.frame_set(3)
    assert call_timer(addon)
    bpy.context.scene.frame_set(4)
    assert not call_timer(addon)


@pytest.mark.parametrize("name", ["softness", "hinge_angle", "lower_twist"])
def test_undo_takes_the_key_back_in_one_step(addon: ModuleType, name: str) -> None:
    """Though Blender stored the step before the bones were made anew."""
    ob = leg()
    before, bones = matrices(ob), ob.pose.bones.keys()
    for _ in range(2):
        ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{name}", frame=1)
        bpy.ops.ed.undo_push(message="Insert Keyframe")
        update()
        assert call_timer(addon)
        bpy.ops.ed.undo()
        update()
        ob = bpy.data.objects["rig"]
        assert not call_timer(addon)
        assert f"planar_ik.{name}" not in ob.pose.bones["shin"].keys()  # noqa: SIM118
        assert ob.pose.bones.keys() == ob.data.bones.keys() == bones
        assert ob.pose.bones["shin"].planar_ik.message == ""
        assert np.abs(matrices(ob) - before).max() < 1e-6


@pytest.mark.parametrize("name", ["softness", "hinge_angle", "lower_twist"])
def test_no_bones_are_made_between_two_steps_of_undo(addon: ModuleType, name: str) -> None:
    """They would still be there after the next: Blender takes an armature that is in both for the same."""
    ob = leg()
    before, bones = matrices(ob), ob.pose.bones.keys()
    for _ in range(2):
        ob.pose.bones["shin"].keyframe_insert(f"planar_ik_{name}", frame=1)
        bpy.ops.ed.undo_push(message="Insert Keyframe")
        update()
        assert call_timer(addon)
        put(ob.pose.bones["thigh"], rotation_quaternion=(1, 0.3, 0.1, 0))
        bpy.ops.ed.undo_push(message="Rotate")
        for step in ("undo", "redo", "undo", "undo", "redo", "undo"):
            getattr(bpy.ops.ed, step)()
            update()
            ob = bpy.data.objects["rig"]
            assert not call_timer(addon)
            assert sorted(ob.pose.bones.keys()) == sorted(ob.data.bones.keys())
            assert ob.pose.bones["shin"].planar_ik.message == ""
        assert ob.pose.bones.keys() == bones
        assert np.abs(matrices(ob) - before).max() < 1e-6


def test_what_is_refused_is_tried_once(addon: ModuleType) -> None:
    ob = leg()
    hang(ob)
    key(ob)
    assert call_timer(addon)
    make_empty("other")
    update()
    assert not call_timer(addon)
    assert [path for path, _ in curves(ob)] == [ON_BONE]


def test_an_action_that_others_share_waits_for_the_button(addon: ModuleType) -> None:
    ob = leg()
    other = copied(ob, shares_data=False)
    activate(other)
    make_live(other)
    key(other)
    assert not call_timer(addon)
    (ob.animation_data or ob.animation_data_create()).action = other.animation_data.action
    if hasattr(ob.animation_data, "action_slot"):
        ob.animation_data.action_slot = other.animation_data.action_slot
    update()
    assert not call_timer(addon)
    assert [path for path, _ in curves(other)] == [ON_BONE]


def test_the_chains_of_a_rig_are_made_anew_though_one_is_refused(addon: ModuleType) -> None:
    """And the mode and what is selected stay."""
    ob = leg()
    other = make_rig(name="other")
    make_chain(other, make_empty("another", (0.2, 0.4, -1.2)), plane="SWING")
    press(other, "make_portable")
    hang(other)
    for each in (other, ob):
        each.pose.bones["shin"].keyframe_insert("planar_ik_softness", frame=1)
    update()
    mode, active = bpy.context.mode, bpy.context.active_object
    assert call_timer(addon)
    assert (bpy.context.mode, bpy.context.active_object) == (mode, active)
    assert [path for path, _ in curves(ob)] == [ON_RIG]
    assert [path for path, _ in curves(other)] == [ON_BONE]


def test_while_bones_are_edited_it_waits(addon: ModuleType) -> None:
    ob = leg()
    key(ob)
    bpy.ops.object.mode_set(mode="EDIT")
    assert addon.native.exposing.expose() == addon.native.exposing.WAIT
    bpy.ops.object.mode_set(mode="POSE")
    assert [path for path, _ in curves(ob)] == [ON_BONE]
    assert call_timer(addon)


def test_nothing_is_left_to_be_called_once_the_extension_is_off(addon: ModuleType) -> None:
    expose = addon.native.exposing.expose
    key(leg())
    assert bpy.app.timers.is_registered(expose)
    bpy.ops.preferences.addon_disable(module=installed.MODULE)
    assert not bpy.app.timers.is_registered(expose)
