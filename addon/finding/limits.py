"""Limits of joints about their hinge, as rigs have them: of Blender's IK, and of *Limit Rotation* about one axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import atan2, copysign, cos, pi, remainder, sin, tau
from typing import Any

import numpy as np
from bpy.types import PoseBone

from ..limb.rest_geometry import RestGeometry, turns_about
from ..limb.tolerances import ROUNDING
from ..solver import groups, matrices, solve_limb

ABOUT, NEARLY = 0.999, 0.95
"""The cosine from which on an axis is the hinge that a first bone turns about; and a knee, whose axis may be a bit off
the normal of the joints' plane on models of MMD."""


def limits_by_ik(bone: PoseBone) -> Iterator[tuple[str, float, float]]:
    """The axes about which a bone has IK limits, from and to: half a turn to either side is none."""
    for axis in "xyz":
        if turns_about(bone, axis) and getattr(bone, f"use_ik_limit_{axis}"):
            low, high = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
            if low > -groups.UNLIMITED or high < groups.UNLIMITED:
                yield axis, low, high


def limit_of(constraint: Any) -> tuple[str, float, float] | None:
    """The axis about which a *Limit Rotation* lets a bone turn, from and to; None where it is another constraint, or
    leaves several axes or none."""
    if constraint.type != "LIMIT_ROTATION" or constraint.owner_space != "LOCAL" or constraint.influence < 1.0:
        return None
    ranges = {axis: (getattr(constraint, f"min_{axis}"), getattr(constraint, f"max_{axis}")) for axis in "xyz"}
    limited = [axis for axis in "xyz" if getattr(constraint, f"use_limit_{axis}")]
    turning = [axis for axis in limited if ranges[axis][1] > ranges[axis][0]]
    return (turning[0], *ranges[turning[0]]) if len(turning) == 1 else None


def joint_limits(
    geometry: RestGeometry, k: int, limit: tuple[str, float, float], plane: str, flip: bool
) -> dict[str, float] | None:
    """The settings of a limb whose ``k``-th bone may be turned from rest about one of its axes, from and to; None where
    that is not about the hinge, or the first bone's in another plane than a hinge's. Of three or four bones, see
    `limits_of_knees`."""
    about, *ends = limit
    place = "xyz".index(about)
    along = float(geometry.normals[k][place])
    if abs(along) < (NEARLY if k else ABOUT) or (k == 0 and (plane != "HINGE" or len(geometry.lengths) > 2)):
        return None
    low, high = sorted(copysign(1.0, along) * end for end in ends)
    if k == 0:
        return {"root_min_angle": max(low, -pi), "root_max_angle": min(high, pi)}
    side = 1.0 if (geometry.angles[k - 1] >= geometry.angles[k]) != flip else -1.0
    bends = sorted(side * _bend_at(geometry, k, place, copysign(1.0, along) * end) for end in (low, high))
    least, most = (min(max(pi + bend, 0.0), pi) for bend in bends)
    return {"min_angle": least, "max_angle": most}


def _bend_at(geometry: RestGeometry, k: int, place: int, turn: float) -> float:
    """How far the ``k``-th bone is bent off the one above, against the clock about the normal, turned from rest by so
    much about one of its axes: within half a turn of that."""
    axis, half = np.eye(3)[place], turn / 2.0
    turned = geometry.reference[k] @ matrices.rotation((cos(half), *(sin(half) * axis)))
    above = geometry.reference[k - 1][:3, :3] @ geometry.bone_directions[k - 1]
    below = turned[:3, :3] @ geometry.bone_directions[k]
    angle = atan2(float(matrices.cross_array(above, below) @ geometry.frame[:3, 2]), float(above @ below))
    near = copysign(turn, turn * float(geometry.normals[k][place])) + geometry.angles[k] - geometry.angles[k - 1]
    return near + remainder(angle - near, tau)


def limits_of_knees(geometry: RestGeometry, ranges: Sequence[tuple[int, float, float]]) -> dict[str, float]:
    """The settings of a limb of three or four bones, which has the same limits for all its knees, with which it stops
    where some bones, each by its place and the least and most of the inner angle at its head, are at theirs."""
    directions = [(-sin(angle), cos(angle)) for angle in geometry.angles]
    at_rest = sum(length * y for length, (_, y) in zip(geometry.lengths, directions, strict=True))

    def inner(distance: float) -> list[float]:
        bones = solve_limb((0.0, distance), geometry.lengths, directions).directions
        return [pi - atan2(abs(a * d - b * c), a * c + b * d) for (a, b), (c, d) in pairwise(bones)]

    def is_within(angles: list[float]) -> bool:
        return all(least - ROUNDING <= angles[k - 1] <= most + ROUNDING for k, least, most in ranges)

    limits = {"min_angle": 0.0, "max_angle": pi}
    for name, end, narrowest in (("min_angle", 0.0, min), ("max_angle", sum(geometry.lengths), max)):
        if not is_within(inner(end)):
            inside, outside = at_rest, end
            for _ in range(50):
                middle = (inside + outside) / 2.0
                inside, outside = (middle, outside) if is_within(inner(middle)) else (inside, middle)
            limits[name] = narrowest(inner(inside))
    return limits
