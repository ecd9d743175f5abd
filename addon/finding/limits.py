"""Limits of joints about their hinge, as rigs have them: of Blender's IK, and of *Limit Rotation* about one axis."""

from __future__ import annotations

from collections.abc import Iterator
from math import copysign, pi
from typing import Any

from bpy.types import PoseBone

from ..limb.rest_geometry import RestGeometry
from ..limb.settings import UNLIMITED

RIGHT_ANGLE = 1e-3
"""By how much the cosine of the angle between an axis and the hinge may be off 1."""


def limits_by_ik(bone: PoseBone) -> Iterator[tuple[str, float, float]]:
    """The axes about which a bone has IK limits, from and to: half a turn to either side is none."""
    for axis in "xyz":
        if not getattr(bone, f"lock_ik_{axis}") and getattr(bone, f"use_ik_limit_{axis}"):
            low, high = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
            if low > -UNLIMITED or high < UNLIMITED:
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
    """The settings of a limb of two bones whose ``k``-th may be turned from rest about one of its axes, from and to;
    None where that is not about the hinge, or the first one's in another plane than a hinge's."""
    about, *ends = limit
    along = float(geometry.normals[k]["xyz".index(about)])
    if len(geometry.lengths) > 2 or abs(along) < 1.0 - RIGHT_ANGLE or not (k or plane == "HINGE"):
        return None
    low, high = sorted(copysign(1.0, along) * end for end in ends)
    if k == 0:
        return {"root_min_angle": max(low, -pi), "root_max_angle": min(high, pi)}
    straight = geometry.angles[0] - geometry.angles[1]  # a turn about the normal takes as much from the knee's
    bends = (low - straight, high - straight) if not flip else (straight - high, straight - low)
    least, most = (min(max(pi + bend, 0.0), pi) for bend in bends)
    return {"min_angle": least, "max_angle": most}
