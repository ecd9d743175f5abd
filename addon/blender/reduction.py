"""Fewer keys: which frames to key for what a curve through these keys makes to be near enough in all frames."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def fewest(
    errors: Callable[[Array], Array], count: int, tolerance: float, always: Array | None = None
) -> tuple[Array, float]:
    """Which of so many frames to key: both ends (and those that are to be keyed ``always``), and then wherever it is
    worst, until nothing is off by more than a tolerance; and how far that is. ``errors`` says for keyed frames how far
    off all frames are then."""
    which = np.union1d([0, count - 1], [] if always is None else always).astype(int)
    while True:
        off = errors(which)
        off[which] = 0.0
        worst = np.array([first + off[first : last + 1].argmax() for first, last in pairwise(which)])
        more = worst[off[worst] > tolerance]
        if not len(more):
            return which, float(off.max())
        which = np.union1d(which, more)


def hermite(times: Array, values: Array, slopes: Array, which: Array) -> Array:
    """What Hermite's cubics through the keys give at all times, as Bézier curves do whose handles are at thirds."""
    segment = np.clip(np.searchsorted(which, np.arange(len(times)), "right") - 1, 0, len(which) - 2)
    start, end = which[segment], which[segment + 1]
    span = (times[end] - times[start])[:, None]
    t = (times[:, None] - times[start][:, None]) / span
    back = 1.0 - t
    numbers: Array = back * back * ((1.0 + 2.0 * t) * values[start] + span * t * slopes[start])
    numbers += t * t * ((1.0 + 2.0 * back) * values[end] - span * back * slopes[end])
    return numbers
