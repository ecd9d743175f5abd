"""The public solver: a limb of two to four bones in its plane, on floats or on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .arrays import LIMIT, in_slabs, split
from .groups import bend_groups, bends_to_and_fro, direction, groups_of, members, nearest_of, unit_half
from .ops import ARRAYS, FLOATS, Ops
from .reach import Reach
from .rotation import HalfAngle, half_angle
from .triangle import judge

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


def solve_two_bone(target: Any, r1: Any, r2: Any, bend: Any = 1) -> TwoBone:
    """`solve_limb` of two bones. The knee is on the counter-clockwise side of the line from root to target for ``bend``
    above or at 0, on the other side below.

    Source: Quilez, *Simple IK* (the knee by vectors), with its discriminant factored; Juckett, *Analytic Two-Bone IK
    in 2D* (reach, closest pose, degenerate input).
    """
    joints, ways, reach, residual = solve_limb(target, (r1, r2), BENT, bend)
    if isinstance(reach, np.ndarray):
        return TwoBone(joints[..., 0, :], ways[..., 0, :], ways[..., 1, :], reach, residual)
    return TwoBone(joints[0], ways[0], ways[1], reach, residual)


def solve_limb(target: Any, lengths: Sequence[Any], directions: Sequence[Any], bend: Any = 1) -> Solved:
    """Pose a limb of two to four bones, of these lengths and with these directions at rest, so that its tip is at
    ``target``, or as near as it comes.

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
        given = (*split(target, 2), *(np.asarray(number, float) for number in numbers))
        found = in_slabs(partial(_rows, count), given, 4 * count + 2)
        joints, ways = (found[..., k : k + 2 * count].reshape(*found.shape[:-1], count, 2) for k in (0, 2 * count))
        return Solved(joints, ways, found[..., -2].astype(np.int8), found[..., -1])
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


def _rows(count: int, given: Sequence[Any]) -> list[Any]:
    """`_solve` for arrays."""
    solved = _solve(count, given, ARRAYS)
    is_sound = np.isfinite(sum(solved))
    for number in given:
        is_sound = is_sound & (abs(number) < LIMIT)
    for length in given[3 : 3 + count]:
        is_sound = is_sound & (length >= 0.0)
    at_rest = (*(1.0, 0.0) * (2 * count), Reach.INVALID, 0.0)
    return solved if np.all(is_sound) else [np.where(is_sound, *pair) for pair in zip(solved, at_rest, strict=True)]


def _solve(count: int, given: Sequence[Any], m: Ops) -> list[Any]:
    """Joints, directions, reach and residual of a limb, or of rows of them, by their numbers in a row."""
    x, y, bend, *rest = given
    lengths, flat = rest[:count], rest[count:]
    units = [unit_half(pair, m) for pair in zip(flat[::2], flat[1::2], strict=True)]
    kinds = bends_to_and_fro([a[0] * b[1] - a[1] * b[0] for a, b in pairwise(units)], m)
    if isinstance(kinds, bool) or kinds.all() or not kinds.any():
        return _pose(x, y, bend, lengths, units, bool(kinds if isinstance(kinds, bool) else kinds.all()), m)
    both = (_pose(x, y, bend, lengths, units, kind, m) for kind in (True, False))
    return [m.select(kinds, *pair) for pair in zip(*both, strict=True)]


def _pose(
    x: Any, y: Any, bend: Any, lengths: Sequence[Any], units: Sequence[Any], is_zigzag: bool, m: Ops
) -> list[Any]:
    """`_solve` for limbs of one kind."""
    count = len(lengths)
    ways, side = _at_rest(lengths, units, is_zigzag, m)
    groups, total = groups_of(lengths, ways, is_zigzag, m), sum(lengths) + m.tiny
    x = (x + SPECK) + LEAST
    distance = m.sqrt(x * x + y * y)
    gone = m.minimum(m.maximum(distance, nearest_of(groups, m)), total)
    off_line, turns = bend_groups(gone, total - gone, total, groups, side * m.select(bend < 0.0, -1.0, 1.0), count, m)
    line = _after((x / distance, y / distance), direction(unit_half(off_line, m)))
    joint: Any = (0.0, 0.0)
    joints: list[Any] = []
    found: list[Any] = []
    for length, turn in zip(lengths, turns, strict=True):
        way = _after(line, direction(turn))
        joint = joint[0] + length * way[0], joint[1] + length * way[1]
        joints += joint
        found += way
    shortfall = distance - gone
    reach = judge(shortfall, -ROUNDING * total, ROUNDING * total, Reach.TOO_NEAR, Reach.TOO_FAR, m)
    return [*joints, *found, reach, abs(shortfall)]


def _at_rest(lengths: Sequence[Any], ways: Sequence[Any], is_zigzag: bool, m: Ops) -> tuple[list[HalfAngle], Any]:
    """The half angles of bones off the line from root to tip at rest, as if the first group lay counter-clockwise of
    it, and the side on which it lies."""
    x, y = (sum(length * way[k] for length, way in zip(lengths, ways, strict=True)) for k in range(2))
    size = m.sqrt(x * x + y * y)
    x, y = m.select(size > 0.0, x, ways[0][0]), m.select(size > 0.0, y, ways[0][1])
    pairs = [(u * x + v * y, v * x - u * y) for u, v in ways]
    aside = sum(lengths[k] * pairs[k][1] for k in members(len(lengths), is_zigzag)[0])
    side = m.select(aside < 0.0, -1.0, 1.0)
    halves = [half_angle(u, side * v, m.sqrt(u * u + v * v), m) for u, v in pairs]
    return [unit_half(half, m) for half in halves], side


def _after(a: Any, b: Any) -> tuple[Any, Any]:
    """One turn after another, each as a unit vector (the product of complex numbers)."""
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]
