"""Fewer keys: those that hold knee and tip within a tolerance when smooth curves go through them.

All channels of a chain share their keys, for an animator moves them together. Curves are cubic, with the slopes of the
motion itself; a key is added where a joint is farthest off until none is too far.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from mathutils import Vector
from numpy.typing import NDArray

from ..live.channels import SIZES
from ..rig.access import upper_of
from ..rig.rotation import ARRAYS, to_quaternion
from ..solver.rotation import Quaternion, multiply, rotate
from .keys import Keys
from .samples import Sampled, Track


class Shape(NamedTuple):
    """A limb unturned, in its upper bone: where the knee is, how the lower bone lies in it, and how long that is."""

    knee: tuple[float, ...]
    lower: Quaternion
    length: float
    inherits_scale: bool


def every_frame(chain: Sampled, times: NDArray[Any]) -> list[tuple[Track, Keys]]:
    """A key for each frame on each channel, at the frame's time on F-curves."""
    return [(track, Keys(times, track.values)) for track in chain.tracks]


def reduced(chain: Sampled, times: NDArray[Any], tolerance: float) -> list[tuple[Track, Keys]]:
    """Keys that hold the joints within ``tolerance``, in scene units, on every one of the frames."""
    if len(times) < 3:
        return every_frame(chain, times)
    shape = _shape(chain)
    tracks = chain.tracks
    values = np.concatenate([track.values for track in tracks], axis=1).astype(float)
    slopes = np.gradient(values, times, axis=0)
    knee, tip = _joints(shape, tracks, values)
    allowed = tolerance / _scale(chain, knee, tip)
    keys = np.array([0, len(times) - 1])
    while True:
        guessed = _joints(shape, tracks, _smooth(times, values, slopes, keys))
        errors = np.maximum(*(np.linalg.norm(a - b, axis=1) for a, b in zip(guessed, (knee, tip), strict=True)))
        worst = [a + int(errors[a : b + 1].argmax()) for a, b in pairwise(keys)]
        more = [i for i in worst if errors[i] > allowed]
        if not more or len(keys) == len(times):
            break
        keys = np.union1d(keys, more)
    parts = np.cumsum([SIZES[track.channel] for track in tracks])[:-1]
    split = zip(tracks, np.split(values, parts, axis=1), np.split(slopes, parts, axis=1), strict=True)
    return [(track, Keys(times[keys], own[keys], slope[keys])) for track, own, slope in split]


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


def _smooth(times: NDArray[Any], values: NDArray[Any], slopes: NDArray[Any], keys: NDArray[Any]) -> NDArray[Any]:
    """What the curves through these keys give on every frame: the cubics of Hermite, as `Keys` writes them."""
    segment = np.clip(np.searchsorted(keys, np.arange(len(times)), "right") - 1, 0, len(keys) - 2)
    a, b = keys[segment], keys[segment + 1]
    span = (times[b] - times[a])[:, None]
    t = (times - times[a])[:, None] / span
    back = 1.0 - t
    start = values[a] * (1.0 + 2.0 * t) + slopes[a] * span * t
    end = values[b] * (1.0 + 2.0 * back) - slopes[b] * span * back
    smooth: NDArray[Any] = back * back * start + t * t * end
    return smooth
