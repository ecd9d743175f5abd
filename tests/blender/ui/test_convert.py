"""Converting Blender's IK constraints: whole bone matrices before and after, on limbs made here and on Rigify's."""

from __future__ import annotations

import ast
import json
import re

import bpy
import numpy as np
import pytest
from mathutils import Euler, Matrix, Vector

from scripts import installed
from tests.blender.rigify import generated
from tests.blender.rigs import (
    HIP,
    LEG,
    NEAR,
    NEXT,
    SHIN,
    Bone,
    add_bones,
    assert_on_target,
    curves,
    editing,
    make_empty,
    make_rig,
    press,
    put,
    select,
    set_keys,
    update,
)

SAME = 1e-4
"""What the constraint's own iterations leave, in the bones' matrices."""

NEARLY = 1e-5
"""How near a limb's tip is to its target on the rig, in its lengths."""

RUNS_ON = pytest.mark.parametrize("runs_on", [{}, {"runs_on": "EXTENSION"}], ids=["by itself", "extension"])
"""What *Convert* is told to let limbs run on: nothing, which is the rig, or the extension."""

BONES = (
    HIP,
    LEG[1]._replace(head=(0.1, 0, 0)),  # in one plane with the pole
    SHIN,
    Bone("foot", SHIN.tail, (0.1, 0.4, -2), "shin", connected=True),
)


def leg(pole=(0.1, 5, -0.5), target=NEAR, **settings):
    """A leg with an IK constraint whose knee points at its pole, or beside it if the pole is not in its plane."""
    ob = make_rig(BONES)
    constraint = ob.pose.bones["shin"].constraints.new("IK")
    constraint.target, constraint.chain_count, constraint.iterations = make_empty("target", target), 2, 500
    if pole:
        constraint.pole_target = make_empty("pole", pole)
        constraint.pole_angle = pole_angle(ob, constraint.pole_target.location)
    for name, value in settings.items():
        setattr(constraint, name, value)
    select(ob, "shin")
    update()
    return ob, constraint


def pole_angle(ob, pole):
    """With which a constraint leaves the roll of the upper bone as at rest."""
    upper, lower = ob.data.bones["thigh"], ob.data.bones["shin"]
    along = upper.tail_local - upper.head_local
    normal = (lower.tail_local - upper.head_local).cross(pole - upper.head_local)
    aside = normal.cross(along)
    angle = upper.x_axis.angle(aside)
    return angle if upper.x_axis.cross(aside).dot(along) >= 0 else -angle


def matrices(ob, *names):
    update()
    bones = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    return np.array([bones[name].matrix for name in names or ("thigh", "shin", "foot")])


def moved(ob, before, *names):
    return np.abs(matrices(ob, *names) - before).max()


@RUNS_ON
def test_a_constraint_with_a_pole_becomes_a_chain(runs_on):
    ob, constraint = leg()
    target, pole = constraint.target, constraint.pole_target
    before = matrices(ob)
    assert bpy.ops.pose.planar_ik_convert(**runs_on) == {"FINISHED"}
    chain = ob.pose.bones["shin"].planar_ik
    assert "IK" not in {each.type for each in ob.pose.bones["shin"].constraints}
    assert chain.runs_on == runs_on.get("runs_on", "RIG")
    assert (chain.target, chain.pole_target, chain.plane) == (target, pole, "POLE")
    assert moved(ob, before) < SAME
    assert_on_target(ob, target, within=NEARLY)


@RUNS_ON
@pytest.mark.parametrize("scale", [(1, 1, 1), (-1, 1, 1)])
@pytest.mark.parametrize("beside", [0.0, 0.5, 1.0, -2.5])
def test_the_chain_goes_on_as_the_constraint_would(beside, scale, runs_on):
    """Other targets and poles, whether the knee points at the pole or beside it: the constraint is the oracle."""
    ob, constraint = leg()
    ob.pose.bones["hip"].scale = scale
    constraint.pole_angle += beside
    places = [(NEXT, (0.3, 5, -0.5)), ((0.5, 0.2, -1.2), (2, 4, -1)), ((-0.3, -0.3, -1.5), (-1, 4, 1))]
    wanted = []
    for target, pole in places:
        constraint.target.location, constraint.pole_target.location = target, pole
        wanted.append(matrices(ob))
    bpy.ops.pose.planar_ik_convert(**runs_on)
    chain = ob.pose.bones["shin"].planar_ik
    assert chain.pole_target == bpy.data.objects["pole"]
    for (target, pole), before in zip(places, wanted, strict=True):
        chain.target.location, chain.pole_target.location = target, pole
        assert moved(ob, before) < 2e-3  # the constraint's own error


@pytest.mark.parametrize("name", ["target", "subtarget"])
def test_a_bone_of_the_rig_can_be_the_target(name):
    ob = make_rig((*BONES, Bone("foot_ik", NEAR, (0.2, 0.6, -1.2)), Bone("knee_ik", (0.1, 5, 0), (0.1, 6, 0))))
    constraint = ob.pose.bones["shin"].constraints.new("IK")
    constraint.target = constraint.pole_target = ob
    constraint.subtarget, constraint.pole_subtarget, constraint.chain_count = "foot_ik", "knee_ik", 2
    constraint.pole_angle = pole_angle(ob, ob.data.bones["knee_ik"].head_local)
    select(ob, (name == "target" and "shin") or "thigh")
    before = matrices(ob)
    bpy.ops.pose.planar_ik_convert(chains="SELECTED")
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.subtarget, chain.pole_subtarget) == ("foot_ik", "knee_ik")
    assert moved(ob, before) < SAME


def test_without_a_pole():
    ob, constraint = leg(pole=None)
    target = constraint.target
    before = matrices(ob)
    bpy.ops.pose.planar_ik_convert()
    assert moved(ob, before) < SAME
    assert_on_target(ob, target, within=NEARLY)


@pytest.mark.parametrize("carrier", ["hip", "object"])
def test_the_pole_of_a_knee_that_turned_with_the_target_goes_where_the_limb_goes(carrier):
    """As that of a character who walks away."""
    ob, _ = leg(pole=None)
    ob.pose.bones["thigh"].rotation_quaternion = Euler((0.1, 0.9, 0.2)).to_quaternion()
    before = matrices(ob)
    bpy.ops.pose.planar_ik_convert()
    assert ob.pose.bones["shin"].planar_ik.plane == "POLE"
    assert moved(ob, before) < SAME
    away = Matrix.LocRotScale(Vector((4, -3, 1)), Euler((0.4, 0.5, 2.6)), None)
    target = bpy.data.objects["target"]
    target.matrix_world = away @ target.matrix_world
    if carrier == "hip":
        ob.pose.bones["hip"].matrix = away @ ob.pose.bones["hip"].matrix
        before = np.array(away) @ before
    else:
        ob.matrix_world = away @ ob.matrix_world
    assert moved(ob, before) < SAME


def with_a_switched_pole():
    """A leg with two constraints, of which its hip switches one off, that with the pole or that without."""
    ob, poled = leg()
    free = ob.pose.bones["shin"].constraints.new("IK")
    free.target, free.chain_count, free.iterations = poled.target, 2, 500
    for constraint, expression in ((free, "y < 0.05"), (poled, "y >= 0.05")):
        driver = constraint.driver_add("mute").driver
        variable = driver.variables.new()
        variable.name, variable.type = "y", "TRANSFORMS"
        source = variable.targets[0]
        source.id, source.bone_target = ob, "hip"
        source.transform_type, source.transform_space = "LOC_Y", "LOCAL_SPACE"
        driver.expression = expression
    return ob


def test_a_pole_that_a_bone_switches_by_where_it_is():
    ob = with_a_switched_pole()
    before = matrices(ob)
    bpy.ops.pose.planar_ik_convert()
    assert moved(ob, before) < SAME
    chain = ob.pose.bones["shin"].planar_ik
    for place, plane in ((0.1, "SWING"), (0.0, "POLE")):
        put(ob.pose.bones["hip"].location, y=place)
        assert chain.plane == plane


@RUNS_ON
def test_keyed_influence_is_carried_over(runs_on):
    ob, constraint = leg()
    set_keys(constraint, "influence", {1: 0.0, 10: 1.0})
    before = {}
    for frame in (1, 10):
        bpy.context.scene.frame_set(frame)
        before[frame] = matrices(ob)
    bpy.ops.pose.planar_ik_convert(**runs_on)
    chain = ob.pose.bones["shin"].planar_ik
    for frame, pose in before.items():
        bpy.context.scene.frame_set(frame)
        assert moved(ob, pose) < SAME
    bpy.context.scene.frame_set(5)
    assert 0.2 < chain.influence < 0.8


def test_keyed_influence_is_carried_over_from_a_constraint_of_any_name():
    ob, constraint = leg()
    constraint.name = 'IK "left" \\ [1]'
    set_keys(constraint, "influence", {1: 0.0, 10: 1.0})
    press(ob, "convert")
    assert not ob.pose.bones["shin"].constraints or ob.pose.bones["shin"].planar_ik.runs_on == "RIG"
    for frame, influence in ((1, 0.0), (10, 1.0)):
        bpy.context.scene.frame_set(frame)
        assert ob.pose.bones["shin"].planar_ik.influence == influence


def test_an_animated_pole_angle_is_named(capfd):
    _, constraint = leg()
    constraint.keyframe_insert("pole_angle", frame=1)
    bpy.ops.pose.planar_ik_convert()
    assert "'shin' is converted, but what animates its pole angle does nothing any more" in capfd.readouterr().out


@pytest.mark.parametrize("roll", [0.0, 0.1])
def test_a_knee_that_its_locks_tilt_is_named(capfd, roll):
    """As in the front legs of Rigify's wolf: locked to turn about X alone, which is not square to the limb."""
    ob, _ = leg()
    with editing(ob) as bones:
        across = (bones["shin"].head - bones["thigh"].head).cross(bones["shin"].vector)
        bones["shin"].align_roll(across.cross(bones["shin"].vector))
        bones["shin"].roll += roll
    ob.pose.bones["shin"].lock_ik_y = ob.pose.bones["shin"].lock_ik_z = True
    select(ob, "shin")
    bpy.ops.pose.planar_ik_convert(most_change=1.0)
    assert ("its knee bends in the limb's plane now, off which IK locks held it by 5.7°" in capfd.readouterr().out) == (
        roll > 0.0
    )


def test_stretch_is_carried_over():
    ob, _ = leg(target=(0.1, 0.3, -2.6))
    ob.pose.bones["thigh"].ik_stretch = ob.pose.bones["shin"].ik_stretch = 0.1
    before = matrices(ob)
    with pytest.raises(RuntimeError, match="changes the length of one of its bones"):
        bpy.ops.pose.planar_ik_convert()
    assert moved(ob, before) == 0.0
    bpy.ops.pose.planar_ik_convert(most_change=0.05)
    chain = ob.pose.bones["shin"].planar_ik
    assert chain.stretch == 1.0
    assert_on_target(ob, chain.target)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"chain_count": 3}, "Chain Length of 3"),
        ({"use_tail": False}, "Use Tail"),
        ({"use_rotation": True}, "Rotation"),
        ({"ik_type": "DISTANCE"}, "distance"),
    ],
)
def test_what_can_not_be_carried_is_named_and_left_alone(settings, word):
    ob, constraint = leg(**settings)
    before = matrices(ob)
    with pytest.raises(RuntimeError, match=word):
        bpy.ops.pose.planar_ik_convert()
    assert moved(ob, before) == 0.0
    assert list(ob.pose.bones["shin"].constraints) == [constraint]
    assert not constraint.mute
    assert not ob.pose.bones["shin"].planar_ik.enabled


def test_a_pole_that_looks_at_the_knee_is_named():
    """Such a rig is a circle already, as Blender says in its log: what moves then is no matter of Most Change."""
    ob, constraint = leg(pole=())
    with editing(ob):
        add_bones(ob, [Bone("pole", (0.1, 5, -0.5), (0.1, 5.2, -0.5))])
    look = ob.pose.bones["pole"].constraints.new("DAMPED_TRACK")
    look.target, look.subtarget = ob, "shin"
    constraint.pole_target, constraint.pole_subtarget = ob, "pole"
    select(ob, "shin")
    with pytest.raises(RuntimeError, match="Bone 'pole' hangs on the chain"):
        bpy.ops.pose.planar_ik_convert(most_change=10.0)
    assert constraint in [*ob.pose.bones["shin"].constraints]
    assert not constraint.mute


def two_legs(count=2):
    """Two legs with IK constraints, the other's over so many bones."""
    ob = make_rig((HIP, *LEG[1:], *(bone._replace(name=f"{bone.name}2", parent=parent) for bone, parent in other())))
    for name, bones in (("shin", 2), ("shin2", count)):
        constraint = ob.pose.bones[name].constraints.new("IK")
        constraint.target, constraint.chain_count = make_empty(name, NEAR), bones
    return ob


def test_one_limb_that_can_not_be_carried_keeps_no_other_from_it():
    ob = two_legs(3)
    press(ob, "convert", "hip")
    assert ob.pose.bones["shin"].planar_ik.enabled
    assert not ob.pose.bones["shin2"].planar_ik.enabled
    assert ob.pose.bones["shin2"].constraints


def test_of_limbs_that_can_not_be_carried_each_is_named(capfd):
    ob = two_legs(1)
    ob.pose.bones["shin"].constraints[0].use_tail = False
    with pytest.raises(RuntimeError, match="of 'shin' has Use Tail off"):
        press(ob, "convert", "hip")
    assert "of 'shin2' has a Chain Length of 1" in capfd.readouterr().out


@pytest.mark.parametrize("runs_on", ["RIG", "EXTENSION"])
def test_a_limb_that_has_a_chain_already_keeps_it(runs_on):
    """As one that got another constraint since, or whose own was only muted."""
    ob, constraint = leg()
    shin, target = ob.pose.bones["shin"], constraint.target
    shin.constraints.remove(constraint)
    press(ob, "add", target="target", plane="SWING", runs_on=runs_on)
    shin = ob.pose.bones["shin"]
    shin.planar_ik.softness = 0.25
    another = shin.constraints.new("IK")
    another.target, another.chain_count, another.mute = target, 2, True
    update()
    before, parts = matrices(ob), sorted(ob.data.bones.keys())
    with pytest.raises(RuntimeError, match="'shin' has a chain already"):
        press(ob, "convert")
    update()
    chain = ob.pose.bones["shin"].planar_ik
    assert (chain.enabled, chain.target.name, chain.softness, chain.runs_on) == (True, "target", 0.25, runs_on)
    assert (moved(ob, before), sorted(ob.data.bones.keys())) == (0.0, parts)


def test_settings_of_a_chain_that_is_off_outlast_a_conversion_that_fails():
    ob, constraint = leg(pole=None)
    chain = ob.pose.bones["shin"].planar_ik
    chain.softness, chain.target = 0.25, make_empty("another")
    ob.pose.bones["shin"].keyframe_insert("planar_ik_softness", frame=1)
    constraint.chain_count, constraint.iterations = 2, 1
    ob.pose.bones["thigh"].rotation_quaternion = (0.9, 0.3, 0.3, 0.1)
    with pytest.raises(RuntimeError, match="The chain would move 'shin'"):
        press(ob, "convert", most_change=0.0)
    assert (chain.enabled, chain.softness, chain.target.name) == (False, 0.25, "another")
    assert {path for path, _ in curves(ob)} == {'pose.bones["shin"].planar_ik_softness'}
    assert not constraint.mute


def test_a_constraint_on_a_bone_without_a_parent_is_left_alone():
    ob, _ = leg()
    constraint = ob.pose.bones["hip"].constraints.new("IK")
    constraint.target, constraint.chain_count = make_empty("other"), 2
    press(ob, "convert", chains="ALL")
    assert ob.pose.bones["shin"].planar_ik.enabled
    assert ob.pose.bones["hip"].constraints["IK"]


@pytest.mark.parametrize("make", [lambda: leg()[0], with_a_switched_pole], ids=["no bones", "helper bones"])
def test_after_an_error_of_another_kind_everything_is_given_back(make, monkeypatch):
    """An error in the code itself, which is no refusal."""

    def state():
        each = [(constraint.mute, constraint.influence) for constraint in ob.pose.bones["shin"].constraints]
        return each, sorted(ob.data.bones.keys()), ob.pose.bones["shin"].planar_ik.enabled

    def fail(*_):
        raise ZeroDivisionError

    ob = make()
    update()
    before = state()
    monkeypatch.setattr(installed.addon("addon.ui.operators.converting"), "_try", fail)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        bpy.ops.pose.planar_ik_convert(chains="ALL")
    update()
    assert state() == before


def test_one_limb_that_can_not_run_on_the_rig_keeps_no_other_from_it(capfd):
    ob = two_legs()
    ob.pose.bones["shin2"].driver_add("scale", 1).driver.expression = "1"
    press(ob, "convert", "hip", most_change=0.01)
    assert [ob.pose.bones[name].planar_ik.runs_on for name in ("shin", "shin2")] == ["RIG", "EXTENSION"]
    assert "Runs on the extension: Scale of 'shin2' is driven" in capfd.readouterr().out


def other():
    return [(LEG[1], "hip"), (LEG[2], "thigh2")]


# Rigify


LIMBS = {
    "basic_human": {"thigh": "foot_ik", "upper_arm": "hand_ik"},
    "basic_quadruped": {"thigh": "foot_ik", "front_thigh": "front_foot_ik"},
}


ALIKE = {"basic_human": 3e-3, "basic_quadruped": 4e-2}
"""How near the poses are when controls moved: what the constraint's iterations leave, more where limbs are nearly
straight; and on the quadruped that two of its hinges are not square to their bones, by 0.8 and 1.2 degrees."""


@pytest.mark.parametrize("metarig", sorted(LIMBS))
def test_a_rigify_rig_is_converted_and_its_controls_go_on_working(metarig):
    """Its constraints are the oracle, once they may not make bones shorter where they reach: by 2 % for a bent leg."""
    ob = generated(metarig)
    deforming = [bone.name for bone in ob.data.bones if bone.use_deform]
    at_rest = matrices(ob, *deforming)
    solved = [bone for bone in ob.pose.bones if any(each.type == "IK" for each in bone.constraints)]
    kept = [(each, each.ik_stretch) for bone in solved for each in (bone, bone.parent)]
    for bone, _ in kept:
        bone.ik_stretch = 0.0
    wanted = {(name, pole): _posed(ob, name, pole, deforming) for name in LIMBS[metarig] for pole in (False, True)}
    for bone, stretch in kept:
        bone.ik_stretch = stretch
    assert bpy.ops.pose.planar_ik_convert() == {"FINISHED"}
    assert moved(ob, at_rest, *deforming) < SAME
    for (name, pole), pose in wanted.items():
        off = np.abs(_posed(ob, name, pole, deforming) - pose)
        assert off.max() < ALIKE[metarig], (name, pole)
    assert np.abs(_posed(ob, "thigh", False, deforming, IK_FK=1.0) - at_rest).max() < SAME
    off = _posed(ob, "thigh", False, deforming, -12.0, IK_Stretch=0.0) - _posed(ob, "thigh", False, deforming, -12.0)
    assert np.abs(off).max() > 0.05


def _posed(ob, name, pole, bones, far=1.0, **settings):
    """The deforming bones with a limb's control moved and its pole on or off; then all is put back."""
    control = ob.pose.bones[{**LIMBS["basic_human"], **LIMBS["basic_quadruped"]}[name] + ".L"]
    switches = ob.pose.bones[f"{name}_parent.L"]
    settings["pole_vector"] = pole
    kept = {setting: switches[setting] for setting in settings}
    for setting, value in settings.items():
        switches[setting] = value
    control.location = (0.05 * far, 0.1 * far, 0.12 * far)
    ob.update_tag()
    found = matrices(ob, *bones)
    for setting, value in kept.items():
        switches[setting] = value
    control.location = (0, 0, 0)
    ob.update_tag()
    update()
    return found


TURNS = (("thigh", 0.8, 0.0), ("thigh", -0.5, 1.0), ("thigh", 1.2, 3.0), ("upper_arm", 0.9, 0.0))
"""Which control is turned by how much, and how far that of the foot is moved."""


def test_turning_the_upper_control_swings_the_knee_as_before():
    """The constraints, which begin with the pose that the control has, are the oracle; also where it is turned already,
    its place and scale are keyed, and played back."""
    ob = generated("basic_human")
    deforming = [bone.name for bone in ob.data.bones if bone.use_deform]
    controls = [ob.pose.bones[f"{name}_ik.L"] for name in ("thigh", "upper_arm")]
    names = [bone.name for bone in ob.data.bones]
    for bone in [bone for bone in ob.pose.bones if any(each.type == "IK" for each in bone.constraints)]:
        bone.ik_stretch = bone.parent.ik_stretch = 0.0
    wanted = [_turned(ob, *turn, deforming) for turn in TURNS]
    controls[0].rotation_euler[1] = 0.4
    for channel in ("location", "scale"):
        controls[0].keyframe_insert(channel, frame=1)
    before = matrices(ob, *deforming)
    with pytest.raises(RuntimeError, match="would move"):
        bpy.ops.pose.planar_ik_convert(most_change=0.0)
    assert [bone.name for bone in ob.data.bones] == names
    assert moved(ob, before, *deforming) < 1e-5
    assert bpy.ops.pose.planar_ik_convert() == {"FINISHED"}
    assert moved(ob, before, *deforming) < SAME
    controls = [ob.pose.bones[f"{name}_ik.L"] for name in ("thigh", "upper_arm")]
    controls[0].rotation_euler[1] = 0.0
    for turn, pose in zip(TURNS, wanted, strict=True):
        assert np.abs(_turned(ob, *turn, deforming) - pose).max() < 1e-3, turn
    for frame, angle in ((1, 0.0), (10, 0.8)):
        controls[0].rotation_euler[1] = angle
        controls[0].keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_set(10)
    assert np.abs(matrices(ob, *deforming) - wanted[0]).max() < 1e-3
    assert installed.addon("addon.ui.finding").chain_meant(bpy.context) is None
    for control in ("foot_ik.L", "thigh_ik.L"):
        select(ob, control)
        assert installed.addon("addon.ui.finding").chain_meant(bpy.context).name == "MCH-shin_ik.L"


LIFTED = {
    f"{name}.{side}": {"location": place}
    for name, place in (("foot_ik", (0.0, -0.15, 0.25)), ("hand_ik", (0.0, -0.1, 0.15)))
    for side in "LR"
}
"""Where feet and hands are, for controls to be tried: well within reach."""

TRIED: dict[str, tuple[dict[str, dict[str, tuple[float, ...]]], dict[str, float]]] = {
    "foot turned": ({"foot_ik.L": {"rotation_euler": (0.4, 0.3, -0.5)}}, {}),
    "foot aside": ({"foot_ik.L": {"location": (0.3, 0.1, 0.3)}}, {}),
    "heel": ({"foot_heel_ik.L": {"rotation_euler": (0.4, 0.0, 0.0)}}, {}),
    "hand turned": ({"hand_ik.L": {"rotation_euler": (0.4, 0.3, -0.5)}}, {}),
    "leg turned": ({"thigh_ik.L": {"rotation_euler": (0.0, 0.5, 0.0)}}, {}),
    "leg moved": ({"thigh_ik.L": {"location": (0.02, 0.03, -0.04)}}, {}),
    "leg scaled": ({"thigh_ik.L": {"scale": (1.2, 1.2, 1.2)}}, {}),
    "arm scaled": ({"upper_arm_ik.L": {"rotation_euler": (0.0, 0.6, 0.0), "scale": (1.2, 1.2, 1.2)}}, {}),
    "pole": ({"thigh_ik_target.L": {"location": (0.8, 0.1, 0.2)}}, {"pole_vector": 1.0}),
    "leg scaled, pole": ({"thigh_ik.L": {"scale": (0.9, 0.9, 0.9)}}, {"pole_vector": 1.0}),
    "leg between FK and IK": ({}, {"IK_FK": 0.3}),
    "leg FK": ({}, {"IK_FK": 1.0}),
    "torso": ({"torso": {"location": (0.03, -0.02, -0.05), "rotation_euler": (0.1, 0.0, 0.2)}}, {}),
    "torso scaled": ({"torso": {"scale": (0.9, 0.9, 0.9)}}, {}),
    "root scaled": ({"root": {"scale": (2.0, 2.0, 2.0)}}, {}),
}
"""What an animator does with a human's controls, and to what the leg's switches are set."""


@RUNS_ON
def test_every_control_goes_on_doing_what_it_did(runs_on):
    """The constraints are the oracle, once they may not make bones shorter where they reach."""
    ob = generated("basic_human")
    deforming = [bone.name for bone in ob.data.bones if bone.use_deform]
    solved = [bone for bone in ob.pose.bones if any(each.type == "IK" for each in bone.constraints)]
    for bone in solved:
        bone.ik_stretch = bone.parent.ik_stretch = 0.0
    tries = {"nothing": ({}, {}), **TRIED}
    wanted = {name: _tried(ob, *what, deforming) for name, what in tries.items()}
    for bone in solved:
        bone.ik_stretch = bone.parent.ik_stretch = 0.1
    assert bpy.ops.pose.planar_ik_convert(**runs_on) == {"FINISHED"}
    for name, what in tries.items():
        found = _tried(ob, *what, deforming)
        if what != ({}, {}):
            assert np.abs(wanted[name] - wanted["nothing"]).max() > 0.05, f"{name} does nothing"
        assert np.abs(found - wanted[name]).max() < 3e-3 * max(1.0, np.abs(found).max()), name


def _tried(ob, channels, settings, bones):
    """The deforming bones with feet and hands lifted, other controls moved and the leg's switches set; then all is put
    back. The tips of chains, where there are any, are on their targets."""
    switches = ob.pose.bones["thigh_parent.L"]
    kept = {name: switches[name] for name in settings}
    for name, value in settings.items():
        switches[name] = type(kept[name])(value)
    for name in {**LIFTED, **channels}:
        ob.pose.bones[name].rotation_mode = "XYZ"
        for channel, value in {**LIFTED.get(name, {}), **channels.get(name, {})}.items():
            setattr(ob.pose.bones[name], channel, value)
    ob.update_tag()
    found = matrices(ob, *bones)
    posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
    for lower in [bone for bone in posed if bone.planar_ik.enabled]:
        size = lower.parent.length + lower.length
        assert (lower.tail - posed[lower.planar_ik.subtarget].head).length < NEARLY * size, lower.name
    for name in {**LIFTED, **channels}:
        bone = ob.pose.bones[name]
        bone.location, bone.rotation_euler, bone.scale = (0, 0, 0), (0, 0, 0), (1, 1, 1)
    for name, value in kept.items():
        switches[name] = value
    ob.update_tag()
    update()
    return found


def _turned(ob, name, angle, far, bones):
    """The deforming bones with a limb's upper control turned and the foot's moved; then all is put back."""
    control = ob.pose.bones[f"{name}_ik.L"]
    control.rotation_euler[1] = angle
    update()
    found = _posed(ob, "thigh", False, bones, far)
    control.rotation_euler[1] = 0.0
    ob.update_tag()
    update()
    return found


def test_a_constraint_that_stays_is_named_and_not_bones_to_pose_by_hand():
    ob = generated("basic_quadruped")
    converting = installed.addon("addon.ui.operators.converting")
    with pytest.raises(converting.Refused, match="'Copy Scale' moves 'MCH-shin_ik3"):
        converting.convert(bpy.context, ob.pose.bones["MCH-foot_ik3.L"])


SNAPPED = {"ik2fk": 5e-3, "generic_snap": 1e-5, "toggle_pole": 5e-3}
"""How near Rigify's own operators leave the pose, by what they snap: with its constraints, 5e-3, 1e-6 and 2e-3."""


@pytest.mark.parametrize("limb", ["thigh", "upper_arm"])
@pytest.mark.parametrize("pole", [False, True])
def test_rigifys_own_snapping_works_on_what_was_converted(limb, pole):
    """The buttons of its panel: IK to FK, FK to IK, and the pole switched without moving the limb."""
    ob = generated("basic_human")
    deforming = [bone.name for bone in ob.data.bones if bone.use_deform]
    calls, switches = calls_of_its_panel(ob), ob.pose.bones[f"{limb}_parent.L"]
    bpy.ops.pose.planar_ik_convert()
    switches["pole_vector"], switches["IK_FK"] = pole, 1.0
    turns = (-0.4, 0.7, 0.2) if limb == "thigh" else (0.3, 0.7, 0.2)
    fk, control = FK[limb], ob.pose.bones[LIMBS["basic_human"][limb] + ".L"]
    for name, angle in zip(fk, turns, strict=True):
        bone = ob.pose.bones[f"{name}.L"]
        bone.rotation_mode = "XYZ"
        bone.rotation_euler = (angle, 0.1 if name == fk[0] else 0.0, 0.0)
    ob.update_tag()
    found = {"ik2fk": snapped(ob, calls["limb_ik2fk", switches.name], deforming, switches, IK_FK=0.0)}
    control.location = [number + 0.05 for number in control.location]
    ob.update_tag()
    found["generic_snap"] = snapped(ob, calls["generic_snap", f"{fk[0]}.L"], deforming, switches, IK_FK=1.0)
    switches["IK_FK"] = 0.0
    ob.update_tag()
    for to in (not pole, pole):
        toggle = calls["limb_toggle_pole", switches.name]
        found["toggle_pole"] = snapped(ob, (toggle[0], toggle[1] | {"use_pole": to}), deforming, switches)
        assert bool(switches["pole_vector"]) == to
        assert {name: off for name, off in found.items() if off > SNAPPED[name]} == {}


@pytest.mark.parametrize("name", ["switch", "snap_fk", "snap_target"])
@pytest.mark.parametrize("control", ["foot_ik.L", "hand_ik.R"])
def test_switching_and_snapping_name_the_rigs_own_slider(control, name):
    """What the hidden limb holds nobody would see."""
    ob = generated("basic_human")
    deforming = [bone.name for bone in ob.data.bones if bone.use_deform]
    bpy.ops.pose.planar_ik_convert()
    before = matrices(ob, *deforming)
    select(ob, control)
    owner = {"f": "thigh_parent.L", "h": "upper_arm_parent.R"}[control[0]]
    with pytest.raises(RuntimeError, match=f"between FK and IK, by 'IK_FK' of '{owner}': use that"):
        getattr(bpy.ops.pose, f"planar_ik_{name}")()
    assert moved(ob, before, *deforming) == 0.0
    assert all(bone.planar_ik.influence == 1.0 for bone in ob.pose.bones if bone.planar_ik.enabled)


BAKED = (1, 5, 10)
"""The frames that are keyed, and so are baked."""


@pytest.mark.parametrize("pole", [False, True])
def test_rigifys_own_bakes_work_on_what_was_converted(pole):
    """IK from FK and FK from IK, on all keyed frames of the scene's range."""
    ob = generated("basic_human")
    deforming = [bone.name for bone in ob.data.bones if bone.use_deform]
    calls, switches = calls_of_its_panel(ob), ob.pose.bones["thigh_parent.L"]
    bpy.ops.pose.planar_ik_convert()
    switches["pole_vector"], switches["IK_FK"] = pole, 1.0
    for number, frame in enumerate(BAKED):
        for name, angle in zip(FK["thigh"], (-0.4, 0.7, 0.2), strict=True):
            bone = ob.pose.bones[f"{name}.L"]
            bone.rotation_mode = "XYZ"
            bone.rotation_euler = (angle * (1.0 + 0.2 * number), 0.1 * number * (name == FK["thigh"][0]), 0.0)
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = BAKED[0], BAKED[-1]
    wanted = over_frames(ob, deforming)
    assert np.abs(wanted[0] - wanted[-1]).max() > 0.1
    for bake, of, is_fk, near in (
        ("limb_ik2fk_bake", switches.name, 0.0, SNAPPED["ik2fk"]),
        ("generic_snap_bake", f"{FK['thigh'][0]}.L", 1.0, SNAPPED["generic_snap"]),
    ):
        before = over_frames(ob, deforming)
        name, arguments = calls[bake, of]
        assert getattr(bpy.ops.pose, name)(**arguments) == {"FINISHED"}
        switches["IK_FK"] = is_fk
        ob.update_tag()
        assert np.abs(over_frames(ob, deforming) - before).max() < near, bake


def over_frames(ob, bones):
    """Whole matrices of bones on the frames that are baked."""
    found = []
    for frame in BAKED:
        bpy.context.scene.frame_set(frame)
        found.append(matrices(ob, *bones))
    return np.array(found)


FK = {"thigh": ("thigh_fk", "shin_fk", "foot_fk"), "upper_arm": ("upper_arm_fk", "forearm_fk", "hand_fk")}


def snapped(ob, call, bones, switches, **switched):
    """How far an operator of Rigify's panel moves bones, once what it prepares is switched."""
    before = matrices(ob, *bones)
    name, arguments = call
    assert getattr(bpy.ops.pose, name)(**arguments) == {"FINISHED"}
    for setting, value in switched.items():
        switches[setting] = value
    ob.update_tag()
    return float(np.abs(matrices(ob, *bones) - before).max())


def calls_of_its_panel(ob):
    """The operators that Rigify's panel calls for the left side and their arguments, by what they are called and the
    limb's switches or its first bone."""
    text = next(text for text in bpy.data.texts if "rig_ui" in text.name).as_string()
    found, name, arguments = {}, "", {}
    for line in text.splitlines():
        if called := re.search(r"operator\('pose\.(rigify_\w+)'", line):
            name, arguments = called[1], {}
        elif given := re.fullmatch(r"\s+props\.(\w+) = (.+)", line):
            arguments[given[1]] = ast.literal_eval(given[2])
            of = arguments.get("prop_bone") or json.loads(arguments.get("output_bones") or '[""]')[0]
            short = re.sub(r"^rigify_|_[a-z0-9]+$", "", name)
            if of.endswith(".L"):
                found[short, of] = (name, arguments)
    return found
