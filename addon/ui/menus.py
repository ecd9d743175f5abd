"""The entries in Pose ▸ Inverse Kinematics, where the search under F3 finds them too, and in the Object menu of what
limbs follow; and a pie menu that people can give a key of their own."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Event, Menu, Operator

from ..blender.types import is_armature
from ..tasks import selection, status
from .finding import selected_limbs


def entries(context: Context) -> list[tuple[str, dict[str, Any]]]:
    """What applies to the selection: the names of operators, and what is given to them."""
    limbs, ob = selected_limbs(context), context.object
    described = [status.description_of(limb) for limb in limbs]
    modes, flips = {limb.mode for limb in described}, [limb.sliders["flip"] for limb in described]
    plain = ("switch", "snap_target", "snap_fk", "mirror", "hold", "find_contacts")
    choices: list[tuple[bool, list[tuple[str, dict[str, Any]]]]] = [
        (bool(limbs), [(name, {}) for name in plain]),
        (bool(limbs), [("set", {"flip": flips[:1] != [True]}), ("remove", {})]),
        (context.mode == "POSE" and (not limbs or bool(selection.limbs_offered(context)[0])), [("add", {})]),
        (not limbs and len(context.selected_pose_bones or ()) == 2, [("cylinder", {})]),
        (context.mode == "POSE", [("plant", {})]),
        ("LIVE" in modes, [("set", {"mode": "RIG"})]),
        ("RIG" in modes, [("set", {"mode": "LIVE"}), ("rebuild", {})]),
        (is_armature(ob) and bool(selection.candidates(ob)), [("convert", {})]),
        (any(limb.converted_from for limb in described), [("unconvert", {})]),
        (bool(selection.limbs_in_view(context)), [("bake", {})]),
    ]
    return [entry for applies, found in choices if applies for entry in found]


SETS = {"flip": "Flip Knee", "RIG": "Put on the Rig", "LIVE": "Make Live"}
"""What entries say that set something."""

LABELS = {"bake": "Bake Planar IK…"}
"""What others say that is not their name."""


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
        pie.operator("pose.planar_ik_select", text="Select Target", icon="EMPTY_AXIS").role = "TARGET"
        pie.operator("pose.planar_ik_select", text="Select FK Bones", icon="BONE_DATA").role = "LIMB"
        pie.operator("pose.planar_ik_select", text="Select Pole", icon="SPHERE").role = "POLE"
        pie.operator("pose.planar_ik_mirror", text="Mirror", icon="MOD_MIRROR")
        pie.operator("pose.planar_ik_hold", icon="PINNED")


class POSE_OT_planar_ik_pie(Operator):
    """Open the pie menu of Planar IK"""

    bl_idname = "pose.planar_ik_pie"
    bl_label = "Planar IK Pie Menu"
    bl_options: Any = {"INTERNAL"}  # Blender wants a set

    def invoke(self, _context: Context, _event: Event) -> Any:
        """Under the mouse. Blender's own operator, with a key, would have its entries found twice by the search."""
        return bpy.ops.wm.call_menu_pie("INVOKE_DEFAULT", name=VIEW3D_MT_planar_ik_pie.__name__)


class VIEW3D_MT_planar_ik(Menu):
    """What can be done with the limbs that are selected"""

    bl_label = "Planar IK"

    def draw(self, context: Context) -> None:
        """What applies."""
        layout: Any = self.layout
        layout.operator_context = "INVOKE_DEFAULT"  # another one where a key opens the menu
        for name, given in entries(context):
            text = SETS[given.get("mode", "flip")] if name == "set" else LABELS.get(name)
            button = layout.operator(f"pose.planar_ik_{name}", **({"text": text} if text else {}))
            for setting, value in given.items():
                setattr(button, setting, value)


def _draw(menu: Any, context: Context) -> None:
    if context.mode == "POSE" or selected_limbs(context):
        menu.layout.separator()
        menu.layout.menu(VIEW3D_MT_planar_ik.__name__, icon="CON_KINEMATIC")


CLASSES = (VIEW3D_MT_planar_ik_pie, POSE_OT_planar_ik_pie, VIEW3D_MT_planar_ik)


def register() -> None:
    """Append the entries."""
    bpy.types.VIEW3D_MT_pose_ik.append(_draw)
    bpy.types.VIEW3D_MT_object.append(_draw)


def unregister() -> None:
    """Remove them."""
    bpy.types.VIEW3D_MT_object.remove(_draw)
    bpy.types.VIEW3D_MT_pose_ik.remove(_draw)
