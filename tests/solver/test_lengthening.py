"""`lengthened`: bones of another scale put the joints where longer bones would have them, by whole matrices."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from addon.solver.lengthening import MOST_ASIDE, Lengthening, lengthened
from addon.solver.ops import ARRAYS, FLOATS
from tests.solver.oracles import matrix, unit
from tests.solver.shapes import quaternion

ROUNDING = 1e-13

factors = st.floats(1.0, 8.0)
volumes = st.sampled_from(["LENGTH", "UNIFORM", "VOLUME"])


def grown(factor: float, volume: str) -> list[float]:
    """The sizes of a bone so many times as long."""
    width = {"LENGTH": 1.0, "UNIFORM": factor, "VOLUME": factor**-0.5}[volume]
    return [width, factor, width]


def hanging(rng: random.Random, is_passed_on: bool, volume: str, most_aside: float = MOST_ASIDE) -> Lengthening:
    """A limb whose upper bone points to one side of its knee, its lower bone of any orientation, mirrored or not."""
    aside = math.sqrt(rng.uniform(0.0, 1.0 - most_aside))
    angle = rng.uniform(0.0, 2.0 * math.pi)
    along = (aside * math.cos(angle), math.sqrt(1.0 - aside * aside), aside * math.sin(angle))
    axes = matrix(quaternion(rng)) * rng.choice([1.0, -1.0])
    return Lengthening(along, tuple(map(tuple, axes.T)), True, is_passed_on, volume)


def posed(upper, lower, sizes, how):
    """The upper and the lower bone's axes with their scales, and where knee and tip of bones one unit long are."""
    bones = matrix(upper) @ np.diag(sizes[0])
    carrier = bones if how.is_passed_on else matrix(upper)
    hanging = carrier @ np.array(how.lower_axes).T @ matrix(lower) @ np.diag(sizes[1])
    knee = bones @ np.array(how.along)
    return bones, hanging, knee, knee + hanging[:, 1]


@given(st.integers(0, 2**32 - 1), factors, st.booleans(), volumes)
def test_joints_are_where_longer_bones_have_them(seed, factor, is_passed_on, volume):
    rng = random.Random(seed)
    how = hanging(rng, is_passed_on, volume)
    before = quaternion(rng), quaternion(rng)
    *after, upper_sizes, lower_sizes = lengthened(*before, factor, how, FLOATS)
    upper, lower, knee, tip = posed(*after, (upper_sizes, lower_sizes), how)
    still = how._replace(is_passed_on=False)
    _, turned, wanted_knee, wanted_tip = posed(*before, ((1, 1, 1), (1, 1, 1)), still)
    assert np.linalg.norm(knee - factor * wanted_knee) <= ROUNDING * factor
    assert np.linalg.norm(tip - factor * wanted_tip) <= 4 * ROUNDING * factor
    assert np.linalg.norm(lower, axis=0) == pytest.approx(grown(factor, volume), rel=1e-12)
    assert np.linalg.norm(upper, axis=0) == pytest.approx(grown(upper_sizes[1], volume), rel=1e-12)
    if not is_passed_on:  # the lower bone is not sheared, and not twisted
        assert np.abs(lower / np.linalg.norm(lower, axis=0) - turned).max() <= 10 * ROUNDING


@given(st.integers(0, 2**32 - 1), factors, volumes)
def test_a_straight_limb_is_not_sheared(seed, factor, volume):
    rng = random.Random(seed)
    how = hanging(rng, True, volume, most_aside=1.0)
    upper, twist = quaternion(rng), rng.uniform(-math.pi, math.pi)
    axes = np.array(how.lower_axes)
    # The lower bone's own rotation that points it the way of the upper bone, which is F's y axis.
    start, end = np.array((0.0, 1.0, 0.0)), axes @ np.array(how.along)
    half = unit(start + end)
    turn = (float(half @ start), *map(float, np.cross(start, half)))
    about = (math.cos(twist / 2), 0.0, math.sin(twist / 2), 0.0)
    w, x, y, z = turn
    lower = (
        w * about[0] - y * about[2],
        x * about[0] - z * about[2],
        y * about[0] + w * about[2],
        z * about[0] + x * about[2],
    )
    *after, upper_sizes, lower_sizes = lengthened(upper, lower, factor, how, FLOATS)
    _, bone, _, _ = posed(*after, (upper_sizes, lower_sizes), how)
    x, y, z = (unit(axis) for axis in bone.T)
    assert max(abs(x @ y), abs(y @ z), abs(z @ x)) <= 1e-11
    assert lower_sizes == pytest.approx((1.0, 1.0, 1.0), rel=1e-11)


@given(st.integers(0, 2**32 - 1), factors, volumes)
def test_an_upper_bone_of_uneven_sizes(seed, factor, volume):
    rng = random.Random(seed)
    own = np.array([rng.uniform(0.3, 3.0) for _ in range(3)])
    how = hanging(rng, True, volume)._replace(own=tuple(own))
    before = quaternion(rng), quaternion(rng)
    *after, upper_sizes, lower_sizes = lengthened(*before, factor, how, FLOATS)
    upper, lower, knee, _ = posed(after[0], after[1], (upper_sizes, lower_sizes), how)
    carried = upper @ np.diag(own) @ np.linalg.inv(upper) @ lower
    still = how._replace(is_passed_on=False)
    _, turned, wanted_knee, _ = posed(*before, ((1, 1, 1), (1, 1, 1)), still)
    assert np.linalg.norm(knee - factor * wanted_knee) <= ROUNDING * factor
    sizes = own * grown(factor, volume)
    assert np.linalg.norm(carried, axis=0) == pytest.approx(sizes, rel=1e-11)
    assert np.linalg.norm(carried[:, 1] - turned[:, 1] * sizes[1]) <= 1e-11 * factor


@pytest.mark.parametrize("is_passed_on", [True, False])
def test_a_factor_of_one_changes_nothing(is_passed_on):
    rng = random.Random(3)
    for _ in range(20):
        how = hanging(rng, is_passed_on, rng.choice(["LENGTH", "UNIFORM", "VOLUME"]))
        before = quaternion(rng), quaternion(rng)
        upper, lower, *sizes = lengthened(*before, 1.0, how, FLOATS)
        assert np.abs(np.array((upper, lower)) - np.array(before)).max() <= ROUNDING
        assert np.abs(np.array(sizes) - 1.0).max() <= ROUNDING


def test_arrays_give_the_same():
    rng = random.Random(4)
    how = hanging(rng, True, "VOLUME")
    rows = [(quaternion(rng), quaternion(rng), rng.uniform(1.0, 3.0)) for _ in range(5)]
    upper, lower, factor = (np.array(column).T for column in zip(*rows, strict=True))
    together = lengthened(tuple(upper), tuple(lower), factor, how, ARRAYS)
    for i, row in enumerate(rows):
        alone = lengthened(*row, how, FLOATS)
        for part, single in zip(together, alone, strict=True):
            assert [float(np.broadcast_to(each, 5)[i]) for each in part] == pytest.approx(single, rel=1e-12, abs=1e-13)
