"""What of a recording F-curves alone say, without stepping through frames: own channels, and where these put bones and
objects below what carries them. It counts only where it is right in frames that Blender has shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

import numpy as np
from bpy.types import Context
from numpy.typing import NDArray

from ..blender.animation import curves_of, value_at
from ..blender.dependencies import BoneRef
from ..blender.rotation import ARRAYS, rotation_channel, to_quaternion
from ..blender.stepping import times_of
from ..blender.types import bones_of, path_to_bone, path_to_custom, scene_of
from ..limb.settings import SLIDER
from ..limb.tolerances import ON_TARGET, ROUNDING, UNSEEN
from ..limb.transforms import posed
from ..solver.matrices import rotation
from .reading import Recording

Array = NDArray[Any]


class Curves:
    """What F-curves say in some frames, ``(frames, ...)``, or ``(1, ...)`` of what nothing changes."""

    def __init__(self, context: Context, frames: Collection[float]) -> None:
        self._times = times_of(scene_of(context), [*frames]).tolist()
        self._curves: dict[Any, dict[str, dict[int, Any]]] = {}
        self._known: dict[tuple[Any, ...], Array] = {}

    def numbers(self, ob: Any, path: str) -> Array:
        """What a property says, ``(frames, numbers)``."""
        if (ob, path) not in self._known:
            now = value_at(ob, path)
            value = np.atleast_1d(np.array(now, float))[None]
            if curves := self._of(ob).get(path):
                value = np.tile(value, (len(self._times), 1))
                for index, curve in curves.items():
                    value[:, index] = [curve.evaluate(time) for time in self._times]
                if isinstance(now, bool):
                    value = (value >= 1.0 - ROUNDING).astype(float)  # as Blender has it
            self._known[ob, path] = value
        return self._known[ob, path]

    def base(self, ob: Any, bone: str) -> Array:
        """What own channels of a bone, or of an object, make, ``(frames, 4, 4)``."""
        owner: Any = bones_of(ob)[bone] if bone else ob
        before = f"{path_to_bone(bone)}." if bone else ""
        paths = [before + name for name in ("location", rotation_channel(owner.rotation_mode), "scale")]
        if self._of(ob).keys().isdisjoint(paths):
            return np.array(owner.matrix_basis)[None]
        place, turn, scale = (self.numbers(ob, path) for path in paths)
        quaternion = np.broadcast_arrays(*to_quaternion(owner.rotation_mode, [*turn.T], ARRAYS))
        base = np.repeat(rotation(quaternion), 1 if len(turn) > 1 else max(len(place), len(scale)), axis=0)
        base[:, :3, :3] *= scale[:, None]
        base[:, :3, 3] = place
        return base

    def pose(self, ob: Any, bone: str) -> Array:
        """Where own channels put a bone in its armature, ``(frames, 4, 4)``."""
        if (ob, bone, "pose") not in self._known:
            owner = bones_of(ob)[bone].bone
            own = self.base(ob, bone)
            if owner.use_connect and owner.parent:
                own[:, :3, 3] = 0.0
            above = self.pose(ob, owner.parent.name) if owner.parent else None
            self._known[ob, bone, "pose"] = posed(owner, above, own)
        return self._known[ob, bone, "pose"]

    def world(self, ob: Any) -> Array:
        """Where own channels put an object, ``(frames, 4, 4)``."""
        if not ob.parent:
            return self.base(ob, "")
        above = self.world(ob.parent)
        if ob.parent_type == "BONE":
            above = above @ self.pose(ob.parent, ob.parent_bone)
            above[:, :3, 3] += above[:, :3, 1] * ob.parent.data.bones[ob.parent_bone].length
        in_world: Array = above @ np.array(ob.matrix_parent_inverse) @ self.base(ob, "")
        return in_world

    def _of(self, ob: Any) -> dict[str, dict[int, Any]]:
        if ob not in self._curves:
            paths = self._curves[ob] = {}
            for curve in curves_of(ob):
                if not curve.mute:
                    paths.setdefault(curve.data_path, {})[curve.array_index] = curve
        return self._curves[ob]


def filled_in(
    recording: Recording,
    curves: Curves,
    shown: Array,
    rows: Array,
    influence: float | None = None,
    refs: Collection[BoneRef] | None = None,
) -> bool:
    """Fill in rows of a recording what curves say there, of limbs at an ``influence`` if one is given; if in the rows
    that Blender has ``shown`` that is what was read, else nothing. Says whether it is. Of matrices only those of some
    objects and bones, if ``refs`` name them."""
    pairs = []
    for numbers, own in chain(_numbers_read(recording, curves, influence), _matrices_read(recording, curves, refs)):
        size = max(float(np.abs(numbers[shown]).max(initial=0.0)), UNSEEN)
        if not (np.abs(own[shown if len(own) > 1 else ...] - numbers[shown]) <= ON_TARGET * size).all():
            return False
        pairs.append((numbers, own))
    for numbers, own in pairs:
        numbers[rows] = own[rows if len(own) > 1 else ...]
    return True


def _numbers_read(recording: Recording, curves: Curves, influence: float | None) -> Iterator[tuple[Array, Array]]:
    """What was read of channels and sliders, and the same by curves, (frames, ...) each."""
    for channel, values in recording.channels.items():
        yield values, curves.numbers(channel.object, channel.path)
    for rig in recording.rigs:
        for name, row, limb in rig.changing:
            numbers, at = curves.numbers(rig.object, path_to_custom(limb, SLIDER[name].key)), max(SLIDER[name].bone, 0)
            if name == "influence" and influence is not None:
                numbers = np.array([[influence]])
            if at < numbers.shape[1]:
                yield rig.sliders[name][:, row], numbers[:, at]
    for (ob, name), read in recording.read.items():
        for bone, row in read.row.items() if len(read.buffer) and name != "matrix" else ():
            yield read.numbers[:, row], curves.numbers(ob, f"{path_to_bone(bone)}.{name}")


def _matrices_read(
    recording: Recording, curves: Curves, refs: Collection[BoneRef] | None
) -> Iterator[tuple[Array, Array]]:
    """The same of matrices (frames, 4, 4), if ``refs`` name their bones, or are None."""
    for ref, bases in recording.bases.items():
        yield bases, curves.base(*ref)
    for ob, worlds in recording.worlds.items():
        yield _by_columns(worlds), curves.world(ob)
    for (ob, name), read in recording.read.items():
        for bone, row in read.row.items() if name == "matrix" else ():
            if refs is None or (ob, bone) in refs:
                yield _by_columns(read.numbers[:, row]), curves.pose(ob, bone)


def _by_columns(numbers: Array) -> Array:
    """Matrices as Blender stores them, as such; the same memory."""
    return numbers.reshape(-1, 4, 4).swapaxes(1, 2)
