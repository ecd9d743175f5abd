"""The entries in Pose > Inverse Kinematics, and a pie menu that people can give a key of their own."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Menu

from ...rig.words import iface_
from ..operators import baking, chains, converting, fk_ik, switching
from ..operators.ranges import over_range

ENTRIES = (*chains.CLASSES, *switching.CLASSES, *fk_ik.CLASSES, *baking.CLASSES, *converting.CLASSES)

ASKING = baking.CLASSES
"""Those that open a dialog."""

OVER_RANGES = (fk_ik.POSE_OT_planar_ik_snap_target, fk_ik.POSE_OT_planar_ik_snap_fk)
"""Those that also run on a range of frames, for which a dialog asks."""


class VIEW3D_MT_planar_ik_pie(Menu):
    """What an animator does with a limb all day"""

    bl_label = "Planar IK"

    def draw(self, _context: Context) -> None:
        """Eight ways, from the left around."""
        layout: Any = self.layout
        pie = layout.menu_pie()
        pie.operator("pose.planar_ik_snap_target", icon="SNAP_ON")
        pie.operator("pose.planar_ik_snap_fk", icon="SNAP_OFF")
        pie.operator("pose.planar_ik_switch", icon="ARROW_LEFTRIGHT")
        pie.operator("pose.planar_ik_flip", text="Flip Bend Side", icon="MOD_MIRROR")
        for part, text, icon in (("TARGET", "Select Target", "EMPTY_AXIS"), ("LIMB", "Select Limb", "BONE_DATA")):
            pie.operator("pose.planar_ik_select", text=text, icon=icon).part = part
        pie.operator("pose.planar_ik_add", icon="CON_KINEMATIC")
        pie.operator("pose.planar_ik_bake", text="Bake Planar IK…", icon="KEY_HLT")


def _label(cls: Any) -> str:
    return iface_(cls.bl_label, "Operator")


def _draw(menu: Any, _context: Context) -> None:
    layout = menu.layout
    layout.separator()
    given = layout.operator_context  # another one where a key opens the menu
    layout.operator_context = "INVOKE_DEFAULT"
    for cls in ENTRIES:
        layout.operator(cls.bl_idname, text=f"{_label(cls)}…" if cls in ASKING else _label(cls), translate=False)
        if cls in OVER_RANGES:
            layout.operator(cls.bl_idname, text=f"{over_range(cls.bl_label)}…", translate=False).use_range = True
    layout.operator("wm.call_menu_pie", text="Planar IK Pie Menu").name = VIEW3D_MT_planar_ik_pie.__name__
    layout.operator_context = given


CLASSES = (VIEW3D_MT_planar_ik_pie,)


def register() -> None:
    """Append the entries."""
    bpy.types.VIEW3D_MT_pose_ik.append(_draw)


def unregister() -> None:
    """Remove them."""
    bpy.types.VIEW3D_MT_pose_ik.remove(_draw)
