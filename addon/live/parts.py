"""The channels that a chain writes over: what the animator has in them, and what the solver put there."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from operator import mul

from bpy.types import PoseBone

from ..rig.rotation import to_channels, to_quaternion
from ..solver.rotation import Quaternion
from .channels import Channels, Slot, rotation_slot


class Part:
    """A bone's channel: the animator's own (FK) value, and what the solver wrote over it."""

    __slots__ = ("own", "slot", "written")

    def __init__(self, slot: Slot, own: Sequence[float], written: Sequence[float]) -> None:
        self.slot = slot
        self.own = own
        self.written = written

    def notice(self, channels: Channels) -> bool:
        """Take what stands in the channel as the animator's, unless the solver wrote it; say whether it is new."""
        current = channels.get(self.slot)
        if current == array("f", self.written).tolist():
            return False
        self.own = self.written = current
        return True

    def restore(self, channels: Channels) -> None:
        """Put the animator's value back, if it is still the solver's that stands there."""
        if self.written is not self.own and channels.get(self.slot) == array("f", self.written).tolist():
            channels.set(self.slot, self.own)
            self.written = self.own


class Scale(Part):
    """A bone's scale."""

    __slots__ = ()

    def stretch(self, channels: Channels, sizes: Sequence[float]) -> None:
        """Lengthen the bone by factors on its own scale."""
        self.written = tuple(map(mul, self.own, sizes))
        channels.set(self.slot, self.written)


class Rotation(Part):
    """A bone's rotation, in its rotation mode."""

    __slots__ = ("mode",)

    def __init__(self, slot: Slot, own: Sequence[float], written: Sequence[float], mode: str) -> None:
        super().__init__(slot, own, written)
        self.mode = mode

    def own_rotation(self) -> Quaternion:
        """The animator's own rotation."""
        return to_quaternion(self.mode, self.own)

    def overwrite(self, channels: Channels, rotation: Quaternion, has_changed: bool) -> None:
        """Put the solver's rotation over the animator's.

        Of the ways to write it, a new frame takes the one closest to the animator's, so that it does not matter which
        frame came before; an edit takes the one closest to what stands there, so that nothing jumps while dragging.
        """
        near = self.own if has_changed else self.written
        if self.mode == "QUATERNION":  # as `to_channels` does, but this runs twice for each limb and frame
            w, x, y, z = rotation
            a, b, c, d = near
            if w * a + x * b + y * c + z * d < 0.0:
                rotation = (-w, -x, -y, -z)
            self.written = rotation
        else:
            self.written = to_channels(self.mode, rotation, near)
        channels.set(self.slot, self.written)

    def converted(self, mode: str, current: Sequence[float]) -> list[float]:
        """The animator's value in another rotation mode."""
        return array("f", to_channels(mode, self.own_rotation(), current)).tolist()


def read_rotation(
    bone: PoseBone, index: int, channels: Channels, last: Rotation | None, kept: Sequence[float] | None
) -> Rotation:
    """The rotation of a bone, which is ``index``-th of its pose.

    ``last`` is what was read before. Without it, as after a file was opened or a step undone, ``kept`` is the
    animator's value if the solver's stands in the channel, and None if the animator's does.
    """
    mode = bone.rotation_mode
    slot = rotation_slot(bone, index)
    current = channels.get(slot)
    if last is None:
        return Rotation(slot, current if kept is None else list(kept)[: len(current)], current, mode)
    if last.mode != mode:
        return Rotation(slot, last.converted(mode, current), current, mode)
    last.slot = slot
    last.notice(channels)
    return last


def read_scale(index: int, channels: Channels, last: Scale | None, kept: Sequence[float] | None) -> Scale:
    """The scale of the ``index``-th bone of a pose; the rest as in `read_rotation`."""
    slot = Slot("scale", index)
    if last is None:
        current = channels.get(slot)
        return Scale(slot, current if kept is None else list(kept), current)
    last.slot = slot
    last.notice(channels)
    return last
