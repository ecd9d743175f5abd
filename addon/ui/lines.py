"""Sentences in panels, in as many lines as they take, and lengths as the scene's units write them."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

import bpy
from bpy.types import Context, Scene


def draw_lines(layout: Any, context: Context, sentence: str, icon: str, width: float | None = None) -> None:
    """A sentence in as many lines as it takes in the region, or in a popup of this width, an icon before the first."""
    column = layout.column(align=True)
    for number, line_of_text in enumerate(_wrapped(context, sentence, width)):
        column.label(text=line_of_text, icon="BLANK1" if number else icon, translate=False)


def _wrapped(context: Context, sentence: str, width: float | None) -> list[str]:
    region, scale = context.region, context.preferences.system.ui_scale  # type: ignore[union-attr]
    across = width or (region.width if region else 250) / scale
    return wrap(sentence, max(20, int(across / 7.5) - 4))


def length_text(scene: Scene, length: float) -> str:
    """A length of the scene in the unit that suits it."""
    units = scene.unit_settings
    if units.system == "NONE":
        return f"{length:.3g}"
    text: str = bpy.utils.units.to_string(units.system, "LENGTH", length * units.scale_length, precision=3)
    return text
