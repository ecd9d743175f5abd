"""Which side of the rig a bone is on, by Blender's own rules for names."""

from __future__ import annotations

import bpy


def other_side(name: str) -> str:
    """The name on the other side, or the same if it tells no side. Of a name in a namespace, like Mixamo's
    'mixamorig:LeftArm', Blender would read no side: what comes after it counts."""
    space, mark, own = name.rpartition(":")
    return space + mark + bpy.utils.flip_name(own)


def side_sign(name: str) -> int:
    """1 of a name on the left, -1 of one on the right, 0 of one that tells no side."""
    letter = next((ours for ours, theirs in zip(name, other_side(name), strict=False) if ours != theirs), "")
    return {"l": 1, "r": -1}.get(letter.lower(), 0)
