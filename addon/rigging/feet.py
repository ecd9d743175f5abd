"""The foot or hand below a limb: how it turns as the limb's target does, as far as its IK influence goes; and where
the pivots of a foot roll are to be, by what a foot is made of: bones, else skin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import tau
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Euler, Matrix, Vector

from ..blender import animation, editing
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import ArmatureObject, announce, children_of, own_matrix, path_to_bone, split_path, view_layer_of
from ..finding.knees import upright
from ..limb import follow, names, storage, tips, tolerances
from ..limb.features import roll
from ..limb.features.foot import FOOT, OFFSET
from ..limb.rest_geometry import RestGeometry
from ..solver.ops import Array, Points
from .control_shapes import Place, Sole, skin_of, sole_below


def foot_follows(limb: PoseBone) -> bool:
    """Whether the foot of a limb turns with its target."""
    foot = tips.foot_of(limb)
    return foot is not None and FOOT in foot.constraints


def foot_turn_of(foot: PoseBone | None) -> tuple[float, float, float] | None:
    """How a foot is turned off what it follows, in the axes of that, as Euler angles XYZ in radians; None if it does
    not follow."""
    if foot is None or FOOT not in foot.constraints:
        return None
    offset: Any = foot.constraints.get(OFFSET)
    return tuple(getattr(offset, f"to_min_{axis}_rot") for axis in "xyz") if offset else (0.0, 0.0, 0.0)


def turn_between(target: Matrix, foot: Matrix) -> tuple[float, float, float]:
    """The turn of a foot off its target, as Euler angles, by how both stand in one space."""
    one, other = (matrix.to_3x3().normalized() for matrix in (target, foot))
    turn: Any = (one.transposed() @ other).to_quaternion()
    is_off = turn.angle > tolerances.NO_TURN and abs(turn.angle - tau) > tolerances.NO_TURN
    return tuple(turn.to_euler("XYZ")) if is_off else (0.0, 0.0, 0.0)


def turn_off(limb: PoseBone, target: BoneRef, foot: Matrix, depsgraph: Depsgraph) -> tuple[float, float, float]:
    """The turn of a limb's foot off a target, in the target's axes, as Euler angles XYZ in radians; ``foot`` is where
    it stands in the world. In the armature, if the target is a bone of it; the target as it is evaluated."""
    turns = [follow.matrix_of(target[0], target[1], depsgraph), foot]
    if target[1] and target[0] == limb.id_data:
        turns = [limb.id_data.matrix_world.inverted_safe() @ turn for turn in turns]
    return turn_between(*turns)


def offset_of(foot: PoseBone) -> Matrix:
    """How a foot that follows is turned off its target, in the axes of that, as a matrix 4x4; none for another foot."""
    return Euler(foot_turn_of(foot) or (0.0, 0.0, 0.0)).to_matrix().to_4x4()


def foot_matrix_of(limb: PoseBone) -> Matrix:
    """The world matrix of a limb's foot now; of one that follows its target, without roll and bank."""
    depsgraph, foot = bpy.context.evaluated_depsgraph_get(), tips.foot_of(limb)
    is_rolled = follow.rolled_target(limb) or (
        follow.has_roll(limb) and not follow.is_gone(*follow.follow_of(limb).pairs[0])
    )
    if foot_follows(limb) and is_rolled:
        return follow.unrolled(limb, depsgraph) @ offset_of(foot)  # type: ignore[arg-type]  # it follows
    return follow.matrix_of(limb.id_data, foot.name, depsgraph)  # type: ignore[union-attr]  # callers know that there is one


@contextmanager
def at_influence(context: Context, limbs: Sequence[PoseBone], influence: float) -> Iterator[None]:
    """Have limbs show FK or IK for a moment, also where drivers say which."""
    announce(*(limb.id_data for limb in limbs))
    before = [storage.read_slider(limb, "influence") for limb in limbs]
    paths = {limb: storage.path_to_slider(limb.name, "influence") for limb in limbs}
    drivers = [animation.driver_of(limb.id_data, path) for limb, path in paths.items()]
    acting = [curve for curve in drivers if curve is not None and not curve.mute]
    editing.mute_drivers(context, acting, True)
    try:
        for limb in limbs:
            storage.write_slider(limb, "influence", influence)
        view_layer_of(context).update()
        yield
    finally:
        for limb, value in zip(limbs, before, strict=True):
            storage.write_slider(limb, "influence", value)
        editing.mute_drivers(context, acting, False)
        view_layer_of(context).update()


def following_bones(limb: PoseBone) -> list[PoseBone]:
    """The foot of a limb if it turns with the target, and the toes that a roll keeps flat."""
    foot = tips.foot_of(limb) if foot_follows(limb) else None
    return [foot, *follow.flat_toes(limb)] if foot else []


def turns_of_feet(context: Context, limbs: Sequence[PoseBone]) -> list[tuple[PoseBone, Any]]:
    """Feet that follow and toes kept flat, each with the numbers of its rotation mode by which it stands in FK as it
    does in IK."""
    bones = {limb: following_bones(limb) for limb in limbs}
    footed = [limb for limb in limbs if bones[limb]]
    if not footed:
        return []
    with at_influence(context, footed, 1.0):
        depsgraph: Any = context.evaluated_depsgraph_get()
        turned = [bone for limb in footed for bone in bones[limb]]
        rigs = {bone.id_data: bone.id_data.evaluated_get(depsgraph) for bone in turned}
        return [(bone, own_matrix(rigs[bone.id_data].pose.bones[bone.name]).to_quaternion()[:]) for bone in turned]


ACROSS = 0.7
"""The cosine from which on a heel bone lies across the foot, as Rigify's do: its ends are the edges of the heel."""

IMAGE = 0.01
"""How far from its mirror image a limb's tip may rest, in lengths of its last bone, for its pivots to be the image of
the other side's."""

SIDEWAYS: Any = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
"""What a bone's axes are mirrored by, so that they stay right-handed."""

Pivots = Mapping[str, Matrix]
"""Where pivots rest in the armature, by role. Each turns about its X axis."""


class Lying(NamedTuple):
    """How a foot lies flat, in the armature with the foot at rest: which way is up (3), how high along that the floor
    is, and what takes its toes, by name, from where they rest to where they lie."""

    up: Array
    floor: float
    toes: Mapping[str, Matrix]


def pivots_found(limb: PoseBone, geometry: RestGeometry, lying: Lying | None = None) -> Pivots:
    """Where the pivots of a foot roll are to be in the armature, by bones and skin of the foot. The ball where the
    toes begin, or where the foot ends, which can't bend without toes; the others on the ground, at the ends and
    edges of the sole. Without skin, the ground is where the heel bone is, if there is one. ``geometry`` is that of
    its limb. The foot is flat as it was seen ``lying``, else as it rests."""
    foot, toes = tips.foot_of(limb), toes_of(tips.foot_of(limb))
    lying = lying or Lying(np.array(upright(limb.id_data))[:, 2], 0.0, {})
    sole, heel, (outer, inner) = _sole_of(limb, foot, geometry, lying)
    ball, middle = sole.ground(sole.toe, 0.0), 0.0
    if toes:
        ball = np.mean([np.array(toe.bone.head_local) for toe in toes], axis=0)
        tails = [lying.toes.get(toe.name, Matrix()) @ toe.bone.tail_local for toe in toes]
        middle = sole.off_tip(np.mean([np.array(tail) for tail in tails], axis=0))[1]
    at_ball, side = sole.off_tip(ball)[0], -storage.outward_sign(limb)  # 1 on the left
    outer, inner = (outer, inner) if side > 0.0 else (inner, outer)
    lengthwise = {
        roll.HEEL_PIVOT: sole.ground(*heel),
        roll.TOE_PIVOT: sole.ground(sole.toe, middle),
        roll.BALL_PIVOT: ball,
    }
    edges = {roll.OUTER_PIVOT: sole.ground(at_ball, outer), roll.INNER_PIVOT: sole.ground(at_ball, inner)}
    return {role: _pivot(at, sole.across, sole.up) for role, at in lengthwise.items()} | {
        role: _pivot(at, -side * sole.ahead, sole.up) for role, at in edges.items()
    }


def _sole_of(
    limb: PoseBone, foot: Any, geometry: RestGeometry, lying: Lying
) -> tuple[Sole, tuple[float, float], Sequence[float]]:
    """The sole of a limb's foot; where its heel is off the tip, ahead and to the left; and how far its edges are to the
    left, the left one first. A heel bone across the foot, as Rigify's, has its ends at the edges."""
    direction = Vector(geometry.frame[:3, 1].tolist())
    tip = limb.bone.matrix_local @ Vector(geometry.tip.tolist())
    skin = skin_of(limb.id_data, [foot])
    place = Place(tip, _axes_up(limb, lying.up), sum(geometry.lengths), direction, lying.floor)
    sole = sole_below(foot, skin, place, lying.toes)
    heel_ends, edges = _heel_of(foot), (sole.outermost, sole.innermost)
    if not heel_ends:
        return sole, (sole.heel, 0.0), edges
    if foot.name not in skin:
        sole = sole._replace(floor=min(float(np.array(end) @ sole.up) for end in heel_ends))
    ends = [sole.off_tip(end) for end in heel_ends]
    along = np.array(ends[0]) - np.array(ends[1])
    if abs(along[1]) > ACROSS * np.linalg.norm(along):
        ahead, across = map(float, np.mean(ends, axis=0))
        return sole, (ahead, across), sorted((end[1] for end in ends), reverse=True)
    return sole, min(ends), edges


def _axes_up(limb: PoseBone, up: Points) -> Matrix:
    """The upright axes of an armature, turned the shortest way for ``up`` to be up."""
    axes = upright(limb.id_data)
    turned: Matrix = axes.col[2].rotation_difference(Vector(up.tolist())).to_matrix() @ axes
    return turned


def pivots_of(limb: PoseBone) -> Pivots:
    """Where the pivots of a limb's foot roll are in the armature; none where some are missing. They go along with a
    foot that was moved in Edit Mode."""
    bones, ob = follow.helpers_of(limb, anywhere=True), limb.id_data
    if not {*roll.PIVOTS, roll.ROLLED_TARGET} <= bones.keys():
        return {}
    curve = animation.driver_of(ob, f"{path_to_bone(bones[roll.HEEL_PIVOT].name)}.rotation_euler")
    read = [target.data_path for variable in curve.driver.variables for target in variable.targets] if curve else []
    if any(split_path(path)[0] != limb.name for path in read):  # Symmetrize copied what is the other side's
        return {}
    by = follow.tip_at_rest(limb) - bones[roll.ROLLED_TARGET].head_local
    by = by if by.length > IMAGE * 1e-3 * limb.bone.length else Vector()
    return {role: Matrix.Translation(by) @ bones[role].matrix_local for role in roll.PIVOTS}


def pivots_of_image(limb: PoseBone) -> Pivots:
    """The pivots of the other side's limb, mirrored to this one; none unless it rests as the mirror image of that.
    As after Symmetrize."""
    other = limb.id_data.pose.bones.get(names.other_side(limb.name))
    if other is None or other == limb or not storage.is_limb(other) or not follow.has_roll(other):
        return {}
    across = Matrix.Scale(-1.0, 4, (1.0, 0.0, 0.0))
    near = (across @ follow.tip_at_rest(other) - follow.tip_at_rest(limb)).length <= IMAGE * limb.bone.length
    return mirrored_pivots(pivots_of(other), across) if near else {}


def _pivot(at: Any, axis: Any, up: Any) -> Matrix:
    """A pivot that points up and turns about an axis. None points along -Y, where Blender rounds."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = np.column_stack((axis, up, np.cross(axis, up))), at
    return Matrix(matrix.tolist())


def toes_of(foot: PoseBone | None) -> list[PoseBone]:
    """The toes of a foot, which begin at its ball: the bones that are called so, else what the foot goes on with."""
    children = [child for child in children_of(foot) if not tips.looks_like_mechanism(child.bone)] if foot else []
    children = [child for child in children if "heel" not in child.name.lower()]
    if named := [child for child in children if names.has_word(child.name, names.TOES)]:
        return named
    below = tips.foot_below(foot.bone) if foot else None
    return [child for child in children if below and child.name == below.name]


def toes_free(ob: ArmatureObject, foot: str, dependencies: Dependencies) -> tuple[str, ...]:
    """The names of the toes of a foot that nothing else moves."""
    toes = toes_of(ob.pose.bones[foot])
    return tuple(
        toe.name
        for toe in toes
        if {getattr(mover, "name", "") for mover in dependencies.constraints_and_drivers(toe)} <= {roll.FLAT_TOE}
    )


def _heel_of(foot: PoseBone | None) -> list[Vector]:
    """The ends of the heel bone of a foot; none without one."""
    heels = [bone for bone in foot.bone.children_recursive if "heel" in bone.name.lower()] if foot else []
    bone = next((bone for bone in heels if not tips.looks_like_mechanism(bone)), None)
    return [bone.head_local, bone.tail_local] if bone else []


def mirrored_pivots(pivots: Pivots, across: Matrix) -> Pivots:
    """The image of pivots by a mirror of the armature: the same numbers roll the same way."""
    return {role: across @ matrix @ SIDEWAYS for role, matrix in pivots.items()}
