"""Convert where the foot has the IK constraint, with Use Tail off: the limb is thigh and shin, and nothing moves."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import rigs
from tests.blender.limb import test_converting

NAMES = ("thigh.L", "shin.L", "foot.L", "toe.L")
LENGTH = 0.9


def leg(pole=False, gap=0.0, chain=2):
    """A biped whose left foot has Blender's own IK constraint, for the bones above it. ``gap`` is how far from the
    shin's tail the foot begins."""
    ob, _, _ = test_converting.leg(pole, chain, "foot.L", use_tail=False)
    if gap:
        rigs.activate(ob, "EDIT")
        ob.data.edit_bones["foot.L"].use_connect = False
        ob.data.edit_bones["foot.L"].head += Vector((0, gap, 0))
        rigs.activate(ob)
    foot = ob.pose.bones["foot.L"]
    turning = foot.constraints.new("COPY_ROTATION")
    turning.target, turning.subtarget = ob, "foot_ik"
    return ob, foot


def pose(ob, rng, most=0.12):
    for name in ("foot_ik", "knee_ik"):
        ob.pose.bones[name].location = [rng.uniform(-most, most) for _ in range(3)]
    ob.pose.bones["foot_ik"].location.y += 0.2
    ob.pose.bones["foot_ik"].rotation_quaternion = rigs.turn(rng, 0.3)
    ob.pose.bones["hips"].rotation_quaternion = rigs.turn(rng, 0.2)


def tip_off(ob):
    now = rigs.evaluated(ob).pose.bones
    return (now["shin.L"].tail - now["foot_ik"].head).length / LENGTH


@pytest.fixture
def converting(addon):
    return addon("tasks.converting")


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("pole", [False, True])
@pytest.mark.parametrize("gap", [0.0, 0.03])
def test_thigh_and_shin_become_the_limb(converting, capfd, mode, pole, gap):
    ob, foot = leg(pole, gap)
    pose(ob, random.Random(1))
    snapshot, before = rigs.snapshot(), rigs.matrices(ob, NAMES)
    poses = []
    for seed in range(2, 6):
        pose(ob, random.Random(seed))
        poses.append(rigs.matrices(ob, NAMES))
    pose(ob, random.Random(1))
    done = converting.convert(bpy.context, [foot], mode=mode)
    assert done.limbs == [(ob, "shin.L")]
    assert done.refused == []
    last, foot = ob.pose.bones["shin.L"], ob.pose.bones["foot.L"]
    assert (last.planar_ik.mode, last.planar_ik.reach) == (mode, "REACHED")
    assert foot.constraints["IK"].mute
    assert np.abs(rigs.matrices(ob, NAMES) - before).max() < 5e-4  # the constraint itself is no better
    for seed, there in zip(range(2, 6), poses, strict=True):
        pose(ob, random.Random(seed))
        assert tip_off(ob) < 1e-5
        if pole:  # without one, the constraint's knee is where the FK pose of each frame has it
            assert np.abs(rigs.matrices(ob, NAMES) - there).max() < 5e-3
    pose(ob, random.Random(1))
    bpy.context.view_layer.update()
    converting.unconvert(bpy.context, [ob.pose.bones["shin.L"]])
    assert np.abs(rigs.matrices(ob, NAMES) - before).max() < 1e-6
    assert rigs.snapshot() == snapshot
    assert "cycle" not in "".join(capfd.readouterr()).lower()


@pytest.mark.parametrize("how", ["KEYED", "DRIVEN"])
def test_what_animates_influence_goes_along_and_comes_back(converting, how):
    ob, foot = leg()
    ik = foot.constraints["IK"]
    if how == "KEYED":
        for frame, value in ((1, 0.0), (11, 1.0)):
            ik.influence = value
            ik.keyframe_insert("influence", frame=frame)
    else:
        ik.driver_add("influence").driver.expression = "0.25"
    bpy.context.scene.frame_set(6)
    before = ik.influence
    assert 0.0 < before < 1.0
    converting.convert(bpy.context, [foot], mode="RIG")
    bpy.context.scene.frame_set(6)
    assert abs(ob.pose.bones["shin.L"].planar_ik.influence - before) < 1e-6
    ob.pose.bones["foot.L"].name = "Fuss"
    converting.unconvert(bpy.context, [ob.pose.bones["shin.L"]])
    bpy.context.scene.frame_set(6)
    ik = ob.pose.bones["Fuss"].constraints["IK"]
    assert not ik.mute
    assert abs(ik.influence - before) < 1e-6


@pytest.mark.parametrize("chain", [1, 5])
def test_its_bones_are_counted_from_the_shin_on(converting, addon, chain):
    _, foot = leg(chain=chain)
    with pytest.raises(addon("blender.types").Refused, match=f"has {chain} bones"):
        converting.convert(bpy.context, [foot])
