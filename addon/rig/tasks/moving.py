"""Moving targets to where limbs need them, as by hand: what that does not change keeps the numbers that it had."""

from __future__ import annotations

from math import copysign
from typing import Any

from mathutils import Matrix, Quaternion, Vector

from ..data.access import bones_of
from ..data.rotation import rotation_channel, set_turn, to_quaternion
from ..targets import Target, unsheared_turn


def place(target: Target, position: Vector, turned: Matrix | None = None) -> None:
    """Move a target to a place in the world, and turn it as a transform there if it is to be turned. Its scale stays,
    and so does its rotation if it is not turned, down to whole turns."""
    if target.bone:
        to_rig = target.object.matrix_world.inverted_safe()
        _move(bones_of(target.object)[target.bone], "matrix", to_rig @ position, turned and to_rig @ turned)
    else:
        _move(target.object, "matrix_world", position, turned)


def _move(owner: Any, name: str, position: Vector, turned: Matrix | None) -> None:
    """Move a bone or an object by its transform of this name, which Blender makes location, rotation and scale of."""
    channel = rotation_channel(owner.rotation_mode)
    rotation, scale = getattr(owner, channel)[:], owner.scale[:]
    matrix = getattr(owner, name)
    moved = Matrix.LocRotScale(None, unsheared_turn(turned), matrix.to_scale()) if turned else matrix.copy()
    moved.translation = position
    setattr(owner, name, moved)
    turn: Any = Quaternion(to_quaternion(owner.rotation_mode, getattr(owner, channel)))
    signs = [copysign(1.0, was) * copysign(1.0, now) for was, now in zip(scale, owner.scale, strict=True)]
    setattr(owner, channel, rotation)
    owner.scale = scale
    if turned:  # Blender mirrors in all axes what is mirrored in any.
        turn = turn @ Matrix.Diagonal(signs).to_quaternion()
        set_turn(owner, turn[:])
