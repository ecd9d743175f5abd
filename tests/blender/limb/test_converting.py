"""Convert keeps limbs where Blender's own IK constraint has them, Back gives everything back; Rigify's rigs go on with
their own panel."""

from __future__ import annotations

import random
from math import pi

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import rigs

LENGTH = 0.9
"""Of a leg of the biped, nearly."""


@pytest.fixture
def convert(addon):
    return lambda lasts, **how: addon("tasks.converting").convert(bpy.context, lasts, **how)


@pytest.fixture
def back(addon):
    return lambda ob: addon("tasks.converting").unconvert(
        bpy.context, [b for b in ob.pose.bones if addon("limb.storage").is_converted(b)]
    )


@pytest.fixture
def to_rig(addon):
    return lambda ob: addon("tasks.modes").to_rig(bpy.context, addon("limb.storage").limbs_of(ob))


def leg(pole=False, chain=2, owner="shin.L", **settings):
    """A biped whose left leg has Blender's own IK constraint, at rest."""
    ob = rigs.biped()
    rigs.activate(ob, "EDIT")
    for name, head in (("foot_ik", (0.1, 0.02, 0.1)), ("knee_ik", (0.12, -1.0, 0.55))):
        bone = ob.data.edit_bones.new(name)
        bone.head, bone.tail = head, Vector(head) + Vector((0, 0, 0.1))
    bpy.ops.object.mode_set(mode="POSE")
    last = ob.pose.bones[owner]
    ik = last.constraints.new("IK")
    ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = ob, "foot_ik", chain, False
    if pole:
        ik.pole_target, ik.pole_subtarget, ik.pole_angle = ob, "knee_ik", -pi / 2
    for name, value in settings.items():
        setattr(ik, name, value)
    bpy.context.view_layer.update()
    return ob, last, ik


def joints(ob, names=("thigh.L", "shin.L", "foot.L")):
    return rigs.matrices(ob, names)[:, :3, 3]


def pose(ob, rng, most=0.15):
    for name in ("foot_ik", "knee_ik"):
        ob.pose.bones[name].location = [rng.uniform(-most, most) for _ in range(3)]
    ob.pose.bones["hips"].rotation_quaternion = rigs.turn(rng, 0.3)
    ob.pose.bones["foot_ik"].location.y += 0.15


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("pole", [False, True])
@pytest.mark.parametrize("where", ["REST", "POSED"])
def test_the_limb_stays_where_the_constraint_has_it(convert, back, to_rig, mode, pole, where):
    ob, last, _ = leg(pole)
    if where == "POSED":
        pose(ob, random.Random(1))
    snapshot, before = rigs.snapshot(), joints(ob)
    done = convert([last])
    assert done.limbs == [(ob, "shin.L")]
    if mode == "RIG":
        to_rig(ob)
    assert np.abs(joints(ob) - before).max() < 2e-4 * LENGTH  # the constraint itself is no better
    last = ob.pose.bones["shin.L"]
    now = rigs.evaluated(ob).pose.bones
    assert (now["shin.L"].tail - now["foot_ik"].head).length < 1e-5 * LENGTH
    assert last.planar_ik.reach == "REACHED"
    assert last.constraints["IK"].mute
    back(ob)
    assert not last.planar_ik.enabled
    assert np.abs(joints(ob) - before).max() < 1e-6
    assert rigs.snapshot() == snapshot


@pytest.mark.parametrize("how", ["SET", "KEYED", "DRIVEN"])
def test_influence_goes_along_and_comes_back(convert, back, how):
    ob, last, ik = leg()
    ik.influence = 0.25
    if how == "KEYED":
        for frame, value in ((1, 0.0), (11, 1.0)):
            ik.influence = value
            ik.keyframe_insert("influence", frame=frame)
        bpy.context.scene.frame_set(6)
    elif how == "DRIVEN":
        ik.driver_add("influence").driver.expression = "0.25"
    bpy.context.view_layer.update()
    before = ik.influence
    convert([last])
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    assert abs(last.planar_ik.influence - before) < 1e-6
    assert 0.0 < before < 1.0
    paths = [curve.data_path for curve in ob.animation_data.drivers] if how == "DRIVEN" else []
    assert paths == ['pose.bones["shin.L"]["IK Influence"]'] * len(paths)
    back(ob)
    bpy.context.scene.frame_set(bpy.context.scene.frame_current)
    assert abs(ik.influence - before) < 1e-6
    if how == "KEYED":
        bpy.context.scene.frame_set(11)
        assert ik.influence == 1.0
    elif how == "DRIVEN":
        assert [curve.data_path for curve in ob.animation_data.drivers] == [ik.path_from_id("influence")]


def test_remove_is_back(convert, addon):
    ob, last, _ = leg(pole=True, chain=2)
    before = rigs.snapshot()
    convert([last])
    addon("tasks.modes").remove(bpy.context, [ob.pose.bones["shin.L"]])
    assert rigs.snapshot() == before


def test_stretch_is_carried_over(convert, to_rig):
    ob, last, _ = leg(use_stretch=True)
    for bone in (last, last.parent):
        bone.ik_stretch = 0.1
    bpy.context.view_layer.update()
    convert([last])
    to_rig(ob)
    ob.pose.bones["foot_ik"].location.y = -0.4
    tail = joints(ob, ["foot.L"])[0]
    assert np.abs(tail - rigs.matrices(ob, ["foot_ik"])[0, :3, 3]).max() < 1e-4


def test_the_limit_of_a_knee_is_kept(convert, to_rig):
    ob, last, _ = leg()
    last.lock_ik_y = last.lock_ik_z = last.use_ik_limit_x = True
    axis = 1.0 if joints_turn(last) > 0 else -1.0
    last.ik_min_x, last.ik_max_x = (-0.1, 0.8) if axis > 0 else (-0.8, 0.1)
    bpy.context.view_layer.update()
    convert([last])
    to_rig(ob)
    angles = []
    for up in (0.7, -0.7):
        ob.pose.bones["foot_ik"].location.y = up
        root, knee, tip = joints(ob)
        angles.append((Vector(root) - Vector(knee)).angle(Vector(tip) - Vector(knee)))
    rest = pi - 0.178  # of the biped's knee
    assert abs(angles[0] - (rest - 0.8)) < 0.01
    assert abs(angles[1] - (rest + 0.1)) < 0.01


def joints_turn(last):
    """In which sense a turn of the knee about its X axis bends it."""
    thigh, shin = last.parent.bone, last.bone
    way = thigh.matrix_local.col[1].xyz.cross(shin.matrix_local.col[1].xyz)
    return way.dot(shin.matrix_local.col[0].xyz)


def _one_bone(ob, last, ik):
    ik.chain_count = 1


def _no_target(ob, last, ik):
    ik.target = None


def _turns(ob, last, ik):
    ik.use_rotation = True


def _switched(ob, last, ik):
    ik.keyframe_insert("mute", frame=1)


@pytest.mark.parametrize("setup", [_one_bone, _no_target, _turns, _switched])
def test_refusals(convert, addon, setup):
    ob, last, ik = leg()
    setup(ob, last, ik)
    before = rigs.snapshot()
    with pytest.raises(addon("blender.types").Refused):
        convert([last])
    assert rigs.snapshot() == before


# Rigify


def act(ob, rng, is_poled, swing):
    """A pose of the animator's controls."""
    for bone in ob.pose.bones:
        name = bone.name
        if "pole_vector" in bone:
            bone["pole_vector"], bone["IK_Stretch"] = is_poled, 1.0
        if name.startswith(("hand_ik.", "foot_ik.", "front_foot_ik.", "torso")) or "_ik_target" in name[:20]:
            bone.location = [rng.uniform(-0.06, 0.06) for _ in range(3)]
        if name.startswith(("thigh_ik.", "upper_arm_ik.")) and bone.rotation_mode == "ZXY":
            bone.rotation_euler[1] = rng.uniform(-swing, swing)
    ob.update_tag()


def shown(ob):
    bones = [bone.name for bone in ob.pose.bones if bone.name.startswith(("ORG-", "MCH-shin_ik", "MCH-forearm_ik"))]
    return rigs.matrices(ob, bones)


@pytest.mark.xdist_group("rigify")
@pytest.mark.parametrize(("metarig", "limbs", "allowed"), [("basic_human", 4, 0.003), ("basic_quadruped", 10, 0.02)])
def test_rigify_goes_on_with_its_own_panel(generated, convert, back, to_rig, addon, metarig, limbs, allowed):
    ob = generated(metarig)
    for bone in ob.pose.bones:  # else the constraint changes the bones' lengths also within reach
        for each in bone.constraints:
            if each.type == "IK":
                each.use_stretch = False
    states = [
        (seed, is_poled, swing) for seed in (1, 2, 3) for is_poled, swing in ((False, 0.0), (False, 0.6), (True, 0.6))
    ]
    act(ob, random.Random(), False, 0.0)
    for bone in ob.pose.bones:
        bone.location = (0, 0, 0)
    rest, poses, drivers = shown(ob), [], {curve.data_path for curve in ob.animation_data.drivers}
    keys = {bone.name: [*bone.keys()] for bone in ob.pose.bones}
    for seed, is_poled, swing in states:
        act(ob, random.Random(seed), is_poled, swing)
        poses.append(shown(ob))
    act(ob, random.Random(), False, 0.0)
    for bone in ob.pose.bones:
        bone.location = (0, 0, 0)
    found = addon("finding.constraints").candidates(ob)
    assert len(convert(found).limbs) == limbs == len(found)
    to_rig(ob)
    assert np.abs(shown(ob) - rest).max() < 1e-4
    for state, before in zip(states, poses, strict=True):
        act(ob, random.Random(state[0]), *state[1:])
        assert np.abs(shown(ob) - before)[:, :3, 3].max() < allowed, state
    with pytest.raises(addon("blender.types").Refused) as refused:
        addon("tasks.snapping").switch(bpy.context, [ob.pose.bones[found[0].name]])
    assert "IK_FK" in refused.value.message.values.values()
    back(ob)
    for state, before in zip(states, poses, strict=True):
        act(ob, random.Random(state[0]), *state[1:])
        assert np.abs(shown(ob) - before).max() < 1e-6
    assert {curve.data_path for curve in ob.animation_data.drivers} == drivers
    assert not any(curve.mute for curve in ob.animation_data.drivers)
    assert {bone.name: [*bone.keys()] for bone in ob.pose.bones} == keys
