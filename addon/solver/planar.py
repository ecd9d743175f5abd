"""The public solver: a two-bone chain in its plane, on floats or on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .blocks import LIMIT, solve_rows
from .ops import FLOATS, Array, Ops
from .reach import Reach
from .record import RECORDER
from .rotation import half_angle
from .triangle import TOO_FAR, TOO_NEAR, bones, judge, measure, turns

ROUNDING = 1e-15
"""The shortfall, as a fraction of r1 + r2, that is rounding and not distance."""

INVALID = ((1.0, 0.0), (1.0, 0.0), (1.0, 0.0), (0.0,), (Reach.INVALID,))
"""What comes of input that is not finite: knee, directions, residual, reach."""


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
        return _solve_arrays(
            np.asarray(target, float), np.asarray(r1, float), np.asarray(r2, float), np.asarray(bend, float)
        )
    x, y, r1, r2, bend = float(target[0]), float(target[1]), float(r1), float(r2), float(bend)
    if not _is_valid(x, y, r1, r2, bend):
        raise ValueError(f"not a limb: target ({x}, {y}), lengths {r1} and {r2}, bend {bend}")
    knee_x, knee_y, upper_x, upper_y, lower_x, lower_y, reach, residual = _solve(x, y, r1, r2, bend, FLOATS)
    return TwoBone((knee_x, knee_y), (upper_x, upper_y), (lower_x, lower_y), reach, residual)


def _is_valid(x: float, y: float, r1: float, r2: float, bend: float) -> bool:
    is_finite = -LIMIT < x < LIMIT and -LIMIT < y < LIMIT and -LIMIT < bend < LIMIT
    return is_finite and 0.0 <= r1 < LIMIT and 0.0 <= r2 < LIMIT


def _solve(x: Any, y: Any, r1: Any, r2: Any, bend: Any, m: Ops) -> tuple[Any, ...]:
    total, total_rest, difference, difference_rest, nearest = bones(r1, r2, m)
    distance, rest = measure(x, y, m)
    far = m.maximum((total - distance) + (total_rest - rest), 0.0)
    plus = m.maximum((distance + difference) + (rest + difference_rest), 0.0)
    minus = m.maximum((distance - difference) + (rest - difference_rest), 0.0)
    side = m.select(bend < 0.0, -1.0, 1.0)
    knee_cos, knee_sin, line_cos, line_sin = turns(total + distance, far, plus, minus, side, m)
    cosine, sine = half_angle(x, y, distance, m)
    w, z = cosine * line_cos - sine * line_sin, sine * line_cos + cosine * line_sin
    ww, zz, wz = w * w, z * z, w * z
    square = ww + zz
    upper_x, upper_y = (ww - zz) / square, (wz + wz) / square
    cosine, sine = knee_cos * knee_cos - knee_sin * knee_sin, -2.0 * knee_cos * knee_sin
    lower_x, lower_y = upper_x * cosine - upper_y * sine, upper_y * cosine + upper_x * sine
    shortfall = distance - m.minimum(m.maximum(distance, nearest), total)
    reach = judge(shortfall, TOO_NEAR, TOO_FAR, ROUNDING * total, m)
    residual = m.maximum(-shortfall, shortfall)
    return r1 * upper_x, r1 * upper_y, upper_x, upper_y, lower_x, lower_y, reach, residual


def _solve_arrays(target: Array, r1: Array, r2: Array, bend: Array) -> TwoBone:
    r1, r2 = (np.where(length >= 0.0, length, np.nan) for length in (r1, r2))
    knee, upper, lower, residual, reach = solve_rows(_formula, [(target, 2)], [r1, r2, bend], INVALID)
    return TwoBone(knee, upper, lower, reach[..., 0], residual[..., 0])


def _formula(given: Sequence[Any]) -> tuple[tuple[Any, ...], ...]:
    x, y, r1, r2, bend = given
    knee_x, knee_y, upper_x, upper_y, lower_x, lower_y, reach, residual = _solve(x, y, r1, r2, bend, RECORDER)
    return (knee_x, knee_y), (upper_x, upper_y), (lower_x, lower_y), (residual,), (reach,)
