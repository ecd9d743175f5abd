"""Which way a limb bends: a straight knee to the toes, a straight elbow to the back, as bodies do."""

from __future__ import annotations

from functools import lru_cache
from math import pi
from typing import Any

import numpy as np
from bpy.types import Bone, PoseBone
from mathutils import Matrix, Vector

from ..blender.types import ArmatureObject
from ..limb import storage, tips
from ..limb.names import ARM, FACE, FEET, HANDS, LEG, TOES, has_word
from ..limb.rest_geometry import hinge_axis, is_straight, rest_geometry, rest_geometry_of
from ..limb.settings import BonesPerSegment

AHEAD_ACROSS = 0.3
"""The sine of the angle from which on a foot points somewhere else than its limb."""


def bend_axis(
    limb: PoseBone, segments: BonesPerSegment, tip: str, turn: float, is_flat: bool = True
) -> tuple[float, ...] | None:
    """The axis that a straight limb bends about, in its last bone's axes, for its knee to point as a body's does. A
    knee to the toes, an elbow to the back; turned around the limb by ``turn`` radians. Its ``tip`` is at the ``FOOT``
    or at the last bone's ``TAIL``. The hinge of one that is bent, and of what is neither an arm nor a leg; None without
    one, or where the rig only rests as if it were flat."""
    hinge = hinge_axis(limb) if is_flat else None
    geometry = rest_geometry(limb, segments, (), hinge or (), tip, "HINGE")
    if not is_straight(geometry):
        return hinge
    along, axes = Vector(geometry.frame[:3, 1].tolist()), limb.bone.matrix_local.to_3x3()
    ahead = _knee_ahead(limb, segments, along)
    ahead = ahead - along * ahead.dot(along)
    if ahead.length < AHEAD_ACROSS:
        return hinge if hinge is None or abs(turn) < pi else (-hinge[0], -hinge[1], -hinge[2])
    normal = Matrix.Rotation(turn, 3, along) @ along.cross(ahead.normalized())
    if hinge and abs(abs(turn) - pi / 2.0) > 1.0:  # of a flat rig, a quarter of a turn leads nowhere
        about = axes @ Vector(hinge)
        is_back = about.dot(normal) < 0.0 if abs(about.dot(normal)) > AHEAD_ACROSS else abs(turn) > pi / 2.0
        normal = -about if is_back else about
    return tuple((axes.transposed() @ normal)[:])


def bends_to(limb: PoseBone, turn: float = 0.0) -> str:
    """Which way the knee of a limb points at rest, as seen by the rig. If it is bent, turned around the limb by an
    angle."""
    geometry, up, front = rest_geometry_of(limb), upright(limb.id_data).col[2], front_of(limb.id_data)
    about = Matrix.Rotation(0.0 if is_straight(geometry) else turn, 3, Vector(geometry.frame[:3, 1].tolist()))
    knee, to_left = about @ Vector((-geometry.frame[:3, 0]).tolist()), up.cross(front)
    directions = {"forward": front, "backward": -front, "up": up, "down": -up, "left": to_left, "right": -to_left}
    return max(directions, key=lambda name: knee.dot(directions[name]))


def _knee_ahead(limb: PoseBone, segments: BonesPerSegment, along: Vector) -> Vector:
    """Where a knee or an elbow of a body points, in the armature; nothing where neither is known to be one."""
    foot = tips.foot_of(limb)
    names = [bone.name for bone in (*storage.chain_bones(limb, segments), *([foot] if foot else ()))]
    if any(has_word(name, ARM, HANDS) for name in names):
        return -front_of(limb.id_data)
    toes = _direction_of(foot.bone) if foot else Vector()
    if toes.cross(along).length > AHEAD_ACROSS:
        return toes
    return front_of(limb.id_data) if any(has_word(name, LEG) for name in names) else Vector()


def _direction_of(bone: Bone) -> Vector:
    """Which way a bone points: to the bone below, else to its tail."""
    below = tips.foot_below(bone)
    return ((below.head_local if below else bone.tail_local) - bone.head_local).normalized()


def front_of(ob: ArmatureObject) -> Vector:
    """Where the feet or the face of a rig point, level, in the armature; -Y of the world without any."""
    axes: Any = upright(ob)
    up = axes.col[2]
    for words in (FEET | TOES, FACE):
        named = [bone for bone in ob.data.bones if has_word(bone.name, words) and not storage.is_mechanism_bone(bone)]
        total: Any = sum(map(_direction_of, named), Vector())
        total -= up * total.dot(up)
        if total.length > 0.1 * len(named):
            return Vector(total.normalized())
    return Vector(-axes.col[1])


def upright(ob: ArmatureObject) -> Matrix:
    """The axes of an armature, as they are nearest to the world's: Z is up, also where a rig was imported lying."""
    return _upright(tuple(tuple(row[:3]) for row in ob.matrix_world.row[:3])).copy()


@lru_cache(1024)
def _upright(rows: tuple[tuple[float, ...], ...]) -> Matrix:
    world = np.array(rows)
    up = int(abs(world[2]).argmax())
    ahead = max({0, 1, 2} - {up}, key=lambda i: abs(world[1, i]))
    z, y = (np.eye(3)[i] * (-1.0 if world[row, i] < 0.0 else 1.0) for row, i in ((2, up), (1, ahead)))
    return Matrix(np.column_stack((np.cross(y, z), y, z)).tolist())
