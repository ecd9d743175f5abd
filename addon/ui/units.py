"""Numbers as the scene's units write them."""

from __future__ import annotations

import bpy
from bpy.types import Scene


def length_text(scene: Scene, length: float) -> str:
    """A length of the scene in its unit, as Blender's own fields show it."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.4g}"
    text: str = bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=4)
    return text
