"""Poses without keys, kept as a step is undone or redone by which mechanisms come, go or are made anew: Blender then
sets all that is animated to its animation, as it does after Edit Mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent
from bpy.types import Scene

from ..rig.data.access import is_armature
from ..rig.data.unkeyed import animated_values, set_again
from .mechanism.references import parts_of


class Seen(NamedTuple):
    """What a rig is before a step is undone or redone."""

    frame: float
    bones: int
    values: Mapping[str, Any]


_seen: dict[str, Seen] = {}
"""By the names of the rigs."""


@persistent
def _before_step(scene: Scene, *_args: Any) -> None:
    """A step is about to be undone or redone."""
    _seen.clear()
    for ob in _animated():
        _seen[ob.name] = Seen(scene.frame_current_final, len(ob.data.bones), animated_values(ob))


@persistent
def _after_step(scene: Scene, *_args: Any) -> None:
    """A step was undone or redone, and nothing is evaluated yet. What the step left as it was stays; a value that came
    with the step may be of the frame before, if the step was to go to another one."""
    left = {}
    for ob in _animated():
        seen = _seen.get(ob.name)
        if seen and seen.frame == scene.frame_current_final and (parts_of(ob) or seen.bones != len(ob.data.bones)):
            now = animated_values(ob)
            left[ob] = {path: value for path, value in now.items() if seen.values.get(path) == value}
    if any(left.values()):
        set_again(bpy.context, left)


def _animated() -> list[Any]:
    """The rigs that are animated, in Object Mode too: to add a limb by hand ends there, with its target selected."""
    rigs = [ob for ob in bpy.data.objects if is_armature(ob) and not ob.library]
    return [ob for ob in rigs if ob.animation_data and ob.mode != "EDIT"]


HANDLERS = (
    ("undo_pre", _before_step),
    ("redo_pre", _before_step),
    ("undo_post", _after_step),
    ("redo_post", _after_step),
)
