"""Limbs that Symmetrize made work as soon as Edit Mode is left: they are rebuilt, in an undo step of their own."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..blender.handlers import Handlers, add_handlers, remove_handlers
from ..blender.types import is_armature, view_layer_of
from ..blender.words import Refused
from ..tasks.symmetrized import rebuild_symmetrized

_edited: set[str] = set()
"""The names of the armature objects that were last seen in Edit Mode."""

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
            rebuilt |= rebuild_symmetrized(context, ob)
    if rebuilt:
        bpy.ops.ed.undo_push(message="Rebuild Planar IK")


@persistent
def _watch(*_args: Any) -> None:
    """Blender forgets who wants its messages with each file."""
    _edited.clear()
    bpy.msgbus.clear_by_owner(_OWNER)
    bpy.msgbus.subscribe_rna(key=(bpy.types.Object, "mode"), owner=_OWNER, args=(), notify=_on_mode)


HANDLERS: Handlers = (("load_post", _watch),)


def register() -> None:
    """Start to listen."""
    add_handlers(HANDLERS)
    _watch()


def unregister() -> None:
    """Stop listening."""
    remove_handlers(HANDLERS)
    bpy.msgbus.clear_by_owner(_OWNER)
