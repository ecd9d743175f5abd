"""Poses without keys, kept as a step is undone or redone by which mechanisms come, go or are made anew: Blender then
sets all that is animated to its animation, as it does after Edit Mode."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent
from bpy.types import Scene

from ..rig.data.access import ArmatureObject, is_armature, view_layer_of
from ..rig.data.unkeyed import Values, animated_values, set_again
from .mechanism.references import parts_of


class Before(NamedTuple):
    """What a rig is before a step is undone or redone."""

    frame: float
    bones: int
    values: Values


_before: dict[str, Before] = {}
"""By the names of the rigs."""


@persistent
def _before_step(scene: Scene, *_args: Any) -> None:
    """A step is about to be undone or redone."""
    _before.clear()
    for ob in _rigs():
        _before[ob.name] = Before(scene.frame_current_final, len(ob.data.bones), animated_values(ob))


@persistent
def _after_step(scene: Scene, *_args: Any) -> None:
    """A step was undone or redone, and nothing is evaluated yet. What the step left as it was stays; a value that came
    with the step may be of the frame before, if the step was to go to another one."""
    left = {}
    for ob in _rigs():
        was = _before.get(ob.name)
        if was and was.frame == scene.frame_current_final and (parts_of(ob) or was.bones != len(ob.data.bones)):
            now = animated_values(ob)
            left[ob] = {path: value for path, value in now.items() if was.values.get(path) == value}
    set_again(bpy.context, left)


def _rigs() -> list[Any]:
    """The animated rigs that a step may be about: those in Pose Mode, and in Object Mode, where limbs are known by what
    they follow, the active one and those that have or had limbs. To read all of a crowd would take longer."""
    rigs: Any = [ob for ob in bpy.data.objects if is_armature(ob) and not ob.library and ob.animation_data]
    active = view_layer_of(bpy.context).objects.active
    return [ob for ob in rigs if ob.mode != "EDIT" and (ob == active or ob.mode == "POSE" or _had_limbs(ob))]


def _had_limbs(ob: ArmatureObject) -> bool:
    return any(bone.is_property_set("planar_ik") for bone in ob.pose.bones)


HANDLERS = (
    ("undo_pre", _before_step),
    ("redo_pre", _before_step),
    ("undo_post", _after_step),
    ("redo_post", _after_step),
)
