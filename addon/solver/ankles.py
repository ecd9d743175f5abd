"""The ankle with which a limb of three or four bones stands in a pose: what the solver does, backwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import acos, atan2, cos, hypot, pi, remainder, sin, sqrt, tau
from typing import Any

from .groups import slack_at_rest, with_ankle
from .ops import FLOATS
from .reference import Reference
from .rotation import Quaternion, conjugate, dot, multiply

TRIES, HALVINGS = 64, 40
"""In how many parts of a turn an ankle is looked for that no formula gives, and how often each is halved."""


def ankles_of(reference: Reference, turns: Sequence[Quaternion], distance: float, side: float) -> Iterator[float]:
    """The ankles that may give a limb the bend between its last bone and the one that keeps together with it, first
    none, by the bones' own turns, the distance from root to tip, and the side that the knee is on."""
    yield 0.0
    if reference.groups is None:
        return
    bends = []
    for at_rest, turn, normal, (cosine, sine) in zip(
        reference.reference_rotations[1:], turns[1:], reference.normals, reference.axis_corrections, strict=True
    ):  # each bone against the one before, about the normal
        w, *about = multiply(conjugate(at_rest), turn)
        bends.append(2.0 * (atan2(dot((about[0], about[1], about[2]), normal), w) - atan2(sine, cosine)))
    bend = -side * remainder(sum(bends[-2:]) if reference.groups.is_zigzag else bends[-1], tau)
    yield from _by_share(reference, bend, distance)
    if not reference.groups.is_zigzag:
        yield from _by_halving(reference, bend, distance)


def _by_share(reference: Reference, bend: float, distance: float) -> list[float]:
    """Of ``bend``, the sine of half is the root of the share s times that of half the rest's bend less the ankle a.
    With s = (L^2 - d^2) / (unclosed + c sin^2((closing + a) / 2)), see `Groups`::

        sin^2(bend / 2) (unclosed + c sin^2((closing + a) / 2)) = (L^2 - d^2) sin^2((rest - a) / 2)

    With sin^2(x / 2) = (1 - cos x) / 2, u = sin^2(bend / 2) c / 2 and v = (L^2 - d^2) / 2, that is::

        p cos a + q sin a = v - u - sin^2(bend / 2) unclosed
        p = v cos rest - u cos closing,  q = v sin rest + u sin closing

    Or s is 1, and the ankle is what lacks of the rest's bend."""
    groups: Any = reference.groups
    group = groups.first if groups.is_zigzag and len(reference.lengths) % 2 else groups.second
    rest, closing = (2.0 * atan2(half[1], half[0]) for half in (group.bend, groups.closing))
    slack, square = max(reference.bones.total**2 - distance * distance, 0.0), sin(bend / 2.0) ** 2
    u, v = square * groups.slack_closing / 2.0, slack / 2.0
    p = v * cos(rest) - u * cos(closing)
    q = v * sin(rest) + u * sin(closing)
    size = hypot(p, q)
    ankles = [rest - bend]
    if size > 1e-12 * reference.bones.total**2:
        middle = atan2(q, p)
        off = acos(min(max((v - u - square * groups.slack_unclosed) / size, -1.0), 1.0))
        ankles += [middle + off, middle - off]
    return [remainder(angle, tau) for angle in ankles]


def _by_halving(reference: Reference, bend: float, distance: float) -> Iterator[float]:
    """The same by trying, where neighbours bend as far as they go, and the share depends on the ankle in another
    way."""
    groups: Any = reference.groups
    slack = max(reference.bones.total**2 - distance * distance, 0.0)

    def error(ankle: float) -> float:
        now = with_ankle(groups, (cos(ankle / 2.0), sin(ankle / 2.0)), len(reference.lengths), FLOATS)
        share = min(slack / (slack_at_rest(now) + FLOATS.tiny), now.largest_share)
        return sqrt(share) * float(now.second.bend[1]) - sin(bend / 2.0)

    tried = [pi * (2.0 * k / TRIES - 1.0) for k in range(TRIES + 1)]
    for (start, at_start), (end, at_end) in pairwise([(ankle, error(ankle)) for ankle in tried]):
        if at_start * at_end <= 0.0:
            near, step = start, end - start
            for _ in range(HALVINGS):
                step *= 0.5
                near += step if error(near + step) * at_start > 0.0 else 0.0
            yield near
