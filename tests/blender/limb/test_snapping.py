"""Snapping and switching show the same pose by the other means, in both modes, here and over a range of frames."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from tests.blender import rigs

NAMES = ("upper", "lower", "foot")
MOVED = 3e-5
"""How far joints may move, in scene units: rigs here are about 1 large."""
TURNED = 3e-3


@pytest.fixture
def snap(addon):
    return addon("tasks.snapping")


@pytest.fixture
def switch(addon):
    return lambda lasts, **how: addon("tasks.snapping").switch(bpy.context, lasts, **how)


@pytest.fixture
def limb(add, addon):
    """A random limb on the rig whose bones are posed about its hinge by their own channels."""

    def make(rng, bent=True, **options):
        ob = rigs.random_limb(rng)
        last = add(ob, "lower", **{"knee": "FREE", **options})[0]
        if bent:
            shape = addon("limb.rest_geometry").rest_geometry_of(last)
            last.parent.rotation_quaternion = rigs.turn(rng, 3)
            last.rotation_quaternion = Quaternion(shape.normals[1], rng.uniform(-1.5, 1.5))
            ob.pose.bones["foot"].rotation_quaternion = rigs.turn(rng)
        addon("tasks.modes").to_rig(bpy.context, [last])
        return ob.pose.bones["lower"]

    return make


def joints(last):
    bpy.context.view_layer.update()
    return rigs.matrices(last.id_data, NAMES)


def assert_same(before, after):
    differ = np.abs(before - after)
    assert differ[:, :3, 3].max() < MOVED
    assert differ[:, :3, :3].max() < TURNED


def test_only_what_changes_is_keyed(limb, snap):
    last = limb(random.Random(4), bent=False, foot=False)
    ob, scene = last.id_data, bpy.context.scene
    ob.pose.bones["foot_ik"].keyframe_insert("location", frame=1)
    snap.snap_target(bpy.context, [last], range(1, 4))
    scene.frame_set(2)
    assert [curve.data_path for curve in rigs.curves(ob)] == ['pose.bones["foot_ik"].location'] * 3


@pytest.mark.parametrize("verb", ["snap_target", "snap_fk", "switch", "switch with keys"])
def test_where_nothing_changes_no_key_breaks_a_cycle(add, addon, verb):
    ob, scene = rigs.biped(), bpy.context.scene
    thigh, names = ob.pose.bones["thigh.L"], ("thigh.L", "shin.L", "foot.L", "toe.L")
    for frame, angle in ((1, 0.2), (7, -0.5), (13, 0.2)):
        thigh.rotation_quaternion = Quaternion((1, 0, 0), angle)
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    for curve in rigs.curves(ob):
        curve.modifiers.new("CYCLES")
    ob.animation_data.action.update_tag()
    scene.frame_set(30)
    lasts, found = add(ob, "shin.L", foot=False, mode="RIG"), []
    options = {"to": "FK", "insert_keys": verb == "switch with keys"} if "switch" in verb else {}
    for done in (False, True):
        if done:
            scene.frame_set(30)
            getattr(addon("tasks.snapping"), verb.partition(" ")[0])(bpy.context, lasts, **options)
        for frame in range(1, 41):
            scene.frame_set(frame)
            found.append(rigs.matrices(ob, names))
    assert np.abs(np.array(found[:40]) - found[40:]).max() < 0.01  # as few keys say it


def test_keys_in_a_part_keep_what_strips_say_elsewhere(add, snap):
    ob, scene = rigs.biped(), bpy.context.scene
    thigh, names, scene.frame_end = ob.pose.bones["thigh.L"], ("thigh.L", "shin.L", "foot.L", "toe.L"), 24
    for frame, angle in ((1, 0.2), (11, -0.5), (24, 0.3)):
        thigh.rotation_quaternion = Quaternion((1, 0, 0), angle)
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    data = ob.animation_data
    slot, strip = data.action_slot, data.nla_tracks.new().strips.new("walk", 1, data.action)
    strip.action_slot, data.action = slot, None
    last, found = add(ob, "shin.L", mode="RIG")[0], []
    for done in (False, True):
        if done:
            snap.snap_fk(bpy.context, [last], range(8, 14))
            last.planar_ik.influence = 0.0
        for frame in range(1, 25):
            scene.frame_set(frame)
            found.append(rigs.matrices(ob, names))
    assert np.abs(np.array(found[:24]) - found[24:]).max() < 0.01  # as few keys say it


def test_what_snapping_does_not_move_keeps_its_numbers(limb, snap):
    last = limb(random.Random(5), foot=False)
    target = last.id_data.pose.bones["foot_ik"]
    target.rotation_mode, target.rotation_euler, target.scale = "XYZ", (0.1, 9.0, -8.0), (-1.0, 2.0, 0.5)
    snap.snap_target(bpy.context, [last])
    assert np.allclose(target.rotation_euler[:], (0.1, 9.0, -8.0))
    assert np.allclose(target.scale[:], (-1.0, 2.0, 0.5))


def test_a_target_that_hangs_on_another_is_moved_after_it(add, snap, addon):
    ob = rigs.biped()
    lasts = add(ob, "shin.L", "shin.R", foot=False)
    rigs.activate(ob, "EDIT")
    ob.data.edit_bones["foot_ik.L"].parent = ob.data.edit_bones["foot_ik.R"]
    bpy.ops.object.mode_set(mode="POSE")
    lasts = [ob.pose.bones[name] for name in ("shin.L", "shin.R")]
    rng = random.Random(2)
    for last in lasts:
        shape = addon("limb.rest_geometry").rest_geometry_of(last)
        last.parent.rotation_quaternion = rigs.turn(rng)
        last.rotation_quaternion = Quaternion(shape.normals[1], -0.8)
        last.planar_ik.influence = 0.0
    before = rigs.matrices(ob, ["foot.L", "foot.R"])
    snap.snap_target(bpy.context, lasts)
    for last in lasts:
        last.planar_ik.influence = 1.0
    assert np.abs(before - rigs.matrices(ob, ["foot.L", "foot.R"]))[:, :3, 3].max() < MOVED


def test_a_pole_that_something_else_moves_is_left_and_the_limb_swivels(limb, snap):
    last = limb(random.Random(6), knee="POLE", foot=False)
    pole = last.id_data.pose.bones["knee_pole"]
    hold = pole.constraints.new("COPY_LOCATION")
    hold.target, hold.subtarget = last.id_data, "root"
    last.planar_ik.influence = 0.0
    before = joints(last)
    place = pole.location.copy()
    snap.snap_target(bpy.context, [last])
    last.planar_ik.influence = 1.0
    assert_same(before, joints(last))
    assert pole.location == place


def _held(last):
    hold = last.id_data.pose.bones["foot_ik"].constraints.new("COPY_LOCATION")
    hold.target, hold.subtarget = last.id_data, "root"


def _kept_away(last):
    limit = last.id_data.pose.bones["foot_ik"].constraints.new("LIMIT_LOCATION")
    limit.use_max_x, limit.max_x = True, -100.0


def _driven_target(last):
    last.id_data.pose.bones["foot_ik"].driver_add("location", 0)


def _driven_influence(last):
    last.driver_add('["IK Influence"]')


def _no_target(last):
    last.planar_ik.target = None


def _carried(last):
    last.id_data.pose.bones["body"].constraints.new("CHILD_OF").target = last.id_data
    last.id_data.pose.bones["body"].constraints[0].subtarget = "foot_ik"


def _scaled(last):
    last.scale = (1, 1.2, 1)


@pytest.mark.parametrize("setup", [_held, _kept_away, _driven_target, _driven_influence, _no_target, _carried, _scaled])
def test_refusals(limb, switch, addon, setup):
    last = limb(random.Random(7), foot=False)
    last.planar_ik.influence = 0.0
    setup(last)
    before = rigs.snapshot()
    with pytest.raises(addon("blender.types").Refused):
        switch([last], to="IK")
    assert rigs.snapshot() == before


@pytest.mark.parametrize("frames", [None, [1, 2]])
def test_what_is_not_shown_is_told_by_bone_and_frame(limb, snap, frames):
    """A knee that may not bend as far as it is posed."""
    last = limb(random.Random(3))
    assert not snap.snap_target(bpy.context, [last], frames)
    last.planar_ik.min_angle = 3.0
    (said,) = snap.snap_target(bpy.context, [last], frames)
    assert said.values["bone"] in NAMES
    assert said.values["frame"] == 1


def test_a_control_that_goes_along_with_another_one(add, snap):
    """What carries it goes where the other one is put, which is seen only afterwards."""
    ob = rigs.biped()
    for frame in (1, 8, 14, 20):
        for name in ("thigh.L", "shin.L", "thigh.R", "shin.R"):
            bends, bone = name.startswith("shin"), ob.pose.bones[name]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (0.6 + 0.3 * np.sin(frame), 0, 0) if bends else (0.4 * np.sin(frame), 0.1, 0.2)
            bone.keyframe_insert("rotation_euler", frame=frame)
    add(ob, "shin.L", "shin.R", mode="RIG", keyed="LEAVE")
    bpy.ops.object.mode_set(mode="EDIT")
    holder = ob.data.edit_bones.new("holder")
    holder.tail = (0, 0, 0.2)
    ob.data.edit_bones["foot_ik.L"].parent = holder
    bpy.ops.object.mode_set(mode="POSE")
    along = ob.pose.bones["holder"].constraints.new("COPY_LOCATION")
    along.target, along.subtarget, along.use_offset = ob, "foot_ik.R", True
    names, frames, film = ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R"), range(1, 21), []
    for influence in (0.0, 1.0):
        for name in ("shin.L", "shin.R"):
            ob.pose.bones[name].planar_ik.influence = influence
        film.append([rigs.matrices(ob, names) for frame in frames if not bpy.context.scene.frame_set(frame)])
        if not influence:
            assert not snap.snap_target(bpy.context, [ob.pose.bones[name] for name in ("shin.L", "shin.R")], frames)
    assert np.abs(np.subtract(*film)).max() < 1e-4
