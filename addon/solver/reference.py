"""The shape of a limb in its reference pose, as the solver takes it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .groups import Groups, groups_of, minus, nearest_of, unit_half
from .ops import Ops
from .rotation import HalfAngle, Quaternion, Vector, cross, unit
from .triangle import Bones, bones

Axes = tuple[Vector, Vector, Vector]


class Reference(NamedTuple):
    """The limb's shape in its reference pose; every number is a float, or an array with a row for each limb."""

    lengths: tuple[Any, ...]
    bones: Bones
    ways: tuple[HalfAngle, ...]  # of each bone off the line
    axis_corrections: tuple[HalfAngle, ...]  # of each bone but the first: the one before it off that
    first_axes: Axes  # the first bone's x, y and z axes, unit vectors in G
    normals: tuple[Vector, ...]  # the bend plane's, in the axes of each bone but the first
    reference_rotations: tuple[Quaternion, ...]  # the bones' own local rotations
    bone_directions: tuple[
        Vector, ...
    ]  # to the next joint, in the axes of each bone but the first; forward kinematics need it
    plane_offsets: tuple[
        Any, ...
    ]  # of each bone out of the plane, which the lengths lie in; for forward kinematics, too
    groups: Groups | None  # of more than two bones


def reference(
    lengths: Sequence[Any],
    ways: Sequence[HalfAngle],
    first_axes: Axes,
    normals: Sequence[Vector],
    reference_rotations: Sequence[Quaternion],
    m: Ops,
    bone_directions: Sequence[Vector],
    plane_offsets: Sequence[Any] = (0.0, 0.0, 0.0, 0.0),
    is_zigzag: bool = True,
) -> Reference:
    """A limb's shape, from what is measured; half angles, normals and ``bone_directions`` are of any length.

    ``bone_directions`` are made square to the normals; a bone that points at its next joint has it along its y axis.
    ``is_zigzag`` says which of more than two bones keep together, see `groups`: the same in all rows.
    """
    normals = [unit(normal, (0.0, 0.0, 1.0), m) for normal in normals]
    across = [unit(cross(*pair), (1.0, 0.0, 0.0), m) for pair in zip(normals, bone_directions, strict=True)]
    ways = [unit_half(half, m) for half in ways]
    groups = groups_of(lengths, ways, is_zigzag, m) if len(lengths) > 2 else None
    of = bones(lengths[0], lengths[1], m)
    return Reference(
        tuple(lengths),
        of if groups is None else Bones(sum(lengths) + m.tiny, 0.0, nearest_of(groups, m)),
        tuple(ways),
        tuple(minus(before, after) for before, after in pairwise(ways)),
        first_axes,
        tuple(normals),
        tuple(reference_rotations),
        tuple(cross(*pair) for pair in zip(across, normals, strict=True)),
        tuple(plane_offsets),
        groups,
    )
