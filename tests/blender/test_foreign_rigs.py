"""Rigs that nobody here made: Rigify's metarigs, and people walking, captured."""

from __future__ import annotations

import importlib
from pathlib import Path

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender.rigs import (
    activate,
    assert_joints,
    assert_on_target,
    expected,
    frame_of,
    joints,
    make_empty,
    make_rig,
    press,
    update,
)

CAPTURES = Path(__file__).parents[3] / "shared" / "mocap"
METARIGS = {"human": "human", "horse": "Animals.horse", "wolf": "Animals.wolf", "bird": "Animals.bird"}
COARSE = 3e-7
"""What single precision leaves of a place, in distances from the origin: a metarig's small bones are far from it."""

LIMB_ENDS = {
    "walk01": ("RightLeg", "LeftLeg", "RightForeArm", "LeftForeArm"),
    "mixamo_names": (
        "mixamorig:RightLeg",
        "mixamorig:LeftLeg",
        "mixamorig:RightForeArm",
        "mixamorig:LeftForeArm",
    ),
}


def enable(name):
    """Enable one of Blender's own add-ons."""
    if name not in bpy.context.preferences.addons:
        bpy.ops.preferences.addon_enable(module=name)


def metarig(kind):
    """One of Rigify's metarigs, as its menu makes it."""
    enable("rigify")
    ob = make_rig((), kind)
    bpy.ops.object.mode_set(mode="EDIT")
    importlib.import_module(f"rigify.metarigs.{METARIGS[kind]}").create(ob)
    bpy.ops.object.mode_set(mode="OBJECT")
    update()
    return ob


def limbs(ob):
    """The lower bones of all pairs of connected bones of some length, of which no two share a bone."""
    found, taken = [], set()
    for bone in ob.data.bones:
        is_pair = bone.parent and bone.use_connect and len(bone.parent.children) == 1
        if is_pair and not {bone.name, bone.parent.name} & taken:
            found.append(bone.name)
            taken |= {bone.name, bone.parent.name}
    return found


@pytest.mark.parametrize("kind", METARIGS)
def test_every_limb_of_a_metarig(kind):
    ob = metarig(kind)
    lowers = limbs(ob)
    assert len(lowers) >= 4
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            constraint.mute = True
    for lower in lowers:
        before = joints(ob, lower)
        press(ob, "add", lower, any_bones=True)
        assert (lower, ob.pose.bones[lower].planar_ik.message) == (lower, "")
        assert_unmoved(joints(ob, lower), before)
        bpy.ops.pose.planar_ik_remove()


def assert_unmoved(now, before):
    """The joints are where they were, but for the rounding of the target, which moves a straight limb's knee most."""
    upper, lower = before.knee - before.root, before.tip - before.knee
    r1, r2 = np.linalg.norm(upper), np.linalg.norm(lower)
    rounding = 3e-6 * (r1 + r2) + 2 * COARSE * np.abs(before.tip).max()
    bent = max(np.linalg.norm(np.cross(upper, lower)) / (r1 * r2), (rounding / (r1 + r2)) ** 0.5)
    assert np.linalg.norm(now.root - before.root) <= rounding
    assert np.linalg.norm(now.tip - before.tip) <= rounding
    assert np.linalg.norm(now.knee - before.knee) <= rounding / bent


@pytest.mark.parametrize("kind", METARIGS)
def test_the_limbs_of_a_metarig_go_where_the_law_of_cosines_says(kind):
    ob = metarig(kind)
    for bone in ob.pose.bones:
        for constraint in bone.constraints:
            constraint.mute = True
    for lower in limbs(ob)[::3]:
        frame = frame_of(ob, lower)
        target = make_empty(f"to {lower}", frame.target(0.6, 0.4))
        chain = ob.pose.bones[lower].planar_ik
        chain.target, chain.enabled = target, True
        update()
        assert chain.message == ""
        coarse = COARSE * np.abs(joints(ob, lower).tip).max() / sum(frame.lengths)
        assert_joints(joints(ob, lower), expected(frame, target.location), 3e-6 + coarse, 1e-4)


def captured(name):
    """A captured motion, and the joints of its limbs in every frame."""
    enable("io_anim_bvh")
    path = CAPTURES / f"{name}.bvh"
    if not path.exists():
        pytest.skip(f"{path} is not on this machine")
    bpy.ops.import_anim.bvh(filepath=str(path), update_scene_duration=True)
    ob = bpy.context.view_layer.objects.active
    frames = range(1, int(ob.animation_data.action.frame_range[1]) + 1)
    seen = []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        seen.append({lower: joints(ob, lower) for lower in LIMB_ENDS[name]})
    return ob, frames, seen


def followers(seen, lower, joint):
    """An empty that goes with a captured joint."""
    empty = make_empty(f"{joint} of {lower}")
    for frame, limb in enumerate(seen, 1):
        empty.location = getattr(limb[lower], joint)
        empty.keyframe_insert("location", frame=frame)
    return empty


@pytest.mark.parametrize("name", LIMB_ENDS)
def test_captured_limbs_come_back_from_their_ends_and_middles(name):
    ob, frames, seen = captured(name)
    for lower in LIMB_ENDS[name]:
        chain = ob.pose.bones[lower].planar_ik
        chain.target, chain.pole_target = followers(seen, lower, "tip"), followers(seen, lower, "knee")
        chain.plane, chain.enabled = "POLE", True
    last = {}
    for frame, wanted in zip(frames, seen, strict=True):
        bpy.context.scene.frame_set(frame)
        for lower in LIMB_ENDS[name]:
            assert ob.pose.bones[lower].planar_ik.message == ""
            assert_joints(joints(ob, lower), wanted[lower], 1e-5, 1e-5)
            turned = ob.pose.bones[lower].matrix.to_quaternion()
            if lower in last:
                assert abs(turned.dot(last[lower])) > 0.9
            last[lower] = turned


def test_the_knees_of_a_walk_bend_forward_in_the_rest_plane():
    ob, frames, seen = captured("walk01")
    bpy.context.scene.frame_set(1)
    for lower in ("RightLeg", "LeftLeg"):
        chain = ob.pose.bones[lower].planar_ik
        chain.target, chain.enabled = followers(seen, lower, "tip"), True
    normals = {lower: frame_of(ob, lower).normal for lower in ("RightLeg", "LeftLeg")}
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        hips = ob.pose.bones["Hips"]
        facing = ob.matrix_world.to_3x3() @ hips.matrix.to_3x3() @ forward_of(ob)
        for lower, normal in normals.items():
            assert ob.pose.bones[lower].planar_ik.message == ""
            root, knee, tip = joints(ob, lower)
            off_target = in_plane_distance(ob, lower, normal, seen[frame - 1][lower].tip)
            limb = np.linalg.norm(knee - root) + np.linalg.norm(tip - knee)
            assert ob.pose.bones[lower].planar_ik.reach != "REACHED" or off_target < 1e-5 * limb
            line = (tip - root) / np.linalg.norm(tip - root)
            off = (knee - root) - line * ((knee - root) @ line)
            assert Vector(off).dot(facing) > -1e-4 * limb


def forward_of(ob):
    """The way a person at rest looks, in the axes of the hips: where the feet point."""
    foot = ob.data.bones["RightFoot"]
    way = foot.tail_local - foot.head_local
    up = ob.data.bones["Hips"].matrix_local.inverted().to_3x3()
    way[1 if abs(way[2]) > abs(way[1]) else 2] = 0
    return (up @ way).normalized()


@pytest.mark.parametrize("kind", METARIGS)
def test_limbs_that_depend_on_each_other_switched_on_all_at_once(kind):
    ob = metarig(kind)
    for lower in limbs(ob):
        chain = ob.pose.bones[lower].planar_ik
        chain.target = make_empty(lower, ob.pose.bones[lower].tail)
        chain.target.location.z += 0.01
        chain.enabled = True
    update()
    bpy.context.scene.frame_set(3)
    assert {ob.pose.bones[lower].planar_ik.reach for lower in limbs(ob)} <= {
        "REACHED",
        "TOO_FAR",
        "OFF_PLANE",
        "INVALID",
    }


def in_plane_distance(ob, lower, normal, place):
    """How far the tip is from a place, seen along the normal of the limb's rest plane."""
    upper = ob.pose.bones[lower].parent
    frame = upper.parent.matrix @ upper.parent.bone.matrix_local.inverted() @ upper.bone.matrix_local
    into = (ob.matrix_world @ frame).inverted().to_3x3()
    way = into @ Vector(joints(ob, lower).tip - place)
    way -= Vector(normal) * way.dot(Vector(normal))
    return way.length


def test_an_added_chain_on_a_captured_walk_keeps_the_pose_of_its_frame():
    ob, _, seen = captured("walk01")
    bpy.context.scene.frame_set(17)
    activate(ob)
    press(ob, "add", "RightLeg")
    assert_on_target(ob, ob.pose.bones["RightLeg"].planar_ik.target, "RightLeg", within=3e-6)
    assert_joints(joints(ob, "RightLeg"), seen[16]["RightLeg"], 1e-5, 1e-4)
