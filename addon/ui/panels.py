"""The panel of a chain: in the 3D view's sidebar and among the bone's properties."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from bpy.types import Context, Panel, PoseBone

from ..rig.access import chain_settings, children_of, has_chain, scene_of, scene_settings
from ..rig.settings import PREFIX, SWITCH

LETTER = 8
"""Pixels of a panel's width for each letter of a message, the margins included."""

OPERATORS = (
    (("flip", "Flip"), ("mirror", "Mirror")),
    (("snap_target", "Target to FK"), ("snap_fk", "FK to Solution")),
    (("bake", "Bake"), ("remove", "Remove")),
)
"""The rows of buttons: operators and what is written on them."""


def _chain_bone(context: Context) -> PoseBone | None:
    """The active bone's chain, or that of its child if the active bone is a chain's upper bone."""
    bone = context.active_pose_bone
    if bone is None or has_chain(bone):
        return bone
    return next(filter(has_chain, children_of(bone)), bone)


class _ChainPanel:
    bl_label = "Planar IK"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.mode == "POSE"

    def draw_header(self, context: Context) -> None:
        bone = _chain_bone(context)
        if bone and has_chain(bone):
            self.layout.prop(bone, PREFIX + SWITCH, text="")  # type: ignore[attr-defined]

    def draw(self, context: Context) -> None:
        layout = self.layout  # type: ignore[attr-defined]
        bone = _chain_bone(context)
        if bone is None:
            layout.label(text="Click the lower bone of a limb")
            return
        if not has_chain(bone):
            layout.operator("pose.planar_ik_add")
            return
        layout.use_property_split = True
        _draw_chain(layout, bone)
        _draw_result(layout, context, chain_settings(bone))
        _draw_operators(layout, context)


class VIEW3D_PT_planar_ik(_ChainPanel, Panel):
    """Sidebar panel"""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = "Planar IK"


class BONE_PT_planar_ik(_ChainPanel, Panel):
    """Properties panel"""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone_constraint"


def _draw_chain(layout: Any, bone: PoseBone) -> None:
    chain = chain_settings(bone)
    layout.label(text=f"{bone.parent.name if bone.parent else '-'} > {bone.name}", icon="CON_KINEMATIC")
    _draw_target(layout, chain, "target", "subtarget")
    _draw_settings(layout, bone, "plane")
    if chain.plane == "POLE":
        _draw_target(layout, chain, "pole_target", "pole_subtarget")
    _draw_settings(layout, bone, "influence", "bend", "softness")
    _draw_settings(layout, bone, "stretch", *(("stretch_max", "stretch_volume") if chain.stretch else ()))
    _draw_settings(layout, bone, "min_angle", "max_angle")


def _draw_target(layout: Any, chain: Any, target: str, subtarget: str) -> None:
    layout.prop(chain.bone.planar_ik, target)
    ob = getattr(chain, target)
    if ob and ob.type == "ARMATURE":
        layout.prop_search(chain.bone.planar_ik, subtarget, ob.data, "bones")


def _draw_settings(layout: Any, bone: PoseBone, *names: str) -> None:
    column = layout.column(align=True)
    for name in names:
        column.row(align=True).prop(bone, PREFIX + name, expand=name == "plane")


def _draw_result(layout: Any, context: Any, chain: Any) -> None:
    if not chain.enabled:
        return
    reach = chain.reach
    if reach == "INVALID":
        lines = wrap(chain.message, int(context.region.width / context.preferences.system.ui_scale / LETTER))
        column = layout.column(align=True)
        column.alert = True
        for number, line in enumerate(lines):
            column.label(text=line, icon="BLANK1" if number else "ERROR")
    elif reach == "REACHED":
        layout.label(text="Reached", icon="CHECKMARK")
    else:
        words = chain.bl_rna.properties["reach"].enum_items[reach].name
        layout.label(text=f"{words}: {chain.residual:.4g} from the target", icon="INFO")


def _draw_operators(layout: Any, context: Context) -> None:
    for buttons in OPERATORS:
        row = layout.row(align=True)
        for name, text in buttons:
            row.operator(f"pose.planar_ik_{name}", text=text)
    scene = scene_settings(scene_of(context))
    layout.prop(scene, "live")
    if not scene.live:
        layout.operator("pose.planar_ik_solve", text="Solve Once")


CLASSES = (VIEW3D_PT_planar_ik, BONE_PT_planar_ik)
