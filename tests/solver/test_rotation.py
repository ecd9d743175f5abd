"""Half angles, planes and slerp against angles and matrices."""

import math
import random

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from addon.solver.ops import FLOATS
from addon.solver.rotation import (
    combine,
    components,
    conjugate,
    from_plane,
    half_angle,
    multiply,
    normalised,
    rotate,
    shortest,
    slerp,
)
from tests.solver.oracles import ROUNDING, matrix, unit

seeds = st.integers(0, 2**32 - 1)
NEAR_HALF_A_TURN = [math.pi, -math.pi, math.pi - 1e-9, 1e-9 - math.pi, math.pi - 1e-16, 0.0, 1e-300, math.pi / 2]


def quaternion(rng: random.Random):
    return normalised(tuple(rng.gauss(0, 1) for _ in range(4)), FLOATS)


def vector(rng: random.Random):
    return tuple(rng.gauss(0, 1) for _ in range(3))


@given(seeds)
def test_quaternions_do_what_matrices_do(seed):
    rng = random.Random(seed)
    a, b, v = quaternion(rng), quaternion(rng), vector(rng)
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


@given(seeds, st.sampled_from(["any", "ahead", "behind", "twisted", "behind and twisted"]), st.floats(-17, 0))
def test_from_plane(seed, kind, exponent):
    """The matrix's columns are the direction, the vector across, and the normal."""
    rng = random.Random(seed)
    off = 10.0**exponent
    base = {
        "any": vector(rng),
        "ahead": (1.0, off * rng.gauss(0, 1), off * rng.gauss(0, 1)),
        "behind": (-1.0, off * rng.gauss(0, 1), off * rng.gauss(0, 1)),
        "twisted": (1.0, off, 0.0),
        "behind and twisted": (-1.0, 0.0, off),
    }[kind]
    direction = unit(base)
    lean = (rng.gauss(0, 1) * off, rng.gauss(0, 1) * off, -1.0) if "twisted" in kind else vector(rng)
    normal = np.asarray(lean) - np.dot(lean, direction) * direction
    assume(np.linalg.norm(normal) > 1e-3)
    normal = unit(normal - np.dot(normal, direction) * direction)
    turn = matrix(normalised(from_plane(tuple(direction.tolist()), tuple(normal.tolist()), FLOATS), FLOATS))
    assert turn[:, 0] == pytest.approx(direction, abs=ROUNDING)
    assert turn[:, 2] == pytest.approx(normal, abs=ROUNDING)
    assert np.linalg.det(turn) == pytest.approx(1.0)


@given(seeds, st.floats(-17, 0), st.booleans())
def test_shortest(seed, exponent, is_behind):
    rng = random.Random(seed)
    off = 10.0**exponent
    direction = unit((-1.0 if is_behind else 1.0, off * rng.gauss(0, 1), off * rng.gauss(0, 1)))
    q = shortest(*direction.tolist(), FLOATS)
    assert math.hypot(*q) == pytest.approx(1.0, abs=ROUNDING)
    assert rotate(q, (1.0, 0.0, 0.0)) == pytest.approx(direction, abs=ROUNDING)
    if direction[0] > 0.0:
        assert q[1] == 0.0  # no twist


def is_slerp(found, a, b, t):
    """Whether a rotation is the fraction t of the way from a to the nearer of b and -b, which are the same rotation; to
    either of them after half a turn, where rounding decides which is nearer."""
    cosine = np.dot(a, b)
    ends = [end for side in (1.0, -1.0) if side * cosine > -ROUNDING for end in [side * np.asarray(b)]]
    return any(found == pytest.approx(by_angles(a, end, t), abs=ROUNDING) for end in ends)


def by_angles(a, b, t):
    """Shoemake's slerp, its angle from a form that does not cancel."""
    a, b = np.asarray(a), np.asarray(b)
    arc = 2.0 * math.atan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    if arc < 1e-7:
        return unit(a + t * (b - a))
    return (math.sin((1.0 - t) * arc) * a + math.sin(t * arc) * b) / math.sin(arc)


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
