"""Whatever bones take over from their parents, a bake by arrays puts them where Blender does."""

from __future__ import annotations

from itertools import product
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender.bake_rigs import FRAMES, assert_ways, key_hip, make_chain, make_leg, motion
from tests.blender.rigs import editing, set_keys

MODES = ["FULL", "FIX_SHEAR", "ALIGNED", "AVERAGE", "NONE", "NONE_LEGACY"]
GROWN = 3.0
"""Limbs grow to half as much again, through two more products in single precision."""

SCALES = {"even": (1.4, 1.4, 1.4), "uneven": (0.8, 1.3, 1.1), "mirrored": (-1.2, 1.2, 1.2)}


def set_up(bone: Any, mode: str, has_rotation: bool = True, has_location: bool = True) -> None:
    bone.inherit_scale, bone.use_inherit_rotation, bone.use_local_location = mode, has_rotation, has_location


def key_scale(bone: Any, scale: tuple[float, ...]) -> None:
    """So that it changes what hangs on the bone, in the middle of the bake."""
    set_keys(bone, "scale", {1: np.sign(scale), 9: scale, 24: np.sign(scale)})


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("flags", list(product([True, False], repeat=2)), ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_a_root_that_inherits_otherwise(addon, mode, flags, scale):
    ob = make_leg()
    with editing(ob) as bones:
        bones["thigh"].use_connect = False
    make_chain(ob)
    key_hip(ob)
    key_scale(ob.pose.bones["hip"], SCALES[scale])
    set_up(ob.data.bones["thigh"], mode, *flags)
    ob.pose.bones["thigh"].location = (0.1, -0.2, 0.05)
    bpy.context.view_layer.update()
    is_invalid = (mode, scale) == ("ALIGNED", "uneven")  # in the frames in which the thigh takes over an uneven scale
    assert_ways(ob, "3" if is_invalid else "123", size=GROWN)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("has_rotation", [True, False])
def test_a_knee_that_inherits_otherwise(addon, mode, has_rotation):
    """Under a parent that grows, so that the limb changes its shape."""
    ob = make_leg()
    make_chain(ob)
    key_hip(ob)
    key_scale(ob.pose.bones["hip"], (1.4, 1.4, 1.4))
    set_up(ob.data.bones["shin"], mode, has_rotation)
    bpy.context.view_layer.update()
    assert_ways(ob, "123", size=GROWN)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("mode", MODES)
def test_bones_that_carry_a_target(addon, mode, scale):
    ob, other = make_leg(), make_leg("other")
    chain = make_chain(ob)
    key_hip(other)
    key_scale(other.pose.bones["hip"], SCALES[scale])
    for flags, name in (((True, False), "thigh"), ((False, True), "shin")):
        set_up(other.data.bones[name], mode, *flags)
        other.pose.bones[name].location = (0.2, 0.1, -0.1)
    other.pose.bones["thigh"].rotation_quaternion = (0.9, 0.2, -0.3, 0.1)
    other.location.z = -0.4
    chain.target, chain.subtarget = other, "shin"
    bpy.context.view_layer.update()
    assert np.ptp(motion(ob, FRAMES)[:, 2], axis=0).max() > 0.1
    assert_ways(ob, "123", size=GROWN)
