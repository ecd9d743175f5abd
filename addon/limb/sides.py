"""What a limb on one side has in common with that on the other, so that Blender's own mirroring is right: the same
numbers give the mirror image."""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone

from ..blender.names import side_sign
from .settings import GROUP
from .storage import group_of

KEPT_ON = "kept_on"
"""What the group calls the side on which the limb was made and its axes were found: that of its name, which may be
another since, and that of the armature's X."""


def outward_sign(limb: PoseBone) -> float:
    """What turns a limb's swivel into a turn about the line from root to tip: 1 or -1, by the side that its name told
    as it was made.

    A knee to the front, of a leg that points down, turns to -X by a positive turn: inwards on the left."""
    return -1.0 if _side_of(limb) > 0 else 1.0


def keep_side(limb: PoseBone) -> None:
    """Note the side of a limb, on which its axes were found."""
    group: Any = limb[GROUP]
    group[KEPT_ON] = [_side_of(limb), _side_of_x(limb)]


def stored_axes(limb: PoseBone) -> tuple[list[float], list[float]]:
    """The axis that a straight limb or a hinge bends about, in its last bone's axes, or none, and the rotations of its
    bones in the reference pose, four numbers each, or none, as stored on its bone. Symmetrize copies them unchanged to
    the other side, where axes are mirrored across X: there, the mirror image of a turn has the same part about X, and
    the others negated."""
    group: Any = group_of(limb) or {}
    axis, flat = [*group.get("bend_axis", ())], [*group.get("reference_rotations", ())]
    if _is_image(limb):
        axis[1:] = [-number for number in axis[1:]]
        flat = [-number if i % 4 > 1 else number for i, number in enumerate(flat)]
    return axis, flat


def _is_image(limb: PoseBone) -> bool:
    """Whether Symmetrize made a limb of the other side's."""
    kept = [*(group_of(limb) or {}).get(KEPT_ON, ())]
    return bool(kept) and kept[0] != 0 and [-side for side in kept] == [side_sign(limb.name), _side_of_x(limb)]


def _side_of(limb: PoseBone) -> int:
    """1 on the left, -1 on the right, 0 in the middle: as its name told when the limb was made, or now for one that is
    none yet."""
    kept = (group_of(limb) or {}).get(KEPT_ON)
    return side_sign(limb.name) if kept is None or _is_image(limb) else kept[0]


def _side_of_x(limb: PoseBone) -> int:
    x = limb.bone.head_local[0]
    return int(x > 0.0) - int(x < 0.0)
