"""The keys of an F-curve: read and written all at once, taken away, or made to hold a value."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from math import ceil, floor
from typing import Any

import bpy
import numpy as np
from bpy.types import FCurve
from numpy.typing import NDArray

_ENUMS: Any = bpy.types.Keyframe.bl_rna.properties

ONE_KEY = 0.0101
"""How far apart keys are one to Blender, and what single precision of late frames makes of that."""

_DIVISIBLE = ("CONSTANT", "LINEAR", "BEZIER")
"""Ways to go on from a key to the next that have the same shape with another key between."""


def read_keys(curve: FCurve, part: str = "co") -> tuple[NDArray[Any], NDArray[Any]]:
    """The frames and values of a curve's keys, or of one of their handles."""
    places = _get(curve, part, 2)
    return places[:, 0], places[:, 1]


def write_keys(
    curve: FCurve,
    frames: NDArray[Any],
    values: NDArray[Any],
    interpolation: str = "LINEAR",
    slopes: Any = None,
    before: Any = None,
    starts: Sequence[int] = (),
) -> None:
    """Replace a curve's keys from the first to the last of these sorted frames; keys outside stay. Several such ranges
    may be given at once, by where the others start.

    ``slopes`` per frame, with interpolation BEZIER, place the handles a third of the way to the next key; where those
    ``before`` the key differ, its handles are free of each other. Without slopes,
    handles point at the next key: Blender would smooth them all, which shows nowhere on straight lines and takes longer
    than everything else about a key.
    """
    count, ranges = len(frames), np.split(frames, starts)
    places = _make_room(curve, ranges) if len(curve.keyframe_points) else None
    if places is None:
        curve.keyframe_points.add(count)
    # Handles go where they are put only once they are of the type that stays there.
    before = slopes if before is None else before
    kinds = np.full(count, _number("handle_left_type", "VECTOR" if slopes is None else "ALIGNED"))
    if slopes is not None:
        kinds[before != slopes] = _number("handle_left_type", "FREE")
    _set(curve, places, "handle_right_type", kinds)
    if slopes is None:
        kinds[[0, *starts]] = _number("handle_left_type", "AUTO_CLAMPED")  # an older key may lead here
    _set(curve, places, "handle_left_type", kinds)
    _set(curve, places, "co", np.column_stack((frames, values)))
    _set(curve, places, "interpolation", np.full(count, _number("interpolation", interpolation)))
    if slopes is not None:
        thirds = [np.diff(times) / 3.0 if len(times) > 1 else np.ones(1) for times in ranges]
        sizes = [*zip(thirds, map(len, ranges), strict=True)]
        to_left = np.concatenate([-np.append(third[:1], third)[:size] for third, size in sizes])
        to_right = np.concatenate([np.append(third, third[-1:])[:size] for third, size in sizes])
        for name, reach, slope in (("handle_left", to_left, before), ("handle_right", to_right, slopes)):
            _set(curve, places, name, np.column_stack((frames + reach, values + reach * slope)))
    curve.update()  # which sorts them too


def _make_room(curve: FCurve, ranges: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The places among a curve's keys that these ranges of frames can have: of the keys from the first to the last
    frame of each, and of new ones. The shape of the curve outside stays as it is."""
    keys, now, count = curve.keyframe_points, read_keys(curve)[0], sum(map(len, ranges))
    slack = ONE_KEY
    firsts, lasts = (np.array([times[end] for times in ranges]) for end in (0, -1))
    range_of_key = np.searchsorted(firsts - slack, now, "right") - 1
    is_within = (range_of_key >= 0) & (now <= lasts[range_of_key] + slack)
    within, outside = np.flatnonzero(is_within), np.flatnonzero(~is_within)
    if not len(outside) and len(within) >= count:
        if len(within) > count:  # all at once: one by one takes as long as stepping through the frames
            keys.clear()
            keys.add(count)
        return np.arange(count)
    at = np.searchsorted(now[outside], firsts)
    for beside in np.unique(np.concatenate((outside[at[at > 0] - 1], outside[at[at < len(outside)]]))):
        key = keys[int(beside)]
        for handle in ("handle_left_type", "handle_right_type"):
            if getattr(key, handle) in {"AUTO", "AUTO_CLAMPED"}:
                setattr(key, handle, "ALIGNED")  # or they would turn as their neighbours change
    for index in reversed(within[count:]):
        keys.remove(keys[int(index)], fast=True)
    keys.add(max(count - len(within), 0))
    return np.append(within[:count], np.arange(len(keys) - max(count - len(within), 0), len(keys)))


def reset(curve: FCurve) -> None:
    """Remove the keys and modifiers of a curve, so that a new driver gives what its expression says. Else its curve
    maps that, by keys (from 5.0 on, which round near 0 and 1) or by a modifier."""
    curve.keyframe_points.clear()
    while curve.modifiers:
        curve.modifiers.remove(curve.modifiers[0])


def repeat(curve: Any, modes: tuple[str, str]) -> None:
    """Have a curve repeat itself before and after its keys, in these two modes of *Cycles*. Quaternions can't be
    added to: they come back."""
    can_add = "quaternion" not in curve.data_path and "axis_angle" not in curve.data_path
    modifier = curve.modifiers.new("CYCLES")
    modifier.mode_before, modifier.mode_after = (m if can_add else m.replace("_OFFSET", "") for m in modes)


def insert_hold_key(curve: FCurve, frame: float, kind: str = "KEYFRAME") -> None:
    """Insert a key that holds its value until the next key, and leave the rest of the curve as it is."""
    insert_key_keeping_shape(curve, frame, kind, goes_on=False)
    hold(curve, frame)


def allow_for_modifiers(curve: FCurve, frame: float, value: float) -> None:
    """Have a key show a value, whatever modifiers add to it."""
    if curve.modifiers:
        _key_at(curve, frame).co_ui.y -= curve.evaluate(frame) - value
        curve.update()


def hold(curve: FCurve, frame: float) -> None:
    """Have a key hold its value until the next one."""
    _key_at(curve, frame).interpolation = "CONSTANT"


def insert_key_keeping_shape(curve: Any, frame: float, kind: str = "KEYFRAME", goes_on: bool = True) -> list[float]:
    """Insert a key of some kind on a curve without changing its shape. Returns the later frames that had to get keys,
    too.

    Blender divides a Bezier segment by a key without changing its shape, if no handle of it is automatic. Easing can't
    be divided: each of its frames gets a key, those after this one only if the curve is to be the same there.
    """
    keys, frames = curve.keyframe_points, read_keys(curve)[0].astype(float)
    i = int(np.searchsorted(frames, frame))
    i -= bool(i and frame - frames[i - 1] <= ONE_KEY)
    is_there = i < len(frames) and bool(frames[i] - frame <= ONE_KEY)
    for beside in range(max(i - 1, 0), min(i + is_there + 1, len(keys))):
        _fix_handles(keys[beside])
    if is_there:
        return []
    times, later = [frame], list[float]()
    interpolation = keys[i - 1].interpolation if i else "CONSTANT" if keys[0].interpolation == "CONSTANT" else "LINEAR"
    if 0 < i < len(frames) and interpolation not in _DIVISIBLE:
        later = [*range(floor(frame) + 1, ceil(frames[i]))] if goes_on else []
        times, interpolation = [*range(floor(frames[i - 1]) + 1, ceil(frame)), frame, *later], "LINEAR"
    places = [(time, curve.evaluate(time)) for time in times]
    if i and (i == len(frames) or interpolation != keys[i - 1].interpolation):  # it has ended, or was easing
        keys[i - 1].interpolation = "CONSTANT" if interpolation == "CONSTANT" else "LINEAR"
    for place in places:
        key = keys.insert(*place, keyframe_type=kind)
        _fix_handles(key)
        key.interpolation = interpolation
    return later


def shape_beyond(curve: FCurve, frame: float, end: int) -> tuple[float, int, str, Any]:
    """How a curve goes on beyond a key: before it if that is a first one (``end`` 0), else after it. The frame, the
    end, the interpolation and the handle off the key, for `keep_shape`."""
    key = _key_at(curve, frame)
    return frame, end, key.interpolation, (key.handle_right if end else key.handle_left) - key.co


def keep_shape(curve: FCurve, frame: float, end: int, interpolation: str, handle: Any) -> None:
    """Have a curve go on beyond a key as `shape_beyond` found it."""
    key = _key_at(curve, frame)
    key.handle_left_type = key.handle_right_type = "FREE"
    if end:
        key.interpolation, key.handle_right = interpolation, key.co + handle
    else:
        key.handle_left = key.co + handle


def _key_at(curve: FCurve, frame: float) -> Any:
    return curve.keyframe_points[int(np.abs(read_keys(curve)[0] - frame).argmin())]


def fade(curve: FCurve, start: float, frames: Collection[float], by: float) -> None:
    """Add an offset to the keys in these frames: ``by`` at the frame ``start``, falling to 0 at the next key after
    them."""
    if not frames:
        return
    keys = curve.keyframe_points
    end = min(key.co.x for key in keys if key.co.x > max(frames) + ONE_KEY)
    for key in [key for key in keys if min(abs(key.co.x - frame) for frame in frames) <= ONE_KEY]:
        key.co.y += by * (end - key.co.x) / (end - start)
    curve.update()


def _fix_handles(key: Any) -> None:
    """Let the handles of a key stay where they are, whatever its neighbours do."""
    kinds = {key.handle_left_type, key.handle_right_type}
    if kinds <= {"AUTO", "AUTO_CLAMPED"}:
        key.handle_left_type = key.handle_right_type = "ALIGNED"
    elif kinds - {"ALIGNED", "FREE"}:
        key.handle_left_type = key.handle_right_type = "FREE"


@cache
def _number(name: str, choice: str) -> Any:
    return np.uint8(_ENUMS[name].enum_items[choice].value)


def _get(curve: FCurve, name: str, size: int, kind: Any = np.float32) -> NDArray[Any]:
    numbers: NDArray[Any] = np.zeros(size * len(curve.keyframe_points), kind)
    curve.keyframe_points.foreach_get(name, numbers)
    return numbers.reshape(-1, size)


def _set(curve: FCurve, places: NDArray[Any] | None, name: str, numbers: NDArray[Any]) -> None:
    """Set something of some of a curve's keys, or of all. Choices are bytes in Blender, and given as those they cost an
    eighth of what wider numbers do."""
    size, kind = (2, np.float32) if numbers.ndim > 1 else (1, np.uint8)
    rows = numbers.astype(kind, copy=False).reshape(-1, size)
    if places is not None and len(places) < len(curve.keyframe_points):
        rows = _get(curve, name, size, kind)
        rows[places] = numbers.reshape(-1, size)
    curve.keyframe_points.foreach_set(name, rows.ravel())
