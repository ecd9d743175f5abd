"""Foot Follows: a foot turns as its target does, goes by its limb's influence, and never jumps."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

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
    goal = rigs.biped() if kind == "ANOTHER RIG" else bpy.data.objects.new("goal", None)
    if kind == "OBJECT":
        bpy.context.collection.objects.link(goal)
    rigs.activate(ob)
    goal.matrix_world = Matrix.LocRotScale((0.1, 0, 0.1), TURN, None)
    return goal, "hips" if kind == "ANOTHER RIG" else ""


@pytest.mark.parametrize("kind", ["MADE", "BONE", "OBJECT", "ANOTHER RIG"])
def test_a_foot_turns_with_its_target_and_does_not_jump(add, tasks, kind):
    ob = rigs.biped()
    rng = random.Random(2)
    for name in ("root", "thigh.L", "shin.L", "foot.L"):
        ob.pose.bones[name].rotation_quaternion = rigs.turn(rng)
    ob.rotation_euler = (0.3, 0.4, 0.5)
    before = turn_of(ob, "foot.L")
    (last,) = add(ob, "shin.L", target=goal_of(ob, kind), knee="POLE")
    assert tasks("feet").foot_follows(last)
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


def test_another_target_does_not_turn_the_foot(add, tasks):
    ob = rigs.biped()
    (last,) = add(ob, "shin.L")
    ob.pose.bones["foot_ik.L"].rotation_quaternion = TURN
    before = turn_of(ob, "foot.L")
    goal, _ = goal_of(ob, "OBJECT")
    last.planar_ik.target = goal
    assert apart(before, turn_of(ob, "foot.L")) < 1e-3
    goal.rotation_euler.x += 0.5
    assert apart(before, turn_of(ob, "foot.L")) > 0.2


def test_off_and_on_again(add, tasks):
    ob = rigs.biped()
    (last,) = add(ob, "shin.L")
    feet = tasks("feet")
    feet.set_feet([last], False)
    assert not ob.pose.bones["foot.L"].constraints
    assert not ob.animation_data.drivers
    ob.pose.bones["foot.L"].rotation_quaternion = TURN
    before = turn_of(ob, "foot.L")
    feet.set_feet([last], True)
    feet.set_feet([last], True)
    assert apart(before, turn_of(ob, "foot.L")) < 1e-3
    assert len(ob.pose.bones["foot.L"].constraints) == len(ob.animation_data.drivers) == 2
    assert all(each.driver.is_simple_expression and each.driver.is_valid for each in ob.animation_data.drivers)


def test_a_foot_that_something_else_turns_is_left_to_it(add, tasks):
    ob = rigs.biped()
    made = ob.pose.bones["foot.L"].constraints.new("COPY_ROTATION")
    made.target, made.subtarget = ob, "root"
    (last,) = add(ob, "shin.L")
    assert not tasks("feet").foot_follows(last)
