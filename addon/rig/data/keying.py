"""Keys on what was changed, and before them keys that hold what it was."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import Object

from . import fcurves
from .animation import animated_paths, curves_of, set_at, value_at


class Change(NamedTuple):
    """A property that is about to be changed: of which object, at which data path, which group its keys go to, and what
    it is before."""

    object: Object
    path: str
    group: str
    before: Any

    @classmethod
    def of(cls, ob: Object, path: str, group: str) -> Change:
        """The property at a data path from an object, as it is now."""
        return cls(ob, path, group, value_at(ob, path))

    @property
    def is_animated(self) -> bool:
        """Whether something animates the property, so that without a key the next frame takes the change back."""
        return self.path in animated_paths(self.object)

    @property
    def is_done(self) -> bool:
        """Whether the property is another now than it was before."""
        return bool(value_at(self.object, self.path) != self.before)

    def key(self) -> None:
        """Set a key on the property in the current frame."""
        self.object.keyframe_insert(self.path, group=self.group)

    def key_from(self, frame: int) -> None:
        """Set a key on the property in the current frame, ``frame``, and keep all frames before as they were."""
        keyed = {curve.array_index for curve in self._curves()}
        self.hold(frame - 1)
        now = value_at(self.object, self.path)
        for index in range(len(now)) if isinstance(now, tuple) else (-1,):
            if max(index, 0) not in keyed:
                set_at(self.object, self.path, self.before)
                self.object.keyframe_insert(self.path, index=index, frame=frame - 1, group=self.group)
                set_at(self.object, self.path, now)
        self.hold(frame - 1)
        self.key()

    def hold(self, frame: int) -> None:
        """Let what the property's curves have at a frame hold until their next key."""
        for curve in self._curves():
            fcurves.hold_from(curve, frame)

    def _curves(self) -> list[Any]:
        return [curve for curve in curves_of(self.object.animation_data) if curve.data_path == self.path]
