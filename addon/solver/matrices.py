"""Vectors and matrices (4, 4) that move points, where the time that NumPy's own functions take is felt."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def unit_array(v: Any, fallback: Any) -> Matrix:
    """The direction of a vector, or another where it has no length."""
    size = float(np.dot(v, v)) ** 0.5
    return np.asarray(v, float) / size if size > 1e-12 else np.asarray(fallback, float)


def rotation(turn: Any) -> Matrix:
    """The matrices (..., 4, 4) of unit quaternions, w, x, y, z: (...) each."""
    w, x, y, z = turn
    matrix = np.zeros((*np.shape(w), 4, 4))
    rows = np.array((
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    ))  # fmt: skip
    matrix[..., :3, :3] = np.moveaxis(rows, (0, 1), (-2, -1))
    matrix[..., 3, 3] = 1.0
    return matrix


def inverted(matrix: Matrix) -> Matrix:
    """The inverse of a matrix (4, 4) that moves points; NumPy's own takes twenty times as long."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = matrix.tolist()
    p, q, r = e * i - f * h, f * g - d * i, d * h - e * g
    size = a * p + b * q + c * r
    rows = (p, c * h - b * i, b * f - c * e), (q, a * i - c * g, c * d - a * f), (r, b * g - a * h, a * e - b * d)
    inverse = [[u / size, v / size, w / size, -(u * x + v * y + w * z) / size] for u, v, w in rows]
    return np.array([*inverse, (0.0, 0.0, 0.0, 1.0)])


def cross_array(a: Matrix, b: Matrix) -> Matrix:
    """The cross product of two vectors, ten times as fast as NumPy's."""
    (ax, ay, az), (bx, by, bz) = a.tolist(), b.tolist()
    return np.array((ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx))


def applied(matrices: Matrix, points: Matrix) -> Matrix:
    """Points (..., n, 3) moved by matrices (..., n, 4, 4)."""
    with np.errstate(all="ignore"):
        moved: Matrix = (matrices[..., :3, :3] @ points[..., None])[..., 0] + matrices[..., :3, 3]
    return moved


def inverted_all(matrices: Matrix) -> Matrix:
    """`inverted` for arrays: LAPACK's inverse of as many small matrices takes ten times as long."""
    if matrices.ndim == 3 and 0 < len(matrices) <= FEW:
        with suppress(ZeroDivisionError):  # what is not finite then, arrays have
            return np.array([inverted(matrix) for matrix in matrices])
    rotations = matrices[..., :3, :3]
    cofactors = rotations[..., NEXT, NEXT.T] * rotations[..., AFTER, AFTER.T]
    cofactors -= rotations[..., NEXT, AFTER.T] * rotations[..., AFTER, NEXT.T]
    inverses = np.zeros_like(matrices)
    with np.errstate(all="ignore"):
        size = (rotations[..., 0, :] * cofactors[..., 0, :]).sum(-1)
        inverses[..., :3, :3] = cofactors.swapaxes(-1, -2) / size[..., None, None]
        inverses[..., :3, 3] = -(inverses[..., :3, :3] @ matrices[..., :3, 3:])[..., 0]
    inverses[..., 3, 3] = 1.0
    return inverses


def pseudo_inverted(matrices: Matrix) -> Matrix:
    """The pseudoinverses of matrices (..., 3, 3): by `inverted_all` where these are not nearly flat."""
    moving = np.zeros((*matrices.shape[:-2], 4, 4))
    moving[..., :3, :3] = matrices
    inverses = inverted_all(moving)[..., :3, :3]
    is_flat = ~(np.abs(inverses).max(axis=(-2, -1)) * np.abs(matrices).max(axis=(-2, -1)) < 1.0 / FLAT)
    if is_flat.any():
        inverses[is_flat] = np.linalg.pinv(matrices[is_flat], rcond=FLAT)
    return inverses


FLAT = 1e-6
"""How much less than in other directions matrices may stretch in one that counts as none."""

FEW = 5
"""Up to so many matrices take less time one by one."""

NEXT, AFTER = np.array([[1], [2], [0]]), np.array([[2], [0], [1]])
