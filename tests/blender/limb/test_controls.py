"""What controls look like and are called: judged by the joints and the mesh that they stand for."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Matrix, Vector

from tests.blender import characters, rigs


def drawn(ob, name):
    """The corners of what a control bone is drawn as, in the armature at rest."""
    bone = ob.pose.bones[name]
    turn = bone.custom_shape_rotation_euler.to_quaternion()
    in_bone = Matrix.LocRotScale(bone.custom_shape_translation, turn, bone.custom_shape_scale_xyz)
    assert not bone.use_custom_shape_bone_size
    return np.array([(bone.bone.matrix_local @ in_bone @ v.co)[:] for v in bone.custom_shape.data.vertices])


def skinned(ob, bone, low, high):
    """A box of mesh that a bone deforms."""
    corners = [(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    mesh = bpy.data.meshes.new("skin")
    mesh.from_pydata(corners, [], [])
    skin = bpy.data.objects.new("skin", mesh)
    bpy.context.collection.objects.link(skin)
    skin.vertex_groups.new(name=bone).add(range(8), 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = ob


@pytest.mark.parametrize("has_mesh", [False, True])
def test_a_foot_has_a_sole_on_the_floor(add, has_mesh):
    ob = rigs.biped()
    if has_mesh:
        skinned(ob, "foot.L", (0.04, -0.22, 0.01), (0.16, 0.08, 0.09))
    add(ob, "shin.L")
    sole, floor = drawn(ob, "foot_ik.L"), 0.01 if has_mesh else 0.0
    assert np.abs(sole[:, 2] - floor).max() < 1e-5
    heel, toe = (0.08, -0.22) if has_mesh else (0.02, -0.2)
    assert sole[:, 1].max() > heel
    assert sole[:, 1].min() < toe
    assert np.ptp(sole[:, 1]) < 1.6 * (heel - toe)
    assert sole[:, 0].mean() == pytest.approx(0.1, abs=1e-5)
    width = 0.12 if has_mesh else 0.4 * (heel - toe)
    assert width < np.ptp(sole[:, 0]) < 1.6 * width
    assert (ob.data.bones["foot_ik.L"].head_local - ob.data.bones["foot.L"].head_local).length < 1e-6  # the ankle


def test_a_sole_points_where_the_toes_do(add):
    """Not at a corner of the shoe, and wherever the toes point."""
    ob = rigs.biped()
    skinned(ob, "foot.L", (0.02, -0.1, 0.0), (0.18, 0.3, 0.09))
    skinned(ob, "toe.R", (-0.4, -0.03, 0.0), (-0.1, 0.07, 0.09))
    add(ob, "shin.L", "shin.R")
    sizes = [np.ptp(drawn(ob, f"foot_ik.{side}"), axis=0)[:2] for side in "LR"]
    assert sizes[0] == pytest.approx((0.16 * 1.15, 0.4 * 1.15), abs=0.01)
    assert sizes[1] == pytest.approx((0.3 * 1.15, 0.1 * 1.15), abs=0.01)


@pytest.mark.parametrize("name", ["cat", "wolf", "horse"])
def test_front_paws_are_on_the_ground_as_hind_paws_are(add, addon, name):
    ob = characters.metarig(name)
    lasts = sorted(end for end in characters.METARIGS[name] if end.endswith(".L"))
    for last in lasts:
        add(ob, last, segments=addon("finding.choosing").limb_at(ob.pose.bones[last])[1])
    limbs = [ob.pose.bones[last].planar_ik for last in lasts]
    for limb in limbs:
        sole = drawn(ob, limb.subtarget)
        assert len(sole) == 32
        assert np.abs(sole[:, 2] - sole[0, 2]).max() < 1e-5
        assert abs(sole[0, 2]) < 0.02 * ob.dimensions[2]
        assert drawn(ob, limb.pole_subtarget)[:, 2].min() > 0.02 * ob.dimensions[2]
        pole = ob.pose.bones[limb.pole_subtarget]
        assert (pole.head - pole.bone.head_local).length < 1e-4 * ob.dimensions[2]  # it rests as the limb does
    assert len({limb.pole_subtarget for limb in limbs} | {limb.subtarget for limb in limbs}) == 4
    assert not any(".0" in limb.pole_subtarget for limb in limbs)  # numbered by Blender


def test_a_hand_has_a_box_around_it(add):
    ob = rigs.biped()
    add(ob, "forearm.R")
    box, hand = drawn(ob, "hand_ik.R"), ob.data.bones["hand.R"]
    for end in (hand.head_local, hand.tail_local):
        assert (box.min(axis=0) < end[:]).all()
        assert (end[:] < box.max(axis=0)).all()
    assert np.ptp(box, axis=0).max() < 2.0 * hand.length


def test_the_box_lies_along_a_hand_whose_bone_points_elsewhere(add):
    """As importers leave them."""
    ob, low, high = rigs.biped(), np.array((-0.93, -0.05, 1.35)), np.array((-0.68, 0.05, 1.41))
    skinned(ob, "hand.R", low, high)
    rigs.activate(ob, "EDIT")
    hand = ob.data.edit_bones["hand.R"]
    hand.tail = hand.head + 0.1 * Vector((0.05, 1.0, 0.05))
    rigs.activate(ob)
    add(ob, "forearm.R")
    box, edges = drawn(ob, "hand_ik.R"), ob.pose.bones["hand_ik.R"].custom_shape.data.edges
    longest = max((box[a] - box[b] for a, b in (edge.vertices for edge in edges)), key=np.linalg.norm)
    along = (low + high) / 2.0 - ob.data.bones["hand.R"].head_local
    assert abs(longest @ along) > 0.95 * np.linalg.norm(longest) * np.linalg.norm(along)


def test_other_tips_have_a_small_cube_and_flat_rigs_a_square(add):
    ob = rigs.rig({"up": ((0, 0, 1), (0, 0.1, 0.5), ""), "low": ((0, 0.1, 0.5), (0, 0, 0), "up")})
    (last,) = add(ob, "low", knee="FREE")
    cube = drawn(ob, last.planar_ik.subtarget)
    assert np.ptp(cube, axis=0) == pytest.approx(0.1 * 1.02, abs=0.01)
    assert cube.mean(axis=0) == pytest.approx(0.0, abs=1e-6)
    flat = rigs.puppet()
    (last,) = add(flat, [*flat.pose.bones.keys()][-1])
    square = drawn(flat, last.planar_ik.subtarget)
    assert np.ptp(square[:, 1]) < 1e-6
    assert len(square) == 4


@pytest.mark.parametrize("seed", range(4))
def test_a_pole_is_never_over_the_knee_from_where_it_points(add, seed):
    rng = random.Random(seed)
    ob = rigs.biped()
    for name in ("thigh.L", "shin.L"):
        ob.pose.bones[name].rotation_quaternion = rigs.turn(rng, 0.2 * seed)
    add(ob, "shin.L", knee="POLE")
    bone, knee = ob.data.bones["knee_pole.L"], np.array(ob.data.bones["shin.L"].head_local)
    ball = drawn(ob, "knee_pole.L")
    ahead = np.array(bone.head_local) - knee
    assert np.ptp(ball, axis=0).max() < 0.1 * np.linalg.norm(ahead)
    from_front = (ball - knee)[:, [0, 2]]
    assert np.linalg.norm(from_front, axis=1).min() > np.ptp(ball, axis=0).max()


def test_left_is_blue_and_right_is_red(add):
    ob = rigs.biped()
    add(ob, "shin.L", "shin.R", knee="POLE")
    colours = {side: ob.data.bones[f"foot_ik.{side}"].color.palette for side in "LR"}
    assert colours == {"L": "THEME04", "R": "THEME01"}
    for side, strongest in (("L", 2), ("R", 0)):
        colour = ob.data.bones[f"knee_pole.{side}"].color.custom.normal
        assert max(range(3), key=lambda i: colour[i]) == strongest
        assert min(colour) > 0.3  # lighter


STYLES = {
    ("thigh.L", "shin.L", "foot.L"): ("foot_ik.L", "knee_pole.L"),
    ("thigh_R", "shin_R", "foot_R"): ("foot_ik_R", "knee_pole_R"),
    ("l_upperarm", "l_lowerarm", "l_hand"): ("l_hand_ik", "l_elbow_pole"),
    ("Left arm", "Left elbow", "Left wrist"): ("Left wrist_ik", "Left elbow_pole"),
    ("LegLeft", "ShinLeft", "FootLeft"): ("FootIKLeft", "KneePoleLeft"),
    ("mixamorig:RightUpLeg", "mixamorig:RightLeg", "mixamorig:RightFoot"): ("RightFootIK", "RightKneePole"),
    ("front_thigh.L", "front_shin.L", "front_foot.L"): ("front_foot_ik.L", "front_knee_pole.L"),
    ("shin.R", "foot.R", "toe.R"): ("foot_ik.R", "knee_pole.R"),
    ("femur.2.L", "tibia.2.L", ""): ("tibia_ik.2.L", "knee_pole.2.L"),
    ("J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_L_Foot"): ("J_Bip_L_Foot_ik", "J_Bip_L_Knee_pole"),
    ("boom", "stick", ""): ("stick_ik", "stick_pole"),
    ("thigh.L", "shin.L", "Fuss"): ("Fuss_ik.L", "knee_pole.L"),
    ("Bone.001", "Bone.002", "Bone.003"): ("Bone.003_ik", "Bone.003_pole"),
}
"""Bones of a limb and its foot, and what its controls are called."""


@pytest.mark.parametrize("names", STYLES)
def test_names_are_as_riggers_say_them(add, names):
    places = [(0.1, 0, 1), (0.1, -0.05, 0.5), (0.1, 0, 0.1), (0.1, -0.15, 0)]
    bones = {
        name: (head, tail, parent)
        for name, head, tail, parent in zip(names, places, places[1:], ("", *names), strict=False)
        if name
    }
    ob = rigs.rig(bones)
    (last,) = add(ob, names[1], knee="POLE")
    assert (last.planar_ik.subtarget, last.planar_ik.pole_subtarget) == STYLES[names]
    own = names[1].rpartition(":")[2]
    for name in STYLES[names]:  # what Blender's own mirroring finds
        assert (bpy.utils.flip_name(name) != name) == (bpy.utils.flip_name(own) != own)
