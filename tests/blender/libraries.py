"""A character in a library, and shots that override it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from tests.blender import rigs


def saved(ob: Any, folder: Path) -> Path:
    """A library with a rig in a collection that is called character."""
    collection = bpy.data.collections.new("character")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    rigs.activate(ob, "OBJECT")
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "library.blend"))
    return folder / "library.blend"


def override(linked: Any) -> Any:
    """An override of a linked collection or object. From 5.3 on, Blender makes one only of what the scene shows."""
    scene = bpy.context.scene
    shown = scene.collection.children if isinstance(linked, bpy.types.Collection) else scene.collection.objects
    is_shown = linked.name in shown
    if not is_shown:
        shown.link(linked)
    made = linked.override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    if not is_shown and linked in [*shown]:
        shown.unlink(linked)
    return made


def overridden(path: Path, count: int = 1) -> list[Any]:
    """A shot that links the character so many times; its overrides."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.collections = ["character"]
    (linked,) = wanted.collections
    made = [override(linked) for _ in range(count)]
    return [each for one in made for each in one.all_objects if each.type == "ARMATURE"]
