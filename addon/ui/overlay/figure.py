"""What there is to see of limbs, as numbers: rings, areas and lines in the world, one row of arrays for each limb.

Everything is there for every limb, so that all limbs are worked out at once; what a limb lacks has no extent. What
lines mean is told by their dashes and by where they are, and not by their colour alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cache, lru_cache
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


class Limbs(NamedTuple):
    """Limbs as they stand. Places are in the world, ``(n, 3)``; what a limb lacks is at its root.

    ``along`` and ``across`` are two unit vectors of the frame F as they are in the world: along the solved upper bone,
    and across it in the bend plane. So a circle about the root is one in F, whatever carries the limb.
    ``solved``, ``other`` and ``own`` are knee and tip ``(n, 2, 3)``; ``radii`` is what `radii` gives, ``(n, 11)``.
    """

    root: Array
    knee: Array
    tip: Array
    target: Array
    pole: Array
    along: Array
    across: Array
    other: Array
    solved: Array
    own: Array
    radii: Array
    is_missed: Array


class Drawing(NamedTuple):
    """Vertices ``(v, 3)``, the role of each, and the indices that join them: in pairs, or in threes for areas."""

    vertices: Array
    roles: Array
    indices: Array


RING_ROLES = (Role.REACH,) * 2 + (Role.LIMIT,) * 4 + (Role.SOFT,) * 2 + (Role.LIMIT,)
"""Of the rings that lines are made of: straight and folded; from and to of what the smallest and what the largest knee
angle take away, and of softness; where hatches begin. After them come the nearest and the farthest that the tip goes.
"""

AREAS = ((9, 10, Role.REACH), (2, 3, Role.LIMIT), (4, 5, Role.LIMIT), (6, 7, Role.SOFT))
"""Rings between which there is an area."""

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
    ("root", "target", SOLID, Role.LINE),
    ("knee", "pole", LONG, Role.POLE),
    ("root", "other_knee", DASHED, Role.OTHER),
    ("other_knee", "other_tip", DASHED, Role.OTHER),
    ("root", "solved_knee", SOLID, Role.SOLUTION),
    ("solved_knee", "solved_tip", SOLID, Role.SOLUTION),
    ("root", "own_knee", DOTTED, Role.OWN),
    ("own_knee", "own_tip", DOTTED, Role.OWN),
    ("tip", "target_if_missed", SOLID, Role.MISS),
    ("cross_a", "cross_b", SOLID, Role.MISS),
    ("cross_c", "cross_d", SOLID, Role.MISS),
)
"""All straight lines of a limb: from where to where, how broken, and what they mean."""

ENDS = tuple(dict.fromkeys(end for leg in LEGS for end in leg[:2]))


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


def other_side(knee: Array, tip: Array, bend: Array, swing_side: Array) -> Array:
    """The knees of the solutions with the bend reversed, from knees and tips along the axes of the bend plane.

    Knees and tips are ``(n, 2)``. The result is ``(n, 3)``, the third component along the plane's normal: between bends
    of 1 and -1 the knee has swung out of the plane in which the reversed one lies.
    """
    x, y = tip[:, 0], tip[:, 1]
    size = np.sqrt(x * x + y * y)
    is_apart = size > 0.0
    size = np.where(is_apart, size, 1.0)
    x, y = np.where(is_apart, x / size, 1.0), np.where(is_apart, y / size, 0.0)
    onward, aside = knee[:, 0] * x + knee[:, 1] * y, knee[:, 1] * x - knee[:, 0] * y
    turned = aside * (1.0 - 2.0 * bend * bend)
    raised = aside * 2.0 * bend * swing_side * np.sqrt(np.maximum(1.0 - bend * bend, 0.0))
    return np.stack([onward * x - turned * y, onward * y + turned * x, raised], axis=1)


def areas(limbs: Limbs, segments: int) -> Drawing:
    """Translucent: the reach, what limits take from it, the soft zone, and the bones."""
    count = len(limbs.root)
    rings = _rings(limbs, [ring for inner, outer, _ in AREAS for ring in (inner, outer)], segments)
    vertices = np.concatenate([rings.reshape(count, -1, 3), _kites(limbs)], axis=1)
    return Drawing(vertices.reshape(-1, 3), *_repeated(_area_pattern, count, segments))


def lines(limbs: Limbs, segments: int) -> Drawing:
    """Rings and straight lines."""
    count = len(limbs.root)
    rings = _rings(limbs, list(range(len(RING_ROLES))), segments).reshape(count, -1, 3)
    vertices = np.concatenate([rings, _shares() @ _ends(limbs)], axis=1)
    return Drawing(vertices.reshape(-1, 3), *_repeated(_line_pattern, count, segments))


def _rings(limbs: Limbs, which: Sequence[int], segments: int) -> Array:
    """Points ``(n, rings, segments, 3)``."""
    cosines, sines = _circle(segments)
    spokes = cosines * limbs.along[:, None] + sines * limbs.across[:, None]
    return limbs.radii[:, which, None, None] * spokes[:, None] + limbs.root[:, None, None]  # type: ignore[no-any-return]


@cache
def _circle(segments: int) -> tuple[Array, Array]:
    angles = np.arange(segments) * (2.0 * np.pi / segments)
    return np.cos(angles)[:, None].astype(np.float32), np.sin(angles)[:, None].astype(np.float32)


def _ends(limbs: Limbs) -> Array:
    """Where the straight lines begin and end, ``(n, len(ENDS), 3)``."""
    missed = limbs.is_missed[:, None]
    size = missed * CROSS * limbs.radii[:, :1]
    one, two = size * (limbs.along + limbs.across), size * (limbs.along - limbs.across)
    goal = limbs.target
    places = {
        "root": limbs.root,
        "knee": np.where((limbs.pole == limbs.root).all(axis=1, keepdims=True), limbs.root, limbs.knee),
        "pole": limbs.pole,
        "target": goal,
        "tip": limbs.tip,
        "target_if_missed": np.where(missed, goal, limbs.tip),
        "cross_a": goal - one,
        "cross_b": goal + one,
        "cross_c": goal - two,
        "cross_d": goal + two,
    }
    for name in ("other", "solved", "own"):
        pair = getattr(limbs, name)
        places[f"{name}_knee"], places[f"{name}_tip"] = pair[:, 0], pair[:, 1]
    return np.stack([places[end] for end in ENDS], axis=1)


def _kites(limbs: Limbs) -> Array:
    """The outlines of both bones in the bend plane, ``(n, 8, 3)``: head, one side, tail, the other side of each."""
    normal = np.cross(limbs.along, limbs.across)
    corners = []
    for head, tail in ((limbs.root, limbs.knee), (limbs.knee, limbs.tip)):
        aside = np.cross(normal, tail - head)
        aside *= WIDTH / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        wide = head + 0.2 * (tail - head)
        corners += [head, wide + aside, tail, wide - aside]
    return np.stack(corners, axis=1)


@lru_cache(maxsize=4)
def _repeated(pattern: Callable[[int], tuple[Array, Array]], count: int, segments: int) -> tuple[Array, Array]:
    """The roles and indices of this many limbs with the same pattern, one after the other."""
    roles, indices = pattern(segments)
    starts = np.arange(count, dtype=np.int32)[:, None, None] * len(roles)
    return np.tile(roles, count), (indices + starts).reshape(-1, indices.shape[1])


@cache
def _shares() -> Array:
    """What share each vertex of the straight lines has in each of `ENDS`."""
    rows = []
    for start, end, (dashes, drawn), _ in LEGS:
        for share in (at / dashes for dash in range(dashes) for at in (dash, dash + drawn)):
            row = dict.fromkeys(ENDS, 0.0)
            row[start] += 1.0 - share
            row[end] += share
            rows.append(list(row.values()))
    return np.array(rows, np.float32)


@cache
def _line_pattern(segments: int) -> tuple[Array, Array]:
    """The roles of a limb's vertices and the pairs that are joined."""
    following = [(i, (i + 1) % segments) for i in range(segments)]
    pairs: list[tuple[int, int]] = []
    for ring, role in enumerate(RING_ROLES[:-1]):
        step = {Role.REACH: 1, Role.LIMIT: 2, Role.SOFT: 3}[role]
        pairs += [(ring * segments + i, ring * segments + j) for i, j in following[::step]]
    for inner, outer in HATCHES:
        pairs += [(inner * segments + i, outer * segments + i) for i in range(0, segments, 2)]
    roles = [role for role in RING_ROLES for _ in range(segments)]
    first = len(roles)
    for _, _, (dashes, _), role in LEGS:
        roles += [role] * (2 * dashes)
    pairs += [(i, i + 1) for i in range(first, len(roles), 2)]
    return np.array(roles), np.array(pairs, np.int32)


@cache
def _area_pattern(segments: int) -> tuple[Array, Array]:
    """The same for areas, joined in threes."""
    threes: list[tuple[int, int, int]] = []
    roles: list[Role] = []
    for number, (_, _, role) in enumerate(AREAS):
        inner, outer = 2 * number * segments, (2 * number + 1) * segments
        for i in range(segments):
            j = (i + 1) % segments
            threes += [(inner + i, outer + i, outer + j), (inner + i, outer + j, inner + j)]
        roles += [role] * (2 * segments)
    first = len(roles)
    threes += [(first + i, first + i + 1, first + i + 2) for i in (0, 4)]
    threes += [(first + i, first + i + 2, first + i + 3) for i in (0, 4)]
    return np.array([*roles, *[Role.BONE] * 8]), np.array(threes, np.int32)
