"""A number means the same on both sides: what Blender itself mirrors is the mirror image, joint by joint."""

from __future__ import annotations

import random
from itertools import product

import bpy
import numpy as np
import pytest
from mathutils import Quaternion, Vector

from tests.blender import oracle, rigs

pytestmark = pytest.mark.dear

ACROSS = np.array((-1.0, 1.0, 1.0))
LINKS = {2: (1, 1), 3: (1, 1, 1)}
LAST = {2: "shin", 3: "foot"}
SWIVELS = (0.4, -0.4, 2.5, -7.0)
LIMBS = [*product(("LIVE", "RIG"), ("FREE", "POLE"), (2, 3))]


def biped(count):
    """A biped with legs of two bones, or of three with the foot as the last, to and fro."""
    ob = rigs.biped()
    if count == 3:
        rigs.activate(ob, "EDIT")
        for side, x in ((".L", 1), (".R", -1)):
            ob.data.edit_bones[f"toe{side}"].use_connect = False
            ob.data.edit_bones[f"foot{side}"].tail = (0.1 * x, -0.05, -0.1)
            ob.data.edit_bones[f"toe{side}"].head = (0.1 * x, -0.05, -0.1)
            ob.data.edit_bones[f"toe{side}"].tail = (0.1 * x, -0.15, -0.1)
        bpy.ops.object.mode_set(mode="POSE")
    return ob


@pytest.fixture
def legs(addon):
    """Makes legs of a biped limbs, by their sides."""

    def make(mode, knee, count, sides=(".L", ".R"), ob=None):
        if not ob and len(sides) > 1:
            rigs.opened(f"legs {mode} {knee} {count}", lambda: make(mode, knee, count, ob=biped(count)))
            return bpy.data.objects["rig"]
        ob = ob or biped(count)
        adding = addon("tasks.adding")
        requests = [adding.LimbRequest(ob.pose.bones[LAST[count] + side], LINKS[count]) for side in sides]
        lasts = adding.add(bpy.context, requests, knee=knee, foot=count == 2).limbs
        if mode == "RIG":
            addon("tasks.modes").to_rig(bpy.context, lasts)
        return ob

    return make


def pose(ob, count, rng, sides=(".L", ".R"), twist=2.0):
    """Pose the hips, targets and poles, and set sliders: otherwise on each side."""
    ob.pose.bones["hips"].rotation_quaternion = rigs.turn(rng, 0.3)
    for side in sides:
        last = ob.pose.bones[LAST[count] + side]
        for name in (last.planar_ik.subtarget, last.planar_ik.pole_subtarget):
            if name:
                ob.pose.bones[name].location = Vector(rigs.turn(rng).axis) * 0.15 + Vector((0, 0, 0.15))
                ob.pose.bones[name].rotation_quaternion = rigs.turn(rng)
        last["IK Swivel"] = rng.choice(SWIVELS)
        last["IK Flip"] = rng.random() < 0.3
        last.planar_ik.twist = [rng.uniform(-twist, twist) for _ in range(count)]
        if count > 2:
            last["IK Ankle"] = rng.uniform(-0.5, 0.5)
    update(ob)


def update(ob):
    ob.update_tag()
    bpy.context.view_layer.update()


def joints(ob, count):
    """Joints of both legs, left and right, and the Z axes of their bones."""
    found = []
    for side in (".L", ".R"):
        last = ob.pose.bones[LAST[count] + side]
        assert last.planar_ik.reach != "INVALID", last.planar_ik.message
        places, axes, _ = oracle.seen(last)
        found.append([*places, *(bone[:, 2] for bone in axes)])
    return np.array(found)


def select_all(ob):
    for bone in ob.pose.bones:
        rigs.select(bone, "MCH" not in bone.name)


def paste_flipped(ob):
    select_all(ob)
    with bpy.context.temp_override(scene=bpy.context.scene):
        bpy.ops.pose.copy()
        bpy.ops.pose.paste(flipped=True)


def apply_flipped(ob):
    """A pose asset, as its operator applies it flipped."""
    select_all(ob)
    for bone in ob.pose.bones:
        if "MCH" in bone.name:
            continue
        sliders = [f'["{key}"]' for key in [*bone.keys()] if key.startswith("IK ")]
        for path in ("location", "rotation_quaternion", *sliders):
            bone.keyframe_insert(path, frame=1)
    action = ob.animation_data.action
    ob.animation_data.action = None
    action.flip_with_pose(ob)
    ob.pose.apply_pose_from_action(action, evaluation_time=1)


def mirror_both(ob):
    names = [bone.name for bone in ob.pose.bones if bone.planar_ik_limb]
    rigs.click(ob, *names)
    assert bpy.ops.pose.planar_ik_mirror() == {"FINISHED"}


@pytest.mark.parametrize("what", [paste_flipped, apply_flipped, mirror_both], ids=lambda what: what.__name__)
@pytest.mark.parametrize(("mode", "knee", "count"), LIMBS)
def test_both_sides_become_each_other(legs, what, mode, knee, count):
    ob = legs(mode, knee, count)
    rng = random.Random(f"{mode}{knee}{count}")
    for _ in range(2):
        pose(ob, count, rng)
        if what == mirror_both:  # of the limbs alone
            ob.pose.bones["hips"].rotation_quaternion = (1, 0, 0, 0)
            update(ob)
        before = joints(ob, count)
        what(ob)
        update(ob)
        assert np.abs(joints(ob, count) - before[::-1] * ACROSS).max() < 2e-5


@pytest.mark.parametrize(("mode", "knee", "count"), LIMBS)
def test_outwards_is_positive(legs, mode, knee, count):
    ob = legs(mode, knee, count)
    bare = joints(ob, count)
    for side in (".L", ".R"):
        ob.pose.bones[LAST[count] + side]["IK Swivel"] = 0.4
    update(ob)
    left, right = (joints(ob, count) - bare)[:, 1, 0]
    assert left > 0.003
    assert right < -0.003


BENDS = ("REST", "POSED", "STRAIGHT")


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize(("mode", "knee", "count"), LIMBS)
def test_symmetrize(legs, addon, mode, knee, count, bend):
    """Also where the reference is a pose, and where a straight limb bends about some axis of its own."""
    rng = random.Random(f"{mode}{knee}{count}{bend}")
    ob = biped(count)
    rigs.activate(ob, "EDIT")
    bones = ob.data.edit_bones
    for name in ("toe.R", "foot.R", "shin.R", "thigh.R"):
        bones.remove(bones[name])
    for name in ("thigh.L", "shin.L", "foot.L"):
        bones[name].roll = rng.uniform(-3.0, 3.0)
        if bend == "STRAIGHT":
            bones[name].head.x = bones[name].tail.x = 0.1
            bones[name].head.y = bones[name].tail.y = 0.0
    bpy.ops.object.mode_set(mode="POSE")
    if bend == "POSED":
        first = ob.pose.bones["thigh.L" if count == 3 else "shin.L"]
        first.rotation_quaternion = Quaternion((1, 0.2, 0.3, 0.25)).normalized()
    legs(mode, knee, count, (".L",), ob)
    if bend == "STRAIGHT" and count == 2:
        assert {"bend_axis"} <= oracle.kept(ob.pose.bones[LAST[count] + ".L"]).keys()
    pose(ob, count, rng, (".L",))
    ob.pose.bones["hips"].rotation_quaternion = (1, 0, 0, 0)
    symmetrize(ob)
    if mode == "RIG":
        addon("tasks.modes").rebuild(bpy.context, [ob.pose.bones[LAST[count] + side] for side in (".L", ".R")])
    update(ob)
    left, right = joints(ob, count)
    assert np.abs(left * ACROSS - right).max() < 2e-5


def symmetrize(ob):
    rigs.activate(ob, "EDIT")
    for bone in ob.data.edit_bones:
        bone.select = bone.select_head = bone.select_tail = bone.name.endswith(".L") and "MCH" not in bone.name
    bpy.ops.armature.symmetrize()
    bpy.ops.object.mode_set(mode="POSE")
    for bone in ob.pose.bones:  # Blender leaves some poses of the other side unmirrored
        if bone.name.endswith(".L") and "MCH" not in bone.name:
            other = ob.pose.bones[bone.name[:-1] + "R"]
            w, x, y, z = bone.rotation_quaternion
            other.location = bone.location * Vector((-1, 1, 1))
            other.rotation_quaternion = (w, x, -y, -z)


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
@pytest.mark.parametrize("name", ["shin.R", "shin", "Left shin"])
def test_a_name_moves_no_knee(legs, addon, mode, name):
    """Of which side a limb is was decided when it was made."""
    ob = legs(mode, "FREE", 2, (".L",))
    last = ob.pose.bones["shin.L"]
    last["IK Swivel"] = 0.4
    if mode == "LIVE":  # Blender does not rename in paths to one number of several, as drivers read them
        last.planar_ik.twist = (0.3, -0.2)
    update(ob)
    before = rigs.matrices(ob, ["thigh.L", "shin.L", "foot.L"])
    ob.pose.bones["shin.R"].name = "other"
    last.name = name
    update(ob)
    for _ in range(2):
        assert np.abs(rigs.matrices(ob, ["thigh.L", name, "foot.L"]) - before).max() < 2e-5
        assert ob.pose.bones[name].planar_ik.message == "On target"
        rigs.click(ob, name)
        bpy.ops.pose.planar_ik_set(plane="POLE")
        bpy.ops.pose.planar_ik_set(plane="FREE")
        update(ob)


def test_sides_by_names(addon):
    side_of = addon("limb.names").side_sign
    left = ("shin.L", "shin.L.001", "l_shin", "LeftLeg", "leg_left", "mixamorig:LeftLeg", "LEFT shin", "Bone-L")
    right = ("shin.R", "shin.r.012", "R.shin", "RightLeg", "leg right", "mixamorig:RightLeg", "RIGHTshin", "Bone_r")
    none = ("shin", "tail", "lower", "l", "roll", "L", "tip", "middle.1")
    assert [side_of(name) for name in (*left, *right, *none)] == [1] * 8 + [-1] * 8 + [0] * 8
