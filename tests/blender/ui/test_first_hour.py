"""What people do to limbs in their first hour with them: it works, or a sentence says what to do instead."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender import rigs

from .conftest import call, select


def leg(mode):
    """A biped with IK on its left leg."""
    ob = rigs.biped()
    select("shin.L")
    assert not call("add", mode=mode)
    select("shin.L")
    return ob


def test_a_bone_of_a_live_limb_is_renamed_in_edit_mode(capfd):
    ob = leg("LIVE")
    for old, new in (("shin.L", "calf.L"), ("thigh.L", "femur.L")):
        bpy.ops.object.mode_set(mode="EDIT")
        ob.data.edit_bones[old].name = new
        bpy.ops.object.mode_set(mode="POSE")
        bpy.context.view_layer.update()
    assert "Error" not in capfd.readouterr().err
    rigs.put(ob.pose.bones["foot_ik.L"], Vector((0.1, -0.2, 0.3)))
    assert (rigs.place(ob, "foot.L") - rigs.place(ob, "foot_ik.L")).length < 1e-6


def test_rebuild_where_all_joints_are_in_one_point():
    ob = leg("RIG")
    bpy.ops.object.mode_set(mode="EDIT")
    for name in ("shin.L", "foot.L"):
        ob.data.edit_bones[name].use_connect = False
        ob.data.edit_bones[name].head = ob.data.edit_bones["thigh.L"].head
    bpy.ops.object.mode_set(mode="POSE")
    select("shin.L")
    assert "are in the same place" in call("rebuild")


def test_to_live_beside_a_constraint_that_the_rig_overrules():
    ob = leg("RIG")
    constraints = ob.pose.bones["shin.L"].constraints
    constraint = constraints.new("COPY_ROTATION")
    constraint.target = rigs.empty("turned")
    constraint.target.rotation_euler = (1.0, 2.0, 0.0)
    constraints.move(len(constraints) - 1, 0)
    before = rigs.matrices(ob, ["thigh.L", "shin.L", "foot.L"])
    assert "'Copy Rotation' on 'shin.L' conflicts with IK" in call("set", mode="LIVE")
    constraint.mute = True
    assert not call("set", mode="LIVE")
    assert np.abs(rigs.matrices(ob, ["thigh.L", "shin.L", "foot.L"]) - before).max() < 2e-5


def test_a_least_angle_above_the_greatest():
    ob = leg("LIVE")
    limb = ob.pose.bones["shin.L"].planar_ik
    limb.max_angle = 1.0
    with pytest.raises(RuntimeError, match="Knee Min is above Knee Max"):
        limb.min_angle = 2.0
    assert (limb.min_angle, limb.max_angle) == (0.0, 1.0)
    assert "Knee Min is above Knee Max" in call("set", min_angle=2.0, max_angle=1.5)
    assert not call("set", min_angle=1.5, max_angle=2.5)
    assert (limb.min_angle, limb.max_angle) == pytest.approx((1.5, 2.5))


LEG = ["thigh.L", "shin.L", "foot.L"]
PLACE = (0.15, -0.1, 0.2)


def solved_by(ob, bone, count=2, place=PLACE, pole=None, mute=False):
    """Give a bone an IK constraint of Blender's own."""
    constraint = ob.pose.bones[bone].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.mute = rigs.empty("target", place), count, mute
    constraint.pole_target = rigs.empty("pole", pole) if pole else None
    return constraint


@pytest.fixture
def bent():
    """A biped whose left knee is bent."""
    ob = rigs.biped()
    ob.pose.bones["shin.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.3)
    select("shin.L")
    return ob


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("case", ["with and without a pole", "one muted"])
def test_solve_exactly_where_a_bone_has_two_ik_constraints(bent, mode, case, capfd):
    """The one that poses it is taken, and said; both are given back."""
    one = solved_by(bent, "shin.L", pole=(0.0, -2.0, 0.5), mute=case == "one muted")
    two = solved_by(bent, "shin.L", place=(0.2, -0.3, 0.3))
    other, taken = (one, two) if one.mute else (two, one)
    before, mutes = rigs.matrices(bent, LEG), (other.mute, taken.mute)
    assert not call("convert", mode=mode)
    assert f"Of the IK constraints of 'shin.L', '{taken.name}' is taken" in capfd.readouterr().out
    assert np.abs(rigs.matrices(bent, LEG) - before).max() < 2e-3
    assert not call("unconvert")
    constraints = bent.pose.bones["shin.L"].constraints
    assert [constraints[constraint.name].mute for constraint in (other, taken)] == [*mutes]
    assert np.abs(rigs.matrices(bent, LEG) - before).max() < 2e-5


@pytest.mark.parametrize("scale", [(1.5, 1.0, 1.5), (1.0, 1.2, 1.0)])
def test_solve_exactly_names_the_bone_that_is_scaled(bent, scale):
    solved_by(bent, "shin.L")
    bent.pose.bones["thigh.L"].scale = scale
    assert "'thigh.L' is scaled" in call("convert")


def test_solve_exactly_beside_an_ik_constraint_of_the_upper_bone_alone(bent):
    aiming = solved_by(bent, "thigh.L", count=1, place=(0.3, -0.5, 0.3))
    solved_by(bent, "shin.L")
    assert f"'{aiming.name}' on 'thigh.L' conflicts with IK: mute it" in call("convert")
