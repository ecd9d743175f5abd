"""Maps of poses, without Blender: matrices in, matrices or numbers out, for all bones and frames at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..solver.matrices import inverted_all
from ..solver.ops import Array, Column, Matrices, Points, Rotations


def differences(was: Matrices, now: Matrices, lengths: Column, sizes: Column) -> Array:
    """How far bones moved, turned and changed length from ``was`` to ``now`` (bones, frames, 4, 4): (3, bones,
    frames). They are moved by their head or tail, whichever is more, in ``sizes`` (frames); their axes are turned,
    in radians; and as long as they were but for so many parts. ``lengths`` (bones) are those of the bones at rest."""
    moved = np.linalg.norm(now[..., :3, 3] - was[..., :3, 3], axis=-1)
    tails = [m[..., :3, 3] + lengths[:, None, None] * m[..., :3, 1] for m in (was, now)]
    moved = np.maximum(moved, np.linalg.norm(tails[1] - tails[0], axis=-1)) / sizes
    long, long_now = (np.maximum(np.linalg.norm(m[..., :3, :3], axis=-2), 1e-30) for m in (was, now))
    chords = np.linalg.norm(was[..., :3, :3] / long[..., None, :] - now[..., :3, :3] / long_now[..., None, :], axis=-2)
    turned = 2.0 * np.arcsin(np.minimum(chords.max(axis=-1) / 2.0, 1.0))
    return np.stack([moved, turned, np.abs(long_now / long - 1.0).max(axis=-1)])


SIDEWAYS = np.diag((-1.0, 1.0, 1.0, 1.0))


def mirrored(matrices: Matrices, across: Matrices, rest: Any = None, its_rest: Any = None) -> Matrices:
    """The images of matrices (..., 4, 4), in the space in which ``across`` (4, 4) takes one side to the other. What
    is off its ``rest`` (..., 4, 4) has an image that is as far off ``its_rest``; else that has its X axis turned
    round, so that it is no mirror itself."""
    images: Array = across @ matrices @ (SIDEWAYS if rest is None else inverted_all(rest) @ across @ its_rest)
    return images


def turned_over(location: Points, scale: Points, axes: Rotations) -> tuple[Array, Array]:
    """The own location and scale of a bone, (frames, 3) each, for its counterpart. ``axes`` (3, 3) take directions
    from the axes of the bone to those of the other."""
    return location @ axes.T, 1.0 + (scale - 1.0) @ (axes**2).T
