"""What there is to see of limbs, as numbers: a table with a row of places for each limb, and a pattern of triangles
that says of which places of its row each corner is made.

The pattern stays as it is while limbs move; the table is all that is worked out anew, of all limbs at once. What a limb
lacks has no extent. What lines mean is told by their dashes and by where they are, and not by their colour alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from ...solver.ops import FLOATS, Array
from ...solver.triangle import Bones, Settings, limited_range


class Role(IntEnum):
    """What a part of the picture stands for; the place of its colour in a palette."""

    REACH = 0  # from folded to straight
    LIMIT = 1  # what the knee's limits take from that
    SOFT = 2  # where softness acts
    LINE = 3  # from root to target
    OTHER = 4  # the solution on the other side
    SOLUTION = 5  # the solution itself, while the pose is not all of it
    OWN = 6  # the animator's own (FK) pose, while the pose is not all of it
    POLE = 7
    MISS = 8  # from the tip to the target that it does not reach
    BONE = 9  # the posed bones, tinted


class Place(IntEnum):
    """The columns of a limb's row: places in the world, which of what a limb lacks matter to nobody, and at the end two
    directions.

    ``ALONG`` and ``ACROSS`` are two unit vectors of the frame F as they are in the world: along the solved upper bone,
    and across it in the bend plane. So a circle about the root is one in F, whatever carries the limb.
    """

    ROOT = 0
    KNEE = 1
    TIP = 2
    TARGET = 3
    POLE = 4
    POLED_KNEE = 5  # the root, as the pole is, without a pole
    OTHER_KNEE = 6
    OTHER_TIP = 7
    SOLVED_KNEE = 8
    SOLVED_TIP = 9
    OWN_KNEE = 10
    OWN_TIP = 11
    MISSED = 12  # the target, or the tip if that is there
    ALONG = 13
    ACROSS = 14


FIRST = 2
"""The rows of the table before the limbs': the colours of lines and of areas."""

ROOT, KNEE, TIP, TARGET = Place.ROOT, Place.KNEE, Place.TIP, Place.TARGET
CROSS_SIZE = 11
"""The column that has the size of the cross in its fourth number; those before have the radii there."""

RINGS = (
    *((number, Role.REACH, 1) for number in (0, 1)),
    *((number, Role.LIMIT, 2) for number in (2, 3, 4, 5)),
    *((number, Role.SOFT, 3) for number in (6, 7)),
)
"""The rings that are drawn as lines, by the number of their radius, and of how many segments one is drawn: straight and
folded; from and to of what the smallest and what the largest knee angle take away, and of softness."""

AREAS = ((9, 10, Role.REACH), (2, 3, Role.LIMIT), (4, 5, Role.LIMIT), (6, 7, Role.SOFT))
"""Rings between which there is an area; the last two radii are the nearest and the farthest that the tip goes."""

HATCHES = ((8, 3), (4, 5))
"""Rings between which limits are hatched."""

HATCH = 0.2
"""How far a hatch goes into what a limit takes away."""

CROSS = 0.04
"""Half the size of the cross on a missed target, in lengths of the limb."""

WIDTH = 0.06
"""Half the width of a tinted bone, in its own lengths."""

SOLID, LONG, DASHED, DOTTED = (1, 1.0), (6, 0.75), (12, 0.55), (20, 0.4)
"""How lines are broken: into how many dashes, and how much of each is drawn."""

LEGS = (
    (ROOT, TARGET, SOLID, Role.LINE),
    (Place.POLED_KNEE, Place.POLE, LONG, Role.POLE),
    (ROOT, Place.OTHER_KNEE, DASHED, Role.OTHER),
    (Place.OTHER_KNEE, Place.OTHER_TIP, DASHED, Role.OTHER),
    (ROOT, Place.SOLVED_KNEE, SOLID, Role.SOLUTION),
    (Place.SOLVED_KNEE, Place.SOLVED_TIP, SOLID, Role.SOLUTION),
    (ROOT, Place.OWN_KNEE, DOTTED, Role.OWN),
    (Place.OWN_KNEE, Place.OWN_TIP, DOTTED, Role.OWN),
    (TIP, Place.MISSED, SOLID, Role.MISS),
)
"""All straight lines of a limb: from where to where, how broken, and what they mean."""

ALWAYS = frozenset({Role.REACH, Role.LINE, Role.OTHER, Role.MISS, Role.BONE})
"""What every limb that is shown has; the rest is drawn only where some limb has it."""


class Pattern(NamedTuple):
    """Triangles of all limbs, by the corners ``(v, …)`` that they are made of.

    ``at`` is a corner's place and, of a line, ``to`` its other end, by four numbers: two columns of the limb's row,
    what share of the way from one to the other it is, and how far aside in the bend plane, in lengths of that way; or a
    circle's centre, -1 - the column of its radius, and how far the corner is along and across. ``part`` is the row, the
    `Role`, 1 for areas, and the side of the line, -1 or 1 at its start and twice that at its end; 0 for areas.
    """

    at: Array
    to: Array
    part: Array
    triangles: Array


def roles_in(rings: Array, is_blended: bool, is_poled: bool) -> frozenset[Role]:
    """What limbs with these `radii`, of which some are blended and some have a pole, have to show as a whole."""
    found = set(ALWAYS)
    if rings[:, 2:6].any():
        found.add(Role.LIMIT)
    if rings[:, 7].any():
        found.add(Role.SOFT)
    if is_blended:
        found |= {Role.OWN, Role.SOLUTION}
    if is_poled:
        found.add(Role.POLE)
    return frozenset(found)


@lru_cache(maxsize=1)
def pattern(shown: int, tinted: int, roles: frozenset[Role], segments: int) -> Pattern:
    """The triangles of as many limbs that are shown with these roles, and of as many more whose bones are tinted:
    first all areas, then all lines over them."""
    areas, lines = _Corners(), _Corners()
    bones = _Corners()
    _add_areas(areas, roles, segments)
    for start, end in ((ROOT, KNEE), (KNEE, TIP)):
        bones.add_kite(start, end)
    _add_rings(lines, roles, segments)
    for leg in LEGS:
        if leg[3] in roles:
            lines.add_leg(*leg)
    for x, y in ((1.0, 1.0), (1.0, -1.0)):
        ends = [(TARGET, -1 - CROSS_SIZE, share * x, share * y) for share in (-1.0, 1.0)]
        lines.add_line(ends[0], ends[1], Role.MISS)
    layers = [areas.repeated(shown), bones.repeated(shown + tinted), lines.repeated(shown)]
    firsts = np.cumsum([0, *(len(layer.at) for layer in layers[:-1])])
    triangles = [layer.triangles + first for layer, first in zip(layers, firsts, strict=True)]
    at, to, part = (np.concatenate([layer[i] for layer in layers]) for i in range(3))
    return Pattern(at, to, part, np.concatenate(triangles).astype(np.int32))


class _Corners:
    """What one limb's part of a pattern is made of."""

    def __init__(self) -> None:
        self._rows: list[tuple[float, ...]] = []
        self._triangles: list[tuple[int, int, int]] = []

    def add_line(self, start: _At, end: _At, role: Role) -> None:
        """A thin rectangle, as wide as the one who draws it wants."""
        first = len(self._rows)
        for side in (-1.0, 1.0):
            self._rows.append((*start, *end, 0.0, role, 0.0, side))
            self._rows.append((*end, *start, 0.0, role, 0.0, 2.0 * side))
        self._triangles += [(first, first + 1, first + 2), (first + 2, first + 1, first + 3)]

    def add_leg(self, start: Place, end: Place, look: tuple[int, float], role: Role) -> None:
        """A straight line in dashes."""
        dashes, drawn = look
        for dash in range(dashes):
            ends = [(start, end, share / dashes, 0.0) for share in (dash, dash + drawn)]
            self.add_line(ends[0], ends[1], role)

    def add_area(self, corners: Sequence[_At], triangles: Iterable[tuple[int, int, int]], role: Role) -> None:
        """Triangles, by their corners' numbers among these."""
        first = len(self._rows)
        self._rows += [(*corner, *corner, 0.0, role, 1.0, 0.0) for corner in corners]
        self._triangles += [(first + i, first + j, first + k) for i, j, k in triangles]

    def add_kite(self, head: Place, tail: Place) -> None:
        """A bone in the bend plane."""
        corners = ((0.0, 0.0), (0.2, WIDTH), (1.0, 0.0), (0.2, -WIDTH))
        self.add_area([(head, tail, *corner) for corner in corners], [(0, 1, 2), (0, 2, 3)], Role.BONE)

    def repeated(self, count: int) -> Pattern:
        """The same for the first limbs of the table."""
        rows = np.array(self._rows, np.float32).reshape(-1, 12)
        triangles = np.array(self._triangles, np.int32).reshape(-1, 3)
        starts = np.arange(count, dtype=np.int32)[:, None, None] * len(rows)
        all_rows = np.tile(rows, (count, 1))
        all_rows[:, 8] = np.repeat(np.arange(count), len(rows))
        return Pattern(all_rows[:, :4], all_rows[:, 4:8], all_rows[:, 8:], (triangles + starts).reshape(-1, 3))


_At = tuple[float, float, float, float]
"""A corner, as `Pattern` has it."""


def _on_ring(number: int, step: int, segments: int) -> _At:
    angle = step * 2.0 * pi / segments
    return ROOT, -1 - number, cos(angle), sin(angle)


def _add_areas(corners: _Corners, roles: frozenset[Role], segments: int) -> None:
    steps = [(2 * i, 2 * ((i + 1) % segments)) for i in range(segments)]
    triangles = [each for here, there in steps for each in ((here, here + 1, there + 1), (here, there + 1, there))]
    for inner, outer, role in AREAS:
        if role in roles:
            spokes = [_on_ring(ring, i, segments) for i in range(segments) for ring in (inner, outer)]
            corners.add_area(spokes, triangles, role)


def _add_rings(corners: _Corners, roles: frozenset[Role], segments: int) -> None:
    for ring, role, every in RINGS:
        for i in range(0, segments if role in roles else 0, every):
            corners.add_line(_on_ring(ring, i, segments), _on_ring(ring, i + 1, segments), role)
    for inner, outer in HATCHES:
        for i in range(0, segments if Role.LIMIT in roles else 0, 2):
            corners.add_line(_on_ring(inner, i, segments), _on_ring(outer, i, segments), Role.LIMIT)


@lru_cache(maxsize=4096)
def radii(bones: Bones, settings: Settings) -> tuple[float, ...]:
    """The radii of a limb's rings, in the unit of its bones; those of what is off are 0."""
    straight, folded = bones.total, bones.nearest
    near, far, _, _ = limited_range(bones, settings.min_cos2, settings.max_cos2, FLOATS)
    low = (folded, near) if settings.min_cos2 < 1.0 else (0.0, 0.0)
    high = (far, straight) if settings.max_cos2 > 0.0 else (0.0, 0.0)
    zone = settings.softness * straight
    soft = (max(far - zone, near), far + zone) if zone > 0.0 else (0.0, 0.0)
    return (straight, folded, *low, *high, *soft, low[1] + HATCH * (low[0] - low[1]), near, far)
