"""The triangle root-knee-tip: how far the limb extends, and the two turns that take it there.

Lengths are in any one unit. No angle appears: a turn is a half angle, the cosine and sine of half of it, got by square
roots from the factors of the discriminant (after Quilez' article *Simple IK*)::

    A = (R + d)(R - d)    R = r1 + r2     knee off the straight line, halved:        (sqrt B, sqrt A)
    B = (d + D)(d - D)    D = r1 - r2     first bone off the target line, halved:    ((R + d) sqrt B, (d - D) sqrt A)

A factor below 0 counts as 0: the target is too far or too near, and the limb is straight or folded."""

from __future__ import annotations

from enum import IntEnum
from math import inf
from typing import Any, NamedTuple

from .limits import Limits
from .ops import Number, Ops
from .rotation import HalfAngle


class Reach(IntEnum):
    """Whether the tip came to its target, and if not, what stopped it."""

    REACHED = 0
    TOO_FAR = 1
    TOO_NEAR = 2
    LIMITED = 3
    INVALID = 4


class Settings(NamedTuple):
    """How a limb behaves; the defaults switch everything off. Each number may be a float or an array."""

    side: Any = 1.0  # -1: bent to the other side
    swivel: HalfAngle = (1.0, 0.0)  # turn about the line from root to target
    softness: Any = 0.0  # fraction of r1 + r2; None says that there is neither softness nor stretch nor a limit
    stretch: Any = 0.0
    stretch_max: Any = 1.0  # at least 1
    nearest: Any = 0.0  # from root to tip, as the limits of its knees let it; the smaller one of the two prevails
    farthest: Any = inf
    influence: Any = 1.0  # of the solution over the bones' own rotations
    ankle: HalfAngle | None = None  # turn of the last of more than two bones
    limits: Limits | None = None  # of both joints of two bones about their hinge, without softness and stretch
    twist: tuple[HalfAngle, ...] | None = None  # turn of each bone about its own line; the joints stay


class Bones(NamedTuple):
    """Two bones: the sum and the difference of their lengths, and the nearest that the tip comes to the root."""

    total: Any
    difference: Any
    nearest: Any


Extension = tuple[Any, Any, Any, Any]
"""How a limb extends for a target: its span (the distance from root to tip before the bones lengthen, within the
range); r1 + r2 less that, without cancellation; the factor by which both bones lengthen, at least 1; and the distance
to the target less the span, above 0 past reach and below 0 too near."""

Turns = tuple[Any, Any, Any, Any]
"""Half angles as cosine and sine: the knee's off the straight line (of unit length), and the first bone's off the
target line (of any length). The cosines are not negative, the sines have the sign of the side. Plain tuples: naming the
parts costs more than computing them."""


def bones_of_lengths(r1: Number, r2: Number, ops: Ops) -> Bones:
    """Two bones of these lengths."""
    difference = r1 - r2
    return Bones(r1 + r2 + ops.tiny, difference, abs(difference))


def extend(distance: Number, bones: Bones, ops: Ops) -> tuple[Any, Any]:
    """How far the tip goes towards a target at this distance, from folded to straight: the first two of an
    `Extension`."""
    span = ops.minimum(ops.maximum(distance, bones.nearest), bones.total)
    return span, bones.total - span


def range_of_bones(bones: Bones, min_cos2: Number, max_cos2: Number, ops: Ops) -> tuple[Any, Any]:
    """The nearest and the farthest distance from root to tip between two inner angles of the knee. Each is given as
    the squared cosine of its half: ``min_cos2`` of the smallest (1 for 0), ``max_cos2`` of the largest (0 for a
    straight limb)."""
    straight, folded = bones.total * bones.total, bones.difference * bones.difference
    product = straight - folded
    return ops.sqrt(folded + product * (1.0 - min_cos2)), ops.sqrt(ops.maximum(straight - product * max_cos2, folded))


def extend_shaped(distance: Number, bones: Bones, settings: Settings, ops: Ops) -> Extension:
    """How far the tip goes towards a target at this distance, with limits, softness and stretch: an `Extension`. It
    stops at the range's ends, eases into its far end over the softness on both sides of it, and lengthens the bones
    past what is left.

    The easing is the algebraic form of Spine's (its IK constraint's): slope 1 where it begins, 0 where it ends. With s
    the softness and x = d - (farthest - s), from 0 where it begins to 2 s where it ends::

        eased = d - x^2 / 4 s
        farthest - eased = s - x + x^2 / 4 s = (2 s - x)^2 / 4 s        without cancellation

    With ``stretch`` 1 the bones make up for what easing and reach leave, up to ``stretch_max`` times their length.
    """
    minimum, maximum = ops.minimum, ops.maximum
    farthest = minimum(settings.farthest, bones.total)
    nearest = minimum(maximum(settings.nearest, bones.nearest), farthest)
    softness = settings.softness * bones.total
    zone, width = 2.0 * softness, 4.0 * softness + ops.tiny
    x = minimum(maximum(distance - farthest + softness, 0.0), zone)
    to_end = zone - x
    eased = minimum(distance, farthest + softness) - x * x / width
    to_farthest = maximum(farthest - softness - distance, 0.0) + to_end * to_end / width
    span = minimum(maximum(eased, nearest), farthest)
    missing = maximum(distance / maximum(span, ops.tiny) - 1.0, 0.0)
    factor = minimum(1.0 + settings.stretch * missing, settings.stretch_max)
    return span, (bones.total - farthest) + minimum(to_farthest, farthest - nearest), factor, distance - factor * span


def triangle_angles(
    reach: Number, to_straight: Number, longer: Number, shorter: Number, side: Number, ops: Ops
) -> Turns:
    """The half angles of the triangle, from R + d, R - d, d + D and d - D, none negative; ``side`` is 1 or -1.

    Near each limit one of the four is small: what matters of it is the relative error.
    """
    a = reach * to_straight
    b = longer * shorter + ops.folded
    both = a + b
    knee_cos, knee_sin = ops.sqrt(b / both), side * ops.sqrt(a / both)
    return knee_cos, knee_sin, reach * knee_cos, shorter * knee_sin


def reach_of(length: Number, shortest: Number, longest: Number, if_near: Any, if_far: Any, ops: Ops) -> Any:
    """The `Reach` of a target: reached from ``shortest`` to ``longest``, else ``if_near`` or ``if_far``."""
    too_far = ops.select(length > longest, if_far, Reach.REACHED)
    too_near = ops.select(length < shortest, if_near, Reach.REACHED)
    return ops.maximum(too_far, too_near)
