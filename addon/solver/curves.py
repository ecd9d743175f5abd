"""Cubics between keys, and which keys are enough: of any curve over frames, by arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .ops import Array, Column

Errors = Callable[["Segments"], Array]
"""How far off each row of some segments is."""


class Segments(NamedTuple):
    """Rows of segments: each a frame between two keyed ones, by the numbers of all three, ``(rows,)``."""

    start: Array
    end: Array
    at: Array

    def fraction(self, times: Column) -> tuple[Array, Array]:
        """How much of a segment is done in each row, from 0 to 1, and how long it is, ``(rows, 1)``."""
        length = (times[self.end] - times[self.start])[:, None]
        return (times[self.at] - times[self.start])[:, None] / length, length


def hermite(times: Column, values: Array, slopes: Array, rows: Segments, before: Array | None = None) -> Array:
    """The values ``(rows, numbers)`` of Hermite's cubics through keys, as Bézier curves with handles at thirds, in rows
    between two keyed frames each. ``times`` ``(frames,)``, ``values`` and ``slopes`` ``(frames, numbers)`` are of all
    frames. Where keys have other slopes ``before`` them than after,
    these lead to them."""
    t, length = rows.fraction(times)
    back = 1.0 - t
    start, end = rows.start, rows.end
    numbers: Array = back * back * ((1.0 + 2.0 * t) * values[start] + length * t * slopes[start])
    at_end = (slopes if before is None else before)[end]
    numbers += t * t * ((1.0 + 2.0 * back) * values[end] - length * back * at_end)
    return numbers


def few(errors: Errors, count: int, tolerance: float, always: Array | None = None) -> tuple[Array, float]:
    """Few of ``count`` frames to key, by their numbers, for none to be off by more than a tolerance; and how far off
    the rest is. Both ends, and the numbers to be keyed ``always``; then, as long as that is not enough, in each segment
    the frame that is farthest off."""
    which = np.unique([0, count - 1, *([] if always is None else always)]).astype(int)
    while len(at := np.setdiff1d(np.arange(count), which)):
        ends = np.searchsorted(which, at)
        off = errors(Segments(which[ends - 1], which[ends], at))
        if off.max() <= tolerance:
            return which, float(off.max())
        firsts = np.flatnonzero(np.diff(ends, prepend=-1))
        worst = np.repeat(np.maximum.reduceat(off, firsts), np.diff(firsts, append=len(at)))
        which = np.union1d(which, at[(off == worst) & (off > tolerance)])
    return which, 0.0
