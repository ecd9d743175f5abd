"""Which side of the rig a bone is on, by Blender's own rules for names."""

from __future__ import annotations

import bpy


def other_side(name: str) -> str:
    """The name on the other side, or the same if it tells no side. Of a name in a namespace, like Mixamo's
    'mixamorig:LeftArm', Blender would read no side: what comes after it counts."""
    space, mark, own = name.rpartition(":")
    return space + mark + bpy.utils.flip_name(own)


def swing_side(lower: str) -> float:
    """The side that the knee of a limb swings to, by the name of its lower bone: -1 for the right one of a pair, like
    'shin.R' or 'RightArm', else 1, so that left and right mirror each other."""
    own = next((letter for letter, other in zip(lower, other_side(lower), strict=False) if letter != other), "")
    return -1.0 if own in ("r", "R") else 1.0
