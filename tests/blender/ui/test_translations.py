"""The interface in Chinese: what is translated is still said, and what is filled in has its place. What has no
translation shows in English."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from scripts.package import ROOT


def words(addon) -> dict[str, str]:
    read = addon("ui.translations").read_translations()["zh_HANS"]
    return {text: translated for (context, text), translated in read.items() if context == "*"}


def said() -> str:
    """A pattern of everything that the house may say: constants, what f-strings make, and a slider's name alone."""
    nodes = [node for path in (ROOT / "addon").rglob("*.py") for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    texts = {
        form(node.value)
        for node in nodes
        if isinstance(node, ast.Constant) and node.value.__class__ is str
        for form in (str, lambda text: " ".join(text.split()))
    }
    texts |= {text.replace("Knee", joint) for text in texts for joint in ("Elbow", "Bend")}  # as its buttons say
    patterns = {re.escape(text) for text in texts | {text.removeprefix("IK ") for text in texts}}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            patterns.add(
                "".join(re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in node.values)
            )
    return "|".join(pattern for pattern in patterns if re.search("[^\\W_]{3}", pattern))


def test_what_is_translated_is_still_said(addon) -> None:
    pattern = re.compile(said())
    assert [text for text in words(addon) if not pattern.fullmatch(text)] == []


def test_what_is_filled_in_is_filled_in_there(addon) -> None:
    places = re.compile(r"{\w*}")
    wrong = {text for text, told in words(addon).items() if {*places.findall(text)} != {*places.findall(told)}}
    assert wrong == set()


def test_the_file_is_in_the_package() -> None:
    assert (Path(ROOT) / "addon" / "ui" / "translations.json").is_file()
