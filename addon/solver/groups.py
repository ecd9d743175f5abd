"""A limb of three or four bones as a limb of two groups, each of one or two bones.

Which bones keep together is decided by the rest pose (`bends_to_and_fro`): of bones that bend to and fro, the 1st and
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
from typing import Any, NamedTuple

from .ops import FLOATS, Ops
from .rotation import HalfAngle, half_angle
from .triangle import turns

STRAIGHT = 1e-3
"""The sine of the turn from one bone to the next below which the two count as in line, bent to neither side."""

FOLDED = 0.75
"""The squared sine of half of the bend that a group goes on bending to, nearer than at rest: 120 degrees."""


class Group(NamedTuple):
    """Two bones r and q that keep together, or one: r + q, r - q, 4 r q, and the half angle by which the first is
    turned off the second at rest."""

    total: Any
    difference: Any
    product: Any
    bend: HalfAngle


class Groups(NamedTuple):
    """A limb of more than two bones. L^2 - d0^2 is ``slack + span * sine^2``, the sine that of ``closing``: half the
    angle of the last bone off the line to where it begins, and of the ankle. ``most`` is the largest share."""

    first: Group
    second: Group
    slack: Any
    span: Any
    closing: HalfAngle
    is_zigzag: bool
    most: Any


def bends_to_and_fro(sines: Sequence[Any], m: Ops) -> Any:
    """Whether bones bend to one side and the other in turn, by the sines of the turns from each to the next: then every
    other one keeps together, else neighbours. Bones in line fit in with both, so that limbs that are straight at rest,
    and limbs of two bones, are zigzags."""
    least = most = sines[0]
    for k, sine in enumerate(sines[1:], 1):
        to_first = -sine if k % 2 else sine
        least, most = m.minimum(least, to_first), m.maximum(most, to_first)
    return (least >= -STRAIGHT) | (most <= STRAIGHT)


def members(count: int, is_zigzag: bool) -> tuple[range, range]:
    """Which of so many bones are in the first group, and which in the second."""
    if is_zigzag:
        return range(0, count, 2), range(1, count, 2)
    return range(count - 2), range(count - 2, count)


def groups_of(lengths: Sequence[Any], ways: Sequence[HalfAngle], is_zigzag: bool, m: Ops) -> Groups:
    """The groups of three or four bones; ``ways`` are the half angles of their directions at rest."""
    reach = sum(lengths[:-1])
    open_square = 0.0  # (r + q + ...)^2 - |p|^2, without cancellation; p is where the last bone begins
    for (r, a), (q, b) in combinations(tuple(zip(lengths[:-1], ways[:-1], strict=True)), 2):
        sine = minus(a, b)[1]
        open_square = open_square + 4.0 * r * q * sine * sine
    x, y = (
        sum(r * part for r, part in zip(lengths[:-1], parts, strict=True))
        for parts in zip(*map(direction, ways[:-1]), strict=True)
    )
    size = m.sqrt(x * x + y * y)
    u, v = direction(ways[-1])
    closing = unit_half(half_angle(u * x + v * y, v * x - u * y, size, m), m)
    last = lengths[-1]
    slack = open_square / (reach + size + m.tiny) * (reach + size + 2.0 * last)
    first, second = (_group([(lengths[k], ways[k]) for k in each], m) for each in members(len(lengths), is_zigzag))
    return with_most(Groups(first, second, slack, 4.0 * size * last, closing, is_zigzag, 1.0), m)


def _group(bones: list[tuple[Any, HalfAngle]], m: Ops) -> Group:
    r, way = bones[0]
    if len(bones) == 1:
        return Group(r, r, 0.0, (1.0, 0.0))
    q, other = bones[1]
    cosine, sine = minus(way, other)
    return Group(r + q, r - q, 4.0 * r * q, (abs(cosine), m.select(cosine < 0.0, -sine, sine)))  # within half a turn


def turned(of: Groups, ankle: HalfAngle, count: int, m: Ops) -> Groups:
    """A limb of so many bones whose last one the ankle turns at rest."""
    of = of._replace(closing=plus(of.closing, ankle))
    first, second = (group._replace(bend=minus(group.bend, ankle)) for group in (of.first, of.second))
    return with_most(of._replace(first=first) if of.is_zigzag and count % 2 else of._replace(second=second), m)


def with_most(of: Groups, m: Ops) -> Groups:
    """A limb with its largest share, as derived above."""
    if of.is_zigzag:
        return of
    va, vb = map(_opened, (of.first, of.second))
    a, b = va / (of.first.total * of.first.total + m.tiny), vb / (of.second.total * of.second.total + m.tiny)
    c = (slack_at_rest(of) - va - vb) / (of.first.total * of.second.total + m.tiny)
    ends = m.maximum(0.5 * c * c - 2.0 * a * b, c * (a + b) - 4.0 * a * b)
    share = 2.0 * m.maximum(c - a - b, 0.0) / m.maximum(ends, m.tiny)
    sharpest = m.maximum(of.first.bend[1] * of.first.bend[1], of.second.bend[1] * of.second.bend[1])
    return of._replace(most=m.maximum(m.minimum(share, FOLDED / (sharpest + m.tiny)), 1.0))


def _opened(of: Group) -> Any:
    """By how much the square of a group's length is less at rest than straight: v."""
    return of.product * of.bend[1] * of.bend[1]


def slack_at_rest(of: Groups) -> Any:
    """L^2 - d0^2."""
    return of.slack + of.span * of.closing[1] * of.closing[1]


def nearest_of(of: Groups, m: Ops) -> Any:
    """The nearest that the tip comes to the root: with both groups bent as far as they are."""
    return abs(_bent(of.first, of.most, m)[0] - _bent(of.second, of.most, m)[0])


def bend_groups(
    gone: Any, gap: Any, total: Any, of: Groups, side: Any, count: int, m: Ops
) -> tuple[HalfAngle, list[HalfAngle]]:
    """The half angles of the first group off the line (of any length), and of each bone off the first group, for a limb
    that goes ``gone``, which is ``total`` less ``gap``; ``side`` is -1 for the mirror image."""
    room = slack_at_rest(of)
    left = gap * (total + gone)  # L^2 - d^2
    share = m.minimum(left / (room + m.tiny), of.most)
    a, *firsts = _bent(of.first, share, m)
    b, *seconds = _bent(of.second, share, m)
    # (a + b)^2 - d^2 = left - s (va + vb) - 2 (la lb - a b), where left is s room, and more only nearer than s leads;
    # la lb - a b is the difference of their squares by their sum, s times this: nothing cancels at full reach
    va, vb = _opened(of.first), _opened(of.second)
    la, lb = of.first.total, of.second.total
    lost = (va * lb * lb + vb * la * la - share * va * vb) / (la * lb + a * b + m.folded)
    far = m.maximum(share * (room - va - vb - 2.0 * lost) + m.maximum(left - of.most * room, 0.0), 0.0)
    longer, shorter = m.maximum(gone + (a - b), 0.0), m.maximum(gone - (a - b), 0.0)
    reach = a + b + gone + m.tiny
    knee_cos, knee_sin, cosine, sine = turns(reach, far / reach, longer, shorter, 1.0, m)
    knee = (knee_cos, -knee_sin)
    in_first, in_second = members(count, of.is_zigzag)
    ways = dict(zip(in_first, firsts, strict=False))
    ways |= {k: plus(knee, way) for k, way in zip(in_second, seconds, strict=False)}
    return (cosine, side * sine), [(ways[k][0], side * ways[k][1]) for k in range(count)]


def _bent(of: Group, share: Any, m: Ops) -> tuple[Any, HalfAngle, HalfAngle]:
    """The length of a group, and the half angles (unit) of its bones off the line of both."""
    sine = m.sqrt(share) * of.bend[1]
    folded, open_ = share * of.bend[0] * of.bend[0] + (1.0 - share), 1.0 - sine * sine  # one, without cancellation
    square = m.maximum(m.select(share <= 1.0, folded, open_), 0.0)
    cosine = m.sqrt(square)
    length = m.sqrt(of.difference * of.difference + of.product * square)
    longer = length + abs(of.difference)
    shorter = of.product * square / (longer + m.tiny)  # length - abs(difference)
    is_first = of.difference > 0.0  # the longer one, which is turned less
    along = (length + of.total) * cosine + m.tiny
    first = unit_half((along, m.select(is_first, shorter, longer) * sine), m)
    last = unit_half((along, -m.select(is_first, longer, shorter) * sine), m)
    return length, first, last


def limited_range(
    lengths: Sequence[float], ways: Sequence[HalfAngle], is_zigzag: bool, min_cos2: float, max_cos2: float
) -> tuple[float, float]:
    """Between which distances from root to tip, around that at rest, all inner angles of the joints are within their
    limits, each given as the squared cosine of its half; by trying, for floats."""
    of, total = groups_of(lengths, ways, is_zigzag, FLOATS), sum(lengths)
    nearest: float = nearest_of(of, FLOATS)

    def holds(distance: float) -> bool:
        _, bones = bend_groups(distance, total - distance, total, of, 1.0, len(lengths), FLOATS)
        cosines = [minus(after, before)[1] ** 2 for before, after in pairwise(bones)]  # the turns' sines
        return bool(max_cos2 <= min(cosines) and max(cosines) <= min_cos2)

    def last_that_holds(inside: float, outside: float) -> float:
        for _ in range(50):
            middle = 0.5 * (inside + outside)
            inside, outside = (middle, outside) if holds(middle) else (inside, middle)
        return inside

    rest = FLOATS.sqrt(max(total * total - slack_at_rest(of), 0.0))
    tried = [min(nearest + (total - nearest) * k / TRIES, total) for k in range(TRIES + 1)]
    held = [k for k in range(TRIES + 1) if holds(tried[k])]
    if not held:
        return rest, rest
    low = high = min(held, key=lambda k: abs(tried[k] - rest))
    while low - 1 in held:
        low -= 1
    while high + 1 in held:
        high += 1
    near = last_that_holds(tried[low], tried[low - 1]) if low > 0 else nearest
    return near, last_that_holds(tried[high], tried[high + 1]) if high < TRIES else total


TRIES = 200


def plus(a: HalfAngle, b: HalfAngle) -> HalfAngle:
    """One turn after another."""
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]


def minus(a: HalfAngle, b: HalfAngle) -> HalfAngle:
    """The turn from the second to the first."""
    return a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]


def unit_half(half: HalfAngle, m: Ops) -> HalfAngle:
    """A half angle at unit length."""
    factor = 1.0 / m.sqrt(half[0] * half[0] + half[1] * half[1])
    return half[0] * factor, half[1] * factor


def direction(half: HalfAngle) -> tuple[Any, Any]:
    """The first axis turned by a half angle."""
    return half[0] * half[0] - half[1] * half[1], 2.0 * half[0] * half[1]
