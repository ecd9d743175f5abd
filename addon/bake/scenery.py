"""The chains of a scene."""

from __future__ import annotations

from bpy.types import Context, PoseBone

from ..rig.access import ArmatureObject, chain_settings, is_armature, setting_path, view_layer_of
from ..rig.animation import animated_paths


def chains_of_scene(context: Context) -> list[PoseBone]:
    """The lower bones of all chains in the scene that are on, or may come on by their animation."""
    return [lower for ob in view_layer_of(context).objects if is_armature(ob) for lower in chains_of(ob)]


def chains_of(ob: ArmatureObject) -> list[PoseBone]:
    """Those of one object."""
    paths = animated_paths(ob)
    return [
        bone for bone in ob.pose.bones if bone.parent and (chain_settings(bone).enabled or switch(bone.name) in paths)
    ]


def switch(lower: str) -> str:
    """The data path of what switches a chain on and off."""
    return setting_path(lower, "enabled")
