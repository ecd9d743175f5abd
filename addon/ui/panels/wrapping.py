"""Sentences in as many lines as a panel is wide enough for."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from unicodedata import category

import blf
from bpy.types import Context

MARGINS = 78
"""Pixels beside a line at the interface's scale 1: of the panel, an icon, and the tabs of a sidebar."""

FONT = 0
"""The interface's own."""

FIRST_WIDE = "\u2e80"
"""From this letter on come scripts without spaces, that may break anywhere but beside brackets, quotes and stops."""

OPENING, CLOSING = {"Ps", "Pi"}, {"Pe", "Pf", "Po"}
"""Unicode's categories of what may not stand at the end, and at the start of a line."""


def lines_of(context: Context, sentence: str) -> list[str]:
    """A sentence in lines that fit into the context's region."""
    preferences: Any = context.preferences
    region: Any = context.region
    scale = preferences.system.ui_scale
    blf.size(FONT, preferences.ui_styles[0].widget.points * scale)
    room = region.width - MARGINS * scale
    lines = [""]
    for piece in pieces_of(sentence):
        size: Any = blf.dimensions(FONT, (lines[-1] + piece).rstrip())
        if lines[-1] and size[0] > room:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def pieces_of(sentence: str) -> list[str]:
    """What a line may break between: words with the spaces after them, and letters that need none."""
    pieces = [sentence[:1]]
    for last, letter in pairwise(sentence):
        is_wide = letter >= FIRST_WIDE or last == " " or last >= FIRST_WIDE
        is_bound = (not letter.isascii() and category(letter) in CLOSING) or category(last) in OPENING
        if is_wide and not is_bound:
            pieces.append("")
        pieces[-1] += letter
    return pieces
