"""One object in one evaluated frame: what its chains share there, and what of it is animated.

The window writes the animated values of a frame to the original object as well. A render does not, nor does a scene
that no window shows yet. When an original object is written to, Blender copies it for evaluation again, and its
animated values would be those of the window's frame. So the values of the evaluated frame are lent to it until then.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import numpy as np
from bpy.types import Depsgraph, Object
from mathutils import Matrix

from ..rig.anatomy import is_even, is_nothing, size_of
from ..rig.data.access import ArmatureObject, split_path
from ..rig.data.animation import set_at
from .channels import SIZES, Channels

SAME_SIZE = 1e-6
"""How much the size of what carries a limb may differ, in single precision, and still count as unchanged."""


class Frame:
    """One object as it stands in one evaluated frame."""

    def __init__(self, evaluated: ArmatureObject, depsgraph: Depsgraph, has_changed: bool) -> None:
        self.evaluated = evaluated
        self.depsgraph = depsgraph
        self.has_changed = has_changed
        self._bones = evaluated.pose.bones
        self._from_world = evaluated.matrix_world.inverted_safe()
        self._spaces = {"": self._from_world}
        self._sizes: dict[str, float] = {}
        self._nothing: dict[str, bool] = {}
        self._shown: set[Any] = set()

    def shows(self, ob: Object) -> bool:
        """Whether Blender surely evaluates an object here: what is hidden it does only if something shown needs it."""
        if self.depsgraph.mode == "VIEWPORT" and ob.visible_get(view_layer=self.depsgraph.view_layer):
            return True  # to go through all objects takes longer
        if not self._shown:
            self._shown = {each.original for each in self.depsgraph.ids}
        return ob in self._shown

    def space(self, bone: str) -> Matrix:
        """What takes the world to the pose of a bone, or without a name to the armature."""
        space = self._spaces.get(bone)
        if space is None:
            space = self._spaces[bone] = self._bones[bone].matrix.inverted_safe() @ self._from_world
        return space

    def is_nothing(self, bone: str) -> bool:
        """Whether the pose of a bone, or without a name the armature, is scaled to nothing in the world."""
        if bone not in self._nothing:
            world = self.evaluated.matrix_world
            self._nothing[bone] = is_nothing(world @ self._bones[bone].matrix if bone else world)
        return self._nothing[bone]

    def has_size(self, bone: str, size: float) -> bool:
        """Whether a bone's pose is scaled evenly, to within rounding as much as it was."""
        if bone not in self._sizes:
            matrix = self._bones[bone].matrix if bone else Matrix()
            self._sizes[bone] = size_of(matrix) if is_even(matrix) else 0.0
        return abs(self._sizes[bone] - size) <= SAME_SIZE * size


def is_apart(ob: ArmatureObject, evaluated: ArmatureObject, depsgraph: Depsgraph) -> bool:
    """Whether the object itself does not stand in the frame that is evaluated."""
    if depsgraph.mode == "RENDER":
        return True
    here, there = (array("f", bytes(12 * len(of.pose.bones))) for of in (ob, evaluated))
    ob.pose.bones.foreach_get("tail", here)
    evaluated.pose.bones.foreach_get("tail", there)
    return here.tobytes() != there.tobytes()


def lend_animation(ob: ArmatureObject, evaluated: ArmatureObject, paths: set[str], lent: ExitStack) -> None:
    """Bring the animated values of the evaluated frame to an object that does not have them itself."""
    bones: dict[str, list[str]] = {channel: [] for channel in SIZES}
    for path in paths:
        bone, channel = split_path(path)
        if channel in SIZES:
            bones[channel].append(bone)
        else:
            _copy(path, ob, evaluated)
    channels, there = Channels(ob), Channels(evaluated)
    for channel, names in bones.items():
        if names:
            rows = _rows_of(ob, names)
            channels.rows(channel)[rows] = there.rows(channel)[rows]
    channels.write()
    lent.callback(channels.take_back)


def _rows_of(ob: ArmatureObject, names: Iterable[str]) -> Any:
    found = {ob.pose.bones.find(name) for name in names} - {-1}
    return np.array(sorted(found), np.intp)


def _copy(path: str, ob: Any, evaluated: Any) -> None:
    try:
        set_at(ob, path, evaluated.path_resolve(path))
    except (ValueError, AttributeError, TypeError, KeyError):
        return  # a curve left over from something that is gone animates nothing
