"""The dots that say at a glance how a limb is: green on target, amber on its way there, red where it does not get."""

from __future__ import annotations

from typing import Any

import bpy.utils.previews
import numpy as np

DOT_COLOURS = {
    "GREEN": (0.35, 0.75, 0.3),
    "AMBER": (1.0, 0.65, 0.1),
    "RED": (0.95, 0.25, 0.2),
    "GREY": (0.55, 0.55, 0.55),
}

SIZE = 32
"""Pixels of an icon, across."""

RADIUS = 9.0

_icons: list[Any] = []


def dot_icon(colour: str) -> int:
    """The number of the icon of a colour."""
    number: int = _icons[0][colour].icon_id
    return number


def _pixels(colour: tuple[float, float, float]) -> list[float]:
    """A disc with a soft edge: of each pixel red, green and blue, as opaque as it is, and its opacity."""
    across = np.arange(SIZE) - (SIZE - 1) / 2.0
    opacity = np.clip(RADIUS + 0.5 - np.hypot(*np.meshgrid(across, across)), 0.0, 1.0)
    pixels = np.empty((SIZE, SIZE, 4))
    pixels[..., :3], pixels[..., 3] = opacity[..., None] * np.array(colour), opacity
    flat: list[float] = pixels.ravel().tolist()
    return flat


def register() -> None:
    """Make the icons."""
    icons: Any = bpy.utils.previews.new()
    _icons.append(icons)
    for name, colour in DOT_COLOURS.items():
        icon = icons.new(name)
        icon.icon_size = (SIZE, SIZE)
        icon.icon_pixels_float = _pixels(colour)


def unregister() -> None:
    """Take them away."""
    bpy.utils.previews.remove(_icons.pop())
