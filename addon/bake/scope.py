"""What to bake: which frames, and the chains of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Object, PoseBone, Scene
from numpy.typing import NDArray

from ..rig.data.access import ArmatureObject, chain_settings, is_armature, place_of_setting, scene_of, view_layer_of
from ..rig.data.animation import animated_paths, curves_of
from ..rig.kinds import Refused

SOURCES = ("SCENE", "PREVIEW", "ACTION", "GIVEN")


MOST_FRAMES = 1_000_000
"""How many frames one bake takes: eleven hours of film, and what gathering one chain needs half a gigabyte for."""

SLAB = 32_768
"""Chains times frames that are worked on at once: what they take beside the samples does not grow with the frames."""


class Span(NamedTuple):
    """What was asked for: where the range comes from (one of `SOURCES`), its ends if they are given, and the step."""

    source: str = "SCENE"
    start: float = 1.0
    end: float = 250.0
    step: float = 1.0


def frames_of(context: Context, span: Span, chains: list[PoseBone]) -> NDArray[Any]:
    """The frames to bake, in order; both ends of the range if the step comes to them. Raises `Refused`."""
    return frames_between(*_ends(context, span, chains), span.step)


def frames_between(start: float, end: float, step: float) -> NDArray[Any]:
    """From one frame to another by steps. Raises `Refused`."""
    if not step > 0.0:
        raise Refused("The step is not above zero: give 1 for every frame, 0.5 for every half frame")
    if end < start:
        raise Refused(f"The range ends at frame {end:g}, before it starts at {start:g}")
    count = 1 + floor((end - start) / step + 1e-6)
    if count > MOST_FRAMES:
        raise Refused(f"{count:,} frames are more than the {MOST_FRAMES:,} of one bake: give a shorter range")
    return start + step * np.arange(count)


def curve_times(scene: Scene, frames: NDArray[Any]) -> NDArray[Any]:
    """Where on F-curves frames are, which is elsewhere if the scene stretches time; rounded as Blender does."""
    times: NDArray[Any] = (frames.astype(np.float32) * np.float32(_stretching(scene))).astype(float)
    return times


def _stretching(scene: Scene) -> float:
    """Times per frame."""
    return scene.render.frame_map_old / scene.render.frame_map_new


def _ends(context: Context, span: Span, chains: list[PoseBone]) -> tuple[float, float]:
    scene = scene_of(context)
    if span.source == "GIVEN":
        return span.start, span.end
    if span.source == "PREVIEW":
        if not scene.use_preview_range:
            raise Refused("The scene has no preview range: set one, or bake the scene's range")
        return scene.frame_preview_start, scene.frame_preview_end
    if span.source == "ACTION":
        ranges = [ends for ob in _movers(chains) for ends in _key_ranges(ob)]
        if not ranges:
            raise Refused("Neither the rig nor its targets have an action: bake the scene's range, or give a range")
        first, last = min(start for start, _ in ranges), max(end for _, end in ranges)
        return floor(first / _stretching(scene)), ceil(last / _stretching(scene))
    return scene.frame_start, scene.frame_end


def _movers(chains: list[PoseBone]) -> set[Object]:
    found = {lower.id_data for lower in chains}
    for settings in map(chain_settings, chains):
        found.update(ob for ob in (settings.target, settings.pole_target) if ob)
    return found


def _key_ranges(ob: Object) -> Iterator[tuple[float, float]]:
    """The first and the last key of each of the object's F-curves."""
    for curve in curves_of(ob.animation_data):
        if len(curve.keyframe_points):
            yield tuple(curve.range())


def chains_of_scene(context: Context) -> list[PoseBone]:
    """The lower bones of all chains in the scene that are on, or may come on by their animation."""
    return [lower for ob in view_layer_of(context).objects if is_armature(ob) for lower in acting_chains(ob)]


def acting_chains(ob: ArmatureObject) -> list[PoseBone]:
    """The lower bones of all chains of an armature that are on, or may come on by their animation."""
    animated = cache(animated_paths)

    def may_come_on(lower: PoseBone) -> bool:
        owner, path = switch(lower)
        return path in animated(owner)

    bones = (bone for bone in ob.pose.bones if bone.parent)
    return [bone for bone in bones if chain_settings(bone).enabled or may_come_on(bone)]


def switch(lower: PoseBone) -> tuple[Object, str]:
    """The object that has what switches a chain on and off, and the data path of that."""
    return place_of_setting(lower, "enabled")


def slabs(frames: int, chains: int) -> Iterator[slice]:
    """So many frames, each of so many chains, in parts of a slab; or so many chains, each of so many frames."""
    size = max(SLAB // chains, 1)
    return (slice(start, min(start + size, frames)) for start in range(0, frames, size))
