"""Writing keys of many frames into a rig's own action, in place of what its channels had in these frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from bpy.types import Context, FCurve, Object, Scene

from ..solver.ops import Array, Column
from . import animation, fcurves
from .stepping import time_now, times_of
from .types import announce_keys, scene_of, split_path

UNCHANGED = 1e-6
"""How far a number may be from what the action says and still count as that."""


def frames_shown(scene: Scene) -> range:
    """The scene's frames, up to the one that is shown."""
    now = scene.frame_current
    return range(min(scene.frame_start, now), max(scene.frame_end, now) + 1)


class ActionWriter:
    """The F-curves of one object's own action, made where they are missing. What strips ``said`` by data paths in
    `frames_shown`, (frames, numbers) each, new curves go on saying where nothing else is written."""

    def __init__(
        self, context: Context, ob: Any, into_new: bool = False, said: Mapping[str, Array] | None = None
    ) -> None:
        announce_keys(ob)
        self._now, self._frame = time_now(context), float(times_of(scene_of(context), [1.0])[0])  # how long one is
        self._seen_times = times_of(scene_of(context), frames_shown(scene_of(context)))
        self._unkeyed = _unkeyed(ob, self._now)
        self._said = said or {}
        self._values_before: dict[str, Any] = {}
        self._shapes: dict[Any, list[Any]] = {}
        self.object = ob
        data = ob.animation_data or ob.animation_data_create()
        if into_new and data.action:
            _use_baked(data)
        is_new = data.action is None
        self.holder = animation.curve_holder(ob)
        if is_new:
            data.action.name = f"{ob.name} Baked"
        self._curves = {(curve.data_path, curve.array_index): curve for curve in self.holder.fcurves}

    def write(
        self,
        path: str,
        times: Column,
        values: Array,
        slopes: Array | None = None,
        kept: Array | tuple[float, ...] = (),
        is_stepped: bool = False,
        before: Array | None = None,
        starts: Sequence[int] = (),
        cycle: tuple[str, str] | None = None,
        cuts: Sequence[float] | Array = (),
    ) -> None:
        """Replace the keys of a property from the first to the last of these times, or of several ranges of them, by
        where the others start; ``values``, ``slopes`` per frame
        and slopes ``before`` it where these differ are ``(times, numbers)``; ``is_stepped`` holds each value up to the
        next key. What is beside them and from the first to the last time that is ``kept`` stays as it is, by a key on
        each side. With a ``cycle`` they repeat before and after; at ``cuts`` they stay until the next key."""
        now = np.atleast_1d(self._values_before.setdefault(path, animation.value_at(self.object, path)))
        for index in range(values.shape[1]):
            is_all = min(times) <= self._seen_times[0] and max(times) >= self._seen_times[-1]
            curve = self._curve(path, index, cycle is not None or is_all)
            far = 1 + (curve.extrapolation == "LINEAR" and len(curve.keyframe_points) > 0)  # two keys say the direction
            sides = [
                time
                for some in np.split(times, starts)
                for k in range(1, far + 1)
                for time in (some[0] - k * self._frame, some[-1] + k * self._frame)
                if len(kept) and (far > 1 or kept[0] <= time <= kept[-1])
            ]
            ends = [(some[end], end) for some in np.split(times, starts) for end in (0, -1)] if sides else []
            key = path, index, *ends
            if key not in self._shapes:  # it may be written again and again
                self._shapes[key] = _key_sides(curve, sides, [] if is_stepped else ends, now[index])
            kind = "CONSTANT" if is_stepped else "LINEAR" if slopes is None else "BEZIER"
            after, ahead = (None if rows is None else rows[:, index] for rows in (slopes, before))
            fcurves.write_keys(curve, times, values[:, index], kind, after, ahead, starts)
            for time in cuts:
                fcurves.hold(curve, time)
            for shape in self._shapes[key]:
                fcurves.keep_shape(curve, *shape)
            if cycle:
                fcurves.repeat(curve, cycle)

    def set_between(self, path: str, times: Column, value: float, now: float, kept: Array) -> None:
        """Set a property to a value from the first to the last of these times. Before and after, from the first to the
        last time that is ``kept``, it keeps what it had; ``now`` is that where it has no keys."""
        sides = [
            time
            for time in (times[0] - self._frame, times[-1] + self._frame)
            if len(kept) and kept[0] <= time <= kept[-1]
        ]
        old = self._curves.get((path, 0))
        numbers = {time: old.evaluate(time) if old else now for time in sides} | {times[0]: value, times[-1]: value}
        goes_on = (
            [key.interpolation for key in old.keyframe_points if key.co.x <= times[-1] + self._frame] if old else []
        )
        self._values_before.setdefault(path, animation.value_at(self.object, path))
        curve, places = self._curve(path, 0), np.array(sorted(numbers))
        fcurves.write_keys(curve, places, np.array([numbers[time] for time in places]), "CONSTANT")
        if goes_on and goes_on[-1] != "CONSTANT" and places[-1] > times[-1]:
            at = int(np.searchsorted(fcurves.read_keys(curve)[0], places[-1] - self._frame / 2.0))
            curve.keyframe_points[at].interpolation = goes_on[-1]

    def remove(self, paths: Iterable[str]) -> None:
        """Take the F-curves of properties away."""
        named = {*paths}
        for key in [key for key in self._curves if key[0] in named]:
            self.holder.fcurves.remove(self._curves.pop(key))

    def show(self, context: Context) -> None:
        """Set the properties that were written to their values in the current frame, and restore what was posed without
        keys."""
        self.restore(context)
        for path, before in self._values_before.items():
            numbers = [curve.evaluate(self._now) for i in range(4) if (curve := self._curves.get((path, i)))]
            if numbers:
                animation.set_at(self.object, path, numbers if isinstance(before, tuple) else type(before)(numbers[0]))
        self.object.update_tag()

    def restore(self, context: Context) -> None:
        """Restore the properties that were written, and what was posed without keys."""
        if self._unkeyed:
            context.evaluated_depsgraph_get()
        for path, value in {**self._unkeyed, **self._values_before}.items():
            animation.set_at(self.object, path, value)

    @property
    def paths(self) -> set[str]:
        """The data paths that have F-curves."""
        return {path for path, _ in self._curves}

    def _curve(self, path: str, index: int, is_cycle: bool = False) -> Any:
        """An F-curve that acts, with nothing but keys: what it shows by modifiers in the scene's frames, and up to the
        one that is shown, it has keys of then, unless it ``is_cycle``, which is written anew."""
        curve = self._curves.get((path, index))
        if curve is None:
            group = split_path(path)[0] or self.object.name
            curve = self._curves[path, index] = animation.new_curve(self.holder, path, index, group)
            if path in self._said and not is_cycle:
                fcurves.write_keys(curve, self._seen_times, self._said[path][:, index].astype(float))
            return curve
        if len(curve.sampled_points):
            ends = [int(curve.sampled_points[i].co.x) for i in (0, -1)]
            curve.convert_to_keyframes(ends[0], ends[1] + 1)
        if animation.modifiers_of(curve) and not is_cycle:
            times, keys = self._seen_times, fcurves.read_keys(curve)[0].astype(float)
            times = np.sort(np.concatenate((times, keys[(keys < times[0] - 0.5) | (keys > times[-1] + 0.5)])))
            values = np.array([curve.evaluate(time) for time in times])
            curve.keyframe_points.clear()
            fcurves.write_keys(curve, times, values)
        for modifier in [*curve.modifiers]:
            curve.modifiers.remove(modifier)
        if curve.group and curve.group.mute:  # which counts before 4.4, and where there are strips
            for other in curve.group.channels:
                other.mute = True
            curve.group.mute = False
        if curve.mute:
            curve.mute = False
        return curve


def _key_sides(curve: FCurve, sides: Sequence[float], ends: Sequence[tuple[float, int]], now: float) -> list[Any]:
    """Key what a curve has at these times, or a number without keys is ``now``: outside, the curve keeps its shape.
    Returns what shape it has beyond ``ends``, first (0) or last (-1) ones, for `fcurves.keep_shape`."""
    if not len(curve.keyframe_points):
        if sides:
            fcurves.write_keys(curve, np.array(sides), np.full(len(sides), now))
        return []
    for time in (*sides, *(time for time, _ in ends)):
        fcurves.insert_key_keeping_shape(curve, time)
    return [fcurves.shape_beyond(curve, *end) for end in ends]


def _unkeyed(ob: Object, time: float) -> dict[str, Any]:
    """What of a rig's animated properties Blender would set to something else once F-curves are written, by data path.
    With strips of the NLA, that may be all."""
    data = ob.animation_data
    if data and data.use_nla and data.nla_tracks:
        return {
            path: animation.value_at(ob, path)
            for path in {curve.data_path for curve in animation.curves_everywhere(ob)}
        }
    return unkeyed(ob, time)


def unkeyed(ob: Object, time: float) -> dict[str, Any]:
    """What of an object's properties is not as its action has it at a time, by data path."""
    posed: dict[str, Any] = {}
    for curve in animation.curves_of(ob):
        value = animation.value_at(ob, curve.data_path)
        number = value[curve.array_index] if isinstance(value, tuple) else value
        if isinstance(number, int | float) and abs(number - curve.evaluate(time)) > UNCHANGED:
            posed[curve.data_path] = value
    return posed


def _use_baked(data: Any) -> None:
    """Let animation data use a copy of its action, under a name that says so; the old one stays in the file."""
    old = data.action
    animation.use_copy(data)
    data.action.name = f"{old.name} Baked"
    if not old.users and old.is_editable:
        old.use_fake_user = True
