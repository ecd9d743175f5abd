"""Foot Follows: the foot or hand below a limb turns as the limb's target does, as far as its IK influence goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import tau
from typing import Any

import bpy
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Euler, Matrix, Quaternion

from ..blender.animation import driver_of
from ..blender.announcing import announce
from ..blender.dependencies import BoneRef
from ..blender.editing import mute_drivers
from ..blender.types import own_matrix, view_layer_of
from ..limb.features.foot import FOOT, OFFSET
from ..limb.follow import flat_toes, follow_of, has_roll, is_gone, matrix_of, rolled_target, unrolled
from ..limb.storage import path_to_slider, read_slider, write_slider
from ..limb.tips import foot_of
from ..limb.tolerances import NO_TURN


def foot_follows(limb: PoseBone) -> bool:
    """Whether the foot of a limb turns with its target."""
    foot = foot_of(limb)
    return foot is not None and FOOT in foot.constraints


def foot_turn_of(foot: PoseBone | None) -> tuple[float, float, float] | None:
    """How a foot is turned off what it follows, as Euler angles; None if it does not follow."""
    if foot is None or FOOT not in foot.constraints:
        return None
    offset: Any = foot.constraints.get(OFFSET)
    return tuple(getattr(offset, f"to_min_{axis}_rot") for axis in "xyz") if offset else (0.0, 0.0, 0.0)


def turn_between(target: Matrix, foot: Matrix) -> tuple[float, float, float]:
    """The turn of a foot off its target, as Euler angles, by how both stand in one space."""
    one, other = (matrix.to_3x3().normalized() for matrix in (target, foot))
    turn: Any = (one.transposed() @ other).to_quaternion()
    is_off = turn.angle > NO_TURN and abs(turn.angle - tau) > NO_TURN
    return tuple(turn.to_euler("XYZ")) if is_off else (0.0, 0.0, 0.0)


def turn_off(limb: PoseBone, target: BoneRef, foot: Matrix, depsgraph: Depsgraph) -> tuple[float, float, float]:
    """The turn of a limb's foot, that stands so in the world, off a target as this is evaluated: in the armature, if
    that is a bone of it."""
    turns = [matrix_of(target[0], target[1], depsgraph), foot]
    if target[1] and target[0] == limb.id_data:
        turns = [limb.id_data.matrix_world.inverted_safe() @ turn for turn in turns]
    return turn_between(*turns)


def offset_of(foot: PoseBone) -> Matrix:
    """How a foot that follows is turned off its target."""
    return Euler(foot_turn_of(foot) or (0.0, 0.0, 0.0)).to_matrix().to_4x4()


def foot_matrix_of(limb: PoseBone) -> Matrix:
    """The world matrix of a limb's foot now; of one that follows its target, without roll and bank."""
    depsgraph, foot = bpy.context.evaluated_depsgraph_get(), foot_of(limb)
    is_rolled = rolled_target(limb) or (has_roll(limb) and not is_gone(*follow_of(limb).pairs[0]))
    if foot_follows(limb) and is_rolled:
        return unrolled(limb, depsgraph) @ offset_of(foot)  # type: ignore[arg-type]  # it follows
    return matrix_of(limb.id_data, foot.name, depsgraph)  # type: ignore[union-attr]  # callers know that there is one


@contextmanager
def at_influence(context: Context, limbs: Sequence[PoseBone], influence: float) -> Iterator[None]:
    """Have limbs show FK or IK for a moment, also where drivers say which."""
    announce(*(limb.id_data for limb in limbs))
    before = [read_slider(limb, "influence") for limb in limbs]
    paths = {limb: path_to_slider(limb.name, "influence") for limb in limbs}
    drivers = [driver_of(limb.id_data, path) for limb, path in paths.items()]
    acting = [curve for curve in drivers if curve is not None and not curve.mute]
    mute_drivers(context, acting, True)
    try:
        for limb in limbs:
            write_slider(limb, "influence", influence)
        view_layer_of(context).update()
        yield
    finally:
        for limb, value in zip(limbs, before, strict=True):
            write_slider(limb, "influence", value)
        mute_drivers(context, acting, False)
        view_layer_of(context).update()


def following_bones(limb: PoseBone) -> list[PoseBone]:
    """The foot of a limb if it turns with the target, and the toes that a roll keeps flat."""
    foot = foot_of(limb) if foot_follows(limb) else None
    return [foot, *flat_toes(limb)] if foot else []


def turns_of_feet(context: Context, limbs: Sequence[PoseBone]) -> list[tuple[PoseBone, Any]]:
    """How feet that turn with targets, and toes that are kept flat, have to be turned by themselves, to be as in IK."""
    bones = {limb: following_bones(limb) for limb in limbs}
    footed = [limb for limb in limbs if bones[limb]]
    if not footed:
        return []
    with at_influence(context, footed, 1.0):
        return [(bone, evaluated_turn_of(context, bone)[:]) for limb in footed for bone in bones[limb]]


def evaluated_turn_of(context: Context, bone: PoseBone) -> Quaternion:
    """The rotation that a bone would have to have of its own, to be as it is evaluated."""
    evaluated: Any = bone.id_data.evaluated_get(context.evaluated_depsgraph_get())
    return own_matrix(evaluated.pose.bones[bone.name]).to_quaternion()
