"""Transforms in rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..solver.rotation import Quaternion


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
