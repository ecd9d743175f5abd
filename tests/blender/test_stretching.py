"""Limbs that lengthen, by whole matrices: the joints are exact, and nothing but the limb's own channels changes."""

from __future__ import annotations

import bpy
import numpy as np
import pytest
from mathutils import Vector

from tests.blender.natives import FOOT, make_live, make_portable, matrices
from tests.blender.rigs import (
    INHERIT_SCALE,
    LEG,
    SHIN,
    THIGH,
    assert_on_target,
    assert_refused,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    plane_chain,
    pose,
    put,
    rig_and_twin,
    select,
    shear_of,
    update,
)

VOLUMES = ("LENGTH", "UNIFORM", "VOLUME")
FAR = Vector((0.1, 0.2, -2.7))

ASIDE = (
    LEG[0],
    THIGH._replace(tail=(0.4, 0.1, -0.9)),
    SHIN._replace(connected=False),
)
"""A leg whose thigh points somewhere beside the knee."""


def sizes(ob, name):
    """The lengths of a bone's axes in the evaluated pose."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return [axis.length for axis in evaluated.pose.bones[name].matrix.to_3x3().col]


def factor_of(ob):
    """How many times as far the evaluated joints are from each other as at rest."""
    root, knee, tip = joints(ob)
    bones = ob.data.bones
    rest = bones["thigh"].head_local, bones["shin"].head_local, bones["shin"].tail_local
    return (
        np.linalg.norm(knee - root) / (rest[1] - rest[0]).length,
        np.linalg.norm(tip - knee) / (rest[2] - rest[1]).length,
    )


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("mode", INHERIT_SCALE)
def test_a_straight_limb_is_lengthened_without_shear(mode, volume):
    ob = make_rig()
    ob.data.bones["shin"].inherit_scale = mode
    target = make_empty("target", FAR)
    chain = plane_chain(ob, target)
    before = pose(ob)
    target.location = FAR * 1.2
    chain.stretch, chain.stretch_volume = 1, volume
    update()
    if mode == "FIX_SHEAR" and volume != "UNIFORM":
        assert "Inherit Scale" in chain.message
        target.location = FAR
        chain.stretch = 0
        update()
        assert pose(ob) == before
        return
    assert_on_target(ob, target)
    factor = factor_of(ob)
    assert factor[0] == pytest.approx(factor[1], rel=1e-6)
    thin = {"LENGTH": 1.0, "UNIFORM": factor[0], "VOLUME": factor[0] ** -0.5}[volume]
    for name in ("thigh", "shin"):
        assert sizes(ob, name) == pytest.approx([thin, factor[0], thin], rel=1e-5)
        bone = ob.pose.bones[name]
        # Blender makes rest matrices in single precision, with up to 1e-6 of their own.
        assert shear_of(bone.matrix) < shear_of(bone.bone.matrix_local) + 1e-6
    assert ob.data.bones["shin"].inherit_scale == mode


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("mode", [mode for mode in INHERIT_SCALE if mode != "FIX_SHEAR"])
@pytest.mark.parametrize("bones", [LEG, ASIDE], ids=["towards the knee", "aside of the knee"])
def test_a_bent_limb_is_lengthened_evenly(bones, mode, volume):
    ob = make_rig(bones)
    ob.data.bones["shin"].inherit_scale = mode
    target = make_empty("target", FAR * 1.4)
    chain = plane_chain(ob, target)
    chain.stretch, chain.stretch_max, chain.stretch_volume, chain.max_angle = 1, 3, volume, 2.4
    update()
    assert_on_target(ob, target, within=2e-6)
    factor = factor_of(ob)
    assert factor[0] == pytest.approx(factor[1], rel=2e-6)
    assert factor[0] > 1.3
    thin = {"LENGTH": 1.0, "UNIFORM": factor[0], "VOLUME": factor[0] ** -0.5}[volume]
    assert sizes(ob, "shin") == pytest.approx([thin, factor[0], thin], rel=1e-5)
    if mode != "FULL" or volume == "UNIFORM":
        assert shear_of(ob.pose.bones["shin"].matrix) < 2e-6
    root, knee, tip = joints(ob)
    cosine = (root - knee) @ (tip - knee) / np.linalg.norm(root - knee) / np.linalg.norm(tip - knee)
    assert np.arccos(cosine) == pytest.approx(2.4, abs=1e-5)


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("influence", [1.0, 0.5])
def test_a_thigh_that_points_beside_the_knee(volume, influence):
    ob = make_rig(ASIDE)
    target = make_empty("target", FAR * 1.2)
    chain = plane_chain(ob, target)
    ob.pose.bones["thigh"].rotation_quaternion = (1, 0.1, 0.2, 0.1)
    chain.stretch, chain.stretch_volume, chain.influence, chain.softness = 1, volume, influence, 0.1
    update()
    ratio = factor_of(ob)
    assert ratio[0] == pytest.approx(ratio[1], rel=2e-6)
    if influence == 1.0:
        assert_on_target(ob, target, within=2e-6)


@pytest.mark.parametrize("volume", ["LENGTH", "VOLUME", "keyed"])
@pytest.mark.parametrize("mode", ["FULL", "NONE"])
@pytest.mark.parametrize("influence", [1.0, 0.5])
def test_a_thigh_that_points_beside_the_knee_gets_longer_on_the_rig_too(volume, mode, influence):
    """Without a turn back, its tip was off by up to 1 % of the limb."""
    ob = make_rig(ASIDE)
    ob.data.bones["shin"].inherit_scale = mode
    target = make_empty("target", FAR)
    chain = plane_chain(ob, target)
    ob.pose.bones["thigh"].rotation_quaternion = (1, 0.1, 0.2, 0.1)
    ob.pose.bones["hip"].scale = (1.1, 1.1, -1.1)
    chain.stretch, chain.stretch_max, chain.softness, chain.influence = 1, 3, 0.1, influence
    for frame, each in enumerate(VOLUMES, 1):
        chain.stretch_volume = volume if volume != "keyed" else each
        if volume == "keyed":
            ob.keyframe_insert('pose.bones["shin"].planar_ik_stretch_volume', frame=frame)
        target.location = FAR * (0.1 + 0.5 * frame)
        target.keyframe_insert("location", frame=frame)
    live = []
    for runs_on in ("EXTENSION", "RIG"):
        for frame in (1, 2, 3):
            bpy.context.scene.frame_set(frame)
            assert (chain.runs_on, chain.message) == (runs_on, "")
            live.append(joints(ob))
        select(ob, "shin")
        if runs_on == "EXTENSION":
            bpy.ops.pose.planar_ik_make_portable()
    size = length(ob)
    for one, other in zip(live[:3], live[3:], strict=True):
        assert all(np.linalg.norm(a - b) <= 1e-5 * size for a, b in zip(one, other, strict=True))
    if influence == 1.0:
        assert_on_target(ob, target, within=1e-5)


@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("mode", ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE"])
def test_what_hangs_on_a_limb_is_on_the_rig_what_it_was(volume, mode):
    """Whole matrices, also of what hangs on the upper bone."""
    toe, patella = FOOT._replace(tail=(0.3, -0.3, -2)), FOOT._replace(name="patella", parent="thigh")
    ob = make_rig((*LEG, toe, patella))
    for name in ("foot", "patella"):
        ob.data.bones[name].inherit_scale = mode
        ob.pose.bones[name].rotation_quaternion = (1, 0.3, 0.2, 0.1)
    make_chain(ob, make_empty("target", FAR), plane="SWING", stretch=1.0, stretch_volume=volume)
    names = ("thigh", "shin", "foot", "patella")
    before = matrices(ob, *names)
    assert ob.pose.bones["shin"].planar_ik.reach == "REACHED"
    make_portable(ob)
    assert np.abs(matrices(ob, *names) - before).max() < 1e-5
    make_live(ob)
    assert np.abs(matrices(ob, *names) - before).max() < 1e-6


def test_a_thigh_that_points_across_is_refused():
    ob = make_rig((LEG[0], THIGH._replace(tail=(1, 0, -0.1)), SHIN._replace(connected=False)))
    chain = plane_chain(ob, make_empty("target", FAR * 1.2))
    chain.stretch = 1
    update()
    assert chain.reach == "INVALID"
    assert "Stretch Volume to Uniform" in chain.message
    chain.stretch_volume = "UNIFORM"
    update()
    assert_on_target(ob, chain.target)


def test_another_object_of_the_armature_stays_as_it_is():
    ob, twin = rig_and_twin()
    before = [bone.matrix.copy() for bone in twin.pose.bones]
    inherited = [bone.inherit_scale for bone in ob.data.bones]
    target = make_empty("target", FAR * 1.2)
    plane_chain(ob, target).stretch = 1
    update()
    assert_on_target(ob, target)
    assert [bone.matrix for bone in twin.pose.bones] == before
    assert [bone.inherit_scale for bone in ob.data.bones] == inherited


@pytest.mark.parametrize("softness", [0.0, 0.2])
def test_under_a_parent_that_is_scaled_unevenly(softness):
    ob = make_rig()
    ob.pose.bones["hip"].scale = (1.2, 0.7, 1.1)
    target = make_empty("target", (0.1, 0.2, -2.6))
    chain = make_chain(ob, target, plane="POLE", pole_target=make_empty("pole", (0.3, 5, -0.5)))
    chain.stretch, chain.softness, chain.stretch_max = 1, softness, 4
    for place in ((0.1, 0.2, -1.5), (0.1, 0.2, -3.2), (0.2, 0.3, -2.5)):
        target.location = place
        update()
        assert_on_target(ob, target, within=2e-6)


def test_stretch_comes_and_goes_with_the_keys():
    ob = make_rig()
    chain = plane_chain(ob, make_empty("target", FAR * 1.2))
    for frame, stretch in ((1, 0.0), (10, 1.0)):
        chain.stretch = stretch
        ob.keyframe_insert('pose.bones["shin"].planar_ik_stretch', frame=frame)
    for frame in (10, 1, 10, 1):
        bpy.context.scene.frame_set(frame)
        assert chain.reach == ("REACHED" if frame == 10 else "TOO_FAR")
        assert sizes(ob, "thigh")[1] == pytest.approx(factor_of(ob)[0], rel=1e-6)
    assert ob.pose.bones["thigh"].scale[:] == (1, 1, 1)


def test_a_lower_bone_that_inherits_no_rotation_is_refused_before_it_moves():
    ob = make_rig()
    ob.data.bones["shin"].use_inherit_rotation = False
    chain = plane_chain(ob, make_empty("target", FAR * 1.2))
    chain.stretch = 1
    update()
    assert_refused(chain, "Inherit Scale")
    ob.data.bones["shin"].inherit_scale = "NONE"
    update()
    assert_on_target(ob, chain.target)


def test_a_thigh_that_is_scaled_unevenly_itself():
    ob = make_rig()
    ob.pose.bones["thigh"].scale = (0.9, 1.3, 1.2)
    target = make_empty("target", FAR * 0.7)
    chain = plane_chain(ob, target)
    for place in (FAR * 0.7, FAR * 0.5):
        target.location = place
        update()
        assert_on_target(ob, target, within=2e-6)
        for name in ("thigh", "shin"):
            assert sizes(ob, name) == pytest.approx((0.9, 1.3, 1.2), rel=1e-5)
    chain.influence = 0.5
    update()
    assert "scaled unevenly" in chain.message
    assert ob.pose.bones["shin"].scale[:] == (1, 1, 1)


@pytest.mark.parametrize("bones", [LEG, ASIDE], ids=["towards the knee", "aside of the knee"])
def test_below_an_uneven_scale_a_limb_that_gets_wider_too_runs_on_the_rig(bones) -> None:
    ob = make_rig(bones)
    chain = make_chain(ob, plane="SWING", stretch=1.0, stretch_volume="UNIFORM")
    put(ob.pose.bones["hip"], scale=(1.0, 1.4, 0.8))
    places = [chain.target.location + Vector(each) for each in ((0, 0, 0), (0.3, -0.2, 0.3), (0.1, 0.2, -0.9))]
    live = []
    for place in places:
        put(chain.target, location=place)
        live.append(matrices(ob))
    make_portable(ob)
    assert {bone.inherit_scale for bone in ob.data.bones} == {"FULL"}
    for place, was in zip(reversed(places), reversed(live), strict=True):
        put(chain.target, location=place)
        assert np.abs(matrices(ob) - was).max() < 1e-5
        assert (chain.reach, chain.message) == ("REACHED", "")


@pytest.mark.parametrize("volume", ["LENGTH", "VOLUME"])
def test_below_an_uneven_scale_one_that_only_gets_longer_does_once_it_gets_wider(volume) -> None:
    ob = make_rig()
    chain = make_chain(ob, plane="SWING", stretch=1.0, stretch_volume=volume)
    put(ob.pose.bones["hip"], scale=(1.0, 1.4, 0.8))
    with pytest.raises(RuntimeError, match="set Stretch Volume to Uniform, or stay on the extension"):
        make_portable(ob)
    put(ob.pose.bones["hip"], scale=(1.0, 1.0, 1.0))
    make_portable(ob)
    put(ob.pose.bones["hip"], scale=(1.0, 1.4, 0.8))
    assert (chain.reach, "set Stretch Volume to Uniform" in chain.message) == ("INVALID", True)
    chain.stretch_volume = "UNIFORM"
    update()
    assert (chain.reach, chain.message) == ("REACHED", "")
