"""The limb that two pose bones make: its shape in the frame F of the upper bone, as the solver wants it.

F is the pose of the upper bone with its rotation and scale at identity (its location stays: it moves the root).
Everything below a bone goes through the same F, so a limb solved in F is exact under parents that are mirrored or
scaled unevenly, as long as the lower bone inherits all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import cos, sin
from operator import mul
from typing import Any, NamedTuple

from bpy.types import PoseBone
from mathutils import Matrix, Vector

from ..solver.chain import Plane, Uninherited, axes_for
from ..solver.lengthening import Sizes
from ..solver.limb import Limb, limb, turned
from ..solver.ops import FLOATS
from ..solver.rotation import Quaternion
from .data.access import chain_settings
from .kinds import Kind, Problem
from .settings import Angles

Axis = tuple[float, float, float]

Axes = tuple[Axis, Axis, Axis]
"""The x, y and z axes of a bone."""

MOST_SHAPES = 1024
"""How many shapes are kept at most. The limbs of a crowd are few shapes, and after an undo all are looked at anew."""

EVEN = 1e-4
"""How much the axes of a frame may differ in length, or lean, and still count as evenly scaled."""


class Unposable(Exception):
    """The limb can't be posed exactly; the message says which setting is in the way."""


class Anatomy(NamedTuple):
    """A limb, where its frame F is, and how the lower bone hangs in it.

    ``frame`` takes F to the armature as it is posed now. ``in_parent`` takes F to the parent's pose, or to the armature
    if there is no parent; None if that changes with the pose. ``limb`` is made as if the lower bone inherited rotation;
    ``uninherited`` corrects for one that does not. ``carried`` says that the limb's shape depends on the scale of
    ``frame``. ``lower_axes`` are the axes of the unturned lower bone in F. ``uneven`` is the upper bone's scale where
    the lower bone inherits it and it differs by axis: the lower bone's own channels must then make up for it.
    """

    limb: Limb
    in_parent: Matrix | None
    frame: Matrix
    uninherited: Uninherited | None
    carried: bool
    lower_axes: Axes
    uneven: Sizes | None

    def to_axes(self, plane: Plane) -> Matrix:
        """What takes the armature (or with ``in_parent`` the parent's pose) to the axes that places are solved in."""
        return Matrix(axes_for(self.limb, plane)).to_4x4() @ (self.in_parent or self.frame).inverted()


def anatomy(
    upper: PoseBone,
    lower: PoseBone,
    upper_scale: Sequence[float],
    lower_scale: Sequence[float],
    angles: Angles = (0.0, 0.0, 0.0),
    can_make_up: bool = False,
) -> Anatomy:
    """The limb of an evaluated upper and lower bone, with the location they have now and the scale given; ``angles``
    are the settings `IN_SHAPE`. ``can_make_up`` says that the lower bone's channels will make up for an uneven scale
    that it inherits: it then counts as scaled along its own axes, as it is in a straight limb.

    Raises `Unposable`.
    """
    frame = frame_of(upper)
    if is_nothing(frame):
        raise Unposable(nothing(upper))
    if abs(lower_scale[1]) < 1e-12:
        raise Unposable(nothing(lower))
    follows = hangs_as_child(lower)
    if not follows and not is_even(frame):
        raise Unposable(_uneven_parent(upper, lower))
    base = Matrix() if follows else frame.to_3x3().to_4x4()  # of its place only rounding would be left
    sizes = [*map(mul, upper_scale, _aligned_scale(upper))]
    unturned = lower.bone.convert_local_to_pose(
        Matrix.Translation(_location(lower)),
        lower.bone.matrix_local,
        parent_matrix=base @ Matrix.Diagonal((*sizes, 1.0)),
        parent_matrix_local=upper.bone.matrix_local,
    )
    in_frame = base.inverted() @ unturned
    uninherited = None
    if not lower.bone.use_inherit_rotation:
        in_frame, uninherited = _as_if_inherited(in_frame, upper, lower)
    knee = in_frame.translation
    length = lower.bone.length * lower_scale[1]
    uneven = None
    if can_make_up and follows and min(sizes) > 0.0 and max(sizes) - min(sizes) > EVEN * max(sizes):
        uneven = (sizes[0], sizes[1], sizes[2])
        in_frame = upper.bone.matrix_local.inverted() @ lower.bone.matrix_local
        length *= sizes[1]
    tip = in_frame.to_3x3() @ Vector((0.0, length, 0.0))
    axes = _axes(in_frame, upper, lower)
    shape = _shape(_numbers(knee), _numbers(tip), axes, (angles[0], angles[1], angles[2]))
    return Anatomy(shape, _in_parent(upper), frame, uninherited, not follows, axes, uneven)


@lru_cache(MOST_SHAPES)
def _shape(knee: Axis, tip: Axis, axes: Axes, angles: Angles) -> Limb:
    shape = limb(knee, tip, axes, FLOATS)
    if not any(angles):
        return shape
    hinge_turn, twist, pole_turn = ((cos(angle / 2.0), sin(angle / 2.0)) for angle in angles)
    return turned(shape, hinge_turn, twist, FLOATS, pole_turn)


def frame_of(upper: PoseBone) -> Matrix:
    """F in the armature: where the upper bone would be, unturned and unscaled."""
    local, bone = Matrix.Translation(_location(upper)), upper.bone
    frame = bone.convert_local_to_pose(local, bone.matrix_local, **carried_by(upper))
    return frame @ Matrix.Diagonal((*(1.0 / size if size else 0.0 for size in _aligned_scale(upper)), 1.0))


def carried_by(bone: PoseBone, parent_pose: Matrix | None = None) -> dict[str, Any]:
    """What `Bone.convert_local_to_pose` needs to know of a pose bone's parent, if it has one; ``parent_pose`` stands in
    for the parent's own pose."""
    if bone.parent is None:
        return {}
    return {"parent_matrix": parent_pose or bone.parent.matrix, "parent_matrix_local": bone.parent.bone.matrix_local}


def solved(bone: PoseBone) -> tuple[Quaternion, tuple[float, ...]]:
    """The rotation (w, x, y, z) and the scale that a bone's own channels would need for its evaluated pose, without its
    constraints."""
    matrix: Any = bone.matrix  # the stubs don't know that these take one
    local = bone.id_data.convert_space(pose_bone=bone, matrix=matrix, from_space="POSE", to_space="LOCAL")
    _, turn, scale = local.decompose()
    return turn[:], scale[:]


def is_even(matrix: Matrix) -> bool:
    """Whether a matrix scales all directions alike, mirrored or not."""
    x, y, z = matrix.to_3x3().col
    size = max(x.length, y.length, z.length)
    lengths = max(abs(axis.length - size) for axis in (x, y, z))
    leaning = max(abs(x.dot(y)), abs(y.dot(z)), abs(z.dot(x)))
    return bool(lengths <= EVEN * size and leaning <= EVEN * size * size)


def is_nothing(matrix: Matrix) -> bool:
    """Whether a matrix scales a direction to nothing, so that it has no inverse."""
    return abs(matrix.determinant()) < 1e-30


def size_of(matrix: Matrix) -> float:
    """How large an evenly scaled matrix makes things."""
    return float(matrix.to_3x3().col[0].length)


def _location(pose_bone: PoseBone) -> Vector:
    """The bone's location channel, which a connected bone ignores."""
    return Vector() if pose_bone.bone.use_connect and pose_bone.parent else pose_bone.location


def _aligned_scale(pose_bone: PoseBone) -> Sequence[float]:
    """The scale that a bone takes over axis by axis, which acts on it like its own, before it is turned."""
    if pose_bone.parent is None or pose_bone.bone.inherit_scale != "ALIGNED":
        return (1.0, 1.0, 1.0)
    return [axis.length for axis in pose_bone.parent.matrix.to_3x3().col]


def hangs_as_child(pose_bone: PoseBone) -> bool:
    """Whether a bone is carried by its parent in full."""
    return pose_bone.bone.use_inherit_rotation and pose_bone.bone.inherit_scale == "FULL"


def _in_parent(upper: PoseBone) -> Matrix | None:
    bone = upper.bone
    if upper.parent is None:
        return frame_of(upper)
    if hangs_as_child(upper) and bone.use_local_location:
        offset = upper.parent.bone.matrix_local.inverted() @ bone.matrix_local
        return offset @ Matrix.Translation(_location(upper))
    return None


def _axes(in_frame: Matrix, upper: PoseBone, lower: PoseBone) -> Axes:
    """The lower bone's axes in F as unit vectors."""
    axes = in_frame.to_3x3().col
    if min(axis.length for axis in axes) < 1e-12:
        raise Unposable(nothing(upper))
    # Only these two turn a bone before they scale it, so that its length would change with its rotation.
    if lower.bone.inherit_scale in {"FULL", "FIX_SHEAR"} and not is_even(in_frame):
        sentence = (
            f"'{upper.name}' is scaled unevenly and '{lower.name}' inherits it: "
            f"set Inherit Scale of '{lower.name}' to Aligned"
        )
        raise Unposable(Problem(Kind.UNEVEN, sentence))
    x, y, z = (_numbers(axis.normalized()) for axis in axes)
    return (x, y, z)


def _as_if_inherited(now: Matrix, upper: PoseBone, lower: PoseBone) -> tuple[Matrix, Uninherited]:
    """The lower bone in F as if it inherited rotation, and how it turns because it does not."""
    offset = upper.bone.matrix_local.inverted() @ lower.bone.matrix_local
    sizes = Matrix.Diagonal((*(axis.length for axis in now.to_3x3().col), 1.0))
    inherited = Matrix.Translation(now.translation) @ offset.to_3x3().to_4x4() @ sizes
    rest, turned = offset.to_3x3(), now.to_3x3().normalized()
    if turned.determinant() < 0.0:
        # A mirrored bone is the opposite of one turned half round about its x axis, but for the sides of that axis.
        rest, turned = rest @ Matrix.Diagonal((1.0, -1.0, -1.0)), turned * -1.0
    return inherited, Uninherited(_numbers(rest.to_quaternion()), _numbers(turned.to_quaternion()))


def _numbers(of: Any) -> Any:
    """A vector or quaternion as the solver takes it; the stubs don't know that they iterate."""
    return tuple(of)


def nothing(bone: PoseBone) -> Problem:
    """What to say of a limb of which this bone has no size."""
    sentence = f"'{bone.name}', or what carries it, is scaled to nothing: set its scale to more than 0"
    return Problem(Kind.NOTHING, sentence)


def _uneven_parent(upper: PoseBone, lower: PoseBone) -> Problem:
    bone = lower.bone
    if chain_settings(lower).own_inherit_scale:  # by which it got longer on the rig: in full, it would be sheared
        sentence = (
            f"What carries '{upper.name}' is scaled unevenly, so that on the rig it can't just get longer: "
            "set Stretch Volume to Uniform, or stay on the extension"
        )
        return Problem(Kind.STRETCHED_ASIDE, sentence)
    setting = "Inherit Rotation off" if not bone.use_inherit_rotation else f"Inherit Scale set to {bone.inherit_scale}"
    sentence = (
        f"What carries '{upper.name}' is scaled unevenly, and '{lower.name}' has {setting}: let it inherit in full"
    )
    return Problem(Kind.LOWER_INHERITS, sentence)
