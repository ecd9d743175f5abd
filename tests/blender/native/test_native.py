"""Chains on the rig: the same joints as live, without the extension, and nothing left when they are taken away."""

from __future__ import annotations

import math
import random

import bpy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Euler, Matrix, Quaternion, Vector

from tests.blender.natives import make_live, make_portable, matrices, parts, rebuild
from tests.blender.rigs import (
    HIP,
    IN_ITS_AXES,
    INHERIT_SCALE,
    LEG,
    SHIN,
    THIGH,
    Bone,
    assert_joints,
    curves,
    expected,
    few,
    frame_of,
    fresh_rig,
    joints,
    length,
    make_chain,
    make_empty,
    make_rig,
    place_of,
    press,
    put,
    update,
)

SAME = 1e-5
"""How far joints may be from those of a live chain, in lengths of the limb."""

unit = st.floats(-1, 1, width=32)
place = st.tuples(unit, unit, unit)
angles = st.tuples(*[st.floats(-3, 3, width=32)] * 3)
size = st.sampled_from([0.5, 0.8, 1.0, 1.5, -1.0])


@st.composite
def legs(draw):
    root, knee, tip = (Vector(draw(place)) for _ in range(3))
    roll = draw(st.floats(-3, 3, width=32))
    return HIP, Bone("thigh", root, knee, "hip", roll=roll), Bone("shin", knee, tip, "thigh", True, roll / 2)


def is_long(bones):
    return all((Vector(bone.tail) - Vector(bone.head)).length > 0.2 for bone in bones)


@given(
    bones=legs(),
    turn=angles,
    scale=st.tuples(size, size, size),
    share=st.floats(0.05, 1.2),
    direction=st.floats(-3, 3),
    plane=st.sampled_from(["REST", "SWING", "POLE"]),
    bend=st.sampled_from([1.0, -1.0, 0.3]),
    own=angles,
)
@few
def test_joints_are_those_of_a_live_chain(bones, turn, scale, share, direction, plane, bend, own):
    if not is_long(bones):
        return
    ob = fresh_rig(bones)
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale(None, Euler(turn), Vector(scale))
    ob.pose.bones["thigh"].rotation_quaternion = Euler(own).to_quaternion()
    target = make_empty(location=frame_of(ob).target(share, direction, 0.1))
    chain = make_chain(ob, target, plane=plane, bend=bend, pole_target=make_empty("pole", (3, 5, 1)))
    assert chain.message == ""
    live = joints(ob)
    make_portable(ob)
    assert chain.runs_on == "RIG"
    assert_joints(joints(ob), live, SAME)
    make_live(ob)
    assert chain.runs_on == "EXTENSION"
    assert_joints(joints(ob), live, SAME)


@pytest.mark.parametrize("shape", [{"softness": 0.1}, {"stretch": 1.0}, {"max_angle": 3.0}])
def test_a_folded_limb_is_folded_whatever_its_lengths(shape):
    """Where a piece of the formula in single precision would unfold the knee by the root of what rounding took."""
    rng = random.Random(1)
    for _ in range(20):
        thigh = THIGH._replace(tail=(0.1, 0.2, -rng.uniform(0.5, 1.5)))
        shin = SHIN._replace(head=thigh.tail, tail=(0.1, 0, thigh.tail[2] - rng.uniform(0.5, 1.5)))
        ob = fresh_rig((HIP, thigh, shin))
        frame = frame_of(ob)
        make_chain(ob, **shape)
        make_portable(ob)
        r1, r2 = frame.lengths
        share = -0.3 * abs(r1 - r2) / (r1 + r2 - abs(r1 - r2))
        for direction in (-2, 0.3, 1):
            place = frame.target(share, direction)
            put(bpy.data.objects["target"], location=place)
            assert ob.pose.bones["shin"].planar_ik.reach == "TOO_NEAR"
            assert_joints(joints(ob), expected(frame, place), SAME)


@pytest.mark.parametrize("bend", [1, -1])
def test_joints_are_where_the_law_of_cosines_has_them(bend):
    ob = make_rig()
    frame = frame_of(ob)
    target = make_empty(location=frame.target(0.5, 0.3))
    make_chain(ob, target, bend=bend)
    make_portable(ob)
    for share in np.linspace(0.02, 1.1, 12):
        for direction in np.linspace(-3, 3, 11):
            put(target, location=frame.target(share, direction, 0.2))
            assert_joints(joints(ob), expected(frame, target.location, bend), SAME)


FEATURES = [
    {"softness": 0.1},
    {"stretch": 0.7, "stretch_max": 1.4},
    {"stretch": 1.0, "stretch_volume": "UNIFORM"},
    {"stretch": 1.0, "stretch_volume": "VOLUME", "softness": 0.05},
    {"min_angle": 0.6, "max_angle": 2.4},
    {"influence": 0.4},
    {"influence": 0.0},
    {"influence": 0.6, "stretch": 0.8, "softness": 0.1, "min_angle": 0.4, "max_angle": 2.9, "bend": 0.5},
    {"bend": -0.4},
    {"hinge_angle": 0.7},
    {"hinge_angle": -1.1, "lower_twist": 0.5, "bend": 0.3},
    {"pole_angle": 1.2},
    {"pole_angle": -2.8, "hinge_angle": 0.4, "bend": -0.6, "influence": 0.7},
]


@pytest.mark.parametrize("bones", [IN_ITS_AXES, LEG])
@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
def test_knees_swing_as_those_of_a_live_chain_by_few_drivers(bones, plane):
    ob = make_rig(bones)
    target = make_empty(location=frame_of(ob).target(0.7, 0.4, 0.05))
    chain = make_chain(ob, target, plane=plane, pole_target=make_empty("pole", (1, 5, 0)), bend=0.5)
    bends = [*np.linspace(-1, 1, 9), -0.99999994, -0.9999, 1e-7, 0.9999, 0.99999994]
    live = []
    for bend in bends:
        put(chain, bend=bend)
        live.append(joints(ob))
    chain.bend = 0.5
    make_portable(ob)
    swung = [curve for curve in ob.animation_data.drivers if "axis_angle" in curve.data_path and curve.array_index]
    assert len(swung) == 2 * 2
    for bend, wanted in zip(bends, live, strict=True):
        ob.pose.bones["shin"]["planar_ik.bend"] = float(bend)
        ob.update_tag()
        update()
        assert_joints(joints(ob), wanted, SAME)


@pytest.mark.parametrize("plane", ["REST", "SWING", "POLE"])
@pytest.mark.parametrize("features", FEATURES)
def test_every_feature_is_that_of_a_live_chain(features, plane):
    ob = make_rig()
    ob.data.bones["shin"].inherit_scale = "ALIGNED"  # so that what stretches while it is bent is not sheared
    for name in ("thigh", "shin"):
        ob.pose.bones[name].rotation_quaternion = Euler((0.3, 0.2, -0.4)).to_quaternion()
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty(), plane=plane, pole_target=make_empty("pole", (1, 5, 0)), **features)
    places = [frame.target(share, 0.4, 0.05) for share in (0.02, 0.3, 0.8, 0.97, 1.05, 1.6)]
    live = []
    for each in places:
        put(chain.target, location=each)
        live.append((joints(ob), matrices(ob)))
    make_portable(ob)
    for each, (at, whole) in zip(places, live, strict=True):
        put(chain.target, location=each)
        assert_joints(joints(ob), at, SAME)
        assert np.allclose(matrices(ob), whole, atol=2e-5)


@pytest.mark.parametrize("bone", ["thigh", "shin"])
@pytest.mark.parametrize("mode", [*INHERIT_SCALE, "no rotation"])
@pytest.mark.parametrize("influence", [1.0, 0.4])
def test_whatever_a_bone_inherits(bone, mode, influence):
    ob = make_rig()
    hip = ob.pose.bones["hip"]
    hip.matrix_basis = Matrix.LocRotScale((0.1, 0.2, 0.3), Euler((0.4, -0.7, 1.1)), (1.3, 1.3, 1.3))
    if mode == "no rotation":
        ob.data.bones[bone].use_inherit_rotation = False
    else:
        ob.data.bones[bone].inherit_scale = mode
    ob.pose.bones["thigh"].location = (0.1, -0.05, 0.2)
    for name in ("thigh", "shin"):
        ob.pose.bones[name].rotation_quaternion = Euler((0.3, 0.2, -0.4)).to_quaternion()
    chain = make_chain(ob, make_empty("target", (0.3, 0.5, -1.1)), influence=influence)
    assert chain.message == ""
    live, whole = joints(ob), matrices(ob)
    make_portable(ob)
    assert_joints(joints(ob), live, SAME)
    assert np.allclose(matrices(ob), whole, atol=2e-5)


def test_making_live_and_removing_leave_the_rig_as_it_was():
    ob = make_rig()
    bone = ob.pose.bones["shin"]
    bone.rotation_mode = "XZY"
    bone["mine"] = 1.0
    ob.data.collections.new("Mine").assign(bone.bone)
    before = parts(ob)
    make_chain(ob, make_empty("target", (0.3, 0.5, -1.1)), plane="POLE", pole_target=make_empty("pole", (1, 5, 0)))
    make_portable(ob)
    assert parts(ob) != before
    make_live(ob)
    assert parts(ob) == before
    make_portable(ob)
    press(ob, "remove")
    assert parts(ob) == before
    assert not ob.pose.bones["shin"].planar_ik.enabled


def test_mechanism_bones_are_those_that_riggers_expect():
    ob = make_rig()
    make_chain(ob, make_empty("target", (0.3, 0.5, -1.1)), plane="POLE", pole_target=make_empty("pole", (1, 5, 0)))
    make_portable(ob)
    made = [bone for bone in ob.data.bones if bone.name not in ("hip", "thigh", "shin")]
    assert made
    for bone in made:
        assert bone.name.startswith("MCH-")
        assert not bone.use_deform
        assert bone.hide
        assert [each.name for each in bone.collections] == ["Planar IK"]
        assert all(ob.pose.bones[bone.name].lock_rotation)
    assert not ob.data.collections_all["Planar IK"].is_visible


def test_scripts_read_and_set_the_same_names():
    ob = make_rig()
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty("target", frame.target(0.6, 0.3)), influence=0.5)
    make_portable(ob)
    assert chain.influence == pytest.approx(0.5)
    assert ob.pose.bones["shin"]["planar_ik.influence"] == pytest.approx(0.5)
    chain.influence = 1.0
    chain.bend = -1.0
    update()
    assert_joints(joints(ob), expected(frame, chain.target.location, -1.0), SAME)


def test_keys_carry_over_there_and_back():
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", (0.3, 0.5, -1.1)))
    bone = ob.pose.bones["shin"]
    for frame, value in ((1, 0.0), (11, 1.0)):
        chain.influence = value
        chain.softness = value / 5
        bone.keyframe_insert("planar_ik_influence", frame=frame)
        bone.keyframe_insert("planar_ik_softness", frame=frame)
    seen = []
    for turn in (None, make_portable, make_live):
        if turn:
            turn(ob)
        at = []
        for frame in (1, 4, 6, 11):
            bpy.context.scene.frame_set(frame)
            at.append(np.array(joints(ob)))
        seen.append(np.array(at))
    assert np.allclose(seen[0], seen[1], atol=1e-5)
    assert np.allclose(seen[0], seen[2], atol=1e-6)
    assert {path for path, _ in curves(ob)} == {
        'pose.bones["shin"].planar_ik_influence',
        'pose.bones["shin"].planar_ik_softness',
    }


def test_what_changes_the_mechanism_makes_it_anew():
    ob = make_rig()
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty("target", frame.target(0.6, 0.3, 0.4)))
    make_portable(ob)
    chain.pole_target = make_empty("pole", (1, 5, 0))
    chain.plane = "POLE"
    chain.softness = 0.2
    update()
    assert chain.message == ""
    got = joints(ob)
    make_live(ob)
    assert_joints(joints(ob), got, SAME)


def test_what_happened_to_the_target_is_said():
    ob = make_rig()
    chain = make_chain(ob)
    make_portable(ob)
    assert (chain.reach, chain.message) == ("REACHED", "")
    assert chain.residual < 1e-5
    put(chain.target, location=frame_of(ob).target(1.5, 0.3))
    assert chain.reach == "TOO_FAR"
    put(chain.target, location=frame_of(ob).target(0.5, 0.3, 0.2))
    assert chain.reach == "OFF_PLANE"
    assert chain.residual == pytest.approx(0.2 * length(ob), rel=1e-3)


@pytest.mark.parametrize("scale", [0.0, math.inf, math.nan, 1e30])
def test_no_pose_of_a_parent_makes_a_driver_fail(scale):
    ob = make_rig()
    chain = make_chain(ob, make_empty("target", (0.3, 0.5, -1.1)), plane="POLE", pole_target=make_empty("p", (1, 5, 0)))
    make_portable(ob)
    before = joints(ob)
    hip = ob.pose.bones["hip"]
    for channel in ("scale", "location"):
        setattr(hip, channel, (scale, scale, scale))
        update()
        setattr(hip, channel, (1, 1, 1) if channel == "scale" else (0, 0, 0))
        update()
    put(chain.target, location=(scale, 0, 0))
    put(chain.target, location=(0.3, 0.5, -1.1))
    assert all(curve.driver.is_valid for curve in ob.animation_data.drivers)
    assert_joints(joints(ob), before, SAME)


@pytest.mark.parametrize("plane", ["SWING", "POLE"])
def test_planes_in_space_are_those_of_a_live_chain_in_all_directions(plane):
    ob = make_rig()
    frame = frame_of(ob)
    total = sum(frame.lengths)
    rest_line = frame.tip / np.linalg.norm(frame.tip)
    directions = np.random.default_rng(3).normal(size=(30, 3))
    directions = [*directions, *np.eye(3), *-np.eye(3), rest_line, -rest_line, frame.normal, -frame.normal]
    chain = make_chain(ob, make_empty(), plane=plane, pole_target=make_empty("pole", (3, 5, 1)))
    live = []
    for direction in directions:
        put(chain.target, location=frame.outside(0.7 * total * direction / np.linalg.norm(direction)))
        live.append(joints(ob))
    make_portable(ob)
    for direction, at in zip(directions, live, strict=True):
        put(chain.target, location=frame.outside(0.7 * total * direction / np.linalg.norm(direction)))
        assert_joints(joints(ob), at, SAME)


@pytest.mark.parametrize(("plane", "count"), [("REST", 4), ("SWING", 4), ("POLE", 5)])
def test_no_plane_costs_a_driver_but_for_the_turn_to_its_pole(plane, count):
    ob = make_rig(IN_ITS_AXES)
    make_chain(ob, make_empty(location=frame_of(ob).target(0.6, 0.3)), plane=plane, pole_target=make_empty("pole"))
    make_portable(ob)
    assert len(ob.animation_data.drivers) == count


@pytest.mark.parametrize("off", [0.0, 1e-7, 1e-6, 3e-6, 1e-5, 1e-4, 1e-3])
def test_a_swinging_limb_reaches_what_is_almost_opposite_its_rest_line(off):
    ob = make_rig()
    frame = frame_of(ob)
    aside = np.cross(frame.tip, frame.normal) + 2.0 * frame.normal
    target = make_empty(location=frame.outside(off * aside - 0.7 * frame.tip))
    make_chain(ob, target, plane="SWING")
    make_portable(ob)
    assert np.linalg.norm(joints(ob).tip - place_of(target)) <= SAME * length(ob)


def test_a_pole_in_line_gives_the_plane_of_a_live_chain():
    ob = make_rig()
    frame = frame_of(ob)
    pole = make_empty("pole")
    chain = make_chain(ob, make_empty(), plane="POLE", pole_target=pole)
    directions = np.random.default_rng(4).normal(size=(12, 3))
    live = []
    for turn in (None, make_portable):
        if turn:
            turn(ob)
        for number, direction in enumerate(directions):
            chain.target.location = frame.outside(direction / np.linalg.norm(direction))
            pole.location = frame.outside(direction * (2.0 if number % 2 else -1.0))
            update()
            if turn:
                assert_joints(joints(ob), live[number], SAME)
            else:
                live.append(joints(ob))


BESIDE_MINUS_Y = (
    (
        Bone("hip", (-0.2545, -0.4064, -0.2193), (0.1161, -0.2728, -0.2884)),
        Bone("thigh", (-0.1331, -0.6576, -0.1898), (-1.3974, -0.8019, -0.6654), "hip"),
        Bone("shin", (-1.3974, -0.8019, -0.6654), (-2.1612, -1.5926, 0.0474), "thigh", True),
    ),
    (
        Bone("hip", (-0.2901, -0.1146, -0.3049), (-0.2788, -0.1089, -0.7047)),
        Bone("thigh", (-0.4707, 0.0244, -0.3877), (-0.7204, 0.3526, 0.2909), "hip"),
        Bone("shin", (-0.7204, 0.3526, 0.2909), (-0.4816, 0.136, 1.1548), "thigh", True),
    ),
)
"""Legs whose line from root to tip points almost along -Y of the hip, but neither bone."""


@pytest.mark.parametrize("plane", ["SWING", "POLE"])
@pytest.mark.parametrize("bones", BESIDE_MINUS_Y)
def test_the_axes_of_a_mechanism_are_square(bones, plane):
    """Blender leaves those that point almost along -Y of their parent's leaning, by up to 7e-5."""
    ob = make_rig(bones)
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty("target"), plane=plane, pole_target=make_empty("pole", (1, 5, 0)))
    make_portable(ob)
    for bone in ob.data.bones:
        axes = np.array(bone.matrix_local.to_3x3())
        assert axes.T @ axes == pytest.approx(np.eye(3), abs=1e-5)
    for direction in np.random.default_rng(2).normal(size=(12, 3)):
        put(chain.target, location=frame.outside(direction / np.linalg.norm(direction)))
        assert np.linalg.norm(joints(ob).tip - place_of(chain.target)) <= SAME * length(ob)


def test_a_thigh_whose_axes_lean_turns_to_its_pole_about_the_target_line():
    """Turned by a bone that leans as the thigh does, 2e-5 off square, the tip was 2.8e-5 of the limb off."""
    root, knee = (0.032946024, -0.99495894, 0.940397), (0.10037081, -0.86996835, -0.3102113)
    tip = (0.917639, -0.337549, 0.1111764)
    roll = -1.038158834847993
    ob = make_rig((HIP, Bone("thigh", root, knee, "hip", roll=roll), Bone("shin", knee, tip, "thigh", True, roll / 2)))
    turn = Quaternion((0.036871541, 0.63105291, 0.54581445, 0.5499993))
    ob.pose.bones["hip"].matrix_basis = Matrix.LocRotScale(None, turn, Vector((1.0, 1.5, 1.5)))
    pole, target = make_empty("pole"), make_empty("target")
    make_chain(ob, target, plane="POLE", pole_target=pole, bend=-1.0)
    places = (
        ((-0.397666, -3.269811, -0.871438), (0.609843, 0.784984, -2.096456)),
        ((4.201405, 1.454379, -0.883721), (2.582229, 2.984388, 0.59517)),
        ((2.185974, 0.013285, -0.071679), (0.856157, 2.01364, 1.521107)),
    )

    def at_places():
        for target.location, pole.location in places:
            update()
            yield np.array(joints(ob))

    live = [*at_places()]
    make_portable(ob)
    assert np.abs(np.array([*at_places()]) - live).max() <= SAME * length(ob)


def test_a_root_that_is_moved_later_is_noticed_and_mended():
    ob = make_rig()
    chain = make_chain(ob, pole_target=make_empty("p", (1, 5, 0)))
    chain.plane = "POLE"
    make_portable(ob)
    put(ob.pose.bones["thigh"], location=(0.1, 0.05, -0.1))
    assert "pose.planar_ik_rebuild" in chain.message
    rebuild(ob)
    assert (chain.reach, chain.message) == ("REACHED", "")
    put(ob.pose.bones["thigh"], location=(0.15, 0.02, -0.3))
    assert (chain.reach, chain.message) == ("REACHED", "")
