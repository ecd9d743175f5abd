"""Keys and drivers that scripts, and Blender's own menus, give a setting by its name on the bone while it is a custom
property of the rig: they are carried over there, where they act."""

from __future__ import annotations

from collections.abc import Iterator

import bpy

from ..rig.access import ArmatureObject, is_armature, runs_on_rig, split_path
from ..rig.animation import animated_paths
from ..rig.carrying import carry, shared_users
from ..rig.settings import ON_RIG, PREFIX
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
