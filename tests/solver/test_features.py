"""Softness, stretch, knee limits, influence, and pairs of these with each other, the bend and both planes."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.solver import Reach
from addon.solver.chain import OWN_AT_REST, Features, Plane, solve_chain
from addon.solver.ops import FLOATS
from addon.solver.triangle import Settings
from tests.solver.oracles import ROUNDING, joints, unit
from tests.solver.shapes import SHAPES, flat, in_reach, own_pose, pole_for, seeded, target_for, vector
from tests.solver.test_rotation import is_slerp

seeds = st.integers(0, 2**32 - 1)
shapes = st.sampled_from([shape for shape in SHAPES if shape != "slightly bent"])
fractions = st.floats(0.0, 1.0)
bends = st.floats(-1.0, 1.0) | st.sampled_from([1.0, -1.0])
SHAPED = Features(shaped=True)
EVERY = Features(shaped=True, swung=True, blended=True)


def limits(smallest, largest):
    """Settings of two inner angles of the knee."""
    return {
        "min_cos2": math.cos(smallest / 2) ** 2,
        "max_cos2": math.cos(largest / 2) ** 2 if largest < math.pi else 0.0,
    }


def solve(rest, target, features=SHAPED, pole=None, own=OWN_AT_REST, plane=None, **settings):
    features = features._replace(plane=plane or (Plane.POLE if pole else Plane.REST))
    return solve_chain(tuple(map(float, target)), rest.limb, Settings(**settings), features, FLOATS, pole, own)


def posed(rest, solution):
    return joints(rest, solution.upper, solution.lower, solution.stretch)


def inner_angle(knee, tip):
    to_root, to_tip = -knee, tip - knee
    return math.atan2(np.linalg.norm(np.cross(to_root, to_tip)), np.dot(to_root, to_tip))


def softened(distance, length, softness):
    """Where the limb goes for, as vectors.json says."""
    s = softness * length
    if distance <= length - s:
        return distance
    return length if distance >= length + s else distance - (distance - length + s) ** 2 / (4 * s)


def along(rest, rng, distance):
    """A target this far away in the limb's plane."""
    return unit(flat(rest, vector(rng))) * distance


@given(seeds, shapes, st.floats(0.01, 1.0), st.floats(0.0, 2.0))
def test_softness(seed, shape, softness, fraction):
    rng, rest = seeded(seed, shape)
    distance = fraction * rest.total
    solution = solve(rest, along(rest, rng, distance), softness=softness)
    nearest = abs(rest.lengths[0] - rest.lengths[1])
    gone = max(softened(distance, rest.total, softness), nearest)
    assert np.linalg.norm(posed(rest, solution)[1]) == pytest.approx(gone, abs=4 * ROUNDING * rest.total)
    assert solution.stretch == 1.0


@given(seeds, st.floats(0.01, 0.5))
def test_softness_keeps_the_knees_speed_finite(seed, softness):
    """The knee turns by the root of the easing's gap, so by at most a fixed share of the target's travel."""
    rng, rest = seeded(seed, is_alike=True)
    ray = unit(flat(rest, vector(rng)))
    low = max(1.0 - softness, abs(rest.lengths[0] - rest.lengths[1]) / rest.total + 0.1)
    angles = []
    steps = np.linspace(low, 1.0 + softness, 200)
    for fraction in steps:
        solution = solve(rest, ray * fraction * rest.total, softness=softness)
        angles.append(inner_angle(*posed(rest, solution)))
    speed = np.abs(np.diff(angles)) / np.diff(steps)
    assert speed.max() < 6.0 / math.sqrt(softness * (1.0 - low) + softness * softness)
    assert angles[-1] == pytest.approx(math.pi, abs=0.1)


@given(seeds, shapes, fractions, st.floats(0.0, 4.0), fractions, st.floats(1.0, 3.0))
def test_softness_and_stretch(seed, shape, softness, fraction, stretch, stretch_max):
    rng, rest = seeded(seed, shape)
    distance = fraction * rest.total
    target = along(rest, rng, distance)
    solution = solve(rest, target, softness=softness, stretch=stretch, stretch_max=stretch_max)
    nearest = abs(rest.lengths[0] - rest.lengths[1])
    gone = max(softened(distance, rest.total, softness) if softness else min(distance, rest.total), nearest)
    factor = min(1.0 + stretch * max(distance / gone - 1.0, 0.0), stretch_max) if gone else 1.0
    assert solution.stretch == pytest.approx(factor, rel=1e-13)
    assert solution.stretch >= 1.0
    _, tip = posed(rest, solution)
    assert np.linalg.norm(tip) == pytest.approx(gone * factor, rel=1e-12, abs=4 * ROUNDING * rest.total)


@given(seeds, shapes, fractions, st.floats(0.2, 4.0), bends, st.booleans())
def test_full_stretch_keeps_the_tip_on_the_target(seed, shape, softness, fraction, bend, has_pole):
    rng, rest = seeded(seed, shape)
    nearest = abs(rest.lengths[0] - rest.lengths[1])
    target = along(rest, rng, max(fraction * rest.total, nearest * 1.001))
    pole = pole_for(rest, rng) if has_pole else None
    features = Features(shaped=True, swung=True)
    solution = solve(rest, target, features, pole, bend=bend, softness=softness, stretch=1.0, stretch_max=1e6)
    _, tip = posed(rest, solution)
    assert tip == pytest.approx(target, abs=4 * ROUNDING * (np.linalg.norm(target) + rest.total))
    assert solution.reach is Reach.REACHED


@given(seeds, shapes, st.floats(1.0, 5.0), st.floats(0.0, 0.99))
def test_never_stretches_inside_reach(seed, shape, stretch_max, fraction):
    rng, rest = seeded(seed, shape)
    solution = solve(rest, along(rest, rng, fraction * rest.total), stretch=1.0, stretch_max=stretch_max)
    assert solution.stretch == 1.0


@given(seeds, shapes, st.floats(0.0, 2.5), st.floats(0.0, 1.0), st.floats(0.0, 1.0), bends, st.booleans())
def test_knee_limits(seed, shape, fraction, low, high, bend, has_pole):
    rng, rest = seeded(seed, shape)
    smallest, largest = sorted((low * math.pi, high * math.pi))
    target = along(rest, rng, fraction * rest.total)
    pole = pole_for(rest, rng) if has_pole else None
    features = Features(shaped=True, swung=True)
    solution = solve(rest, target, features, pole, bend=bend, **limits(smallest, largest))
    knee, tip = posed(rest, solution)
    r1, r2 = rest.lengths
    nearest, farthest = (
        math.sqrt(max(r1 * r1 + r2 * r2 - 2 * r1 * r2 * math.cos(a), 0.0)) for a in (smallest, largest)
    )
    distance = fraction * rest.total
    gone = min(max(distance, nearest), farthest)
    # The distance from the root moves with the square of the knee's angle, so that it is the one to compare.
    assert np.linalg.norm(tip) == pytest.approx(gone, abs=1e-13 * rest.total + 1e-7 * (nearest > r1 + r2 * 0.999999))
    assert inner_angle(knee, tip) >= smallest - 1e-6 * max(r1, r2) / min(r1, r2)
    assert inner_angle(knee, tip) <= largest + 1e-6 * max(r1, r2) / min(r1, r2)
    if distance > farthest + 1e-9 * rest.total:
        assert solution.reach is (Reach.LIMITED if largest < math.pi else Reach.TOO_FAR)
    elif distance < nearest - 1e-9 * rest.total:
        assert solution.reach is (Reach.LIMITED if math.cos(smallest / 2) ** 2 < 1.0 else Reach.TOO_NEAR)
    elif nearest + 1e-9 * rest.total < distance < farthest - 1e-9 * rest.total:
        assert solution.reach is Reach.REACHED


@given(seeds, shapes, st.floats(0.0, 1.3), st.floats(0.2, 0.9), bends)
def test_of_limits_that_cross_the_largest_prevails(seed, shape, fraction, high, bend):
    rng, rest = seeded(seed, shape, is_alike=True)
    largest = high * math.pi
    target = along(rest, rng, fraction * rest.total)
    solution = solve(rest, target, EVERY, bend=bend, **limits(largest + 0.2, largest))
    knee, tip = posed(rest, solution)
    assert inner_angle(knee, tip) == pytest.approx(largest, abs=1e-6)
    assert solution.reach is Reach.LIMITED


@given(seeds, shapes, st.floats(1.0, 3.0), st.sampled_from([1.0, -1.0]))
def test_a_bend_past_a_side_is_that_side(seed, shape, size, side):
    rng, rest = seeded(seed, shape)
    target = target_for(rest, rng)
    past, at = (solve(rest, target, Features(swung=True), bend=bend) for bend in (size * side, side))
    assert past == at


@given(seeds, shapes, st.floats(0.0, 3.0), st.floats(0.2, 1.0), fractions, fractions)
def test_limits_and_stretch(seed, shape, fraction, high, stretch, softness):
    """The limb stops at the limit, eases into it, and stretches from there; the inner angle stays within."""
    rng, rest = seeded(seed, shape, is_alike=True)
    largest = high * math.pi
    distance = fraction * rest.total
    solution = solve(
        rest,
        along(rest, rng, distance),
        stretch=stretch,
        stretch_max=2.0,
        softness=softness,
        **limits(0.0, largest),
    )
    knee, tip = posed(rest, solution)
    assert inner_angle(knee, tip) <= largest + 1e-6
    r1, r2 = rest.lengths
    farthest = math.sqrt(r1 * r1 + r2 * r2 - 2 * r1 * r2 * math.cos(largest))
    s = softness * rest.total
    gone = distance if distance <= farthest - s else farthest
    if farthest - s < distance < farthest + s:
        gone = distance - (distance - farthest + s) ** 2 / (4 * s)
    gone = max(gone, abs(r1 - r2))
    factor = min(1.0 + stretch * max(distance / gone - 1.0, 0.0), 2.0) if gone else 1.0
    assert np.linalg.norm(tip) == pytest.approx(gone * factor, rel=1e-7)
    assert solution.stretch == pytest.approx(factor, rel=1e-7)


@given(seeds, shapes, fractions, st.booleans(), bends)
def test_influence_turns_each_bone_the_shortest_way(seed, shape, influence, has_pole, bend):
    rng, rest = seeded(seed, shape)
    target, pole, own = target_for(rest, rng), pole_for(rest, rng) if has_pole else None, own_pose(rng)
    given_settings = {"bend": bend, "stretch": 1.0, "stretch_max": 2.0}
    full = solve(rest, target, Features(shaped=True, swung=True), pole, **given_settings)
    part = solve(rest, target, EVERY, pole, own, influence=influence, **given_settings)
    for bone in (0, 1):
        assert is_slerp(part[bone], own[bone], full[bone], influence)
        assert math.hypot(*part[bone]) == pytest.approx(1.0, abs=ROUNDING)
    assert part.stretch == pytest.approx(1.0 + influence * (full.stretch - 1.0))
    assert part.reach is full.reach


@given(seeds, shapes, st.booleans())
def test_no_and_full_influence(seed, shape, has_pole):
    rng, rest = seeded(seed, shape)
    target, pole, own = target_for(rest, rng), pole_for(rest, rng) if has_pole else None, own_pose(rng)
    none, full = (solve(rest, target, Features(blended=True), pole, own, influence=share) for share in (0.0, 1.0))
    solution = solve(rest, target, Features(), pole)
    for bone in (0, 1):
        assert none[bone] == pytest.approx(own[bone], abs=ROUNDING)
        side = 1.0 if np.dot(own[bone], solution[bone]) >= 0.0 else -1.0
        assert full[bone] == pytest.approx([side * x for x in solution[bone]], abs=ROUNDING)
    assert (none.stretch, full.stretch) == (1.0, 1.0)


@given(seeds, shapes, st.sampled_from(Plane))
def test_a_feature_at_its_default_changes_nothing(seed, shape, plane):
    rng, rest = seeded(seed, shape)
    target, pole = target_for(rest, rng), pole_for(rest, rng)
    plain = solve(rest, target, Features(), pole, plane=plane)
    for features in (SHAPED, Features(swung=True), Features(blended=True), EVERY):
        same = solve(rest, target, features, pole, own_pose(rng), plane)
        for bone in (0, 1):
            side = 1.0 if np.dot(same[bone], plain[bone]) >= 0.0 else -1.0
            assert [side * x for x in same[bone]] == pytest.approx(plain[bone], abs=ROUNDING)
        assert same[2:] == plain[2:]


@given(seeds, bends, st.booleans())
def test_all_features_together_stay_finite_and_unit(seed, bend, has_pole):
    rng, rest = seeded(seed)
    targets = [
        target_for(rest, rng, high=3.0),
        in_reach(rest, rng),
        np.zeros(3),
        rest.knee + rest.lower,
        rest.knee * 1e6,
    ]
    for target in targets:
        solution = solve(
            rest,
            target,
            EVERY,
            pole_for(rest, rng) if has_pole else None,
            own_pose(rng),
            bend=bend,
            softness=rng.random(),
            stretch=rng.random(),
            stretch_max=1.0 + rng.random(),
            influence=rng.random(),
            **limits(0.3, 2.5),
        )
        assert all(map(math.isfinite, [*solution.upper, *solution.lower, solution.stretch]))
        for q in solution[:2]:
            assert math.hypot(*q) == pytest.approx(1.0, abs=ROUNDING)
