"""When a foot stands on the ground, by its paths over frames; how far it slides there. Knows nothing of Blender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

HEIGHT = 0.05
"""How high above its floor tip and toe still stand, in lengths of their limb."""

SPEED = 0.5
"""How fast they may go there, in lengths of their limb in a second: a foot of a capture that slides is not still."""

SHORTEST = 0.1
"""Seconds below which nothing is a contact."""

SMOOTH = 0.08
"""Seconds over which paths are averaged before speeds are taken: captures are noisy."""

LOW = 10.0
"""The per cent of frames in which something is at its floor or below it."""


class Span(NamedTuple):
    """A range of whole frames, both ends in it."""

    first: int
    last: int


class Path(NamedTuple):
    """Where the tip and the toe of a limb are in the world in each frame, (frames, 3) each; without a toe, they are
    the same. ``size`` is the limb's length there."""

    tip: Array
    toe: Array
    size: float


def floor_of(paths: Sequence[Path]) -> float:
    """The height that the toes of limbs of one rig stand at."""
    return min(float(np.percentile(path.toe[:, 2], LOW)) for path in paths)


def contacts_of(
    path: Path, frames: Sequence[float], rate: float, floor: float, height: float = HEIGHT, speed: float = SPEED
) -> list[Span]:
    """When tip and toe of a limb are both low and slow. ``frames`` are in order and evenly apart, ``rate`` of them a
    second; ``floor`` is what the toes of the rig stand on, from `floor_of`."""
    if len(frames) < 3:
        return []
    step = (frames[-1] - frames[0]) / (len(frames) - 1)
    per_second, count = rate / step, max(1, round(SMOOTH * rate / step / 2.0))
    is_in_contact = np.ones(len(frames), bool)
    for points, ground in ((path.tip, float(np.percentile(path.tip[:, 2], LOW))), (path.toe, floor)):
        smooth = _smoothed(points, count)
        is_in_contact &= smooth[:, 2] < ground + height * path.size
        is_in_contact &= np.linalg.norm(np.gradient(smooth, axis=0), axis=1) * per_second < speed * path.size
    least = max(2, round(SHORTEST * per_second))
    runs = [(start, end) for start, end in _runs(_closed(is_in_contact, count)) if end - start + 1 >= least]
    return [Span(round(frames[start]), round(frames[end])) for start, end in runs]


def slide_of(tip: Array, frames: Sequence[float], contact: Span) -> float:
    """The farthest that a tip, at (frames, 3), gets in a contact from where it was as that began."""
    times = np.asarray(frames)
    points = tip[(times >= contact.first) & (times <= contact.last)]
    return float(np.linalg.norm(points - points[0], axis=1).max()) if len(points) else 0.0


def _smoothed(points: Array, count: int) -> Array:
    """Points (frames, 3) averaged over ``count`` frames on each side; near the ends, over as many as both sides
    have."""
    sums = np.concatenate((np.zeros((1, points.shape[1])), np.cumsum(points, axis=0)))
    places = np.arange(len(points))
    reach = np.minimum(np.minimum(places, len(points) - 1 - places), count)
    smooth: Array = (sums[places + reach + 1] - sums[places - reach]) / (2 * reach + 1)[:, None]
    return smooth


def _closed(flags: Array, most: int) -> Array:
    """Flags (frames) with gaps of at most ``most`` frames between those that are set filled in."""
    closed = flags.copy()
    for start, end in _runs(~flags):
        if start > 0 and end < len(flags) - 1 and end - start + 1 <= most:
            closed[start : end + 1] = True
    return closed


def _runs(flags: Array) -> list[tuple[int, int]]:
    """The first and the last index of each run of flags that are set."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(int)))
    return [(int(start), int(end) - 1) for start, end in edges.reshape(-1, 2)]
