"""The panel in the sidebar's Item tab, after all others there: on the bones of a limb, its foot, target and pole."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees
from textwrap import wrap
from typing import Any

from bpy.types import Context, Panel, PoseBone
from bpy.utils import escape_identifier

from ..blender.types import scene_of
from ..limb.moving import rig_slider
from ..limb.settings import SLIDER
from ..limb.storage import choices_of, has_slider, is_converted, limbs_of, mode_of
from ..limb.tips import foot_of
from ..limb.words import translated_text
from ..solver.reach import Reach
from ..tasks.defining import read_followed
from ..tasks.feet import foot_follows
from ..tasks.finding import limb_suggested
from ..tasks.status import Status, status_now
from .finding import convertible, left_at, limb_meant, rig_in_view
from .operators.mending import MENDS, mends_for, mends_for_adding
from .operators.selecting import PARTS, find_parts
from .preferences import PLANE
from .units import length_text

ICONS = {
    Reach.REACHED: "CHECKMARK",
    Reach.TOO_FAR: "FULLSCREEN_ENTER",
    Reach.TOO_NEAR: "FULLSCREEN_EXIT",
    Reach.OFF_PLANE: "ORIENTATION_NORMAL",
    Reach.LIMITED: "CON_ROTLIMIT",
    Reach.INVALID: "ERROR",
}
LAST = 1000
"""The place of the panel in its tab: after those of Blender and of rigs."""


class _InSidebar:
    bl_space_type: Any = "VIEW_3D"
    bl_region_type: Any = "UI"
    bl_category: Any = "Item"


class _Section(_InSidebar):
    bl_parent_id: Any = "VIEW3D_PT_planar_ik"
    bl_options: Any = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return limb_meant(context) is not None


class VIEW3D_PT_planar_ik(_InSidebar, Panel):
    """The limb that is selected"""

    bl_label = "Planar IK"
    bl_order = LAST

    @classmethod
    def poll(cls, context: Context) -> bool:
        """On what belongs to a limb, and on a bone that could be made one."""
        if context.mode not in {"POSE", "OBJECT"}:
            return False
        bone = context.active_pose_bone if context.mode == "POSE" else None
        could_be = bone and (left_at([bone]) or limb_suggested(bone) or convertible([bone]))
        return limb_meant(context) is not None or bool(could_be)

    def draw(self, context: Context) -> None:
        """From the limb's state to what animates it."""
        layout: Any = self.layout
        last = limb_meant(context)
        if last is None:
            draw_adding(layout, context)
            return
        status = status_now(context, last)
        draw_state(layout, context, last, status)
        draw_parts(layout, last)
        layout.use_property_split = True
        row = layout.row(align=True)
        draw_slider(row, last, "influence")
        draw_switch(row, last)
        draw_knee(layout, last)
        draw_features(layout, last)


def draw_adding(layout: Any, context: Context) -> None:
    """The button that fits a bone without IK, and what is in its way."""
    bone = context.active_pose_bone
    if bone and (left := left_at([bone])):
        sentence = translated_text(
            "The IK constraint of '{bone}' was removed: remove what is left of the limb", bone=left[0].name
        )
        draw_problem(layout.column(align=True), context, sentence, ["LEFT"])
    elif bone and convertible([bone]):
        layout.operator("pose.planar_ik_convert", text="Solve Exactly", icon="CON_KINEMATIC").which = "SELECTED"
    elif suggestion := limb_suggested(bone):
        why, mends = mends_for_adding(*suggestion)
        draw_problem(layout.column(align=True), context, why, mends)
        if not why:
            label = translated_text("Add IK to {bone}", bone=suggestion[0].name)
            layout.operator("pose.planar_ik_add", text=label, translate=False)


def draw_problem(column: Any, context: Context, sentence: str, mends: Sequence[str]) -> None:
    """What is wrong, in lines, and a button for each mend that helps."""
    for number, chain in enumerate(wrapped(context, sentence)):
        column.label(text=chain, icon="BLANK1" if number else "ERROR", translate=False)
    for mend in mends:
        if mend == "PICK":
            column.operator("pose.planar_ik_pick", text=MENDS[mend], icon="EYEDROPPER").part = "TARGET"
        else:
            column.operator("pose.planar_ik_mend", text=MENDS[mend], icon="TOOL_SETTINGS").way = mend


def draw_switch(row: Any, last: PoseBone) -> None:
    """The button that switches, or the rig's own slider where it has one for this limb."""
    slider = rig_slider(last)
    if slider is None:
        row.operator("pose.planar_ik_switch", text="Switch")
    else:
        bone, name = slider
        row.prop(last.id_data.pose.bones[bone], f'["{escape_identifier(name)}"]', text=name, translate=False)


def draw_state(layout: Any, context: Context, last: PoseBone, status: Status) -> None:
    """The limb's name and its state in words, and what helps where something is wrong."""
    column = layout.column(align=True)
    row = column.row()
    row.label(text=last.name, icon="CON_KINEMATIC", translate=False)
    values = {
        name: length_text(scene_of(context), value) if isinstance(value, float) else value
        for name, value in status.values.items()
    }
    sentence = translated_text(status.template, **values)
    if status.reach == Reach.INVALID:
        draw_problem(column, context, sentence, mends_for(last, status))
    else:
        row.label(text=sentence, icon="BLANK1" if status.is_fk else ICONS[status.reach], translate=False)


def wrapped(context: Context, sentence: str) -> list[str]:
    """A sentence in lines that the region has room for."""
    region, scale = context.region, context.preferences.system.ui_scale  # type: ignore[union-attr]
    return wrap(sentence, max(20, int((region.width if region else 250) / (7.5 * scale)) - 4))


def draw_parts(layout: Any, last: PoseBone) -> None:
    """A button for each part, which selects it."""
    row = layout.row(align=True)
    for part, text, _ in PARTS:
        if find_parts(last, part):
            row.operator("pose.planar_ik_select", text=text).part = part


def draw_slider(layout: Any, last: PoseBone, name: str, text: str | None = None) -> None:
    """The custom property itself, so that keys, drivers and the right mouse button work as everywhere in Blender."""
    slider = SLIDER[name]
    if has_slider(last, name):
        layout.prop(last, f'["{slider.key}"]', text=text or slider.key)


def draw_knee(layout: Any, last: PoseBone) -> None:
    """The plane, and where the knee points in it."""
    plane = choices_of(last)["plane"]
    row = layout.row(align=True)
    for value, label, _ in PLANE[1:]:
        button = row.operator("pose.planar_ik_set", text=label, depress=plane == value)
        button.what, button.plane = "PLANE", value
    if plane != "HINGE":
        draw_slider(layout, last, "swivel", "Swivel")
    draw_slider(layout, last, "ankle", "Ankle")
    draw_slider(layout, last, "flip", "Flip")


def draw_features(layout: Any, last: PoseBone) -> None:
    """Softness and stretch, or the buttons that switch them on."""
    missing = []
    for name, label in (("softness", "Softness"), ("stretch", "Stretch")):
        if not has_slider(last, name):
            missing.append((name, label))
            continue
        row = layout.row(align=True)
        draw_slider(row, last, name, label)
        row.operator("pose.planar_ik_set", text="", icon="X").what = f"DROP_{name.upper()}"
    row = layout.row(align=True)
    for name, label in missing:
        row.operator("pose.planar_ik_set", text=label, icon="ADD").what = f"ADD_{name.upper()}"


class VIEW3D_PT_planar_ik_tools(_Section, Panel):
    """What is done with a limb now and then"""

    bl_label = "Tools"

    def draw(self, _context: Context) -> None:
        """Snap, mirror, bake."""
        layout: Any = self.layout
        column = layout.column(align=True)
        for name, text in (("snap_target", "Snap IK to FK"), ("snap_fk", "Snap FK to IK")):
            row = column.row(align=True)
            row.operator(f"pose.planar_ik_{name}", text=text)
            row.operator(f"pose.planar_ik_{name}", text="", icon="PREVIEW_RANGE").use_range = True
        row = layout.row(align=True)
        row.operator("pose.planar_ik_mirror", text="Mirror")
        row.operator("pose.planar_ik_bake", text="Bake…")


class VIEW3D_PT_planar_ik_setup(_Section, Panel):
    """What is set once for a limb"""

    bl_label = "Setup"

    def draw(self, context: Context) -> None:
        """What it follows, what poses it, its angles, and the way out."""
        layout: Any = self.layout
        last = limb_meant(context)
        if last is None:
            return
        choices, mode = choices_of(last), mode_of(last)
        for text, part, name in (("Target", "TARGET", "target"), ("Pole", "POLE", "pole_target")):
            followed = read_followed(last, name)
            bone = read_followed(last, f"{name.removesuffix('target')}subtarget")
            row = layout.row(align=True)
            row.label(text=text)
            label = (bone or followed.name) if followed else "-"
            row.operator("pose.planar_ik_pick", text=label, icon="EYEDROPPER", translate=False).part = part
        if foot_of(last):
            layout.operator("pose.planar_ik_set", text="Foot Follows", depress=foot_follows(last)).what = "FOOT"
        angles = f"{degrees(choices['min_angle']):.0f}° - {degrees(choices['max_angle']):.0f}°"
        row = layout.row(align=True)
        row.label(text="Knee Limits")
        row.operator("pose.planar_ik_set", text=angles, translate=False).what = "LIMITS"
        if has_slider(last, "stretch"):
            row = layout.row(align=True)
            row.label(text="Stretch Limit")
            row.operator("pose.planar_ik_set", text=f"{choices['stretch_max']:.2f}").what = "STRETCH"
        row = layout.row(align=True)
        row.operator("pose.planar_ik_to_rig", text="Rig", depress=mode == "RIG")
        row.operator("pose.planar_ik_to_live", text="Live", depress=mode == "LIVE")
        if mode == "RIG":
            layout.operator("pose.planar_ik_rebuild")
        if is_converted(last):
            layout.operator("pose.planar_ik_unconvert")
        layout.operator("pose.planar_ik_remove", text="Remove")
        if mode == "LIVE":
            layout.prop(scene_of(context).planar_ik, "live")  # type: ignore[attr-defined]


class VIEW3D_PT_planar_ik_all(_Section, Panel):
    """All limbs of the rig"""

    bl_label = "All Limbs"

    def draw(self, context: Context) -> None:
        """A row for each, which selects its target."""
        layout: Any = self.layout
        ob = rig_in_view(context)
        column = layout.column(align=True)
        for last in limbs_of(ob) if ob else ():
            row = column.row(align=True)
            button = row.operator("pose.planar_ik_select", text=last.name, translate=False, emboss=False)
            button.part, button.bone = "TARGET", last.name
            row.prop(last, f'["{SLIDER["influence"].key}"]', text="")


class VIEW3D_PT_planar_ik_overlay(Panel):
    """In the overlays popover, below Blender's own"""

    bl_label = "Planar IK"
    bl_space_type = "VIEW_3D"
    bl_region_type = "HEADER"
    bl_parent_id = "VIEW3D_PT_overlay"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where limbs can be seen."""
        return context.mode in {"POSE", "OBJECT"}

    def draw(self, context: Context) -> None:
        """Two checkboxes."""
        row: Any = self.layout.row()  # type: ignore[union-attr]
        for name in ("show_overlay", "show_reach"):
            row.prop(scene_of(context).planar_ik, name)  # type: ignore[attr-defined]


CLASSES = (
    VIEW3D_PT_planar_ik,
    VIEW3D_PT_planar_ik_tools,
    VIEW3D_PT_planar_ik_setup,
    VIEW3D_PT_planar_ik_all,
    VIEW3D_PT_planar_ik_overlay,
)
