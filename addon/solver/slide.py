"""A bone that slides along its own line, and a rod from its end to the target: where a circle meets a line.

With the target's place along the line and beside it, and r the length of the rod::

    x = along ± sqrt((r + beside)(r - beside))        where the rod begins

on the side on which it is in the reference. Farther from the line than it is long, the rod is square to that. However
near the target comes, there is a place to slide to.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .ops import Ops
from .rotation import HalfAngle, half_angle, minus


class Slid(NamedTuple):
    """How far the first bone slides from the reference; the rod's turn off its line, against the clock, a half angle of
    any length; and how far the target is past where the rod reaches, below 0 in reach."""

    slide: Any
    rod: HalfAngle
    shortfall: Any


def slid(target: tuple[Any, Any], lengths: tuple[Any, ...], halves: tuple[HalfAngle, ...], side: Any, ops: Ops) -> Slid:
    """The slide and the rod for a target at (x, y) of G; ``halves`` are both bones' half angles in the reference, and
    ``side`` is -1 for the other side."""
    first, rod = lengths
    (cosine, sine), (x, y) = halves[0], target
    u, v = -2.0 * cosine * sine, cosine * cosine - sine * sine
    along, off = x * u + y * v, x * v - y * u
    beside = ops.minimum(ops.maximum(off, -rod), rod)
    cosine, sine = minus(halves[1], halves[0])
    ahead = side * ops.select(abs(cosine) >= abs(sine), 1.0, -1.0) * ops.sqrt((rod + beside) * (rod - beside))
    return Slid(along - ahead - first, half_angle(ahead, -beside, rod, ops), abs(off) - rod)
