"""The channels of all bones of a pose, read and written at once: per bone that costs as much as solving the limb."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from bpy.types import PoseBone

from .access import ArmatureObject
from .rotation import CHANNELS, EULER

SIZES = dict((*CHANNELS.values(), EULER)) | {"location": 3, "scale": 3}


class Slot:
    """Where in a channel's numbers those of one bone are."""

    __slots__ = ("channel", "place")

    def __init__(self, channel: str, index: int) -> None:
        size = SIZES[channel]
        self.channel = channel
        self.place = slice(index * size, (index + 1) * size)


def rotation_slot(bone: PoseBone, index: int) -> Slot:
    """The slot of the channel that the bone's rotation mode uses; ``index`` is its place among the pose's bones."""
    return Slot(CHANNELS.get(bone.rotation_mode, EULER)[0], index)


class Channels:
    """The channels of one object's pose as they stand, and what is to become of them."""

    def __init__(self, ob: ArmatureObject) -> None:
        self._bones = ob.pose.bones
        self._object = ob
        self._count = len(self._bones)
        self._given: dict[str, bytes] = {}
        self._values: dict[str, list[float]] = {}

    def get(self, slot: Slot) -> list[float]:
        """The numbers of one bone, in single precision as Blender keeps them."""
        return self._read(slot.channel)[slot.place]

    def set(self, slot: Slot, numbers: Sequence[float]) -> None:
        """Set the numbers of one bone; `write` brings them to Blender."""
        values = self._values.get(slot.channel) or self._read(slot.channel)
        values[slot.place] = numbers

    def write(self) -> bool:
        """Write what differs from what was read, and say whether anything did."""
        changed = False
        for channel, values in self._values.items():
            numbers = array("f", values)
            if numbers.tobytes() != self._given[channel]:
                self._bones.foreach_set(channel, numbers)
                changed = True
        if changed:
            # foreach_set alone leaves the evaluated pose as it was.
            self._object.update_tag(refresh={"DATA"})
        return changed

    def _read(self, channel: str) -> list[float]:
        if channel not in self._values:
            numbers = array("f", bytes(4 * SIZES[channel] * self._count))
            self._bones.foreach_get(channel, numbers)
            self._given[channel] = numbers.tobytes()
            self._values[channel] = numbers.tolist()
        return self._values[channel]
