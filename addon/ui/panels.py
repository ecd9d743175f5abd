"""The panels: of the chain that is meant, of all chains of the armature, and of the scene.

They are where people look: in the sidebar's Item tab, on the limb, on what it follows and on the bone below it, in Pose
Mode and Object Mode; and among the bone's properties, beside Inverse Kinematics.
"""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from bpy.types import Context, Panel, PoseBone

from ..rig.access import chain_settings, has_chain, runs_on_rig, scene_of, scene_settings, upper_of
from ..rig.limbs import is_limb
from ..rig.settings import ON_RIG, PREFIX, SWITCH, holder_of
from ..rig.words import iface_
from .finding import chain_meant, goals_of
from .mending import MENDS, mends_for
from .presets import PLANARIK_PT_presets
from .redrawing import TAB
from .selecting import armature_in_view, reach_icon
from .units import length_text

LETTER = 8
"""Pixels of a panel's width for each letter of a message, the margins included."""

OPERATORS: tuple[tuple[tuple[str, str, dict[str, Any]], ...], ...] = (
    (("flip", "Flip", {}), ("mirror", "Mirror", {})),
    (("snap_target", "Snap IK to FK", {}), ("snap_fk", "Snap FK to IK", {})),
    (("snap_target", "Range…", {"use_range": True}), ("snap_fk", "Range…", {"use_range": True})),
    (("bake", "Bake…", {}), ("remove", "Remove", {})),
)
"""The rows of buttons: operators, what is written on them, and what is set of them."""

PARTS = {"TARGET": ("Target", "EMPTY_AXIS"), "POLE": ("Pole", "CON_TRACKTO"), "LIMB": ("Limb", "BONE_DATA")}

MOST_ROWS = 6


class _ChainPanel:
    bl_label = "Planar IK"

    @classmethod
    def poll(cls, context: Context) -> bool:
        return context.mode == "POSE" or (context.mode == "OBJECT" and chain_meant(context) is not None)

    def draw_header(self, context: Context) -> None:
        lower = chain_meant(context)
        if lower:
            self.layout.prop(lower, PREFIX + SWITCH, text="")  # type: ignore[attr-defined]

    def draw_header_preset(self, context: Context) -> None:
        if chain_meant(context):
            PLANARIK_PT_presets.draw_panel_header(self.layout)  # type: ignore[attr-defined]

    def draw(self, context: Context) -> None:
        layout = self.layout  # type: ignore[attr-defined]
        lower = chain_meant(context)
        if lower is None:
            _draw_adding(layout, context)
            return
        _draw_parts(layout, lower)
        _draw_result(layout, context, lower)
        layout.use_property_split = True
        _draw_settings(layout, lower)
        _draw_operators(layout)


class VIEW3D_PT_planar_ik(_ChainPanel, Panel):
    """Sidebar panel"""

    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB


class BONE_PT_planar_ik(_ChainPanel, Panel):
    """Properties panel"""

    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "bone"
    bl_options = {"DEFAULT_CLOSED"}


class VIEW3D_PT_planar_ik_chains(Panel):
    """All chains of the armature"""

    bl_label = "Chains"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    bl_parent_id = "VIEW3D_PT_planar_ik"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """An armature with chains."""
        ob = armature_in_view(context)
        return bool(ob and any(map(has_chain, ob.pose.bones)))

    def draw(self, context: Context) -> None:
        """The list."""
        ob = armature_in_view(context)
        manager = context.window_manager
        count = sum(map(has_chain, ob.pose.bones))
        layout: Any = self.layout
        layout.template_list(
            "PLANARIK_UL_chains", "", ob.pose, "bones", manager, "planar_ik_row", rows=min(count, MOST_ROWS)
        )


class VIEW3D_PT_planar_ik_scene(Panel):
    """What is set for the scene and not for a chain"""

    bl_label = "Scene"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"
    bl_category = TAB
    bl_parent_id = "VIEW3D_PT_planar_ik"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Context) -> None:
        """Live and overlay."""
        scene = scene_settings(scene_of(context))
        layout: Any = self.layout
        layout.prop(scene, "live")
        layout.prop(scene, "show_overlay")
        if not scene.live:
            layout.operator("pose.planar_ik_solve", text="Solve Once")


def _draw_adding(layout: Any, context: Context) -> None:
    bone = context.active_pose_bone
    if bone is None:
        layout.label(text="Click the lower bone of a limb", icon="INFO")
    elif not is_limb(bone):
        sentence = iface_("'{bone}' is no lower bone").format(bone=bone.name)
        layout.label(text=sentence, icon="INFO", translate=False)
    layout.operator("pose.planar_ik_add", icon="CON_KINEMATIC")


def _draw_parts(layout: Any, lower: PoseBone) -> None:
    """What the chain is, and a button for each of its parts that selects it."""
    upper = upper_of(lower)
    layout.label(text=f"{upper.name if upper else '-'} > {lower.name}", icon="CON_KINEMATIC")
    row = layout.row(align=True)
    goals = goals_of(lower)
    for part, (word, icon) in PARTS.items():
        if part == "LIMB" or part in goals:
            select = row.operator("pose.planar_ik_select", text=word, icon=icon)
            select.part, select.object, select.bone = part, lower.id_data.name, lower.name


def _draw_plane(layout: Any, lower: PoseBone) -> None:
    """The plane; a pole that is not there yet is made by pressing it."""
    chain = chain_settings(lower)
    if chain.pole_target or chain.plane == "POLE" or runs_on_rig(lower):
        _draw(layout, lower, "plane")
        return
    row = _labelled(layout, "Plane")
    for plane in ("REST", "SWING"):
        row.prop_enum(lower, f"{PREFIX}plane", plane)
    row.operator("pose.planar_ik_pole", text="Pole")


def _draw_settings(layout: Any, lower: PoseBone) -> None:
    chain = chain_settings(lower)
    _draw_runs_on(layout, lower)
    _draw_goal(layout, lower, "target", "subtarget")
    _draw_plane(layout, lower)
    if chain.plane == "POLE":
        _draw_goal(layout, lower, "pole_target", "pole_subtarget")
    column = _draw(layout, lower, "influence")
    column.operator("pose.planar_ik_switch", text="Switch to FK" if chain.influence > 0.5 else "Switch to IK")
    _draw(layout, lower, "bend", "softness")
    _draw(layout, lower, "stretch", *(("stretch_max", "stretch_volume") if chain.stretch else ()))
    _draw(layout, lower, "min_angle", "max_angle")
    _draw(layout, lower, "hinge_angle", "lower_twist")


def _draw_runs_on(layout: Any, lower: PoseBone) -> None:
    """What poses the limb, and the one click that changes it."""
    row = _labelled(layout, "Runs On")
    if runs_on_rig(lower):
        row.label(text="Rig")
        row.operator("pose.planar_ik_make_live", text="Extension")
    else:
        row.label(text="Extension")
        row.operator("pose.planar_ik_make_portable", text="Rig")


def _labelled(layout: Any, text: str) -> Any:
    """A row with a label where those of properties are: Blender's own ``heading`` puts it beside a property only."""
    split = layout.split(factor=0.4)
    label = split.row()
    label.alignment = "RIGHT"
    label.label(text=text)
    row = split.row(align=True)
    row.use_property_split = False
    return row


def _draw_goal(layout: Any, lower: PoseBone, target: str, subtarget: str) -> None:
    group = lower.planar_ik  # type: ignore[attr-defined]  # addon.rig.properties adds it
    layout.prop(group, target)
    ob = getattr(group, target)
    if ob and ob.type == "ARMATURE":
        layout.prop_search(group, subtarget, ob.data, "bones")


def _draw(layout: Any, lower: PoseBone, *names: str) -> Any:
    column, holder = layout.column(align=True), holder_of(lower)
    for name in names:
        custom = ON_RIG + name
        if custom in holder:
            label = lower.bl_rna.properties[PREFIX + name].name
            column.row(align=True).prop(holder, f'["{custom}"]', text=label)
        else:
            column.row(align=True).prop(lower, PREFIX + name, expand=name == "plane")
    return column


def _draw_result(layout: Any, context: Any, lower: PoseBone) -> None:
    """What became of the chain, and where something is wrong, what helps."""
    chain = chain_settings(lower)
    if not chain.enabled:
        layout.label(text="Switched off", icon=reach_icon(lower))
        return
    reach = chain.reach
    if reach == "INVALID":
        lines = wrap(chain.message, int(context.region.width / context.preferences.system.ui_scale / LETTER))
        column = layout.column(align=True)
        column.alert = True
        for number, line in enumerate(lines):
            column.label(text=line, icon="BLANK1" if number else reach_icon(lower))
        for way in mends_for(lower):
            layout.operator("pose.planar_ik_mend", text=MENDS[way].label, icon="TOOL_SETTINGS").way = way
    elif reach == "REACHED":
        layout.label(text="Reached", icon=reach_icon(lower))
    else:
        words = lower.planar_ik.bl_rna.properties["reach"].enum_items[reach].name  # type: ignore[attr-defined]
        away = length_text(scene_of(context), chain.residual)
        sentence = iface_("{reach}: {away} from the target").format(reach=iface_(words), away=away)
        layout.label(text=sentence, icon=reach_icon(lower), translate=False)


def _draw_operators(layout: Any) -> None:
    for buttons in OPERATORS:
        row = layout.row(align=True)
        for name, text, given in buttons:
            button = row.operator(f"pose.planar_ik_{name}", text=text)
            for setting, value in given.items():
                setattr(button, setting, value)


CLASSES = (VIEW3D_PT_planar_ik, BONE_PT_planar_ik, VIEW3D_PT_planar_ik_chains, VIEW3D_PT_planar_ik_scene)
