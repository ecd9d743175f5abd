"""What lies below the panel, closed at first: tools, setup, and all limbs of the rig; and the overlay's checkboxes."""

from __future__ import annotations

from math import degrees
from typing import Any

from bpy.types import Context, Panel, PoseBone

from ..blender.types import scene_of
from ..blender.words import translated_text
from ..tasks.limbs import Description, description_of, limbs_of
from .features import FEATURES
from .fields import draw_line
from .finding import active_limb, rig_in_view
from .operators.adding import MODES
from .operators.setting import draw_set
from .panel import InSidebar
from .titles import joint_label


class _Section(InSidebar):
    bl_parent_id: Any = "VIEW3D_PT_planar_ik"
    bl_options: Any = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return active_limb(context) is not None


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
        limb = active_limb(context)
        if limb is None:
            return
        described = description_of(limb)
        draw_followed(layout, described)
        draw_foot_setup(layout, described)
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
    if limb.pole:
        _toggle(layout, "Pole Follow", "pole_follows", "pole_follow" in limb.sliders)


def _toggle(layout: Any, text: str, name: str, is_on: bool) -> None:
    """A button for what a limb has or not."""
    draw_set(layout, text, is_on, **{name: not is_on})


def _numbers(row: Any, text: str, limb: Description, *names: str) -> None:
    """A button that asks for these choices."""
    draw_set(row, text, translate=False, **{name: limb.choices[name] for name in names})


def draw_foot_setup(layout: Any, limb: Description) -> None:
    """Whether bones have twist, and the foot follows, and rolls."""
    _toggle(layout, "Twist", "twist", limb.has("twist"))
    if not limb.foot:
        return
    _toggle(layout, "Foot Follows", "foot_follows", limb.foot_turn is not None)
    row = layout.row(align=True)
    _toggle(row, "Foot Roll", "foot_roll", limb.roll is not None)
    if limb.roll:
        angle = f"{degrees(limb.choices['break_angle']):.0f}°"
        _numbers(row, angle, limb, "break_angle")


def draw_limits(layout: Any, limb: PoseBone, described: Description) -> None:
    """The limits of its angles and of its stretch; and the way out of softness and stretch."""
    choices = described.choices
    angles = f"{degrees(choices['min_angle']):.0f}° - {degrees(choices['max_angle']):.0f}°"
    row = layout.row(align=True)
    row.label(text=f"{joint_label(limb)} Limits")
    _numbers(row, angles, described, "min_angle", "max_angle")
    if choices["plane"] == "HINGE" and len(described.segments) == 2:
        turns = f"{degrees(choices['root_min_angle']):.0f}° - {degrees(choices['root_max_angle']):.0f}°"
        row = layout.row(align=True)
        row.label(text="Root Limits")
        _numbers(row, turns, described, "root_min_angle", "root_max_angle")
    if "stretch" in described.sliders:
        row = layout.row(align=True)
        row.label(text="Stretch Limit")
        _numbers(row, f"{choices['stretch_max']:.2f}", described, "stretch_max", "stretch_volume")
    row = layout.row(align=True)
    for name, text in FEATURES.items():
        if name in described.sliders:
            draw_set(row, f"Remove {text}", **{name: False})


def draw_mode(layout: Any, context: Context, limb: Description) -> None:
    """What poses it, and the way out."""
    mode = limb.mode
    row = layout.row(align=True)
    for value, text, _ in MODES:
        draw_set(row, text, mode == value, mode=value)
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
        ob = rig_in_view(context)
        layout.label(text=translated_text("All Limbs ({count})", count=len(limbs_of(ob)) if ob else 0), translate=False)

    def draw(self, context: Context) -> None:
        """A row for one limb each, which selects its target."""
        layout: Any = self.layout
        ob = rig_in_view(context)
        column = layout.column(align=True)
        for limb in limbs_of(ob) if ob else ():
            draw_line(column.row(align=True), limb)


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
