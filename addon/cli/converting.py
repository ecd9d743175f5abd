"""Putting the chains of a file on the rig, and bringing them back."""

from __future__ import annotations

import bpy
from bpy.types import PoseBone, Scene

from ..native.convert import make_live, make_portable
from ..rig.data.access import view_layer_of
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
            MAKE[command](bpy.context, [ob.pose.bones[name] for ob, name in each])
    return [
        {"scene": scene.name, "object": ob.name, "chain": name} for scene, each in named.items() for ob, name in each
    ]
