"""The local armature that holds the mechanisms of a rig to whose bones none can be added, since they are linked.

It stays at the world's origin, unscaled: its pose space stands for the rig's, wherever that is. Blender keeps of a
library override the constraints that are added to it, and the keys, but no drivers where the library has animation, and
no new custom properties: all that stands in the annex.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Collection, Context

from ...rig.data.access import ArmatureObject, is_armature, scene_of
from ...rig.settings import PART


def needs_annex(rig: ArmatureObject) -> bool:
    """Whether the bones of a rig that can be posed here are linked, or their armature is overridden as well."""
    return rig.library is None and bool(rig.data.library or rig.data.override_library)


def annex_of(rig: ArmatureObject) -> ArmatureObject | None:
    """The annex of a rig; None if it has none."""
    return next((ob for ob in bpy.data.objects if is_annex_of(ob, rig)), None)  # type: ignore[return-value]


def is_annex(ob: Any) -> bool:
    """Whether an object is the annex of a rig."""
    return ob.type == "ARMATURE" and PART in ob


def is_annex_of(ob: Any, rig: ArmatureObject) -> bool:
    """Whether it is that of this one."""
    return is_annex(ob) and ob[PART] == rig


def rig_of(host: ArmatureObject) -> ArmatureObject | None:
    """The rig whose limbs the mechanisms in an armature pose: itself, or of an annex another; None if that is gone."""
    rig: Any = host[PART] if is_annex(host) else host
    return rig if rig and is_armature(rig) else None


def host_for(context: Context, rig: ArmatureObject) -> ArmatureObject:
    """The armature that the mechanisms of a rig's chains are made in: the rig's own, or an annex, made if need be."""
    return (annex_of(rig) or _make_annex(context, rig)) if needs_annex(rig) else rig


def _make_annex(context: Context, rig: ArmatureObject) -> ArmatureObject:
    name = f"{rig.name} Planar IK"
    annex: Any = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    annex[PART] = rig
    annex.lock_location = annex.lock_rotation = annex.lock_scale = (True, True, True)
    annex.hide_viewport = annex.hide_render = annex.hide_select = True
    _collection_for(context, rig).objects.link(annex)
    return annex  # type: ignore[no-any-return]


def _collection_for(context: Context, rig: ArmatureObject) -> Collection:
    """A collection of the rig's that takes more objects, or the scene's."""
    own = (each for each in rig.users_collection if not (each.library or each.override_library))
    return next(own, None) or scene_of(context).collection


def remove_if_empty(annex: ArmatureObject | None) -> None:
    """Remove an annex that holds nothing any more."""
    if annex and not annex.data.bones:
        data = annex.data
        action = annex.animation_data.action if annex.animation_data else None
        bpy.data.objects.remove(annex)
        bpy.data.armatures.remove(data)
        if action and not action.users:
            bpy.data.actions.remove(action)
