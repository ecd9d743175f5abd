"""Which side of the rig a bone is on, by Blender's own rules for names."""

from __future__ import annotations

import bpy


def other_side(name: str) -> str:
    """The name on the other side, or the same if it tells no side. Of a name in a namespace, like Mixamo's
    'mixamorig:LeftArm', Blender would read no side: what comes after it counts."""
    space, mark, own = name.rpartition(":")
    return space + mark + bpy.utils.flip_name(own)
