"""Foot Follows: a foot turns as its target does, goes by its limb's influence, and never jumps."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from tests.blender import rigs


def turn_of(ob, name):
    """How a bone is turned in the world, evaluated."""
    return np.array((rigs.evaluated(ob).matrix_world @ ob.pose.bones[name].matrix).to_3x3().normalized())


def apart(one, other):
    """The angle between two turns, in radians."""
    return np.arccos(np.clip((np.trace(one.T @ other) - 1) / 2, -1, 1))


TURN = Quaternion((1, 2, -1), 0.7)


def goal_of(ob, kind):
    """Something that a limb of `rigs.biped` may follow, turned anyhow; None for a control that Add makes."""
    if kind == "MADE":
        return None
    if kind == "BONE":
        ob.pose.bones["toe.R"].rotation_quaternion = TURN
        return ob, "toe.R"
    goal = rigs.biped() if kind == "ANOTHER RIG" else rigs.empty("goal")
    rigs.activate(ob)
    goal.matrix_world = Matrix.LocRotScale((0.1, 0, 0.1), TURN, None)
    return goal, "hips" if kind == "ANOTHER RIG" else ""


@pytest.mark.parametrize("kind", ["MADE", "BONE", "OBJECT", "ANOTHER RIG"])
def test_a_foot_turns_with_its_target_and_does_not_jump(add, addon, kind):
    ob = rigs.biped()
    rng = random.Random(2)
    for name in ("root", "thigh.L", "shin.L", "foot.L"):
        ob.pose.bones[name].rotation_quaternion = rigs.turn(rng)
    ob.rotation_euler = (0.3, 0.4, 0.5)
    before = turn_of(ob, "foot.L")
    (last,) = add(ob, "shin.L", target=goal_of(ob, kind), knee="POLE")
    assert addon("rigging.feet").foot_follows(last)
    assert apart(before, turn_of(ob, "foot.L")) < 2e-3
    target, bone = last.planar_ik.target, last.planar_ik.subtarget
    if bone:
        was = turn_of(target, bone)
        target.pose.bones[bone].rotation_quaternion = TURN.slerp(Quaternion(), 0.5)
        ob.pose.bones["thigh.L"].rotation_quaternion = rigs.turn(rng)
        turned = turn_of(target, bone) @ was.T
    else:
        target.rotation_euler = (0.1, 0.2, -0.9)
        bpy.context.view_layer.update()
        turned = np.array(target.matrix_world.to_3x3()) @ np.array(TURN.to_matrix()).T
    assert apart(turned, np.eye(3)) > 0.2
    assert apart(turned @ before, turn_of(ob, "foot.L")) < 2e-3
    last.planar_ik.influence = 0.0
    free = turn_of(ob, "foot.L")
    for made in ob.pose.bones["foot.L"].constraints:
        made.mute = True
    assert apart(free, turn_of(ob, "foot.L")) < 1e-3


def test_a_foot_that_something_else_turns_is_left_to_it(add, addon):
    ob = rigs.biped()
    made = ob.pose.bones["foot.L"].constraints.new("COPY_ROTATION")
    made.target, made.subtarget = ob, "root"
    (last,) = add(ob, "shin.L")
    assert not addon("rigging.feet").foot_follows(last)


def seen_by(ob, name, above):
    """How a bone would be turned if nothing but its parent and its own channels turned it."""
    bone, parent = ob.data.bones[name], ob.data.bones[above]
    rest = parent.matrix_local.inverted() @ bone.matrix_local
    return np.array(
        (ob.matrix_world @ rigs.evaluated(ob).pose.bones[above].matrix @ rest @ ob.pose.bones[name].matrix_basis)
        .to_3x3()
        .normalized()
    )


def between(one, other, share):
    """The turn so far on the short way from one to another."""
    turns = [Matrix(turn.tolist()).to_quaternion() for turn in (one, other)]
    return np.array(turns[0].slerp(turns[1], share).to_matrix())


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("kind", ["MADE", "BONE", "OBJECT", "ANOTHER RIG"])
@pytest.mark.parametrize("ahead", [0.0, 0.03], ids=["to -Y", "outwards"])
def test_a_foot_turns_the_short_way_between_fk_and_ik(add, addon, mode, kind, ahead):
    """That of an upright control, and a foot to -Y, is a half turn off it."""
    ob = rigs.biped()
    rigs.activate(ob, "EDIT")
    foot = ob.data.edit_bones["foot.L"]
    foot.tail = foot.head + Vector((ahead, -0.2, 0.0))
    rigs.activate(ob)
    (last,) = add(ob, "shin.L", target=goal_of(ob, kind))
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [last])
    for name in ("thigh.L", "shin.L", "foot.L"):
        ob.pose.bones[name].rotation_quaternion = rigs.turn(random.Random(len(name)), 0.6)
    last = ob.pose.bones["shin.L"]
    last.planar_ik.influence = 1.0
    bpy.context.view_layer.update()
    in_ik = turn_of(ob, "foot.L")
    for influence in (0.0, 0.05, 0.3, 0.5, 0.8, 0.95):
        last.planar_ik.influence = influence
        bpy.context.view_layer.update()
        expected = between(seen_by(ob, "foot.L", "shin.L"), in_ik, influence)
        assert apart(expected, turn_of(ob, "foot.L")) < 2e-3, influence


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("flipped", ["OBJECT", "BONE"])
def test_a_foot_of_a_puppet_that_is_turned_round_is_mirrored(add, mode, flipped):
    ob = rigs.puppet()
    rigs.activate(ob, "EDIT")
    root = ob.data.edit_bones.new("root")
    root.tail, root.roll = (0.0, 0.0, 0.3), 0.4
    ob.data.edit_bones["body"].parent = root
    rigs.activate(ob)
    (last,) = add(ob, "shin", mode=mode)
    control = ob.pose.bones[last.planar_ik.subtarget]
    assert (control.parent.name, last.planar_ik.plane) == ("root", "HINGE")
    control.matrix = Matrix.LocRotScale((0.2, 0.0, 0.4), Matrix.Rotation(0.7, 3, "Y") @ control.matrix.to_3x3(), None)
    names = ("thigh", "shin", "foot")
    before = [rigs.evaluated(ob).matrix_world @ Matrix(matrix) for matrix in rigs.matrices(ob, names)]
    owner = ob if flipped == "OBJECT" else ob.pose.bones["root"]
    owner.scale.x = -1.0
    rest = Matrix() if flipped == "OBJECT" else ob.data.bones["root"].matrix_local
    mirror = rest @ Matrix.Scale(-1.0, 4, (1.0, 0.0, 0.0)) @ rest.inverted()
    after = [rigs.evaluated(ob).matrix_world @ Matrix(matrix) for matrix in rigs.matrices(ob, names)]
    np.testing.assert_allclose(after, [mirror @ matrix for matrix in before], atol=1e-5)
