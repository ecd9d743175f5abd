"""The public solver: a two-bone chain in its plane, on floats or on arrays."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .blocks import blocks, flat
from .ops import ARRAYS, FLOATS, TINY, Ops
from .reach import Reach
from .rotation import half_angle
from .triangle import bones, extend, full_range, judge, measure, turns

ROUNDING = 1e-15
"""The shortfall, as a fraction of r1 + r2, that is rounding and not distance."""

STAND_IN = (2.0, 0.0, 1.0, 1.0, 1.0)
"""Target, lengths and bend solved in place of input that is not finite."""


class TwoBone(NamedTuple):
    """A posed two-bone chain, root at the origin.

    For floats: pairs of floats, a `Reach`, a float. For arrays of shape ``S``: ``knee``, ``upper`` and ``lower`` are
    ``S + (2,)``, ``reach`` (`Reach` values, int8) and ``residual`` are ``S``.
    """

    knee: Any  # position, in the target's unit
    upper: Any  # unit vector from root to knee
    lower: Any  # unit vector from knee to tip
    reach: Any
    residual: Any  # distance from tip to target


def solve_two_bone(target: Any, r1: Any, r2: Any, bend: Any = 1) -> TwoBone:
    """Pose a chain of bone lengths ``r1`` and ``r2`` so that its tip is at ``target``, or as near as it comes.

    ``target`` is a pair of floats, or an array ``(..., 2)`` with which ``r1``, ``r2`` and ``bend`` broadcast; the root
    is the origin and all lengths have one unit. The knee is on the counter-clockwise side of the line from root to
    target for ``bend`` above or at 0, on the other side below. A target at the root lies along +x.

    Raises `ValueError` for floats that are not finite or lengths below 0; in arrays such rows come back as
    `Reach.INVALID` with the pose of a straight chain along +x and residual 0.

    Source: Quilez, *Simple IK* (the knee by vectors), with its discriminant factored; Juckett, *Analytic Two-Bone IK
    in 2D* (reach, closest pose, degenerate input).
    """
    if isinstance(target, np.ndarray) or any(isinstance(value, np.ndarray) for value in (r1, r2, bend)):
        return _solve_arrays(np.asarray(target, float), np.asarray(r1, float), np.asarray(r2, float), np.asarray(bend, float))
    x, y, r1, r2, bend = float(target[0]), float(target[1]), float(r1), float(r2), float(bend)
    if not _is_valid(x, y, r1, r2, bend):
        raise ValueError(f"not a limb: target ({x}, {y}), lengths {r1} and {r2}, bend {bend}")
    knee_x, knee_y, upper_x, upper_y, lower_x, lower_y, reach, residual = _solve(x, y, r1, r2, bend, FLOATS)
    return TwoBone((knee_x, knee_y), (upper_x, upper_y), (lower_x, lower_y), reach, residual)


def _is_valid(x: float, y: float, r1: float, r2: float, bend: float) -> bool:
    square = x * x + y * y + (r1 + r2) * (r1 + r2)
    return math.isfinite(square) and r1 >= 0.0 and r2 >= 0.0 and math.isfinite(bend)


def _solve(x: Any, y: Any, r1: Any, r2: Any, bend: Any, m: Ops) -> tuple[Any, ...]:
    lengths = bones(r1, r2)
    distance, rest = measure(x, y, m)
    within = full_range(lengths, m)
    extension = extend(distance, rest, lengths, within, m)
    knee_cos, knee_sin, line_cos, line_sin = turns(extension, lengths, m)
    side = m.select(bend < 0.0, -1.0, 1.0)
    mu, nu = half_angle(x / distance, y / distance, m)
    off = side * line_sin
    w, z = mu * line_cos - nu * off, nu * line_cos + mu * off
    square = w * w + z * z
    upper_x, upper_y = (w * w - z * z) / square, 2.0 * w * z / square
    cosine = knee_cos * knee_cos - knee_sin * knee_sin
    sine = -2.0 * side * knee_cos * knee_sin
    lower_x, lower_y = upper_x * cosine - upper_y * sine, upper_y * cosine + upper_x * sine
    reach = judge(extension, within, ROUNDING * lengths.total, m)
    shortfall = extension[4]
    residual = m.maximum(shortfall, -shortfall)
    return r1 * upper_x, r1 * upper_y, upper_x, upper_y, lower_x, lower_y, reach, residual


def _solve_arrays(target: np.ndarray, r1: np.ndarray, r2: np.ndarray, bend: np.ndarray) -> TwoBone:
    shape = np.broadcast_shapes(target.shape[:-1], r1.shape, r2.shape, bend.shape)
    rows = math.prod(shape)
    points = np.empty((3, rows, 2))
    reach, residual = np.empty(rows, np.int8), np.empty(rows)
    out = (*(points[i, :, j] for i in range(3) for j in range(2)), reach, residual)
    for run, given in blocks(flat((target[..., 0], target[..., 1], r1, r2, bend), shape), rows):
        x, y, r1, r2, bend = given
        square = x * x + y * y + (r1 + r2) * (r1 + r2) + 0.0 * bend
        invalid = ~np.isfinite(square) | (r1 < 0.0) | (r2 < 0.0)
        if invalid.any():
            given = [np.where(invalid, stand_in, value) for stand_in, value in zip(STAND_IN, given)]
        for values, solved in zip(out, _solve(*given, ARRAYS)):
            values[run] = solved
        reach[run][invalid] = Reach.INVALID
    knee, upper, lower = points.reshape(3, *shape, 2)
    return TwoBone(knee, upper, lower, reach.reshape(shape), residual.reshape(shape))
