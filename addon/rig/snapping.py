"""Carrying a pose over between a chain's own (FK) pose and its target, pole and bend."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import NamedTuple

from bpy.types import PoseBone
from mathutils import Matrix, Vector

from ..solver.chain import Own, tip_position
from .access import ArmatureObject, bones_of, chain_settings, path_of_setting, upper_of
from .anatomy import Anatomy, Unposable, anatomy
from .animation import animated_paths
from .rotation import rotation_channel
from .setup import Refused, aside_of, off_line
from .sides import swing_side
from .targets import Target

OFF_PLANE = 1e-5
"""How far off the rest plane a tip may be, in lengths of the limb, and still be matched within it."""


class Match(NamedTuple):
    """What makes the solution show a chain's own pose: places in the world."""

    target: Vector
    pole: Vector | None
    bend: float


def match(evaluated: ArmatureObject, name: str, own: Own, scales: tuple[Sequence[float], Sequence[float]]) -> Match:
    """The target, pole and bend for a limb's own pose, given as its bones' rotations and scales by the lower bone's
    ``name``; raises `Refused` if none shows it."""
    lower = evaluated.pose.bones[name]
    try:
        body = anatomy(upper_of(lower), lower, *scales)
    except Unposable as why:
        raise Refused(str(why)) from why
    limb = body.limb
    from_axes = evaluated.matrix_world @ body.frame @ Matrix(limb.axes).transposed().to_4x4()
    tip = Vector(_in_axes(body, tip_position(own, limb, hinge=body.hinge)))
    knee = Vector(_in_axes(body, tip_position(own, limb._replace(r2=0.0), hinge=body.hinge)))
    settings = chain_settings(lower)
    length = limb.bones.total
    goal = tip * _before_softness(tip.length / length, settings.softness, settings.stretch)
    if settings.plane == "POLE":
        pole = knee + aside_of(knee, tip, length).normalized() * length
        return Match(from_axes @ goal, from_axes @ pole, 1.0)
    if abs(tip.z) > OFF_PLANE * length:
        raise Refused(f"'{name}' is posed out of its rest plane: set its plane to Pole, then snap")
    bend = _bend(tip, off_line(knee, tip), length, swing_side(name))
    if bend is None:
        raise Refused(f"The knee of '{name}' is out of the rest plane: set the chain's plane to Pole, then snap")
    return Match(from_axes @ goal, None, bend)


def place(target: Target, position: Vector) -> None:
    """Move a target to a place in the world."""
    if target.bone:
        bone = bones_of(target.object)[target.bone]
        matrix = bone.matrix.copy()
        matrix.translation = target.object.matrix_world.inverted_safe() @ position
        bone.matrix = matrix
    else:
        matrix = target.object.matrix_world.copy()
        matrix.translation = position
        target.object.matrix_world = matrix


def keep_place(target: Target, with_key: bool) -> None:
    """Set a key on where a target is, asked or not if there are some, lest the next frame moves it back."""
    if with_key or target.path in animated_paths(target.object):
        target.object.keyframe_insert(target.path, group=target.bone)


def keep_setting(lower: PoseBone, name: str, with_key: bool) -> None:
    """The same for one of a chain's settings."""
    path, ob = path_of_setting(lower, name), lower.id_data
    if with_key or path in animated_paths(ob):
        ob.keyframe_insert(path, group=lower.name)


def key_rotation(bone: PoseBone) -> None:
    """Set a key on a bone's rotation, in its rotation mode."""
    bone.keyframe_insert(rotation_channel(bone.rotation_mode), group=bone.name)


def key_scale(bone: PoseBone) -> None:
    """Set a key on a bone's scale."""
    bone.keyframe_insert("scale", group=bone.name)


def _in_axes(body: Anatomy, v: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(sum(a * b for a, b in zip(v, axis, strict=True)) for axis in body.limb.axes)


def _before_softness(reach: float, softness: float, stretch: float) -> float:
    """How much farther than the tip the target is, for softness to leave the tip where it is; both in lengths."""
    gap = min(max(1.0 - reach, 0.0), 1.0)
    if stretch > 0.0 or gap >= softness or reach <= 0.0:
        return 1.0
    return (1.0 + softness - sqrt(4.0 * softness * gap)) / reach


def _bend(tip: Vector, off: Vector, length: float, swing_side: float) -> float | None:
    """The bend whose swing puts the knee on ``off``, its way from the root-tip line; None if no swing does."""
    if abs(off.z) <= OFF_PLANE * length:
        return 1.0 if tip.x * off.y - tip.y * off.x >= 0.0 else -1.0
    if off.z * swing_side < 0.0:
        return None
    side = Vector((-tip.y, tip.x, 0.0)).normalized()
    return float(off.normalized().dot(side))
