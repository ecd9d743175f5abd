"""Which frames are looked at: every whole frame of the scene in which anything that limbs hang on can change with time,
whatever changes it; where all of it repeats, one period."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from math import ceil, floor, inf
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, FCurve, Object, PoseBone, Scene

from ..blender import animation, fcurves
from ..blender.action_writer import UNCHANGED
from ..blender.dependencies import BoneRef, Dependencies, is_python
from ..blender.stepping import stepping
from ..blender.types import Datablock, bones_of, children_of, has_bone, is_armature, scene_of, split_path

BY_TIME = ("TRANSFORM_CACHE", "CAMERA_SOLVER", "FOLLOW_TRACK", "OBJECT_SOLVER")
"""Constraints that play something by themselves."""


CAPTURED = 0.5
"""The part of frames above which keys are a capture's."""


class Frames(NamedTuple):
    """Whole frames in order, none where nothing changes; the modes before and after of the *Cycles* with which all that
    changes repeats, from the first of these to the last, or None; and where there are ``keys``, but for those of
    captures, which have some anywhere."""

    at: list[int]
    cycle: tuple[str, str] | None = None
    keys: Sequence[int] = ()


class Span(NamedTuple):
    """From when to when something changes, in frames; the frames of its keys; and the modes of its *Cycles*."""

    first: float
    last: float
    keys: Any  # (keys)
    cycle: tuple[str, str] | None = None


def frames_of(context: Context, refs: Iterable[BoneRef], beside: Iterable[BoneRef] = ()) -> Frames:
    """Which frames show how these objects and bones move: those of the scene's range in which anything that they hang
    on can change, those of its keys outside, and the one that is shown. What also moves what goes along ``beside``
    them does not count."""
    scene, dependencies = scene_of(context), Dependencies()
    moving = dependencies.dependencies_of(*refs) - dependencies.dependencies_of(*beside)
    names: dict[Object, set[str]] = {}
    for ob, bone in moving:
        names.setdefault(ob, set()).add(bone)
    animated_of = cache(_animated)
    spans = [span for ob, of_ob in names.items() for span in _spans(scene, ob, of_ob, animated_of)]
    if not spans:
        return Frames([])
    first, last = min(span.first for span in spans), max(span.last for span in spans)
    cycles = {span.cycle and tuple(mode.replace("_OFFSET", "") for mode in span.cycle) for span in spans}
    ends = {end for span in spans for end in span[:2]}
    if len(cycles) == 1 and spans[0].cycle and ends == {first, last} and first == round(first) and last == round(last):
        offsets = [span.cycle for span in spans if span.cycle and "REPEAT_OFFSET" in span.cycle]
        return _keyed(range(round(first), round(last) + 1), spans, (offsets or [spans[0].cycle])[0])
    first, last = (-inf, inf) if any(span.cycle for span in spans) else (first, last)
    inside = range(floor(max(scene.frame_start, first)), ceil(min(scene.frame_end, last)) + 1)
    keys = np.concatenate([span.keys for span in spans])
    wholes = {*np.floor(keys).astype(int).tolist(), *np.ceil(keys).astype(int).tolist()}
    shown = {scene.frame_current} if first <= scene.frame_current <= last else ()
    outside = {key for key in wholes if not scene.frame_start <= key <= scene.frame_end}
    return _keyed(sorted({*inside, *outside, *shown}), spans, None)


def _keyed(at: Sequence[int], spans: Sequence[Span], cycle: tuple[str, str] | None) -> Frames:
    keys = np.intersect1d(np.round(np.concatenate([span.keys for span in spans])).astype(int), at)
    return Frames([*at], cycle, keys.tolist() if len(keys) <= CAPTURED * len(at) else ())


def moved_by(limbs: Iterable[PoseBone]) -> list[BoneRef]:
    """The last bones of limbs and all that hang on these: with what they depend on, all that is seen of limbs."""
    waiting, bones = [*limbs], list[PoseBone]()
    while waiting:
        bones.append(waiting.pop())
        waiting += children_of(bones[-1])
    return [(bone.id_data, bone.name) for bone in bones]


def ends_of(context: Context, refs: Iterable[BoneRef]) -> tuple[int, int] | tuple[()]:
    """The first and the last frame in which these change: those of the scene where they go on beyond."""
    frames, scene = frames_of(context, refs), scene_of(context)
    ends = [scene.frame_start, scene.frame_end, scene.frame_current] if frames.cycle else []
    return (min([*ends, *frames.at]), max([*ends, *frames.at])) if frames.at else ()


def around(context: Context, refs: Iterable[BoneRef]) -> tuple[int, int]:
    """The first and the last frame that are shown, of the scene and of what changes beyond."""
    scene, ends = scene_of(context), ends_of(context, refs)
    return min([scene.frame_start, *ends]), max([scene.frame_end, *ends])


def _spans(scene: Scene, ob: Object, names: set[str], animated_of: Callable[[Any], Animated]) -> Iterator[Span]:
    """When what moves these bones of an object changes, or with "" the object itself."""

    def concerns(curve: FCurve) -> bool:
        return not curve.mute and split_path(curve.data_path)[0] in names

    stretched = scene.render.frame_map_new / scene.render.frame_map_old
    yield from (
        _span_of(curve, stretched) for curve in animation.curves_of(ob) if concerns(curve) and animation.changes(curve)
    )
    for strip in animation.strips_of(ob, muted=False):
        if not strip.mute and any(concerns(curve) for curves in animation.lists_of(strip) for curve in curves):
            ends = floor(strip.frame_start * stretched), ceil(strip.frame_end * stretched)
            yield Span(-inf, inf, np.arange(ends[0], ends[1] + 1))
    owners: list[Any] = [bones_of(ob)[name] if has_bone(ob, name) else ob for name in names]
    by_itself = any(constraint.type in BY_TIME for owner in owners for constraint in owner.constraints)
    has_shape = not is_armature(ob) and (len(ob.modifiers) > 0 or _changes_shape(ob))
    if (
        by_itself
        or has_shape
        or ob.rigid_body
        or any(concerns(curve) and _is_driven_in_time(curve, animated_of) for curve in animation.drivers_of(ob))
    ):
        yield Span(-inf, inf, np.zeros(0))


def _span_of(curve: FCurve, stretched: float) -> Span:
    """When an F-curve changes."""
    modifiers, keys = animation.modifiers_of(curve), fcurves.read_keys(curve)[0].astype(float) * stretched
    if not len(keys):
        keys = np.array(curve.range()) * stretched
    keys = np.where(np.abs(keys - np.round(keys)) <= fcurves.ONE_KEY, np.round(keys), keys)
    first, last = float(keys.min()), float(keys.max())
    if [modifier.type for modifier in modifiers] == ["CYCLES"]:
        cycles, values = modifiers[0], fcurves.read_keys(curve)[1]
        modes = cycles.mode_before, cycles.mode_after
        is_some = cycles.use_restricted_range or cycles.use_influence or cycles.cycles_before or cycles.cycles_after
        if abs(values[-1] - values[0]) <= animation.SAME:
            modes = modes[0].replace("_OFFSET", ""), modes[1].replace("_OFFSET", "")
        if not is_some and ("REPEAT_OFFSET" not in modes or curve.data_path.endswith("location")):
            return Span(first, last, keys, modes)
    if modifiers or curve.extrapolation == "LINEAR":
        return Span(-inf, inf, keys)
    return Span(first, last, keys)


def _changes_shape(ob: Object) -> bool:
    """Whether something animates the data of an object, as how far along a curve its followers are."""
    owners = [ob.data, getattr(ob.data, "shape_keys", None)]
    return any(
        animation.drivers_of(owner) or any(map(animation.changes, animation.curves_everywhere(owner, muted=False)))
        for owner in owners
    )


class Animated(NamedTuple):
    """The data paths of a datablock: those that curves change, and the drivers of others."""

    by_curves: set[str]
    by_drivers: dict[str, list[Any]]


def _animated(owner: Datablock) -> Animated:
    curves = {curve.data_path for curve in animation.curves_everywhere(owner, muted=False) if animation.changes(curve)}
    drivers: dict[str, list[Any]] = {}
    for curve in animation.drivers_of(owner):
        drivers.setdefault(curve.data_path, []).extend([] if curve.mute else [curve])
    return Animated(curves, drivers)


def _is_driven_in_time(curve: Any, animated_of: Callable[[Any], Animated], steps: int = 4) -> bool:
    """Whether what a driver says can change by the frame, or by what animates a property that it reads, so many steps
    away."""
    targets = [target for variable in curve.driver.variables for target in variable.targets if target.id]
    texts = [curve.driver.expression, *(target.data_path for target in targets)]
    if is_python(curve) or any("frame" in text for text in texts):
        return True
    for owner, path in {(target.id, target.data_path) for target in targets if target.data_path}:
        animated, paths = animated_of(owner), {path, path.rpartition("[")[0], path.rpartition(".")[0]}
        if not paths.isdisjoint(animated.by_curves):
            return True
        others = [other for each in paths for other in animated.by_drivers.get(each, ())] if steps else []
        if any(_is_driven_in_time(other, animated_of, steps - 1) for other in others):
            return True
    return False


def is_posed_by_hand(context: Context, refs: Iterable[BoneRef]) -> bool:
    """Whether these bones, or what carries them, are not as their keys have them in this frame. Looked at by showing
    that anew."""
    moving = Dependencies().dependencies_of(*refs)
    paths = [(ob, path) for ob in {ob for ob, _ in moving} for path in animation.animated_paths(ob)]
    posed = [(ob, path, animation.value_at(ob, path)) for ob, path in paths if (ob, split_path(path)[0]) in moving]
    with stepping(context) as show_frame:
        show_frame(scene_of(context).frame_current_final)
        return any(not _is_same(animation.value_at(ob, path), value) for ob, path, value in posed)


def _is_same(now: object, before: object) -> bool:
    return now == before or (
        isinstance(now, float | int | tuple) and np.allclose(now, before, rtol=UNCHANGED, atol=UNCHANGED)  # type: ignore[arg-type]
    )
