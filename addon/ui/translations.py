"""The interface in other languages, through Blender's own translations: simplified Chinese so far."""

from __future__ import annotations

import re
from functools import lru_cache

from bpy.app import translations

from ..rig.words import iface_, rpt_
from .zh_hans import ZH_HANS
from .zh_hans.sentences import SENTENCES

LANGUAGES = {"zh_HANS": ZH_HANS}

OURS = frozenset({"mend", "part", "setting", "way", "what", "why"})
"""What is filled in that is a sentence or words of ours, and so translated too; all else is names and numbers."""

_PLACE = re.compile(r"{(\w+)}")


def told(sentence: str) -> str:
    """A sentence in the language of the interface. The rooms below compose theirs in English: which one it is, and what
    was filled in, is read from it here, where it is shown."""
    text, filled_in = parts_of(sentence)
    said = rpt_(text)
    if said == text:
        return sentence
    return said.format(**{name: _words(value) if name in OURS else value for name, value in filled_in.items()})


def _words(words: str) -> str:
    """Words of ours within a sentence: another sentence, or the name of a setting as messages write it."""
    whole = told(words)
    named = iface_(words.title())
    return whole if whole != words or named == words.title() else named


@lru_cache(1024)
def parts_of(sentence: str) -> tuple[str, dict[str, str]]:
    """The sentence that ours is an instance of, and what was filled in; itself and nothing if it is none of ours."""
    for pattern, text in _patterns():
        found = pattern.fullmatch(sentence)
        if found:
            return text, found.groupdict()
    return sentence, {}


@lru_cache(1)
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Of sentences with something to fill in, those first that say the most themselves."""
    composed = [text for text in SENTENCES if _PLACE.search(text)]
    composed.sort(key=lambda text: len(_PLACE.sub("", text)), reverse=True)
    return [(_pattern(text), text) for text in composed]


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(text)), re.DOTALL)


def register() -> None:
    """Add the languages to Blender's."""
    translations.register(__package__, LANGUAGES)


def unregister() -> None:
    """Take them away."""
    translations.unregister(__package__)
