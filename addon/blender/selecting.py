"""Selecting bones and objects, and having them be seen where they are hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.types import Context, Object, PoseBone

from .dependencies import BoneRef
from .types import announce, bones_of, has_bone, view_layer_of
from .words import Refused


def select(context: Context, refs: Sequence[BoneRef]) -> list[str]:
    """Select bones or objects in the mode in which they can be moved, the last one active; what is hidden is shown.
    Returns the names of objects, bones and collections of bones that are shown again. Raises `Refused`."""
    if any(not bone for _, bone in refs):
        refs = [(ob, bone) for ob, bone in refs if not bone]
    announce(*(ob for ob, _ in refs), *(bone.id_data for bone in context.selected_pose_bones or ()))
    layer: Any = view_layer_of(context)
    objects, is_bones = [*dict.fromkeys(ob for ob, _ in refs)], bool(refs[0][1])
    shown = [*dict.fromkeys(name for ob, bone in refs if bone for name in _show(ob, bone)), *_show_objects(objects)]
    if not (is_bones and context.mode == "POSE" and all(ob.mode == "POSE" for ob in objects)):
        _select_objects(context, layer, objects)
        if is_bones:
            bpy.ops.object.mode_set(mode="POSE")
    if is_bones:
        layer.objects.active = objects[-1]
        _select_bones(context, refs)
    return shown


def _show_objects(objects: Sequence[Object]) -> list[str]:
    """Have objects be seen that are hidden by their eyes in the Outliner, and give their names. Raises `Refused`, with
    all as it was, where one is hidden otherwise."""
    hidden = [ob for ob in objects if ob.hide_get()]
    for ob in hidden:
        ob.hide_set(False)
    still = next((ob for ob in objects if not ob.visible_get()), None)
    if still is None:
        return [ob.name for ob in hidden]
    for ob in hidden:
        ob.hide_set(True)
    raise Refused("'{name}' is hidden: show it first", name=still.name)


def _show(ob: Object, name: str) -> list[str]:
    """Have a bone be seen, and give the names of what was hidden: the bone, or a collection that it is in."""
    bone: Any = bones_of(ob)[name]
    owner = bone if hasattr(bone, "hide") else bone.bone  # the former from 5.0 on
    shown = [name] if owner.hide else []
    owner.hide = False
    collections = [*bone.bone.collections]
    if not collections or any(collection.is_visible_effectively for collection in collections):
        return shown
    first = collections[0]
    if not ob.data.library:  # type: ignore[union-attr]
        above = first
        while above is not None:
            above.is_visible, above = True, above.parent
        first.is_solo = ob.data.collections.is_solo_active  # type: ignore[union-attr]
    if not first.is_visible_effectively:
        template = "'{bone}' is in the hidden collection '{collection}' of '{rig}': show that"
        raise Refused(template, bone=name, collection=first.name, rig=ob.name)
    return [*shown, first.name]


def _select_objects(context: Context, layer: Any, objects: list[Object]) -> None:
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in context.selected_objects:
        other.select_set(False)
    for ob in objects:
        ob.select_set(True)
    layer.objects.active = objects[-1]


def _select_bones(context: Context, refs: Sequence[BoneRef]) -> None:
    for posed in context.selected_pose_bones or ():
        select_bone(posed, False)
    for ob, name in refs:
        bone: Any = bones_of(ob)[name]
        select_bone(bone, True)
        ob.data.bones.active = bone.bone  # type: ignore[union-attr]  # an armature's


def select_if_shown(context: Context, refs: Sequence[BoneRef]) -> None:
    """Select those bones that can be seen, as what a person goes on with; without any, leave everything as it is."""
    shown = [(ob, bone) for ob, bone in refs if has_bone(ob, bone) and ob.mode == "POSE" and ob.visible_get()]
    if shown and context.mode == "POSE":
        select(context, shown)


def select_bone(bone: PoseBone, state: bool) -> None:
    """Select a pose bone or not, in any Blender."""
    owner: Any = bone if hasattr(bone, "select") else bone.bone  # the former from 5.0 on
    owner.select = state
