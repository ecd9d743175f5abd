"""Half angles, planes and slerp against angles and matrices."""

import math
import random

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from addon.solver.ops import FLOATS
from addon.solver.rotation import (
    combine,
    components,
    conjugate,
    half_angle,
    multiply,
    normalised,
    rotate,
    shortest,
    slerp,
)
from tests.solver.oracles import ROUNDING, Y, is_slerp, matrix, unit
from tests.solver.shapes import quaternion, seeds, vector

NEAR_HALF_A_TURN = [math.pi, -math.pi, math.pi - 1e-9, 1e-9 - math.pi, math.pi - 1e-16, 0.0, 1e-300, math.pi / 2]


@given(seeds)
def test_quaternions_do_what_matrices_do(seed):
    rng = random.Random(seed)
    a, b, v = quaternion(rng), quaternion(rng), tuple(vector(rng).tolist())
    assert matrix(multiply(a, b)) == pytest.approx(matrix(a) @ matrix(b), abs=ROUNDING)
    assert matrix(conjugate(a)) == pytest.approx(matrix(a).T, abs=ROUNDING)
    assert rotate(a, v) == pytest.approx(matrix(a) @ v, abs=ROUNDING)
    axes = tuple(map(tuple, matrix(a).tolist()))
    assert components(v, axes) == pytest.approx(matrix(a) @ v, abs=ROUNDING)
    assert combine(*v, axes) == pytest.approx(matrix(a).T @ v, abs=ROUNDING)


@given(st.floats(-math.pi, math.pi), st.floats(1e-12, 1e12))
def test_half_angle(angle, size):
    check_half_angle(angle, size)


@pytest.mark.parametrize("angle", NEAR_HALF_A_TURN)
@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_half_angle_near_half_a_turn(angle, size):
    check_half_angle(angle, size)


def check_half_angle(angle, size):
    x, y = size * math.cos(angle), size * math.sin(angle)
    cosine, sine = half_angle(x, y, math.hypot(x, y), FLOATS)
    length = math.hypot(cosine, sine)
    assert length >= 1.9 * size
    expected = math.atan2(y, x) / 2
    sign = math.copysign(1.0, cosine * math.cos(expected) + sine * math.sin(expected))
    assert sign * cosine / length == pytest.approx(math.cos(expected), abs=ROUNDING)
    assert sign * sine / length == pytest.approx(math.sin(expected), abs=ROUNDING)


def test_half_angle_of_nothing_is_no_turn():
    assert half_angle(0.0, 0.0, 0.0, FLOATS) == (FLOATS.tiny, 0.0)


@given(seeds, st.floats(-17, 0), st.booleans())
def test_shortest(seed, exponent, is_behind):
    rng = random.Random(seed)
    off = 10.0**exponent
    direction = unit((off * rng.gauss(0, 1), -1.0 if is_behind else 1.0, off * rng.gauss(0, 1)))
    q = shortest(*direction.tolist(), FLOATS)
    assert math.hypot(*q) == pytest.approx(1.0, abs=ROUNDING)
    assert matrix(q) @ Y == pytest.approx(direction, abs=ROUNDING)
    if math.hypot(direction[0], direction[2]) > 1e-5 or not is_behind:
        assert q[2] == 0.0  # no twist
    if is_behind and off < 1e-8:
        assert matrix(q) == pytest.approx(np.diag([-1.0, -1.0, 1.0]), abs=1e-7)  # half a turn about the normal


@given(seeds, st.floats(0.0, 1.0), st.floats(-9, 0))
@example(0, 0.5, 0.0)
def test_slerp(seed, t, exponent):
    rng = random.Random(seed)
    a = quaternion(rng)
    b = normalised(tuple(x + 10.0**exponent * y for x, y in zip(a, quaternion(rng), strict=True)), FLOATS)
    b = tuple(rng.choice([-1, 1]) * x for x in b) if rng.random() < 0.1 else b
    between = slerp(a, b, t, FLOATS)
    assert is_slerp(between, a, b, t)
    assert math.hypot(*between) == pytest.approx(1.0, abs=ROUNDING)


@given(seeds, st.floats(0.0, 1.0))
def test_slerp_over_the_longest_arcs(seed, t):
    """Half a turn, where the quaternions are at right angles."""
    rng = random.Random(seed)
    a = quaternion(rng)
    axis = unit(vector(rng)).tolist()
    b = multiply(a, (rng.choice([0.0, 1e-12, -1e-12]), *axis))
    assert is_slerp(slerp(a, b, t, FLOATS), a, b, t)


@given(seeds)
def test_slerp_begins_and_ends_exactly(seed):
    rng = random.Random(seed)
    a, b = quaternion(rng), quaternion(rng)
    assert slerp(a, b, 0.0, FLOATS) == pytest.approx(a, abs=ROUNDING)
    assert is_slerp(slerp(a, b, 1.0, FLOATS), a, b, 1.0)
    assert slerp(a, a, rng.random(), FLOATS) == pytest.approx(a, abs=ROUNDING)


def test_slerp_turns_at_constant_speed():
    a, b = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.6, 0.8)
    angles = [2 * math.acos(slerp(a, b, t / 10, FLOATS)[0]) for t in range(1, 11)]
    assert np.diff(angles) == pytest.approx(np.full(9, math.pi / 10), abs=ROUNDING)
