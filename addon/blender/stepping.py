"""Going through frames of a scene, and coming back with what was posed without keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil, floor

import numpy as np
from bpy.types import Context, Scene
from numpy.typing import NDArray

from .animation import curves_everywhere
from .editing import frame_kept, set_frame, unkeyed_kept
from .types import scene_of, view_layer_of


@contextmanager
def stepping(context: Context) -> Iterator[Callable[[float], None]]:
    """Gives what shows a frame of the scene, as playback would. Afterwards the scene is back at the frame that was
    shown, with what was posed there without keys."""
    scene = scene_of(context)
    animated = [ob for ob in view_layer_of(context).objects if curves_everywhere(ob)]
    with unkeyed_kept(context, animated), frame_kept(scene):
        yield lambda frame: set_frame(scene, frame)


def times_of(scene: Scene, frames: Sequence[float]) -> NDArray[np.float64]:
    """Where on F-curves frames are, which is elsewhere if the scene stretches time; rounded as Blender does."""
    stretched = np.float32(scene.render.frame_map_old / scene.render.frame_map_new)
    return (np.asarray(frames, np.float32) * stretched).astype(float)


def frames_between(scene: Scene, first: float, last: float) -> range:
    """The whole frames of the scene from before a time on F-curves and strips to after another one: `times_of`
    backwards."""
    stretched = scene.render.frame_map_new / scene.render.frame_map_old
    return range(floor(first * stretched + 1e-4), ceil(last * stretched - 1e-4) + 1)


def time_now(context: Context) -> float:
    """The same of the frame that is shown."""
    return float(times_of(scene_of(context), [scene_of(context).frame_current_final])[0])
