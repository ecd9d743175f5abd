"""Transforms in rows, and what bones take over from their parents, as `Bone.convert_local_to_pose` has it for one."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Bone
from mathutils import Matrix
from numpy.typing import NDArray

from ....rig.anatomy import EVEN
from ....solver.ops import ARRAYS
from ....solver.rotation import Quaternion, Vector, cross, dot, flattened, from_plane, normalised, unit

FLAT = 1e-30
"""A determinant below which a transform has no inverse."""


def matrices(location: NDArray[Any], rotation: Quaternion, scale: NDArray[Any]) -> NDArray[Any]:
    """Transforms ``(rows, 4, 4)`` of locations and scales ``(rows, 3)`` and rotations as four arrays."""
    w, x, y, z = rotation
    result = np.zeros((len(location), 4, 4))
    result[:, 0, :3] = np.stack((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)), axis=-1)
    result[:, 1, :3] = np.stack((2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)), axis=-1)
    result[:, 2, :3] = np.stack((2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)), axis=-1)
    result[:, :3, :3] *= scale[:, None, :]
    result[:, :3, 3] = location
    result[:, 3, 3] = 1.0
    return result


def moved(transforms: NDArray[Any], places: Vector) -> Vector:
    """Places, an array for each number, through transforms ``(..., 4, 4)`` that broadcast with them."""
    x, y, z = places
    m = np.moveaxis(transforms, (-2, -1), (0, 1))
    a, b, c = (row[0] * x + row[1] * y + row[2] * z + row[3] for row in m[:3])
    return (a, b, c)


def inverted(transforms: NDArray[Any]) -> NDArray[Any]:
    """The inverse of each, ``(..., 4, 4)``, not a number for one that makes everything flat.

    By the adjugate, which for so small matrices costs a twentieth of NumPy's general form.
    """
    m = np.moveaxis(transforms, (-2, -1), (0, 1))
    x, y, z, place = (tuple(m[:3, i]) for i in range(4))
    rows = (cross(y, z), cross(z, x), cross(x, y))
    determinant = dot(x, rows[0])
    determinant = np.where(np.abs(determinant) < FLAT, np.nan, determinant)
    inverse = np.zeros(transforms.shape)
    for i, row in enumerate(rows):
        for j in range(3):
            inverse[..., i, j] = row[j] / determinant
        inverse[..., i, 3] = -dot(row, place) / determinant
    inverse[..., 3, 3] = 1.0
    return inverse


UNSHEARED = ("NONE", "AVERAGE", "ALIGNED", "NONE_LEGACY")
"""The ways to inherit scale that leave out what a parent is sheared by."""


def inherits_all(bone: Bone) -> bool:
    """Whether a bone goes through one and the same transform as all that hangs on its parent."""
    return bone.use_inherit_rotation and bone.inherit_scale == "FULL" and bone.use_local_location


def offset_of(bone: Bone) -> NDArray[Any]:
    """A bone at rest, in its parent at rest."""
    return (
        array_of(bone.parent.matrix_local.inverted() @ bone.matrix_local)
        if bone.parent
        else array_of(bone.matrix_local)
    )


def in_armature(bone: Bone, parent: NDArray[Any] | None, basis: NDArray[Any]) -> NDArray[Any]:
    """Poses ``(frames, 4, 4)`` of a bone whose channels make ``basis``, under its parent's poses; each of them may be
    one for all frames ``(1, 4, 4)``."""
    offset, basis = offset_of(bone), placed(bone, basis)
    if parent is None:
        return _rooted(bone, offset, basis)
    if inherits_all(bone):
        posed: NDArray[Any] = parent @ offset @ basis
        return posed
    axes = axes_of(parent)
    if _is_sheared(parent, axes) or (bone.inherit_scale == "FIX_SHEAR" and not _is_even(axes)):
        return _one_by_one(bone, parent, basis)
    turned, sizes = _inherited(bone, parent, axes)
    posed = turned @ offset @ basis
    posed[:, :3, :3] *= sizes[:, None, :]
    posed[:, :3, 3] = _places(bone, parent, offset, basis)
    return posed


def placed(bone: Bone, basis: NDArray[Any]) -> NDArray[Any]:
    """What a bone's channels make ``(frames, 4, 4)``, without the location that a connected bone ignores."""
    if not (bone.use_connect and bone.parent):
        return basis
    basis = basis.copy()
    basis[:, :3, 3] = 0.0
    return basis


def frame_of(bone: Bone, parent: NDArray[Any] | None, unturned: NDArray[Any]) -> NDArray[Any]:
    """`anatomy.frame_of` over the frames: where a bone is with no rotation and scale in its channels."""
    frame = in_armature(bone, parent, unturned)
    if parent is not None and bone.inherit_scale == "ALIGNED":
        axes = axes_of(parent)
        frame[:, :3, :3] *= np.where(axes == 0.0, 0.0, 1.0 / np.where(axes == 0.0, 1.0, axes))[:, None, :]
    return frame


def local_to(bone: Bone, parent: NDArray[Any] | None, posed: NDArray[Any]) -> NDArray[Any]:
    """`in_armature` back: what the channels of a bone need to make for its poses, all ``(frames, 4, 4)``, as far as
    that turns and scales it."""
    local: NDArray[Any] = inverted(frame_of(bone, parent, np.eye(4)[None])) @ posed
    if parent is not None and bone.inherit_scale == "ALIGNED":
        axes = axes_of(parent)
        local[:, :3, :3] /= np.where(axes == 0.0, 1.0, axes)[:, None, :]
    return local


def turn_and_scale(transforms: NDArray[Any]) -> tuple[Quaternion, NDArray[Any]]:
    """The rotations of transforms ``(frames, 4, 4)`` as four arrays, and their scales ``(frames, 3)``, all negative of
    one that mirrors. Of one that is sheared the second axis, along which a bone lies, keeps its direction."""
    mirrors = np.where(np.linalg.det(transforms[:, :3, :3]) < 0.0, -1.0, 1.0)
    along, across = (tuple(mirrors * transforms[:, row, column] for row in (1, 2, 0)) for column in (1, 0))
    along = unit(along, (1.0, 0.0, 0.0), ARRAYS)
    across = unit(flattened(across, along), (0.0, 0.0, 1.0), ARRAYS)
    w, y, z, x = normalised(from_plane(along, across, ARRAYS), ARRAYS)
    return (w, x, y, z), mirrors[:, None] * axes_of(transforms)


def axes_of(transforms: NDArray[Any]) -> NDArray[Any]:
    """The lengths of the axes of transforms ``(frames, 4, 4)``, ``(frames, 3)``."""
    lengths: NDArray[Any] = np.linalg.norm(transforms[:, :3, :3], axis=1)
    return lengths


def _rooted(bone: Bone, offset: NDArray[Any], basis: NDArray[Any]) -> NDArray[Any]:
    posed: NDArray[Any] = offset @ basis
    if not bone.use_local_location:
        posed[:, :3, 3] = offset[:3, 3] + basis[:, :3, 3]
    return posed


def _inherited(bone: Bone, parent: NDArray[Any], axes: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """What turns and scales a bone before its offset, and what scales its axes after its own channels."""
    mode = bone.inherit_scale
    after = axes if mode == "ALIGNED" else np.ones((1, 3))
    if bone.use_inherit_rotation:
        turned = parent.copy()
        scaled = np.ones_like(axes) if mode in UNSHEARED else axes
        turned[:, :3, :3] *= (scaled / np.where(axes == 0.0, 1.0, axes))[:, None, :]
    else:
        rest = array_of(bone.parent.matrix_local)  # type: ignore[union-attr]
        turned = np.tile(rest, (len(parent), 1, 1))
        if mode in {"FULL", "FIX_SHEAR"}:
            turned[:, :3, :3] *= axes[:, None, :]
    if mode == "AVERAGE":
        turned[:, :3, :3] *= np.cbrt(np.abs(np.linalg.det(parent[:, :3, :3])))[:, None, None]
    return turned, after


def _places(bone: Bone, parent: NDArray[Any], offset: NDArray[Any], basis: NDArray[Any]) -> NDArray[Any]:
    """Where the bone's head is."""
    places: NDArray[Any]
    if bone.use_local_location:
        places = (parent @ offset @ basis[:, :, 3, None])[:, :3, 0]
    else:
        places = (parent @ offset[:, 3, None])[:, :3, 0] + (parent[:, :3, :3] @ basis[:, :3, 3, None])[:, :, 0]
    return places


def _one_by_one(bone: Bone, parent: NDArray[Any], basis: NDArray[Any]) -> NDArray[Any]:
    """By Blender itself, which mends shear."""
    rest, parent_rest = bone.matrix_local, bone.parent.matrix_local  # type: ignore[union-attr]
    count = max(len(parent), len(basis))
    pairs = zip(np.broadcast_to(parent, (count, 4, 4)), np.broadcast_to(basis, (count, 4, 4)), strict=True)
    return np.array(
        [
            bone.convert_local_to_pose(
                Matrix(own.tolist()), rest, parent_matrix=Matrix(above.tolist()), parent_matrix_local=parent_rest
            )
            for above, own in pairs
        ]
    )


def _is_sheared(transforms: NDArray[Any], axes: NDArray[Any]) -> bool:
    x, y, z = np.moveaxis(transforms[:, :3, :3], 2, 0)
    leaning = np.abs([(a * b).sum(axis=1) for a, b in ((x, y), (y, z), (z, x))]).max(axis=0)
    return bool((leaning > EVEN * axes.max(axis=1) ** 2).any())


def _is_even(axes: NDArray[Any]) -> bool:
    largest = axes.max(axis=1)
    return bool((largest - axes.min(axis=1) <= EVEN * largest).all())


def array_of(matrix: Matrix) -> NDArray[Any]:
    """A matrix's rows as tuples, for NumPy 1 takes ten times as long to read the matrix itself."""
    rows: Any = matrix
    return np.array([row[:] for row in rows])
