"""Giving bones the orientation at rest that they are meant to have, to single precision.

Blender keeps a bone's direction and roll, in Edit Mode in the armature's axes and then in its parent's, and makes its
axes of them: with errors of up to 3e-5 where the bone points along -Y of these, as thighs do below hips, and the legs
of imported models. Such axes are not even square.
"""

from __future__ import annotations

from math import atan2
from typing import Any

from bpy.types import Bone
from mathutils import Matrix, Vector

from .formulas import NOISE

ROUGH = -0.9
"""From which component along Y of the parent's axes on a bone's direction is far enough from -Y."""

SQUARE = 2e-6
"""Up to which cosine between them a bone's axes count as square."""

STEPS = 3
"""In which a roll is found: each takes the error, of 1e-5 at first, to the next power."""


def keeps_axes(rest: Matrix, parent: Matrix) -> bool:
    """Whether bones of about this orientation at rest get the axes that they are meant to have below this parent."""
    return is_square(rest) and bool((parent.inverted() @ rest).col[1].y > ROUGH)


def is_square(rest: Matrix) -> bool:
    """Whether a bone's axes at rest are at right angles to each other, as Blender leaves those of most bones."""
    x, y, z = rest.to_3x3().col
    return bool(max(abs(x.dot(y)), abs(y.dot(z)), abs(z.dot(x))) < SQUARE)


def roll_for(rest: Matrix, parent: Matrix, length: float) -> float:
    """The roll in Edit Mode of a bone that is to have these axes at rest below this parent, whose axes may lean.

    Its direction is that from head to tail, both rounded, which near -Y turns a roll by much more than itself. Blender
    takes over the angle, seen along the bone in the axes of Edit Mode, from its Z axis without a roll in the
    parent's axes to the one that it has there (armature_finalize_restpose).
    """
    within = (parent.inverted() @ rest).to_3x3().normalized()
    axis_and_roll: Any = Bone.AxisRollFromMatrix(within)  # the stubs don't know what it returns
    head = rest.translation
    direction = ((head + rest.to_3x3().col[1].normalized() * length) - head).normalized()
    axes = parent.to_3x3()
    unrolled = axes @ Bone.MatrixFromAxisRoll((axes.inverted() @ direction).normalized(), 0.0)
    roll = 0.0
    for _ in range(STEPS):
        aside = (Bone.MatrixFromAxisRoll(direction, roll).inverted() @ unrolled).col[2]
        roll += axis_and_roll[1] + atan2(aside.x, aside.z)
    return roll


def shift_below(parent: Bone | None) -> Vector:
    """By how much what hangs on a bone stands off the place that it is given in Edit Mode.

    Blender keeps that from the parent's tail, and goes out from where its axes have this; of a bone within a thousandth
    of -Y they are so rough that it may be by 3e-4 of its length.
    """
    if parent is None:
        return Vector()
    return parent.matrix_local @ Vector((0.0, parent.length, 0.0)) - parent.tail_local


def smooth_side(direction: Vector, parent: Matrix) -> float:
    """To which side a bone along a line is to point, lest that be -Y of the armature's or its parent's axes."""
    along = (direction.y, direction.dot(parent.col[1].to_3d()))
    return -1.0 if min(along) < ROUGH and max(along) < -ROUGH else 1.0


def own_axis(axis: Any) -> int | None:
    """Which of a bone's own axes a unit vector in these is along, to either side; None if it is along none."""
    aside = [index for index in range(3) if abs(axis[index]) > NOISE]
    return aside[0] if len(aside) == 1 else None


def plane_axes(along: Any, _across: Any, normal: Any) -> Matrix:
    """The axes of F's measures, as columns: y along, z the normal."""
    along, normal = Vector(along), Vector(normal)
    return Matrix((along.cross(normal), along, normal)).transposed()
