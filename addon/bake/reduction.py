"""Fewer keys: those that hold knee and tip within a tolerance when smooth curves go through them.

All channels of a chain share their keys, for an animator moves them together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ..live.channels import SIZES
from ..rig.data.access import upper_of
from ..rig.data.rotation import ARRAYS, to_quaternion
from ..solver.rotation import Quaternion, conjugate, multiply, rotate
from .fitting import Samples, Spline
from .keys import Keys
from .samples import Sampled, Track

HOPE = 3.0
"""How many times too far off a spline may be without a key, with all else the same, for the key to be worth a try."""

NONE = np.array([], int)


class Shape(NamedTuple):
    """A limb unturned, in its upper bone: where the knee is, how the lower bone lies in it, and how long that is."""

    knee: tuple[float, ...]
    lower: Quaternion
    length: float
    inherits_scale: bool


def every_frame(chain: Sampled, times: NDArray[Any]) -> list[tuple[Track, Keys]]:
    """A key for each frame on each channel, at the frame's time on F-curves."""
    return [(track, Keys(times, track.values)) for track in (*chain.tracks, *chain.ends)]


def reduced(chain: Sampled, times: NDArray[Any], tolerance: float) -> list[tuple[Track, Keys]]:
    """Keys that hold the joints within ``tolerance``, in scene units, on every one of the frames; none on channels that
    do not change."""
    if len(times) < 3:
        return every_frame(chain, times)
    shape = _shape(chain)
    tracks = chain.tracks
    values = np.concatenate([track.values for track in tracks], axis=1).astype(float)
    knee, tip = _joints(shape, tracks, values)
    allowed = tolerance / _scale(chain, knee, tip)

    def errors(guessed: NDArray[Any]) -> NDArray[Any]:
        joints = _joints(shape, tracks, guessed)
        found: NDArray[Any] = np.maximum(
            *(np.linalg.norm(a - b, axis=1) for a, b in zip(joints, (knee, tip), strict=True))
        )
        return found

    spline = Search(Samples(times, values), errors, allowed).fewest(len(times))
    parts = np.cumsum([SIZES[track.channel] for track in tracks])[:-1]
    split = zip(tracks, np.split(spline.values, parts, axis=1), np.split(spline.slopes, parts, axis=1), strict=True)
    found = [(track, Keys(times[spline.keys], own, slopes)) for track, own, slopes in split]
    return found + [_end_reduced(chain, track, times, tolerance) for track in chain.ends]


def _end_reduced(chain: Sampled, end: Track, times: NDArray[Any], tolerance: float) -> tuple[Track, Keys]:
    """Keys that hold the tip of a foot or hand, as it turns about its head, within ``tolerance`` of where it is."""
    length = chain.object.pose.bones[end.bone].length * chain.object.matrix_world.median_scale
    values = end.values.astype(float)
    wanted = to_quaternion(end.mode, [*values.T], ARRAYS)

    def errors(guessed: NDArray[Any]) -> NDArray[Any]:
        turn = to_quaternion(end.mode, [*guessed.T], ARRAYS)
        part: NDArray[Any] = np.linalg.norm(multiply(conjugate(wanted), turn)[1:], axis=0)
        return 2.0 * length * part  # the chord of the turn, from a point across its axis

    spline = Search(Samples(times, values), errors, tolerance).fewest(len(times))
    return end, Keys(times[spline.keys], spline.values, spline.slopes)


class Search:
    """For the fewest keys whose spline is nowhere farther off than allowed; ``errors`` says how far one is off at every
    sample."""

    def __init__(self, samples: Samples, errors: Callable[[NDArray[Any]], NDArray[Any]], allowed: float) -> None:
        self._samples = samples
        self._errors = errors
        self._allowed = allowed

    def fewest(self, count: int) -> Spline:
        """Keys are added where the spline is too far off, until it is nowhere; then those are taken away that can be
        spared. Where more than half are left, as of a capture's noise, those between every second one are tried too: a
        value and a slope hold two samples."""
        spline = self._spared(self._enough(np.array([0, count - 1])))
        if 2 * len(spline.keys) <= count + 2:
            return spline
        other = self._spared(self._enough(np.union1d(np.arange(0, count, 2), [count - 1])))
        return min(spline, other, key=lambda found: len(found.keys))

    def _spared(self, spline: Spline) -> Spline:
        """A spline without all that is found to be spared."""
        while True:
            fewer = self._thinned(self._thinned(spline, 1), 2)
            if len(fewer.keys) == len(spline.keys):
                return spline
            spline = fewer

    def _enough(self, keys: NDArray[Any], spare: NDArray[Any] = NONE) -> Spline:
        """A spline close enough, with these keys and more; where it needs more, of those to ``spare`` first."""
        while True:
            spline = self._samples.fit(keys)
            worst = np.maximum.reduceat(self._errors(self._samples.along(spline)), keys[:-1])
            failed = np.flatnonzero(worst > self._allowed)
            if not len(failed) or len(keys) == keys[-1] + 1:
                return spline
            more = _within(spare, keys, failed)
            more = more if len(more) else _between(keys, failed)
            keys = np.union1d(keys, more) if len(more) else np.arange(keys[-1] + 1)

    def _thinned(self, spline: Spline, first: int) -> Spline:
        """A spline without those that can be spared of every second key, from ``first`` on."""
        keys = spline.keys
        rest = np.ones(len(keys), bool)
        rest[first:-1:2] = False
        if rest.all():
            return spline
        without = Spline(*(each[rest] for each in spline))
        worst = np.maximum.reduceat(self._errors(self._samples.along(without)), without.keys[:-1])
        is_far = worst[np.searchsorted(without.keys, keys[~rest]) - 1] > HOPE * self._allowed
        spared = keys[~rest][~is_far]
        found = self._enough(np.setdiff1d(keys, spared), spared)
        return found if len(found.keys) < len(keys) else spline


def _within(spare: NDArray[Any], keys: NDArray[Any], segments: NDArray[Any]) -> NDArray[Any]:
    """Which of those to spare are in these segments between keys, or beside them."""
    own = np.searchsorted(keys, spare) - 1
    near = np.isin(own, segments)
    near = near if near.any() else np.isin(own, segments - 1) | np.isin(own, segments + 1)
    return np.setdiff1d(spare[near], keys)


def _between(keys: NDArray[Any], segments: NDArray[Any]) -> NDArray[Any]:
    """The middles of these segments between keys, or of those beside them where they have none."""
    for steps in ((0,), (-1, 1)):
        chosen = np.unique(np.clip([segments + step for step in steps], 0, len(keys) - 2))
        chosen = chosen[np.diff(keys)[chosen] > 1]
        if len(chosen):
            middles: NDArray[Any] = (keys[chosen] + keys[chosen + 1]) // 2
            return middles
    return NONE


def _shape(chain: Sampled) -> Shape:
    lower = chain.object.pose.bones[chain.lower]
    offset = upper_of(lower).bone.matrix_local.inverted() @ lower.bone.matrix_local
    knee = offset @ (Vector() if lower.bone.use_connect else lower.location)
    inherits = lower.bone.inherit_scale in {"FULL", "FIX_SHEAR", "ALIGNED"}
    turn = offset.to_quaternion()
    return Shape((knee.x, knee.y, knee.z), (turn.w, turn.x, turn.y, turn.z), lower.bone.length, inherits)


def _joints(shape: Shape, tracks: list[Track], values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Knee and tip in the frame F of the upper bone, ``(frames, 3)`` each, for the channels of all tracks."""
    rotations: list[Quaternion] = []
    scales: list[NDArray[Any]] = []
    start = 0
    for track in tracks:
        own = values[:, start : start + SIZES[track.channel]]
        start += SIZES[track.channel]
        if track.mode:
            rotations.append(to_quaternion(track.mode, [*own.T], ARRAYS))
        else:
            scales.append(own)
    upper, lower = rotations
    of_upper, of_lower = (scale[:, 1] for scale in scales) if scales else (1.0, 1.0)
    x, y, z = (part * of_upper for part in shape.knee)
    knee = np.stack(rotate(upper, (x, y, z)), axis=-1)
    length = shape.length * of_lower * (of_upper if shape.inherits_scale else 1.0)
    turned = multiply(multiply(upper, shape.lower), lower)
    return knee, knee + np.stack(rotate(turned, (0.0 * length, length, 0.0 * length)), axis=-1)


def _scale(chain: Sampled, knee: NDArray[Any], tip: NDArray[Any]) -> float:
    """How much longer the lower bone is in the world than in F, at most."""
    in_world = np.linalg.norm(chain.joints.tip - chain.joints.knee, axis=1)
    in_frame = np.linalg.norm(tip - knee, axis=1)
    return max(float((in_world / np.maximum(in_frame, 1e-12)).max()), 1e-12)
