"""Limbs go along where their first bone is moved by its own location; of the others that is refused by name."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import oracle, rigs

FRAMES = (1, 6, 11)
PLACES = ((0.0, 0.1, 0.0), (0.0, 0.2, 0.0), (0.0, -0.1, 0.0))


def arm():
    """A loose arm of a cut-out puppet on its body, the elbow a little bent."""
    ob = rigs.rig(
        {
            "body": ((0, 0, 0), (0, 0, 1), ""),
            "arm": ((0.2, 0, 1), (0.25, 0, 0.4), "body"),
            "forearm": ((0.25, 0, 0.4), (0.2, 0, -0.2), "arm"),
            "hand": ((0.2, 0, -0.2), (0.2, 0, -0.4), "forearm"),
        }
    )
    return ob, ob.pose.bones["arm"]


def keyed(ob, bone):
    for frame, place in zip(FRAMES, PLACES, strict=True):
        bone.location = place
        bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_set(FRAMES[0])


def joints(ob):
    return np.array([rigs.place(ob, name) for name in ("arm", "forearm", "hand")])


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_add_keeps_a_limb_whose_location_is_keyed(add, mode):
    ob, first = arm()
    keyed(ob, first)
    seen = []
    for frame in range(1, 12):
        bpy.context.scene.frame_set(frame)
        seen.append(joints(ob))
    bpy.context.scene.frame_set(6)
    add(ob, "forearm", mode=mode)
    for frame, before in zip(range(1, 12), seen, strict=True):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(joints(ob), before, atol=2e-3)
        want = oracle.expected(ob.pose.bones["forearm"])
        np.testing.assert_allclose(joints(ob), want.joints, atol=2e-5)
        assert ob.pose.bones["forearm"].planar_ik.message == "On target"


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_first_bone_that_is_moved_later(add, addon, mode):
    ob, _ = arm()
    add(ob, "forearm", mode=mode)
    still = len(ob.data.bones)
    ob.pose.bones["arm"].location = PLACES[1]
    bpy.context.view_layer.update()
    limb = ob.pose.bones["forearm"].planar_ik
    if mode == "RIG":
        assert "moved now: rebuild" in limb.message
        addon("tasks.modes").rebuild(bpy.context, [ob.pose.bones["forearm"]])
    bpy.context.view_layer.update()
    np.testing.assert_allclose(joints(ob), oracle.expected(ob.pose.bones["forearm"]).joints, atol=1e-5)
    assert ob.pose.bones["forearm"].planar_ik.message == "On target"
    ob.pose.bones["arm"].location = (0.0, 0.0, 0.0)
    bpy.context.view_layer.update()
    assert ob.pose.bones["forearm"].planar_ik.message == "On target"
    addon("tasks.modes").rebuild(bpy.context, [ob.pose.bones["forearm"]])
    assert len(ob.data.bones) == still


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_a_lower_bone_that_is_moved_is_named(add, mode):
    ob, _ = arm()
    rigs.activate(ob, "EDIT")
    ob.data.edit_bones["forearm"].use_connect = False
    rigs.activate(ob)
    ob.pose.bones["forearm"].location.x = 0.1
    with pytest.raises(RuntimeError, match="'forearm' is moved by its own location"):
        add(ob, "forearm", mode=mode)
    ob.pose.bones["forearm"].location.x = 0.0
    last = add(ob, "forearm", mode=mode)[0]
    last.location.x = 0.1
    bpy.context.view_layer.update()
    assert last.planar_ik.message == "'forearm' is moved by its own location: clear that"
    assert last.planar_ik.reach == "INVALID"


@pytest.mark.parametrize("size", [0.001, 1.0])
def test_noise_of_importers_moves_no_lower_bone(add, size):
    ob, _ = arm()
    rigs.activate(ob, "EDIT")
    for bone in ob.data.edit_bones:
        bone.use_connect = False
    for bone in ob.data.edit_bones:
        bone.tail = bone.head + bone.vector * 1000.0
    rigs.activate(ob)
    ob.pose.bones["forearm"].location.x = 2e-5
    ob.scale = (size,) * 3
    last = add(ob, "forearm", mode="RIG")[0]
    assert last.planar_ik.message == "On target"
    last.location.x = 1e-4
    bpy.context.view_layer.update()
    assert last.planar_ik.message == "'forearm' is moved by its own location: clear that"


def test_convert_goes_along(addon):
    ob, first = arm()
    goal = rigs.empty("goal", (0.5, 0.0, 0.1))
    constraint = ob.pose.bones["forearm"].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.iterations = goal, 2, 500
    keyed(ob, first)
    seen = []
    for frame in range(1, 12):
        bpy.context.scene.frame_set(frame)
        seen.append(joints(ob))
    addon("tasks.converting").convert(bpy.context, [ob.pose.bones["forearm"]], mode="RIG")
    for frame, before in zip(range(1, 12), seen, strict=True):
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(joints(ob), before, atol=2e-3)
        assert ob.pose.bones["forearm"].planar_ik.message == "On target"


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
def test_another_action_may_move_it(add, mode):
    """As of a puppet that runs: the limb goes along once that is picked."""
    ob, first = arm()
    keyed(ob, first)
    data = ob.animation_data
    run, slot = data.action, data.action_slot
    run.use_fake_user, data.action = True, None
    first.location = (0.0, 0.0, 0.0)
    add(ob, "forearm", mode=mode)
    ob.animation_data.action = run
    ob.animation_data.action_slot = slot
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        np.testing.assert_allclose(joints(ob), oracle.expected(ob.pose.bones["forearm"]).joints, atol=2e-5)
    assert "rebuild" not in ob.pose.bones["forearm"].planar_ik.message
