"""Limbs whose bones a person edited go on as soon as Edit Mode is left, or as soon as Apply or Join is done in Object
Mode: they are rebuilt, in an undo step of their own."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender.handlers import Handlers, add_handlers, remove_handlers
from ..blender.types import is_armature, view_layer_of
from ..blender.words import Refused
from ..tasks.modes import rebuild_edited

_edited: set[str] = set()
"""The names of the armature objects that were last seen in Edit Mode, or whose armature has changed in Object Mode."""

_OWNER = object()


def _on_mode() -> None:
    """Blender's message that a mode was changed by a person, which comes after the undo step for that."""
    context = bpy.context
    rigs = [ob for ob in view_layer_of(context).objects if is_armature(ob)]
    done = [ob for ob in rigs if ob.name in _edited and ob.mode != "EDIT"]
    _edited.clear()
    _edited.update(ob.name for ob in rigs if ob.mode == "EDIT")
    if not done:
        return
    view_layer_of(context).update()
    rebuilt = False
    for ob in done:
        with suppress(Refused):  # the panel says why it has to be rebuilt
            rebuilt |= rebuild_edited(context, ob)
    _edited.difference_update(ob.name for ob in done)  # what this has changed
    if rebuilt:
        bpy.ops.ed.undo_push(message="Rebuild Planar IK")


@persistent
def _on_update(_scene: Any, depsgraph: Any) -> None:
    """An armature has changed: in Object Mode, by Apply or Join."""
    if bpy.app.background or not depsgraph.id_type_updated("ARMATURE"):
        return
    changed = {update.id.original for update in depsgraph.updates if isinstance(update.id, bpy.types.Armature)}
    for ob in view_layer_of(bpy.context).objects:
        if ob.data in changed and ob.mode == "OBJECT":
            _edited.add(ob.name)
            if not bpy.app.timers.is_registered(_on_mode):
                bpy.app.timers.register(_on_mode)


@persistent
def _watch(*_args: Any) -> None:
    """Blender forgets who wants its messages with each file."""
    _edited.clear()
    bpy.msgbus.clear_by_owner(_OWNER)
    bpy.msgbus.subscribe_rna(key=(bpy.types.Object, "mode"), owner=_OWNER, args=(), notify=_on_mode)


HANDLERS: Handlers = (("load_post", _watch), ("depsgraph_update_post", _on_update))


def register() -> None:
    """Start to listen."""
    add_handlers(HANDLERS)
    _watch()


def unregister() -> None:
    """Stop listening."""
    remove_handlers(HANDLERS)
    bpy.msgbus.clear_by_owner(_OWNER)
    if bpy.app.timers.is_registered(_on_mode):
        bpy.app.timers.unregister(_on_mode)
