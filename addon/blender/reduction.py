"""Fewer keys: the fewest frames to key for what a curve through these keys makes to be near enough in all frames.

Between two keys a curve is Hermite's cubic, with slopes taken from the data, so that no segment depends on another: the
fewest keys are a shortest path over those segments that hold the tolerance (as in *Salient Poses*, Roberts and others,
2019)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LONGEST = 64
"""How many frames a segment spans at most."""

SLAB = 40_000
"""How many frames of segments are tried at once."""

Errors = Callable[["Segments"], Array]
"""How far off each row of some segments is."""


class Segments(NamedTuple):
    """Rows of segments: each a frame between two keyed ones, by the numbers of all three, ``(rows,)``."""

    start: Array
    end: Array
    at: Array

    def share(self, times: Array) -> tuple[Array, Array]:
        """How much of a segment is done in each row, from 0 to 1, and how long it is, ``(rows, 1)``."""
        length = (times[self.end] - times[self.start])[:, None]
        return (times[self.at] - times[self.start])[:, None] / length, length


def hermite(times: Array, values: Array, slopes: Array, rows: Segments, before: Array | None = None) -> Array:
    """What Hermite's cubics through the keys give, ``(rows, numbers)``, as Bézier curves do whose handles are at
    thirds; ``values`` and ``slopes`` are ``(frames, numbers)``. Where keys have other slopes ``before`` them than
    after, these lead to them."""
    t, length = rows.share(times)
    back = 1.0 - t
    start, end = rows.start, rows.end
    numbers: Array = back * back * ((1.0 + 2.0 * t) * values[start] + length * t * slopes[start])
    at_end = (slopes if before is None else before)[end]
    numbers += t * t * ((1.0 + 2.0 * back) * values[end] - length * back * at_end)
    return numbers


def fewest(errors: Errors, count: int, tolerance: float, always: Array | None = None) -> tuple[Array, float]:
    """Which of so many frames to key: the fewest with both ends and those that are to be keyed ``always``, so that no
    row of a segment is off by more than a tolerance, of several the nearest; and how far off that is."""
    stops = np.unique([0, count - 1, *([] if always is None else always)]).astype(int)
    cost, before, worst = np.full(count, np.inf), np.zeros(count, int), np.zeros(count)
    cost[0] = 0.0
    holding = _held(errors, count, tolerance, stops)
    for end in range(1, count):
        starts, off = holding[end]
        reached = cost[starts] + 1.0 + off / (tolerance * count)
        best = int(reached.argmin())
        cost[end], before[end], worst[end] = reached[best], starts[best], off[best]
    path = [count - 1]
    while path[-1]:
        path.append(int(before[path[-1]]))
    which = np.array(path[::-1])
    return which, float(worst[which].max())


def _held(errors: Errors, count: int, tolerance: float, stops: Array) -> list[tuple[Array, Array]]:
    """For each frame, where segments may start that end there and hold the tolerance, and how far off each is."""
    lowest = np.maximum(stops[np.searchsorted(stops, np.arange(count)) - 1], np.arange(count) - LONGEST)
    lengths = np.maximum(np.arange(count) - lowest, 0)
    lengths[0] = 0
    end = np.repeat(np.arange(count), lengths)
    start = end - 1 - (np.arange(len(end)) - np.repeat(np.cumsum(lengths) - lengths, lengths))
    off = np.zeros(len(end))
    inside = end - start - 1
    for parts in (2, 4):  # most segments that do not hold are off where they are looked at first
        for fraction in range(1, parts, 2):
            tried = np.flatnonzero((inside >= parts - 1) & (off <= tolerance))
            _try(errors, off, tried, start, end, start[tried] + (end - start)[tried] * fraction // parts)
    remaining = np.flatnonzero((inside > 1) & (off <= tolerance))
    sizes = np.cumsum(inside[remaining])
    for some in np.split(remaining, np.searchsorted(sizes, np.arange(SLAB, sizes[-1] if len(remaining) else 0, SLAB))):
        segments = np.repeat(some, inside[some])
        ranks = np.arange(len(segments)) - np.repeat(np.cumsum(inside[some]) - inside[some], inside[some])
        _try(errors, off, segments, start, end, start[segments] + 1 + ranks)
    is_held = off <= tolerance
    start, end, off = start[is_held], end[is_held], off[is_held]
    at = np.searchsorted(end, np.arange(count + 1))
    return [(start[a:b], off[a:b]) for a, b in pairwise(at)]


def _try(errors: Errors, off: Array, which: Array, start: Array, end: Array, at: Array) -> None:
    """Note how far off these segments are in these frames."""
    for first in range(0, len(which), SLAB):
        some = slice(first, first + SLAB)
        rows = which[some]
        np.maximum.at(off, rows, errors(Segments(start[rows], end[rows], at[some])))
