"""The channels of all bones of a pose, read and written at once: per bone that costs as much as solving the limb."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from struct import Struct
from typing import Any, Literal

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..rig.data.access import ArmatureObject
from ..rig.data.rotation import CHANNELS, EULER, rotation_channel

SIZES = dict((*CHANNELS.values(), EULER)) | {"location": 3, "scale": 3}
_ROWS = {size: np.dtype(f"V{4 * size}") for size in SIZES.values()}
_PACKED = {size: Struct(f"{size}f") for size in SIZES.values()}


class Slot:
    """Where in a channel's numbers those of one bone are."""

    __slots__ = ("channel", "index", "pack_into", "place", "start")

    def __init__(self, channel: str, index: int) -> None:
        size = SIZES[channel]
        self.channel = channel
        self.index = index
        self.place = slice(index * size, (index + 1) * size)
        self.start = 4 * index * size
        self.pack_into = _PACKED[size].pack_into


def rotation_slot(bone: PoseBone, index: int) -> Slot:
    """The slot of the channel that the bone's rotation mode uses; ``index`` is its place among the pose's bones."""
    return Slot(rotation_channel(bone.rotation_mode), index)


class Channels:
    """The channels of one object's pose as they stand, and what is to become of them."""

    def __init__(self, ob: ArmatureObject) -> None:
        self._bones = ob.pose.bones
        self._count = len(self._bones)  # for which Blender goes through all
        self._object = ob
        self._given: dict[str, bytes] = {}
        self._values: dict[str, array[float]] = {}

    def copy(self) -> Channels:
        """A copy of all numbers, which can be set apart from these."""
        other = Channels(self._object)
        other._given = dict(self._given)
        other._values = {channel: numbers[:] for channel, numbers in self._values.items()}
        return other

    def get(self, slot: Slot) -> list[float]:
        """The numbers of one bone, in single precision as Blender keeps them."""
        return self.all(slot.channel)[slot.place].tolist()

    def set(self, slot: Slot, numbers: Sequence[float]) -> None:
        """Set the numbers of one bone; `write` brings them to Blender."""
        slot.pack_into(self._values.get(slot.channel) or self.all(slot.channel), slot.start, *numbers)

    def rows(self, channel: str) -> NDArray[Any]:
        """The numbers of all bones ``(bones, numbers)``, to be read and set in place."""
        return np.frombuffer(self.all(channel), np.float32).reshape(-1, SIZES[channel])

    def all(self, channel: str) -> array[float]:
        """The numbers of all bones, one after the other."""
        if channel not in self._values:
            numbers = array("f", bytes(4 * SIZES[channel] * self._count))
            self._bones.foreach_get(channel, numbers)
            self._given[channel] = numbers.tobytes()
            self._values[channel] = numbers
        return self._values[channel]

    def bytes_of(self, channel: str) -> bytes:
        """The numbers of all bones as they are stored."""
        return self.all(channel).tobytes()

    def equals(self, other: Channels) -> bool:
        """Whether the numbers of these channels are the same as in others."""
        channels = self._values | other._values
        return all(self.all(channel).tobytes() == other.all(channel).tobytes() for channel in channels)

    def reset(self) -> None:
        """Go back to what Blender has."""
        self._values.clear()

    def write(self, tag: Literal["DATA", "OBJECT"] = "DATA") -> None:
        """Write what differs from what was read, and have the pose evaluated anew.

        With the tag ``OBJECT`` it is because the object's transform is, and with it whatever hangs on that; with
        ``DATA`` so is the armature, for which Blender goes through all that the scene evaluates.
        """
        for channel, numbers in self._values.items():
            if numbers.tobytes() != self._given[channel]:
                self._set(channel, numbers)
        # foreach_set alone leaves the evaluated pose as it was.
        self._object.update_tag(refresh={tag})

    def _set(self, channel: str, numbers: array[float]) -> None:
        if self._object.library is None:
            self._bones.foreach_set(channel, numbers)
            return
        bones, which, size = *self._changed(channel), SIZES[channel]
        for i in which:  # of linked objects, Blender lets bones be set only one by one
            setattr(bones[i], channel, numbers[i * size : (i + 1) * size])

    def take_back(self) -> None:
        """Put back what was read, and leave the evaluated pose as it is: Blender is not told."""
        for channel in self._values:
            bones, which, size = *self._changed(channel), SIZES[channel]
            given = array("f", self._given[channel])
            for i in which:  # setting all at once, Blender would be told
                bones[i].path_resolve(channel, False).foreach_set(given[i * size : (i + 1) * size])

    def _changed(self, channel: str) -> tuple[Any, list[int]]:
        """The pose's bones, and which are those of which something was set in a channel."""
        numbers, given = self._values[channel].tobytes(), self._given[channel]
        which = differing(channel, numbers, given) if numbers != given else []
        # For a bone by its number, Blender goes through all before it.
        return self._bones.values() if len(which) > self._count // 4 else self._bones, which


def differing(channel: str, numbers: bytes, others: bytes) -> list[int]:
    """The bones whose numbers of a channel are others, to the bit."""
    row = _ROWS[SIZES[channel]]
    different: list[int] = (np.frombuffer(numbers, row) != np.frombuffer(others, row)).nonzero()[0].tolist()
    return different
