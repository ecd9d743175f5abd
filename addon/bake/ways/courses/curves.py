"""The channels and settings of objects and bones over the frames, from their F-curves or as they are set."""

from __future__ import annotations

from itertools import chain
from types import TracebackType
from typing import Any

import bpy
import numpy as np
from bpy.types import Object
from numpy.typing import NDArray

from ....rig.data.access import bones_of, path_to_bone, place_of_setting
from ....rig.data.animation import curve_lists_of, curves_of, slot_handle_of
from ....rig.data.fcurves import LAST_FRAME
from ....rig.data.rotation import ARRAYS, rotation_channel, to_quaternion
from ....rig.settings import CHOICES, PREFIX, SWITCH
from ...acting import Curves, acting_curves, heeds_groups
from ..subjects import OwnBone
from .transforms import matrices

SPARSE = 8
"""How many frames Blender may sample for each that is wanted."""


class Sampler:
    """The F-curves of objects' actions over frames. A context: it samples copies, and removes them at its end."""

    def __init__(self, frames: NDArray[Any]) -> None:
        self.frames = frames
        start, end = int(frames[0]), int(frames[-1])
        # Blender samples nothing past the last frame that it has, and one frame more than is wanted before.
        is_dense = end - start < SPARSE * len(frames) and end < LAST_FRAME
        self._is_whole = is_dense and bool((frames == np.round(frames)).all())
        self._range = (start, end + 1)
        self._rows = (frames - start).astype(int) if self._is_whole else None
        self._curves: dict[Object, Curves] = {}
        self._copies: list[Any] = []
        self._known: dict[tuple[Object, str, int], NDArray[Any]] = {}

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        bpy.data.batch_remove(self._copies)

    def sample(self, ob: Object, path: str, index: int) -> NDArray[Any] | None:
        """A number that may be animated, ``(frames,)``, or None if it is not."""
        key = (ob, path, index)
        if key not in self._known:
            curve = self._curves_of(ob).get((path, index))
            if curve is None:
                return None
            self._known[key] = self._sampled(curve)
        return self._known[key]

    def first(self, ob: Object, path: str, index: int, still: float) -> float:
        """The number that an object's property has in the first of the frames, ``still`` if it is not animated."""
        curve = self._curves_of(ob).get((path, index))
        return still if curve is None else curve.evaluate(float(self.frames[0]))

    def _curves_of(self, ob: Object) -> Curves:
        """The curves of an object's action that act, of a copy if they are to be sampled."""
        if ob not in self._curves:
            user = ob.animation_data
            curves = curves_of(user)
            if user and user.action and self._is_whole:
                self._copies.append(user.action.copy())
                curves = chain.from_iterable(curve_lists_of(self._copies[-1], slot_handle_of(user)))
            self._curves[ob] = acting_curves(curves, heeds_groups(ob))
        return self._curves[ob]

    def _sampled(self, curve: Any) -> NDArray[Any]:
        if self._rows is None or not len(curve.keyframe_points):
            return np.array([curve.evaluate(frame) for frame in self.frames.tolist()])
        curve.convert_to_samples(*self._range)
        points = np.empty((len(curve.sampled_points), 2), np.float32)
        curve.sampled_points.foreach_get("co", points.ravel())
        sampled: NDArray[Any] = points[self._rows, 1].astype(float)
        return sampled


class SampledChannels:
    """Channels of some of the frames, each ``(frames, numbers)`` or one row for all of them."""

    def __init__(self, sampler: Sampler, rows: slice) -> None:
        self._sampler = sampler
        self._rows = rows

    def of(self, ob: Object, prefix: str, name: str, still: Any) -> NDArray[Any]:
        """One channel by its path from the object, ``still`` where no F-curve moves it."""
        sampled = [self._sampler.sample(ob, prefix + name, index) for index in range(len(still))]
        if all(column is None for column in sampled):
            return np.array([still], float)
        numbers: NDArray[Any] = np.empty((self._rows.stop - self._rows.start, len(still)))
        for index, column in enumerate(sampled):
            numbers[:, index] = still[index] if column is None else column[self._rows]
        return numbers

    def basis(self, ob: Object, bone: str = "") -> NDArray[Any]:
        """The transform that a thing's own channels make, ``(frames, 4, 4)`` or one."""
        owner: Any = bones_of(ob)[bone] if bone else ob
        prefix = f"{path_to_bone(bone)}." if bone else ""
        names = ("location", rotation_channel(owner.rotation_mode), "scale")
        return basis(owner.rotation_mode, *(self.of(ob, prefix, name, getattr(owner, name)) for name in names))

    def location(self, ob: Object) -> NDArray[Any]:
        """An object's own location, which is its place if it has no parent."""
        return self.of(ob, "", "location", ob.location)

    def own(self, ob: Object, own: OwnBone, name: str, only_first: bool = False) -> NDArray[Any]:
        """A channel of a limb's bone as the animator has it; ``only_first`` gives it as it is when the bake begins."""
        still = own.values[name]
        if name not in own.moving:
            return np.array([still], float)
        path = f"{path_to_bone(own.name)}.{name}"
        if not only_first:
            return self.of(ob, "", path, still)
        return np.array([self._sampler.first(ob, path, index, number) for index, number in enumerate(still)])[None]

    def setting(self, ob: Object, lower: str, name: str) -> NDArray[Any]:
        """A chain's setting ``(frames,)`` as Blender sets it: within its limits, in single precision."""
        values: Any = self._sampler.sample(*place_of_setting(bones_of(ob)[lower], name), 0)
        values = values[self._rows]
        if name == SWITCH:
            return as_switch(values)
        if name in CHOICES:
            chosen: NDArray[Any] = np.floor(values + np.finfo(np.float32).eps)
            return chosen
        limits: Any = bones_of(ob)[lower].bl_rna.properties[PREFIX + name]
        within: NDArray[Any] = np.clip(values, limits.hard_min, limits.hard_max)
        return within


def as_switch(values: NDArray[Any]) -> NDArray[Any]:
    """A curve's values as Blender sets by them what is on or off: on from 1."""
    are_on: NDArray[Any] = values > 1.0 - np.finfo(np.float32).eps
    return are_on


def basis(mode: str, location: NDArray[Any], rotation: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    """Transforms ``(frames, 4, 4)`` of channels ``(frames, numbers)``, any of which may be one row for all frames."""
    count = max(map(len, (location, rotation, scale)))
    turned = to_quaternion(mode, [*np.broadcast_to(rotation, (count, rotation.shape[1])).T], ARRAYS)
    return matrices(np.broadcast_to(location, (count, 3)), turned, np.broadcast_to(scale, (count, 3)))
