"""The interface in Chinese: nothing that is said lacks its words, and what is filled in has its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from scripts.package import ROOT

SAYING = {"Refused", "Message", "translated_text", "inform", "warn", "_invalid"}
"""Calls whose texts are shown to people in the window."""


def said() -> Iterator[str]:
    """Every text that such a call is given, in the rooms that speak to people in the window."""
    for path in sorted((ROOT / "addon").rglob("*.py")):
        if "cli" in path.parts:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and name_of(node.func) in SAYING:
                texts = [part for word in node.args[:1] for part in ast.walk(word) if isinstance(part, ast.Constant)]
                yield from (text.value for text in texts if isinstance(text.value, str) and " " in text.value.strip())


def name_of(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def words(addon) -> dict[str, str]:
    read = addon("ui.translations").read_translations()["zh_HANS"]
    return {text: translated for (context, text), translated in read.items() if context == "*"}


def test_everything_that_is_said_is_translated(addon) -> None:
    assert sorted({*said()} - {*words(addon)}) == []


def test_what_is_filled_in_is_filled_in_there(addon) -> None:
    places = re.compile(r"{\w*}")
    wrong = {text for text, told in words(addon).items() if {*places.findall(text)} != {*places.findall(told)}}
    assert wrong == set()


def test_the_file_is_in_the_package() -> None:
    assert (Path(ROOT) / "addon" / "ui" / "translations.json").is_file()
