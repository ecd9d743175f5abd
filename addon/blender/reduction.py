"""Fewer keys: the fewest frames to key for what a curve through these keys makes to be near enough in all frames.

Between two keys a curve is Hermite's cubic, with slopes taken from the data, so that no segment depends on another: the
fewest keys are a shortest path over those segments that hold the tolerance (as in *Salient Poses*, Roberts and others,
2019)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

LONGEST_SEGMENT = 64
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

    def fraction(self, times: Array) -> tuple[Array, Array]:
        """How much of a segment is done in each row, from 0 to 1, and how long it is, ``(rows, 1)``."""
        length = (times[self.end] - times[self.start])[:, None]
        return (times[self.at] - times[self.start])[:, None] / length, length


def hermite(times: Array, values: Array, slopes: Array, rows: Segments, before: Array | None = None) -> Array:
    """What Hermite's cubics through the keys give, ``(rows, numbers)``, as Bézier curves do whose handles are at
    thirds; ``values`` and ``slopes`` are ``(frames, numbers)``. Where keys have other slopes ``before`` them than
    after, these lead to them."""
    t, length = rows.fraction(times)
    back = 1.0 - t
    start, end = rows.start, rows.end
    numbers: Array = back * back * ((1.0 + 2.0 * t) * values[start] + length * t * slopes[start])
    at_end = (slopes if before is None else before)[end]
    numbers += t * t * ((1.0 + 2.0 * back) * values[end] - length * back * at_end)
    return numbers


def fewest(errors: Errors, count: int, tolerance: float, always: Array | None = None) -> tuple[Array, float]:
    """Which of so many frames to key: the fewest with both ends and those that are to be keyed ``always``, so that no
    row of a segment is off by more than a tolerance; and how far off that is.

    Segments are looked at in a few frames at first, and in all of these only on the path that is the shortest by that:
    until one holds, than which none is shorter. Where a segment fails most, those around it are looked at too."""
    stops = np.unique([0, count - 1, *([] if always is None else always)]).astype(int)
    tries = _tries(errors, count, tolerance, stops)
    while True:
        path = _shortest(tries, count, tolerance)
        unsure = path[~tries.is_sure[path]]
        if not len(unsure):
            return np.append(tries.start[path], count - 1), float(tries.off[path].max(initial=0.0))
        worst = _look_wholly(errors, tries, unsure)
        fails = tries.off[unsure] > tolerance
        open_ones = np.flatnonzero(~tries.is_sure & (tries.off <= tolerance))
        starts, ends = tries.start[open_ones], tries.end[open_ones]
        around = [(open_ones[(starts < at) & (at < ends)], at) for at in np.unique(worst[fails])]
        if around:
            some = np.concatenate([segments for segments, _ in around])
            _look(errors, tries, some, np.repeat([at for _, at in around], [len(segments) for segments, _ in around]))


class Tries(NamedTuple):
    """The segments that may be taken, sorted by their ends: how far off each was where it was looked at, and whether
    that was everywhere."""

    start: Array
    end: Array
    off: Array
    is_sure: Array


def _tries(errors: Errors, count: int, tolerance: float, stops: Array) -> Tries:
    """The segments that may be taken. From a frame from which none holds that is nearly as long as those that were
    tried, no longer ones are."""
    frames = np.arange(count - 1)
    highest = np.minimum(stops[np.searchsorted(stops, frames, "right")], frames + LONGEST_SEGMENT)
    tried, shortest = list[Tries](), 1
    for longest in (LONGEST_SEGMENT // 4, LONGEST_SEGMENT // 2, LONGEST_SEGMENT):
        lengths = np.maximum(np.minimum(highest - frames, longest) - shortest + 1, 0)
        start = np.repeat(frames, lengths)
        end = start + shortest + np.arange(len(start)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        tries = Tries(start, end, np.zeros(len(end)), end - start < 3)  # one frame inside is looked at here
        for parts, shortest_looked_at in ((2, 2), (4, 8)):  # what is short and holds halfway holds as a rule
            some = np.flatnonzero((end - start >= shortest_looked_at) & (tries.off <= tolerance))
            inside = [start[some] + (end - start)[some] * fraction // parts for fraction in range(1, parts, 2)]
            _look(errors, tries, np.tile(some, len(inside)), np.concatenate(inside))
        holds = tries.off <= tolerance
        tried.append(Tries(*(numbers[holds] for numbers in tries)))
        frames, shortest = np.unique(start[holds & (end - start > longest // 2)]), longest + 1
        highest = np.minimum(stops[np.searchsorted(stops, frames, "right")], frames + LONGEST_SEGMENT)
    joined = [np.concatenate(numbers) for numbers in zip(*tried, strict=True)]
    order = np.argsort(joined[1], kind="stable")
    return Tries(*(numbers[order] for numbers in joined))


def _look(errors: Errors, tries: Tries, segments: Array, at: Array) -> Array:
    """Note how far off segments are in these frames."""
    off = np.empty(len(segments))
    for first in range(0, len(segments), SLAB):
        slab = slice(first, first + SLAB)
        off[slab] = errors(Segments(tries.start[segments[slab]], tries.end[segments[slab]], at[slab]))
    np.maximum.at(tries.off, segments, off)
    return off


def _look_wholly(errors: Errors, tries: Tries, segments: Array) -> Array:
    """Note how far off segments are in all of their frames; in which of these the most."""
    inside = tries.end[segments] - tries.start[segments] - 1
    firsts = np.cumsum(inside) - inside
    at = np.repeat(tries.start[segments] + 1 - firsts, inside) + np.arange(inside.sum())
    off = _look(errors, tries, np.repeat(segments, inside), at)
    tries.is_sure[segments] = True
    return np.array(
        [at[first + off[first : first + size].argmax()] for first, size in zip(firsts, inside, strict=True)]
    )


def _shortest(tries: Tries, count: int, tolerance: float) -> Array:
    """The path over the fewest segments, of several the nearest as far as that is known."""
    cost, came = np.full(count, np.inf), np.zeros(count, int)
    cost[0] = 0.0
    rank = np.where(tries.is_sure, 0.0, 1.0) + tries.off / tolerance  # of as many, those that hold for sure
    costs = np.where(tries.off <= tolerance, 1.0 + 0.4 * rank / count, np.inf)
    at = np.searchsorted(tries.end, np.arange(count + 1))
    for end in range(1, count):
        segments = slice(at[end], at[end + 1])
        reached = cost[tries.start[segments]] + costs[segments]
        best = int(reached.argmin())
        cost[end], came[end] = reached[best], at[end] + best
    path = [came[count - 1]]
    while tries.start[path[-1]]:
        path.append(came[tries.start[path[-1]]])
    return np.array(path[::-1])
