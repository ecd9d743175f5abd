"""About which axes limbs bend that are straight at rest: as they do in the frames that are read, the more they are bent
there the more that counts."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians, sin
from typing import Any

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..limb.rest_geometry import is_straight, rest_geometry
from ..limb.storage import bones_of_limb
from ..limb.tips import tip_of
from ..solver.matrices import applied
from .reading import Recording, poses_of

Array = NDArray[Any]
Axis = tuple[float, float, float]

LEAST_BEND = sin(radians(2.0))
"""The sine of the knee's turn below which a limb does not say about which axis it bends."""

TO_ONE_SIDE = 0.2
"""What part of all bends has to be left once those to one side are set off against those to the other."""


def bend_axes_seen(
    recording: Recording, limbs: Sequence[tuple[PoseBone, tuple[int, ...]]], tip: str
) -> dict[tuple[Any, str], Axis]:
    """The bend axes of limbs of two segments that are straight at rest and bend in the recording, in their last bones'
    own space, by rig and name. A limb is given by its last bone and segments."""
    axes = {
        (limb.id_data, limb.name): _axis_of(recording, limb, segments, tip)
        for limb, segments in limbs
        if len(segments) == 2 and is_straight(rest_geometry(limb, segments, tip=tip))
    }
    return {ref: axis for ref, axis in axes.items() if axis is not None}


def _axis_of(recording: Recording, limb: PoseBone, segments: tuple[int, ...], tip: str) -> Axis | None:
    first, second = bones_of_limb(limb, segments)
    root, knee, end = (poses_of(recording, limb.id_data, bone.name) for bone in (first, second, limb))
    tips = applied(end, np.broadcast_to(tip_of(limb, tip), (recording.frames, 3)))
    bends = np.cross(_units(tips - knee[:, :3, 3]), _units(knee[:, :3, 3] - root[:, :3, 3]))
    axes = np.einsum("fji,fj->fi", _units(end[:, :3, :3], axis=1), bends)
    total, sizes = axes.sum(axis=0), np.linalg.norm(axes, axis=1)
    if sizes.max() < LEAST_BEND or np.linalg.norm(total) < TO_ONE_SIDE * sizes.sum():
        return None
    x, y, z = map(float, total / np.linalg.norm(total))
    return x, y, z


def _units(vectors: Array, axis: int = -1) -> Array:
    units: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=axis, keepdims=True), 1e-30)
    return units
