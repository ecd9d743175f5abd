"""Blender's translation functions, under the names by which its extraction of messages finds them. Names and numbers
are filled in after translation, by `str.format`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpy.app import translations

_translations: Any = translations  # whose functions return nothing, say the stubs

iface_: Callable[..., str] = _translations.pgettext_iface
"""Of labels."""

rpt_: Callable[..., str] = _translations.pgettext_rpt
"""Of reports and messages."""

n_: Callable[..., str] = _translations.pgettext_n
"""Marks a text that is translated later, and gives it as it is."""
