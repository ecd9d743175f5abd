"""Going through frames of a scene, and coming back with what was posed without keys; and long work in steps, so that
windows are drawn meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import update_wrapper
from typing import Generic, ParamSpec, TypeVar

import numpy as np
from bpy.types import Context, Scene
from numpy.typing import NDArray

from . import animation, editing
from .types import scene_of, view_layer_of

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

Steps = Generator[float, None, Result]
"""Work in steps: gives the part that is done, and at the end what was done. Closed before that, it leaves all as it
was."""

Progress = Callable[[float], None]
"""Who is told the part done of long work; what it raises cancels that."""


def finished(steps: Steps[Result], progress: Progress | None = None) -> Result:
    """Run work in steps to its end; its result."""
    try:
        while True:
            done = next(steps)
            if progress:
                progress(done)
    except StopIteration as end:
        result: Result = end.value
        return result
    finally:
        steps.close()


class Stepwise(Generic[Arguments, Result]):
    """A function that can be run at once (call it) or a step at a time (``steps``)."""

    def __init__(self, steps: Callable[Arguments, Steps[Result]]) -> None:
        self.steps = steps
        update_wrapper(self, steps)

    def __call__(self, *args: Arguments.args, **options: Arguments.kwargs) -> Result:
        """Run it at once."""
        return finished(self.steps(*args, **options))


@contextmanager
def stepping(context: Context) -> Iterator[Callable[[float], None]]:
    """Within, a function that shows a frame of the scene, as playback would. Afterwards the scene is back at its
    frame, with what was posed there without keys."""
    scene = scene_of(context)
    animated = [ob for ob in view_layer_of(context).objects if animation.curves_everywhere(ob)]
    with editing.keeping_unkeyed(context, animated), editing.keeping_frame(scene):
        yield lambda frame: editing.set_frame(scene, frame)


def rate_of(scene: Scene) -> float:
    """How many frames a second has."""
    return scene.render.fps / scene.render.fps_base


def times_of(scene: Scene, frames: Sequence[float]) -> NDArray[np.float64]:
    """The frames as times on F-curves, (frames): others if the scene stretches time. Rounded as Blender does."""
    stretched = np.float32(scene.render.frame_map_old / scene.render.frame_map_new)
    return (np.asarray(frames, np.float32) * stretched).astype(float)


def time_now(context: Context) -> float:
    """The frame that is shown, as a time on F-curves: see `times_of`."""
    return float(times_of(scene_of(context), [scene_of(context).frame_current_final])[0])
