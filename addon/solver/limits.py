"""Two bones in a plane, both of whose joints have limits: the pose whose tip is nearest to the target.

Where the first bone would stand without its limits is where it stands, if that is within them: the knee's are in how
far the limb goes. Else the nearest pose has the first bone at one of its two ends: along any other edge of what both
joints may do, the tip comes nearer until the limb points at the target, which is the pose without limits. At each end,
the second bone turns from the knee towards the target as far as the knee lets it; of the two, the tip that comes
nearer is taken. Turns are half angles: within a range is what has the smaller tangent than half of its width, seen from
its middle.
"""

from __future__ import annotations

from math import atan2
from typing import Any, NamedTuple

from .ops import Number, Ops
from .rotation import HalfAngle, half_angle, minus, plus


class Range(NamedTuple):
    """Turns from one to another: the middle, and half of the width. A width of (0, 1), half a turn to either side, lets
    everything."""

    middle: HalfAngle
    width: HalfAngle


class Limits(NamedTuple):
    """How far the first bone may turn from the reference, against the clock, and the second off straight, to the
    limb's side."""

    first: Range
    knee: Range


class PoseWithinLimits(NamedTuple):
    """The nearest pose: how the first bone is turned from the reference, the knee's turn off straight (half angles, of
    unit length), whether both are as without limits, and how far the tip then is from the target."""

    first: HalfAngle
    knee: HalfAngle
    is_free: Any
    distance: Any


def pose_within_limits(
    first: HalfAngle,
    knee: HalfAngle,
    target: tuple[Any, Any],
    lengths: tuple[Any, ...],
    at_rest: HalfAngle,
    side: Number,
    limits: Limits,
    ops: Ops,
) -> PoseWithinLimits:
    """The pose within limits whose tip comes nearest to a target (x, y) of G. Without limits, bones would be turned
    by ``first`` and ``knee`` (of unit length). ``at_rest`` is the first bone's half angle off Y in the reference."""
    off = minus(first, limits.first.middle)
    is_free = _is_within(off, limits.first.width)
    low, high = (_at_end(sign, target, lengths, at_rest, side, limits, ops) for sign in (-1.0, 1.0))
    is_low = low.distance <= high.distance

    def chosen(as_it_is: HalfAngle, at_low: HalfAngle, at_high: HalfAngle) -> HalfAngle:
        ends = (ops.select(is_low, *pair) for pair in zip(at_low, at_high, strict=True))
        cosine, sine = (ops.select(is_free, *pair) for pair in zip(as_it_is, ends, strict=True))
        return cosine, sine

    return PoseWithinLimits(
        first=chosen(first, low.first, high.first),
        knee=chosen(knee, low.knee, high.knee),
        is_free=is_free,
        distance=ops.sqrt(ops.minimum(low.distance, high.distance)),
    )


def _is_within(off: HalfAngle, width: HalfAngle) -> Any:
    """Whether a turn off the middle of a range is within half of its width."""
    return abs(off[1]) * width[0] <= abs(off[0]) * width[1]


def _at_end(
    sign: float,
    target: tuple[Any, Any],
    lengths: tuple[Any, ...],
    at_rest: HalfAngle,
    side: Number,
    limits: Limits,
    ops: Ops,
) -> PoseWithinLimits:
    """The pose with the first bone at one end of its range, with the square of the distance."""
    width = limits.first.width
    first = plus(limits.first.middle, (width[0], sign * width[1]))
    heading = plus(at_rest, first)
    knee_x, knee_y = _along(heading, lengths[0])
    x, y = target[0] - knee_x, target[1] - knee_y
    to_target = half_angle(y, -x, ops.sqrt(x * x + y * y), ops)
    cosine, sine = minus(heading, to_target)
    size = 1.0 / ops.sqrt(cosine * cosine + sine * sine)
    knee = _clamped((cosine * size, side * sine * size), limits.knee, ops)
    tip_x, tip_y = _along(minus(heading, (knee[0], side * knee[1])), lengths[1])
    return PoseWithinLimits(first, knee, True, (x - tip_x) * (x - tip_x) + (y - tip_y) * (y - tip_y))


def _along(heading: HalfAngle, length: Number) -> tuple[Any, Any]:
    """So far from the origin, off Y by this half angle."""
    cosine, sine = heading
    return -2.0 * length * cosine * sine, length * (cosine * cosine - sine * sine)


def _clamped(turn: HalfAngle, range_: Range, ops: Ops) -> HalfAngle:
    """A turn, or the nearer end of a range that it is not in."""
    off = minus(turn, range_.middle)
    is_within = _is_within(off, range_.width)
    sign = ops.select(off[0] * off[1] < 0.0, -1.0, 1.0)
    end = plus(range_.middle, (range_.width[0], sign * range_.width[1]))
    cosine, sine = (ops.select(is_within, *pair) for pair in zip(turn, end, strict=True))
    return cosine, sine


def turned_back(low: float, high: float, normal: Any, reference_rotation: Any) -> tuple[float, float]:
    """A range of turns of the first bone, in radians: from the reference pose, where it is given from rest. Against
    the clock about the normal, which is given in its own axes."""
    w, *about = reference_rotation
    angle = 2.0 * atan2(sum(a * b for a, b in zip(about, normal, strict=True)), w)
    return low - angle, max(low, high) - angle
