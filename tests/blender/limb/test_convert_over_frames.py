"""Convert keeps limbs where the constraint had them in every frame, or refuses."""

from __future__ import annotations

import random
from itertools import pairwise

import bpy
import numpy as np
import pytest

from tests.blender import legs, rigs
from tests.blender.limb.test_converting import leg

FRAMES = range(1, 31)
KEYED = (1, 9, 17, 30)
NAMES = ("thigh.L", "shin.L", "foot.L")


def animate(ob, rng, fk=1.0):
    for frame in KEYED:
        for name, most in (("foot_ik", 0.15), ("knee_ik", 0.2), ("hips", 0.1)):
            ob.pose.bones[name].location = [rng.uniform(-most, most) for _ in range(3)]
            ob.pose.bones[name].keyframe_insert("location", frame=frame)
        ob.pose.bones["foot_ik"].location.z += 0.2
        ob.pose.bones["foot_ik"].keyframe_insert("location", frame=frame)
        for name in ("thigh.L", "shin.L"):
            ob.pose.bones[name].rotation_quaternion = rigs.turn(rng, fk if name == "thigh.L" else 0.3)
            ob.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)


def seen(ob):
    return legs.joints(ob, NAMES, FRAMES)


def off(now, before):
    return np.linalg.norm(now - before, axis=-1).max() / 0.9


@pytest.fixture
def convert(addon):
    return lambda lasts, **how: addon("tasks.converting").convert(bpy.context, lasts, **how)


def go_on(ob, how):
    """Have all curves end in frame 13, and go on by a modifier or in a line; a cycle begins as it ends."""
    for curve in rigs.curves(ob):
        for key, frame in zip(curve.keyframe_points, (1, 4, 8, 13), strict=True):
            key.co.x = frame
        curve.keyframe_points[-1].co.y = curve.keyframe_points[0].co.y
        curve.update()
        if how == "LINEAR":
            curve.extrapolation = "LINEAR"
        elif how:
            curve.modifiers.new(how)
    ob.animation_data.action.update_tag()


@pytest.mark.parametrize("mode", ["RIG", "LIVE"])
@pytest.mark.parametrize("pole", [False, True])
def test_every_frame_looks_as_before(convert, addon, mode, pole):
    for seed, how in enumerate(("", "", "CYCLES", "NOISE")):
        ob, last, _ = leg(pole)
        animate(ob, random.Random(seed))
        if how:
            bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
            go_on(ob, how)
        bpy.context.scene.frame_set(5)
        before = seen(ob)
        bpy.context.scene.frame_set(5)
        done = convert([last], mode=mode)
        assert done.limbs == [(ob, "shin.L")]
        assert off(seen(ob), before) < 2.1e-3
        swivels = [curve for curve in rigs.curves(ob) if "IK Swivel" in curve.data_path]
        assert swivels or pole  # with one, the constraint itself has no choice
        addon("tasks.converting").unconvert(bpy.context, [ob.pose.bones["shin.L"]])
        assert off(seen(ob), before) < 1e-6
        assert not [curve for curve in rigs.curves(ob) if "IK " in curve.data_path]
        bpy.data.objects.remove(ob)


def _second_ik(ob):
    made = ob.pose.bones["thigh.L"].constraints.new("IK")
    made.target, made.subtarget, made.chain_count = ob, "knee_ik", 1


def _copy_rotation(ob):
    made = ob.pose.bones["thigh.L"].constraints.new("COPY_ROTATION")
    made.target, made.subtarget = ob, "thigh.R"


REFUSED = [(other, mode) for other in (_second_ik, _copy_rotation) for mode in ("RIG", "LIVE")]
REFUSED.remove((_copy_rotation, "RIG"))  # what comes after it on the bone has the last word


@pytest.mark.parametrize(("other", "mode"), REFUSED)
def test_what_else_moves_it_is_refused(convert, addon, other, mode):
    ob, last, _ = leg()
    animate(ob, random.Random(1), fk=0.1)
    other(ob)
    bpy.context.scene.frame_set(1)
    before, curves = rigs.snapshot(), len(rigs.curves(ob))
    with pytest.raises(addon("blender.types").Refused):
        convert([last], mode=mode)
    assert rigs.snapshot() == before
    assert len(rigs.curves(ob)) == curves


@pytest.mark.parametrize("used", ["nothing", "other slot"])
def test_other_actions_are_named_or_kept(convert, addon, used):
    for all_actions in (False, True):
        ob, last, _ = leg()
        animate(ob, random.Random(1))
        other = ob.animation_data.action
        other.use_fake_user, other.name = True, f"walk {all_actions}"
        slot = ob.animation_data.action_slot
        before = seen(ob)
        if used == "nothing":
            ob.animation_data.action = None
        else:
            ob.animation_data.action_slot = other.slots.new("OBJECT", "run")
        for name in ("thigh.L", "shin.L", "foot_ik", "knee_ik", "hips"):
            ob.pose.bones[name].matrix_basis.identity()
        bpy.context.view_layer.update()
        done, is_kept = convert([last], all_actions=all_actions), all_actions or used == "other slot"
        assert any(other.name in str(each) for each in done.warnings) != is_kept
        (ob.animation_data or ob.animation_data_create()).action = other
        ob.animation_data.action_slot = slot
        assert (off(seen(ob), before) < 2.1e-3) == is_kept
        bpy.data.objects.remove(ob)


@pytest.mark.parametrize("pole", [False, True])
def test_a_smaller_tolerance_takes_more_keys_and_refuses_nothing(convert, pole):
    counts, offs, tolerances = [], [], (1e-2, 2e-3, 1e-3, 1e-4, 1e-5)
    for tolerance in tolerances:
        ob, last, _ = leg(pole)
        animate(ob, random.Random(1))
        before = seen(ob)
        assert convert([last], mode="RIG", tolerance=tolerance).limbs == [(ob, "shin.L")]
        offs.append(off(seen(ob), before))
        keyed = [curve for curve in rigs.curves(ob) if "IK " in curve.data_path]
        counts.append(sum(len(curve.keyframe_points) for curve in keyed))
        bpy.data.objects.remove(ob)
    assert all(few <= 1.3 * more for few, more in pairwise(counts))  # keys are not the fewest
    assert all(off <= max(tolerance, 1.01 * offs[-1]) for off, tolerance in zip(offs, tolerances, strict=True))
