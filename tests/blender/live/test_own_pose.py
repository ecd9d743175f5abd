"""The bones' own (FK) pose: what the animation says or the animator last set, whatever the solver wrote over it."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Quaternion

from tests.blender.rigs import (
    MODES,
    NEAR,
    NEXT,
    joints,
    key_location,
    make_chain,
    make_empty,
    make_rig,
    pose,
    put,
    reopened,
    rotation,
    rotation_name,
    select,
    set_keys,
    set_rotation,
    shown,
    update,
)

BONES = ("thigh", "shin")
OWN = {4: (0.9, 0.3, -0.2, 0.1), 3: (0.3, -0.2, 0.1)}


def rig_with_own_pose(mode="QUATERNION"):
    """A leg posed by hand, with no chain yet."""
    ob = make_rig()
    for name in BONES:
        bone = ob.pose.bones[name]
        bone.rotation_mode = mode
        set_rotation(bone, OWN[len(rotation(bone))])
    update()
    return ob


def own(ob):
    return [rotation(ob.pose.bones[name]) for name in BONES]


def close(a, b, within=1e-6):
    return all(np.abs(np.subtract(x, y)).max() <= within for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("mode", MODES)
def test_disabling_and_influence_nil_give_it_back(mode):
    ob = rig_with_own_pose(mode)
    kept, shape = own(ob), joints(ob)
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING")
    assert own(ob) == kept
    assert not np.allclose(joints(ob), shape, atol=1e-3)
    put(chain, enabled=False)
    assert close(joints(ob), shape, 2e-6)
    put(chain, enabled=True)
    put(chain, influence=0)
    assert close(joints(ob), shape, 2e-6)
    put(chain, enabled=False)
    assert own(ob) == kept


def test_disabling_works_with_live_off():
    ob = rig_with_own_pose()
    kept = own(ob)
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING")
    bpy.context.scene.planar_ik.live = False
    chain.enabled = False
    update()
    assert own(ob) == kept


def test_it_never_takes_in_the_solvers_output():
    ob = rig_with_own_pose()
    shape = joints(ob)
    chain = make_chain(ob, make_empty("target", NEAR), influence=0.5)
    first = None
    for _ in range(20):
        put(chain.target, location=NEXT)
        put(chain.target, location=NEAR)
        first = first or pose(ob)
        assert pose(ob) == first
    put(chain, influence=0)
    assert close(joints(ob), shape, 2e-6)


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "AXIS_ANGLE"])
def test_what_the_animator_sets_becomes_the_own_pose(mode):
    ob = rig_with_own_pose(mode)
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING")
    thigh = ob.pose.bones["thigh"]
    mine = {4: (0.8, -0.6, 0, 0), 3: (-1.2, 0, 0.4)}[len(rotation(thigh))]
    set_rotation(thigh, mine)
    update()
    assert chain.reach == "REACHED"
    put(chain, enabled=False)
    assert rotation(thigh) == pytest.approx(mine)


def test_a_stretched_limb_gets_its_scale_back():
    ob = rig_with_own_pose()
    ob.pose.bones["thigh"].scale = (1.2, 1.2, 1.2)
    chain = make_chain(ob, make_empty("target", (0, 0, -4)), stretch=1)
    assert shown(ob, "thigh").to_scale().y > 1.5
    put(chain, enabled=False)
    assert ob.pose.bones["thigh"].scale[:] == pytest.approx((1.2, 1.2, 1.2))


def animated(mode, influence=True):
    ob = rig_with_own_pose(mode)
    target = make_empty("target")
    key_location(target, [NEAR, NEXT, NEAR], 1, 10)
    for frame, turn in ((1, 0.4), (11, -0.5), (21, 0.9)):
        for name in BONES:
            bone = ob.pose.bones[name]
            set_rotation(bone, {4: (1, turn, 0.2, 0), 3: (turn, 0.2, 0)}[len(rotation(bone))])
            bone.keyframe_insert(rotation_name(bone), frame=frame)
    bare = {}
    for frame in range(1, 22):
        bpy.context.scene.frame_set(frame)
        bare[frame] = joints(ob)
    chain = make_chain(ob, target, plane="SWING")
    for frame, value in ((1, 1), (8, 1), (11, 0), (14, 0), (21, 1)):
        chain.influence = value
        if influence:
            ob.keyframe_insert('pose.bones["shin"].planar_ik.influence', frame=frame)
    return ob, chain, bare


@pytest.mark.parametrize("mode", ["QUATERNION", "XYZ", "ZXY", "AXIS_ANGLE"])
def test_influence_keyed_to_nil_and_back_in_any_order(mode):
    ob, chain, bare = animated(mode)
    seen = {}
    frames = [*range(1, 22)] * 3
    random.Random(1).shuffle(frames)
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        now = pose(ob)
        assert seen.setdefault(frame, now) == now
        if 11 <= frame <= 14:
            assert close(joints(ob), bare[frame], 3e-6)
        elif frame <= 8 or frame == 21:
            assert chain.reach == "REACHED"


def test_animated_bones_follow_their_animation_once_the_chain_is_off():
    ob, chain, bare = animated("QUATERNION", influence=False)
    bpy.context.scene.frame_set(5)
    chain.enabled = False
    for frame in (5, 9, 2):
        bpy.context.scene.frame_set(frame)
        assert close(joints(ob), bare[frame], 3e-6)


def test_influence_keyed_over_a_pose_set_by_hand():
    ob = rig_with_own_pose()
    shape = joints(ob)
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING")
    for frame, value in ((1, 1), (11, 0), (21, 1)):
        chain.influence = value
        ob.keyframe_insert('pose.bones["shin"].planar_ik.influence', frame=frame)
    seen = {}
    for frame in (1, 11, 21, 5, 11, 16, 1, 5, 16):
        bpy.context.scene.frame_set(frame)
        now = pose(ob)
        assert seen.setdefault(frame, now) == now
        if frame == 11:
            assert close(joints(ob), shape, 2e-6)


def test_a_chain_that_becomes_invalid_gives_it_back_and_takes_it_up():
    ob = rig_with_own_pose()
    kept = own(ob)
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING")
    solved = pose(ob)
    target, chain.target = chain.target, None
    update()
    assert own(ob) == kept
    put(chain, target=target)
    assert pose(ob) == solved


@pytest.mark.parametrize("mode", MODES)
def test_another_rotation_mode_keeps_it(mode):
    ob = rig_with_own_pose()
    shape = joints(ob)
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING")
    for name in BONES:
        ob.pose.bones[name].rotation_mode = mode
    update()
    assert chain.reach == "REACHED"
    put(chain, enabled=False)
    assert close(joints(ob), shape, 5e-6)


@pytest.mark.parametrize("influence", [1, 0.5])
def test_a_saved_file_keeps_it(tmp_path, influence):
    ob = rig_with_own_pose()
    kept = own(ob)
    make_chain(ob, make_empty("target", NEAR), influence=influence)
    solved = pose(ob)
    ob = reopened(tmp_path)
    bpy.context.scene.frame_set(2)
    assert pose(ob) == solved
    put(ob.pose.bones["shin"].planar_ik, enabled=False)
    assert close(own(ob), kept)


def test_undo_and_redo_keep_it():
    ob = rig_with_own_pose()
    kept = own(ob)
    make_chain(ob, make_empty("target", NEAR), plane="SWING")
    select(ob, "shin")
    bpy.ops.ed.undo_push(message="chain")
    put(bpy.data.objects["target"], location=NEXT)
    bpy.ops.ed.undo_push(message="drag")
    mine = Quaternion((0.8, -0.6, 0, 0))
    put(bpy.data.objects["rig"].pose.bones["thigh"], rotation_quaternion=mine)
    bpy.ops.ed.undo_push(message="turn")
    bpy.ops.ed.undo()
    update()
    rig = bpy.data.objects["rig"]
    put(rig.pose.bones["shin"].planar_ik, enabled=False)
    assert close(own(rig), kept)
    put(rig.pose.bones["shin"].planar_ik, enabled=True)
    bpy.ops.ed.undo()
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    update()
    rig = bpy.data.objects["rig"]
    put(rig.pose.bones["shin"].planar_ik, enabled=False)
    assert rotation(rig.pose.bones["thigh"]) == pytest.approx(tuple(mine), abs=1e-6)


def test_a_keyed_rotation_mode_keeps_it():
    ob, target = make_rig(), make_empty("target", NEAR)
    make_chain(ob, target, influence=0.5)
    wanted = joints(ob)
    bone = ob.pose.bones["shin"]
    set_keys(bone, "rotation_mode", {1: "XYZ", 10: "QUATERNION", 20: "AXIS_ANGLE"})
    update()
    for frame in (1, 10, 1, 20, 5, 12, 25, 1):
        bpy.context.scene.frame_set(frame)
        assert np.allclose(joints(ob), wanted, atol=1e-6)


def test_a_lower_bone_without_its_parent_says_so_and_can_be_freed():
    ob = rig_with_own_pose()
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING")
    select(ob, "shin")
    bpy.ops.object.mode_set(mode="EDIT")
    ob.data.edit_bones["shin"].parent = None
    bpy.ops.object.mode_set(mode="POSE")
    update()
    assert "has no parent" in chain.message
    bpy.ops.pose.planar_ik_remove()
    assert not chain.enabled
    assert chain.target is None


@pytest.mark.parametrize("influence", [0.0, 0.5, 1.0])
def test_the_channels_are_the_animators_and_so_are_keys_and_undo_steps(influence):
    ob = rig_with_own_pose()
    kept = own(ob)
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING", influence=influence)
    select(ob, "shin")
    bpy.ops.ed.undo_push(message="chain")
    for place in (NEXT, NEAR):
        put(chain.target, location=place)
        assert own(ob) == kept
    put(ob.pose.bones["thigh"], rotation_quaternion=(1, 0, 0, 0))
    bpy.ops.ed.undo_push(message="cleared")
    put(chain.target, location=NEXT)
    bpy.ops.ed.undo_push(message="moved")
    bpy.ops.ed.undo()
    rig = bpy.data.objects["rig"]
    assert rotation(rig.pose.bones["thigh"]) == (1, 0, 0, 0)
    bpy.ops.ed.undo()
    rig = bpy.data.objects["rig"]
    assert own(rig) == kept


@pytest.mark.parametrize("then", ["LIVE", "OFF"])
def test_a_pose_set_over_a_solution_while_live_is_off_stays(then):
    """It is what the animator set last, whether chains come on again or the chain is switched off."""
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", NEAR), plane="SWING")
    put(bpy.context.scene.planar_ik, live=False)
    thigh, turn = ob.pose.bones["thigh"], Quaternion((1.0, 0.2, 0.1, -0.3)).normalized()
    assert thigh.rotation_quaternion.rotation_difference(turn).angle > 0.1
    put(thigh, rotation_quaternion=turn)
    if then == "LIVE":
        bpy.context.scene.planar_ik.live = True
    else:
        chain.enabled = False
    update()
    assert tuple(thigh.rotation_quaternion) == tuple(turn)
    assert rotation(ob.pose.bones["shin"]) == (1.0, 0.0, 0.0, 0.0)
