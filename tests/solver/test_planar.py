"""`solve_two_bone`: properties that hold for every limb and every target."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.solver import Reach, TwoBone, solve_two_bone
from tests.solver.oracles import ROUNDING

BENDS = st.sampled_from([1, -1])
coordinates = st.floats(-3.0, 3.0).map(lambda number: number if abs(number) > 1e-30 else 0.0)
points = st.tuples(coordinates, coordinates)
lengths = st.floats(1e-30, 2.0) | st.sampled_from([0.0, 1.0])


def tip(solved: TwoBone, r2: float) -> tuple[float, float]:
    return solved.knee[0] + r2 * solved.lower[0], solved.knee[1] + r2 * solved.lower[1]


def gap(a, b) -> float:
    return math.hypot(a[0] - b[0], a[1] - b[1])


@given(points, lengths, lengths, BENDS)
def test_the_tip_is_on_the_target_or_as_near_as_it_comes(target, r1, r2, bend):
    distance = math.hypot(*target)
    solved = solve_two_bone(target, r1, r2, bend)
    size = r1 + r2 + distance
    closest = max(distance - (r1 + r2), abs(r1 - r2) - distance, 0.0)
    assert gap(tip(solved, r2), target) == pytest.approx(closest, abs=ROUNDING * size)
    assert solved.residual == pytest.approx(closest, abs=ROUNDING * size)
    if closest > 10 * ROUNDING * size:
        assert solved.reach is (Reach.TOO_FAR if distance > r1 + r2 else Reach.TOO_NEAR)
    if (
        closest == 0.0
        and abs(distance - (r1 + r2)) > 10 * ROUNDING * size
        and abs(distance - abs(r1 - r2)) > 10 * ROUNDING * size
    ):
        assert solved.reach is Reach.REACHED


@given(st.floats(0.3, 2.0), st.floats(-math.pi, math.pi), st.floats(0.5, 1.0), BENDS)
def test_the_knee_moves_without_jumps(distance, angle, r2, bend):
    """By at most the root of the target's step, which is how fast it moves on the limits."""
    steps = np.linspace(-1e-3, 1e-3, 41)
    radii, angles = distance + steps, angle + 3.0 * steps
    targets = np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=-1)
    knees = solve_two_bone(targets, 1.0, r2, bend).knee
    jumps = np.linalg.norm(np.diff(knees, axis=0), axis=-1)
    assert jumps.max() < 4.0 * math.sqrt(5e-5)


@pytest.mark.parametrize(
    ("target", "r1", "r2", "upper", "lower", "reach"),
    [
        ((0.0, 0.0), 2.0, 1.0, (1, 0), (-1, 0), Reach.TOO_NEAR),
        ((0.0, 0.0), 1.0, 2.0, (-1, 0), (1, 0), Reach.TOO_NEAR),
        ((0.0, 0.0), 1.0, 1.0, (1, 0), (-1, 0), Reach.REACHED),
        ((0.0, 0.0), 0.0, 0.0, (1, 0), (1, 0), Reach.REACHED),
        ((0.0, 2.0), 1.0, 1.0, (0, 1), (0, 1), Reach.REACHED),
        ((-1.0, 0.0), 2.0, 1.0, (-1, 0), (1, 0), Reach.REACHED),
        ((-3.0, -4.0), 1.0, 1.0, (-0.6, -0.8), (-0.6, -0.8), Reach.TOO_FAR),
        ((0.0, 1.0), 0.0, 1.0, (0, 1), (0, 1), Reach.REACHED),
        ((0.0, 1.0), 1.0, 0.0, (0, 1), (0, 1), Reach.REACHED),
        ((0.0, 3.0), 0.0, 1.0, (0, 1), (0, 1), Reach.TOO_FAR),
        ((0.0, 0.5), 1.0, 0.0, (0, 1), (0, 1), Reach.TOO_NEAR),
    ],
)
@pytest.mark.parametrize("bend", [1, -1])
def test_limits_and_bones_of_no_length(target, r1, r2, upper, lower, reach, bend):
    solved = solve_two_bone(target, r1, r2, bend)
    assert solved.upper == pytest.approx(upper, abs=ROUNDING)
    assert solved.lower == pytest.approx(lower, abs=ROUNDING)
    assert solved.reach is reach


@given(
    st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.floats(allow_nan=False, allow_infinity=False)),
    st.floats(0.0, 1e40),
    st.floats(0.0, 1e40),
    BENDS,
)
def test_never_nan(target, r1, r2, bend):
    if max(map(abs, target)) >= 1e60:
        with pytest.raises(ValueError, match="not a limb"):
            solve_two_bone(target, r1, r2, bend)
    else:
        solved = solve_two_bone(target, r1, r2, bend)
        assert all(map(math.isfinite, [*solved.knee, *solved.upper, *solved.lower, solved.residual]))


@pytest.mark.parametrize("size", [10.0**-exponent for exponent in (20, 45, 59, 60, 75, 99, 100, 101, 150, 300)])
@pytest.mark.parametrize("direction", [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.6, -0.8)])
@pytest.mark.parametrize("r2", [0.0, 0.7, 1.0])
def test_a_target_next_to_the_root_is_ordinary_input(size, direction, r2):
    target = (size * direction[0], size * direction[1])
    solved = solve_two_bone(target, 1.0, r2)
    assert math.hypot(*solved.upper) == pytest.approx(1.0, abs=ROUNDING)
    assert math.hypot(*solved.lower) == pytest.approx(1.0, abs=ROUNDING)
    assert gap(tip(solved, r2), target) == pytest.approx(1.0 - r2, abs=ROUNDING)


WRONG = [math.nan, math.inf, -math.inf, 1e300]


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("place", range(5))
def test_what_is_not_finite_is_refused(wrong, place):
    given = [0.5, 0.7, 1.0, 1.2, 1.0]
    given[place] = wrong
    x, y, r1, r2, bend = given
    with pytest.raises(ValueError, match=f"not a limb.*{wrong}".replace("+", r"\+")):
        solve_two_bone((x, y), r1, r2, bend)


@pytest.mark.parametrize(
    "target", [(0.5, 0.7, 0.0), (0.5,), 0.5, None, ("a", "b"), [[0.5, 0.7], [0.1, 0.2]], (10**400, 0)]
)
def test_a_target_that_is_no_pair_is_refused(target):
    with pytest.raises(ValueError, match=r"not a limb.*a target is two numbers, or an array"):
        solve_two_bone(target, 1.0, 1.2)


@pytest.mark.parametrize("place", [2, 3])
def test_lengths_below_nothing_are_refused(place):
    given = [0.5, 0.7, 1.0, 1.2, 1.0]
    given[place] = -0.1
    x, y, r1, r2, bend = given
    with pytest.raises(ValueError, match="not a limb"):
        solve_two_bone((x, y), r1, r2, bend)
    solved = solve_two_bone(np.array([x, y]), *map(np.array, (r1, r2, bend)))
    assert solved.reach == Reach.INVALID


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("place", range(5))
def test_rows_that_are_not_finite_are_flagged(wrong, place):
    rows = np.tile([0.5, 0.7, 1.0, 1.2, 1.0], (5, 1))
    rows[3, place] = wrong
    solved = solve_two_bone(rows[:, :2], rows[:, 2], rows[:, 3], rows[:, 4])
    one = solve_two_bone((0.5, 0.7), 1.0, 1.2, 1.0)
    assert solved.reach.tolist() == [0, 0, 0, Reach.INVALID, 0]
    assert solved.residual.tolist()[3] == 0.0
    for vectors, vector in zip(solved[:3], one[:3], strict=True):
        assert vectors[3].tolist() == [1.0, 0.0]
        assert np.array_equal(np.delete(vectors, 3, axis=0), np.tile(vector, (4, 1)))


@pytest.mark.parametrize(
    ("target", "r1", "r2", "bend", "shape"),
    [
        ((2,), (), (), (), ()),
        ((7, 2), (), (), (), (7,)),
        ((2,), (5,), (), (), (5,)),
        ((3, 1, 2), (4,), (3, 1), (), (3, 4)),
        ((2, 3, 4, 2), (4,), (3, 1), (2, 1, 1), (2, 3, 4)),
        ((0, 2), (), (), (), (0,)),
        ((3, 0, 2), (), (3, 1), (), (3, 0)),
        ((2, 40000, 2), (), (), (2, 1), (2, 40000)),
    ],
)
def test_shapes_broadcast_and_rows_equal_floats(target, r1, r2, bend, shape):
    rng = np.random.default_rng(5)
    given = rng.uniform(-2, 2, target), rng.uniform(0, 2, r1), rng.uniform(0, 2, r2), rng.choice([-1.0, 1.0], bend)
    before = [values.copy() for values in given]
    solved = solve_two_bone(*given)
    assert [values.shape for values in solved] == [(*shape, 2)] * 3 + [shape] * 2
    assert solved.reach.dtype == np.int8
    for values, copy in zip(given, before, strict=True):
        assert np.array_equal(values, copy)
    rows = [np.broadcast_to(given[0], (*shape, 2)), *(np.broadcast_to(values, shape) for values in given[1:])]
    for index in list(np.ndindex(shape))[:: 997 if len(shape) == 2 and shape[1] > 100 else 1]:
        one = solve_two_bone(*(values[index] if i else tuple(values[index]) for i, values in enumerate(rows)))
        for values, value in zip(solved, one, strict=True):
            assert np.array_equal(values[index], value)
