"""Rotations in a row without jumps: of all ways to write each, the one closest to the frame before."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..rig.data.rotation import EVEN_ORDERS

TURN = 2.0 * np.pi

LOCKED = 1e-6
"""How close, in radians, the middle Euler angle is to a quarter turn when only the sum of the outer two counts, and a
turn about an axis to none when the axis does not count."""

NEAR = 1.2
"""How little, in radians, three angles may change for no other way to write them to be closer: the outer two of the
other triple are half a turn away, so that it is above ``2 * (pi - NEAR)`` off, and this one below ``3 * NEAR``."""


def continuous(mode: str, values: NDArray[Any]) -> NDArray[Any]:
    """Rotations ``(frames, numbers)`` in a bone's rotation mode, written so that their numbers jump least from frame to
    frame; the first frame stays as it is."""
    if mode == "QUATERNION":
        one_hemisphere: NDArray[Any] = values * _same_side(values)
        return one_hemisphere
    steady = values.astype(float)
    if mode == "AXIS_ANGLE":
        _steady_axis(steady)
    else:
        _unwound(mode, steady)
    return steady.astype(values.dtype)


def _steady_axis(values: NDArray[Any]) -> None:
    """The axis never turns round, and where there is no turn, it is that of the frame before."""
    values[:, 1:] = _last_that_counts(values[:, 1:], np.abs(np.sin(values[:, 0] / 2.0)) >= LOCKED)
    values *= _same_side(values[:, 1:])
    values[:, 0] += _whole_turns(values[:, 0])


def _unwound(order: str, values: NDArray[Any]) -> None:
    """Each angle within half a turn of the frame before, by whole turns or by the other triple of the same rotation."""
    first, middle, third = map("XYZ".index, order)
    counts = np.abs(np.cos(values[:, middle])) >= LOCKED
    if counts.all() and (np.abs(values[1:] - values[:-1]) < NEAR).all():
        return
    sign = 1.0 if order in EVEN_ORDERS else -1.0
    side = np.where(np.sin(values[:, middle]) > 0.0, -sign, sign)
    fixed = _last_that_counts(values[:, first], counts)
    values[:, third] += (values[:, first] - fixed) * side
    values[:, first] = fixed
    other = values + np.pi
    other[:, middle] = np.pi - values[:, middle]
    # From one frame to the next it is as far between two triples as between their others.
    is_closer = _distances(other[1:] - values[:-1]) < _distances(values[1:] - values[:-1])
    is_other = np.append(False, np.cumsum(is_closer) % 2 == 1)
    values[is_other] = other[is_other]
    values += _whole_turns(values)


def _same_side(vectors: NDArray[Any]) -> NDArray[Any]:
    """A sign for each row, so that none points away from the one before."""
    against = np.einsum("ij,ij->i", vectors[1:], vectors[:-1]) < 0.0
    signs = np.cumprod(np.where(against, -1.0, 1.0).astype(vectors.dtype))
    column: NDArray[Any] = np.append(np.ones(1, vectors.dtype), signs)[:, None]
    return column


def _last_that_counts(values: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    """Each row, or the last one before it that counts; the first one always does."""
    rows = np.where(counts, np.arange(len(values)), 0)
    last: NDArray[Any] = values[np.maximum.accumulate(rows)]
    return last


def _whole_turns(angles: NDArray[Any]) -> NDArray[Any]:
    """What brings each row within half a turn of the one before."""
    turns: NDArray[Any] = np.zeros_like(angles)
    turns[1:] = np.cumsum(TURN * np.round((angles[:-1] - angles[1:]) / TURN), axis=0)
    return turns


def _distances(steps: NDArray[Any]) -> NDArray[Any]:
    """How far triples are apart, but for whole turns."""
    distances: NDArray[Any] = np.abs(steps - TURN * np.round(steps / TURN)).sum(axis=1)
    return distances
