"""Sentences for people: each is a template and its values, so that it can be translated and never has to be parsed."""

from __future__ import annotations

from typing import Any

from bpy.app import translations

_translations: Any = translations  # whose functions return nothing, say the stubs


class Message:
    """A sentence, or a part of one: ``values``, which may be messages too, fill the ``{names}`` of its ``template``."""

    __slots__ = ("template", "values")

    def __init__(self, template: str, **values: Any) -> None:
        self.template = template
        self.values = values

    def __str__(self) -> str:
        return self.template.format(**self.values)

    @property
    def translated(self) -> str:
        """The sentence in the language of the interface."""
        return translated_text(self.template, **self.values)


class Refused(RuntimeError):
    """What was asked for can't be done: its ``message`` says what to do instead.

    ``repair`` names the repair that would help (see ``addon.ui.operators.repairing``), if one does.
    """

    def __init__(self, template: str, repair: str = "", **values: Any) -> None:
        super().__init__(template)
        self.message = Message(template, **values)
        self.repair = repair

    def __str__(self) -> str:
        return str(self.message)


def translated_text(template: str, **values: Any) -> str:
    """A sentence in the language of the interface."""
    words = {name: value.translated if isinstance(value, Message) else value for name, value in values.items()}
    sentence: str = _translations.pgettext_rpt(template).format(**words)
    return sentence
