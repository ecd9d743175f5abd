"""The interface in other languages: every text that is translated is one that the extension has."""

from __future__ import annotations

import re

import bpy
import pytest

from scripts import installed
from scripts.package import ROOT


def translations():
    return installed.addon("addon.ui.translations")


def test_every_text_that_is_translated_is_in_the_code():
    code = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "addon").rglob("*.py")))
    code = code.replace(str((ROOT / "addon/ui/translations.py").read_text(encoding="utf-8")), "")
    missing = {text for texts in translations().LANGUAGES.values() for _, text in texts if f'"{text}"' not in code}
    assert missing == set()


def test_blender_says_it_in_chinese():
    view = bpy.context.preferences.view
    kept = view.language, view.use_translate_interface
    try:
        view.language, view.use_translate_interface = "zh_HANS", True
    except TypeError:
        pytest.skip("this Blender comes without languages")
    try:
        assert bpy.app.translations.pgettext_iface("Bend Side") == "弯曲方向"
        assert bpy.app.translations.pgettext_iface("Switch FK/IK", "Operator") == "切换 FK/IK"
    finally:
        view.language, view.use_translate_interface = kept


def test_what_is_filled_into_a_sentence_has_a_place_in_every_language():
    pattern = re.compile(r"{(\w+)}")
    for texts in translations().LANGUAGES.values():
        for (_, text), said in texts.items():
            assert sorted(pattern.findall(text)) == sorted(pattern.findall(said)), text


def test_no_sentence_of_the_interface_is_composed_past_the_translation():
    """Of reports, refusals and labels in the rooms that a person sees, none is an f-string with words of its own."""
    composed = re.compile(r"(?:report\(\{\"\w+\"\}, |Refused\(|label\(text=)f\"([^\"]*)\"")
    for path in sorted((ROOT / "addon" / "ui").rglob("*.py")):
        found = composed.findall(path.read_text(encoding="utf-8"))
        assert not [words for words in found if re.search("[a-z]{3}", re.sub("{[^}]*}", "", words))], path
