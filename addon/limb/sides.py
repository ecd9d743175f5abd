"""What a limb on one side has in common with that on the other, so that Blender's own mirroring is right: the same
numbers give the mirror image."""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone

from ..blender.names import side_sign
from .settings import GROUP
from .storage import group_of

KEPT_ON = "kept_on"
"""What the group calls the side on which its axes were found: that of the name, and that of the armature's X."""


def outward_sign(name: str) -> float:
    """By the name of a limb's last bone, what turns its swivel into a turn about the line from root to tip: 1 or -1.

    A knee to the front, of a leg that points down, turns to -X by a positive turn: inwards on the left."""
    return -1.0 if side_sign(name) > 0 else 1.0


def keep_side(limb: PoseBone) -> None:
    """Note on which side the axes in a limb's group were found. Without a side, or axes, there is nothing to note."""
    group: Any = limb[GROUP]
    if side_sign(limb.name) and ("bend_axis" in group or "reference_rotations" in group):
        group[KEPT_ON] = _sides(limb)
    elif KEPT_ON in group:
        del group[KEPT_ON]


def stored_axes(limb: PoseBone) -> tuple[list[float], list[float]]:
    """The axis that a straight limb or a hinge bends about, in its last bone's axes, or none, and the rotations of its
    bones in the reference pose, four numbers each, or none, as stored on its bone. Symmetrize copies them unchanged to
    the other side, where axes are mirrored across X: there, the mirror image of a turn has the same part about X, and
    the others negated."""
    group: Any = group_of(limb) or {}
    axis, flat = [*group.get("bend_axis", ())], [*group.get("reference_rotations", ())]
    kept = [*group.get(KEPT_ON, ())]
    if kept and [-side for side in kept] == _sides(limb):
        axis[1:] = [-number for number in axis[1:]]
        flat = [-number if i % 4 > 1 else number for i, number in enumerate(flat)]
    return axis, flat


def _sides(limb: PoseBone) -> list[int]:
    x = limb.bone.head_local[0]
    return [side_sign(limb.name), int(x > 0.0) - int(x < 0.0)]
