"""Keys where they are wanted, then as many more as hold the tolerance."""

from __future__ import annotations

import numpy as np
import pytest

from addon.solver import curves


@pytest.mark.parametrize("tolerance", [0.02, 0.2])
def test_few_hold_the_tolerance(tolerance):
    rng, count = np.random.default_rng(1), 240
    times = np.arange(count, dtype=float)
    values = np.stack([np.interp(times, times[::20], 3.0 * rng.normal(size=12)), np.sin(times / 9.0)], axis=1)
    slopes = np.gradient(values, times, axis=0)

    def errors(rows):
        return np.linalg.norm(curves.hermite(times, values, slopes, rows) - values[rows.at], axis=1)

    which, off = curves.few(errors, count, tolerance, np.array([17, 130]))
    assert {0, 17, 130, count - 1} <= {*which.tolist()}
    ends = np.searchsorted(which, at := np.setdiff1d(np.arange(count), which))
    assert errors(curves.Segments(which[ends - 1], which[ends], at)).max() == off <= tolerance
    assert len(which) < (70 if tolerance < 0.1 else 45)


def test_what_is_still_gets_no_more_keys():
    which, off = curves.few(lambda rows: np.zeros(len(rows.at)), 500, 1.0, np.array([17, 300]))
    assert (which.tolist(), off) == ([0, 17, 300, 499], 0.0)
