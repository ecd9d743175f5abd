"""Which frames to key for joints to be near enough to where keys in every frame would have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blender.reduction import fewest, hermite

Array = NDArray[Any]


class Thinned(NamedTuple):
    """Which of the frames are keyed, and the slopes (frames, numbers) there of each channel that is smooth between
    keys."""

    which: Array
    slopes: dict[Any, Array]


def thinned(
    values: Mapping[Any, Array], times: Array, points: Callable[[dict[Any, Array]], list[Array]], tolerance: float
) -> Thinned:
    """The fewest frames to key of channels that go together, by their values over the frames (frames, numbers). Choices
    (bool) hold from key to key. ``points`` gives from such values the joints (frames, 3); none of these may be off by
    more than ``tolerance``; 0 keys every frame."""
    count = len(times)
    if tolerance <= 0.0 or count < 3:
        return Thinned(np.arange(count), {})
    choices = [rows for rows in values.values() if rows.dtype == bool]
    turns = np.unique([f for rows in choices for f in np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1))])
    always = np.union1d(turns, turns + 1).astype(int)  # the frame before a choice, and its own
    slopes = {channel: _slopes(rows, times, turns) for channel, rows in values.items() if rows.dtype != bool}
    all_points = points(dict(values))

    def errors(which: Array) -> Array:
        holding = which[np.searchsorted(which, np.arange(count), "right") - 1]
        guessed = {
            channel: rows[holding] if rows.dtype == bool else hermite(times, rows, slopes[channel], which)
            for channel, rows in values.items()
        }
        off = [np.linalg.norm(a - b, axis=-1) for a, b in zip(points(guessed), all_points, strict=True)]
        return np.max(off, axis=0)  # type: ignore[no-any-return]

    return Thinned(fewest(errors, count, tolerance, always)[0], slopes)


def _slopes(rows: Array, times: Array, turns: Array) -> Array:
    """How fast numbers (frames, numbers) change in each frame, per unit of ``times``; ``turns`` are the frames before a
    choice changes, over which they may jump."""
    slopes = np.zeros_like(rows)
    ends = [0, *(int(f) + 1 for f in turns), len(times)]
    for start, end in pairwise(ends):
        if end - start > 1:
            slopes[start:end] = np.gradient(rows[start:end], times[start:end], axis=0)
    return slopes
