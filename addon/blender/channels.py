"""The channels of all bones of a pose, read and written at once, and given back without Blender taking notice."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from numpy.typing import NDArray

from . import rotation
from .types import bones_of

SIZES = {**rotation.ROTATION_SIZES, "location": 3, "scale": 3}
"""The channels of a bone, and how many numbers each has."""


_RESOLVE: Any = bpy.types.bpy_struct.path_resolve


def read_channel(ob: Any, channel: str) -> NDArray[np.float32]:
    """The numbers of a channel of all bones ``(bones, numbers)``, in single precision as Blender keeps them."""
    bones = bones_of(ob)
    rows: NDArray[np.float32] = np.empty((len(bones), SIZES[channel]), np.float32)
    bones.foreach_get(channel, rows.reshape(-1))
    return rows


def read_matrices(ob: Any) -> NDArray[np.float32]:
    """The pose matrices of all bones ``(bones, 4, 4)``; of an evaluated object, as it is shown."""
    bones = bones_of(ob)
    flat: NDArray[np.float32] = np.empty(16 * len(bones), np.float32)
    bones.foreach_get("matrix", flat)
    return flat.reshape(-1, 4, 4).swapaxes(1, 2)  # Blender's own are by columns


def write_channel(ob: Any, channel: str, rows: NDArray[np.float32], before: NDArray[np.float32]) -> None:
    """Write a channel where it differs from what `read_channel` gave ``before``. The evaluated pose stays as it is
    until ``ob.update_tag(refresh={"DATA"})``; with ``OBJECT`` Blender also evaluates what hangs on the object's
    transform."""
    if np.array_equal(rows, before):
        return
    if ob.library is None:
        bones_of(ob).foreach_set(channel, rows.reshape(-1))
        return
    bones = bones_of(ob)
    for index in _differing(rows, before):  # of linked objects, Blender lets bones be set only one by one
        setattr(bones[index], channel, rows[index])


def restore_channel(ob: Any, channel: str, rows: NDArray[np.float32], before: NDArray[np.float32]) -> None:
    """Put back what was read where others were written, and leave the evaluated pose as it is: Blender is not told."""
    which = _differing(rows, before)
    # For a bone by its number, Blender goes through all before it.
    bones: Any = bones_of(ob).values() if len(which) > len(before) // 4 else bones_of(ob)
    for index, numbers in zip(which, before[which], strict=True):  # setting all at once, Blender would be told
        _RESOLVE(bones[index], channel, False).foreach_set(numbers)


def _differing(rows: NDArray[np.float32], others: NDArray[np.float32]) -> list[int]:
    """The bones whose numbers are others, to the bit."""
    different = rows.view(np.int32) != others.view(np.int32)
    which: list[int] = different.any(axis=1).nonzero()[0].tolist()
    return which
