"""What lies below the panel, closed at first: tools, setup, and all limbs of the rig; and the overlay's checkboxes."""

from __future__ import annotations

from collections.abc import Sequence
from math import degrees
from typing import Any

from bpy.types import Context, Panel, PoseBone

from ..blender.types import scene_of
from ..blender.words import translated_text
from ..tasks.status import FEATURES, KNEE_LIMITS, Choice, Description, description_of, limbs_of
from . import fields, finding, panel, state
from .operators import adding, setting


class _Section(panel.InSidebar):
    bl_parent_id: Any = "VIEW3D_PT_planar_ik"
    bl_options: Any = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return finding.active_limb(context) is not None


class VIEW3D_PT_planar_ik_tools(_Section, Panel):
    """What is done with a limb now and then"""

    bl_label = "Tools"

    def draw(self, _context: Context) -> None:
        """Snap, hold, mirror, bake."""
        layout: Any = self.layout
        column = layout.column(align=True)
        for name, text in (("snap_target", "Snap IK to FK"), ("snap_fk", "Snap FK to IK")):
            row = column.row(align=True)
            row.operator(f"pose.planar_ik_{name}", text=text)
            row.operator(f"pose.planar_ik_{name}", text="Range…").use_range = True
        column.operator("pose.planar_ik_switch", text="Switch over a Range…").use_range = True
        column = layout.column(align=True)
        column.operator("pose.planar_ik_plant")
        row = column.row(align=True)
        row.operator("pose.planar_ik_hold", text="Hold")
        row.operator("pose.planar_ik_find_contacts", text="Find Contacts")
        column.operator("pose.planar_ik_hold", text="Hold in Contacts").range = "CONTACTS"
        row = layout.row(align=True)
        row.operator("pose.planar_ik_mirror", text="Mirror")
        row.operator("pose.planar_ik_mirror", text="Range…").use_range = True
        layout.operator("pose.planar_ik_parent", text="Parent Control…")
        layout.operator("pose.planar_ik_bake", text="Bake…")


class VIEW3D_PT_planar_ik_setup(_Section, Panel):
    """What is set once for a limb"""

    bl_label = "Setup"

    def draw(self, context: Context) -> None:
        """What it follows, what poses it, its angles, and the way out."""
        layout: Any = self.layout
        limb = finding.active_limb(context)
        if limb is None:
            return
        described = description_of(limb)
        draw_followed(layout, described)
        draw_buttons(layout, described)
        draw_limits(layout, limb, described)
        draw_mode(layout, context, described)


def draw_followed(layout: Any, limb: Description) -> None:
    """Target and pole, each a button that picks another."""
    for text, role, ref in zip(("Target", "Pole"), ("TARGET", "POLE"), limb.followed, strict=True):
        ob, bone = ref or (None, "")
        row = layout.row(align=True)
        row.label(text=text)
        label = (bone or ob.name) if ob else "-"
        row.operator("pose.planar_ik_pick", text=label, icon="EYEDROPPER", translate=False).role = role


def _numbers(row: Any, limb: Description, choices: Sequence[Choice]) -> None:
    """A button that shows these choices, and asks for them."""
    numbers = [(choice, limb.choices[choice.name]) for choice in choices if choice.is_number]
    text = " - ".join(f"{degrees(number):.0f}°" if choice.is_angle else f"{number:.2f}" for choice, number in numbers)
    setting.draw_set(row, text, translate=False, **{choice.name: limb.choices[choice.name] for choice in choices})


def draw_buttons(layout: Any, limb: Description) -> None:
    """A button for each feature that a limb may have or not, but for those whose sliders are always there."""
    for feature in FEATURES:
        if feature.label and not feature.is_offered and feature.is_possible(limb):
            row, is_on = layout.row(align=True), feature.of(limb)
            setting.draw_set(row, feature.label, is_on, **{feature.name: not is_on})
            if is_on and feature.choices:
                _numbers(row, limb, feature.choices)


def draw_limits(layout: Any, limb: PoseBone, described: Description) -> None:
    """The limits of its angles and of its features; and the way out of those whose sliders are always there."""
    limited = [feature for feature in FEATURES if feature.limits and feature.is_possible(described)]
    limited = [feature for feature in limited if feature.of(described) or not feature.is_offered]
    rows = [(feature.limits, feature.choices) for feature in limited]
    for text, choices in ((f"{state.joint_label(limb)} Limits", KNEE_LIMITS), *rows):
        row = layout.row(align=True)
        row.label(text=text)
        _numbers(row, described, choices)
    row = layout.row(align=True)
    for feature in FEATURES:
        if feature.is_offered and feature.of(described):
            setting.draw_set(row, f"Remove {feature.label}", **{feature.name: False})


def draw_mode(layout: Any, context: Context, limb: Description) -> None:
    """What poses it, and the way out."""
    mode = limb.mode
    row = layout.row(align=True)
    for value, text, _ in adding.MODES:
        setting.draw_set(row, text, mode == value, mode=value)
    if mode == "RIG":
        layout.operator("pose.planar_ik_rebuild")
    if limb.converted_from:
        layout.operator("pose.planar_ik_unconvert")
    layout.operator("pose.planar_ik_remove", text="Remove")
    if mode == "LIVE":
        layout.prop(scene_of(context).planar_ik, "live")  # type: ignore[attr-defined]


class VIEW3D_PT_planar_ik_all(_Section, Panel):
    """All limbs of the rig"""

    bl_label = ""

    def draw_header(self, context: Context) -> None:
        """With how many there are."""
        layout: Any = self.layout
        ob = finding.rig_in_view(context)
        layout.label(text=translated_text("All Limbs ({count})", count=len(limbs_of(ob)) if ob else 0), translate=False)

    def draw(self, context: Context) -> None:
        """A row for one limb each, which selects its target."""
        layout: Any = self.layout
        ob = finding.rig_in_view(context)
        column = layout.column(align=True)
        for limb in limbs_of(ob) if ob else ():
            fields.draw_line(column.row(align=True), limb)


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
        for name in ("shows_limbs", "shows_reach"):
            row.prop(scene_of(context).planar_ik_overlay, name)  # type: ignore[attr-defined]


CLASSES = (
    VIEW3D_PT_planar_ik_tools,
    VIEW3D_PT_planar_ik_setup,
    VIEW3D_PT_planar_ik_all,
    VIEW3D_PT_planar_ik_overlay,
)
