"""Sentences in as many lines as a panel is wide enough for."""

from __future__ import annotations

from typing import Any

import blf
from bpy.types import Context

MARGINS = 78
"""Pixels beside a line at the interface's scale 1: of the panel, an icon, and the tabs of a sidebar."""

FONT = 0
"""The interface's own."""

FIRST_WIDE = "\u2e80"
"""From this letter on come scripts that are written without spaces, and may break anywhere."""


def lines_of(context: Context, sentence: str) -> list[str]:
    """A sentence in lines that fit into the context's region."""
    preferences: Any = context.preferences
    region: Any = context.region
    scale = preferences.system.ui_scale
    blf.size(FONT, preferences.ui_styles[0].widget.points * scale)
    room = region.width - MARGINS * scale
    lines = [""]
    for piece in _pieces(sentence):
        size: Any = blf.dimensions(FONT, (lines[-1] + piece).rstrip())
        if lines[-1] and size[0] > room:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def _pieces(sentence: str) -> list[str]:
    """What a line may break between: words with the spaces after them, and letters that need none."""
    pieces = [""]
    for letter in sentence:
        if letter >= FIRST_WIDE or (pieces[-1] and (pieces[-1][-1] == " " or pieces[-1][-1] >= FIRST_WIDE)):
            pieces.append("")
        pieces[-1] += letter
    return pieces
