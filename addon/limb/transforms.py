"""Where a bone is without channels of its own, and what these have to be for it to be somewhere, below its parent.

Poses are matrices in the armature, of one frame ``(4, 4)`` or of many ``(frames, 4, 4)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Bone, PoseBone
from mathutils import Matrix

from ..solver.matrices import inverted, inverted_all
from ..solver.ops import Array, Matrices, Points, Quaternions
from .tips import rest_matrix

RIGID = 1e-7
"""How far from 1 the scale of a parent may be without being one."""


def unposed(bone: Bone, above: Matrices | None, location: Points | None = None) -> Matrices:
    """A bone's pose ``(..., 4, 4)`` in the armature with its own channels at rest, below these poses of its parent.
    But for its ``location`` ``(..., 3)``, if given."""
    shape = above.shape[:-2] if above is not None else () if location is None else location.shape[:-1]
    moved = np.tile(np.eye(4), (*shape, 1, 1))
    if location is not None:
        moved[..., :3, 3] = location
    return posed(bone, above, moved)


def posed(bone: Bone, above: Matrices | None, own: Matrices) -> Matrices:
    """A bone's pose ``(..., 4, 4)`` in the armature with channels that make ``own``, below these poses of its
    parent."""
    if (above is not None and above.ndim == 2) or not _inherits_plainly(bone, above):
        return _by_blender(bone, above, own, invert=False)
    in_armature: Array = (_rest_in_parent(bone) if above is None else above @ _rest_in_parent(bone)) @ own
    return in_armature


def own_location(bone: PoseBone) -> Points:
    """The location that a bone's own channels say (3): none where it is connected."""
    is_connected = bone.bone.use_connect and bone.parent
    return np.zeros(3) if is_connected else np.array(bone.location[:], float)


def own_transforms(bone: Bone, above: Matrices | None, poses: Matrices) -> Matrices:
    """What a bone's own channels have to make ``(frames, 4, 4)`` for it to have these poses, below those of its
    parent."""
    if above is not None and not _inherits_plainly(bone, above):
        return _by_blender(bone, above, poses, invert=True)
    return inverted_all(unposed(bone, above)) @ poses


def rigid(matrices: Matrices) -> tuple[Array, Array]:
    """Matrices ``(..., 4, 4)`` without scale, and the scales ``(..., 3)``: all negative of one that mirrors. Of one
    that is sheared the second axis, along which a bone lies, keeps its direction."""
    x, y, z = (matrices[..., :3, i] for i in range(3))
    sizes = np.sqrt((matrices[..., :3, :3] ** 2).sum(axis=-2))
    y = y / np.where(sizes[..., 1:2] == 0.0, 1.0, sizes[..., 1:2])
    x = x - y * (x * y).sum(axis=-1, keepdims=True)
    x /= np.maximum(np.sqrt((x * x).sum(axis=-1, keepdims=True)), 1e-30)
    across = x[..., [1, 2, 0]] * y[..., [2, 0, 1]] - x[..., [2, 0, 1]] * y[..., [1, 2, 0]]  # np.cross is slow
    mirrors = np.where((across * z).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    unscaled = np.array(matrices)
    unscaled[..., :3, 0], unscaled[..., :3, 1], unscaled[..., :3, 2] = mirrors * x, mirrors * y, across
    return unscaled, mirrors * sizes


def turns_of(matrices: Matrices) -> Quaternions:
    """The rotations of rigid matrices ``(..., 4, 4)`` as quaternions, w first: by whichever component is largest."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.moveaxis(matrices[..., :3, :3], (-2, -1), (0, 1))
    squares = np.array([1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz])  # each times 4
    wx, wy, wz, xy2, xz2, yz2 = zy - yz, xz - zx, yx - xy, xy + yx, xz + zx, yz + zy
    ww, x2, y2, z2 = squares
    # Each row is the quaternion, times four of its components.
    rows = np.array([(ww, wx, wy, wz), (wx, x2, xy2, xz2), (wy, xy2, y2, yz2), (wz, xz2, yz2, z2)])
    chosen = np.take_along_axis(rows, np.argmax(squares, axis=0)[None, None], axis=0)[0]
    quaternions: Array = np.moveaxis(chosen / np.sqrt((chosen * chosen).sum(axis=0)), 0, -1)
    return quaternions


def rigid_turns(matrices: Matrices) -> Quaternions:
    """How matrices ``(..., 4, 4)`` turn, whatever they scale, as quaternions ``(..., 4)``, w first."""
    return turns_of(rigid(matrices)[0])


def _inherits_plainly(bone: Bone, above: Matrices | None) -> bool:
    """Whether a bone goes through the same transform as all that hangs on its parent."""
    if above is None or not (bone.use_inherit_rotation and bone.use_local_location):
        return above is None and bone.use_local_location
    return bone.inherit_scale == "FULL" or bool((np.abs(rigid(above)[1] - 1.0) < RIGID).all())


def _rest_in_parent(bone: Bone) -> Array:
    """A bone at rest, in its parent at rest."""
    rest, parent = rest_matrix(bone), bone.parent
    return inverted(rest_matrix(parent)) @ rest if parent else rest


def _by_blender(bone: Bone, above: Matrices | None, poses: Matrices, invert: bool) -> Array:
    """One by one, by Blender's own function, which knows all that a bone may inherit."""
    parents: list[dict[str, Any]] = [{}] * (poses.size // 16)
    if above is not None:
        poses, above = np.broadcast_arrays(poses, above)
        rest: Any = bone.parent.matrix_local  # type: ignore[union-attr]
        parents = [{"parent_matrix": Matrix(one), "parent_matrix_local": rest} for one in above.reshape(-1, 4, 4)]
    converted = [
        bone.convert_local_to_pose(Matrix(own), bone.matrix_local, invert=invert, **parent)
        for own, parent in zip(poses.reshape(-1, 4, 4).tolist(), parents, strict=True)
    ]
    return np.array(converted, float).reshape(poses.shape)
