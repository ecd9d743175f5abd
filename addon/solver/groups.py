"""A limb of three or four bones as a limb of two groups, each of one or two bones.

Which bones keep together is decided by the rest pose (`bends_in_zigzag`): of bones that bend to and fro, the 1st and
3rd, and the 2nd and 4th, as in a pantograph; of all other planar shapes neighbours, 1 and 2+3, or 1+2 and 3+4, as in a
finger or in an arm with its shoulder. At rest each group is one bone of known length, and the two make a triangle: the
tip is exact, the rest pose at rest. Towards full reach the groups straighten. With L the whole length, d0 the distance
from root to tip at rest, and d that to the target::

    s  = (L^2 - d^2) / (L^2 - d0^2)           share of the rest pose's bends: 1 at rest, 0 straight
    R^2 = (r + q)^2 - s v                     length of a group, v = 4 r q sin^2(bend / 2)
    sin(bend now / 2) = sqrt(s) sin(bend / 2)

It always reaches from d0 to L: (RA + RB)^2 is concave in s and (RA - RB)^2 convex, d^2 is linear, and at both ends
|RA - RB| <= d <= RA + RB. ``ankle`` turns the last bone against the other of its group, before all else.

Nearer than at rest, a zigzag keeps s = 1: the share has a kink there, and the groups stay as they are. Neighbours go
on bending, all joints together, up to the largest share for which the triangle stays one and its knee does not turn
back. With a = vA / LA^2, b = vB / LB^2, c = (L^2 - d0^2 - vA - vB) / (LA LB), all of it is linear in s but the root::

    cos(knee) = (2 - s c) / 2 sqrt((1 - s a)(1 - s b))
    16 area^2 = LA^2 LB^2 s (4 (c - a - b) - s (c^2 - 4 a b))       folded at  s = 2 (c - a - b) / (c^2 / 2 - 2 a b)
    d cos(knee) / ds = 0                                         turns back at  s = 2 (c - a - b) / (c (a + b) - 4 a b)

so the quadratic that says where the triangle ends has lost its constant term, and s is the smaller of the two; nor does
it bend a group past `FOLDED`. Where these leave less than 1, it is 1. Nearer than that share leads, s stays.

What is small is not computed as a difference: the rest pose's slack L^2 - d0^2 as the sum of 4 r q sin^2(turn / 2) over
all pairs of bones, that of now as (L - d)(L + d), and the triangle's (RA + RB)^2 - d^2, with LA LB - RA RB as a
quotient, in proportion to s: the limb is straight to the last digit as it comes to full reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from math import cos, inf, pi, sin
from typing import Any, NamedTuple

from .ops import FLOATS, Number, Ops
from .rotation import HalfAngle, half_angle, half_of, minus, plus
from .triangle import Bones, bones_of_lengths, range_of_bones, triangle_angles

NEARLY_STRAIGHT = 1e-3
"""The sine of the turn from one bone to the next below which the two count as in line, bent to neither side."""

FOLDED = 0.75
"""The squared sine of half of the bend that a group goes on bending to, nearer than at rest: 120 degrees."""


class SegmentGroup(NamedTuple):
    """Two bones of lengths r and q that keep together, or one: of that, q is 0."""

    total: Any  # r + q
    difference: Any  # r - q, of one bone r as well
    product: Any  # 4 r q
    bend: HalfAngle  # by which the first is turned off the second at rest, ankle included


class SegmentGroups(NamedTuple):
    """A limb of more than two bones. L^2 - d0^2 is ``slack_unclosed + slack_closing * sine^2``, with the sine of
    ``closing``: see `groups_of`."""

    first: SegmentGroup
    second: SegmentGroup
    slack_unclosed: Any
    slack_closing: Any
    closing: HalfAngle  # by which the last bone is turned off the line from the root to where it begins, ankle included
    is_zigzag: bool  # whether every other bone keeps together, or neighbours
    largest_share: Any  # of the rest pose's bends: s as the tip comes nearest


def bends_in_zigzag(sines: Sequence[Any], ops: Ops) -> Any:
    """Whether bones bend to and fro in turn, by the sines of their turns: else neighbours keep together. In a zigzag
    every other bone does. Bones in line fit in with both, so that limbs that are straight at rest, and limbs of two
    bones, are zigzags."""
    least = most = sines[0]
    for k, sine in enumerate(sines[1:], 1):
        to_first = -sine if k % 2 else sine
        least, most = ops.minimum(least, to_first), ops.maximum(most, to_first)
    return (least >= -NEARLY_STRAIGHT) | (most <= NEARLY_STRAIGHT)


def members(count: int, is_zigzag: bool) -> tuple[range, range]:
    """The indices of the bones of a limb of ``count`` in the first group, and in the second."""
    if is_zigzag:
        return range(0, count, 2), range(1, count, 2)
    return range(count - 2), range(count - 2, count)


def groups_of(lengths: Sequence[Any], half_angles: Sequence[HalfAngle], is_zigzag: bool, ops: Ops) -> SegmentGroups:
    """The two groups of bones in which a limb of so many bones bends; ``half_angles`` are (cosine, sine) of half of
    each bone's angle off the line from root to tip at rest.

    With p where the last bone begins, L' the length of all others and q that of the last::

        L'^2 - |p|^2 = sum of 4 r q sin^2(turn / 2) over all pairs of the others
        L^2 - d0^2 = (L' + q)^2 - |p|^2 - q^2 - 2 q |p| cos(closing)
                   = (L' - |p|)(L' + |p| + 2 q) + 4 q |p| sin^2(closing / 2)
    """
    upper, last = [*zip(lengths[:-1], half_angles[:-1], strict=True)], lengths[-1]
    reach = sum(lengths[:-1])
    open_square = 0.0  # L'^2 - |p|^2
    for (r, half), (q, other) in combinations(upper, 2):
        sine = minus(half, other)[1]
        open_square = open_square + 4.0 * r * q * sine * sine
    units = [direction(half) for _, half in upper]
    x, y = (sum(r * unit[axis] for (r, _), unit in zip(upper, units, strict=True)) for axis in (0, 1))
    size = ops.sqrt(x * x + y * y)
    u, v = direction(half_angles[-1])
    closing = unit_half(half_angle(u * x + v * y, v * x - u * y, size, ops), ops)
    first, second = (
        _group([(lengths[k], half_angles[k]) for k in numbers], ops) for numbers in members(len(lengths), is_zigzag)
    )
    groups = SegmentGroups(
        first=first,
        second=second,
        slack_unclosed=open_square / (reach + size + ops.tiny) * (reach + size + 2.0 * last),
        slack_closing=4.0 * size * last,
        closing=closing,
        is_zigzag=is_zigzag,
        largest_share=1.0,
    )
    return with_largest_share(groups, ops)


def _group(bones: list[tuple[Any, HalfAngle]], ops: Ops) -> SegmentGroup:
    r, half = bones[0]
    if len(bones) == 1:
        return SegmentGroup(r, r, 0.0, (1.0, 0.0))
    q, other = bones[1]
    cosine, sine = minus(half, other)
    return SegmentGroup(
        r + q, r - q, 4.0 * r * q, (abs(cosine), ops.select(cosine < 0.0, -sine, sine))
    )  # within half a turn


def with_ankle(groups: SegmentGroups, ankle: HalfAngle, count: int, ops: Ops) -> SegmentGroups:
    """The groups of a limb of ``count`` bones, with the direction of the last one at rest turned by the ankle."""
    first, second = (group._replace(bend=minus(group.bend, ankle)) for group in (groups.first, groups.second))
    groups = groups._replace(closing=plus(groups.closing, ankle))
    is_in_first = groups.is_zigzag and count % 2
    return with_largest_share(groups._replace(first=first) if is_in_first else groups._replace(second=second), ops)


def with_largest_share(groups: SegmentGroups, ops: Ops) -> SegmentGroups:
    """The same groups, with ``largest_share`` set: how many times as far as at rest they may bend, as derived above."""
    if groups.is_zigzag:
        return groups
    v_a, v_b = map(_opened, (groups.first, groups.second))
    l_a, l_b = groups.first.total, groups.second.total
    a, b = v_a / (l_a * l_a + ops.tiny), v_b / (l_b * l_b + ops.tiny)
    c = (slack_at_rest(groups) - v_a - v_b) / (l_a * l_b + ops.tiny)
    ends = ops.maximum(0.5 * c * c - 2.0 * a * b, c * (a + b) - 4.0 * a * b)
    share = 2.0 * ops.maximum(c - a - b, 0.0) / ops.maximum(ends, ops.tiny)
    sines = groups.first.bend[1], groups.second.bend[1]
    sharpest = ops.maximum(sines[0] * sines[0], sines[1] * sines[1])
    return groups._replace(largest_share=ops.maximum(ops.minimum(share, FOLDED / (sharpest + ops.tiny)), 1.0))


def _opened(group: SegmentGroup) -> Any:
    """By how much the square of a group's length is less at rest than straight: v."""
    return group.product * group.bend[1] * group.bend[1]


def slack_at_rest(groups: SegmentGroups) -> Any:
    """The squared full length less the squared distance at rest: L^2 - d0^2."""
    return groups.slack_unclosed + groups.slack_closing * groups.closing[1] * groups.closing[1]


def nearest_of(groups: SegmentGroups, ops: Ops) -> Any:
    """The least distance from root to tip: with both groups bent by the largest share."""
    return abs(_bent(groups.first, groups.largest_share, ops)[0] - _bent(groups.second, groups.largest_share, ops)[0])


def bend(
    span: Number, to_straight: Number, bones: Bones, groups: SegmentGroups | None, side: Number, count: int, ops: Ops
) -> tuple[HalfAngle, list[HalfAngle]]:
    """How bones bend for the tip to be ``span`` from the root: half angles of the first, and of each of ``count``.
    Of the first bone or group off the line from root to target (of any length), and of each bone off that (unit).
    ``span`` is ``bones.total`` less ``to_straight``; ``side`` is -1 for the mirror image. Two bones need no
    ``groups``."""
    if groups is None:
        longer, shorter = span + bones.difference, span - bones.difference
        knee_cos, knee_sin, cosine, sine = triangle_angles(bones.total + span, to_straight, longer, shorter, side, ops)
        return (cosine, sine), [(1.0, 0.0), (knee_cos, -knee_sin)]
    return bend_groups(span, to_straight, bones.total, groups, side, count, ops)


def bend_groups(
    span: Number, to_straight: Number, total: Number, groups: SegmentGroups, side: Number, count: int, ops: Ops
) -> tuple[HalfAngle, list[HalfAngle]]:
    """`bend` for groups. The triangle's A = (RA + RB)^2 - d^2, which is small near full reach, without cancellation::

        LA^2 LB^2 - RA^2 RB^2 = s (vA LB^2 + vB LA^2 - s vA vB)             as R^2 = L^2 - s v of each group
        LA LB - RA RB = s lost,  lost = (vA LB^2 + vB LA^2 - s vA vB) / (LA LB + RA RB)
        A = LA^2 + LB^2 + 2 LA LB - d^2 - s (vA + vB + 2 lost) = L^2 - d^2 - s (vA + vB + 2 lost)
          = s (L^2 - d0^2 - vA - vB - 2 lost) + excess                      as L^2 - d^2 = s (L^2 - d0^2) + excess

    where there is an excess only nearer than the largest share leads.
    """
    rest_slack = slack_at_rest(groups)
    slack = to_straight * (total + span)  # L^2 - d^2
    share = ops.minimum(slack / (rest_slack + ops.tiny), groups.largest_share)
    r_a, *firsts = _bent(groups.first, share, ops)
    r_b, *seconds = _bent(groups.second, share, ops)
    v_a, v_b = _opened(groups.first), _opened(groups.second)
    l_a, l_b = groups.first.total, groups.second.total
    lost = (v_a * l_b * l_b + v_b * l_a * l_a - share * v_a * v_b) / (l_a * l_b + r_a * r_b + ops.folded)
    excess = ops.maximum(slack - groups.largest_share * rest_slack, 0.0)
    opening = ops.maximum(share * (rest_slack - v_a - v_b - 2.0 * lost) + excess, 0.0)  # A
    longer, shorter = ops.maximum(span + (r_a - r_b), 0.0), ops.maximum(span - (r_a - r_b), 0.0)
    reach = r_a + r_b + span + ops.tiny
    knee_cos, knee_sin, cosine, sine = triangle_angles(reach, opening / reach, longer, shorter, 1.0, ops)
    knee = (knee_cos, -knee_sin)
    in_first, in_second = members(count, groups.is_zigzag)
    half_angles = dict(zip(in_first, firsts, strict=False))
    half_angles |= {k: plus(knee, half) for k, half in zip(in_second, seconds, strict=False)}
    return (cosine, side * sine), [(half_angles[k][0], side * half_angles[k][1]) for k in range(count)]


def _bent(group: SegmentGroup, share: Number, ops: Ops) -> tuple[Any, HalfAngle, HalfAngle]:
    """The length of a group, and the half angles (unit) of its bones off the line of both."""
    sine = ops.sqrt(share) * group.bend[1]
    folded, open_ = (
        share * group.bend[0] * group.bend[0] + (1.0 - share),
        1.0 - sine * sine,
    )  # one, without cancellation
    square = ops.maximum(ops.select(share <= 1.0, folded, open_), 0.0)
    cosine = ops.sqrt(square)
    length = ops.sqrt(group.difference * group.difference + group.product * square)
    longer = length + abs(group.difference)
    shorter = group.product * square / (longer + ops.tiny)  # length - abs(difference)
    is_first = group.difference > 0.0  # the longer one, which is turned less
    along = (length + group.total) * cosine + ops.tiny
    first = unit_half((along, ops.select(is_first, shorter, longer) * sine), ops)
    last = unit_half((along, -ops.select(is_first, longer, shorter) * sine), ops)
    return length, first, last


def range_of_groups(
    lengths: Sequence[float], half_angles: Sequence[HalfAngle], is_zigzag: bool, min_cos2: float, max_cos2: float
) -> tuple[float, float]:
    """The least and the most distance from root to tip, around that at rest, with all joints within their limits.
    Each limit is the squared cosine of half an inner angle; by trying, for floats."""
    groups, total = groups_of(lengths, half_angles, is_zigzag, FLOATS), sum(lengths)
    nearest: float = nearest_of(groups, FLOATS)

    def holds(distance: float) -> bool:
        _, half_angles_now = bend_groups(distance, total - distance, total, groups, 1.0, len(lengths), FLOATS)
        cosines = [minus(after, before)[1] ** 2 for before, after in pairwise(half_angles_now)]  # the turns' sines
        return bool(max_cos2 <= min(cosines) and max(cosines) <= min_cos2)

    def last_that_holds(inside: float, outside: float) -> float:
        for _ in range(50):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if holds(middle) else (inside, middle)
        return inside

    rest = FLOATS.sqrt(max(total * total - slack_at_rest(groups), 0.0))
    tried = [min(nearest + (total - nearest) * k / TRIES, total) for k in range(TRIES + 1)]
    holding = [k for k in range(TRIES + 1) if holds(tried[k])]
    if not holding:
        return rest, rest
    low = high = min(holding, key=lambda k: abs(tried[k] - rest))
    while low - 1 in holding:
        low -= 1
    while high + 1 in holding:
        high += 1
    near = last_that_holds(tried[low], tried[low - 1]) if low > 0 else nearest
    return near, last_that_holds(tried[high], tried[high + 1]) if high < TRIES else total


TRIES = 200


def unit_half(half: HalfAngle, ops: Ops) -> HalfAngle:
    """A half angle at unit length."""
    factor = 1.0 / ops.sqrt(half[0] * half[0] + half[1] * half[1])
    return half[0] * factor, half[1] * factor


def direction(half: HalfAngle) -> tuple[Any, Any]:
    """The unit vector at an angle, given as half angle: the first axis turned by it."""
    return half[0] * half[0] - half[1] * half[1], 2.0 * half[0] * half[1]


UNLIMITED = pi - 1e-6
"""The largest angle in single precision that is still no limit."""


def is_zigzag(angles: Sequence[float]) -> bool:
    """Whether bones of these directions bend to one side and the other in turn: every other one keeps together then,
    neighbours otherwise."""
    return bool(bends_in_zigzag([sin(after - before) for before, after in pairwise(angles)], FLOATS))


def range_of(lengths: Sequence[float], angles: Sequence[float], least: float, most: float) -> tuple[float, float]:
    """The least and the most distance from root to tip with a limb's knees within their limits, in radians. 0 and
    infinity where they have none. Of more than two bones, with the ankle at 0."""
    cosines = cos(least / 2.0) ** 2, cos(most / 2.0) ** 2 if most < UNLIMITED else 0.0
    if cosines == (1.0, 0.0):
        return 0.0, inf
    if len(lengths) == 2:
        nearest, farthest = range_of_bones(bones_of_lengths(lengths[0], lengths[1], FLOATS), *cosines, FLOATS)
    else:
        kind = is_zigzag(angles)
        nearest, farthest = range_of_groups(lengths, [half_of(angle) for angle in angles], kind, *cosines)
    return nearest if cosines[0] < 1.0 else 0.0, farthest if cosines[1] > 0.0 else inf
