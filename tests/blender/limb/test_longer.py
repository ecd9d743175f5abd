"""Limbs of three and four bones through every task: added, snapped, switched, mirrored, converted and back."""

from __future__ import annotations

from itertools import pairwise
from math import pi

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender import rigs

pytestmark = pytest.mark.dear

SIDES = {".L": 1.0, ".R": -1.0}
LEG = {3: ("thigh", "shin", "hock"), 4: ("blade", "arm", "elbow", "pastern")}
JOINTS = [(0.0, 0.1, 1.0), (0.0, -0.15, 0.65), (0.0, 0.2, 0.35), (0.0, 0.1, 0.08)]
"""Of a dog's hind leg."""

CURLED = [(0.0, 0.1, 1.0), (0.0, -0.2, 0.7), (0.0, -0.2, 0.35), (0.0, 0.05, 0.1)]
"""Of one that bends to one side only, as a finger does."""


@pytest.fixture
def dog():
    """A rig with hips and two legs of three or four bones, with feet."""

    def make(count=3, joints=JOINTS):
        places = [Vector(place) for place in joints]
        if count == 4:
            places.insert(0, Vector((0.0, -0.1, 1.3)))
        bones = {"root": ((0, 0, 0), (0, 0.3, 0), ""), "hips": ((0, -0.3, 1.3), (0, 0.1, 1.35), "root")}
        for side, x in SIDES.items():
            here = [(0.15 * x, place.y, place.z) for place in places]
            above = "hips"
            for k, name in enumerate(LEG[count]):
                bones[name + side] = (here[k], here[k + 1], above)
                above = name + side
            bones["foot" + side] = (here[-1], (0.15 * x, -0.1, 0.02), above)
        return rigs.rig(bones)

    return make


@pytest.fixture
def leg(dog, add, addon):
    """The last bone of a leg with IK, in a mode."""

    def make(count=3, mode="RIG", knee="FREE", joints=JOINTS, **options):
        name = LEG[count][-1] + ".L"

        def put():
            ob = dog(count, joints)
            add(ob, name, segments=(1,) * count, knee=knee, **options)
            if mode == "RIG":
                addon("tasks.modes").to_rig(bpy.context, [ob.pose.bones[name]])

        curls = "curled" if joints is CURLED else ""
        rigs.opened(f"longer {count} {mode} {knee} {curls} {options}", put)
        return bpy.data.objects["rig"].pose.bones[name]

    return make


def names_of(count, side=".L"):
    return [*(name + side for name in LEG[count]), "foot" + side]


def seen(ob, count=3, side=".L"):
    return rigs.matrices(ob, names_of(count, side))


def same(before, after, place=3e-5, turn=3e-3):
    assert np.abs(before - after)[:, :3, 3].max() < place
    assert np.abs(before - after)[:, :3, :3].max() < turn


@pytest.mark.parametrize("knee", ["FREE", "POLE"])
@pytest.mark.parametrize("count", [3, 4])
@pytest.mark.parametrize("joints", [JOINTS, CURLED])
def test_mirrored(leg, addon, joints, count, knee):
    last = leg(count, "RIG", knee, joints=joints)
    ob, limb = last.id_data, last.planar_ik
    control = ob.pose.bones[limb.subtarget]
    control.location = (0.1, -0.1, 0.2)
    limb.ankle, limb.swivel = 0.3, 0.4
    addon("tasks.mirroring").mirror(bpy.context, [last])
    bpy.context.view_layer.update()
    left, right = (seen(ob, count, side)[:, :3, 3] for side in SIDES)
    assert np.abs(left * (-1.0, 1.0, 1.0) - right).max() < 3e-5


@pytest.mark.parametrize("pole", [False, True])
@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("count", [3, 4])
@pytest.mark.parametrize("joints", [JOINTS, CURLED])
def test_converted_and_back(dog, addon, joints, count, mode, pole):
    ob = dog(count, joints=joints)
    last = ob.pose.bones[names_of(count)[-2]]
    for name in ("foot_ik", "knee_ik"):
        rigs.empty(name, rigs.place(ob, "foot.L") if name == "foot_ik" else (0.15, -1.5, 0.6))
    ik = last.constraints.new("IK")
    ik.target, ik.chain_count, ik.use_stretch = bpy.data.objects["foot_ik"], count, False
    if pole:
        ik.pole_target, ik.pole_angle = bpy.data.objects["knee_ik"], -pi / 2
    before = seen(ob, count)
    addon("tasks.converting").convert(bpy.context, [last])
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [ob.pose.bones[last.name]])
    last = ob.pose.bones[names_of(count)[-2]]
    same(before, seen(ob, count), 2e-4, 1e-2)
    bpy.data.objects["foot_ik"].location.z += 0.2
    bpy.context.view_layer.update()
    assert last.planar_ik.reach == "REACHED"
    addon("tasks.converting").unconvert(bpy.context, [last])
    assert [each.mute for each in ob.pose.bones[names_of(count)[-2]].constraints] == [False]


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_knee_limits_hold_every_inner_angle(leg, mode):
    last = leg(3, mode, foot=False)
    ob, limb = last.id_data, last.planar_ik
    limb.min_angle, limb.max_angle = 1.5, 2.6
    control = ob.pose.bones[limb.subtarget]
    for height in (-0.6, -0.1, 0.2, 0.5, 0.8):
        control.location = (0.0, 0.0, height)
        joints = [rigs.place(ob, name) for name in names_of(3)]
        ways = [b - a for a, b in pairwise(joints)]
        inner = [pi - a.angle(b) for a, b in pairwise(ways)]
        assert min(inner) > 1.5 - 1e-3
        assert max(inner) < 2.6 + 1e-3


def test_what_is_far_from_one_plane_is_refused(dog, add, addon):
    ob = dog()
    rigs.activate(ob, "EDIT")
    ob.data.edit_bones["shin.L"].head = (2.15, 0.4, 0.65)
    ob.data.edit_bones["hock.L"].head = (0.15, 2.1, 0.35)
    bpy.ops.object.mode_set(mode="POSE")
    with pytest.raises(addon("blender.types").Refused) as refusal:
        add(ob, "hock.L", segments=(1, 1, 1))
    assert "beside its plane" in str(refusal.value)
    assert not ob.pose.bones["hock.L"].planar_ik.enabled


@pytest.mark.parametrize("clicked", ["thigh.L", "shin.L", "hock.L", "foot.L"])
def test_a_leg_with_a_hock_has_three_bones_by_itself(dog, addon, clicked):
    at = addon("finding.choosing").limb_at
    ob = dog()
    last, segments = at(ob.pose.bones[clicked])
    assert (last.name, segments) == ("hock.L", (1, 1, 1))
    last, segments = at(ob.pose.bones["shin.L"], 2)
    assert (last.name, segments) == ("shin.L", (1, 1))
    curled = dog(joints=CURLED).pose.bones
    assert at(curled["shin.L"])[1] == (1, 1)  # no hock
    four = dog(4)
    last, segments = at(four.pose.bones["pastern.L"], 4)
    assert (last.name, segments) == ("pastern.L", (1, 1, 1, 1))


def test_all_of_the_reach_is_shown_on_request(leg, addon):
    last = leg(3, "LIVE", foot=False)
    last.planar_ik.stretch = 1.0
    bpy.context.view_layer.update()
    depsgraph, figure = bpy.context.evaluated_depsgraph_get(), addon("tasks.status")
    assert not [each for each in figure.figure(last, depsgraph) if each.role == "reach"]
    shown = figure.figure(last, depsgraph, figure.Viewpoint(has_reach=True))
    rings = [each.points for each in shown if each.role == "reach"]
    root, length = rigs.place(last.id_data, "thigh.L"), sum(addon("limb.rest_geometry").rest_geometry_of(last).lengths)
    for ring, size in zip(rings, (1.0, last.planar_ik.stretch_max), strict=True):
        assert np.linalg.norm(ring - root, axis=1) == pytest.approx(size * length, rel=1e-5)
