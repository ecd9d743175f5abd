"""A bake while Live is off gives the pose that live chains would, and leaves every other limb as it stands."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from scripts import installed
from tests.blender.bake_rigs import FEATURES, FRAMES, assert_same, joints, make_chain, make_leg, motion
from tests.blender.rigs import channels

WAYS = ["plain", "constrained target", "driven by Python", "driven constraint"]
"""A feature for each way to gather."""


def begin(*chains: Any, **options: Any) -> Any:
    """A bake that has not begun to do anything."""
    baking = installed.addon("addon.bake")
    return baking.bake(bpy.context, baking.Request(list(chains), FRAMES, **options))


def make(name: str, feature: str, **settings: Any) -> Any:
    """A leg with an FK pose and a chain."""
    ob = make_leg(name)
    ob.pose.bones["thigh"].rotation_quaternion = (0.9, 0.3, 0.1, 0.2)
    FEATURES[feature](ob, make_chain(ob, **settings))
    return ob


def state(ob: Any) -> Any:
    """Everything of a limb that a chain may touch."""
    chain = ob.pose.bones["shin"].planar_ik
    own = [tuple(getattr(chain, f"own_{name}")) for name in ("upper", "lower", "upper_scale", "lower_scale")]
    inherited = [bone.inherit_scale for bone in ob.data.bones]
    return channels(ob), chain.enabled, chain.is_posed, own, inherited, chain.own_inherit_scale


@pytest.mark.parametrize("feature", WAYS)
@pytest.mark.parametrize("tolerance", [0.0, 0.03])
def test_the_keys_are_those_of_live_chains(addon, feature, tolerance):
    ob = make("leg", feature, stretch=0.7)
    wanted = motion(ob)
    shin = ob.pose.bones["shin"]
    installed.addon("addon.rig.tasks.setup").remove_chain(shin)
    bpy.context.view_layer.update()
    bpy.context.scene.planar_ik.live = False
    shin.planar_ik.target = bpy.data.objects["target"]
    shin.planar_ik.stretch, shin.planar_ik.enabled = 0.7, True
    assert shin.bone.inherit_scale == "FULL"
    installed.addon("addon.bake").finish(begin(shin, tolerance=tolerance))
    assert not bpy.context.scene.planar_ik.live
    assert_same(motion(ob), wanted, tolerance or 2e-6)


@pytest.mark.parametrize("is_solved_once", [False, True])
@pytest.mark.parametrize("feature", WAYS)
def test_a_cancelled_bake_leaves_every_limb(addon, feature, is_solved_once):
    bpy.context.scene.planar_ik.live = False
    legs = [make("one", feature, stretch=0.7), make("two", "plain", influence=0.5)]
    bpy.context.scene.frame_set(9)
    if is_solved_once:
        installed.addon("addon.live").solve_now(bpy.context)
    bpy.context.scene.frame_set(5)
    before = [state(ob) for ob in legs]
    places = [joints(ob) for ob in legs]
    for last in (0.0,) if feature == "plain" else (0.0, 0.1, 0.2):  # plain curves are read in one step
        steps = begin(legs[0].pose.bones["shin"], tolerance=0.03)
        while next(steps) < last:
            pass
        steps.close()
        bpy.context.view_layer.update()
        assert [state(ob) for ob in legs] == before
        for ob, place in zip(legs, places, strict=True):
            assert_same(joints(ob), place)


@pytest.mark.parametrize("is_solved_once", [False, True])
@pytest.mark.parametrize("feature", WAYS)
def test_a_bake_leaves_the_limbs_that_it_does_not_bake(addon, feature, is_solved_once):
    bpy.context.scene.planar_ik.live = False
    one, two = make("one", feature), make("two", "plain", influence=0.5)
    if is_solved_once:
        installed.addon("addon.live").solve_now(bpy.context)
    before, place = state(two), joints(two)
    installed.addon("addon.bake").finish(begin(one.pose.bones["shin"]))
    bpy.context.view_layer.update()
    assert state(two) == before
    assert_same(joints(two), place)
    assert not one.pose.bones["shin"].planar_ik.is_posed
    bpy.context.scene.planar_ik.live = True
    bpy.context.view_layer.update()
    wanted = motion(two)
    two.pose.bones["shin"].planar_ik.enabled = False
    bpy.context.view_layer.update()
    assert np.allclose(two.pose.bones["thigh"].rotation_quaternion, (0.9, 0.3, 0.1, 0.2))
    assert np.abs(np.diff(wanted[:, 2], axis=0)).max() > 0.1
