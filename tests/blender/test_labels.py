"""What the guides set in italics is what Blender's window shows: labels of ours, or of Blender's own."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import bpy

from scripts.package import ROOT
from tests.blender import pages

SHOWING = [
    *(ROOT / "addon" / "ui").rglob("*.py"),
    *(ROOT / "addon" / "limb" / "features").rglob("*.py"),
    *(
        ROOT / "addon" / name
        for name in ("limb/settings.py", "live/handlers.py", "rigging/controls.py", "tasks/status.py")
    ),
]
"""The files with the texts of panels, menus, dialogs and reports, and the names of collections of bones."""

BLENDERS = {
    "Adjust Last Operation", "Inverse Kinematics", "Only Active Keying Set", "Overlays",
    "Paste Pose Flipped", "Symmetrize",
}  # fmt: skip
"""Labels of Blender's that its own interface has in Python."""

MARKERS = {f"foot.L {word}" for word in ("heel", "sole", "toe", "up")}
"""What test_contacts finds on the timeline, of another rig."""

OTHERS = [ROOT / "docs" / name for name in ("comparison.md", "export.md")]
"""Which name labels of other programs."""


def shown() -> str:
    """All texts that our interface has, a line each, as an expression: what is filled in may be anything."""
    words = {
        node.value
        for path in SHOWING
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    words = {re.sub(r"^, | \(\{\w+\}\)$", "", word) for word in words}  # what is added, and how many there are
    words |= {word.removeprefix("IK ") for word in words}  # what fields call custom properties
    return "|".join(re.sub(r"\\{\w+\\}", ".+", re.escape(word)) for word in words if re.sub(r"\{\w+\}|\W", "", word))


def labels() -> set[tuple[str, str]]:
    """What is in italics, with its page; the parts of a path and of what is listed are labels of their own."""
    found = set()
    for page in pages.PAGES:
        text = re.sub(r"(?s)```.*?```|`[^`\n]+`|(?m:^\*When.+$|^\*The same.+$)", "", page.read_text(encoding="utf-8"))
        for words in re.findall(r"(?<![*\w])\*(?![*\s])([^*]+?)\*(?![*\w])", text) if page not in OTHERS else ():
            found |= {(page.name, " ".join(label.split())) for label in re.split(r" ▸ |: | / ", words)}
    return found


def test_every_label_of_the_guides_is_shown() -> None:
    ours = re.compile(shown())
    assert len(labels()) > 80
    unknown = {
        f"{page}: {label}"
        for page, label in labels()
        if not (ours.fullmatch(label) or label in BLENDERS or label in MARKERS or is_named(label))
        if not re.fullmatch("[A-Z]", label)  # a key
    }
    assert unknown == set()


def is_named(label: str) -> bool:
    """Whether a setting of Blender's is called that, as its interface shows it where it says nothing else."""
    kinds = bpy.types.Constraint.bl_rna.properties["type"].enum_items
    settings = (bpy.types.KinematicConstraint, bpy.types.Bone)
    return any(label == kind.name for kind in kinds) or any(
        label == setting.name for kind in settings for setting in kind.bl_rna.properties
    )


def test_blenders_own_labels_are_blenders() -> None:
    folder = Path(bpy.utils.system_resource("SCRIPTS")) / "startup" / "bl_ui"
    names = ("data_armature", "topbar", "time", "view3d", "view3d_toolbar")
    text = "".join(path.read_text() for name in names for path in folder.glob(f"*_{name}.py"))
    assert {label for label in BLENDERS if f'"{label}' not in text} == set()
