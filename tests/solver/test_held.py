"""Holding legs is plain arithmetic of where their feet are: no Blender."""

from itertools import pairwise

import numpy as np
import pytest

from addon.feet import held

FRAMES = 60
SPANS = ((5, 16), (28, 40))
"""Where the foot stands, first and last rows; it slides there."""


def leg(rng, above):
    """A leg of a length of 1 that hangs ``above`` the floor and walks on; its foot slides and turns where it stands."""
    times, ends = np.arange(FRAMES, dtype=float), np.tile(np.eye(4), (FRAMES, 1, 1))
    forward = np.interp(times, [0, 5, 16, 28, 40, 59], np.cumsum([0.0, 0.2, 0.05, 0.4, 0.05, 0.2]))
    ends[:, :3, 3] = np.stack([0.1 + 0.01 * np.sin(times), forward, 0.1 + 0.01 * rng.random(FRAMES)], axis=1)
    angles = 0.05 * np.sin(times / 3.0)
    ends[:, 0, 0] = ends[:, 1, 1] = np.cos(angles)
    ends[:, 1, 0], ends[:, 0, 1] = np.sin(angles), -np.sin(angles)
    roots = np.stack([0.1 + 0.0 * times, np.linspace(0.0, 0.9, FRAMES), 0.1 + above + 0.0 * times], axis=1)
    contacts = [held.FootContact(first, ["sole"] * (last + 1 - first), None) for first, last in SPANS]
    return held.Leg(ends, np.zeros((FRAMES, 2)), roots, 1.0, 1.0, None, contacts)


def holding(lowers=None):
    return held.Holding(3, np.arange(FRAMES, dtype=float), lowers)


@pytest.mark.parametrize("seed", range(5))
def test_a_foot_stands_in_its_contacts_and_is_nowhere_else_moved(seed):
    rng = np.random.default_rng(seed)
    legs = [leg(rng, 0.8), leg(rng, 0.7)]
    for before, now in zip(legs, held.held_legs(legs, holding()), strict=True):
        for first, last in SPANS:
            assert np.abs(now.ends[first : last + 1] - now.ends[first]).max() < 1e-12
            assert now.changed[first - 3 : last + 4].all()
        assert np.abs(now.ends[~now.changed] - before.ends[~now.changed]).max() < 1e-12
        steps = np.abs(np.diff(now.ends - before.ends, axis=0)).max(axis=(1, 2))
        assert steps.max() < 0.12  # it eases in and out
        assert not now.carried.any()


@pytest.mark.parametrize("seed", range(5))
def test_what_carries_legs_is_moved_by_as_little_as_they_reach(seed):
    rng = np.random.default_rng(seed)
    legs = [leg(rng, 0.99), leg(rng, 0.97)]
    found = held.held_legs(legs, holding(6))
    carried = found[0].carried
    assert all(np.array_equal(one.carried, carried) for one in found)
    far = [np.linalg.norm(now.ends[:, :3, 3] - one.roots, axis=1) for one, now in zip(legs, found, strict=True)]
    assert -0.02 < carried[:, 2].min() < -0.001
    assert np.linalg.norm(carried, axis=1).max() < np.max(far) - held.FULL + 2.0 * held.CARRIED
    for one, now in zip(legs, found, strict=True):
        for first, last in SPANS:
            rows = slice(first, last + 1)
            far = np.linalg.norm(now.ends[rows, :3, 3] - (one.roots + carried)[rows], axis=1)
            assert far.max() < 1.0  # which the leg reaches
    bends = [abs(b - a) for a, b in pairwise(np.diff(carried[:, 2]))]
    assert max(bends) < 0.2 * -carried[:, 2].min()  # it goes down and up smoothly
    assert not held.held_legs([leg(rng, 0.6)], holding(6))[0].carried.any()
