"""The fewest keys are the fewest: no smaller choice of frames holds the tolerance, tried by brute force."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest


@pytest.fixture
def reduction(addon):
    return addon("blender.reduction")


def path(rng, count):
    times = np.cumsum(rng.uniform(0.5, 1.5, count))
    values = 0.3 * np.cumsum(rng.normal(size=(count, 2)), axis=0)
    return times, values, np.gradient(values, times, axis=0)


def test_no_fewer_hold(reduction):
    rng = np.random.default_rng(0)
    for _ in range(40):
        count, tolerance = int(rng.integers(3, 12)), rng.uniform(0.05, 1.0)
        times, values, slopes = path(rng, count)

        def errors(rows, times=times, values=values, slopes=slopes):
            return np.linalg.norm(reduction.hermite(times, values, slopes, rows) - values[rows.at], axis=1)

        def holds(keys, errors=errors, tolerance=tolerance):
            rows = [(a, b, k) for a, b in pairwise(keys) for k in range(a + 1, b)]
            return not rows or errors(reduction.Segments(*np.array(rows).T)).max() <= tolerance

        which, off = reduction.fewest(errors, count, tolerance)
        assert holds(which.tolist())
        assert off <= tolerance
        inner = range(1, count - 1)
        fewer = [keys for size in range(len(which) - 2) for keys in combinations(inner, size)]
        assert not any(holds((0, *keys, count - 1)) for keys in fewer)


def test_what_is_to_be_keyed_is_and_segments_are_bounded(reduction):
    def none(rows):
        return np.zeros(len(rows.at))

    which, off = reduction.fewest(none, 500, 1.0, np.array([17, 300]))
    assert {0, 17, 300, 499} <= {*which.tolist()}
    assert np.diff(which).max() <= reduction.LONGEST_SEGMENT
    assert len(which) == 1 + sum(-(-length // reduction.LONGEST_SEGMENT) for length in (17, 283, 199))
    assert off == 0.0


@pytest.mark.parametrize("tolerance", [0.02, 0.2])
def test_long_paths_have_as_few_as_all_segments_allow(reduction, tolerance):
    rng, count = np.random.default_rng(1), 240
    times = np.arange(count, dtype=float)
    values = np.stack([np.interp(times, times[::20], 3.0 * rng.normal(size=12)), np.sin(times / 9.0)], axis=1)
    slopes = np.gradient(values, times, axis=0)

    def errors(rows):
        return np.linalg.norm(reduction.hermite(times, values, slopes, rows) - values[rows.at], axis=1)

    fewest = [0] + [count] * (count - 1)
    for end in range(1, count):
        for start in range(max(end - reduction.LONGEST_SEGMENT, 0), end):
            inside = np.arange(start + 1, end)
            rows = reduction.Segments(np.full_like(inside, start), np.full_like(inside, end), inside)
            if fewest[start] + 1 < fewest[end] and (not len(inside) or errors(rows).max() <= tolerance):
                fewest[end] = fewest[start] + 1
    which, off = reduction.fewest(errors, count, tolerance)
    assert off <= tolerance
    assert len(which) - 1 <= 1.02 * fewest[-1]
