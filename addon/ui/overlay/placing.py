"""Where everything of limbs is that is drawn: the rows of `figure`'s table, of all limbs at once, as calls of NumPy are
what costs."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from ...solver.ops import Array
from ...solver.triangle import Settings
from .figure import CROSS, CROSS_SIZE, KNEE, ROOT, TARGET, TIP, Place

NO_PLANE = 1e-3
"""The sine of a knee's turn up to which its bones do not tell in which plane they bend."""

NO_SIZE = 1e-200
"""Less than what any limb has that is not scaled to nothing or folded, in the sixth power of its size."""


class Bends(NamedTuple):
    """How the other solution is got from one: where the line from root to tip is turned by an angle off the upper bone,
    the other knee is turned by twice that, but for what it swings out of the plane: the cosine of an angle of which the
    bend is that of half, and 1 more; how far it is raised out of the plane, and whether any limb's is."""

    kept: Array
    onward: Array
    raised: Array
    swings: bool

    @classmethod
    def of(cls, settings: Sequence[Settings]) -> Bends:
        """From the bends and the sides that knees swing to."""
        bend, side = np.array([(each.bend, each.swing_side) for each in settings]).reshape(-1, 2).T
        raised = 2.0 * bend * side * np.sqrt(np.maximum(1.0 - bend * bend, 0.0))
        onward = 2.0 * bend * bend
        return cls(onward - 1.0, onward, raised, bool(raised.any()))


def bend_axes(shapes: Sequence[Any]) -> Array:
    """Along the unturned upper bones, across them in the bend plane, and the axes that the limbs bend about, as rows
    ``(n, 3, 3)``; of the ``limb`` and the ``settings`` of each.

    Between bends of 1 and -1 these axes have swung about the bone.
    """
    axes = np.array([shape.limb.axes for shape in shapes]).reshape(-1, 3, 3)
    turns = np.zeros((len(shapes), 3, 3))
    for turn, shape in zip(turns, shapes, strict=True):
        bend = shape.settings.bend
        swing = shape.settings.swing_side * sqrt(max(1.0 - bend * bend, 0.0))
        turn[:] = ((1.0, 0.0, 0.0), (0.0, bend, swing), (0.0, -swing, bend))
    swung: Array = turns @ axes
    return swung


def place_missed(rows: Array, is_missed: Array) -> None:
    """Put the targets that are missed, and how large their crosses are."""
    rows[:, Place.MISSED] = rows[:, TIP]
    rows[:, CROSS_SIZE, 3] = 0.0
    if is_missed.any():
        rows[is_missed, Place.MISSED] = rows[is_missed, TARGET]
        rows[is_missed, CROSS_SIZE, 3] = CROSS * rows[is_missed, 0, 3]


def place_other(places: Array, plane: Array, joints: Sequence[Array], bends: Bends) -> None:
    """Put the limbs' other solutions, and the directions of their bend planes ``(n, 3, 3)``, whose first two axes need
    not be square; from roots, knees and tips as they are solved."""
    root, knee, tip = joints
    sides = np.empty((len(places), 4, 3))
    sides[:, :2] = plane[:, :2]
    np.subtract(knee, root, out=sides[:, 2])
    np.subtract(tip, root, out=sides[:, 3])
    (aa, ab, upper, a), (_, bb, _, b) = (sides[:, :2] @ sides.transpose(0, 2, 1)).transpose(1, 2, 0)
    x: Array = bb * a - ab * b  # of the line from root to tip, in any unit
    y: Array = aa * b - ab * a
    xx, yy = x * x, y * y
    square: Array = xx + yy
    length = upper / np.maximum(square * aa, NO_SIZE)
    turned = np.zeros((len(places), 1, 3))
    turned[:, 0, 0] = length * (xx - yy * bends.kept)
    turned[:, 0, 1] = length * x * y * bends.onward
    if bends.swings:
        turned[:, 0, 2] = length * -y * np.sqrt(square) * bends.raised
    places[:, Place.OTHER_KNEE] = root + (turned @ plane)[:, 0]
    places[:, Place.OTHER_TIP] = tip
    places[:, Place.ALONG : Place.ACROSS + 1] = sides[:, :2]


def place_tinted(places: Array, aside: Array) -> None:
    """Put the planes of limbs whose bones are all that is drawn: their own, or of those that are straight, the one with
    this axis of the upper bone."""
    upper = places[:, KNEE] - places[:, ROOT]
    lower = places[:, TIP] - places[:, KNEE]
    squares, product = dot(upper, upper) * dot(lower, lower), dot(upper, lower)
    is_bent = squares - product * product > NO_PLANE * NO_PLANE * squares
    places[:, Place.ALONG], places[:, Place.ACROSS] = upper, np.where(is_bent[:, None], lower, aside)


def dot(one: Array, other: Array) -> Array:
    """Of rows of vectors; as quick for few as for many."""
    return np.einsum("ij,ij->i", one, other)  # type: ignore[no-any-return]
