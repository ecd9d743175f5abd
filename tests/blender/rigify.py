"""Rigs that Rigify generates, which comes with Blender."""

from __future__ import annotations

from typing import Any

import addon_utils
import bpy

from tests.blender.rigs import update


def generated(metarig: str) -> Any:
    """The rig that Rigify generates of one of its metarigs, in Pose Mode.

    Rigify stays enabled from then on: a handler of files opened stays when it is disabled, and fails (5.2).
    """
    addon_utils.enable("rigify", default_set=True)
    getattr(bpy.ops.object, f"armature_{metarig}_metarig_add")()
    bpy.ops.pose.rigify_generate()
    ob: Any = bpy.context.object
    bpy.ops.object.mode_set(mode="POSE")
    update()
    return ob
