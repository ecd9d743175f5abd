"""The entries in Pose ▸ Inverse Kinematics, where the search under F3 finds them too, and in the Object menu of what
limbs follow; and a pie menu that people can give a key of their own."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Menu

from .finding import limbs_meant
from .operators import adding, baking, converting, setting, switching

ENTRIES = (*adding.CLASSES, *switching.CLASSES, setting.POSE_OT_planar_ik_flip, *baking.CLASSES, *converting.CLASSES)
ASKING = baking.CLASSES
"""Those that open a dialog."""


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
        pie.operator("pose.planar_ik_flip", icon="MOD_MIRROR")
        pie.operator("pose.planar_ik_select", text="Select Target", icon="EMPTY_AXIS").part = "TARGET"
        pie.operator("pose.planar_ik_select", text="Select FK Bones", icon="BONE_DATA").part = "LIMB"
        pie.operator("pose.planar_ik_add", icon="CON_KINEMATIC")
        pie.operator("pose.planar_ik_bake", text="Bake Planar IK…", icon="KEY_HLT")


class VIEW3D_MT_planar_ik(Menu):
    """What can be done with the limbs that follow the selected objects"""

    bl_label = "Planar IK"

    def draw(self, _context: Context) -> None:
        """All there is."""
        _draw_entries(self.layout)


def _draw_in_object_mode(menu: Any, context: Context) -> None:
    if limbs_meant(context):
        menu.layout.separator()
        menu.layout.menu(VIEW3D_MT_planar_ik.__name__, icon="CON_KINEMATIC")


def _draw_in_pose_mode(menu: Any, _context: Context) -> None:
    menu.layout.separator()
    _draw_entries(menu.layout)


def _draw_entries(layout: Any) -> None:
    given = layout.operator_context  # another one where a key opens the menu
    layout.operator_context = "INVOKE_DEFAULT"
    for cls in ENTRIES:
        layout.operator(cls.bl_idname, text=f"{cls.bl_label}…" if cls in ASKING else cls.bl_label)
    layout.operator("wm.call_menu_pie", text="Planar IK Pie Menu").name = VIEW3D_MT_planar_ik_pie.__name__
    layout.operator_context = given


CLASSES = (VIEW3D_MT_planar_ik_pie, VIEW3D_MT_planar_ik)


def register() -> None:
    """Append the entries."""
    bpy.types.VIEW3D_MT_pose_ik.append(_draw_in_pose_mode)
    bpy.types.VIEW3D_MT_object.append(_draw_in_object_mode)


def unregister() -> None:
    """Remove them."""
    bpy.types.VIEW3D_MT_object.remove(_draw_in_object_mode)
    bpy.types.VIEW3D_MT_pose_ik.remove(_draw_in_pose_mode)
