"""What an animator set on animated properties and has not keyed, kept where Blender would set it to the animation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import bpy
from bpy.types import Context, Object

from .animation import curves_everywhere, set_at, value_at


@contextmanager
def unkeyed_kept(context: Context, objects: Iterable[Object]) -> Iterator[None]:
    """Keep unkeyed changes of objects that go through Edit Mode, or get or lose drivers: Blender then sets everything
    animated to its animation, as if the frame changed."""
    before = {ob: {path: value_at(ob, path) for path in _paths(ob)} for ob in objects}
    try:
        yield
    finally:
        if any(before.values()):
            context.evaluated_depsgraph_get()
        for ob, values in before.items():
            for path, value in values.items():
                if None not in (value, now := value_at(ob, path)) and now != value:
                    set_at(ob, path, value)


@contextmanager
def frame_held() -> Iterator[None]:
    """Keep the windows at what they show while properties of drivers are set: for each that Python sets, Blender has
    every window of the context's scene go to its frame anew (``NC_SCENE | ND_FRAME``), where everything in the scene
    that is not keyed is lost. Meanwhile that scene is one that no window shows."""
    unseen = bpy.data.scenes.new("Planar IK")
    try:
        with bpy.context.temp_override(scene=unseen):
            yield
    finally:
        bpy.data.scenes.remove(unseen)


def _paths(ob: Object) -> set[str]:
    """The data paths of all F-curves that act on an object; what drivers set is nobody's to keep."""
    return {curve.data_path for curve in curves_everywhere(ob)}
