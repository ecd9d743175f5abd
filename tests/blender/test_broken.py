"""Whoever breaks a limb: what it says of itself, and what a bake makes of it, is the pose that is seen."""

from __future__ import annotations

import bpy
import numpy as np
import pytest

from tests.blender import legs, oracle, rigs
from tests.blender.rigging.test_checking import BREAKING, edit
from tests.blender.ui.conftest import call

pytestmark = pytest.mark.dear

FRAMES = (1, 2, 3)
PLACES = ((0.15, -0.2, 0.25), (0.3, 0.2, 0.4), (0.1, 0.0, -1.0))


def another_constraint(ob):
    ob.pose.bones["thigh.L"].constraints.new("LIMIT_ROTATION").use_limit_x = True


def an_offset(ob):
    ob.pose.bones["shin.L"].scale.y = 1.3


def keys_on_a_part(ob):
    name = next(bone.name for bone in ob.data.bones if bone.planar_ik_part == "root")
    ob.pose.bones[name].location.x = 0.2


MORE = {
    "another constraint": another_constraint,
    "bone scaled": an_offset,
    "part posed": keys_on_a_part,
    "bone longer": lambda ob: edit(ob, lambda bones: setattr(bones["shin.L"], "tail", (0.1, 0.02, 0.0))),
    "target scaled away": lambda ob: setattr(ob, "scale", (0.5, 1.0, 1.0)),
}


def seen_over_frames(last):
    found = []
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        found.append(np.concatenate([oracle.seen(last)[0], *(axes.T for axes in oracle.seen(last)[1])]))
    return np.array(found)


def untrue(last):
    """What a limb says that is not so, frame by frame."""
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        limb, target = last.planar_ik, np.array(last.planar_ik.target.matrix_world.translation)
        joints, _, _ = oracle.seen(last)
        residual = float(np.linalg.norm(joints[2] - target))
        if abs(limb.residual - residual) > 1e-5:
            yield f"frame {frame}: residual {limb.residual} is {residual}"
        if limb.reach == "REACHED" and residual > 1e-4 and limb.status.outcome.name != "EASED":
            yield f"frame {frame}: not reached"
        is_off = np.abs(joints - oracle.expected(last).joints).max() > 1e-3
        if is_off and limb.reach != "INVALID":
            yield f"frame {frame}: is elsewhere, and {limb.reach}: {limb.message}"


MOVING_AGAIN = {"another constraint", "constraint in another space", "constraint renamed"}
MOVING_AGAIN |= {"all drivers removed", "influence not driven"}
"""What would move the limb once more after a bake, which is refused for that."""


@pytest.mark.names_nothing  # what is deleted here
@pytest.mark.parametrize("name", [*BREAKING, *MORE])
def test_what_is_seen_is_told_and_baked(addon, name):
    last = legs.whole_leg(addon)
    ob = last.id_data
    target = last.planar_ik.target
    for frame, place in zip(FRAMES, PLACES, strict=True):
        target.location = place
        target.keyframe_insert("location", frame=frame)
    {**BREAKING, **MORE}[name](ob)
    ob.update_tag()  # which Python does not do for drivers, as the window does
    bpy.data.objects.remove(bpy.data.objects.new("so that the graph is built anew", None))
    bpy.context.view_layer.update()
    last = ob.pose.bones["shin.L"]
    assert not [*untrue(last)]
    before = seen_over_frames(last)
    request = addon("tasks.baking").BakeRequest([last], FRAMES)
    if name in MOVING_AGAIN:
        with pytest.raises(addon("blender.types").Refused, match="once more after the bake"):
            addon("tasks.baking").bake(bpy.context, request)
        assert last["IK Influence"] == 1.0
    else:
        assert addon("tasks.baking").bake(bpy.context, request).keys >= len(FRAMES)  # and halfway, where it turns fast
        assert last["IK Influence"] == 0.0
    after = seen_over_frames(last)
    assert np.abs(after - before)[:, :3].max() < 1e-4, np.abs(after - before)[:, :3].max(axis=(1, 2))
    assert np.abs(after - before)[:, 3:].max() < 1e-2


@pytest.mark.names_nothing  # what is deleted here
@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
@pytest.mark.parametrize("kind", ["object", "bone"])
def test_target_is_deleted(addon, mode, kind):
    ob = rigs.biped()
    adding = addon("tasks.adding")
    target = None if kind == "bone" else (rigs.empty("goal"), "")
    lasts = adding.add(bpy.context, [adding.LimbRequest(ob.pose.bones["shin.L"], target=target)]).limbs
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, lasts)
    if kind == "bone":
        edit(ob, lambda bones: bones.remove(bones["foot_ik.L"]))
    else:
        bpy.data.objects.remove(ob.pose.bones["shin.L"].planar_ik.target)
    ob.pose.bones["thigh.L"].rotation_quaternion = (1, 0.3, 0, 0)
    bpy.context.view_layer.update()
    last = ob.pose.bones["shin.L"]
    assert last.planar_ik.reach == "INVALID"
    with pytest.raises(addon("blender.types").Refused):
        addon("tasks.baking").bake(bpy.context, addon("tasks.baking").BakeRequest([last], FRAMES))
    rigs.activate(ob)
    ob.data.bones.active = last.bone
    bpy.ops.pose.planar_ik_repair(repair="TARGET")
    bpy.context.view_layer.update()
    last = ob.pose.bones["shin.L"]
    assert last.planar_ik.reach == "REACHED", last.planar_ik.message
    assert last.planar_ik.mode == mode


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("key", ["IK Roll", "IK Bank", "IK Flip", "IK Swivel"])
def test_a_slider_is_deleted(key, mode):
    """While its keys are there: no verb breaks, and *Rebuild* brings it back."""
    ob, bpy.context.scene.frame_end = rigs.biped(), 3
    for frame in FRAMES:
        ob.pose.bones["thigh.L"].rotation_quaternion = (1.0, -0.1 * frame, 0.0, 0.0)
        ob.pose.bones["thigh.L"].keyframe_insert("rotation_quaternion", frame=frame)
    rigs.click(ob, "shin.L")
    bpy.ops.pose.planar_ik_add(mode=mode, plane="POLE", foot_roll=True)
    limb, given = ob.pose.bones["shin.L"], {"range": "GIVEN", "frame_start": 1, "frame_end": 3}
    limb.keyframe_insert(f'["{key}"]', frame=2)
    del limb[key]
    rigs.click(ob, "shin.L")
    verbs = {"plant": {"height": 1.0, "speed": 9.0}, "snap_target": {"use_range": True}, "hold": given}
    told = "".join(call(name, **options) for name, options in verbs.items())
    assert "fault" not in told
    if key not in limb:
        assert "rebuild" in limb.planar_ik.message
        assert "rebuild the limb" in told
        bpy.ops.pose.planar_ik_rebuild()
    assert key in ob.pose.bones["shin.L"]
    assert ob.pose.bones["shin.L"].planar_ik.reach == "REACHED"
