"""Looking at what others did to limbs on the rig, when Blender finds out anew what depends on what, as with new keys
and drivers."""

from __future__ import annotations

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene

from ..rig.data.dependencies import is_structural
from .keys import carry_over
from .quietly import is_quiet

_is_due: list[bool] = []
"""Whether something was edited while mechanisms were made."""


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    if is_structural(depsgraph):
        _is_due[:] = [True]
    if _is_due and not is_quiet():
        _is_due.clear()
        carry_over()


HANDLERS = (bpy.app.handlers.depsgraph_update_post, bpy.app.handlers.frame_change_post)


def register() -> None:
    """Listen."""
    for listeners in HANDLERS:
        listeners.append(_on_edit)


def unregister() -> None:
    """Stop listening."""
    for listeners in HANDLERS:
        listeners.remove(_on_edit)
