"""The triangle root-knee-tip: how far the chain extends, and the two turns that take it there.

Lengths are in any one unit. No angle appears: a turn is a half angle, the cosine and sine of half of it, got by square
roots from the factors of the discriminant (DESIGN.md, after Quilez' *Simple IK*)::

    A = (R + d)(R - d)    R = r1 + r2     knee turn, halved:                     (sqrt B, sqrt A)
    B = (d + D)(d - D)    D = r1 - r2     upper bone off the target line, halved: (sqrt (R + d)(d + D), sqrt (R - d)(d - D))

A factor below 0 counts as 0: the target is too far or too near, and the chain is straight or folded.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .ops import TINY, Ops
from .reach import Reach


class Settings(NamedTuple):
    """How a chain behaves; the defaults switch everything off. Each may be a number or an array."""

    bend: Any = 1.0  # cosine of the knee's swing about the target line
    softness: Any = 0.0  # fraction of r1 + r2
    stretch: Any = 0.0
    stretch_max: Any = 1.0
    min_cos2: Any = 1.0  # squared cosine of half the knee's smallest inner angle
    max_cos2: Any = 0.0  # and of half its largest
    influence: Any = 1.0


class Bones(NamedTuple):
    """The lengths of two bones: their sum, their difference, and what rounding took from each of these."""

    total: Any
    total_rest: Any
    difference: Any
    difference_rest: Any


Range = tuple[Any, Any, Any, Any]
"""The nearest and the farthest distance from root to tip, and the `Reach` of a target past each."""

Extension = tuple[Any, Any, Any, Any, Any]
"""How far the chain goes for a target: the distance; what rounding took from it; r1 + r2 less it, without cancellation
and below 0 past reach; the factor by which both bones lengthen, at least 1; and the distance to the target less the
distance gone, above 0 past reach and below 0 too near."""

Turns = tuple[Any, Any, Any, Any]
"""Half angles as cosine and sine, the sines not negative: the knee's off the straight line (of unit length), and the
upper bone's off the target line (of any length). Plain tuples: naming the parts costs more than computing them."""


def bones(r1: Any, r2: Any) -> Bones:
    """Sum and difference without loss (Knuth's two-sum): near a limit the knee moves with the root of the error."""
    total = r1 + r2
    part = total - r1
    total_rest = (r1 - (total - part)) + (r2 - part)
    difference = r1 - r2
    part = difference - r1
    return Bones(total, total_rest, difference, (r1 - (difference - part)) - (r2 + part))


def measure(x: Any, y: Any, m: Ops) -> tuple[Any, Any]:
    """The length of (x, y), at least `TINY`, and what rounding took from it, as bends the knee near its limits.

    The remainder of the root is a product of differences (Borges, *An Improved Algorithm for hypot(a, b)*).
    """
    long, short = m.maximum(x, -x), m.maximum(y, -y)
    long, short = m.maximum(long, short), m.minimum(long, short)
    size = m.sqrt(x * x + y * y + TINY * TINY)
    excess = (size - long) * (size + long) - short * short
    return size, excess / (-2.0 * size)


def full_range(of: Bones, m: Ops) -> Range:
    """The range of a knee without limits: from folded to straight."""
    difference = of.difference
    return m.maximum(difference, -difference), of.total, Reach.TOO_NEAR, Reach.TOO_FAR


def limited_range(of: Bones, min_cos2: Any, max_cos2: Any, m: Ops) -> Range:
    """The range between two inner angles of the knee, each given as the squared cosine of its half.

    ``min_cos2`` belongs to the smallest angle (1 for 0), ``max_cos2`` to the largest (0 for a straight limb).
    """
    straight, folded = of.total * of.total, of.difference * of.difference
    product = straight - folded
    return (
        m.sqrt(folded + product * (1.0 - min_cos2)),
        m.sqrt(m.maximum(straight - product * max_cos2, 0.0)),
        m.select(min_cos2 < 1.0, Reach.LIMITED, Reach.TOO_NEAR),
        m.select(max_cos2 > 0.0, Reach.LIMITED, Reach.TOO_FAR),
    )


def extend(distance: Any, rest: Any, of: Bones, within: Range, m: Ops) -> Extension:
    """Go for the target itself; ``rest`` is what rounding took from ``distance``. `turns` stops at the full range."""
    nearest, farthest, _, _ = within
    far_gap = (of.total - distance) + (of.total_rest - rest)
    shortfall = m.maximum(distance - farthest, 0.0) - m.maximum(nearest - distance, 0.0)
    return distance, rest, far_gap, 1.0, shortfall


def extend_shaped(distance: Any, of: Bones, within: Range, settings: Settings, m: Ops) -> Extension:
    """Stop at the range's ends, ease into its far end over the softness on both sides of it, and lengthen the bones
    past what is left.

    The easing is the algebraic form of Spine's (../shared/vectors.json): slope 1 where it begins, 0 where it ends.
    With ``stretch`` 1 the bones make up for what easing and reach leave, up to ``stretch_max`` times their length.
    """
    nearest, farthest, _, _ = within
    softness = settings.softness * of.total
    width = 4.0 * m.maximum(softness, TINY)
    begun = m.minimum(m.maximum(distance - farthest + softness, 0.0), 2.0 * softness)
    left = m.minimum(m.maximum(farthest + softness - distance, 0.0), 2.0 * softness)
    eased = m.minimum(distance, farthest + softness) - begun * begun / width
    eased_gap = m.maximum(farthest - softness - distance, 0.0) + left * left / width
    gone = m.minimum(m.maximum(eased, nearest), farthest)
    missing = m.maximum(distance / m.maximum(gone, TINY) - 1.0, 0.0)
    factor = m.minimum(1.0 + settings.stretch * missing, m.maximum(settings.stretch_max, 1.0))
    far_gap = (of.total - farthest) + m.minimum(eased_gap, farthest - nearest)
    return gone, 0.0, far_gap, factor, distance - factor * gone


def turns(extension: Extension, of: Bones, m: Ops) -> Turns:
    """The half angles of the triangle whose third side is the extension's distance, or the closest there is."""
    d, rest, far_gap, _, _ = extension
    total, _, difference, difference_rest = of
    far = m.maximum(far_gap, 0.0)
    plus = m.maximum((d + difference) + (rest + difference_rest), 0.0)
    minus = m.maximum((d - difference) + (rest - difference_rest), 0.0)
    reach = total + d
    a = reach * far
    b = plus * minus + TINY * TINY
    both = a + b
    sqrt = m.sqrt
    return sqrt(b / both), sqrt(a / both), sqrt(reach * plus + TINY * TINY), sqrt(far * minus)


def judge(extension: Extension, within: Range, tolerance: Any, m: Ops) -> Any:
    """The `Reach` of an extension; a shortfall up to ``tolerance`` (a length) counts as reached."""
    shortfall = extension[4]
    near = m.select(shortfall < -tolerance, within[2], Reach.REACHED)
    return m.select(shortfall > tolerance, within[3], near)
