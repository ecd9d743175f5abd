"""The hinge's angle and the lower bone's twist: what they do to a limb, and those found for a pose reproduce it."""

import math
import random

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from addon.solver.chain import Features, Own, Plane, Uninherited, solve_chain
from addon.solver.fitting import fit_hinge
from addon.solver.limb import turned
from addon.solver.ops import FLOATS
from addon.solver.triangle import Settings
from tests.solver.oracles import ROUNDING, Rest, joints, matrix, turn, unit
from tests.solver.shapes import SHAPES, in_reach, lower_turn, pole_for, quaternion, rest_shape, rest_turn, seeded

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from(SHAPES)
bends = st.sampled_from([1.0, -1.0])
turns = st.floats(-math.pi, math.pi)
EXACT = 1e-12


def half(angle):
    return math.cos(angle / 2), math.sin(angle / 2)


def solve_to_tip(rest: Rest, limb, pole, bend, tip, uninherited=None):
    """The limb posed through a pole, its tip where it was."""
    settings = Settings(bend=bend)
    return solve_chain(
        tuple(tip.tolist()), limb, settings, Features(plane=Plane.POLE), FLOATS, pole, uninherited=uninherited
    )


def assert_same_rotation(q, expected, slack):
    assert matrix(q) == pytest.approx(matrix(expected), abs=slack)


def bent_pose(rng: random.Random, rest: Rest, angle: float) -> Own:
    """Any rotation of the upper bone, and one of the lower that bends the knee by this angle about any axis across the
    limb, after any twist about its length."""
    along = unit(rest.knee)
    axis = np.cross(along, [rng.gauss(0, 1) for _ in range(3)])
    turned_off = turn(axis, angle) @ turn(along, rng.uniform(-math.pi, math.pi)) @ rest_turn(rest)
    return Own(quaternion(rng), from_matrix(rest.frame.T @ turned_off @ rest.frame))


def from_matrix(of: np.ndarray):
    """The unit quaternion of a rotation matrix: the eigenvector that the matrix's quadratic form is largest for."""
    (a, b, c), (d, e, f), (g, h, i) = of
    form = np.array([
        [a + e + i, h - f, c - g, d - b],
        [h - f, a - e - i, b + d, c + g],
        [c - g, b + d, e - a - i, f + h],
        [d - b, c + g, f + h, i - a - e],
    ])  # fmt: skip
    return tuple(np.linalg.eigh(form)[1][:, -1].tolist())


@given(seeds, shapes, st.floats(0.02, math.pi - 0.02), bends, st.booleans())
def test_a_pole_at_the_knee_reproduces_any_bent_pose(seed, shape, angle, bend, is_uninherited):
    """Both bones, twist and all; with bend -1 the pole is on the side away from the knee."""
    rng, rest = seeded(seed, shape, is_alike=True)
    pose = bent_pose(rng, rest, angle)
    uninherited = None
    if is_uninherited:
        uninherited = Uninherited(quaternion(rng), quaternion(rng))
        whole = matrix(uninherited.now).T @ lower_turn(rest, *pose) @ matrix(uninherited.rest)
        pose = pose._replace(lower=from_matrix(whole))
    fit = fit_hinge(pose, rest.limb, FLOATS, uninherited, bend)
    knee, tip = joints(rest, *pose, uninherited=uninherited)
    aside = np.cross(fit.normal, tip)
    assert bend * np.dot(aside, knee) > 0.0
    pole = tuple((knee * rng.random() + unit(aside) * rest.total).tolist())
    limb = turned(rest.limb, fit.hinge, fit.twist, FLOATS)
    solution = solve_to_tip(rest, limb, pole, bend, tip, uninherited)
    # The knee's angle is as uncertain as rounding of the tip makes it near straight and folded.
    slack = EXACT * (1.0 + 1.0 / math.sin(angle) ** 2)
    assert_same_rotation(solution.upper, pose.upper, slack)
    assert_same_rotation(solution.lower, pose.lower, slack)
    for found in (fit.hinge, fit.twist):
        assert math.hypot(*found) == pytest.approx(1.0, abs=ROUNDING)
        assert found[0] >= -ROUNDING  # from -180 to 180 degrees


@given(seeds, shapes)
def test_a_straight_pose_keeps_the_limbs_own_hinge(seed, shape):
    rng, rest = seeded(seed, shape)
    pose = bent_pose(rng, rest, rng.choice([0.0, 1e-7, 5e-5]))
    fit = fit_hinge(pose, rest.limb, FLOATS)
    assert fit.hinge == (1.0, 0.0)
    assert fit.normal == pytest.approx(matrix(pose.upper) @ rest.normal, abs=1e-9)
    knee, tip = joints(rest, *pose)
    pole = tuple((knee + np.cross(fit.normal, tip)).tolist())
    solution = solve_to_tip(rest, turned(rest.limb, *fit[:2], FLOATS), pole, 1.0, tip)
    assert_same_rotation(solution.upper, pose.upper, 2e-4)
    assert_same_rotation(solution.lower, pose.lower, 2e-4)


@given(seeds, shapes)
def test_the_shape_at_rest_has_no_turn(seed, shape):
    rest = rest_shape(random.Random(seed), shape)
    fit = fit_hinge(Own(), rest.limb, FLOATS)
    assert fit.hinge == pytest.approx((1.0, 0.0), abs=1e-9)
    assert fit.twist == pytest.approx((1.0, 0.0), abs=1e-9)
    assert fit.normal == pytest.approx(rest.normal, abs=1e-9)


@given(seeds, shapes, turns, turns)
def test_a_turned_hinge(seed, shape, angle, twist):
    """Made straight, the lower bone is twisted about its length, and bends about the hinge turned with it."""
    rng, rest = seeded(seed, shape, is_alike=True)
    limb = turned(rest.limb, half(angle), half(twist), FLOATS)
    along = unit(rest.knee)
    axis = turn(along, angle) @ rest.normal
    assert np.array(limb.axes) == pytest.approx(np.array([along, np.cross(axis, along), axis]), abs=1e-9)
    target = turn(axis, rng.uniform(-math.pi, math.pi)) @ along * rng.uniform(0.4, 0.95) * rest.total
    solution = solve_chain(tuple(target.tolist()), limb, Settings(), Features(), FLOATS)
    upper = matrix(solution.upper)
    assert upper @ axis == pytest.approx(axis, abs=1e-9)
    bent = upper.T @ lower_turn(rest, solution.upper, solution.lower)
    straightened = turn(along, twist) @ rest_turn(rest)
    assert bent @ straightened.T @ axis == pytest.approx(axis, abs=1e-7)


@given(seeds, shapes, turns, turns, turns)
def test_a_knee_beside_its_pole(seed, shape, hinge, twist, angle):
    """It lies where it would if the pole were turned by as much, about the line from root to target."""
    rng, rest = seeded(seed, shape, is_alike=True)
    limb = turned(rest.limb, half(hinge), half(twist), FLOATS)
    beside = turned(rest.limb, half(hinge), half(twist), FLOATS, half(angle))
    target, pole = in_reach(rest, rng), np.array(pole_for(rest, rng))
    assume(np.linalg.norm(np.cross(unit(target), unit(pole))) > 0.1)
    plane = Features(plane=Plane.POLE)
    away = turn(target, angle) @ pole
    wanted = solve_chain(tuple(target.tolist()), limb, Settings(), plane, FLOATS, tuple(away.tolist()))
    found = solve_chain(tuple(target.tolist()), beside, Settings(), plane, FLOATS, tuple(pole.tolist()))
    assert_same_rotation(found.upper, wanted.upper, 1e-9)
    assert_same_rotation(found.lower, wanted.lower, 1e-9)


def test_no_turn_is_the_limb_itself():
    for seed in range(20):
        limb = rest_shape(random.Random(seed)).limb
        assert turned(limb, (1.0, 0.0), (1.0, 0.0), FLOATS) == limb
