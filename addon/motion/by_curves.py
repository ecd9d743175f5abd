"""What of a recording F-curves alone say, without stepping through frames: own channels, and where these put bones and
objects below what carries them. It counts only where it is right in frames that Blender has shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from bpy.types import Context
from numpy.typing import NDArray

from ..blender.animation import curves_of, value_at
from ..blender.dependencies import BoneRef
from ..blender.rotation import ARRAY_ANGLES, rotation_channel, to_quaternion
from ..blender.stepping import times_of
from ..blender.types import bones_of, path_to_bone, path_to_custom, scene_of
from ..limb.features.pole_follow import carried as carried_pole
from ..limb.follow import following_pole
from ..limb.settings import slider_of
from ..limb.tolerances import ON_TARGET, ROUNDING, UNSEEN
from ..limb.transforms import posed
from ..solver.matrices import rotation
from .reading import Recording, Values

Array = NDArray[Any]


Key = tuple[Any, ...]
"""What of a recording an array is: its kind, the object, and more."""


def arrays_of(recording: Recording) -> Iterator[tuple[Key, Array]]:
    """What may change of a recording, (frames, ...) each: ``numbers`` of a data path, a ``slider`` of a limb, the
    ``base`` that own channels of a control make, the ``world`` of an object, and the ``pose`` of a bone."""
    for channel, values in recording.channels.items():
        yield ("numbers", channel.object, channel.path), values
    for rig in recording.rigs:
        for name, row, limb in rig.changing:
            yield ("slider", rig.object, limb, name), rig.sliders[name][:, row]
    for ref, bases in recording.bases.items():
        yield ("base", *ref), bases
    for ob, worlds in recording.worlds.items():
        yield ("world", ob, ""), _by_columns(worlds)
    for (ob, name), read in recording.read.items():
        for bone, row in read.changing.items():
            if name == "matrix":
                yield ("pose", ob, bone), _by_columns(read.numbers[:, row])
            else:
                yield ("numbers", ob, f"{path_to_bone(bone)}.{name}"), read.numbers[:, row]


def _by_columns(numbers: Array) -> Array:
    """Matrices as Blender stores them, as such; the same memory."""
    return numbers.reshape(-1, 4, 4).swapaxes(1, 2)


class Curves:
    """What F-curves say in some rows of frames, ``(rows, ...)``, or ``(1, ...)`` of what nothing changes; and what is
    ``known`` there, or is set to ``new_values``. Limbs are at an ``influence``, if one is given."""

    def __init__(
        self,
        context: Context,
        frames: Sequence[float],
        rows: Array,
        influence: float | None = None,
        known: Recording | None = None,
        new_values: Values | None = None,
    ) -> None:
        self.rows, self._influence = rows, influence
        self._times = times_of(scene_of(context), [frames[row] for row in rows]).tolist()
        self._curves: dict[Any, dict[str, dict[int, Any]]] = {}
        self._known = {key: numbers for key, numbers in (arrays_of(known) if known else ()) if self._may_know(key)}
        for channel, numbers in (new_values or {}).items():
            self._known["numbers", channel.object, channel.path] = numbers
        self._arrays: dict[Key, Array] = {}

    def _may_know(self, key: Key) -> bool:
        return self._influence is None or key[-1] != "influence"

    def array_of(self, kind: str, *about: Any) -> Array:
        """One of `arrays_of` a recording."""
        key = (kind, *about)
        if key not in self._arrays:
            known = self._known.get(key)
            self._arrays[key] = getattr(self, f"_{kind}")(*about) if known is None else known[self.rows]
        return self._arrays[key]

    def _numbers(self, ob: Any, path: str) -> Array:
        now, curves = value_at(ob, path), self._of_paths(ob).get(path, {})
        numbers = np.tile(np.array(now, float).ravel(), (len(self._times) if curves else 1, 1))
        for index, curve in curves.items():
            numbers[:, index] = [curve.evaluate(time) for time in self._times]
        return (numbers >= 1.0 - ROUNDING).astype(float) if isinstance(now, bool) else numbers  # as Blender has it

    def _slider(self, ob: Any, limb: str, name: str) -> Array:
        """What the slider of this name of a limb says, (rows) or (1)."""
        if name == "influence" and self._influence is not None:
            return np.array([self._influence])
        slider = slider_of(name)
        numbers = self.array_of("numbers", ob, path_to_custom(limb, slider.key))
        return numbers[:, slider.bone] if 0 <= slider.bone < numbers.shape[1] else numbers[:, 0]

    def _base(self, ob: Any, bone: str) -> Array:
        owner: Any = bones_of(ob)[bone] if bone else ob
        before = f"{path_to_bone(bone)}." if bone else ""
        paths = [before + name for name in ("location", rotation_channel(owner.rotation_mode), "scale")]
        if self._of_paths(ob).keys().isdisjoint(paths):
            return np.array(owner.matrix_basis)[None]
        place, turn, scale = (self.array_of("numbers", ob, path) for path in paths)
        quaternion = np.broadcast_arrays(*to_quaternion(owner.rotation_mode, [*turn.T], ARRAY_ANGLES))
        base = np.repeat(rotation(quaternion), 1 if len(turn) > 1 else max(len(place), len(scale)), axis=0)
        base[:, :3, :3] *= scale[:, None]
        base[:, :3, 3] = place
        return base

    def _pose(self, ob: Any, bone: str) -> Array:
        owner, own = bones_of(ob)[bone].bone, self.array_of("base", ob, bone)
        if owner.use_connect and owner.parent:
            own = own.copy()
            own[:, :3, 3] = 0.0
        if following := following_pole(ob, bone):
            share = self.array_of("slider", ob, following.limb.name, "pole_follow")[:, None, None]
            above, target = (self._moved(ob, name) for name in following[1:])
            moved: Array = carried_pole(above, target, share)
            return moved @ posed(owner, None, own)
        return posed(owner, self.array_of("pose", ob, owner.parent.name) if owner.parent else None, own)

    def _moved(self, ob: Any, bone: str) -> Array:
        """How a bone is moved from its rest, in the armature."""
        moved: Array = self.array_of("pose", ob, bone) @ np.linalg.inv(np.array(bones_of(ob)[bone].bone.matrix_local))
        return moved

    def _world(self, ob: Any, _: str) -> Array:
        if not ob.parent:
            return self.array_of("base", ob, "")
        above = self.array_of("world", ob.parent, "")
        if ob.parent_type == "BONE":
            above = above @ self.array_of("pose", ob.parent, ob.parent_bone)
            above[:, :3, 3] += above[:, :3, 1] * ob.parent.data.bones[ob.parent_bone].length
        in_world: Array = above @ np.array(ob.matrix_parent_inverse) @ self.array_of("base", ob, "")
        return in_world

    def _of_paths(self, ob: Any) -> dict[str, dict[int, Any]]:
        """The F-curves that act on an object, by data path and index."""
        if ob not in self._curves:
            paths = self._curves[ob] = {}
            for curve in curves_of(ob):
                if not curve.mute:
                    paths.setdefault(curve.data_path, {})[curve.array_index] = curve
        return self._curves[ob]


def filled_in(
    recording: Recording, curves: Curves, checked: Array | None = None, refs: Collection[BoneRef] | None = None
) -> bool:
    """Fill in the rows of curves what these say, if in rows of these that are ``checked`` that is what was read, else
    nothing. Says whether it is. Of bones only some, if ``refs`` name them."""
    pairs, among = [], np.searchsorted(curves.rows, [] if checked is None else checked)
    for key, numbers in arrays_of(recording):
        if key[0] == "pose" and refs is not None and key[1:] not in refs:
            continue
        own = curves.array_of(*key)
        shown = 1.0 * numbers[curves.rows[among]]
        size = max(float(np.abs(shown).max(initial=0.0)), UNSEEN)
        if not (np.abs(own[among if len(own) > 1 else ...] - shown) <= ON_TARGET * size).all():
            return False
        pairs.append((numbers, own))
    for numbers, own in pairs:
        numbers[curves.rows] = own
    return True
