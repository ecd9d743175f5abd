"""Fewer keys for what goes together, right in the frames and halfway between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..solver.curves import Segments, few, hermite
from ..solver.ops import Array, Column, Indices, Mask
from .reading import Values

BETWEEN = 2.0
"""How many times as far off as in frames what is keyed may be between them."""


CHECKED = 4
"""Of how many frames one is looked at, whether what was computed is what Blender shows there."""


JUMP, SLIGHT = 4.0, 1e-3
"""How many times as far as beside it numbers go where they jump, and how much that is at least."""


class Sampling(NamedTuple):
    """The frames that are read for a task: those that may get keys, by their ``rows``, and those halfway from one to
    the next, which are looked at too. None for the one that is shown."""

    frames: Sequence[float] | None
    rows: Array

    @property
    def between(self) -> Array:
        """The indices in ``frames`` of those that are halfway between frames."""
        return np.setdiff1d(np.arange(len(self.frames or [0])), self.rows)

    def checked(self, every: int = CHECKED) -> Array:
        """The rows in which what is computed is compared with what Blender shows, of ``every`` so many one; none for
        0."""
        return np.union1d(self.rows[::every], self.rows[-1:]) if every else self.rows[:0]


def sampling_of(frames: Sequence[float] | None) -> Sampling:
    """These frames, which are sorted, and what is halfway between those that follow each other; None stays the one that
    is shown."""
    if frames is None:
        return Sampling(None, np.zeros(1, int))
    times = np.array(frames, float)
    halves = times[:-1][np.diff(times) == 1.0] + 0.5
    all_times = np.sort(np.concatenate((times, halves)))
    return Sampling(all_times.tolist(), np.searchsorted(all_times, times))


class Slopes(NamedTuple):
    """How fast numbers change just before and just after each row, per frame, (rows, numbers) each; and the rows from
    which they jump to the next one, where a choice changes."""

    before: Array
    after: Array
    cuts: Any = ()

    def at(self, rows: Array) -> Slopes:
        """In some rows."""
        return Slopes(self.before[rows], self.after[rows], np.flatnonzero(np.isin(rows, self.cuts)))


class KeyRows(NamedTuple):
    """The rows in which something was read, by their ``times`` on F-curves, (f); which of these may be ``keyed``, where
    ranges start that do not go on from the row before, and those ``wanted`` that get keys first."""

    times: Array
    keyed: Array
    starts: Array | Sequence[int] = ()
    wanted: Array | Sequence[int] = ()


Errors = Callable[[Segments, Slopes], Array]
"""How far off points are in some rows, (rows), if keys have these slopes."""


def thinned(
    values: Values, rows: KeyRows, points: Any, tolerance: float, truth: Sequence[Array] = ()
) -> tuple[Array, dict[Any, Slopes]]:
    """Few rows to key, of those that may be, of channels that go together, by their values over all rows (f,
    numbers), and the slopes of those that are smooth between keys. Choices (bool) hold from key to key, and are keyed
    wherever they change. ``points`` (see `KeyedPart`) may be off by ``tolerance`` from where they are in the row, or
    from the ``truth``, and twice that in the rows between; 0 keys all that may be."""
    choices = [numbers for numbers in values.values() if numbers.dtype == bool]
    changes = [1 + np.flatnonzero((numbers[1:] != numbers[:-1]).any(axis=1)) for numbers in choices]
    chosen = np.unique(np.concatenate([*changes, rows.starts])).astype(int)
    keyed = np.union1d(rows.keyed, chosen)
    turns, has_between = np.searchsorted(keyed, chosen) - 1, len(keyed) < len(rows.times)
    if len(keyed) < 2 or (tolerance <= 0.0 and not has_between):
        return keyed, {}
    smooth = [channel for channel, numbers in values.items() if numbers.dtype != bool]
    numbers = np.concatenate([np.empty((len(rows.times), 0)), *(values[channel] for channel in smooth)], axis=1)
    ends = np.cumsum([values[channel].shape[1] for channel in smooth])[:-1]
    slopes, errors = (
        _slopes(numbers, rows.times, keyed, turns, tolerance > 0.0),
        _errors_of(values, rows, points, truth),
    )
    if has_between:
        slopes = _rounded(slopes, keyed, errors, BETWEEN * tolerance)
    which = keyed

    def errors_now(some: Segments) -> Array:
        return errors(some, slopes)

    if tolerance > 0.0:
        first = np.searchsorted(keyed, np.intersect1d(keyed, rows.wanted))
        always = np.unique(np.concatenate((turns, turns + 1, first)))  # the frame before a choice, and its own
        if len(keyed) > 2:
            of_keyed = lambda some: errors_now(Segments(*(keyed[row] for row in some)))  # noqa: E731
            which = keyed[few(of_keyed, len(keyed), tolerance, always)[0]]
        which = _right_between(which, keyed, errors_now, tolerance) if has_between else which
    sides = zip(*(np.split(side, ends, axis=1) for side in slopes[:2]), strict=True)
    jumps = {channel: keyed[turns[jumping(values[channel][keyed], turns)]] for channel in smooth}
    pairs = zip(smooth, sides, strict=False)
    return which, {channel: Slopes(before, after, jumps[channel]) for channel, (before, after) in pairs}


def _errors_of(values: Values, rows: KeyRows, points: Any, truth: Sequence[Array]) -> Errors:
    """How far points are off where these values, or the ``truth``, have them, by curves through keys."""
    smooth = [channel for channel, numbers in values.items() if numbers.dtype != bool]
    numbers = np.concatenate([np.empty((len(rows.times), 0)), *(values[channel] for channel in smooth)], axis=1)
    ends, all_points = np.cumsum([values[channel].shape[1] for channel in smooth])[:-1], None

    def errors(some: Segments, slopes: Slopes) -> Array:
        nonlocal all_points
        if all_points is None:
            all_points = [*truth, *points(values, np.arange(len(rows.times)))[len(truth) :]]
        curves = hermite(rows.times, numbers, slopes.after, some, slopes.before)
        guessed = {channel: values[channel][some.start] for channel in values}
        guessed |= dict(zip(smooth, np.split(curves, ends, axis=1), strict=False))
        off = [one - other[some.at] for one, other in zip(points(guessed, some.at), all_points, strict=True)]
        worst: Array = np.sqrt(np.max([np.einsum("ij,ij->i", vectors, vectors) for vectors in off], axis=0))
        return worst

    return errors


def jumping(rows: Array, turns: Indices) -> Mask:
    """At which of these turns numbers (rows, numbers) go much farther to the next row than around there."""
    steps = np.abs(np.diff(rows, axis=0, prepend=rows[:1], append=rows[-1:]))
    around = np.maximum(steps[turns], steps[np.minimum(turns + 2, len(steps) - 1)])
    is_far: Array = (steps[turns + 1] > JUMP * around + SLIGHT).any(axis=1)
    return is_far


def _slopes(rows: Array, times: Column, keyed: Indices, turns: Indices, is_smooth: bool) -> Slopes:
    """How fast numbers (f, numbers) change beside each row that may be keyed, as parabolas through what is halfway have
    it; where nothing was read there, as the rows around have it, or as straight lines if it is not to be smooth.
    ``turns`` are the frames before a choice changes or others start, over which numbers may jump."""
    central = np.zeros_like(rows, float)
    for start, end in pairwise([0, *(turns + 1), len(keyed)]):
        if end - start > 1:
            some = keyed[start:end]
            central[some] = np.gradient(rows[some], times[some], axis=0)
    before, after = central, central.copy()
    jumps, has_half = np.isin(np.arange(len(keyed) - 1), turns), np.diff(keyed) == 2
    known = ~jumps & (has_half | (not is_smooth))
    starts, ends = keyed[:-1][known], keyed[1:][known]
    span = (times[ends] - times[starts])[:, None]
    first, last = rows[starts], rows[ends]
    middle = np.where(has_half[known][:, None], rows[starts + 1], (first + last) / 2.0)
    is_known = np.zeros((2, len(rows)), bool)
    is_known[0, ends] = is_known[1, starts] = True
    before[ends] = (first - 4.0 * middle + 3.0 * last) / span
    after[starts] = (4.0 * middle - 3.0 * first - last) / span
    only_before, only_after = is_known[0] & ~is_known[1], is_known[1] & ~is_known[0]
    after[only_before], before[only_after] = before[only_before], after[only_after]
    return Slopes(before, after)


def _rounded(slopes: Slopes, keyed: Indices, errors: Any, tolerance: float) -> Slopes:
    """Slopes that are the same before and after a row, unless what is halfway to the next one would be off for that."""
    halves, mean = _halves(keyed), (slopes.before + slopes.after) / 2.0
    is_sharp = np.full((keyed[-1] + 1, 1), tolerance <= 0.0)
    while True:
        rounded = Slopes(*(np.where(is_sharp, rows, mean) for rows in slopes[:2]))
        off = errors(halves, rounded) > tolerance
        ends = np.concatenate((halves.start[off], halves.end[off]))
        if is_sharp[ends].all():
            return rounded
        is_sharp[ends] = True


def _halves(rows: Array) -> Segments:
    """The segments between neighbours of these row numbers (n), sorted, that have one row halfway, at that."""
    starts = np.flatnonzero(np.diff(rows) == 2)
    return Segments(rows[starts], rows[starts + 1], rows[starts] + 1)


def _right_between(which: Array, keyed: Indices, errors: Any, tolerance: float) -> Array:
    """These keyed rows, and those on both sides of where the curves would be off between frames."""
    rows = np.arange(keyed[-1] + 1)
    allowed = np.where(np.isin(rows, keyed), tolerance, BETWEEN * tolerance)
    while True:
        at = np.setdiff1d(rows, which)
        ends = np.searchsorted(which, at)
        off = at[errors(Segments(which[ends - 1], which[ends], at)) > allowed[at]]
        beside = np.searchsorted(keyed, off)
        new = np.union1d(keyed[beside], keyed[np.where(keyed[beside] == off, beside, beside - 1)])
        if np.isin(new, which).all():
            return which
        which = np.union1d(which, new)
