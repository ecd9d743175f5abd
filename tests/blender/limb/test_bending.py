"""Another plane for limbs that are there does not move them, whatever says whether they are FK or IK."""

from __future__ import annotations

import random
from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs

NAMES = ("upper", "lower", "foot")


def drive(last: Any, value: float) -> Any:
    """Let a slider of the rig drive a limb's influence: the bone that has the slider."""
    ob = last.id_data
    root = ob.pose.bones["root"]
    root["IK_FK"] = value
    rigs.drive(last, '["IK Influence"]', ob, 'pose.bones["root"]["IK_FK"]')
    bpy.context.view_layer.update()
    return root


def set_slider(root: Any, value: float) -> np.ndarray:
    """Where joints are with that."""
    root["IK_FK"] = value
    root.id_data.update_tag()
    return rigs.matrices(root.id_data, NAMES)[:, :3, 3]


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("shown", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("foot", [False, True])
def test_another_plane_where_influence_is_driven(add, addon, mode, shown, foot):
    for seed in range(2):
        rng = random.Random(seed)
        ob = rigs.random_limb(rng)
        last = add(ob, "lower", knee="FREE", foot=foot)[0]
        if mode == "RIG":
            addon("tasks.modes").to_rig(bpy.context, [last])
        last = ob.pose.bones["lower"]
        last.planar_ik.swivel = 0.6
        ob.pose.bones["foot_ik"].location.x += 0.2
        root = drive(last, shown)
        for bone in (last, last.parent):
            bone.rotation_quaternion = rigs.turn(rng)
        ob.pose.bones["body"].keyframe_insert("location")
        ob.pose.bones["body"].location.x += 0.3  # without a key
        before = [set_slider(root, value) for value in (0.0, 1.0, shown)]
        addon("tasks.following").set_plane(bpy.context, [last], "POLE")
        last, root = ob.pose.bones["lower"], ob.pose.bones["root"]
        assert last.planar_ik.plane == "POLE"
        (driver,) = [each for each in ob.animation_data.drivers if each.data_path.endswith('["IK Influence"]')]
        assert not driver.mute
        now = rigs.matrices(ob, NAMES)[:, :3, 3]
        assert last["IK Influence"] == pytest.approx(shown)
        after = [set_slider(root, value) for value in (0.0, 1.0)]
        size = np.linalg.norm(np.diff(before[1], axis=0), axis=1).sum()
        assert np.abs(np.array([*after, now]) - before).max() < 5e-5 * size
