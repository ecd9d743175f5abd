"""Poles, influence, softness, stretch, bend between the sides and knee limits, alone and in pairs, by the joints."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mathutils import Matrix, Quaternion, Vector

from tests.blender.rigs import (
    EXACT,
    HIP,
    LEG,
    assert_joints,
    assert_on_target,
    expected,
    few,
    frame_of,
    fresh_rig,
    joints,
    make_chain,
    make_empty,
    make_rig,
    put,
    shown_rotation,
    update,
)

unit = st.floats(-1, 1)
place = st.tuples(unit, unit, unit)
shares = st.floats(0.1, 0.9)
directions = st.floats(-3, 3)
fractions = st.floats(0.05, 0.95)


def reaching(chain, share):
    """Move a chain's target to a distance that is a share of the limb's length; return its frame and that length."""
    ob = chain.id_data
    frame = frame_of(ob)
    total = sum(frame.lengths)
    nearest = abs(frame.lengths[0] - frame.lengths[1])
    put(chain.target, location=frame.target((share * total - nearest) / (total - nearest), 0.7))
    return frame, total


def distance(ob):
    """From root to tip."""
    at = joints(ob)
    return float(np.linalg.norm(at.tip - at.root))


def inner_angle(ob):
    """Of the knee."""
    root, knee, tip = joints(ob)
    a, b = root - knee, tip - knee
    return math.acos(np.clip(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)), -1, 1))


def pole_chain(ob, target, pole, **settings):
    return make_chain(ob, make_empty("target", target), plane="POLE", pole_target=make_empty("pole", pole), **settings)


def in_pole_plane(ob, pole, bend):
    """The knee is in the plane of root, tip and pole, and on the pole's side of the line for bend 1."""
    root, knee, tip = joints(ob)
    line = (tip - root) / np.linalg.norm(tip - root)
    off_pole = (pole - root) - line * ((pole - root) @ line)
    off_knee = (knee - root) - line * ((knee - root) @ line)
    wanted = bend * np.linalg.norm(off_knee) * off_pole / np.linalg.norm(off_pole)
    return np.linalg.norm(off_knee - wanted)


@given(target=place, pole=place, bend=st.sampled_from([1, -1]), at=place, turn=place)
@few
def test_the_knee_lies_towards_the_pole(target, pole, bend, at, turn):
    ob = fresh_rig()
    put(ob.pose.bones["hip"], matrix_basis=Matrix.LocRotScale(0.3 * Vector(at), Quaternion((1, *turn)), None))
    root = Vector(joints(ob).root)
    goal, aside = Vector(target), Vector(pole)
    if not 0.3 < goal.length < 1.8 or goal.cross(aside).length < 0.1:
        return
    pole_chain(ob, root + goal, root + aside, bend=bend)
    assert_on_target(ob, ob.pose.bones["shin"].planar_ik.target)
    assert in_pole_plane(ob, np.array(root + aside), bend) < 1e-5


def test_a_limb_in_a_pole_plane_keeps_its_roll_to_the_plane():
    ob = make_rig()
    chain = pole_chain(ob, (0.2, 0.3, -1.4), (0, 3, -0.7))
    at_rest = frame_of(ob).normal
    for angle in np.linspace(0, 6, 13):
        put(chain.pole_target, location=(3 * math.sin(angle), 3 * math.cos(angle), -0.7))
        for name in ("thigh", "shin"):
            bone = ob.pose.bones[name]
            turned = (
                bone.matrix.to_3x3()
                @ bone.bone.matrix_local.to_3x3().inverted()
                @ Vector(at_rest_in_armature(ob, at_rest))
            )
            root, knee, tip = joints(ob)
            normal = np.cross(tip - root, knee - root)
            assert np.allclose(turned, normal / np.linalg.norm(normal), atol=1e-5)


def at_rest_in_armature(ob, normal):
    return ob.data.bones["thigh"].matrix_local.to_3x3() @ Vector(normal)


def test_a_pole_in_line_from_the_start_takes_the_rest_plane():
    ob = make_rig()
    frame = frame_of(ob)
    chain = pole_chain(ob, frame.target(0.5, 0.7), frame.target(1.5, 0.7))
    assert_joints(joints(ob), expected(frame, chain.target.location), knee_within=1e-3)


@pytest.mark.parametrize("softness", [0.05, 0.2, 1])
@given(share=st.floats(0.3, 1.6))
@few
def test_softness_follows_its_formula(softness, share):
    ob = fresh_rig()
    chain = make_chain(ob, make_empty(), softness=softness)
    _, total = reaching(chain, share)
    d, s = share, softness
    f = d if d <= 1 - s else 1.0 if d >= 1 + s else d - (d - 1 + s) ** 2 / (4 * s)
    assert distance(ob) / total == pytest.approx(max(f, 0.05), abs=3e-6)


@given(stretch=st.floats(0, 1), most=st.floats(1, 2), share=st.floats(0.5, 2.5))
@few
def test_stretch_is_a_share_of_what_is_missing_up_to_its_limit(stretch, most, share):
    ob = fresh_rig()
    chain = make_chain(ob, make_empty(), stretch=stretch, stretch_max=most)
    _, total = reaching(chain, share)
    wanted = share if share <= 1 else min(1 + stretch * (share - 1), max(most, 1))
    assert distance(ob) / total == pytest.approx(wanted, abs=3e-6)


@given(softness=st.floats(0.02, 0.5), share=st.floats(0.5, 1.3), pole=st.booleans())
@few
def test_stretch_and_softness_together_stay_on_the_target(softness, share, pole):
    ob = fresh_rig()
    chain = make_chain(ob, make_empty(), stretch=1, softness=softness)
    if pole:
        chain.pole_target, chain.plane = make_empty("pole", (1, 5, 0)), "POLE"
    reaching(chain, share)
    assert_on_target(ob, chain.target, within=2e-6)


@given(bend=st.floats(-1, 1), share=shares, direction=directions, pole=st.booleans())
@few
def test_the_knee_swings_round_the_line_by_the_bend(bend, share, direction, pole):
    ob = fresh_rig()
    frame = frame_of(ob)
    target = frame.target(share, direction)
    chain = make_chain(ob, make_empty("target", target))
    if pole:
        chain.pole_target, chain.plane = make_empty("pole", joints(ob).knee), "POLE"
        update()
    whole = joints(ob)
    put(chain, bend=bend)
    root, knee, tip = joints(ob)
    assert np.linalg.norm(tip - whole.tip) < 2 * EXACT * 2
    line = (tip - root) / np.linalg.norm(tip - root)
    centre = root + line * ((whole.knee - root) @ line)
    off, now = whole.knee - centre, knee - centre
    assert np.linalg.norm(now) == pytest.approx(np.linalg.norm(off), abs=1e-5)
    assert now @ off / (off @ off) == pytest.approx(bend, abs=1e-4)


def test_a_bend_of_minus_one_faces_the_same_way():
    ob = make_rig()
    make_chain(ob, bend=1)
    normal = at_rest_in_armature(ob, frame_of(ob).normal)
    for bend in np.linspace(1, -1, 9):
        put(ob.pose.bones["shin"].planar_ik, bend=bend)
    for name in ("thigh", "shin"):
        bone = ob.pose.bones[name]
        turned = bone.matrix.to_3x3() @ bone.bone.matrix_local.to_3x3().inverted() @ normal
        assert np.allclose(turned, normal, atol=1e-5)


def test_bend_from_one_side_to_the_other_does_not_pop():
    ob = make_rig()
    chain = make_chain(ob)
    last = None
    for i in range(101):
        put(chain, bend=math.cos(math.pi * i / 100))
        knee = joints(ob).knee
        assert last is None or np.linalg.norm(knee - last) < 0.05
        last = knee


@given(low=st.floats(0.2, 1.4), high=st.floats(1.5, 3), share=st.floats(0.05, 1.2), pole=st.booleans())
@few
def test_the_knee_stops_at_its_limits(low, high, share, pole):
    ob = fresh_rig()
    chain = make_chain(ob, make_empty(), min_angle=low, max_angle=high)
    if pole:
        chain.pole_target, chain.plane = make_empty("pole", (1, 5, 0)), "POLE"
    frame, total = reaching(chain, share)
    r1, r2 = frame.lengths
    free = math.acos(np.clip((r1 * r1 + r2 * r2 - (share * total) ** 2) / (2 * r1 * r2), -1, 1))
    assert inner_angle(ob) == pytest.approx(np.clip(free, low, high), abs=1e-4)
    assert chain.reach == ("REACHED" if low < free < high else "LIMITED")
    assert chain.residual == pytest.approx(abs(share * total - distance(ob)), abs=1e-5)


@given(high=st.floats(1.5, 3), share=st.floats(0.9, 1.4))
@few
def test_stretch_goes_on_where_a_limit_stops_the_knee(high, share):
    ob = fresh_rig()
    chain = make_chain(ob, make_empty(), max_angle=high, stretch=1, stretch_max=3)
    reaching(chain, share)
    assert inner_angle(ob) <= high + 1e-4
    assert_on_target(ob, chain.target)


@given(influence=fractions, pole=st.booleans(), own=place, bend=st.sampled_from([1, -1, 0.3]))
@few
def test_influence_is_the_shortest_rotation_from_the_own_pose(influence, pole, own, bend):
    ob = fresh_rig()
    bones = [ob.pose.bones[name] for name in ("thigh", "shin")]
    for bone in bones:
        bone.rotation_quaternion = Quaternion((1, *own)).normalized()
    kept = [Quaternion(shown_rotation(ob, bone.name)) for bone in bones]
    chain = make_chain(ob, make_empty("target", (0.3, 0.4, -1.2)), bend=bend)
    if pole:
        chain.pole_target, chain.plane = make_empty("pole", (1, 5, 0)), "POLE"
        update()
    solved = [Quaternion(shown_rotation(ob, bone.name)) for bone in bones]
    for share in (influence, 0):
        put(chain, influence=share)
        for bone, start, end in zip(bones, kept, solved, strict=True):
            shown = Quaternion(shown_rotation(ob, bone.name))
            assert abs(shown.dot(start.slerp(end, share))) == pytest.approx(1.0, abs=5e-7)


@pytest.mark.parametrize("half_bend", [0.02, 0.05, 0.1])
def test_a_nearly_straight_limb_never_bends_to_the_wrong_side(half_bend):
    ob = hinged(half_bend)
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty())
    for direction in np.radians(np.linspace(-60, 60, 13)):
        for share in (0.2, 0.5, 0.75, 0.9):
            put(chain.target, location=frame.target(share, direction))
            assert_joints(joints(ob), expected(frame, chain.target.location))


def test_the_knee_does_not_jump_between_close_targets():
    ob = hinged(0.05)
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty())
    last = None
    for direction in range(-60, 61):
        put(chain.target, location=frame.target(0.75, math.radians(direction)))
        knee = joints(ob).knee
        assert last is None or np.linalg.norm(knee - last) < 0.02
        last = knee


@pytest.mark.parametrize("pole", [None, (0, 1, -1)])
def test_a_straight_limb_folds_for_a_target_in_line(pole):
    ob = hinged(0)
    chain = make_chain(ob, make_empty("target", (0, 0, -1.5)))
    if pole:
        chain.pole_target, chain.plane = make_empty("pole", pole), "POLE"
        update()
    assert_on_target(ob, chain.target)


def test_what_is_left_on_the_lower_bone_does_not_matter():
    ob = hinged(0.05)
    ob.pose.bones["shin"].rotation_quaternion = Quaternion((1, 0, 0), math.radians(-20))
    frame = frame_of(ob)
    chain = make_chain(ob, make_empty("target", frame.target(0.6, 0.2)))
    assert_joints(joints(ob), expected(frame, chain.target.location))


def hinged(half_bend):
    """A limb of lengths 1 and 1, bent at rest by twice this angle."""
    knee = (0, math.sin(half_bend), -math.cos(half_bend))
    tip = (0, 0, -2 * math.cos(half_bend))
    return make_rig((HIP, LEG[1]._replace(tail=knee), LEG[2]._replace(head=knee, tail=tip)))
