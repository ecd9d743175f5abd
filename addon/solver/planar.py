"""The public solver: a limb in its plane, on floats or on arrays.

Of two bones it returns directions, not half angles, so one root does beside the distance's. With the factors of
`triangle`::

    knee off the straight line:       (B - A, 2 sqrt(A B)) / (A + B)    A = (R + d)(R - d)    B = (d + D)(d - D)
    upper bone off the target line:   (P - Q, 2 sqrt(P Q)) / (P + Q)    P = (R + d)(d + D)    Q = (R - d)(d - D)

A B is P Q, and no sum cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from .arrays import LIMIT, in_slabs, split
from .groups import bend_groups, direction, groups_of, nearest_of, unit_half
from .ops import ARRAYS, FLOATS, Ops
from .reach import Reach
from .rotation import HalfAngle, half_angle
from .triangle import bones, judge, measure

ROUNDING = 1e-15
"""The shortfall, as a fraction of r1 + r2, that is rounding and not distance."""

SPECK, LEAST = 1e-100, 1e-150
"""Added to x, so that a target at the root lies along +x, and no target is left without a direction. Far below
`Ops.tiny`: two equal bones with the target at their root fold onto that line."""

INVALID = (1.0, 0.0, 1.0, 0.0, 1.0, 0.0, Reach.INVALID, 0.0)
"""What comes of input that is not finite: knee, directions, reach, residual."""


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
    """Pose a limb of bone lengths ``r1`` and ``r2`` so that its tip is at ``target``, or as near as it comes.

    ``target`` is a pair of floats, or an array ``(..., 2)`` with which ``r1``, ``r2`` and ``bend`` broadcast; the root
    is the origin and all lengths have one unit. The knee is on the counter-clockwise side of the line from root to
    target for ``bend`` above or at 0, on the other side below. A target at the root lies along +x.

    Numbers may be of any size below 1e60; of limbs shorter than 1e-30, digits are lost. Raises `ValueError` for floats
    from there on or not finite, lengths below 0, and what is no number; in arrays such rows come back as
    `Reach.INVALID` with the pose of a straight limb along +x and residual 0.

    Source: Quilez, *Simple IK* (the knee by vectors), with its discriminant factored; Juckett, *Analytic Two-Bone IK
    in 2D* (reach, closest pose, degenerate input).
    """
    if isinstance(target, np.ndarray) or any(isinstance(value, np.ndarray) for value in (r1, r2, bend)):
        return _solve_arrays(target, r1, r2, bend)
    x, y, r1, r2, bend = _floats(target, r1, r2, bend)
    knee_x, knee_y, upper_x, upper_y, lower_x, lower_y, reach, residual = _solve(x, y, r1, r2, bend, FLOATS)
    return TwoBone((knee_x, knee_y), (upper_x, upper_y), (lower_x, lower_y), reach, residual)


def _floats(target: Any, r1: Any, r2: Any, bend: Any) -> tuple[float, float, float, float, float]:
    """What a limb is posed by, as floats within the limits of `solve_two_bone`."""
    try:
        x, y = map(float, target)
        given = x, y, float(r1), float(r2), float(bend)
    except (TypeError, ValueError, OverflowError):
        given = (np.nan,) * 5
    if not _is_valid(*given):
        raise ValueError(
            f"not a limb: target {target}, lengths {r1} and {r2}, bend {bend}; a target is two numbers, or an array"
            f" (..., 2) of many, and numbers are below {LIMIT:g} in size, lengths not below 0"
        )
    return given


def _is_valid(x: float, y: float, r1: float, r2: float, bend: float) -> bool:
    is_finite = -LIMIT < x < LIMIT and -LIMIT < y < LIMIT and -LIMIT < bend < LIMIT
    return is_finite and 0.0 <= r1 < LIMIT and 0.0 <= r2 < LIMIT


def _solve(x: Any, y: Any, r1: Any, r2: Any, bend: Any, m: Ops) -> tuple[Any, ...]:
    total, total_rest, difference, difference_rest, nearest = bones(r1, r2, m)
    x = (x + SPECK) + LEAST
    distance, rest = measure(x, y, m)
    reach = total + distance
    far = m.maximum((total - distance) + (total_rest - m.tiny - rest), 0.0)
    plus = m.maximum((distance + difference) + (rest + difference_rest), m.tiny)
    minus = m.maximum((distance - difference) + (rest - difference_rest), SPECK)
    a, b, p, q = reach * far, plus * minus, reach * plus, far * minus
    sine = m.select(bend < 0.0, -2.0, 2.0) * m.sqrt(p * q)
    cosine, size = p - q, (p + q) * distance  # and the target line itself is (x, y) / distance
    upper_x, upper_y = (x * cosine - y * sine) / size, (y * cosine + x * sine) / size
    size = a + b
    cosine, sine = (b - a) / size, sine / size
    lower_x, lower_y = upper_x * cosine + upper_y * sine, upper_y * cosine - upper_x * sine
    shortfall = distance - m.minimum(m.maximum(distance, nearest), total)
    reach = judge(shortfall, -ROUNDING * total, ROUNDING * total, Reach.TOO_NEAR, Reach.TOO_FAR, m)
    residual = abs(shortfall)
    return r1 * upper_x, r1 * upper_y, upper_x, upper_y, lower_x, lower_y, reach, residual


def _solve_arrays(target: Any, r1: Any, r2: Any, bend: Any) -> TwoBone:
    numbers = (np.asarray(number, float) for number in (r1, r2, bend))
    results = in_slabs(_rows, (*split(target, 2), *numbers), 8)
    reach = results[..., 6].astype(np.int8)
    return TwoBone(results[..., :2], results[..., 2:4], results[..., 4:6], reach, results[..., 7])


def _rows(given: Sequence[Any]) -> Sequence[Any]:
    x, y, r1, r2, bend = given
    is_sound = (abs(x) < LIMIT) & (abs(y) < LIMIT) & (abs(bend) < LIMIT)
    is_sound = is_sound & (r1 >= 0.0) & (r1 < LIMIT) & (r2 >= 0.0) & (r2 < LIMIT)
    solved = _solve(x, y, r1, r2, bend, ARRAYS)
    if np.all(is_sound):
        return solved
    return [ARRAYS.select(is_sound, number, at_rest) for number, at_rest in zip(solved, INVALID, strict=True)]


def solve_limb(target: Any, lengths: Sequence[Any], directions: Sequence[Any], bend: Any = 1) -> Solved:
    """Pose a limb of two to four bones, of these lengths and with these directions at rest, so that its tip is at
    ``target``, or as near as it comes.

    ``target`` is a pair of floats, or an array ``(..., 2)`` with which lengths and ``bend`` broadcast; ``directions``
    are pairs of any length but 0. For ``bend`` above or at 0 the limb bends as at rest, below it is the mirror image
    about the line from root to target. A target at the root lies along +x. A limb that is straight at rest bends to
    the counter-clockwise side.

    Raises `ValueError` for what is no limb, and floats that are not finite; such rows of arrays come back as
    `Reach.INVALID`, along +x. Source: `groups`, of which a limb of two is the simplest (`solve_two_bone`).
    """
    count = len(lengths)
    if not 2 <= count <= 4 or len(directions) != count:
        raise ValueError(f"a limb has two to four bones, each with a direction: not {lengths} and {directions}")
    is_array = any(isinstance(value, np.ndarray) for value in (target, bend, *lengths))
    flat = [number for pair in directions for number in pair]
    numbers = tuple(np.asarray(number, float) for number in (bend, *lengths, *flat))
    found = in_slabs(partial(_limbs, count), (*split(target, 2), *numbers), 4 * count + 2)
    joints, ways = (found[..., k : k + 2 * count].reshape(*found.shape[:-1], count, 2) for k in (0, 2 * count))
    if is_array:
        return Solved(joints, ways, found[..., -2].astype(np.int8), found[..., -1])
    if found[-2] == Reach.INVALID:
        raise ValueError(f"not a limb: target {target}, lengths {lengths}, directions {directions}, bend {bend}")
    places, units = (tuple(map(tuple, each.tolist())) for each in (joints, ways))
    return Solved(places, units, Reach(int(found[-2])), float(found[-1]))


def _limbs(count: int, given: Sequence[Any]) -> list[Any]:
    """Joints, directions, reach and residual of limbs."""
    m = ARRAYS
    x, y, bend, *rest = given
    lengths, flat = rest[:count], rest[count:]
    is_sound = (abs(x) < LIMIT) & (abs(y) < LIMIT) & (abs(bend) < LIMIT)
    for length in lengths:
        is_sound = is_sound & (length >= 0.0) & (length < LIMIT)
    units = [unit_half(pair, m) for pair in zip(flat[::2], flat[1::2], strict=True)]
    ways, side = _at_rest(lengths, units, m)
    groups, total = groups_of(lengths, ways, m), sum(lengths) + m.tiny
    distance = m.sqrt((x + SPECK) * (x + SPECK) + y * y) + LEAST
    nearest = nearest_of(groups, m)
    gone = m.minimum(m.maximum(distance, nearest), total)
    side = side * m.select(bend < 0.0, -1.0, 1.0)
    off_line, turns = bend_groups(gone, total - gone, total, groups, side, count, m)
    line = _after(((x + SPECK) / distance, y / distance), direction(unit_half(off_line, m)))
    ends, found = (0.0, 0.0), []
    for length, turn in zip(lengths, turns, strict=True):
        way = _after(line, direction(turn))
        ends = ends[0] + length * way[0], ends[1] + length * way[1]
        found.append((*ends, *way))
    shortfall = distance - gone
    reach = judge(shortfall, -ROUNDING * total, ROUNDING * total, Reach.TOO_NEAR, Reach.TOO_FAR, m)
    solved = [number for place in found for number in place[:2]] + [number for place in found for number in place[2:]]
    is_sound = is_sound & np.isfinite(sum(solved))
    pairs = zip((*solved, reach, abs(shortfall)), (*(1.0, 0.0) * (2 * count), Reach.INVALID, 0.0), strict=True)
    return [np.where(is_sound, *pair) for pair in pairs]


def _at_rest(lengths: Sequence[Any], ways: Sequence[Any], m: Ops) -> tuple[list[HalfAngle], Any]:
    """The half angles of bones off the line from root to tip at rest, as if the first group lay counter-clockwise of
    it, and the side on which it lies."""
    x, y = (sum(length * way[k] for length, way in zip(lengths, ways, strict=True)) for k in range(2))
    size = m.sqrt(x * x + y * y)
    x, y = m.select(size > 0.0, x, ways[0][0]), m.select(size > 0.0, y, ways[0][1])
    pairs = [(u * x + v * y, v * x - u * y) for u, v in ways]
    aside = sum(length * pair[1] for length, pair in zip(lengths[::2], pairs[::2], strict=True))
    side = m.select(aside < 0.0, -1.0, 1.0)
    halves = [half_angle(u, side * v, m.sqrt(u * u + v * v), m) for u, v in pairs]
    return [unit_half(half, m) for half in halves], side


def _after(a: Any, b: Any) -> tuple[Any, Any]:
    """One turn after another, each as a unit vector (the product of complex numbers)."""
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]
