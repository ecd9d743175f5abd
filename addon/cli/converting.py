"""Putting the chains of a file on the rig, and bringing them back."""

from __future__ import annotations

import bpy
from bpy.types import Context, PoseBone, Scene

from ..native.convert import make_live, make_portable
from ..rig.access import ArmatureObject, scene_of, view_layer_of
from ..rig.setup import Refused
from .interrupt import heed
from .lines import Line
from .scenes import shown

MAKE = {"portable": make_portable, "live": make_live}


def convert_all(command: str, chains: dict[Scene, list[PoseBone]]) -> list[Line]:
    """Put chains on the rig, or bring them back, scene by scene; what is told of each. Raises `Refused`."""
    # By name: what is edited moves in memory, and with it the bones of all objects of the same armature.
    named = {scene: [(lower.id_data, lower.name) for lower in lowers] for scene, lowers in chains.items()}
    for scene, each in named.items():
        heed()
        with shown(scene):
            view_layer_of(bpy.context).update()
            for ob, _ in each:
                _check_shown(bpy.context, ob)
            MAKE[command](bpy.context, [ob.pose.bones[name] for ob, name in each])
    return [
        {"scene": scene.name, "object": ob.name, "chain": name} for scene, each in named.items() for ob, name in each
    ]


def _check_shown(context: Context, ob: ArmatureObject) -> None:
    """Raise `Refused` if an object can't go into Edit Mode, where bones are made and taken away."""
    if not ob.visible_get(view_layer=view_layer_of(context)):
        raise Refused(
            f"'{ob.name}' is hidden in the scene '{scene_of(context).name}', and Blender edits bones only of what it "
            "shows: show it and its collections, or name the chains of other objects by --chain"
        )
