"""The panel of a chain: in the 3D view's sidebar and among the bone's properties."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, Panel, PoseBone

from ..rig.access import chain_settings, children_of, has_chain, scene_of, scene_settings


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
        return context.active_pose_bone is not None

    def draw_header(self, context: Context) -> None:
        bone = _chain_bone(context)
        if bone and chain_settings(bone).target:
            self.layout.prop(chain_settings(bone), "enabled", text="")  # type: ignore[attr-defined]

    def draw(self, context: Context) -> None:
        layout = self.layout  # type: ignore[attr-defined]
        layout.use_property_split = True
        bone = _chain_bone(context)
        if bone is None:
            return
        chain = chain_settings(bone)
        if not has_chain(bone):
            layout.operator("pose.planar_ik_add")
            return
        layout.label(text=f"{bone.parent.name if bone.parent else '-'} > {bone.name}", icon="CON_KINEMATIC")
        _draw_target(layout, chain, "target", "subtarget")
        layout.prop(chain, "plane", expand=True)
        if chain.plane == "POLE":
            _draw_target(layout, chain, "pole_target", "pole_subtarget")
        _draw_settings(layout, bone, ("influence", "bend", "softness"))
        _draw_settings(layout, bone, ("stretch", "stretch_max", "stretch_volume") if chain.stretch else ("stretch",))
        _draw_settings(layout, bone, ("min_angle", "max_angle"))
        _draw_result(layout, chain)
        row = layout.row(align=True)
        row.operator("pose.planar_ik_flip", text="Flip")
        row.operator("pose.planar_ik_mirror", text="Mirror")
        row.operator("pose.planar_ik_remove", text="Remove")
        row = layout.row(align=True)
        row.operator("pose.planar_ik_snap_target", text="Target to FK")
        row.operator("pose.planar_ik_snap_fk", text="FK to Solution")
        layout.prop(scene_settings(scene_of(context)), "live")


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


def _draw_target(layout: Any, chain: Any, target: str, subtarget: str) -> None:
    layout.prop(chain, target)
    ob = getattr(chain, target)
    if ob and ob.type == "ARMATURE":
        layout.prop_search(chain, subtarget, ob.data, "bones")


def _draw_settings(layout: Any, bone: PoseBone, names: tuple[str, ...]) -> None:
    """Settings with a button that keys them: Blender finds no data path to a bone's property group by itself."""
    column = layout.column(align=True)
    for name in names:
        row = column.row(align=True)
        row.use_property_decorate = False
        row.prop(chain_settings(bone), name)
        key = row.operator("pose.planar_ik_key", text="", icon="KEYFRAME", emboss=False)
        key.bone, key.setting = bone.name, name


def _draw_result(layout: Any, chain: Any) -> None:
    if not chain.enabled:
        return
    reach = chain.reach
    if reach == "INVALID":
        layout.label(text=chain.message, icon="ERROR")
    else:
        words = chain.bl_rna.properties["reach"].enum_items[reach].name
        layout.label(text=f"{words}, off by {chain.residual:.4g}", icon="CHECKMARK" if reach == "REACHED" else "INFO")


CLASSES = (VIEW3D_PT_planar_ik, BONE_PT_planar_ik)
