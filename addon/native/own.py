"""The bones' own (FK) pose of a chain on the rig, which stands in their channels, free to be posed and keyed."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone
from mathutils import Vector

from ..rig.anatomy import Unposable, solved
from ..rig.data.access import chain_settings, upper_of
from ..rig.data.rotation import rotation_channel, set_turn, to_quaternion
from ..rig.kinds import Refused
from ..rig.tasks.fitting import Posture, posture
from ..rig.tasks.setup import check_parent
from ..rig.tasks.snapping import at_full_influence
from ..solver.chain import Own
from ..solver.rotation import Quaternion
from .convert import rebuild

SAME = 1e-6
"""Up to which difference a scale is the same."""

_Poses = dict[PoseBone, tuple[Quaternion, tuple[float, ...]]]
"""Rotations (w, x, y, z) and scales of bones."""


def own_pose(evaluated: PoseBone) -> tuple[Own, tuple[Sequence[float], Sequence[float]]]:
    """The rotations and the scales that an evaluated lower bone and its upper bone have of their own."""
    limb = (upper_of(evaluated), evaluated)
    turns = [to_quaternion(bone.rotation_mode, getattr(bone, rotation_channel(bone.rotation_mode))[:]) for bone in limb]
    return Own(*turns), (limb[0].scale[:], limb[1].scale[:])


def own_posture(context: Context, lower: PoseBone) -> Posture:
    """How the limb of a lower bone is posed by its own pose; raises `Refused` if it can't be posed exactly."""
    check_parent(lower)
    evaluated = lower.id_data.evaluated_get(context.evaluated_depsgraph_get())
    try:
        return posture(evaluated, lower.name, *own_pose(evaluated.pose.bones[lower.name]))
    except Unposable as why:
        raise Refused(*why.args) from why


def adopt(context: Context, lower: PoseBone) -> list[PoseBone]:
    """Make the solution, at influence 1, the bones' own pose; return the bones whose scale that changed."""
    poses = _solution(context, lower)
    lengthened = _lengthened(lower, poses)
    for bone, (turn, scale) in poses.items():
        set_turn(bone, turn)
        if bone in lengthened:
            bone.scale = scale
    if lengthened:  # a mechanism is made for bones as long as they are
        rebuild(context, [lower])
    return lengthened


def stretched(context: Context, lower: PoseBone) -> list[PoseBone]:
    """The bones of a chain that its solution, at influence 1, lengthens."""
    return _lengthened(lower, _solution(context, lower))


def _solution(context: Context, lower: PoseBone) -> _Poses:
    with at_full_influence(lower):
        evaluated = lower.id_data.evaluated_get(context.evaluated_depsgraph_get())
        return {bone: solved(evaluated.pose.bones[bone.name]) for bone in (upper_of(lower), lower)}


def _lengthened(lower: PoseBone, poses: _Poses) -> list[PoseBone]:
    """The bones to which a solution gives another scale than their own, if the chain stretches."""
    if chain_settings(lower).stretch <= 0.0:
        return []
    return [bone for bone, (_, scale) in poses.items() if (Vector(scale) - bone.scale).length > SAME]
