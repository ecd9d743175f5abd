"""The fewest keys of a limb for its joints to be within a tolerance, and its bones to keep their turn.

All channels of a limb share their keys, for an animator moves them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blender.reduction import Segments, hermite
from ..limb.tolerances import ON_TARGET
from ..poses.channels import Channel, Values
from ..poses.parts import Points, part_of_fk
from ..poses.thinning import thinned
from .results import LimbTrajectory

Array = NDArray[Any]


class Keys(NamedTuple):
    """Which of the frames are keyed, the slopes ``(frames, numbers)`` of each track, None for straight lines between
    keys, and how far the keys move a joint at most, in scene units."""

    which: Array
    slopes: Sequence[Array] | None
    error: float


def keys_of(trajectory: LimbTrajectory, times: Array, tolerance: float) -> Keys:
    """The frames to key: all of them with a tolerance of 0."""
    count = len(times)
    if tolerance <= 0.0 or count < 3:
        return Keys(np.arange(count), None, 0.0)
    values, size = _values_of(trajectory), trajectory.size * sum(trajectory.entry.geometry.lengths)
    points = _points_of(trajectory, values, tolerance / size)
    which, both = thinned(values, times, np.arange(count), points, tolerance / size)
    slopes = [both[channel].after for channel in values]
    at = np.setdiff1d(np.arange(count), which)
    after = np.searchsorted(which, at)
    off = _off(trajectory, times, slopes, Segments(which[after - 1], which[after], at))
    return Keys(which, slopes, size * float(off.max(initial=0.0)))


def keys_of_loop(trajectory: LimbTrajectory, times: Array) -> Keys:
    """All frames, which are every other row, and of those halfway between the ones in which joints would part."""
    slopes = [np.gradient(track.values, times, axis=0, edge_order=2) for track in trajectory.tracks]
    between = np.arange(1, len(times), 2)
    parted = between[_off(trajectory, times, slopes, Segments(between - 1, between + 1, between)) > ON_TARGET]
    return Keys(np.union1d(np.arange(0, len(times), 2), parted), slopes, 0.0)


def _values_of(trajectory: LimbTrajectory) -> Values:
    ob = trajectory.limb.id_data
    return {Channel.of_bone(ob, track.bone, track.channel): track.values for track in trajectory.tracks}


def _points_of(trajectory: LimbTrajectory, values: Values, tolerance: float = 0.0) -> Points:
    return part_of_fk(trajectory.limb, tolerance).points(None, values)  # type: ignore[arg-type]  # all are tracks


def _off(trajectory: LimbTrajectory, times: Array, slopes: Sequence[Array], rows: Segments) -> Array:
    """How far curves through keys with these slopes have joints off in some rows, in lengths of the limb."""
    values = _values_of(trajectory)
    curves = zip(values.items(), slopes, strict=True)
    guessed = {channel: hermite(times, numbers, slope, rows) for (channel, numbers), slope in curves}
    points = _points_of(trajectory, values)
    ends = {channel: numbers[rows.at] for channel, numbers in values.items()}
    pairs = [*zip(points(guessed, rows.at), points(ends, rows.at), strict=True)][: len(trajectory.entry.bones)]
    off: Array = np.max([np.linalg.norm(guess - point, axis=1) for guess, point in pairs], axis=0)
    return off
