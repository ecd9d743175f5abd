"""What an animator set on animated properties and has not keyed, kept where Blender would set it to the animation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.types import Context, Object

from .animation import curves_everywhere, set_at, value_at

Values = Mapping[str, Any]
"""What properties of an object hold, by their data paths."""


@contextmanager
def unkeyed_kept(context: Context, objects: Iterable[Object]) -> Iterator[None]:
    """Keep unkeyed changes of objects that go through Edit Mode, get or lose drivers, or whose F-curves are edited:
    Blender then sets everything animated to its animation, as if the frame changed."""
    before = {ob: animated_values(ob) for ob in objects}
    try:
        yield
    finally:
        set_again(context, before)


def animated_values(ob: Object) -> Values:
    """What holds of all that F-curves act on of an object; what drivers set is nobody's to keep."""
    return {path: value_at(ob, path) for path in {curve.data_path for curve in curves_everywhere(ob)}}


def set_again(context: Context, values: Mapping[Object, Values]) -> None:
    """Set what objects had again, where evaluating the scene sets it to the animation."""
    if any(values.values()):
        context.evaluated_depsgraph_get()
    for ob, of in values.items():
        for path, value in of.items():
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
