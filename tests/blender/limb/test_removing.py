"""Remove leaves the rig as it was before Add, and nothing that something else uses is taken away."""

from __future__ import annotations

import random

import bpy
import numpy as np
import pytest

from tests.blender import legs, rigs

NAMES = {"target": "foot_ik.L", "pole": "knee_pole.L"}
"""What the controls of the shin are called."""


@pytest.mark.parametrize("knee", ["AUTO", "POLE"])
@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_nothing_is_left(addon, add, knee, mode):
    ob = rigs.biped()
    rng = random.Random(1)
    for name in ("thigh.L", "shin.L", "upper_arm.R", "hips", "foot.L"):
        ob.pose.bones[name].rotation_quaternion = rigs.turn(rng, 0.4)
    before = rigs.snapshot()
    lasts = add(ob, "shin.L", "shin.R", "forearm.R", knee=knee)
    assert rigs.snapshot() != before
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, lasts)
        lasts = [ob.pose.bones[name] for name in ("shin.L", "shin.R", "forearm.R")]
        lasts[0].planar_ik.stretch = 0.5
    addon("tasks.modes").remove(bpy.context, lasts)
    assert rigs.snapshot() == before


@pytest.mark.parametrize("is_by_property", [False, True])
def test_what_was_set_and_keyed_goes_too(addon, add, is_by_property):
    ob = rigs.biped()
    before = rigs.snapshot()
    (last,) = add(ob, "shin.L")
    last.planar_ik.softness = 0.1
    last.keyframe_insert('["IK Influence"]', frame=1)
    last.keyframe_insert('["IK Softness"]', frame=1)
    ob.pose.bones["hips"].keyframe_insert("location", frame=1)
    if is_by_property:
        last.planar_ik.enabled = False
    else:
        addon("tasks.modes").remove(bpy.context, [last])
    curves = [curve.data_path for curve in rigs.curves(ob)]
    assert curves == ['pose.bones["hips"].location'] * 3
    bpy.data.actions.remove(ob.animation_data.action)
    ob.animation_data_clear()
    assert rigs.snapshot() == before


def test_after_the_target_was_changed_to_an_empty(addon, add):
    ob = rigs.biped()
    (last,) = add(ob, "shin.L")
    empty = rigs.empty("empty")
    last.planar_ik.target = empty  # its constraint goes on holding the name of the bone that was followed
    foot = ob.pose.bones["foot.L"].constraints["Planar IK Foot"]
    assert foot.target == empty
    addon("tasks.modes").remove(bpy.context, [last])
    assert "empty" in bpy.data.objects
    assert not ob.pose.bones["shin.L"].constraints
    assert not ob.pose.bones["foot.L"].constraints


def _child_bone(ob, name):
    rigs.activate(ob, "EDIT")
    made = ob.data.edit_bones.new("ring")
    made.tail = (0, 0, 0.1)
    made.parent = ob.data.edit_bones[name]
    bpy.ops.object.mode_set(mode="POSE")


def _child_object(ob, name):
    rigs.empty("held", parent=ob, bone=name)


def _object_constraint(ob, name):
    made = rigs.empty("held").constraints.new("COPY_LOCATION")
    made.target, made.subtarget = ob, name


def _armature_constraint(ob, name):
    made = ob.pose.bones["spine"].constraints.new("ARMATURE")
    made.mute = True
    made.targets.new()
    made.targets[0].target, made.targets[0].subtarget = ob, name


def _pole_of_another(ob, name):
    other = rigs.biped()
    made = other.pose.bones["shin.R"].constraints.new("IK")
    made.target, made.pole_target, made.pole_subtarget = other, ob, name
    rigs.activate(ob)


def _another_limb(ob, name):
    ob.pose.bones["shin.R"].planar_ik.target = ob
    ob.pose.bones["shin.R"].planar_ik.subtarget = name


def _driver_on(ob, name):
    ob.pose.bones[name].driver_add("location", 0)


def _driver_from_elsewhere(ob, name):
    variable = rigs.empty("held").driver_add("location", 0).driver.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = ob, name


USES = (
    _child_bone, _child_object, _object_constraint, _armature_constraint, _pole_of_another, _another_limb, _driver_on,
    _driver_from_elsewhere,
)  # fmt: skip


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", ["target", "pole"])
def test_a_control_that_is_used_stays(addon, add, use, kind):
    ob = rigs.biped()
    add(ob, "shin.L", knee="POLE")
    use(ob, NAMES[kind])
    stay = [NAMES[kind]]
    assert addon("tasks.modes").remove(bpy.context, [ob.pose.bones["shin.L"]]) == stay
    left = [name for name in ob.pose.bones.keys() if name in NAMES.values()]  # noqa: SIM118
    assert left == stay


SHOWN = ("thigh.L", "shin.L", "foot.L", "thigh.R", "shin.R", "foot.R")


def _walk():
    """A biped whose left leg has keys, one of them outside the others."""
    ob, rng = rigs.biped(), random.Random(4)
    for frame in (1, 5, 9):
        for name in ("thigh.L", "shin.L", "foot.L"):
            ob.pose.bones[name].rotation_quaternion = rigs.turn(rng, 0.4)
            ob.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(3)
    return ob


def _seen(ob):
    """How bones stand in all frames, one of them outside of all keys."""
    return legs.seen(ob, SHOWN, range(-1, 14))


def _paths(ob):
    return {curve.data_path for curve in rigs.curves(ob)}


@pytest.mark.parametrize("is_baked", [False, True])
@pytest.mark.parametrize("mode", ["LIVE", "RIG"])
def test_keys_that_add_made_go_with_the_controls(addon, add, mode, is_baked):
    ob = _walk()
    bones, paths, before = ob.data.bones.keys(), _paths(ob), _seen(ob)
    add(ob, "shin.L", knee="POLE", mode=mode)
    assert {'pose.bones["foot_ik.L"].location', 'pose.bones["knee_pole.L"].location'} <= _paths(ob)
    assert _taken_away(addon, ob, is_baked) == []
    assert ob.data.bones.keys() == bones
    assert {path for path in _paths(ob) if not path.endswith(("location", "scale"))} == paths
    np.testing.assert_allclose(_seen(ob), before, atol=2e-3)


def _taken_away(addon, ob, is_baked):
    """Take IK off the left leg, by a bake or without: what is said."""
    last = ob.pose.bones["shin.L"]
    if not is_baked:
        return addon("tasks.modes").remove(bpy.context, [last])
    request = addon("tasks.baking").BakeRequest([last], [*range(-1, 14)], tolerance=0.0, remove=True)
    return [
        name
        for note in addon("tasks.baking").bake(bpy.context, request).notes
        for name in note.values["names"].split(", ")
    ]


def test_a_control_that_something_else_uses_is_left_where_it_is(addon, add):
    ob = _walk()
    add(ob, "shin.L")
    _child_object(ob, "foot_ik.L")
    assert _taken_away(addon, ob, False) == ["foot_ik.L"]
    held = _curves_of(ob, "foot_ik.L")
    (last,) = add(ob, "shin.L")
    assert last.planar_ik.subtarget == "foot_ik.L.001"
    assert _curves_of(ob, "foot_ik.L") == held


def _curves_of(ob, bone):
    return [
        [tuple(key.co) for key in curve.keyframe_points] for curve in rigs.curves(ob) if f'"{bone}"' in curve.data_path
    ]
