"""The entries in Pose > Inverse Kinematics."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context

from . import baking, fk_ik, operators

ENTRIES = (*operators.CLASSES, *fk_ik.CLASSES, *baking.CLASSES)


def _draw(menu: Any, _context: Context) -> None:
    menu.layout.separator()
    for cls in ENTRIES:
        menu.layout.operator(cls.bl_idname)


def register() -> None:
    """Append the entries."""
    bpy.types.VIEW3D_MT_pose_ik.append(_draw)


def unregister() -> None:
    """Remove them."""
    bpy.types.VIEW3D_MT_pose_ik.remove(_draw)
