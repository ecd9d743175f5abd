"""Rotations in rows: from what a bone's or an object's rotation mode stores, to quaternions and matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..solver.ops import ARRAYS
from ..solver.rotation import IDENTITY, Quaternion, multiply, normalised


def quaternions(mode: str, values: NDArray[Any]) -> Quaternion:
    """`addon.rig.rotation.to_quaternion` for rows of numbers ``(rows, numbers)``; four arrays."""
    columns: Any = values.T
    if mode == "QUATERNION":
        return normalised(tuple(columns), ARRAYS)
    if mode == "AXIS_ANGLE":
        factor = np.sin(columns[0] / 2.0) / np.maximum(np.linalg.norm(values[:, 1:], axis=1), 1e-12)
        return (np.cos(columns[0] / 2.0), *(axis * factor for axis in columns[1:]))
    rotation: Quaternion = IDENTITY
    for axis in ("XYZ".index(letter) for letter in mode):
        turn: list[Any] = [np.cos(columns[axis] / 2.0), 0.0, 0.0, 0.0]
        turn[1 + axis] = np.sin(columns[axis] / 2.0)
        rotation = multiply(tuple(turn), rotation)
    return rotation


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
