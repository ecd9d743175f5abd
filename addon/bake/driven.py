"""Influence that a driver says, such as a slider of the rig: what it is outside of the baked frames, so that keys can
say that in the driver's place."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import nullcontext
from functools import partial
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.animation import animated_paths, curves_everywhere, driver_of, strips_of
from ..blender.dependencies import is_python
from ..blender.stepping import times_of
from ..blender.types import scene_of
from ..limb.settings import SLIDER
from ..limb.storage import path_to_influence
from ..poses.reading import Evaluated
from .frames import shot, step_apart
from .method import Method

Array = NDArray[Any]


class Driven(NamedTuple):
    """A limb's influence outside of the baked frames: the driver, where on F-curves these frames are, and what it is
    there, both ``(frames,)``."""

    driver: Any
    times: Array
    values: Array


def driver_of_influence(limb: PoseBone) -> Any:
    """The driver of a limb's IK Influence, or None."""
    curve = driver_of(limb.id_data, path_to_influence(limb.name))
    return None if curve is None or curve.mute else curve


def influence_outside(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float], method: Method
) -> Generator[float, None, dict[tuple[Any, str], Driven]]:
    """What drivers say outside of these frames, of each limb that has one, by rig and name."""
    drivers = {(limb.id_data, limb.name): curve for limb in limbs if (curve := driver_of_influence(limb))}
    if not drivers:
        return {}
    beside = [frames[0] - 1.0, frames[-1] + 1.0]
    start, end = (
        beside if all(map(_reads_no_animation, drivers.values())) else _extent(context, drivers.values(), method)
    )
    before = np.arange(min(start, floor(beside[0])), beside[0])
    after = np.arange(ceil(beside[1]), max(end, beside[1]) + 1.0)
    outside = [*before, *beside, *after[after > beside[1]]]
    values = np.empty((len(outside), len(drivers)))

    def reading(evaluated_of: Evaluated) -> Callable[[int], None]:
        bones = [evaluated_of(ob).pose.bones[name] for ob, name in drivers]

        def read(i: int) -> None:
            values[i] = [bone[SLIDER["influence"].key] for bone in bones]

        return read

    with nullcontext(partial(step_apart, context)) if method.is_solved else shot(context, is_live=False) as step:
        for _ in step(dict.fromkeys(ob for ob, _ in drivers), outside, reading):
            yield 1.0
    times = times_of(scene_of(context), outside)
    return {key: Driven(curve, times, values[:, i]) for i, (key, curve) in enumerate(drivers.items())}


def _reads_no_animation(curve: Any) -> bool:
    """Whether a driver reads properties only that nothing animates."""
    driver = curve.driver
    if driver.type == "SCRIPTED" and (is_python(curve) or "frame" in driver.expression):
        return False
    targets = [(variable.type, target) for variable in driver.variables for target in variable.targets]
    return all(
        kind == "SINGLE_PROP" and target.id and not target.data_path.startswith((*animated_paths(target.id),))
        for kind, target in targets
    )


def _extent(context: Context, drivers: Any, method: Method) -> tuple[float, float]:
    """The first and the last frame in which anything may change that drivers read: of the scene, and of what moves."""
    scene = scene_of(context)
    owners = {ob for ob, _ in method.depends_on}
    targets = [target for curve in drivers for variable in curve.driver.variables for target in variable.targets]
    owners |= {target.id for target in targets if target.id}
    times = [time for owner in owners for curve in curves_everywhere(owner) for time in curve.range()]
    times += [time for owner in owners for strip in strips_of(owner) for time in (strip.frame_start, strip.frame_end)]
    stretch = float(times_of(scene, [1.0])[0])
    ends = [scene.frame_start, scene.frame_end, *(time / stretch for time in times)]
    return floor(min(ends)), ceil(max(ends))
