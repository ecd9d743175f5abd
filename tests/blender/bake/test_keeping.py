"""A bake changes the keys of limbs in its frames, and nothing else."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest

from tests.blender import rigs
from tests.blender.legs import FRAMES, LIMB, bake, curves, joints, seen, walker

IN = range(4, 9)
"""Frames that are baked, of all."""


class Cancelled(Exception):
    pass


def state(addon: Any) -> Any:
    """All of a file that a bake might leave otherwise."""
    data = bpy.data
    scene, objects = bpy.context.scene, bpy.context.view_layer.objects
    rigs_now = [ob for ob in data.objects if ob.type == "ARMATURE"]
    bones = {(ob.name, bone.name): np.round(bone.matrix_basis, 6).tolist() for ob in rigs_now for bone in ob.pose.bones}
    return {
        "names": [[each.name for each in kind] for kind in (data.objects, data.scenes, data.armatures, data.actions)],
        "users": [(action.users, action.use_fake_user) for action in data.actions],
        "bones": bones,
        "places": {ob.name: tuple(ob.location) for ob in data.objects},
        "keys": {ob.name: curves(addon, ob) for ob in data.objects},
        "scene": (scene.name, scene.frame_current, scene.frame_subframe, scene.planar_ik.live),
        "selected": [ob.name for ob in objects if ob.select_get()],
        "active": objects.active.name,
        "mode": bpy.context.mode,
        "handlers": len(bpy.app.handlers.frame_change_post),
    }


SETUPS = ("solved", "foot", "imported", "played", "game")


def prepared(addon: Any, setup: str) -> Any:
    """A limb of which baking takes that way."""
    last = walker(addon)
    ob = last.id_data
    if setup == "foot":
        addon("tasks.setting").set_feet(bpy.context, [last], True)
    if setup == "imported":
        for bone in ob.pose.bones:
            for frame in range(0, 900, 300):
                bone.keyframe_insert("location", frame=frame)
                bone.keyframe_insert("scale", frame=frame)
                bone.keyframe_insert("rotation_euler" if bone.name == "hips" else "rotation_quaternion", frame=frame)
    if setup == "played":
        bpy.app.handlers.frame_change_pre.append(somebody)
    bpy.context.scene.frame_set(5)
    ob.pose.bones["hand.R"].location.x = 0.7  # without a key, in the imported rig over one
    ob.pose.bones["thigh.L"].rotation_quaternion = (0.9, 0.1, 0.0, 0.4)
    rigs.select(ob.pose.bones["toe.L"])
    bpy.context.view_layer.update()
    return last


def somebody(*_args: Any) -> None:
    """A handler that somebody has."""


@pytest.fixture(autouse=True)
def handler_gone():
    yield
    bpy.app.handlers.frame_change_pre[:] = [each for each in bpy.app.handlers.frame_change_pre if each != somebody]


@pytest.mark.parametrize("at", [0.01, 0.5, 0.9999])
@pytest.mark.parametrize("setup", SETUPS)
def test_cancelled(addon, setup, at):
    last = prepared(addon, setup)
    before = state(addon)

    def progress(done):
        if done >= at:
            raise Cancelled

    with pytest.raises(Cancelled):
        bake(addon, last, progress=progress, for_game=setup == "game")
    assert state(addon) == before


@pytest.mark.parametrize("setup", SETUPS[:-1])
def test_nothing_else(addon, setup):
    last = prepared(addon, setup)
    before = state(addon)
    bake(addon, last)
    after = state(addon)
    for kept in (before, after):
        kept["names"][3] = [name for name in kept["names"][3] if name != f"{last.id_data.name} Baked"]
        del kept["users"]
        for name in LIMB:
            del kept["bones"]["rig", name]
        kept["keys"]["rig"] = {
            key: keys for key, keys in kept["keys"]["rig"].items() if not any(f'"{name}"' in key[0] for name in LIMB)
        }
    assert after == before


@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
@pytest.mark.parametrize("has_keys", [False, True])
def test_outside_of_the_frames(addon, mode, has_keys):
    """Keys there stay, and so does the pose: the limb is IK again."""
    last = walker(addon, mode)
    if has_keys:
        thigh = last.parent
        for frame in (1, 5, 8, 12):
            thigh.rotation_quaternion = rigs.Quaternion((0, 1, 0), 0.1 * frame)
            thigh.keyframe_insert("rotation_quaternion", frame=frame)
            last["IK Influence"] = 1.0 if frame < 12 else 0.5
            last.keyframe_insert('["IK Influence"]', frame=frame)
            curve = next(curve for curve in rigs.curves(last.id_data) if "IK Influence" in curve.data_path)
            curve.keyframe_points[-1].interpolation = "CONSTANT"
    outside = [frame for frame in FRAMES if frame not in IN]
    before, old = seen(last.id_data), curves(addon, last.id_data)
    bake(addon, last, frames=IN)
    np.testing.assert_allclose(seen(last.id_data), before, atol=2e-5)
    for key, keys in curves(addon, last.id_data).items():
        kept = [each[:2] for each in old.get(key, ()) if each[0] in outside]
        assert [each[:2] for each in keys if each[:2] in kept] == kept
    for frame in FRAMES:
        bpy.context.scene.frame_set(frame)
        assert (last["IK Influence"] == 0.0) == (frame in IN)


def test_a_new_action(addon):
    last = walker(addon)
    ob, old = last.id_data, last.id_data.animation_data.action
    before, keys = seen(ob), curves(addon, ob)
    bake(addon, last, new_action=True)
    assert ob.animation_data.action != old
    np.testing.assert_allclose(seen(ob), before, atol=2e-5)
    ob.animation_data.action = old
    ob.animation_data.action_slot = old.slots[0]
    assert curves(addon, ob) == keys


def test_an_action_that_others_have_too(addon):
    last = walker(addon)
    ob = last.id_data
    other = ob.copy()
    bpy.context.collection.objects.link(other)
    other.animation_data.action = ob.animation_data.action
    before, keys = seen(ob), curves(addon, other)
    bake(addon, last)
    np.testing.assert_allclose(seen(ob), before, atol=2e-5)
    assert curves(addon, other) == keys


@pytest.mark.parametrize("what", ["curve", "group", "modifier", "strip"])
def test_what_would_change_the_keys(addon, what):
    """Muted curves and groups act again, and modifiers and strips no more."""
    last = walker(addon)
    ob, thigh = last.id_data, last.parent
    for frame in (1, 12):
        thigh.keyframe_insert("rotation_quaternion", frame=frame, group="thigh.L")
    found = [c for c in addon("blender.animation").curves_of(ob) if "thigh.L" in c.data_path]
    if what == "modifier":
        found[0].modifiers.new("NOISE")
    if what in ("curve", "group"):
        (found[0] if what == "curve" else found[0].group).mute = True
    if what == "strip":
        data = ob.animation_data
        data.nla_tracks.new().strips.new("strip", 1, data.action.copy())
    before = seen(ob)
    bake(addon, last)
    np.testing.assert_allclose(seen(ob), before, atol=2e-5)


@pytest.mark.parametrize("order", ["QUATERNION", "AXIS_ANGLE", "XYZ", "ZXY"])
def test_numbers_do_not_jump(addon, order):
    last = walker(addon)
    for bone in (last, last.parent):
        bone.rotation_mode = order
    bpy.context.view_layer.update()
    before = seen(last.id_data)
    bake(addon, last)
    np.testing.assert_allclose(seen(last.id_data), before, atol=2e-5)
    angles = [
        keys for (path, _), keys in curves(addon, last.id_data).items() if "rotation" in path and "hips" not in path
    ]
    assert max(np.abs(np.diff([key[1] for key in keys])).max() for keys in angles) < 2.0


@pytest.mark.parametrize("order", ["QUATERNION", "XYZ"])
@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
@pytest.mark.parametrize("tolerance", [1e-3, 0.02])
def test_fewer_keys(addon, mode, tolerance, order):
    """Joints are within the tolerance, and bones keep their turn about their own lines."""
    last = walker(addon, mode, stretch=0.5, twist=(0.4, -0.4))
    last.keyframe_insert('["IK Twist"]', frame=4)
    last.planar_ik.twist = (-0.4, 0.4)
    last.keyframe_insert('["IK Twist"]', frame=6)
    ob, frames = last.id_data, np.arange(1.0, 12.0, 0.25)
    for bone in (last, last.parent):
        bone.rotation_mode = order
    bpy.context.view_layer.update()
    before, turns = joints(ob, frames=frames), seen(ob, frames=frames)[..., :3, 0]
    report = bake(addon, last, tolerance=tolerance, frames=frames)
    assert np.abs(seen(ob, frames=frames)[..., :3, 0] - turns).max() < 0.05
    off = np.linalg.norm(joints(ob, frames=frames) - before, axis=-1).max()
    assert off <= tolerance + 1e-5
    counts = {len(keys) for (path, _), keys in curves(addon, ob).items() if "rotation" in path and "hips" not in path}
    assert counts == {report.keys}
    assert tolerance < 0.01 or report.keys < len(frames)


def test_toes_of_a_roll_among_many_curves(addon):
    ob = rigs.biped()
    rigs.click(ob, "shin.L")
    assert bpy.ops.pose.planar_ik_add(mode="RIG", foot_roll=True) == {"FINISHED"}
    last, frames = ob.pose.bones["shin.L"], range(1, 251)
    for bone in ob.pose.bones:
        for path in ("location", "scale"):
            bone.keyframe_insert(path, frame=1)
    for frame, roll in ((1, 0.0), (120, 1.2), (250, -0.4)):
        last["IK Roll"] = roll
        last.keyframe_insert('["IK Roll"]', frame=frame)
    names = [*LIMB, "toe.L"]
    before = seen(ob, names, frames)
    bake(addon, last, frames=frames)
    assert np.abs(before[:, 3] - before[0, 3]).max() > 0.1
    np.testing.assert_allclose(seen(ob, names, frames), before, atol=2e-5)


def test_a_flip_stays_a_cut(addon):
    last, quarters = walker(addon), np.arange(1.0, 12.0, 0.25)
    for each in (last.id_data, bpy.data.objects["to foot"]):
        each.animation_data_clear()
    for frame, flip in ((1, False), (6, True), (9, False)):
        last["IK Flip"] = flip
        last.keyframe_insert('["IK Flip"]', frame=frame)
    for tolerance in (0.0, 0.01):
        before = seen(last.id_data, frames=quarters)
        bake(addon, last, tolerance=tolerance)
        np.testing.assert_allclose(seen(last.id_data, frames=quarters), before, atol=2e-5)
        last["IK Influence"] = 1.0


def test_a_clip_gets_no_longer(addon):
    """The keys of influence least of all: games play all frames of an action."""
    last = walker(addon)
    action = last.id_data.animation_data.action
    before = tuple(action.frame_range)
    bake(addon, last)
    assert tuple(action.frame_range) == (FRAMES[0], FRAMES[-1])
    assert before[0] == FRAMES[0]
    assert last["IK Influence"] == 0.0
