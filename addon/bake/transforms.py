"""Poses of many frames at once: what carries a bone, and what its own channels have to be for it to be somewhere.

All poses are matrices ``(frames, 4, 4)`` in the armature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Bone
from mathutils import Matrix
from numpy.typing import NDArray

from ..limb.tips import matrix_of
from ..solver.matrices import inverted, inverted_all

Array = NDArray[Any]

RIGID = 1e-7
"""How far from 1 the scale of a parent may be without being one."""


def carried(bone: Bone, above: Array | None, count: int) -> Array:
    """Where a bone is without channels of its own, below the poses of its parent."""
    if above is not None and not _goes_along(bone, above):
        return _by_blender(bone, above, np.broadcast_to(np.eye(4), above.shape), False)
    return np.broadcast_to(_rest_of(bone), (count, 4, 4)) if above is None else above @ _rest_of(bone)


def local(bone: Bone, above: Array | None, poses: Array) -> Array:
    """What the channels of a bone have to make for it to be in these poses, below those of its parent."""
    if above is not None and not _goes_along(bone, above):
        return _by_blender(bone, above, poses, True)
    return inverted_all(carried(bone, above, len(poses))) @ poses


def rigid(matrices: Array) -> tuple[Array, Array]:
    """Matrices ``(..., 4, 4)`` without scale, and the scales ``(..., 3)``, all negative of one that mirrors. Of one
    that is sheared the second axis, along which a bone lies, keeps its direction."""
    x, y, z = (matrices[..., :3, i] for i in range(3))
    sizes = np.sqrt((matrices[..., :3, :3] ** 2).sum(axis=-2))
    y = y / np.where(sizes[..., 1:2] == 0.0, 1.0, sizes[..., 1:2])
    x = x - y * (x * y).sum(axis=-1, keepdims=True)
    x /= np.maximum(np.sqrt((x * x).sum(axis=-1, keepdims=True)), 1e-30)
    across = x[..., [1, 2, 0]] * y[..., [2, 0, 1]] - x[..., [2, 0, 1]] * y[..., [1, 2, 0]]  # np.cross is slow
    mirrors = np.where((across * z).sum(axis=-1, keepdims=True) < 0.0, -1.0, 1.0)
    found = np.array(matrices)
    found[..., :3, 0], found[..., :3, 1], found[..., :3, 2] = mirrors * x, mirrors * y, across
    return found, mirrors * sizes


def turns_of(matrices: Array) -> Array:
    """The rotations of rigid matrices ``(..., 4, 4)`` as quaternions, w first: by whichever component is largest."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.moveaxis(matrices[..., :3, :3], (-2, -1), (0, 1))
    w, x, y, z = 1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz
    a, b, c, d, e, f = zy - yz, xz - zx, yx - xy, xy + yx, xz + zx, yz + zy
    rows = np.array([(w, a, b, c), (a, x, d, e), (b, d, y, f), (c, e, f, z)])  # each the quaternion, of another size
    chosen = np.take_along_axis(rows, np.argmax([w, x, y, z], axis=0)[None, None], axis=0)[0]
    found: Array = np.moveaxis(chosen / np.sqrt((chosen * chosen).sum(axis=0)), 0, -1)
    return found


def _goes_along(bone: Bone, above: Array) -> bool:
    """Whether a bone goes through the same transform as all that hangs on its parent."""
    if not (bone.use_inherit_rotation and bone.use_local_location):
        return False
    return bone.inherit_scale == "FULL" or bool((np.abs(rigid(above)[1] - 1.0) < RIGID).all())


def _rest_of(bone: Bone) -> Array:
    """A bone at rest, in its parent at rest."""
    rest, parent = matrix_of(bone), bone.parent
    return inverted(matrix_of(parent)) @ rest if parent else rest


def _by_blender(bone: Bone, above: Array, poses: Array, invert: bool) -> Array:
    """One by one, by Blender's own function, which knows all that a bone may take over."""
    rest, parent_rest = bone.matrix_local, bone.parent.matrix_local  # type: ignore[union-attr]
    found = [
        bone.convert_local_to_pose(
            Matrix(own), rest, parent_matrix=Matrix(parent), parent_matrix_local=parent_rest, invert=invert
        )
        for parent, own in zip(above.tolist(), poses.tolist(), strict=True)
    ]
    return np.array(found, float)
