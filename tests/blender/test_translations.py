"""The interface in other languages: every text that is translated is one that the extension has."""

from __future__ import annotations

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
