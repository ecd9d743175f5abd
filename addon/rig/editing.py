"""Edit Mode for a moment: bones can be made and removed nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bpy
from bpy.types import Context

from .access import ArmatureObject


@contextmanager
def edit_mode(context: Context, ob: ArmatureObject) -> Iterator[None]:
    """Edit Mode of one armature, and back to what was before."""
    layer: Any = context.view_layer
    active, mode = layer.objects.active, context.mode
    posed = list(context.objects_in_mode) if mode == "POSE" else []
    if mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    selected = [each for each in layer.objects if each.select_get()]
    for each in selected:
        each.select_set(False)
    layer.objects.active = ob
    ob.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    try:
        yield
    finally:
        bpy.ops.object.mode_set(mode="OBJECT")
        ob.select_set(False)
        for each in selected:
            each.select_set(True)
        layer.objects.active = active
        if posed:
            bpy.ops.object.mode_set(mode="POSE")
