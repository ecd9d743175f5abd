"""The interface in other languages: every text that it can show is translated, and every one that is translated is
shown. No bpy from PyPI has languages of its own; the window test in Chinese is played by the application."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts import installed
from scripts.package import ROOT

ROOMS = ("rig", "native", "live", "bake", "ui")
"""Those whose words reach the interface. The command line speaks English."""

LABELLING = {"text", "name", "description", "confirm_text", "title", "bl_label", "bl_description", "label"}
"""Names of arguments and attributes whose value is shown."""

INTERNAL = re.compile(
    r"IK Controls|Planar IK Target's Rotation|Copy Limb|X Planar IK|X \((from the solution|and back|evaluates less)\)|"
    r"Planar IK Bake|void main|from bpy import context|chain = context.+|X if X else X|X?, X frames stepped|"
    r"evaluated in the scene|, then played|press Rebuild.+|are muted: un-mute them|.* \(X\)|Planar IK|X"
)
"""Names of bones and collections, code, the log's, and the ends of sentences that are translated whole."""


def translations():
    return installed.addon("addon.ui.translations")


def trees(rooms=ROOMS) -> Iterator[tuple[Path, ast.Module]]:
    for room in rooms:
        for path in sorted((ROOT / "addon" / room).rglob("*.py")):
            if "zh_hans" not in path.parts:
                yield path, ast.parse(path.read_text(encoding="utf-8"))


def written(node: ast.expr) -> str:
    """What a literal says, with X for what is filled in."""
    if isinstance(node, ast.Constant):
        return re.sub(r"{\w+}", "X", node.value) if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(written(part) if isinstance(part, ast.Constant) else "X" for part in node.values)
    return ""


def is_known(text: str) -> bool:
    chinese = translations().LANGUAGES["zh_HANS"]
    plain = {re.sub(r"{\w+}", "X", said) for _, said in chinese}
    return text in plain or translations().parts_of(text)[0] != text


def sentences(tree: ast.Module) -> Iterator[str]:
    """All literals with several words in them that are no docstrings, and no parts of longer ones."""
    documents = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)} - {
        id(node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in documents | parts:
            text = written(node)
            words = re.findall(r"[A-Za-z]{2,}", text.replace("X", ""))
            if len(words) > 1 and " " in text and not re.search(r'pose\.bones|[\[\]"=%]|\.py', text):
                yield text


def shown(tree: ast.Module) -> Iterator[str]:
    """What labels and descriptions say, also those of the items of a choice, and of operators without one."""
    for node in ast.walk(tree):
        pairs = []
        if isinstance(node, ast.Call):
            pairs = [(each.arg, each.value) for each in node.keywords]
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            pairs = [(node.targets[0].id, node.value)]
        elif isinstance(node, ast.ClassDef) and "_OT_" in node.name:
            yield " ".join((ast.get_docstring(node) or "").split())
        for name, value in pairs:
            if name in LABELLING:
                yield from filter(None, [written(value)])
            elif name == "items" and isinstance(value, ast.List):
                tuples = [each for each in value.elts if isinstance(each, ast.Tuple)]
                yield from filter(None, (written(word) for each in tuples for word in each.elts[1:3]))


@pytest.mark.parametrize("room", ROOMS)
def test_every_sentence_that_can_be_shown_is_translated(room):
    missing = {
        text for _, tree in trees([room]) for text in sentences(tree)
        if not is_known(text) and not INTERNAL.fullmatch(text)
    }  # fmt: skip
    assert {text for text in missing if "void main" not in text} == set()


def test_every_label_and_tooltip_is_translated():
    found = {text for _, tree in trees(["rig", "ui"]) for text in shown(tree) if re.search("[a-z]{2}", text)}
    assert len(found) > 100
    assert {text for text in found if not is_known(text) and not INTERNAL.fullmatch(text)} == set()


def test_every_text_that_is_translated_is_in_the_code():
    found = {text for _, tree in trees() for node in ast.walk(tree) for text in [literal(node)] if text}
    templates = {translations().parts_of(text)[0] for text in found}
    known = found | {re.sub(r"{\w+}", "X", text) for text in templates}
    texts = {re.sub(r"{\w+}", "X", text) for _, text in translations().LANGUAGES["zh_HANS"]}
    assert texts - known == set()


def literal(node: ast.AST) -> str:
    if isinstance(node, ast.ClassDef):
        return " ".join((ast.get_docstring(node) or "").split())
    return written(node) if isinstance(node, ast.Constant | ast.JoinedStr) else ""


def test_what_is_filled_into_a_sentence_has_a_place_in_every_language():
    pattern = re.compile(r"{(\w+)}")
    for texts in translations().LANGUAGES.values():
        for (_, text), said in texts.items():
            assert sorted(pattern.findall(text)) == sorted(pattern.findall(said)), text


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("'a' has no target", "'a' 没有目标"),
        ("'target' has no target", "'target' 没有目标"),
        ("'a' is the lower bone of another chain: remove that chain first", "'a' 是另一条链的下骨：请先移除那条链"),
        ("IK constraint 'IK' of 'a' has no target", "'a' 的 IK 约束 'IK'没有目标"),
        ("Hinge angle of 'a' is animated: remove its keys first", "'a' 的铰链角度有动画：请先移除其关键帧"),
        ("The chain has not been posed yet", "链尚未解算"),
        ("What nobody says", "What nobody says"),
    ],
)
def test_a_composed_sentence_is_told_in_another_language(monkeypatch, sentence, said):
    """Blender's own look-up, which a bpy without languages does not do, in our table."""
    room = translations()
    chinese = room.LANGUAGES["zh_HANS"]
    for name in ("rpt_", "iface_"):
        monkeypatch.setattr(room, name, lambda text: chinese.get(("*", text), text))
    assert room.told(sentence) == said


def test_no_sentence_of_the_interface_is_composed_past_the_translation():
    """Of reports, refusals and labels in the rooms that a person sees, none is an f-string with words of its own."""
    composed = re.compile(r"(?:report\(\{\"\w+\"\}, |Refused\(|label\(text=)f\"([^\"]*)\"")
    for path in sorted((ROOT / "addon" / "ui").rglob("*.py")):
        found = composed.findall(path.read_text(encoding="utf-8"))
        assert not [words for words in found if re.search("[a-z]{3}", re.sub("{[^}]*}", "", words))], path


def test_lines_break_between_words_and_beside_no_chinese_bracket():
    pieces = installed.addon("addon.ui.panels.wrapping").pieces_of
    assert pieces("follows it: press") == ["follows ", "it: ", "press"]
    assert pieces("跟随：请按“重建”（pose.x）。") == ["跟", "随：", "请", "按", "“重", "建”", "（pose.x）。"]
    assert "".join(pieces("")) == ""
