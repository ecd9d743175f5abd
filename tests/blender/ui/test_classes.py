"""All classes that Blender knows of ours: each is named as Blender names its own, and says what it and its settings are
for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Any

import bpy

from scripts import installed, package

KINDS = {
    bpy.types.Operator: "OT",
    bpy.types.Panel: "PT",
    bpy.types.Menu: "MT",
    bpy.types.Header: "HT",
    bpy.types.UIList: "UL",
    bpy.types.Gizmo: "GT",
    bpy.types.GizmoGroup: "GGT",
}
"""What stands in the middle of a class's name. Property groups and preferences have names as Python's own classes."""

CALLED_BY_BLENDER = {"poll", "draw", "draw_header", "execute", "invoke", "modal", "cancel", "checked", "act"}
"""Methods that have to take a context, used or not."""


def classes() -> list[type]:
    """Ours that are registered."""
    module = installed.addon().__name__
    waiting, ours = [*bpy.types.bpy_struct.__subclasses__()], []
    while waiting:
        cls = waiting.pop()
        waiting += cls.__subclasses__()
        if cls.__module__.startswith(module) and getattr(cls, "is_registered", False):
            ours.append(cls)
    return sorted({*ours}, key=lambda cls: cls.__name__)


def rna_of(cls: Any) -> Any:
    """What Blender knows of a class; of an operator, what it shows."""
    if not issubclass(cls, bpy.types.Operator):
        return cls.bl_rna
    room, _, name = cls.bl_idname.partition(".")
    return getattr(getattr(bpy.ops, room), name).get_rna_type()


def settings(cls: Any) -> Iterator[Any]:
    """The properties that are of a class itself."""
    own = {name for base in cls.__mro__ if base.__module__ == cls.__module__ for name in base.__annotations__}
    yield from (prop for prop in rna_of(cls).properties if prop.identifier in own - {"bl_category"})


def test_there_are_classes(addon: Any) -> None:
    names = {cls.__name__ for cls in classes()}
    assert {"POSE_OT_planar_ik_add", "PlanarIKScene"} <= names
    assert len(names) > 15


def test_names(addon: Any) -> None:
    wrong = []
    for cls in classes():
        for kind, letters in KINDS.items():
            if issubclass(cls, kind) and not re.fullmatch(rf"[A-Z0-9]+_{letters}_planar_ik\w*", cls.__name__):
                wrong.append(cls.__name__)
        if issubclass(cls, bpy.types.Operator):
            room, _, name = cls.bl_idname.partition(".")
            wrong += [cls.bl_idname] if cls.__name__ != f"{room.upper()}_OT_{name}" else []
        elif (
            issubclass(cls, bpy.types.Panel | bpy.types.Menu)
            and getattr(cls, "bl_idname", cls.__name__) != cls.__name__
        ):
            wrong.append(cls.bl_idname)
    assert not wrong


def test_tooltips(addon: Any) -> None:
    """Each operator and each setting has a name and says what it does, as Blender's do: without a full stop."""
    wrong = []
    for cls in classes():
        if issubclass(cls, bpy.types.Operator):
            wrong += [cls.__name__] if not cls.bl_label or is_no_tooltip(rna_of(cls).description) else []
        for prop in settings(cls):
            wrong += [f"{cls.__name__}.{prop.identifier}"] if not prop.name or is_no_tooltip(prop.description) else []
            choices = prop.enum_items_static if prop.type == "ENUM" else ()
            wrong += [f"{cls.__name__}.{prop.identifier}: {each.identifier}" for each in choices if not each.name]
    assert not wrong


def is_no_tooltip(text: str) -> bool:
    return not text or text.endswith(".") or text != text.strip() or not text[0].isupper()


def test_a_context_that_is_taken_is_used() -> None:
    wrong = []
    for path in sorted((package.ROOT / "addon").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.FunctionDef) or node.name in CALLED_BY_BLENDER:
                continue
            takes = any(argument.arg == "context" for argument in (*node.args.args, *node.args.kwonlyargs))
            uses = any(isinstance(part, ast.Name) and part.id == "context" for part in ast.walk(node))
            if takes and not uses:
                wrong.append(f"{path.name}:{node.lineno} {node.name}")
    assert not wrong


def test_presets_keep_all_settings(addon: Any) -> None:
    """But frames, which are of a shot, and names, which are of a rig."""
    for cls in (bpy.types.POSE_OT_planar_ik_add, bpy.types.POSE_OT_planar_ik_bake):  # type: ignore[attr-defined]
        assert "PRESET" in cls.bl_options
        skipped = {prop.identifier for prop in settings(cls) if prop.is_skip_preset and not prop.is_hidden}
        assert skipped <= {"frame_start", "frame_end", "limbs", "target", "pole"}
