"""Moving keys and drivers of settings to where they act.

On the rig a setting is a custom property, but scripts and Blender's menus key it by its name on the bone. The other way
round, an action that was made on the rig keys custom properties that a limb which is live by now has not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene

from ..rig.data.access import ArmatureObject, has_chain, is_armature, runs_on_rig, setting_path, split_path
from ..rig.data.animation import animated_paths
from ..rig.data.carrying import carry, shared_users
from ..rig.data.dependencies import is_structural
from ..rig.settings import BY_NAME, ON_RIG, PREFIX
from .wanted import path_on

_ON_RIG = re.compile(rf'\["{re.escape(ON_RIG)}(\w+)"\]')
"""The data path of a custom property from its bone."""

Waiting = dict[tuple[str, str], list[ArmatureObject]]
"""Objects by the data path of what animates them, and the one where that acts."""


def _carry_over() -> None:
    """Move all animation that does nothing where it is, except in actions that are linked or shared with other objects:
    of those the chain's message says what to press."""
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
        if f"].{PREFIX}" in path or f'["{ON_RIG}' in path:
            name, rest = split_path(path)
            lower, on_rig = ob.pose.bones.get(name), _ON_RIG.fullmatch(rest)
            setting = on_rig[1] if on_rig else rest.removeprefix(PREFIX)
            if lower is None or setting not in BY_NAME:
                continue
            has_it = ON_RIG + setting in lower
            if on_rig and not has_it and has_chain(lower):
                yield path, setting_path(name, setting)
            elif not on_rig and has_it and runs_on_rig(lower):
                yield path, path_on(lower, setting)


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, or a frame shown: there are new keys or drivers only where Blender found out anew what
    depends on what."""
    if is_structural(depsgraph):
        _carry_over()


HANDLERS = (("depsgraph_update_post", _on_edit), ("frame_change_post", _on_edit))
