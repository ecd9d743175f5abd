"""The public solver: a limb of two to four bones in its plane, on floats or on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .groups import bend, bends_in_zigzag, direction, groups_of, members, nearest_of, unit_half
from .ops import ARRAYS, FLOATS, LIMIT, Number, Ops, in_slabs, split
from .rotation import HalfAngle, half_angle, plus
from .triangle import Bones, Reach, extend, reach_of

ROUNDING = 1e-15
"""The shortfall, as a fraction of the limb's length, that is rounding and not distance."""

SPECK, LEAST = 1e-100, 1e-150
"""Added to x, so that a target at the root lies along +x, and no target is left without a direction. Far below
`Ops.tiny`: two equal bones with the target at their root fold onto that line."""

BENT = ((1.0, 1.0), (1.0, -1.0))
"""The directions at rest of two bones, which say nothing but the side that the knee is on."""


class Solved(NamedTuple):
    """A posed limb of n bones, root at the origin. For floats: n pairs, n pairs, a `Reach`, a float. For arrays of
    shape ``S``: two of ``S + (n, 2)``, then `Reach` values (int8) and residuals, ``S``."""

    joints: Any  # where each bone ends; the last is the tip; in the target's unit
    directions: Any  # of the bones, unit vectors
    reach: Any
    residual: Any  # distance from tip to target


class TwoBone(NamedTuple):
    """A posed two-bone limb, root at the origin.

    For floats: pairs of floats, a `Reach`, a float. For arrays of shape ``S``: ``knee``, ``upper`` and ``lower`` are
    ``S + (2,)``, ``reach`` (`Reach` values, int8) and ``residual`` are ``S``.
    """

    knee: Any  # position, in the target's unit
    upper: Any  # unit vector from root to knee
    lower: Any  # unit vector from knee to tip
    reach: Any
    residual: Any  # distance from tip to target


def solve_two_bone(target: Any, r1: Number, r2: Number, bend: Number = 1) -> TwoBone:
    """`solve_limb` of two bones of these lengths in a plane, for a ``target`` (..., 2) from the root. The knee is on
    the counter-clockwise side of the line from root to target for ``bend`` above or at 0, on the other side below.

    Source: Quilez, *Simple IK* (the knee by vectors), with its discriminant factored; Juckett, *Analytic Two-Bone IK
    in 2D* (reach, closest pose, degenerate input).
    """
    joints, directions, reach, residual = solve_limb(target, (r1, r2), BENT, bend)
    if isinstance(reach, np.ndarray):
        return TwoBone(joints[..., 0, :], directions[..., 0, :], directions[..., 1, :], reach, residual)
    return TwoBone(joints[0], directions[0], directions[1], reach, residual)


def solve_limb(target: Any, lengths: Sequence[Any], directions: Sequence[Any], bend: Number = 1) -> Solved:
    """Pose a limb of two to four bones in a plane, with its tip at ``target`` (..., 2), or as near as it comes. Bones
    have these lengths, and at rest point along these directions, pairs (x, y); of ``bend`` the sign counts.

    ``target`` is a pair of floats, or an array ``(..., 2)`` with which lengths and ``bend`` broadcast; the root is the
    origin and all lengths have one unit. ``directions`` are pairs of any length but 0. For ``bend`` above or at 0 the
    limb bends as at rest, below it is the mirror image about the line from root to target. A limb that is straight at
    rest bends to the counter-clockwise side. A target at the root lies along +x.

    Numbers may be of any size below 1e60; of limbs shorter than 1e-30, digits are lost. Raises `ValueError` for floats
    from there on or not finite, lengths below 0, and what is no limb; in arrays such rows come back as `Reach.INVALID`,
    along +x, with residual 0. Source: see `groups`.
    """
    count = len(lengths)
    if not 2 <= count <= 4 or len(directions) != count:
        raise ValueError(f"a limb has two to four bones, each with a direction: not {lengths} and {directions}")
    numbers = (bend, *lengths, *(number for pair in directions for number in pair))
    if any(isinstance(value, np.ndarray) for value in (target, *numbers)):
        columns = (*split(target, 2), *(np.asarray(number, float) for number in numbers))
        rows = in_slabs(partial(_rows, count), columns, 4 * count + 2)
        joints, units = (rows[..., k : k + 2 * count].reshape(*rows.shape[:-1], count, 2) for k in (0, 2 * count))
        return Solved(joints, units, rows[..., -2].astype(np.int8), rows[..., -1])
    try:
        x, y = map(float, target)
        row = [x, y, *map(float, numbers)]
        is_sound = all(-LIMIT < number < LIMIT for number in row) and min(row[3 : 3 + count]) >= 0.0
        solved = _solve(count, row, FLOATS) if is_sound else []
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        solved = []
    if not solved:
        raise ValueError(
            f"not a limb: target {target}, lengths {lengths}, directions {directions}, bend {bend}; a target is two"
            f" numbers, or an array (..., 2) of many, and numbers are below {LIMIT:g} in size, lengths not below 0"
        )
    pairs = [*zip(solved[:-2:2], solved[1:-2:2], strict=True)]
    return Solved(tuple(pairs[:count]), tuple(pairs[count:]), solved[-2], solved[-1])


def _rows(count: int, numbers: Sequence[Any]) -> list[Any]:
    """`_solve` for arrays."""
    solved = _solve(count, numbers, ARRAYS)
    is_sound = np.isfinite(sum(solved))
    for number in numbers:
        is_sound = is_sound & (abs(number) < LIMIT)
    for length in numbers[3 : 3 + count]:
        is_sound = is_sound & (length >= 0.0)
    at_rest = (*(1.0, 0.0) * (2 * count), Reach.INVALID, 0.0)
    return solved if np.all(is_sound) else [np.where(is_sound, *pair) for pair in zip(solved, at_rest, strict=True)]


def _solve(count: int, numbers: Sequence[Any], ops: Ops) -> list[Any]:
    """Joints, directions, reach and residual of a limb, or of rows of them, by numbers: the target's two, the side, so
    many lengths, then the pair of each direction."""
    x, y, bend_side, *rest = numbers
    lengths, flat = rest[:count], rest[count:]
    units = [unit_half(pair, ops) for pair in zip(flat[::2], flat[1::2], strict=True)]
    is_zigzag = np.asarray(bends_in_zigzag([a[0] * b[1] - a[1] * b[0] for a, b in pairwise(units)], ops))
    if is_zigzag.all() or not is_zigzag.any():
        return _pose(x, y, bend_side, lengths, units, bool(is_zigzag.all()), ops)
    both = (_pose(x, y, bend_side, lengths, units, kind, ops) for kind in (True, False))
    return [ops.select(is_zigzag, *pair) for pair in zip(*both, strict=True)]


def _pose(
    x: Number, y: Number, bend_side: Any, lengths: Sequence[Any], units: Sequence[Any], is_zigzag: bool, ops: Ops
) -> list[Any]:
    """`_solve` for limbs of one kind."""
    count = len(lengths)
    half_angles, side = _at_rest(lengths, units, is_zigzag, ops)
    groups, total = groups_of(lengths, half_angles, is_zigzag, ops), sum(lengths) + ops.tiny
    bones = Bones(total, 0.0, nearest_of(groups, ops))
    x = (x + SPECK) + LEAST
    distance = ops.sqrt(x * x + y * y)
    span, to_straight = extend(distance, bones, ops)
    side = side * ops.select(bend_side < 0.0, -1.0, 1.0)
    off_line, halves = bend(span, to_straight, bones, groups, side, count, ops)
    line = plus((x / distance, y / distance), direction(unit_half(off_line, ops)))  # turns as unit vectors
    joint: Any = (0.0, 0.0)
    joints: list[Any] = []
    directions: list[Any] = []
    for length, half in zip(lengths, halves, strict=True):
        u, v = plus(line, direction(half))
        joint = joint[0] + length * u, joint[1] + length * v
        joints += joint
        directions += u, v
    shortfall = distance - span
    reach = reach_of(shortfall, -ROUNDING * total, ROUNDING * total, Reach.TOO_NEAR, Reach.TOO_FAR, ops)
    return [*joints, *directions, reach, abs(shortfall)]


def _at_rest(lengths: Sequence[Any], units: Sequence[Any], is_zigzag: bool, ops: Ops) -> tuple[list[HalfAngle], Any]:
    """The half angles of bones off the line from root to tip at rest, as if the first group lay counter-clockwise of
    it, and the side on which it lies."""
    x, y = (sum(length * unit[axis] for length, unit in zip(lengths, units, strict=True)) for axis in (0, 1))
    size = ops.sqrt(x * x + y * y)
    x, y = ops.select(size > 0.0, x, units[0][0]), ops.select(size > 0.0, y, units[0][1])
    pairs = [(u * x + v * y, v * x - u * y) for u, v in units]
    aside = sum(lengths[k] * pairs[k][1] for k in members(len(lengths), is_zigzag)[0])
    side = ops.select(aside < 0.0, -1.0, 1.0)
    halves = [half_angle(u, side * v, ops.sqrt(u * u + v * v), ops) for u, v in pairs]
    return [unit_half(half, ops) for half in halves], side
