"""Foot Roll: the foot turns about pivots on the ground, works without the add-on, and snaps hold at any roll."""

from __future__ import annotations

import random
from math import sin

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion

from tests.blender import rigs

BREAK = np.pi / 4


def about(pivot, angle):
    """A turn about the X axis of a bone's rest pose, in the armature: an oracle that knows no helpers' poses."""
    rest = np.array(pivot.matrix_local)
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[1, 0, 0, 0], [0, c, -s, 0], [0, s, c, 0], [0, 0, 0, 1]])
    return rest @ turn @ np.linalg.inv(rest)


def pivots_of(ob, last):
    """The pivots of the limb's roll, by role."""
    foot = next(child for child in last.children if child.planar_ik_tip)
    goal = ob.data.bones[foot.constraints["Planar IK Foot"].subtarget]
    return {bone.planar_ik_part: bone for bone in goal.parent_recursive}


def rolled(ob, last, roll, bank):
    """What roll and bank do to a foot at rest, in the armature."""
    pivots = pivots_of(ob, last)
    turns = [
        ("outer pivot", max(bank, 0)), ("inner pivot", min(bank, 0)), ("heel pivot", min(roll, 0)),
        ("toe pivot", max(roll - BREAK, 0)), ("ball pivot", min(max(roll, 0), BREAK)),
    ]  # fmt: skip
    result = np.eye(4)
    for role, angle in turns:
        result = result @ about(pivots[role], angle)
    return result


def poses(ob, *names):
    return [np.array(rigs.evaluated(ob).pose.bones[name].matrix) for name in names]


def leg(add, addon, mode="LIVE", side=".L", knee="POLE", **options):
    ob = rigs.biped()
    (last,) = add(ob, f"shin{side}", knee=knee, mode=mode, **options)
    names = [*ob.pose.bones.keys()]
    before = poses(ob, *names)
    addon("tasks.setting").add_foot_roll(bpy.context, [last])
    assert apart(poses(ob, *names), before) < 2e-5
    return ob, ob.pose.bones[f"shin{side}"]


def set_roll(last, roll, bank):
    last.planar_ik.roll, last.planar_ik.bank = roll, bank
    bpy.context.view_layer.update()


ROLLS = [(0.0, 0.0), (-0.6, 0.0), (0.5, 0.0), (1.3, 0.0), (0.0, 0.4), (0.0, -0.4), (1.0, 0.3), (-0.4, -0.2)]


@pytest.mark.parametrize(("mode", "side"), [("RIG", ".L"), ("LIVE", ".R")])
def test_a_foot_rolls_about_its_pivots(add, addon, mode, side):
    ob, last = leg(add, addon, mode, side)
    control = ob.pose.bones[last.planar_ik.subtarget]
    control.rotation_mode = "XYZ"
    names = [f"foot{side}", f"toe{side}"]
    rest = [np.array(ob.data.bones[name].matrix_local) for name in names]
    off = ob.pose.bones[names[1]]
    off.rotation_quaternion = Quaternion((1, 0.2, 0.1, 0)).normalized()
    own = np.array(off.rotation_quaternion.to_matrix().to_4x4())
    for roll, bank in ROLLS:
        for place, turn in (((0, 0, 0), (0, 0, 0)), ((0.03, -0.1, 0.12), (0.3, 0.2, -0.4))):
            control.location, control.rotation_euler = place, turn
            set_roll(last, roll, bank)
            carry = np.array(control.matrix) @ np.linalg.inv(np.array(control.bone.matrix_local))
            by = carry @ rolled(ob, last, roll, bank)
            foot, toe = poses(ob, *names)
            assert np.abs(foot - by @ rest[0]).max() < 2e-5, (roll, bank)
            flat = by @ np.linalg.inv(about(pivots_of(ob, last)["ball pivot"], min(max(roll, 0), BREAK)))
            expected = (flat @ rest[1] @ own)[:3, :3]
            assert np.abs(toe[:3, :3] - expected).max() < 2e-5, (roll, bank)
            assert last.planar_ik.reach == "REACHED", last.planar_ik.message


def test_pivots_stand_on_the_ground_and_the_same_numbers_roll_both_sides(add, addon):
    ob = rigs.biped()
    lasts = add(ob, "shin.L", "shin.R")
    addon("tasks.setting").add_foot_roll(bpy.context, lasts)
    both = [pivots_of(ob, ob.pose.bones[f"shin{side}"]) for side in (".L", ".R")]
    for role in both[0]:
        head, other = (np.array(pivots[role].head_local) for pivots in both)
        assert np.abs(head * (-1, 1, 1) - other).max() < 1e-6
    left = both[0]
    assert abs(left["heel pivot"].head_local.z) < 1e-6 > abs(left["toe pivot"].head_local.z)
    assert left["outer pivot"].head_local.x > 0.1 > left["inner pivot"].head_local.x
    assert left["heel pivot"].head_local.y > 0.02
    assert left["toe pivot"].head_local.y < -0.19
    for roll, bank in ROLLS:
        for last in (ob.pose.bones["shin.L"], ob.pose.bones["shin.R"]):
            set_roll(last, roll, bank)
        one, other = (place[:3, 3] for place in poses(ob, "toe.L", "toe.R"))
        assert np.abs(one * (-1, 1, 1) - other).max() < 1e-5
    set_roll(ob.pose.bones["shin.L"], 0.0, 0.4)  # outwards: the inner edge lifts
    inner = rolled(ob, ob.pose.bones["shin.L"], 0, 0.4) @ [*left["inner pivot"].head_local, 1]
    assert inner[2] > 0.01
    heel = rolled(ob, ob.pose.bones["shin.L"], 0.4, 0) @ [*left["heel pivot"].head_local, 1]
    assert heel[2] > 0.01


def limb_names(side):
    return [f"{name}{side}" for name in ("thigh", "shin", "foot", "toe")]


def apart(one, other):
    return max(np.abs(a - b).max() for a, b in zip(one, other, strict=True))


def test_switch_levels_the_foot_unless_it_is_keyed(add, addon):
    snapping = addon("tasks.snapping")
    ob, last = leg(add, addon)
    for keyed in (False, True):
        set_roll(last, 0.5, 0.2)
        snapping.switch(bpy.context, [last], "FK")
        if keyed:
            last.keyframe_insert('["IK Roll"]')
        before = poses(ob, *limb_names(".L"))
        snapping.switch(bpy.context, [last], "IK")
        assert apart(poses(ob, *limb_names(".L")), before) < 5e-5
        assert (last.planar_ik.roll, last.planar_ik.bank) == pytest.approx((0.5 if keyed else 0.0, 0.0))


def parts(ob):
    """All that a limb may leave on a rig."""
    constraints = sorted(f"{bone.name} {each.name}" for bone in ob.pose.bones for each in bone.constraints)
    drivers = sorted(curve.data_path for curve in ob.animation_data.drivers) if ob.animation_data else []
    kept = sorted(f"{bone.name} {key}" for bone in ob.pose.bones for key in [*bone.keys()])
    return sorted(ob.data.bones.keys()), constraints, drivers, kept, sorted(ob.data.collections_all.keys())


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_taken_away_nothing_is_left_and_the_foot_stays(add, addon, mode):
    ob = rigs.biped()
    bare = parts(ob)
    (last,) = add(ob, "shin.L", mode=mode)
    plain = parts(ob)
    addon("tasks.setting").add_foot_roll(bpy.context, [last])
    last = ob.pose.bones["shin.L"]
    set_roll(last, 0.5, 0.2)
    before = poses(ob, *limb_names(".L"))
    addon("tasks.setting").remove_foot_roll(bpy.context, [last])
    last = ob.pose.bones["shin.L"]
    assert parts(ob) == plain
    assert apart(poses(ob, *limb_names(".L")), before) < 5e-5
    last.planar_ik.roll = 0.3
    assert not last.planar_ik.message.startswith("The foot roll")
    addon("tasks.modes").remove(bpy.context, [ob.pose.bones["shin.L"]])
    assert parts(ob) == bare


def test_pivots_are_moved_in_edit_mode_and_rebuild_takes_them(add, addon):
    ob, last = leg(add, addon)
    heel = pivots_of(ob, last)["heel pivot"].name
    move_pivot(ob, heel)
    place = np.array(ob.data.bones[heel].head_local)
    for rebuilt in (False, True):
        last = ob.pose.bones["shin.L"]
        if rebuilt:
            addon("tasks.modes").rebuild(bpy.context, [last])
            last = ob.pose.bones["shin.L"]
        set_roll(last, -0.5, 0.0)
        assert np.abs(place - np.array(pivots_of(ob, last)["heel pivot"].head_local)).max() < 1e-6
        (foot,) = poses(ob, "foot.L")
        expected = rolled(ob, last, -0.5, 0.0) @ np.array(ob.data.bones["foot.L"].matrix_local)
        assert np.abs(foot - expected).max() < 2e-5


def test_a_deleted_pivot_is_told_of_and_made_anew(add, addon):
    ob, last = leg(add, addon, "RIG")
    name = pivots_of(ob, last)["toe pivot"].name
    rigs.activate(ob, "EDIT")
    ob.data.edit_bones.remove(ob.data.edit_bones[name])
    rigs.activate(ob, "POSE")
    last = ob.pose.bones["shin.L"]
    bpy.context.view_layer.update()
    assert "foot roll" in last.planar_ik.message
    addon("tasks.modes").rebuild(bpy.context, [last])
    last = ob.pose.bones["shin.L"]
    set_roll(last, 1.3, 0.0)
    assert last.planar_ik.reach == "REACHED", last.planar_ik.message
    addon("tasks.modes").remove(bpy.context, [last])
    assert not [bone for bone in ob.data.bones if bone.name.startswith("MCH-")]


def move_pivot(ob, name):
    rigs.activate(ob, "EDIT")
    bone = ob.data.edit_bones[name]
    bone.head.y += 0.1
    bone.tail.y += 0.1
    rigs.activate(ob, "POSE")


def test_another_target_takes_the_roll_along(add, addon):
    ob, last = leg(add, addon, "RIG")
    set_roll(last, 0.5, 0.2)
    (turn,) = [pose[:3, :3] for pose in poses(ob, "foot.L")]
    goal = rigs.empty("goal", (0.15, -0.1, 0.12))
    goal.rotation_euler = (0.1, 0.2, 0.3)
    bpy.context.view_layer.update()
    last.planar_ik.target = goal
    last = ob.pose.bones["shin.L"]
    assert last.planar_ik.message == "On target"
    assert np.abs(poses(ob, "foot.L")[0][:3, :3] - turn).max() < 2e-5
    set_roll(last, 0.0, 0.0)
    assert np.abs(poses(ob, "foot.L")[0][:3, 3] - np.array(goal.location)).max() < 2e-5
    foot = poses(ob, "foot.L")[0] @ np.linalg.inv(np.array(ob.data.bones["foot.L"].matrix_local))
    set_roll(last, -0.6, 0.3)
    expected = foot @ rolled(ob, last, -0.6, 0.3) @ np.array(ob.data.bones["foot.L"].matrix_local)
    assert np.abs(poses(ob, "foot.L")[0] - expected).max() < 2e-5
    addon("tasks.following").make_targets(bpy.context, [last])
    last = ob.pose.bones["shin.L"]
    assert last.planar_ik.message == "On target"
    assert last.planar_ik.roll == 0.0


@pytest.mark.parametrize("kind", ["OBJECT", "OTHER RIG", "SCALED"])
def test_any_control_rolls_a_foot(add, addon, kind):
    other = rigs.rig({"control": ((0, 0, 0), (0, 0.1, 0.1), "")}) if kind == "OTHER RIG" else None
    ob = rigs.biped()
    ob.matrix_world = Matrix.LocRotScale((0.3, 0.2, 0.1), Quaternion((1, 0.1, 0.2, 0.3)).normalized(), (2.0, 2.0, 2.0))
    if other:
        place = ob.matrix_world @ ob.data.bones["foot.L"].head_local
        other.matrix_world = Matrix.LocRotScale(place, Quaternion((1, 0, 0.1, 0.2)).normalized(), None)
    if kind == "SCALED":
        ob.pose.bones["root"].scale = (1.5, 1.5, 1.5)
    target = (other, "control") if other else None
    if kind == "OBJECT":
        target = (rigs.empty("goal", ob.matrix_world @ ob.data.bones["foot.L"].head_local), "")
    (last,) = add(ob, "shin.L", target=target, mode="RIG", foot_roll=True)
    last = ob.pose.bones["shin.L"]
    foot = ["foot.L", "toe.L"]
    before, reached = poses(ob, *foot), 0
    for roll, bank in ROLLS:
        set_roll(last, roll, bank)
        by = np.array(before[0]) @ np.linalg.inv(np.array(ob.data.bones["foot.L"].matrix_local))
        expected = by @ rolled(ob, last, roll, bank) @ np.array(ob.data.bones["foot.L"].matrix_local)
        seen = poses(ob, "foot.L")[0]
        reached += last.planar_ik.reach == "REACHED"
        assert last.planar_ik.reach != "REACHED" or np.abs(seen - expected).max() < 5e-5, (roll, bank)
    assert reached >= len(ROLLS) - 2
    snapping = addon("tasks.snapping")
    set_roll(last, 0.7, 0.2)
    last.planar_ik.influence = 0.0
    ob.pose.bones["shin.L"].rotation_quaternion = Quaternion((1, 0, 0), 0.9)
    fk = poses(ob, *limb_names(".L"))
    snapping.snap_target(bpy.context, [last])
    last.planar_ik.influence = 1.0
    assert apart(poses(ob, *limb_names(".L")), fk) < 1e-4


@pytest.mark.parametrize("across", [True, False])
def test_a_heel_bone_says_where_the_heel_is(add, addon, across):
    ob = rigs.biped()
    rigs.activate(ob, "EDIT")
    heel = ob.data.edit_bones.new("heel.L")
    heel.head, heel.tail = ((0.06, 0.09, 0), (0.15, 0.09, 0)) if across else ((0.1, 0.02, 0.1), (0.1, 0.09, 0))
    heel.parent = ob.data.edit_bones["foot.L"]
    rigs.activate(ob)
    add(ob, "shin.L", foot_roll=True)
    pivots = pivots_of(ob, ob.pose.bones["shin.L"])
    place = {role: np.array(bone.head_local) for role, bone in pivots.items()}
    assert np.abs(place["heel pivot"] - (0.105 if across else 0.1, 0.09, 0)).max() < 1e-6
    assert np.abs(place["ball pivot"] - ob.data.bones["toe.L"].head_local).max() < 1e-6
    if across:
        assert (place["outer pivot"][0], place["inner pivot"][0]) == pytest.approx((0.15, 0.06))


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_any_foot_rolls(add, addon, mode):
    for seed in range(4):
        rng = random.Random(seed)
        ob = rigs.random_limb(rng)
        add(ob, "lower", knee="FREE", mode=mode, foot_roll=True)
        last = ob.pose.bones["lower"]
        control = ob.pose.bones[last.planar_ik.subtarget]
        hip = rigs.evaluated(ob).pose.bones["upper"].head
        control.matrix = Matrix.Translation((hip - control.matrix.translation) * 0.3) @ control.matrix
        rest = np.array(ob.data.bones["foot"].matrix_local)
        by = poses(ob, "foot")[0] @ np.linalg.inv(rest)
        for _ in range(4):
            roll, bank = rng.uniform(-1, 1), rng.uniform(-1, 1)
            set_roll(last, roll, bank)
            expected = by @ rolled(ob, last, roll, bank) @ rest
            assert last.planar_ik.reach == "REACHED", (seed, last.planar_ik.message)
            assert np.abs(poses(ob, "foot")[0] - expected).max() < 5e-5, (seed, roll, bank)


@pytest.mark.parametrize("has_toes", [True, False])
def test_add_keeps_frames_with_a_roll(has_toes):
    """Of captures, feet often have no toes."""
    ob = rigs.biped()
    if not has_toes:
        rigs.activate(ob, "EDIT")
        for name in ("toe.L", "toe.R"):
            ob.data.edit_bones.remove(ob.data.edit_bones[name])
        rigs.activate(ob)
    names, frames = [bone.name for bone in ob.pose.bones], range(1, 13)
    bpy.context.scene.frame_end = 12
    for frame in frames:
        for name, turn in (("thigh.L", 0.4), ("shin.L", 0.5), ("foot.L", 0.3)):
            ob.pose.bones[name].rotation_quaternion = Quaternion((1, 0, 0), turn * sin(frame / 3.0))
            ob.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
        ob.pose.bones["hips"].location = (0.0, 0.05 * frame, 0.0)
        ob.pose.bones["hips"].keyframe_insert("location", frame=frame)

    def seen():
        poses = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            poses.append(rigs.matrices(ob, names))
        return np.array(poses)

    before = seen()
    rigs.click(ob, "shin.L")
    assert bpy.ops.pose.planar_ik_add(foot_roll=True) == {"FINISHED"}
    assert np.abs(seen() - before).max() < 5e-3
