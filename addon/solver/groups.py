"""A limb of three or four bones as a limb of two groups: its 1st and 3rd bone, and its 2nd and 4th.

At rest each group is one bone of known length, and the two make a triangle: the tip is exact, the rest pose at rest, as
in a pantograph. Towards full reach the groups straighten. With L the whole length, d0 the distance from root to tip at
rest, and d that to the target::

    s = min((L^2 - d^2) / (L^2 - d0^2), 1)        R^2 = (r + q)^2 - s 4 r q sin^2(bend / 2)

R is the length of a group of bones r and q. It always reaches: (RA + RB)^2 is concave in s and (RA - RB)^2 convex, d^2
is linear, and at both ends |RA - RB| <= d <= RA + RB. Within a group, the sine of half the bend is sqrt(s) times that
at rest. ``ankle`` turns the last bone against the other of its group, before all else.

The share s has a kink at the rest distance, and keeps it: what would round it off beyond that distance moves the rest
pose, and what would within it can break the proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any, NamedTuple

from .ops import FLOATS, Ops
from .rotation import HalfAngle, half_angle
from .triangle import turns


class Group(NamedTuple):
    """Two bones r and q that keep together, or one: r + q, r - q, 4 r q, and the half angle by which the first is
    turned off the second at rest."""

    total: Any
    difference: Any
    product: Any
    bend: HalfAngle


class Groups(NamedTuple):
    """A limb of more than two bones. L^2 - d0^2 is ``slack + span * sine^2``, the sine that of ``closing``: half the
    angle of the last bone off the line to where it begins, and of the ankle."""

    first: Group
    second: Group
    slack: Any
    span: Any
    closing: HalfAngle


def groups_of(lengths: Sequence[Any], ways: Sequence[HalfAngle], m: Ops) -> Groups:
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
    first, second = (_group([*zip(lengths[k::2], ways[k::2], strict=True)], m) for k in range(2))
    return Groups(first, second, slack, 4.0 * size * last, closing)


def _group(bones: list[tuple[Any, HalfAngle]], m: Ops) -> Group:
    r, way = bones[0]
    if len(bones) == 1:
        return Group(r, r, 0.0, (1.0, 0.0))
    q, other = bones[1]
    cosine, sine = minus(way, other)
    return Group(r + q, r - q, 4.0 * r * q, (abs(cosine), m.select(cosine < 0.0, -sine, sine)))  # within half a turn


def turned(of: Groups, ankle: HalfAngle, count: int) -> Groups:
    """A limb of so many bones whose last one the ankle turns at rest."""
    name = "first" if count % 2 else "second"
    group: Group = getattr(of, name)
    return of._replace(closing=plus(of.closing, ankle), **{name: group._replace(bend=minus(group.bend, ankle))})


def nearest_of(of: Groups, m: Ops) -> Any:
    """The nearest that the tip comes to the root: with both groups as at rest."""
    return abs(_bent(of.first, 1.0, m)[0] - _bent(of.second, 1.0, m)[0])


def bend_groups(
    gone: Any, gap: Any, total: Any, of: Groups, side: Any, count: int, m: Ops
) -> tuple[HalfAngle, list[HalfAngle]]:
    """The half angles of the first group off the line (of any length), and of each bone off the first group, for a limb
    that goes ``gone``, which is ``total`` less ``gap``; ``side`` is -1 for the mirror image."""
    room = of.slack + of.span * of.closing[1] * of.closing[1]  # L^2 - d0^2
    left = gap * (total + gone)  # L^2 - d^2
    share = m.minimum(left / (room + m.tiny), 1.0)
    a, first, third = _bent(of.first, share, m)
    b, second, fourth = _bent(of.second, share, m)
    # (a + b)^2 - d^2, all in proportion to s: nothing cancels at full reach.
    va, vb = (each.product * each.bend[1] * each.bend[1] for each in (of.first, of.second))
    la, lb = of.first.total, of.second.total
    mixed = (va * lb * lb + vb * la * la - share * va * vb) / (la * lb + a * b + m.folded)
    far = m.maximum(share * (room - va - vb - 2.0 * mixed) + m.maximum(left - room, 0.0), 0.0)
    longer, shorter = m.maximum(gone + (a - b), 0.0), m.maximum(gone - (a - b), 0.0)
    reach = a + b + gone + m.tiny
    knee_cos, knee_sin, cosine, sine = turns(reach, far / reach, longer, shorter, 1.0, m)
    knee = (knee_cos, -knee_sin)
    ways = [first, plus(knee, second), third, plus(knee, fourth)][:count]
    return (cosine, side * sine), [(c, side * s) for c, s in ways]


def _bent(of: Group, share: Any, m: Ops) -> tuple[Any, HalfAngle, HalfAngle]:
    """The length of a group, and the half angles (unit) of its bones off the line of both."""
    sine = m.sqrt(share) * of.bend[1]
    cosine = m.sqrt(m.maximum(1.0 - sine * sine, 0.0))
    length = m.sqrt(of.difference * of.difference + of.product * cosine * cosine)
    along = (length + of.total) * cosine + m.tiny
    first = unit_half((along, (length - of.difference) * sine), m)
    last = unit_half((along, -(length + of.difference) * sine), m)
    return length, first, last


def limited_range(
    lengths: Sequence[float], ways: Sequence[HalfAngle], min_cos2: float, max_cos2: float
) -> tuple[float, float]:
    """Between which distances from root to tip, around that at rest, all inner angles of the joints are within their
    limits, each given as the squared cosine of its half; by trying, for floats."""
    of, total = groups_of(lengths, ways, FLOATS), sum(lengths)
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

    rest = FLOATS.sqrt(max(total * total - of.slack - of.span * of.closing[1] ** 2, 0.0))
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
