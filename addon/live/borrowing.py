"""Borrowing the channels of a rig for solutions, and restoring them without Blender taking notice.

The window writes the animated values of a frame to the original rig as well. A render does not, nor does a scene that
no window shows. When an original rig is written to, Blender copies it for evaluation again, and its animated values
would be those of the window's frame. So the values of the evaluated frame are written to it too, until then.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from typing import Any, Literal

import numpy as np
from bpy.types import Depsgraph
from numpy.typing import NDArray

from ..blender import channels
from ..blender.animation import set_at, value_at
from ..blender.types import ArmatureObject, split_path

Rows = NDArray[np.float32]


class BorrowedChannels:
    """The channels of one rig while it is posed: as they are, and as they are to be evaluated."""

    def __init__(self, rig: ArmatureObject, paths: Collection[str], depsgraph: Depsgraph) -> None:
        self.rig = rig
        self._before: dict[str, Rows] = {}
        self._rows: dict[str, Rows] = {}
        self._read: dict[str, Rows] = {}
        evaluated: Any = rig.evaluated_get(depsgraph)
        if paths and is_at_other_frame(rig, evaluated, depsgraph):
            self._write_animation(paths, evaluated)

    def rows(self, channel: str) -> Rows:
        """The numbers of all bones (bones, numbers), to be read, and set in place."""
        if channel not in self._rows:
            self._before[channel] = channels.read_channel(self.rig, channel)
            self._rows[channel] = self._before[channel].copy()
        return self._rows[channel]

    def as_they_are(self, channel: str) -> Rows:
        """The same to be read only, which costs less where nothing is set then."""
        if channel not in self._read:
            self._read[channel] = channels.read_channel(self.rig, channel)
        return self._rows.get(channel, self._read[channel])

    def write(self, tag: Literal["OBJECT", "DATA"]) -> None:
        """Write all that was set, for Blender to evaluate."""
        for channel, rows in self._rows.items():
            channels.write_channel(self.rig, channel, rows, self._before[channel])
        self.rig.update_tag(refresh={tag})  # which foreach_set does not do

    def restore(self) -> None:
        """Restore the channels; the evaluated pose stays."""
        with ExitStack() as stack:  # each of them, though another may fail
            for channel, rows in self._rows.items():
                stack.callback(channels.restore_channel, self.rig, channel, rows, self._before[channel])

    def _write_animation(self, paths: Collection[str], evaluated: Any) -> None:
        for path in paths:
            bone, channel = split_path(path)
            if bone and channel in channels.SIZES:
                index = self.rig.pose.bones.find(bone)
                if index >= 0:
                    self.rows(channel)[index] = getattr(evaluated.pose.bones[index], channel)[:]
            elif (value := value_at(evaluated, path)) is not None and value != value_at(self.rig, path):
                # It stays, for Blender would notice as it is restored; a window's next frame sets it again.
                set_at(self.rig, path, value)


def is_at_other_frame(rig: ArmatureObject, evaluated: ArmatureObject, depsgraph: Depsgraph) -> bool:
    """Whether the original rig is not in the frame that was evaluated."""
    if depsgraph.mode == "RENDER":
        return True
    here, there = (np.empty(3 * len(ob.pose.bones), np.float32) for ob in (rig, evaluated))
    rig.pose.bones.foreach_get("tail", here)
    evaluated.pose.bones.foreach_get("tail", there)
    return here.tobytes() != there.tobytes()
