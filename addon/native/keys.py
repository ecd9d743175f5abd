"""Keys and drivers that scripts, and Blender's own menus, give a setting by its name on the bone while it is a custom
property of the rig: they are carried over there, where they act."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene

from ..rig.access import ArmatureObject, is_armature, runs_on_rig, split_path
from ..rig.animation import animated_paths
from ..rig.carrying import carry, shared_users
from ..rig.dependencies import is_structural
from ..rig.settings import ON_RIG, PREFIX
from .quietly import is_quiet
from .wanted import path_on

Waiting = dict[tuple[str, str], list[ArmatureObject]]
"""Objects by the data path of what animates them, and the one where that acts."""


def carry_over() -> None:
    """Carry over what is animated where that does nothing, but for what is linked, or others' as well: of that, the
    message says what to press."""
    found: Waiting = {}
    for ob in filter(is_armature, bpy.data.objects):
        if ob.animation_data and not ob.library:
            for paths in _waiting(ob):
                found.setdefault(paths, []).append(ob)
    for (old, new), objects in found.items():
        for ob in objects:
            if not shared_users(ob, old, objects):
                carry(ob, old, new, objects)
                ob.update_tag(refresh={"TIME"})  # so that this frame has it


def _waiting(ob: ArmatureObject) -> Iterator[tuple[str, str]]:
    for path in animated_paths(ob):
        if f"].{PREFIX}" in path:
            name, setting = split_path(path)
            lower = ob.pose.bones.get(name)
            setting = setting.removeprefix(PREFIX)
            if lower and runs_on_rig(lower) and ON_RIG + setting in lower:
                yield path, path_on(lower, setting)


_is_due: list[bool] = []
"""Whether something was edited while mechanisms were made."""


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, or a frame shown: there are new keys or drivers only where Blender found out anew what
    depends on what."""
    if is_structural(depsgraph):
        _is_due[:] = [True]
    if _is_due and not is_quiet():
        _is_due.clear()
        carry_over()


HANDLERS = ("depsgraph_update_post", "frame_change_post")


def register() -> None:
    """Listen."""
    handlers: Any = bpy.app.handlers
    for name in HANDLERS:
        getattr(handlers, name).append(_on_edit)


def unregister() -> None:
    """Stop listening."""
    handlers: Any = bpy.app.handlers
    for name in HANDLERS:
        getattr(handlers, name).remove(_on_edit)
