"""Channels that may get keys, and reading what they say frame by frame, as the animator set them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..blender.animation import animated_paths, property_at, value_at
from ..blender.changes import full_path
from ..blender.dependencies import BoneRef
from ..blender.types import bones_of, path_to_bone

Array = NDArray[Any]


class Channel(NamedTuple):
    """A property that may get keys: by the data path from its object, and the bone that has it, or nothing."""

    object: Any
    path: str
    bone: str

    @classmethod
    def of_bone(cls, ob: Any, bone: str, path: str) -> Channel:
        """A property of a bone, or of an object if no bone is named."""
        return cls(ob, full_path(bone, path), bone)


Values = dict[Channel, Array]
"""What channels say over frames, (frames, numbers) each."""


OF_OBJECTS = ("location", "rotation_", "scale", "delta_")
"""How the paths begin of what an object's own channels are."""


def originals_of(channels: Values, bases_of: dict[BoneRef, Array], is_first: bool = False) -> Callable[[int], None]:
    """What reads the ``i``-th frame of channels, and of what controls' own channels make; what has neither keys nor
    drivers is read now for all frames, and so it is of the one that is shown."""
    objects = {channel.object for channel in channels} | {ob for ob, _ in bases_of}
    animated = {ob: set() if is_first else animated_paths(ob) for ob in objects}
    holders, arrays = [], []
    for channel, values in channels.items():
        if channel.path not in animated[channel.object]:
            values[:] = value_at(channel.object, channel.path)
        elif values.dtype == np.float32:
            arrays.append((channel.object.path_resolve(channel.path, False).foreach_get, values))
        else:
            holders.append((*property_at(channel.object, channel.path), values))
    for ref, bases in bases_of.items():
        ob, bone = ref
        owner: Any = bones_of(ob)[bone] if bone else ob
        if any(path.startswith(f"{path_to_bone(bone)}." if bone else OF_OBJECTS) for path in animated[ob]):
            columns = bases.transpose(0, 2, 1).reshape(-1, 16)  # the same memory
            arrays.append((owner.path_resolve("matrix_basis", False).foreach_get, columns))
        else:
            bases[:] = owner.matrix_basis

    def read_frame(i: int) -> None:
        for holder, name, is_custom, values in holders:
            values[i] = holder[name] if is_custom else getattr(holder, name)
        for get, numbers in arrays:
            get(numbers[i])

    return read_frame


def room_for(channel: Channel, count: int) -> Array:
    """Room for what a channel says in so many frames, of the kind that Blender reads at once where it can."""
    value = value_at(channel.object, channel.path)
    is_array = isinstance(value, tuple) and not property_at(channel.object, channel.path)[2]
    kind = bool if isinstance(value, bool) else np.float32 if is_array else float
    return np.empty((count, np.size(value)), kind)


def copied(values: Values) -> Values:
    """What channels say, to be changed: choices, and numbers in double precision."""
    return {channel: rows.copy() if rows.dtype == bool else rows.astype(float) for channel, rows in values.items()}
