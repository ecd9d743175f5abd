"""The entries in Pose > Inverse Kinematics, and in the Object menu of what chains follow; and a pie menu that
people can give a key of their own."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Menu

from ...rig.words import iface_
from ..finding import chains_meant, left_behind
from ..operators import baking, chains, converting, fk_ik, portable, switching
from ..operators.ranges import over_range

POSING = (*chains.CLASSES, *switching.CLASSES, *fk_ik.CLASSES)
ENTRIES = (*POSING, *baking.CLASSES, *converting.CLASSES, *portable.CLASSES)

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


class VIEW3D_MT_planar_ik(Menu):
    """What can be done with the chains that follow the selected objects"""

    bl_label = "Planar IK"

    def draw(self, _context: Context) -> None:
        """All there is."""
        _draw_entries(self.layout)


def _draw_in_object_mode(menu: Any, context: Context) -> None:
    """There, where the search under F3 finds it too."""
    if chains_meant(context, or_off=True) or left_behind(context):
        menu.layout.separator()
        menu.layout.menu(VIEW3D_MT_planar_ik.__name__, icon="CON_KINEMATIC")


def _draw_in_pose_mode(menu: Any, _context: Context) -> None:
    menu.layout.separator()
    _draw_entries(menu.layout)
    menu.layout.operator("pose.planar_ik_end_at_joints")


def _draw_entries(layout: Any) -> None:
    given = layout.operator_context  # another one where a key opens the menu
    layout.operator_context = "INVOKE_DEFAULT"
    for cls in ENTRIES:
        layout.operator(cls.bl_idname, text=f"{_label(cls)}…" if cls in ASKING else _label(cls), translate=False)
        if cls in OVER_RANGES:
            layout.operator(cls.bl_idname, text=f"{over_range(cls.bl_label)}…", translate=False).use_range = True
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
