"""F-curves over frames. Blender samples whole frames itself, in a tenth of the time that a call for each takes."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import bpy
import numpy as np
from bpy.types import Object
from numpy.typing import NDArray

from ...rig.animation import curves_of
from ..acting import Curves, acting_curves, acts

SPARSE = 8
"""How many frames Blender may sample for each that is wanted."""


class Sampler:
    """The F-curves of objects' actions over frames. A context: it samples copies, and removes them at its end."""

    def __init__(self, frames: NDArray[Any]) -> None:
        self.frames = frames
        start, end = int(frames[0]), int(frames[-1])
        self._is_whole = bool((frames == np.round(frames)).all()) and end - start < SPARSE * len(frames)
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

    def _curves_of(self, ob: Object) -> Curves:
        if ob not in self._curves:
            self._curves[ob] = self._copied(ob) if self._is_whole else acting_curves(ob)
        return self._curves[ob]

    def _copied(self, ob: Object) -> Curves:
        """The same curves of a copy of the object's action."""
        data: Any = ob.animation_data  # with slots from 4.4 on
        if data is None or data.action is None:
            return {}
        slot = getattr(data, "action_slot", None)
        action = data.action.copy()
        self._copies.append(action)
        curves = curves_of(action, action.slots[slot.identifier] if slot else None)
        return {(curve.data_path, curve.array_index): curve for curve in curves if acts(curve)}

    def _sampled(self, curve: Any) -> NDArray[Any]:
        if self._rows is None or not len(curve.keyframe_points):
            return np.array([curve.evaluate(frame) for frame in self.frames.tolist()])
        curve.convert_to_samples(*self._range)
        points = np.empty((len(curve.sampled_points), 2), np.float32)
        curve.sampled_points.foreach_get("co", points.ravel())
        sampled: NDArray[Any] = points[self._rows, 1].astype(float)
        return sampled
