"""Poses without keys, kept as mechanisms come, go or are made anew with a step that is undone or redone: Blender then
sets all that is animated to its animation, as it does after Edit Mode."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..rig.data.access import is_armature
from ..rig.data.unkeyed import unkeyed_kept
from .mechanism.references import parts_of

_counted: dict[int, int] = {}
"""How many bones armatures had before the step, by their session_uid."""


@persistent
def _before_step(*_args: Any) -> None:
    """A step is about to be undone or redone."""
    _counted.clear()
    _counted.update((armature.session_uid, len(armature.bones)) for armature in bpy.data.armatures)


@persistent
def _after_step(*_args: Any) -> None:
    """A step was undone or redone, and nothing is evaluated yet: all that is set is as it was."""
    changed = {each for each in bpy.data.armatures if _counted.get(each.session_uid, 0) not in (0, len(each.bones))}
    armatures: Any = [ob for ob in bpy.data.objects if is_armature(ob) and ob.mode != "EDIT"]
    if rigs := [ob for ob in armatures if ob.data in changed or parts_of(ob)]:
        with unkeyed_kept(bpy.context, rigs):
            pass


HANDLERS = (
    ("undo_pre", _before_step),
    ("redo_pre", _before_step),
    ("undo_post", _after_step),
    ("redo_post", _after_step),
)
