"""The fewest keys of a limb for its joints to be within a tolerance.

All channels of a limb share their keys, for an animator moves them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blender.reduction import Segments, fewest, hermite
from ..blender.rotation import ARRAYS, to_quaternion
from ..limb.tolerances import ON_TARGET
from ..solver.limb import joints_of
from .results import ChannelTrack, LimbTrajectory

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
    tracks = trajectory.tracks
    values = np.concatenate([track.values for track in tracks], axis=1)
    slopes = np.gradient(values, times, axis=0)
    sizes = np.cumsum([track.values.shape[1] for track in tracks])[:-1]
    points = _points(trajectory, values, sizes)

    def errors(rows: Segments) -> Array:
        guessed = _points(trajectory, hermite(times, values, slopes, rows), sizes)
        off = [np.linalg.norm(guess - point[rows.at], axis=1) for guess, point in zip(guessed, points, strict=True)]
        return trajectory.size * np.max(off, axis=0)  # type: ignore[no-any-return]

    which, error = fewest(errors, count, tolerance)
    return Keys(which, np.split(slopes, sizes, axis=1), error)


def keys_of_loop(trajectory: LimbTrajectory, times: Array) -> Keys:
    """All frames, which are every other row, and of those halfway between the ones in which joints would part."""
    tracks = trajectory.tracks
    values = np.concatenate([track.values for track in tracks], axis=1)
    slopes = np.gradient(values, times, axis=0, edge_order=2)
    sizes = np.cumsum([track.values.shape[1] for track in tracks])[:-1]
    between = np.arange(1, len(times), 2)
    guessed = hermite(times, values, slopes, Segments(between - 1, between + 1, between))
    pairs = zip(_points(trajectory, guessed, sizes), _points(trajectory, values, sizes), strict=True)
    off = np.max([np.linalg.norm(guess - point[between], axis=1) for guess, point in pairs], axis=0)
    parted = between[off > ON_TARGET * sum(trajectory.entry.geometry.lengths)]
    return Keys(np.union1d(np.arange(0, len(times), 2), parted), np.split(slopes, sizes, axis=1), 0.0)


def _points(trajectory: LimbTrajectory, values: Array, sizes: Array) -> list[Array]:
    """Knees and tip in the limb's frame, and the end of a foot that follows from its own head, ``(frames, 3)`` each."""
    parts = dict(
        zip(((track.bone, track.channel) for track in trajectory.tracks), np.split(values, sizes, axis=1), strict=True)
    )
    turns = {track.bone: _turn(track, parts[track.bone, track.channel]) for track in trajectory.tracks if track.mode}
    of_limb = [turns.pop(name) for name in trajectory.entry.bones]
    scale = parts.get((trajectory.entry.bones[0], "scale"))
    stretch = 1.0 if scale is None else scale[:, 1]
    location = parts.get((trajectory.entry.bones[0], "location"))
    slide = 0.0 if location is None else location @ trajectory.entry.line
    joints = joints_of(of_limb, trajectory.reference, stretch, slide)
    points = [np.stack(np.broadcast_arrays(*joint), axis=-1) for joint in joints]
    for name, (w, x, y, z) in turns.items():
        length = trajectory.limb.id_data.data.bones[name].length
        direction = (2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x))
        points.append(length * np.stack(direction, axis=-1))
    return points


def _turn(track: ChannelTrack, values: Array) -> tuple[Any, Any, Any, Any]:
    return to_quaternion(track.mode, [*values.T], ARRAYS)
