"""Lengths as the scene's units write them."""

from __future__ import annotations

import bpy
from bpy.types import Scene


def length_text(scene: Scene, length: float) -> str:
    """A length of the scene in the unit that suits it."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.2g}"
    text: str = bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=2)
    return text
