"""Limbs that get longer while they are bent: a bake by arrays turns and scales their bones as live chains do."""

from __future__ import annotations

from itertools import product
from typing import Any

import bpy
import pytest

from tests.blender.bake_rigs import assert_ways, key_hip, key_setting, make_chain, make_leg
from tests.blender.rigs import editing, set_keys

TWICE = 2.0
"""How long stretched limbs get."""

VOLUMES = ["LENGTH", "UNIFORM", "VOLUME"]
BENT = {
    "soft": lambda ob, chain: setattr(chain, "softness", 0.3),
    "soft at times": lambda ob, chain: key_setting(ob, "softness", 0.0, 0.4),
    "never straight": lambda ob, chain: setattr(chain, "max_angle", 2.6),
    "blended": lambda ob, chain: setattr(chain, "influence", 0.6),
    "blended at times": lambda ob, chain: key_setting(ob, "influence", 1.0, 0.0, 0.7),
    "longer at times": lambda ob, chain: (
        setattr(chain, "softness", 0.3),
        key_setting(ob, "stretch", 0.0, 1.0, 0.0),
        key_setting(ob, "enabled", True, True, False),
    ),
}


def stretched(volume: str, mode: str, mode_of_rotation: str = "QUATERNION") -> Any:
    ob = make_leg(mode=mode_of_rotation)
    chain = make_chain(ob, stretch=1.0, stretch_volume=volume)
    key_hip(ob)
    ob.data.bones["shin"].inherit_scale = mode
    return ob, chain


def move_knee_aside(ob: Any) -> None:
    """So that the thigh points beside it."""
    with editing(ob) as bones:
        shin = bones["shin"]
        shin.use_connect = False
        shin.head.y += 0.15


@pytest.mark.parametrize("bent", BENT)
@pytest.mark.parametrize("volume", VOLUMES)
@pytest.mark.parametrize("rotation", ["QUATERNION", "ZXY"])
def test_a_bent_limb_whose_lower_bone_inherits_all(addon, bent, volume, rotation):
    ob, chain = stretched(volume, "FULL", rotation)
    BENT[bent](ob, chain)
    assert_ways(ob, "123", size=TWICE)


@pytest.mark.parametrize(("mode", "volume"), list(product(["FULL", "ALIGNED", "AVERAGE", "NONE"], VOLUMES)))
@pytest.mark.parametrize("has_rotation", [True, False])
def test_a_knee_beside_where_the_upper_bone_points(addon, mode, volume, has_rotation):
    ob, chain = stretched(volume, mode)
    move_knee_aside(ob)
    chain.softness = 0.2
    ob.data.bones["shin"].use_inherit_rotation = has_rotation
    bpy.context.view_layer.update()
    can_lengthen = has_rotation or mode != "FULL" or volume == "UNIFORM"
    assert_ways(ob, "123" if can_lengthen else "3", size=TWICE)


def test_a_knee_that_moves_aside(addon):
    """The limb has another shape in every frame."""
    ob, chain = stretched("VOLUME", "FULL")
    move_knee_aside(ob)
    shin = ob.pose.bones["shin"]
    set_keys(shin, "location.x", {1: 0.0, 20: 0.2})
    chain.softness = 0.2
    assert_ways(ob, "123", size=TWICE)


@pytest.mark.parametrize("volume", VOLUMES)
def test_a_lower_bone_whose_shear_is_mended_is_stepped(addon, volume):
    ob, _ = stretched(volume, "FIX_SHEAR")
    assert_ways(ob, "123" if volume == "UNIFORM" else "3")
