"""Smooth curves through few keys that run as close as they can to many samples: cubic splines by least squares.

A spline has a value and a slope at each key, and between two keys the cubic of Hermite, as a Bézier curve has whose
handles lie at thirds. Both are free, so that one key can pay for two samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

LOOSE = 1e-6
"""How much the samples' own slope at a key weighs next to a sample: it decides where nothing else does."""


class Spline(NamedTuple):
    """``values`` and ``slopes`` ``(keys, numbers)`` at ``keys``, the rows of samples that have one."""

    keys: NDArray[Any]
    values: NDArray[Any]
    slopes: NDArray[Any]


class Samples:
    """Samples ``values`` ``(samples, numbers)`` at ``times``, to be fitted."""

    def __init__(self, times: NDArray[Any], values: NDArray[Any]) -> None:
        self._times = times
        self._values = values
        self._slopes = np.gradient(values, times, axis=0)

    def fit(self, keys: NDArray[Any]) -> Spline:
        """The spline with these keys, the first and the last sample among them, that is closest to all samples."""
        weights = self._weights(keys)[1]
        # Of each segment, summed over its samples: of value and slope of its first key, then of its last.
        products = np.add.reduceat(weights[:, :, None] * weights[:, None, :], keys[:-1])
        sums = np.add.reduceat(weights[:, :, None] * self._values[:, None, :], keys[:-1])
        blocks, right = np.zeros((len(keys), 2, 2)), np.zeros((len(keys), 2, self._values.shape[1]))
        blocks[:-1], right[:-1] = products[:, :2, :2], sums[:, :2]
        blocks[1:] += products[:, 2:, 2:]
        right[1:] += sums[:, 2:]
        spans = np.diff(self._times[keys])
        loose = LOOSE * np.maximum(np.append(spans, 0.0), np.append(0.0, spans)) ** 2
        blocks[:, 1, 1] += loose
        right[:, 1] += loose[:, None] * self._slopes[keys]
        solved = _solved(blocks, products[:, :2, 2:], right)
        return Spline(keys, solved[:, 0], solved[:, 1])

    def along(self, spline: Spline) -> NDArray[Any]:
        """What a spline gives at every sample's time, ``(samples, numbers)``."""
        segment, weights = self._weights(spline.keys)
        both = np.stack((spline.values, spline.slopes), axis=1)
        a, b = both[segment], both[segment + 1]
        parts = (a[:, 0], a[:, 1], b[:, 0], b[:, 1])
        found: NDArray[Any] = sum(weights[:, i, None] * part for i, part in enumerate(parts))
        return found

    def _weights(self, keys: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The segment of each sample, and what value and slope of its keys count there, ``(samples, 4)``."""
        segment = np.clip(np.searchsorted(keys, np.arange(len(self._times)), "right") - 1, 0, len(keys) - 2)
        begins = self._times[keys[segment]]
        span = self._times[keys[segment + 1]] - begins
        t = (self._times - begins) / span
        back = 1.0 - t
        weights = np.stack(
            (back * back * (1.0 + 2.0 * t), span * back * back * t, t * t * (1.0 + 2.0 * back), -span * t * t * back),
            axis=1,
        )
        return segment, weights


def _solved(blocks: NDArray[Any], beside: NDArray[Any], right: NDArray[Any]) -> NDArray[Any]:
    """The solution ``(n, 2, numbers)`` of symmetric equations in which each pair of unknowns has ``blocks``
    ``(n, 2, 2)`` with itself and ``beside`` ``(n - 1, 2, 2)`` with the next: every second pair is eliminated at once,
    again and again."""
    if len(blocks) == 1:
        solution: NDArray[Any] = np.linalg.solve(blocks, right)
        return solution
    inverse = np.linalg.inv(blocks[1::2])
    before, after = beside[0::2], beside[1::2]
    odd, inner = len(before), len(after)
    from_left, from_right = before @ inverse, np.swapaxes(after, 1, 2) @ inverse[:inner]
    own, sums = blocks[0::2].copy(), right[0::2].copy()
    own[:odd] -= from_left @ np.swapaxes(before, 1, 2)
    sums[:odd] -= from_left @ right[1::2]
    own[1 : inner + 1] -= from_right @ after
    sums[1 : inner + 1] -= from_right @ right[1::2][:inner]
    solution = np.empty_like(right)
    solution[0::2] = even = _solved(own, -(from_left[:inner] @ after), sums)
    rest = right[1::2] - np.swapaxes(before, 1, 2) @ even[:odd]
    rest[:inner] -= after @ even[1 : inner + 1]
    solution[1::2] = inverse @ rest
    return solution
