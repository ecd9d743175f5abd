"""Pole Follow: how far the pole, and with it the knee, goes with the target."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Quaternion, Vector

from tests.blender import rigs
from tests.blender.limb.test_rolling import apart, parts, poses


def limb(add, addon, mode="LIVE", child=False):
    """A leg with a pole that may follow its target; maybe the pole hung on that by itself."""
    ob = rigs.biped()
    if child:
        rigs.activate(ob, "EDIT")
        for name, place, parent in (("ctl", (0.1, 0.02, 0.1), "root"), ("aim", (0.1, -1, 0.6), "ctl")):
            bone = ob.data.edit_bones.new(name)
            bone.head, bone.tail = place, Vector(place) + Vector((0, 0.1, 0))
            bone.parent = ob.data.edit_bones[parent]
        rigs.activate(ob)
    (last,) = add(
        ob,
        "shin.L",
        knee="POLE",
        mode=mode,
        pole_follows=False,
        **({"target": (ob, "ctl"), "pole": (ob, "aim")} if child else {}),
    )
    before = poses(ob, *ob.pose.bones.keys())
    names = [*ob.pose.bones.keys()]
    addon("tasks.setting").add_pole_follow(bpy.context, [last])
    assert apart(poses(ob, *names), before) < 1e-6
    return ob, ob.pose.bones["shin.L"]


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("child", [False, True])
def test_the_knee_turns_as_the_foot_does(add, addon, mode, child):
    ob, last = limb(add, addon, mode, child)
    assert last.planar_ik.pole_follow == float(child)
    target, pole = ob.pose.bones[last.planar_ik.subtarget], ob.pose.bones[last.planar_ik.pole_subtarget]
    hip = np.array(ob.data.bones["thigh.L"].head_local)
    target.location = target.bone.matrix_local.to_3x3().inverted() @ Vector((0.0, 0.0, 0.06))
    bpy.context.view_layer.update()
    tip, rest = np.array(target.matrix.translation), target.bone.matrix_local.inverted()
    across = Matrix.Translation(tip) @ Matrix.Rotation(np.radians(40), 4, Vector(hip - tip)) @ Matrix.Translation(-tip)
    knees = {}
    for value in (0.0, 1.0):
        last.planar_ik.pole_follow = value
        knees[value] = np.array(rigs.evaluated(ob).pose.bones["shin.L"].head)
    target.matrix = across @ target.matrix
    for value in (1.0, 0.0, 0.5):
        last.planar_ik.pole_follow = value
        now = rigs.evaluated(ob).pose.bones
        still = np.array(pole.bone.head_local)
        carried = np.array(now[target.name].matrix @ rest) @ [*still, 1]
        assert np.abs(np.array(now[pole.name].head) - (1 - value) * still - value * carried[:3]).max() < 1e-5
        if value in knees:
            knee = (np.array(across) @ [*knees[value], 1])[:3] if value else knees[value]
            assert np.abs(np.array(now["shin.L"].head) - knee).max() < 1e-5
        assert last.planar_ik.reach == "REACHED", last.planar_ik.message


@pytest.mark.parametrize("child", [False, True])
def test_taken_away_nothing_is_left_and_the_pole_stays(add, addon, child):
    ob, last = limb(add, addon, child=child)
    pole, parent = last.planar_ik.pole_subtarget, last.planar_ik.subtarget if child else "root"
    last.planar_ik.pole_follow = 0.7
    ob.pose.bones[last.planar_ik.subtarget].rotation_quaternion = Quaternion((0, 0, 1), 0.5)
    before = [matrix[:3, 3] for matrix in poses(ob, pole, "shin.L")]
    addon("tasks.setting").remove_pole_follow(bpy.context, [last])
    assert apart([matrix[:3, 3] for matrix in poses(ob, pole, "shin.L")], before) < 2e-5
    assert ob.data.bones[pole].parent.name == parent
    assert not [curve for curve in ob.animation_data.drivers if "Pole" in curve.data_path]
    last = ob.pose.bones["shin.L"]
    last.planar_ik.pole_follow = 0.4
    addon("tasks.modes").rebuild(bpy.context, [last])
    assert ob.data.bones[pole].parent is None
    addon("tasks.modes").remove(bpy.context, [ob.pose.bones["shin.L"]])
    assert not any("Pole" in each for each in parts(ob)[1])
    assert child == (pole in ob.data.bones)


def test_a_pole_that_hangs_on_nothing_stays_where_it_is(add, addon):
    ob = rigs.biped()
    (last,) = add(ob, "shin.L", knee="POLE", pole_follows=False)
    pole = last.planar_ik.pole_subtarget
    rigs.activate(ob, "EDIT")
    ob.data.edit_bones[pole].parent = None
    rigs.activate(ob)
    bare = sorted(ob.data.bones.keys())
    last = ob.pose.bones["shin.L"]
    last.planar_ik.pole_follow = 0.0
    place = poses(ob, pole)
    ob.pose.bones["root"].location = (0.3, 0.2, 0.1)
    last = ob.pose.bones["shin.L"]
    assert apart(poses(ob, pole), place) < 1e-6
    assert last.planar_ik.message == "On target"
    addon("tasks.setting").remove_pole_follow(bpy.context, [last])
    assert sorted(ob.data.bones.keys()) == bare


def ahead(ob, side):
    """How far the knee of a leg is ahead of the line from its hip to its ankle."""
    hip, knee, ankle = (np.array(rigs.place(ob, f"{name}.{side}")) for name in ("thigh", "shin", "foot"))
    along = (ankle - hip) / np.linalg.norm(ankle - hip)
    return -(knee - hip - along * (along @ (knee - hip)))[1]


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_walker_s_poles_go_along(add, mode):
    """Nothing but hips and feet is moved, three metres ahead. Poles of arms stay with the rig."""
    ob = rigs.biped()
    add(ob, "shin.L", "shin.R", "forearm.L", knee="POLE", mode=mode)
    hips, legs = ob.pose.bones["hips"], [ob.pose.bones[f"shin.{side}"] for side in "LR"]
    move_by(hips, (0.0, 0.0, -0.06))
    bpy.context.view_layer.update()
    knee = ahead(ob, "L")
    assert knee > 0.05
    for step in range(7):
        for last, gait in zip(legs, (0.5, -0.5), strict=True):
            limb = last.planar_ik
            followed = limb.target.pose.bones[limb.subtarget] if limb.subtarget else limb.target
            move_by(followed, (0.0, -0.5 if step else -0.25 + 0.2 * gait, 0.0))
        move_by(hips, (0.0, -0.5 if step else -0.25, 0.0))
        bpy.context.view_layer.update()
        assert min(ahead(ob, side) for side in "LR") > 0.7 * knee
        assert {last.planar_ik.message for last in legs} == {"On target"}
    pole = ob.pose.bones["forearm.L"].planar_ik
    assert not pole.pole_subtarget or pole.pole_target.pose.bones[pole.pole_subtarget].parent.name == "root"


def move_by(owner, by):
    """Move a bone or an object along the armature's axes, by its own channel."""
    rest = owner.bone.matrix_local.to_3x3() if hasattr(owner, "bone") else Matrix.Identity(3)
    owner.location = owner.location + rest.inverted() @ Vector(by)


STILL = (0.0, 0.0, 0.0), Matrix.Identity(3)


def lunging(share):
    """One foot far ahead, the hips down, the other heel up: how hips and both feet have moved and are turned."""
    share, heel = share * share * (3.0 - 2.0 * share), Matrix.Rotation(1.1 * share, 3, "X")
    yield (0.0, -0.4 * share, -0.35 * share), Matrix.Identity(3)
    yield (0.0, -0.8 * share, 0.15 * np.sin(np.pi * share)), Matrix.Identity(3)
    yield (0.0, 0.1 * share, 0.2 * share), heel


def high(share):
    """A knee higher than the hip, with the toes down."""
    up = np.sin(np.pi * share)
    yield STILL
    yield (0.0, -0.25 * up, 0.75 * up), Matrix.Rotation(0.8 * up, 3, "X")
    yield STILL


def spinning(share):
    """A full turn on the spot, in eight steps; hips turn all the time, a foot in each step by a quarter."""
    yield (0.0, 0.0, -0.06), Matrix.Rotation(2.0 * np.pi * share, 3, "Z")
    for begun, side in ((0.0, 0.1), (0.5, -0.1)):
        step, part = divmod(4.0 * share + begun, 1.0)
        part = min(2.0 * part, 1.0)
        turn = Matrix.Rotation((step + part * part * (3.0 - 2.0 * part) - begun) * np.pi / 2.0, 3, "Z")
        place = turn @ Vector((side, 0.0, 0.0)) - Vector((side, 0.0, 0.0))
        yield (place.x, place.y, 0.08 * np.sin(np.pi * part)), turn


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize(("moves", "frames"), [(lunging, 24), (high, 24), (spinning, 96)])
def test_no_pole_has_to_be_touched(add, mode, moves, frames):
    """The knee goes on evenly: at most twice as far from frame to frame as a foot at its fastest."""
    ob = rigs.biped()
    add(ob, "shin.L", "shin.R", knee="POLE", mode=mode)
    controls = [ob.pose.bones[name] for name in ("hips", "foot_ik.L", "foot_ik.R")]
    size, seen = sum(ob.data.bones[name].length for name in ("thigh.L", "shin.L")), []
    rested = [bone.bone.matrix_local.to_3x3() for bone in controls]
    for bone in controls:
        bone.rotation_mode = "QUATERNION"
    for frame in range(frames + 1):
        for bone, rest, (by, turn) in zip(controls, rested, moves(frame / frames), strict=True):
            bone.location = rest.inverted() @ (Vector(by) * size)
            bone.rotation_quaternion = (rest.inverted() @ turn @ rest).to_quaternion()
        bpy.context.view_layer.update()
        seen.append([rigs.place(ob, f"{name}.{side}") for name in ("shin", "foot") for side in "LR"])
    steps = np.linalg.norm(np.diff(np.array(seen), axis=0), axis=2)
    assert steps[:, :2].max() <= 2.0 * steps[:, 2:].max()


def test_a_foot_that_is_turned_over_is_named():
    """What goes half with it has hardly a place then, wherever *Plant Feet* lays it."""
    ob, bpy.context.scene.frame_end = rigs.biped(), 20
    for frame in (1, 10, 20):
        ob.pose.bones["hips"].location = (0, 0, -0.05 * np.sin(frame))
        ob.pose.bones["hips"].keyframe_insert("location", frame=frame)
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_add(plane="POLE", foot_roll=True)
    foot, rest = ob.pose.bones["foot_ik.L"], ob.data.bones["foot_ik.L"].matrix_local.to_quaternion()
    foot.rotation_mode = "QUATERNION"
    for frame, angle in ((1, 0.0), (10, 2.6), (20, 2.6)):
        foot.location.x, foot.rotation_quaternion = (
            0.1 * np.sin(frame),
            rest.inverted() @ Quaternion((1, 0, 0), angle) @ rest,
        )
        foot.keyframe_insert("location", frame=frame)
        foot.keyframe_insert("rotation_quaternion", frame=frame)
    rigs.click(ob, "shin.L")
    with pytest.raises(
        RuntimeError, match=r"'knee_pole\.L' goes half with a foot .* set IK Pole Follow of 'shin\.L' to 0 or 1"
    ):
        bpy.ops.pose.planar_ik_plant(height=2.0, speed=9.0)
