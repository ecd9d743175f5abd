"""Transforms in rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...solver.rotation import Quaternion, Vector, cross, dot

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


def inverted(transforms: NDArray[Any]) -> NDArray[Any] | None:
    """The inverse of each, ``(..., 4, 4)``, or None if one of them makes everything flat.

    By the adjugate, which for so small matrices costs a twentieth of NumPy's general form.
    """
    m = np.moveaxis(transforms, (-2, -1), (0, 1))
    x, y, z, place = (tuple(m[:3, i]) for i in range(4))
    rows = (cross(y, z), cross(z, x), cross(x, y))
    determinant = dot(x, rows[0])
    if (np.abs(determinant) < FLAT).any():
        return None
    inverse = np.zeros(transforms.shape)
    for i, row in enumerate(rows):
        for j in range(3):
            inverse[..., i, j] = row[j] / determinant
        inverse[..., i, 3] = -dot(row, place) / determinant
    inverse[..., 3, 3] = 1.0
    return inverse
