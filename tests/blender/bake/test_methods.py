"""What is baked is what was seen, whatever limbs hang on."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.legs import FRAMES, LIMB, bake, joints, seen, walker


def arm_on_leg(ob):
    """The target of an arm hangs on the foot of the leg: the arm's limb comes after the leg's."""
    ob.pose.bones["forearm.L"].planar_ik.target = rigs.empty("to hand", (0.3, 0.1, 0.9), ob, "foot.L")


def test_a_limb_that_is_not_baked_moves_one_that_is(addon):
    last = walker(addon)
    ob = last.id_data
    arm_on_leg(ob)
    before = seen(ob, ["upper_arm.L", "forearm.L", "hand.L", *LIMB])
    report = bake(addon, ob.pose.bones["forearm.L"])
    assert [limb.limb for limb in report.limbs] == ["forearm.L"]
    np.testing.assert_allclose(seen(ob, ["upper_arm.L", "forearm.L", "hand.L", *LIMB]), before, atol=2e-5)
    assert last["IK Influence"] == 1.0


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_between_fk_and_ik(addon, mode):
    last = walker(addon, mode, softness=0.1, stretch=0.5)
    thigh = last.parent
    for frame, value in ((1, 0.0), (6, 0.4), (12, 1.0)):
        last["IK Influence"] = value
        last.keyframe_insert('["IK Influence"]', frame=frame)
        thigh.rotation_quaternion = rigs.Quaternion((1, 0, 0), 0.1 * frame)
        thigh.keyframe_insert("rotation_quaternion", frame=frame)
    before = seen(last.id_data)
    bake(addon, last)
    np.testing.assert_allclose(seen(last.id_data), before, atol=2e-5)


def test_what_is_told(addon):
    """Frames at influence 1 count, and those only."""
    last = walker(addon)
    foot = bpy.data.objects["to foot"]
    foot.animation_data_clear()
    foot.location = (0.0, 0.0, -9.0)
    for frame, value in ((1, 1.0), (6, 1.0), (7, 0.5), (12, 0.0)):
        last["IK Influence"] = value
        last.keyframe_insert('["IK Influence"]', frame=frame)
    places = joints(last.id_data)[:6, 2]
    miss = np.linalg.norm(places - [[0.0, 0.0, -9.0]], axis=1)
    report = bake(addon, last, max_miss=float(np.sort(miss)[-3]) + 1e-4)
    assert (report.unreached, report.limbs[0].unreached, report.keys) == (2, 2, len(FRAMES))
    assert abs(report.worst - miss.max()) < 1e-5
    assert report.limbs[0]._asdict()["limb"] == "shin.L"


def test_a_broken_mechanism_is_baked_as_it_is_seen(addon):
    last = walker(addon, "RIG")
    for constraint in last.constraints:
        constraint.mute = True
    before = seen(last.id_data)
    report = bake(addon, last)
    assert report.unreached > 6
    np.testing.assert_allclose(seen(last.id_data), before, atol=2e-5)


def test_time_that_is_stretched_and_steps(addon):
    last = walker(addon)
    scene = bpy.context.scene
    scene.render.frame_map_old, scene.render.frame_map_new = 100, 50
    frames = addon("tasks.baking").frames_by_step(1.0, 5.0, 0.7)
    assert frames[-1] == 5.0
    before = seen(last.id_data, frames=frames)
    bake(addon, last, frames=frames)
    np.testing.assert_allclose(seen(last.id_data, frames=frames), before, atol=2e-5)
