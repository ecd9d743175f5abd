"""What a limb says of itself in both modes where its own bones are scaled, or its rig is scaled unevenly."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

from tests.blender import legs, rigs

NAMES = ("thigh.L", "shin.L", "foot.L")
INFLUENCES = (0.0, 0.5, 1.0)


def in_both_modes(addon, last):
    """By mode and influence: what the limb says, and the matrices of its bones."""
    ob, found = last.id_data, {}
    for mode in ("RIG", "LIVE"):
        if mode == "LIVE":
            addon("tasks.modes").to_live(bpy.context, [last])
        last = ob.pose.bones["shin.L"]
        for influence in INFLUENCES:
            last.planar_ik.influence = influence
            bpy.context.view_layer.update()
            found[mode, influence] = last.planar_ik.status, rigs.matrices(ob, NAMES)
    return found


@pytest.mark.parametrize(
    ("settings", "bone", "is_told"),
    [
        ({}, "thigh.L", True),
        ({}, "shin.L", True),
        ({"stretch": 0.5}, "shin.L", True),
        ({"stretch": 0.5}, "thigh.L", False),  # there it is a stretch in FK
    ],
)
def test_a_scaled_bone_is_named(addon, settings, bone, is_told):
    ob = rigs.biped()
    last = legs.rig_leg(addon, settings, ob)
    ob.pose.bones[bone].scale = (1.3, 1.3, 1.3)
    found = in_both_modes(addon, last)
    told = {status.message for status, _ in found.values()}
    assert (told == {f"'{bone}' is scaled by itself: clear its scale, and delete the keys of that"}) == is_told
    assert is_told or not any("Something else" in message for message in told)
    for influence in INFLUENCES:
        assert is_told or np.abs(found["RIG", influence][1] - found["LIVE", influence][1]).max() < 2e-6
    ob.pose.bones[bone].scale = (1.0, 1.0, 1.0)
    bpy.context.view_layer.update()
    assert ob.pose.bones["shin.L"].planar_ik.message == "On target"


@pytest.mark.parametrize("plane", ["HINGE", "FREE", "POLE"])
@pytest.mark.parametrize("scale", [(0.7, 1.5, 1.1), (2.0, 2.0, 2.0), (-1.0, 1.0, 1.0)])
def test_a_rig_that_is_scaled_unevenly(addon, plane, scale):
    ob, rng = rigs.biped(), random.Random(3)
    ob.scale, ob.rotation_euler = scale, (0.2, 0.3, 0.4)
    for name in NAMES:
        ob.pose.bones[name].rotation_quaternion = rigs.turn(rng, 0.5)
    found = in_both_modes(addon, legs.rig_leg(addon, {"plane": plane}, ob))
    is_uneven = scale == (0.7, 1.5, 1.1)
    for (mode, influence), (status, matrices) in found.items():
        assert "Something else" not in status.message
        assert ("scaled unevenly" in status.message) == (is_uneven and (mode, influence) == ("RIG", 0.5))
        if influence != 0.5:
            assert np.abs(matrices - found["RIG", influence][1]).max() < 2e-6
