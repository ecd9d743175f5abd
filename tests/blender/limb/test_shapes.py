"""Limbs of three and four bones of any planar shape, also with joints beside their plane, through the tasks."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import oracle, rigs

pytestmark = pytest.mark.dear

SEEDS = range(2)


def names_of(count):
    return ["upper", *(f"middle.{k}" for k in range(1, count - 1)), "lower"]


def seen(last, count):
    """Joints in the world, and the whole matrices of the bones."""
    joints, _, _ = oracle.seen_of(rigs.evaluated(last.id_data), last.name, (1,) * count)
    return joints, rigs.matrices(last.id_data, names_of(count))


@pytest.fixture
def limb(add, addon):
    """A random limb, its last bone and length; with ``off``, its inner joints are moved beside the plane by up to so
    much of its length."""

    def make(seed, count, mode, knee="FREE", off=0.0):
        rng = random.Random(seed)
        ob = rigs.random_limb(rng, parents=rng.choice(("PLAIN", "SCALED", "MIRRORED")), count=count, anyhow=True)
        for bone in ob.pose.bones:
            if bone.name in names_of(count):
                bone.rotation_quaternion = (1, 0, 0, 0)
        if off:
            beside(ob, rng, count, off)
        last = ob.pose.bones["lower"]
        before = seen(last, count)
        add(ob, "lower", segments=(1,) * count, knee=knee, foot=False)
        if mode == "RIG":
            addon("tasks.modes").to_rig(bpy.context, [ob.pose.bones["lower"]])
        last = ob.pose.bones["lower"]
        return last, before, float(np.linalg.norm(np.diff(before[0], axis=0), axis=1).sum())

    return make


def beside(ob, rng, count, off):
    rigs.activate(ob, "EDIT")
    bones = [ob.data.edit_bones[name] for name in names_of(count)]
    joints = np.array([*(bone.head[:] for bone in bones), ob.data.edit_bones["foot"].head[:]])
    length, normal = (
        np.linalg.norm(np.diff(joints, axis=0), axis=1).sum(),
        Vector(np.linalg.svd(joints - joints[0])[2][2]),
    )
    for bone in bones[1:]:
        bone.head = bone.head + normal * rng.uniform(-off, off) * length
    bpy.ops.object.mode_set(mode="POSE")


def reach_for(last, share, rng):
    """Put the target at a share of the limb's length from its root, in any direction."""
    ob = last.id_data
    want = oracle.expected(last)
    way = Vector((rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1))).normalized()
    limb = last.planar_ik
    owner = limb.target.pose.bones[limb.subtarget] if limb.subtarget else limb.target
    rigs.put(owner, Vector(want.joints[0]) + way * share * want.length)
    bpy.context.view_layer.update()
    return oracle.expected(ob.pose.bones[last.name])


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("knee", ["FREE", "POLE"])
@pytest.mark.parametrize("off", [0.0, 0.15])
@pytest.mark.parametrize("count", [3, 4])
def test_nothing_moves_and_the_tip_follows(limb, count, off, knee, mode):
    for seed in SEEDS:
        last, before, length = limb(seed, count, mode, knee, off)
        joints, matrices = seen(last, count)
        assert np.abs(joints - before[0]).max() < 1e-4 * length
        assert np.abs(matrices - before[1]).max() < 1e-3
        rng = random.Random(seed)
        for share in (0.3, 0.6, 0.9, 1.0, 1.3):
            want = reach_for(last, share, rng)
            joints, _ = seen(last, count)
            assert last.planar_ik.reach == want.reach
            assert np.linalg.norm(joints - want.joints, axis=1).max() < 5e-4 * length
            assert np.linalg.norm(joints[-1] - want.joints[-1]) < 1e-5 * length
            if want.reach == "REACHED":
                assert np.linalg.norm(joints[-1] - want.target) < 1e-5 * length
            if share > 1.0:
                line = (joints[-1] - joints[0]) / np.linalg.norm(joints[-1] - joints[0])
                aside = np.linalg.norm(np.cross(joints - joints[0], line), axis=1)
                assert last.planar_ik.reach == "TOO_FAR"
                assert aside.max() < (off or 1e-5) * length
