"""Switching with keys changes the frames from the switch to the next keys, and no other."""

from __future__ import annotations

import random
from typing import Any

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import rigs

NAMES = ("upper", "lower", "foot")
FRAMES = range(1, 61)
MOVED = 5e-5
"""How far joints may move, in scene units: rigs here are about 1 large."""

IK_KEYS = (1, 20, 40)
TO_FK, TO_IK = 20, 30


@pytest.fixture
def autokey(monkeypatch):
    """Auto Keying, in any Blender."""
    settings = bpy.context.scene.tool_settings
    settings.use_keyframe_insert_auto = True
    monkeypatch.setattr(bpy.context.preferences.edit, "use_keyframe_insert_available", False)
    return settings


@pytest.fixture
def limb(add, addon):
    """A limb on the rig whose target and swivel have keys."""

    def make(seed: int, interpolation: str = "BEZIER"):
        rng = random.Random(seed)
        ob = rigs.random_limb(rng)
        last = add(ob, "lower", knee="FREE")[0]
        addon("tasks.modes").to_rig(bpy.context, [last])
        last = ob.pose.bones["lower"]
        target = ob.pose.bones["foot_ik"]
        for frame in IK_KEYS:
            target.location = target.location + 0.25 * Vector(rng.uniform(-1, 1) for _ in range(3))
            target.keyframe_insert("location", frame=frame)
            last.planar_ik.swivel = rng.uniform(-1, 1)
            last.keyframe_insert('["IK Swivel"]', frame=frame)
        for curve in rigs.curves(ob):
            for key in curve.keyframe_points:
                key.interpolation = interpolation
            curve.update()
        return last

    return make


def joints(last: Any, frames: Any = FRAMES) -> dict[int, Any]:
    found = {}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        found[frame] = rigs.matrices(last.id_data, NAMES)[:, :3, 3]
    return found


def off(one: dict[int, Any], other: dict[int, Any], frames: Any) -> float:
    return max((float(np.abs(one[frame] - other[frame]).max()) for frame in frames), default=0.0)


def switch_at(addon: Any, last: Any, frame: int, to: str) -> None:
    """Switch in a frame, where nothing moves."""
    bpy.context.scene.frame_set(frame)
    before = rigs.matrices(last.id_data, NAMES)[:, :3, 3]
    addon("tasks.snapping").switch(bpy.context, [last], to)
    after = joints(last, [frame])[frame]
    assert np.abs(after - before).max() < MOVED


def test_two_limbs_whose_next_keys_are_in_different_frames(add, autokey, addon):
    ob = rigs.biped()
    lasts = add(ob, "shin.L", "shin.R", foot=False)
    names, rng = ("shin.L", "foot.L", "shin.R", "foot.R"), random.Random(3)
    for side, frames in (("L", (1, 20, 35)), ("R", (1, 20, 50))):
        target = ob.pose.bones[f"foot_ik.{side}"]
        for frame in frames:
            target.location = 0.15 * Vector(rng.uniform(-1, 1) for _ in range(3))
            target.keyframe_insert("location", frame=frame)

    def at(frame):
        bpy.context.scene.frame_set(frame)
        return rigs.matrices(ob, names)[:, :3, 3]

    before = [at(frame) for frame in FRAMES]
    at(25)
    addon("tasks.snapping").switch(bpy.context, lasts, "FK")
    for last in lasts:
        last.parent.rotation_quaternion = rigs.turn(rng)
        last.parent.keyframe_insert("rotation_quaternion", frame=30)
    posed = at(30)
    addon("tasks.snapping").switch(bpy.context, lasts, "IK")
    assert np.abs(at(30) - posed).max() < MOVED
    after = [at(frame) for frame in FRAMES]
    differ = np.abs(np.array(after) - before).max(axis=2)
    assert differ[:24].max() < MOVED
    assert differ[34:, :2].max() < MOVED
    assert differ[49:].max() < MOVED
    assert differ[29:34].max() > 0.01


def keys_of(addon: Any, ob: Any, part: str) -> dict[int, list[Any]]:
    """Frame, type and interpolation of the keys of a channel's numbers."""
    return {
        curve.array_index: [(key.co.x, key.type, key.interpolation) for key in curve.keyframe_points]
        for curve in addon("blender.animation").curves_of(ob)
        if part in curve.data_path
    }


@pytest.mark.parametrize("interpolation", ["BEZIER", "LINEAR", "CONSTANT"])
def test_only_what_holds_the_old_state_is_constant(limb, autokey, addon, interpolation):
    autokey.keyframe_type = "EXTREME"
    last = limb(4, interpolation)
    switch_at(addon, last, TO_FK, "FK")
    switch_at(addon, last, TO_IK, "IK")
    location = keys_of(addon, last.id_data, '"foot_ik"].location')
    old, new = "KEYFRAME", "EXTREME"
    made = [(29.0, new, "CONSTANT"), (30.0, new, interpolation)]
    kept = [(float(frame), old, interpolation) for frame in IK_KEYS]
    assert [*location.values()] == [[*kept[:2], *made, kept[2]]] * 3
    assert keys_of(addon, last.id_data, "IK Influence") == {
        0: [(float(frame), new, "CONSTANT") for frame in (19, 20, 29, 30)]
    }
    turns = keys_of(addon, last.id_data, '"lower"].rotation_quaternion')
    assert [*turns.values()] == [[(19.0, new, "CONSTANT"), (20.0, new, "BEZIER")]] * 4


def test_what_is_locked_has_keys_only_where_it_moved(limb, autokey, addon):
    last = limb(5)
    target, ob = last.id_data.pose.bones["foot_ik"], last.id_data
    for bone in (target, last):
        bone.lock_rotation, bone.lock_rotation_w = (True, True, True), True
    ik = joints(last)
    switch_at(addon, last, TO_FK, "FK")
    switch_at(addon, last, TO_IK, "IK")
    again = joints(last)
    assert off(ik, again, [*range(1, 21), *range(40, 61)]) < MOVED
    assert keys_of(addon, ob, '"foot_ik"].rotation') == {}
    assert len(keys_of(addon, ob, '"foot_ik"].location')) == 3
    assert keys_of(addon, ob, '"lower"].rotation')


def test_a_keying_set_says_what_gets_keys(limb, autokey, addon):
    """What it has not is changed without keys, as with Auto Keying off."""
    last = limb(6)
    ob = last.id_data
    listed = bpy.context.scene.keying_sets.new(idname="MINE", name="Mine")
    for name in ("upper", "lower"):
        path = listed.paths.add(ob, f'pose.bones["{name}"].rotation_quaternion')
        path.group_method, path.group = "NAMED", "Mine Alone"
    bpy.context.scene.keying_sets.active = listed
    autokey.use_keyframe_insert_keyingset = True
    switch_at(addon, last, TO_FK, "FK")
    assert len(keys_of(addon, ob, '"upper"].rotation_quaternion')) == 4
    assert keys_of(addon, ob, "IK Influence") == {}
    autokey.use_keyframe_insert_keyingset = False
    addon("tasks.snapping").switch(bpy.context, [last], "IK")
    assert len(keys_of(addon, ob, "IK Influence")) == 1
