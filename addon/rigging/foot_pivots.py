"""Where the pivots of a foot roll are to be, by what a foot is made of: bones, else skin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from bpy.types import PoseBone
from mathutils import Matrix, Vector

from ..blender.types import children_of
from ..finding.knees import upright
from ..limb.foot_roll import BALL, HEEL, INNER, OUTER, TOE, tip_at_rest
from ..limb.names import TOES, says
from ..limb.rest_geometry import rest_geometry_of
from ..limb.sides import outwards
from ..limb.tips import foot_below, foot_of, is_mechanism
from .control_shapes import Place, sole_below
from .skins import skin_of

BALL_AT = 0.65
"""Where the ball of a foot without toes is, as a part of the way from heel to toe."""

ACROSS = 0.7
"""The cosine from which on a heel bone lies across the foot, as Rigify's do: its ends are the edges of the heel."""

SIDEWAYS: Any = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
"""What a bone's axes are mirrored by, so that they stay right-handed."""

Pivots = Mapping[str, Matrix]
"""Where pivots rest in the armature, by role. Each turns about its X axis."""


def pivots_found(last: PoseBone) -> Pivots:
    """Where the pivots of a foot are to be, by its bones and its skin: the ball where the toes begin, the others on the
    ground, at the ends and edges of the sole. Without skin, the ground is where the heel bone is, if there is one."""
    ob, foot = last.id_data, foot_of(last)
    geometry, axes = rest_geometry_of(last), upright(last.id_data)
    direction = Vector(geometry.frame[:3, 1].tolist())
    place = Place(tip_at_rest(last), axes, sum(geometry.lengths), direction)
    skin = skin_of(ob, [foot])  # type: ignore[list-item]  # callers know it is there
    sole = sole_below(foot, skin, place)  # type: ignore[arg-type]
    tip, heel_ends = np.array(place.tip), _heel_of(foot)
    if heel_ends and foot.name not in skin:  # type: ignore[union-attr]
        sole = sole._replace(floor=min(float(np.array(end) @ sole.up) for end in heel_ends))

    def ground(ahead: float, across: float) -> Any:
        at = tip + ahead * sole.ahead + across * sole.across
        return at + (sole.floor - at @ sole.up) * sole.up

    def on_sole(point: Any) -> tuple[float, float]:
        off = np.array(point) - tip
        return float(off @ sole.ahead), float(off @ sole.across)

    toes, middle = toes_of(foot), 0.0
    ball = ground(sole.heel + BALL_AT * (sole.toe - sole.heel), (sole.outermost + sole.innermost) / 2.0)
    if toes:
        ball = np.mean([np.array(toe.bone.head_local) for toe in toes], axis=0)
        middle = on_sole(np.mean([np.array(toe.bone.tail_local) for toe in toes], axis=0))[1]
    width, heel = [sole.outermost, sole.innermost], (sole.heel, 0.0)
    if heel_ends:
        ends = [on_sole(end) for end in heel_ends]
        along = np.array(ends[0]) - np.array(ends[1])
        if abs(along[1]) > ACROSS * np.linalg.norm(along):
            heel, width = tuple(np.mean(ends, axis=0)), sorted((end[1] for end in ends), reverse=True)
        else:
            heel = min(ends)
    at_ball = on_sole(ball)[0]
    side = -outwards(last.name)  # 1 on the left
    outer, inner = width if side > 0.0 else reversed(width)
    lengthwise = {HEEL: ground(*heel), TOE: ground(sole.toe, middle), BALL: ball}
    edges = {OUTER: ground(at_ball, outer), INNER: ground(at_ball, inner)}
    return {role: _pivot(at, sole.across, sole.up) for role, at in lengthwise.items()} | {
        role: _pivot(at, -side * sole.ahead, sole.up) for role, at in edges.items()
    }


def _pivot(at: Any, axis: Any, up: Any) -> Matrix:
    """A pivot that points up and turns about an axis. None points along -Y, where Blender rounds."""
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = np.column_stack((axis, up, np.cross(axis, up))), at
    return Matrix(matrix.tolist())


def toes_of(foot: PoseBone | None) -> list[PoseBone]:
    """The toes of a foot, which begin at its ball: the bones that are called so, else what the foot goes on with."""
    children = [child for child in children_of(foot) if not is_mechanism(child.bone)] if foot else []
    children = [child for child in children if "heel" not in child.name.lower()]
    if named := [child for child in children if says(child.name, TOES)]:
        return named
    below = foot_below(foot.bone) if foot else None
    return [child for child in children if below and child.name == below.name]


def _heel_of(foot: PoseBone | None) -> list[Vector]:
    """The ends of the heel bone of a foot; none without one."""
    heels = [bone for bone in foot.bone.children_recursive if "heel" in bone.name.lower()] if foot else []
    bone = next((bone for bone in heels if not is_mechanism(bone)), None)
    return [bone.head_local, bone.tail_local] if bone else []


def mirrored_pivots(pivots: Pivots, across: Matrix) -> Pivots:
    """The image of pivots by a mirror of the armature: the same numbers roll the same way."""
    return {role: across @ matrix @ SIDEWAYS for role, matrix in pivots.items()}
