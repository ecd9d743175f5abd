"""Sentences for people: a refusal is a template and its values, so that it can be translated and never has to be
parsed."""

from __future__ import annotations

from typing import Any

from bpy.app import translations

_translations: Any = translations  # whose functions return nothing, say the stubs


SIZELESS = "'{bone}', or what carries it, is scaled to nothing or not a number"


class Refused(RuntimeError):
    """What was asked for can't be done: ``template`` says what to do instead, ``values`` fill its ``{names}``.

    ``mend`` names the mend that would help (see ``addon.ui.operators.mending``), if one does.
    """

    def __init__(self, template: str, mend: str = "", **values: Any) -> None:
        super().__init__(template)
        self.template = template
        self.mend = mend
        self.values = values

    def __str__(self) -> str:
        return self.template.format(**self.values)

    @property
    def translated(self) -> str:
        """The sentence in the language of the interface."""
        return translated_text(self.template, **self.values)


def translated_text(template: str, **values: Any) -> str:
    """A sentence in the language of the interface."""
    sentence: str = _translations.pgettext_rpt(template).format(**values)
    return sentence
