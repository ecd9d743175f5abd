"""With limits on both joints, no pose within them has its tip nearer to the target than the one that is found."""

import math
import random

import numpy as np
import pytest

from addon.solver import Plane, Reach, Settings, pose_limb
from addon.solver.limb import joints_of, pose_limbs
from addon.solver.limits import Limits, Range
from addon.solver.ops import FLOATS
from addon.solver.triangle import bones_of_lengths, range_of_bones
from tests.solver.shapes import RestGeometry, half

FREE = (-math.pi, math.pi)


def limb(rng):
    """Lengths, bend at rest, the first bone's range from there and that of the knee's turn off straight."""
    low = rng.uniform(-math.pi, math.pi)
    first = rng.choice((FREE, (low, low + rng.uniform(0.0, 3.0)), (-0.2, 0.3)))
    bent = sorted(rng.uniform(0.0, math.pi) for _ in range(2))
    knee = rng.choice(((0.0, math.pi), bent, (0.0, 1.0)))
    return (rng.uniform(0.3, 1.0), rng.uniform(0.3, 1.0)), rng.uniform(0.0, 2.0), first, knee


def range_of(low, high):
    return Range(half((low + high) / 2.0), half((high - low) / 2.0))


def settings_of(lengths, first, knee, side):
    smallest, largest = (math.cos((math.pi - turn) / 2.0) ** 2 for turn in (knee[1], knee[0]))
    nearest, farthest = range_of_bones(bones_of_lengths(*lengths, FLOATS), smallest, largest, FLOATS)
    limits = Limits(range_of(*first), range_of(*knee))
    return Settings(side=side, nearest=nearest, farthest=farthest, limits=limits)


def tip(shape, first, knee, side):
    """Where turns from the reference put the tip, as complex numbers: i is Y, and -1 the side of the knee."""
    heading = 1j * np.exp(1j * (shape.alpha + first))
    return shape.lengths[0] * heading + shape.lengths[1] * heading * np.exp(-1j * side * knee)


def nearest(shape, place, first, knee, side):
    """How near the tip may come to a place, by looking everywhere and then ever closer around the best."""
    lows, highs = np.array((first[0], knee[0])), np.array((first[1], knee[1]))
    low, high = lows, highs
    for _ in range(12):
        grids = np.meshgrid(*(np.linspace(a, b, 101) for a, b in zip(low, high, strict=True)))
        errors = abs(tip(shape, *grids, side) - place)
        best = np.array([grid.ravel()[errors.argmin()] for grid in grids])
        step = (high - low) / 20.0
        low, high = np.maximum(best - step, lows), np.minimum(best + step, highs)
    return float(errors.min())


@pytest.mark.parametrize("seed", range(40))
def test_nothing_within_limits_is_nearer(seed):
    rng = random.Random(seed)
    lengths, kappa, first, knee = limb(rng)
    side = rng.choice((1.0, -1.0))
    shape = RestGeometry(lengths, kappa, (np.eye(3), np.eye(3)), ((1.0, 0.0, 0.0, 0.0),) * 2)
    place = rng.uniform(0.0, 2.0) * np.exp(1j * rng.uniform(-math.pi, math.pi))
    settings = settings_of(lengths, first, knee, side)
    pose = pose_limb((place.real, place.imag, 0.0), shape.reference, settings, Plane.HINGE, FLOATS, tolerance=1e-9)
    joints = joints_of(pose.turns, shape.reference)
    off = math.hypot(joints[-1][0] - place.real, joints[-1][1] - place.imag)
    assert off == pytest.approx(nearest(shape, place, first, knee, side), abs=1e-6)
    assert pose.shortfall == pytest.approx(off, abs=1e-9) or pose.reach in (Reach.TOO_FAR, Reach.TOO_NEAR)
    turned = 2.0 * math.atan2(pose.turns[0][3], pose.turns[0][0])
    off_middle = math.remainder(turned - sum(first) / 2.0, math.tau)
    assert abs(off_middle) <= (first[1] - first[0]) / 2.0 + 1e-9
    heading = (joints[-1][0] - joints[0][0]) + 1j * (joints[-1][1] - joints[0][1])
    bent = -side * np.angle(heading / (joints[0][0] + 1j * joints[0][1]))
    assert knee[0] - 1e-7 <= bent % math.tau <= knee[1] + 1e-7 or abs(math.remainder(bent, math.tau)) < 1e-7
    assert (pose.reach == Reach.REACHED) == (off <= 1e-9 * sum(lengths))


def test_wide_limits_are_none():
    rng = random.Random(7)
    shape = RestGeometry((0.8, 0.6), 0.7, (np.eye(3), np.eye(3)), ((1.0, 0.0, 0.0, 0.0),) * 2)
    settings = settings_of(shape.lengths, FREE, (0.0, math.pi), 1.0)
    for _ in range(100):
        place = (rng.uniform(-1.6, 1.6), rng.uniform(-1.6, 1.6), 0.0)
        limited = pose_limb(place, shape.reference, settings, Plane.HINGE, FLOATS)
        free = pose_limb(place, shape.reference, settings._replace(limits=None), Plane.HINGE, FLOATS)
        np.testing.assert_allclose(limited.turns, free.turns, atol=1e-12)
        assert (limited.reach, limited.shortfall) == (free.reach, pytest.approx(free.shortfall))


def test_rows_are_floats():
    rng = random.Random(3)
    shape = RestGeometry((0.8, 0.6), 0.7, (np.eye(3), np.eye(3)), ((1.0, 0.0, 0.0, 0.0),) * 2)
    settings = settings_of(shape.lengths, (-0.4, 0.5), (0.3, 1.5), -1.0)
    places = np.array([[rng.uniform(-1.6, 1.6), rng.uniform(-1.6, 1.6), 0.0] for _ in range(50)])
    rows = pose_limbs(places, shape.reference, settings, Plane.HINGE)
    for i, place in enumerate(places):
        one = pose_limb(tuple(place.tolist()), shape.reference, settings, Plane.HINGE, FLOATS)
        np.testing.assert_allclose([turn[i] for turn in rows.turns], one.turns, atol=1e-12)
        assert rows.reach[i] == one.reach
