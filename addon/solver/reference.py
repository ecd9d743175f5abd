"""The geometry of a limb in its reference pose, as the solver takes it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from .groups import SegmentGroups, groups_of, nearest_of, unit_half
from .ops import Number, Ops
from .rotation import HalfAngle, Quaternion, Vector, components, cross, minus, unit
from .triangle import Bones, bones_of_lengths

Axes = tuple[Vector, Vector, Vector]


class Reference(NamedTuple):
    """A limb in its reference pose; every number is a float, or an array with a row for each limb."""

    lengths: tuple[Any, ...]
    bones: Bones
    half_angles: tuple[HalfAngle, ...]  # of each bone off the line
    axis_corrections: tuple[HalfAngle, ...]  # of each bone but the first: the one before it off that
    first_axes: Axes  # the first bone's x, y and z axes, unit vectors in G
    normals: tuple[Vector, ...]  # the bend plane's, in the axes of each bone but the first
    reference_rotations: tuple[Quaternion, ...]  # the bones' own local rotations
    # Both for forward kinematics only: to the next joint, in the axes of each bone but the first; and how far each bone
    # goes out of the plane, which the lengths lie in.
    bone_directions: tuple[Vector, ...]
    plane_offsets: tuple[Any, ...]
    # From each joint to the next, unit vectors: in the bone's own axes; and of each bone but the last, in the axes that
    # the bone below it has in the reference pose.
    lines: tuple[Vector, ...]
    lines_above: tuple[Vector, ...]
    groups: SegmentGroups | None  # of more than two bones


def reference(
    lengths: Sequence[Any],
    half_angles: Sequence[HalfAngle],
    first_axes: Axes,
    normals: Sequence[Vector],
    reference_rotations: Sequence[Quaternion],
    ops: Ops,
    bone_directions: Sequence[Vector],
    plane_offsets: Sequence[Any] = (0.0, 0.0, 0.0, 0.0),
    is_zigzag: bool = True,
) -> Reference:
    """A limb in its reference pose, from lengths and half angles of its bones. Half angles, normals and
    ``bone_directions`` are of any length.

    ``bone_directions`` are made square to the normals; a bone that points at its next joint has it along its y axis.
    ``is_zigzag`` says which of more than two bones keep together, see `groups`: the same in all rows.
    """
    normals = [unit(normal, (0.0, 0.0, 1.0), ops) for normal in normals]
    across = [unit(cross(*pair), (1.0, 0.0, 0.0), ops) for pair in zip(normals, bone_directions, strict=True)]
    half_angles = [unit_half(half, ops) for half in half_angles]
    groups = groups_of(lengths, half_angles, is_zigzag, ops) if len(lengths) > 2 else None
    pair = bones_of_lengths(lengths[0], lengths[1], ops)
    bone_directions = [cross(*pair) for pair in zip(across, normals, strict=True)]
    lines = _lines(lengths, half_angles, plane_offsets, ops)
    axes = [first_axes, *(_axes(*of_bone) for of_bone in zip(half_angles[1:], bone_directions, normals, strict=True))]
    return Reference(
        lengths=tuple(lengths),
        bones=pair if groups is None else Bones(sum(lengths) + ops.tiny, 0.0, nearest_of(groups, ops)),
        half_angles=tuple(half_angles),
        axis_corrections=tuple(minus(before, after) for before, after in pairwise(half_angles)),
        first_axes=first_axes,
        normals=tuple(normals),
        reference_rotations=tuple(reference_rotations),
        bone_directions=tuple(bone_directions),
        plane_offsets=tuple(plane_offsets),
        lines=tuple(components(*pair) for pair in zip(lines, axes, strict=True)),
        lines_above=tuple(components(*pair) for pair in zip(lines[:-1], axes[1:], strict=True)),
        groups=groups,
    )


def reference_direction(cosine: Number, sine: Number) -> Vector:
    """The y axis turned about Z by an angle, of which this is the cosine and sine of half."""
    return -2.0 * cosine * sine, cosine * cosine - sine * sine, 0.0


def _lines(lengths: Sequence[Any], half_angles: Sequence[HalfAngle], offsets: Sequence[Any], ops: Ops) -> list[Vector]:
    """From each joint to the next in the reference pose, as unit vectors in G."""
    lines = []
    for length, half, offset in zip(lengths, half_angles, offsets, strict=False):
        x, y, _ = reference_direction(*half)
        lines.append(unit((x * length, y * length, offset), (x, y, 0.0), ops))
    return lines


def _axes(half: HalfAngle, along: Vector, normal: Vector) -> Axes:
    """The axes of a bone in the reference pose, in G: of one that is off the line by ``half``, and has in its own axes
    its direction ``along`` the bend plane and the plane's ``normal``."""
    x, y, _ = reference_direction(*half)
    across = cross(normal, along)
    return tuple((a * x - b * y, a * y + b * x, c) for a, b, c in zip(along, across, normal, strict=True))  # type: ignore[return-value]
