"""Arms and legs as importers leave them are taken, stay where they are, and reach their targets."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest
from mathutils import Euler, Quaternion, Vector

from tests.blender import rigs

JOINTS = {
    "hips": ((0, 0, 100), ""),
    "thigh.L": ((10, 1, 95), "hips"),
    "shin.L": ((10, -2, 52), "thigh.L"),
    "shin_hand_twist.L": ((10, 0, 30), "shin.L"),
    "foot.L": ((11, 5, 10), "shin.L"),
    "toe.L": ((11, -8, 2), "foot.L"),
}
"""Where the bones begin, in hundredths, and what each hangs on; the twist bone is called so that it could be a hand."""


def imported(size, seed=0, without=()):
    """A leg on an armature that is turned and as small as its bones are large, with tails ``size`` times as far as the
    next joint and anywhere."""
    rng = random.Random(seed)
    bones = {}
    for name, (head, parent) in JOINTS.items():
        if name not in without:
            way = Vector((rng.gauss(0, 1), rng.gauss(0, 1), rng.gauss(0, 1))).normalized()
            bones[name] = (head, (Vector(head) + 40.0 * size * way)[:], parent)
    ob = rigs.rig(bones, {name: rng.uniform(-3, 3) for name in bones})
    ob.scale, ob.rotation_euler = (0.01,) * 3, Euler((1.5708, 0.0, 0.4))
    for name, turn in (("thigh.L", (0.3, 0.1, -0.2)), ("shin.L", (-0.4, 0.5, 0.1))):
        bone = ob.pose.bones[name]
        for frame in (1, 20):
            bone.rotation_quaternion = Euler([frame / 20 * angle for angle in turn]).to_quaternion()
            bone.keyframe_insert("rotation_quaternion", frame=frame)
            bone.keyframe_insert("scale", frame=frame)
    bpy.context.scene.frame_set(10)
    return ob


def taken(ob, addon):
    """The limb of a click on the shin, put on the rig; nothing moves."""
    at, segments = addon("finding.choosing").limb_at(ob.pose.bones["shin.L"])
    assert (at.name, segments) == ("shin.L", (1, 1))
    names = [name for name in JOINTS if name in ob.pose.bones]
    before = rigs.matrices(ob, names)
    lasts = addon("tasks.adding").add(bpy.context, [addon("tasks.adding").LimbRequest(at)]).limbs
    addon("tasks.modes").to_rig(bpy.context, lasts)
    assert (
        np.abs(rigs.matrices(ob, names) - before)[:, :3, 3].max() < 85.0 * 5e-4
    )  # as far as Add may be off where keys keep it
    return ob.pose.bones["shin.L"]


def tip(ob, last, addon):
    """Where the tip of a limb is, in the armature."""
    matrix = rigs.matrices(ob, [last.name])[0]
    return (matrix @ [*addon("limb.tips").tip_of(last), 1.0])[:3]


@pytest.mark.parametrize("size", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("seed", range(3))
def test_tails_are_anywhere(addon, size, seed):
    ob = imported(size, seed)
    last = taken(ob, addon)
    assert addon("limb.tips").foot_of(last).name == "foot.L"
    assert np.abs(tip(ob, last, addon) - rigs.matrices(ob, ["foot.L"])[0][:3, 3]).max() < 85.0 * 5e-5
    root = Vector(rigs.matrices(ob, ["thigh.L"])[0][:3, 3])
    for turn, distance in ((0.0, 60.0), (0.5, 40.0), (-0.9, 80.0)):
        place = root + Quaternion((1, 0, 0), turn) @ Vector((0, 0, -distance))
        rigs.put(ob.pose.bones["foot_ik.L"], ob.matrix_world @ place)
        bpy.context.view_layer.update()
        assert (Vector(tip(ob, last, addon)) - place).length < 85.0 * 5e-5


def test_a_shin_whose_foot_is_elsewhere_is_as_long_as_the_thigh(addon):
    ob = imported(0.01, without=("shin_hand_twist.L", "foot.L", "toe.L"))
    shape = addon("limb.rest_geometry").rest_geometry_of(taken(ob, addon))
    assert shape.lengths[1] == pytest.approx(shape.lengths[0], rel=1e-4)


def test_noise_about_straight_is_no_turn(addon):
    rng = random.Random(7)
    for _ in range(40):
        along = Vector([rng.uniform(-1.0, 1.0) for _ in range(3)]).normalized()
        a, b, c = (tuple(0.4 * k * along) for k in range(3))
        ob = rigs.rig({"thigh": (a, b, ""), "shin": (b, c, "thigh")})
        rest = addon("limb.rest_geometry").rest_geometry(ob.pose.bones["shin"], (1, 1))
        assert abs(rest.angles[0] - rest.angles[1]) < 1e-4
        bpy.data.objects.remove(ob)


@pytest.mark.parametrize("mute", [True, False])
def test_only_actions_in_effect_can_move_a_limb(addon, mute):
    ob = imported(1.0)
    rotations, ob.animation_data.action = ob.animation_data.action, None
    for frame in (1, 20):
        ob.pose.bones["shin.L"].location.x = frame - 1
        ob.pose.bones["shin.L"].keyframe_insert("location", frame=frame)
    track = ob.animation_data.nla_tracks.new()
    track.strips.new("other", 1, ob.animation_data.action)
    track.mute, ob.animation_data.action = mute, rotations
    ob.pose.bones["shin.L"].location.x = 0.0
    if mute:
        taken(ob, addon)
    else:
        with pytest.raises(addon("blender.types").Refused):
            taken(ob, addon)
