"""Which side of the rig a bone is on, by Blender's own rules for names."""

from __future__ import annotations

import bpy


def is_right(name: str) -> bool:
    """Whether a bone's name is that of the right one of a pair, like 'shin.R' or 'RightArm'."""
    mine = next((letter for letter, other in zip(name, bpy.utils.flip_name(name), strict=False) if letter != other), "")
    return mine in ("r", "R")


def swing_side(lower: str) -> float:
    """To which side a limb's knee swings, so that left and right are each other's mirror image."""
    return -1.0 if is_right(lower) else 1.0
