"""Going through frames: in a scene that holds nothing but what limbs need, or in the shot as it is."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import bpy
from bpy.types import Context, Object, Scene

from ..blender.editing import set_frame
from ..blender.stepping import stepping
from ..blender.types import scene_of
from ..blender.words import Refused
from ..poses.reading import Evaluated

Reading = Callable[[Evaluated], Callable[[int], None]]
"""Makes what reads the frame of a number, as long as the evaluated objects are not made anew."""

Steps = Generator[float, None, None]
"""Gives after some frames the part that is done; closed before its end, it leaves all as it was."""

Step = Callable[[Iterable[Object], Sequence[float], Reading], Steps]
"""Goes through frames, reading what is evaluated of some objects."""

AT_ONCE = 16
"""How many frames are gone through before anybody can look at the window or cancel: Blender may make its graph anew
then, and with it all that is read."""


def step_apart(context: Context, objects: Iterable[Object], frames: Sequence[float], reading: Reading) -> Steps:
    """Go through frames in a scene that holds these objects only, in which time runs as in the shot and no limb is
    live. What the objects depend on comes along by itself."""
    scene = bpy.data.scenes.new("Planar IK Bake")
    try:
        _set_live(scene, False)
        render, of_shot = scene.render, scene_of(context).render
        render.frame_map_old, render.frame_map_new = of_shot.frame_map_old, of_shot.frame_map_new
        for ob in objects:
            scene.collection.objects.link(ob)
        for start in range(0, len(frames), AT_ONCE):
            for i in range(start, min(start + AT_ONCE, len(frames))):
                set_frame(scene, frames[i])
                if i == start:
                    read = reading(partial(_evaluated, depsgraph=scene.view_layers[0].depsgraph))
                read(i)
            yield (i + 1) / len(frames)
    finally:
        bpy.data.scenes.remove(scene)


@contextmanager
def shot(context: Context, is_live: bool) -> Iterator[Step]:
    """Steps through frames of the shot as playback would, its live limbs posed or in FK; afterwards the shot is back at
    the frame that was shown, with what was posed there without keys."""
    was_live = _set_live(scene_of(context), is_live)
    with stepping(context) as show_frame:

        def step(_objects: Iterable[Object], frames: Sequence[float], reading: Reading) -> Steps:
            for i, at in enumerate(frames):
                show_frame(at)
                reading(partial(_evaluated, depsgraph=context.evaluated_depsgraph_get()))(i)
                yield (i + 1) / len(frames)

        try:
            yield step
        finally:
            _set_live(scene_of(context), was_live)


def _set_live(scene: Scene, is_live: bool) -> bool:
    """Let the extension pose the live limbs of a scene or not; give what it did."""
    settings: Any = scene.planar_ik  # type: ignore[attr-defined]
    was_live: bool = settings.live
    if was_live != is_live:
        settings.live = is_live
    return was_live


def _evaluated(ob: Any, depsgraph: Any) -> Any:
    evaluated = ob.evaluated_get(depsgraph)
    if ob.type == "ARMATURE" and not evaluated.is_evaluated:
        raise Refused("'{object}' is disabled in viewports, and so stands still: enable it to bake it", object=ob.name)
    return evaluated
