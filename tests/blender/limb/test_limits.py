"""Both joints of a hinge keep their limits: Blender's are carried over, and what does not go with them is refused."""

from __future__ import annotations

from contextlib import suppress
from math import cos, degrees, pi, radians, sin, tau

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import oracle, rigs
from tests.blender.snapshots import differences, snapshot

LIMITS = {"upper": (-20.0, 35.0), "lower": (-70.0, 10.0)}


def axis_of(bone):
    """The axis of a bone that lies along the depth."""
    return max("xyz", key=lambda axis: abs(bone.bone.matrix_local.to_3x3().col["xyz".index(axis)].y))


def robot(limits=LIMITS):
    """A flat arm with Blender's IK, and limits about the axis that both bones turn about."""
    ob = rigs.rig(
        {
            "base": ((0, 0, 0), (0, 0, 0.5), ""),
            "upper": ((0, 0, 0.5), (0.3, 0, 1.4), "base"),
            "lower": ((0.3, 0, 1.4), (1.0, 0, 1.5), "upper"),
        }
    )
    rigs.activate(ob, "EDIT")
    for bone in ob.data.edit_bones:
        bone.align_roll((0, -1, 0))  # as whoever sets limits about it does
    rigs.activate(ob)
    goal = rigs.empty("goal", (1.0, 0.0, 1.5))
    constraint = ob.pose.bones["lower"].constraints.new("IK")
    constraint.name = "Planar IK"
    constraint.target, constraint.chain_count, constraint.iterations = goal, 2, 500
    for name, ends in limits.items():
        bone = ob.pose.bones[name]
        axis = axis_of(bone)
        for other in "xyz":
            setattr(bone, f"lock_ik_{other}", other != axis)
        setattr(bone, f"use_ik_limit_{axis}", True)
        for end, value in zip(("min", "max"), ends, strict=True):
            setattr(bone, f"ik_{end}_{axis}", radians(value))
    return ob, goal


def turned(ob, name):
    """By how much a bone is turned about the depth from where it is at rest in its parent, in degrees."""
    now = rigs.evaluated(ob).pose.bones[name]
    own = now.id_data.convert_space(pose_bone=now, matrix=now.matrix, from_space="POSE", to_space="LOCAL")
    return degrees(own.to_euler()["xyz".index(axis_of(now))])


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_blenders_limits_are_kept(addon, mode):
    ob, goal = robot()
    addon("tasks.converting").convert(bpy.context, [ob.pose.bones["lower"]], mode=mode)
    last = ob.pose.bones["lower"]
    assert last.planar_ik.plane == "HINGE"
    reached = set()
    for place in ((3, 0, 0.5), (-3, 0, 1.0), (0.1, 0, 0.6), (0, 0, 4), (0.9, 0, 1.45)):
        goal.location = place
        bpy.context.view_layer.update()
        for name, (low, high) in LIMITS.items():
            assert low - 0.1 <= turned(ob, name) <= high + 0.1, (place, name)
        joints = oracle.seen(last)[0]
        assert joints == pytest.approx(oracle.expected(last).joints, abs=2e-5)
        reached.add(last.planar_ik.reach)
    assert reached == {"LIMITED", "REACHED"}


def test_half_a_turn_is_no_limit(addon):
    ob, _ = robot({"upper": (-180.0, 180.0), "lower": (-180.0, 180.0)})
    done = addon("tasks.converting").convert(bpy.context, [ob.pose.bones["lower"]])
    assert not done.warnings
    limb = ob.pose.bones["lower"].planar_ik
    assert (limb.root_min_angle, limb.root_max_angle) == (-pi, pi)
    assert (limb.min_angle, limb.max_angle) == (0.0, pi)


def test_what_root_limits_do_not_go_with(add):
    ob = rigs.puppet()
    limb = add(ob, "shin")[0].planar_ik
    assert limb.plane == "HINGE"
    limb.root_max_angle = 0.5
    for name, value in (("softness", 0.1), ("stretch", 1.0), ("plane", "FREE")):
        with pytest.raises(RuntimeError, match=r"[Rr]oot limits"):
            setattr(limb, name, value)
    limb.root_max_angle = pi
    limb.plane = "FREE"
    with pytest.raises(RuntimeError, match="Root limits are about a hinge"):
        limb.root_max_angle = 0.5


def test_robots_are_hinges(add):
    """An arm that is flat but for a little bends about its plane's normal."""
    ob = rigs.rig(
        {
            "base": ((0, 0, 0), (0, 0, 0.5), ""),
            "arm": ((0, 0, 0.5), (0.4, 0.004, 1.2), "base"),
            "forearm": ((0.4, 0.004, 1.2), (1.1, -0.004, 1.1), "arm"),
        }
    )
    limb = add(ob, "forearm")[0].planar_ik
    assert (limb.plane, limb.pole_target, limb.message) == ("HINGE", None, "On target")


def test_legs_seen_from_before_are_no_hinges(add):
    """Whose knees are a little in front: that is how they bend."""
    ob = rigs.rig(
        {
            "hips": ((0, 0, 1), (0, 0, 1.3), ""),
            "thigh": ((0.15, 0, 1), (0.15, -0.02, 0.5), "hips"),
            "shin": ((0.15, -0.02, 0.5), (0.15, 0, 0), "thigh"),
            "other thigh": ((-0.15, 0, 1), (-0.15, -0.02, 0.5), "hips"),
        }
    )
    assert add(ob, "shin")[0].planar_ik.plane == "POLE"


def limited():
    """A robot's arm with *Limit Rotation* on both bones, which are selected."""
    ob, _ = robot({})
    ob.pose.bones["lower"].constraints.remove(ob.pose.bones["lower"].constraints[0])
    for name, ends in LIMITS.items():
        limit, axis = ob.pose.bones[name].constraints.new("LIMIT_ROTATION"), axis_of(ob.pose.bones[name])
        limit.owner_space = "LOCAL"
        setattr(limit, f"use_limit_{axis}", True)
        for end, value in zip(("min", "max"), ends, strict=True):
            setattr(limit, f"{end}_{axis}", radians(value))
    rigs.click(ob, *LIMITS)
    return ob


def test_add_that_fails_leaves_limit_rotation(addon):
    limited()
    before = snapshot()
    with suppress(KeyError), addon("blender.transaction").all_or_nothing(bpy.context):
        bpy.ops.pose.planar_ik_add(mode="RIG")
        raise KeyError
    assert not differences(before, snapshot())


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_add_takes_over_limit_rotation(mode):
    ob = limited()
    assert bpy.ops.pose.planar_ik_add(mode=mode) == {"FINISHED"}
    limb = ob.pose.bones["lower"].planar_ik
    assert limb.plane == "HINGE"
    assert all(ob.pose.bones[name].constraints[0].mute for name in LIMITS)
    goal, seen = ob.pose.bones[limb.subtarget], {name: [] for name in LIMITS}
    for angle in (tau * k / 40 for k in range(40)):
        rigs.put(goal, Vector((1.2 * cos(angle), 0.0, 0.5 + 1.2 * sin(angle))))
        for name, turns in seen.items():
            turns.append(turned(ob, name))
    for name, (least, most) in LIMITS.items():
        assert least - 0.1 < min(seen[name]) < least + 0.1
        assert most - 0.1 < max(seen[name]) < most + 0.1


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_an_arm_that_stands_straight_bends_about_what_ik_locks_leave(mode):
    """As robots are drawn: nothing else says in which plane. Out of limits Blender's IK only comes near the pose."""
    ob, goal = robot({"upper": (-60.0, 0.0), "lower": (-126.0, 0.0)})
    rigs.activate(ob, "EDIT")
    for k, name in enumerate(("upper", "lower")):
        ob.data.edit_bones[name].tail = 0.0, 0.0, 1.5 + k
        ob.data.edit_bones[name].align_roll((0, -1, 0))
    rigs.activate(ob)
    constraint = ob.pose.bones["lower"].constraints[0]
    constraint.name = "IK"
    for frame, place in ((1, (1.2, 0.0, 1.4)), (11, (0.3, 0.0, 0.9))):
        goal.location = place
        goal.keyframe_insert("location", frame=frame)
    rigs.click(ob, "lower")
    before = seen(ob, range(1, 12))
    bpy.context.scene.frame_set(1)
    assert bpy.ops.pose.planar_ik_convert(mode=mode) == {"FINISHED"}
    limb = ob.pose.bones["lower"].planar_ik
    assert limb.plane == "HINGE"
    assert degrees(limb.root_max_angle - limb.root_min_angle) == pytest.approx(60.0, abs=0.1)
    assert degrees(limb.min_angle) == pytest.approx(54.0, abs=0.1)
    assert np.abs(seen(ob, range(1, 12)) - before).max() < 3e-2
    bpy.context.scene.frame_set(11)
    assert limb.reach == "LIMITED"


def test_add_leaves_ik_that_acts_at_times():
    ob, _ = robot({})
    constraint = ob.pose.bones["lower"].constraints[0]
    for frame, influence in ((1, 0.0), (20, 1.0)):
        constraint.influence = influence
        constraint.keyframe_insert("influence", frame=frame)
    bpy.context.scene.frame_set(1)
    rigs.click(ob, "lower")
    with pytest.raises(RuntimeError, match="press Solve Exactly"):
        bpy.ops.pose.planar_ik_add()


def on_a_table():
    """The robot on a table, which its IK turns, as its goal goes round."""
    ob, goal = robot({})
    base, constraint = ob.pose.bones["base"], ob.pose.bones["lower"].constraints[0]
    constraint.chain_count, constraint.name = 3, "IK"
    base.lock_ik_x = base.lock_ik_z = True
    for name in LIMITS:
        bone = ob.pose.bones[name]
        for axis in set("xyz") - {axis_of(bone)}:
            setattr(bone, f"lock_ik_{axis}", True)
    for k, frame in enumerate((1, 10, 20, 30)):
        goal.location = 0.9 * cos(0.9 * k - 1.2), 0.9 * sin(0.9 * k - 1.2), 1.2 + 0.1 * k
        goal.keyframe_insert("location", frame=frame)
    rigs.click(ob, "lower")
    return ob, constraint


def seen(ob, frames):
    places = []
    for frame in frames:
        bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
        bones = rigs.evaluated(ob).pose.bones
        places.append([*bones["lower"].head, *bones["lower"].tail, *bones["base"].x_axis])
    return np.array(places)


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_solve_exactly_leaves_a_table_its_motion(mode):
    ob, _ = on_a_table()
    frames = np.arange(1.0, 30.5, 0.5)
    before = seen(ob, frames)
    assert bpy.ops.pose.planar_ik_convert(mode=mode) == {"FINISHED"}
    limb = ob.pose.bones["lower"].planar_ik
    assert (limb.plane, limb.chain_count, limb.mode) == ("HINGE", 2, mode)
    np.testing.assert_allclose(seen(ob, frames), before, atol=1e-4)
    for frame in range(1, 31):
        bpy.context.scene.frame_set(frame)
        assert limb.message == "On target"
    assert bpy.ops.pose.planar_ik_unconvert() == {"FINISHED"}
    assert ob.pose.bones["lower"].constraints["IK"].chain_count == 3
    np.testing.assert_allclose(seen(ob, frames), before, atol=1e-4)


def test_a_table_is_no_part_of_the_arm():
    _, constraint = on_a_table()
    constraint.influence = 0.5
    with pytest.raises(RuntimeError, match="set its influence to 1"):
        bpy.ops.pose.planar_ik_convert()
