"""Poses of many frames at once: what carries a bone, and what its own channels have to be for it to be somewhere.

All poses are matrices ``(frames, 4, 4)`` in the armature.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Bone
from mathutils import Matrix
from numpy.typing import NDArray

from ..limb.shape import matrix_of

Array = NDArray[Any]

SHEARED = 1e-5
"""The cosine between two axes of a parent above which Blender itself is asked what its children take over."""


RIGID = 1e-7
"""How far from 1 the scale of a parent may be without being one."""


def carried(bone: Bone, above: Array | None, count: int) -> Array:
    """Where a bone is without channels of its own, below the poses of its parent."""
    if above is not None and not goes_along(bone, above):
        return _by_blender(bone, above, np.broadcast_to(np.eye(4), above.shape), False)
    return np.broadcast_to(rest_of(bone), (count, 4, 4)) if above is None else above @ rest_of(bone)


def local(bone: Bone, above: Array | None, poses: Array) -> Array:
    """What the channels of a bone have to make for it to be in these poses, below those of its parent."""
    if above is None or goes_along(bone, above):
        return inverted(carried(bone, above, len(poses))) @ poses
    sizes = np.linalg.norm(above[:, :3, :3], axis=1)
    takes_turn = bone.use_inherit_rotation and bone.use_local_location and bone.inherit_scale in ("ALIGNED", "NONE")
    if not takes_turn or _is_sheared(above, sizes):
        return _by_blender(bone, above, poses, True)
    turned = above.copy()
    turned[:, :3, :3] /= sizes[:, None, :]
    found: Array = inverted(turned @ rest_of(bone)) @ poses
    if bone.inherit_scale == "ALIGNED":
        found[:, :3, :3] /= sizes[:, None, :]
    return found


def turns_and_scales(matrices: Array) -> tuple[Array, Array]:
    """The rotations of matrices as quaternions ``(..., 4)``, w first, and their scales ``(..., 3)``, all negative of
    one that mirrors. Of one that is sheared the second axis, along which a bone lies, keeps its direction."""
    axes = matrices[..., :3, :3]
    x, y, z = (axes[..., i] for i in range(3))
    sizes = np.linalg.norm(axes, axis=-2)
    mirrors = np.where((np.cross(x, y) * z).sum(axis=-1) < 0.0, -1.0, 1.0)[..., None]
    y = mirrors * y / np.where(sizes[..., 1:2] == 0.0, 1.0, sizes[..., 1:2])
    x = mirrors * x
    x = x - y * (x * y).sum(axis=-1, keepdims=True)
    x /= np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-30)
    turned = np.stack((x, y, np.cross(x, y)), axis=-1)
    return _quaternions(turned.reshape(-1, 3, 3)).reshape(*turned.shape[:-2], 4), mirrors * sizes


def unscaled(poses: Array) -> Array:
    """Poses without scale, shear and mirrors."""
    turns, _ = turns_and_scales(poses)
    found: Array = rotations(turns)
    found[:, :3, 3] = poses[:, :3, 3]
    return found


def rotations(turns: Array) -> Array:
    """The matrices ``(..., 4, 4)`` of unit quaternions ``(..., 4)``."""
    w, x, y, z = np.moveaxis(turns, -1, 0)
    found = np.zeros((*turns.shape[:-1], 4, 4))
    found[..., 0, :3] = np.stack((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)), axis=-1)
    found[..., 1, :3] = np.stack((2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)), axis=-1)
    found[..., 2, :3] = np.stack((2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)), axis=-1)
    found[..., 3, 3] = 1.0
    return found


def inverted(matrices: Array) -> Array:
    """The inverse of each matrix ``(..., 4, 4)`` that moves, turns and scales; of one that makes everything flat, not a
    number. By the adjugate, which for so small ones costs a twentieth of NumPy's general form."""
    x, y, z = (matrices[..., :3, i] for i in range(3))
    rows = np.stack((np.cross(y, z), np.cross(z, x), np.cross(x, y)), axis=-2)
    with np.errstate(all="ignore"):
        rows = rows / (x * rows[..., 0, :]).sum(axis=-1)[..., None, None]
    found = np.zeros((*rows.shape[:-2], 4, 4))
    found[..., :3, :3] = rows
    found[..., :3, 3] = -(rows @ matrices[..., :3, 3:])[..., 0]
    found[..., 3, 3] = 1.0
    return found


def moved(matrices: Array, points: Array) -> Array:
    """Points ``(..., 3)`` through matrices ``(..., 4, 4)``."""
    found: Array = (matrices[..., :3, :3] @ points[..., None])[..., 0] + matrices[..., :3, 3]
    return found


def goes_along(bone: Bone, above: Array) -> bool:
    """Whether a bone goes through the same transform as all that hangs on its parent."""
    if not (bone.use_inherit_rotation and bone.use_local_location):
        return False
    return bone.inherit_scale == "FULL" or bool((np.abs(turns_and_scales(above)[1] - 1.0) < RIGID).all())


def rest_of(bone: Bone) -> Array:
    """A bone at rest, in its parent at rest."""
    rest, parent = matrix_of(bone), bone.parent
    return np.linalg.inv(matrix_of(parent)) @ rest if parent else rest


def _is_sheared(matrices: Array, sizes: Array) -> bool:
    x, y, z = np.moveaxis(matrices[:, :3, :3], 2, 0)
    leaning = np.abs([(a * b).sum(axis=1) for a, b in ((x, y), (y, z), (z, x))])
    return bool((leaning > SHEARED * sizes.max(axis=1) ** 2).any())


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


def _quaternions(axes: Array) -> Array:
    """Of rotations ``(frames, 3, 3)``: by whichever component is largest."""
    xx, yy, zz = axes[:, 0, 0], axes[:, 1, 1], axes[:, 2, 2]
    squares = np.stack((1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz), axis=1)
    a, b, c = (axes[:, i, j] - axes[:, j, i] for i, j in ((2, 1), (0, 2), (1, 0)))
    d, e, f = (axes[:, i, j] + axes[:, j, i] for i, j in ((0, 1), (0, 2), (1, 2)))
    w, x, y, z = squares.T
    table = np.stack(
        [np.stack(row, axis=1) for row in ((w, a, b, c), (a, x, d, e), (b, d, y, f), (c, e, f, z))], axis=1
    )
    chosen = table[np.arange(len(axes)), squares.argmax(axis=1)]
    found: Array = chosen / np.linalg.norm(chosen, axis=1, keepdims=True)
    return found
