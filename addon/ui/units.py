"""Lengths as the scene's units write them."""

from __future__ import annotations

import bpy
from bpy.types import Scene

UNITS = {
    "KILOMETERS": "km",
    "METERS": "m",
    "CENTIMETERS": "cm",
    "MILLIMETERS": "mm",
    "MICROMETERS": "µm",
    "MILES": "mi",
    "FEET": "ft",
    "INCHES": "in",
    "THOU": "thou",
}
"""The units of length that a scene may want, of either system, as Blender reads them."""

LEAST = 1e-3
"""The least that is said in the unit that the scene wants; what is less has that which suits it."""


def length_text(scene: Scene, length: float) -> str:
    """A length of the scene in the unit that the scene wants, in two digits."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.2g}"
    meters = length * units.scale_length
    unit = UNITS.get(units.length_unit)
    size = bpy.utils.units.to_value(units.system, "LENGTH", f"1{unit}") if unit else 1.0
    if unit and (meters >= LEAST * size or not meters):
        return f"{meters / size:.2g} {unit}"
    text: str = bpy.utils.units.to_string(units.system, "LENGTH", meters, precision=2)
    return text
