"""Looking at what others did to limbs on the rig, when Blender finds out anew what depends on what: with new keys and
drivers, and when an exporter sets another action."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene

from ..rig.dependencies import is_structural
from .healing import forget, heal
from .keys import carry_over
from .quietly import is_quiet

_is_due: list[bool] = []
"""Whether something was edited while mechanisms were made."""


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    if is_structural(depsgraph):
        heal()
        _is_due[:] = [True]
    if _is_due and not is_quiet():
        _is_due.clear()
        carry_over()


@persistent
def _on_load(*_args: Any) -> None:
    forget()
    heal()  # which has nothing to compare yet


HANDLERS = {"depsgraph_update_post": _on_edit, "frame_change_post": _on_edit, "load_post": _on_load}


def register() -> None:
    """Listen."""
    for name, listener in HANDLERS.items():
        getattr(bpy.app.handlers, name).append(listener)


def unregister() -> None:
    """Stop listening."""
    for name, listener in HANDLERS.items():
        getattr(bpy.app.handlers, name).remove(listener)
