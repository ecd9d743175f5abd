"""The interface in other languages, through Blender's own translations. The words are data: ``translations.json``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bpy.app import translations

FILE = Path(__file__).with_name("translations.json")
CONTEXTS = ("*", "Operator")
"""Where Blender looks a text up: labels of buttons that are operators have a context of their own."""


def read_translations() -> dict[str, Any]:
    """The translations by language, as Blender wants them: by context and English text."""
    languages: dict[str, dict[str, str]] = json.loads(FILE.read_text(encoding="utf-8"))
    return {
        language: {(context, text): words for text, words in texts.items() for context in CONTEXTS}
        for language, texts in languages.items()
    }


def register() -> None:
    """Add the languages to Blender's."""
    translations.register(__package__, read_translations())


def unregister() -> None:
    """Take them away."""
    translations.unregister(__package__)
