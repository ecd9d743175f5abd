"""Keys of whole channels at once, in whichever way this Blender stores F-curves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Object
from numpy.typing import NDArray

from ..rig.data.access import path_to_bone, split_path
from ..rig.data.animation import curves_of
from .acting import heeds_groups
from .actions import action_of, layer_of
from .modifiers import act_outside

_POINT = {"co": 2, "handle_left": 2, "handle_right": 2, "back": 1, "amplitude": 1, "period": 1}
_CHOICES = ("interpolation", "easing", "type", "handle_left_type", "handle_right_type")

_ENUMS: Any = bpy.types.Keyframe.bl_rna.properties
LINEAR = _ENUMS["interpolation"].enum_items["LINEAR"].value
BEZIER = _ENUMS["interpolation"].enum_items["BEZIER"].value
ALIGNED = _ENUMS["handle_left_type"].enum_items["ALIGNED"].value
VECTOR = _ENUMS["handle_left_type"].enum_items["VECTOR"].value
UNCHANGED = 1e-6
"""How far numbers of a channel may be apart, in radians or parts of one, and still count as the same."""

WHOLE = {"rotation_quaternion", "rotation_axis_angle"}
"""Channels whose numbers mean nothing one by one."""

SAME_FRAME = 1e-4
"""How far apart keys may be on what counts as the same frame."""

AUTOMATIC = [_ENUMS["handle_left_type"].enum_items[name].value for name in ("AUTO", "AUTO_CLAMPED")]


class Keys(NamedTuple):
    """Keys of one channel: ``frames`` ``(keys,)`` as F-curves count them, ``values`` ``(keys, numbers)``, and if the
    curve is smooth, its ``slopes`` per frame ``(keys, numbers)``; without, it is straight between keys, as Blender's
    own bake leaves it."""

    frames: NDArray[Any]
    values: NDArray[Any]
    slopes: NDArray[Any] | None = None


class Sheet:
    """The F-curves of one object's action, made where they are missing."""

    def __init__(self, ob: Object, into_new: bool) -> None:
        action, slot = action_of(ob, into_new)
        data: Any = ob.animation_data
        self._name = ob.name
        owner = self._owner = layer_of(action, slot)
        self._group = cache(lambda name: owner.groups.get(name) or owner.groups.new(name))
        self._curves = {(curve.data_path, curve.array_index): curve for curve in curves_of(data)}
        self._heeds_groups = heeds_groups(ob)

    def write(self, bone: str, channel: str, keys: Keys, still: Sequence[float] = ()) -> None:
        """Replace the keys of a bone's channel from the first to the last of these, and let it act; leave those of its
        numbers without that are all along as ``still`` says they are anyway."""
        is_still = np.zeros(keys.values.shape[1], bool)
        if still:
            is_still = (np.abs(keys.values - still) <= UNCHANGED).all(axis=0)
            if channel in WHOLE and not is_still.all():
                is_still[:] = False
        self._write(f"{path_to_bone(bone)}.{channel}", bone, keys, is_still)

    def write_property(self, path: str, keys: Keys) -> None:
        """The same for whatever property of the object has this data path."""
        bone, _ = split_path(path)
        self._write(path, bone or self._name, keys, np.zeros(keys.values.shape[1], bool))

    def _write(self, path: str, group: str, keys: Keys, is_left_out: NDArray[Any]) -> None:
        for index, points in enumerate(_points(keys)):
            curve = self._curves.get((path, index))
            if curve is None and is_left_out[index]:
                continue
            if curve is None:
                curve = self._new_curve(path, index, group)
                _add(curve, points)
            else:
                _replace(curve, points)
            self._unmute(curve)

    def mute(self, path: str) -> None:
        """Keep a property from being animated."""
        if (path, 0) in self._curves:
            self._curves[path, 0].mute = True

    def remove(self, is_left: Callable[[str], bool]) -> None:
        """Remove the curves of these data paths."""
        for path, index in [key for key in self._curves if is_left(key[0])]:
            self._owner.fcurves.remove(self._curves.pop((path, index)))

    def _unmute(self, curve: Any) -> None:
        """Let a curve act, and no other one of its group that did not."""
        group = curve.group if self._heeds_groups else None
        if group and group.mute:
            for other in group.channels:
                other.mute = True
            group.mute = False
        if curve.mute:  # Setting it costs as much as all the keys.
            curve.mute = False

    def _new_curve(self, path: str, index: int, group: str) -> Any:
        if bpy.app.version >= (5, 0):
            curve = self._owner.fcurves.new(path, index=index, group_name=group)
        elif bpy.app.version >= (4, 4):
            curve = self._owner.fcurves.new(path, index=index)
            curve.group = self._group(group)
        else:
            curve = self._owner.fcurves.new(path, index=index, action_group=group)
        self._curves[path, index] = curve
        return curve


def _points(keys: Keys) -> Iterator[dict[str, NDArray[Any]]]:
    """What `_add` writes for each number of a channel."""
    count, numbers = keys.values.shape
    places = np.empty((numbers, count, 2), np.float32)
    places[:, :, 0], places[:, :, 1] = keys.frames, keys.values.T
    kind = np.full(count, LINEAR if keys.slopes is None else BEZIER, np.uint8)
    for index in range(numbers):
        yield _handles(keys, index) | {"co": places[index], "interpolation": kind}


def _handles(keys: Keys, index: int) -> dict[str, NDArray[Any]]:
    """The handles of one number's keys: a third of the way to the next key, where it has slopes. Else they point at the
    next key, but for the first, to which an older one may lead: Blender would smooth them all, which shows nowhere on
    straight lines and takes longer than everything else about a key."""
    if keys.slopes is None:
        kinds = np.full(len(keys.frames), VECTOR, np.uint8)
        kinds[0] = AUTOMATIC[1]
        return {"handle_left_type": kinds, "handle_right_type": kinds}
    thirds = np.diff(keys.frames) / 3.0
    handles: dict[str, NDArray[Any]] = {}
    for name, sizes in (("left", -np.append(thirds[:1], thirds)), ("right", np.append(thirds, thirds[-1:]))):
        reach = sizes if len(thirds) else np.zeros(1)
        handles[f"handle_{name}_type"] = np.full(len(keys.frames), ALIGNED)
        values = keys.values[:, index] + reach * keys.slopes[:, index]
        handles[f"handle_{name}"] = np.column_stack((keys.frames + reach, values))
    return handles


def _reaches_outside(curve: Any, first: float, last: float) -> bool:
    """Whether a curve has keys that are not in a range."""
    keys = curve.keyframe_points
    return bool(keys) and (keys[0].co.x < first - SAME_FRAME or keys[-1].co.x > last + SAME_FRAME)


def _outside(curve: Any, first: float, last: float) -> dict[str, NDArray[Any]]:
    """Everything about the keys of a curve that are not in a range, with the handles next to it held in place."""
    found = {name: _get(curve, name, size) for name, size in _POINT.items()}
    found |= {name: _get(curve, name, 1, np.int32) for name in _CHOICES}
    frames = found["co"][:, 0]
    before, after = frames < first - SAME_FRAME, frames > last + SAME_FRAME
    beside = np.append(np.flatnonzero(before)[-1:], np.flatnonzero(after)[:1])
    for name in ("handle_left_type", "handle_right_type"):
        held = beside[np.isin(found[name][beside], AUTOMATIC)]
        found[name][held] = ALIGNED
    return {name: values[before | after] for name, values in found.items()}


def _merged(old: dict[str, NDArray[Any]], new: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Old keys and new ones, in whatever order; what the new ones do not say is as Blender has it."""
    count = len(new["co"])
    defaults = {name: np.zeros((count, *values.shape[1:]), values.dtype) for name, values in old.items()}
    for name, default in (("back", 1.70158), ("amplitude", 0.8), ("period", 4.1)):
        defaults[name] = np.full(count, default)
    return {name: np.concatenate((values, (defaults | new)[name])) for name, values in old.items()}


def _replace(curve: Any, points: dict[str, NDArray[Any]]) -> None:
    """Give a curve these keys, and no others in their range."""
    if len(curve.sampled_points):
        sampled = [int(curve.sampled_points[i].co.x) for i in (0, -1)]
        curve.convert_to_keyframes(sampled[0], sampled[1] + 1)
    frames = points["co"][:, 0]
    if _reaches_outside(curve, frames[0], frames[-1]):
        points = _merged(_outside(curve, frames[0], frames[-1]), points)
    curve.keyframe_points.clear()
    _add(curve, points)
    act_outside(curve, frames[0], frames[-1])


def _add(curve: Any, points: dict[str, NDArray[Any]]) -> None:
    """Give a curve without keys these."""
    keyframes = curve.keyframe_points
    keyframes.add(len(points["co"]))
    # Handles go where they are put only once they are of the type that stays there. Choices are bytes in Blender, and
    # given as those they cost an eighth of what wider numbers do.
    for name in sorted(points, key=lambda name: not name.endswith("_type")):
        kind = np.uint8 if name in _CHOICES else np.float32
        keyframes.foreach_set(name, np.ascontiguousarray(points[name], kind).ravel())
    curve.update()  # which sorts them too


def _get(curve: Any, name: str, size: int, kind: type = np.float32) -> NDArray[Any]:
    numbers: NDArray[Any] = np.zeros(size * len(curve.keyframe_points), kind)
    curve.keyframe_points.foreach_get(name, numbers)
    return numbers.reshape(-1, size) if size > 1 else numbers
