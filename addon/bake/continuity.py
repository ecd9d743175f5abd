"""Rotations in a row without jumps: of all ways to write each, the one closest to the frame before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

TURN = 2.0 * np.pi

SMALL = np.pi / 4.0
"""Steps of all numbers below which there is no jump to look for, which takes longer than the bake itself."""

LOCKED = 1e-6
"""How close, in radians, the middle Euler angle is to a quarter turn when only the sum of the outer two counts."""


def continuous(mode: str, values: NDArray[Any]) -> NDArray[Any]:
    """The same rotations ``(frames, numbers)`` in a bone's rotation mode; the first frame stays as it is."""
    if mode == "QUATERNION":
        return _one_hemisphere(values)
    if np.abs(np.diff(values, axis=0)).max(initial=0.0) < SMALL:
        return values
    if mode == "AXIS_ANGLE":
        return _steady_axis(values.astype(float))
    return _unwound(mode, values.astype(float))


def _one_hemisphere(values: NDArray[Any]) -> NDArray[Any]:
    against = np.einsum("ij,ij->i", values[1:], values[:-1]) < 0.0
    signs = np.cumprod(np.where(against, -1.0, 1.0))
    steady: NDArray[Any] = np.concatenate((values[:1], values[1:] * signs[:, None])).astype(values.dtype)
    return steady


def _steady_axis(values: NDArray[Any]) -> NDArray[Any]:
    """The axis never turns round, and where there is no turn, it is that of the frame before."""
    for i in range(1, len(values)):
        before, now = values[i - 1], values[i]
        if now[1:] @ before[1:] < 0.0:
            now *= -1.0
        if abs(np.sin(now[0] / 2.0)) < LOCKED and before[1:].any():
            now[1:] = before[1:]
        now[0] += TURN * np.round((before[0] - now[0]) / TURN)
    return values


def _unwound(order: str, values: NDArray[Any]) -> NDArray[Any]:
    """Each angle within half a turn of the frame before, by whole turns or by the other triple of the same rotation."""
    first, middle, third = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if order in {"XYZ", "YZX", "ZXY"} else -1.0
    for i in range(1, len(values)):
        before, now = values[i - 1], values[i]
        if abs(np.cos(now[middle])) < LOCKED:
            side = -sign if np.sin(now[middle]) > 0.0 else sign
            both = now[first] * side + now[third]
            now[first] = before[first]
            now[third] = both - before[first] * side
        other = now + np.pi
        other[middle] = np.pi - now[middle]
        ways = [way + TURN * np.round((before - way) / TURN) for way in (now, other)]
        values[i] = min(ways, key=lambda way: float(np.abs(way - before).sum()))
    return values
