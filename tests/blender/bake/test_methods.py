"""What is baked is what was seen, whatever limbs hang on."""

from __future__ import annotations

from math import sin

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.legs import FRAMES, LIMB, bake, joints, seen, walker


def plain(addon, ob, foot):
    return "solved"


def constrained_target(addon, ob, foot):
    leader = bpy.data.objects.new("leader", None)
    bpy.context.collection.objects.link(leader)
    foot.constraints.new("COPY_LOCATION").target = leader
    foot.constraints[-1].use_offset = True
    leader.keyframe_insert("location", frame=1)
    leader.location.x = 0.2
    leader.keyframe_insert("location", frame=12)
    return "solved"


def driven_target(addon, ob, foot):
    driver = foot.driver_add("delta_location", 0).driver
    driver.expression = "0.1*sin(frame)"
    return "solved"


def limited_limb(addon, ob, foot):
    limit = ob.pose.bones["thigh.L"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.max_x, limit.owner_space = True, 0.1, "LOCAL"
    return "solved"


def arm_on_leg(addon, ob, foot):
    """The target of an arm hangs on the foot of the leg: the arm's limb comes after the leg's."""
    hand = bpy.data.objects.new("to hand", None)
    bpy.context.collection.objects.link(hand)
    hand.parent, hand.parent_type, hand.parent_bone = ob, "BONE", "foot.L"
    hand.location = (0.3, 0.1, 0.9)
    ob.pose.bones["forearm.L"].planar_ik.target = hand
    return "solved"


def moving_handler(addon, ob, foot):
    name = foot.name

    def move(scene, *_args):
        bpy.data.objects[name].delta_location.x = 0.1 * sin(scene.frame_current)

    bpy.app.handlers.frame_change_pre.append(move)
    return "played"


def reading_handler(addon, ob, foot):
    """A target that goes aside as the knee does, by somebody's handler: it is where the frame before had it."""
    names = ob.name, foot.name

    def move(scene, depsgraph):
        knee = bpy.data.objects[names[0]].evaluated_get(depsgraph).pose.bones["shin.L"].head
        bpy.data.objects[names[1]].delta_location.z = 0.2 * knee.y if scene.frame_current > 1 else 0.0

    bpy.app.handlers.frame_change_post.append(move)
    return "played"


def python_driver(addon, ob, foot):
    driver = foot.driver_add("delta_location", 0).driver
    driver.use_self, driver.expression = True, "0.1 * sin(frame) + 0.0 * self.location[0]"
    return "played"


def driver_of_the_scene(addon, ob, foot):
    bpy.context.scene["way"] = 0.3
    driver = foot.driver_add("delta_location", 1).driver
    driver.type = "SUM"
    variable = driver.variables.new()
    variable.targets[0].id_type = "SCENE"
    variable.targets[0].id, variable.targets[0].data_path = bpy.context.scene, '["way"]'
    return "played"


SETUPS = [plain, constrained_target, driven_target, limited_limb, arm_on_leg, moving_handler, reading_handler]
SETUPS += [python_driver, driver_of_the_scene]


def test_a_limb_that_is_not_baked_moves_one_that_is(addon):
    last = walker(addon)
    ob = last.id_data
    arm_on_leg(addon, ob, None)
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
