"""The panel in the sidebar's Item tab, on the bones of a limb, its foot, target and pole: what it is, how it is, and
what animates it; below, closed at first, tools, setup, and all limbs of the rig; and the overlay's checkboxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import degrees
from typing import Any

from bpy.types import Context, Panel, PoseBone, UILayout

from ..blender.types import scene_of, translated_text
from ..tasks import cylinders, selection
from ..tasks.modes import repairs_for
from ..tasks.status import FEATURES, KNEE_LIMITS, Choice, Description, Status, description_of, limbs_counted, limbs_of
from . import fields, finding, state
from .operators import adding, setting
from .operators.adding import halves_selected
from .operators.repairing import labels_of, repairs_for_adding
from .operators.setting import ROLES, selectable_refs

TURNED = 1e-3
"""From so many radians on, a foot that follows its control was turned by hand."""


class InSidebar:
    """Where all of the panel is."""

    bl_space_type: Any = "VIEW_3D"
    bl_region_type: Any = "UI"
    bl_category: Any = "Item"


class VIEW3D_PT_planar_ik(InSidebar, Panel):
    """The limbs that are selected"""

    bl_label = "Planar IK"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """On what belongs to a limb, and on a bone that could be made one."""
        if context.mode not in {"POSE", "OBJECT"}:
            return False
        return finding.active_limb(context) is not None or bool(offer_of(context))

    def draw(self, context: Context) -> None:
        """From the limb's state to what animates it."""
        layout: Any = self.layout
        limbs = finding.limbs_active_first(context)
        if not limbs:
            draw_offer(layout, context)
        elif len(limbs) > 1:
            draw_several(layout, context, limbs)
        else:
            (limb,) = limbs
            draw_title(layout, limb)
            draw_state(layout, context, limb, state.status_in(context, limb))
            draw_foot(layout, context, limb)
            draw_parts(layout, limb)
            fields.draw_fields(layout, context, limb)
        if offer_of(context) == "ADD":  # of what hangs on a limb, too
            draw_adding(layout, context)


def offer_of(context: Context) -> str:
    """What can be done for bones of no limb: ``LEFT``, ``CONVERT``, ``ADD``, ``CYLINDER``, a sentence, or "". Left
    removes what is left of a limb, Convert makes limbs of constraints, Add new ones, Cylinder two bones aim; else a
    sentence says why there is nothing to add, if there is such."""
    return finding.cached_until_rebuilt(("offer", finding.selection_in(context)), lambda: _offer(context))


def _offer(context: Context) -> str:
    bones = finding.bones_selected(context)
    if not bones:
        return ""
    if selection.orphaned_limbs(bones):
        return "LEFT"
    if halves_selected(context):
        return "CYLINDER"
    if selection.convertible(bones):
        return "CONVERT"
    limbs, why = selection.limbs_offered(context)
    return "ADD" if limbs else why.translated if why else ""


def draw_offer(layout: UILayout, context: Context) -> None:
    """Draw the button that fits bones without IK, and what is in its way."""
    offer = offer_of(context)
    leftovers = selection.orphaned_limbs(finding.bones_selected(context)) if offer == "LEFT" else []
    if leftovers:
        template = "The IK constraint of '{bone}' was removed: remove what is left of the limb"
        sentence, repairs = translated_text(template, bone=leftovers[0].name), labels_of(["LEFT"], leftovers[0])
        draw_problem(layout.column(align=True), context, sentence, repairs)
    elif offer == "CONVERT":
        layout.operator("pose.planar_ik_convert", text="Solve Exactly", icon="CON_KINEMATIC").which = "SELECTED"
    elif offer == "CYLINDER":
        draw_cylinder(layout, context)
    elif offer != "ADD":
        state.draw_lines(layout, context, offer, "INFO")


def draw_cylinder(layout: UILayout, context: Context) -> None:
    """Draw how long a cylinder is, and how far it is out."""
    bone = next(iter(halves_selected(context)), None)
    cylinder = cylinders.cylinder_at(bone) if bone else None
    if cylinder is None:
        return
    length, stroke = (state.length_text(scene_of(context), size) for size in cylinders.stroke_of(context, cylinder))
    layout.label(text=", ".join(half.name for half in cylinder), icon="CON_TRACKTO", translate=False)
    text = translated_text("Length {length}, stroke {stroke}", length=length, stroke=stroke)
    layout.label(text=text, translate=False)
    if cylinders.is_our_cylinder(cylinder):
        layout.operator("pose.planar_ik_cylinder", text="Remove Cylinder").remove = True


def draw_adding(layout: UILayout, context: Context) -> None:
    """Draw the button that adds IK to limbs; of a single one it names the last bone, and says what is in its way."""
    limbs = finding.cached_until_rebuilt(
        ("to add", finding.selection_in(context)),
        lambda: [(finding.name_of(limb), segments) for limb, segments in selection.limbs_offered(context)[0]],
    )
    label = translated_text("Add IK to {count} Limbs", count=len(limbs))
    if len(limbs) == 1 and (limb := finding.bone_of(limbs[0][0])) is not None:
        why, helping = repairs_for_adding(limb, limbs[0][1])
        draw_problem(layout.column(align=True), context, why, labels_of(helping, limb))
        if why:
            return
        label = translated_text("Add IK to {bone}", bone=limb.name)
    layout.operator("pose.planar_ik_add", text=label, translate=False)


def draw_problem(column: UILayout, context: Context, sentence: str, repairs: Mapping[str, str]) -> None:
    """Draw what is wrong, in lines, and a button for each repair that helps, with what it says."""
    state.draw_lines(column, context, sentence, "ERROR")
    for repair, text in repairs.items():
        if repair == "PICK":
            column.operator("pose.planar_ik_pick", text=text, icon="EYEDROPPER", translate=False).role = "TARGET"
        else:
            button = column.operator("pose.planar_ik_repair", text=text, icon="TOOL_SETTINGS", translate=False)
            button.repair = repair


# what it is, and how


def draw_title(layout: UILayout, limb: PoseBone) -> None:
    """Draw the button with what people call the limb; its bone is in the tooltip."""
    row = layout.row()
    row.alignment = "LEFT"
    button = row.operator(
        "pose.planar_ik_select", text=state.title_of(limb), icon="CON_KINEMATIC", emboss=False, translate=False
    )
    button.role, button.bone = "TARGET" if state.slider_of_rig(limb) else "LIMB", limb.name


def draw_several(layout: UILayout, context: Context, limbs: Sequence[PoseBone]) -> None:
    """Draw how many limbs are selected, a line for each with its state, and what is done with all of them."""
    layout.label(text=limbs_counted(len(limbs)).translated, icon="CON_KINEMATIC", translate=False)
    column = layout.column(align=True)
    for limb in sorted(limbs, key=lambda limb: (limb.id_data.name, [*limb.id_data.pose.bones].index(limb))):
        row = column.row(align=True)
        row.label(text="", icon_value=state.dot_of(state.status_in(context, limb)))
        fields.draw_line(row, limb)
    draw_parts(layout, limbs[0])
    layout.operator("pose.planar_ik_switch")


def draw_state(layout: UILayout, context: Context, limb: PoseBone, status: Status) -> None:
    """Draw the limb's state: a dot and a few words; or what is wrong, and what helps."""
    sentence = state.sentence_of(context, status)
    if status.is_broken:
        draw_problem(layout.column(align=True), context, sentence, labels_of(repairs_for(limb, status), limb))
    else:
        layout.label(text=sentence, icon_value=state.dot_of(status), translate=False)


def draw_foot(layout: UILayout, context: Context, limb: PoseBone) -> None:
    """Draw a hint on a foot that was turned by hand though it follows: what to turn instead. Rigify's feet follow
    so, too."""
    bone, described = context.active_pose_bone, description_of(limb)
    if bone is None or (bone.id_data, bone.name) != (limb.id_data, described.foot) or described.foot_turn is None:
        return
    if described.sliders["influence"] <= 0.0:
        return
    if abs(bone.matrix_basis.to_quaternion().angle) > TURNED:
        target, control = selection.control_of(limb)
        name = control or (target.name if target else "-")
        state.draw_lines(layout, context, translated_text("Turns with its control: turn {name}", name=name), "INFO")


def draw_parts(layout: UILayout, limb: PoseBone) -> None:
    """Draw a button for each part of a limb, which selects it. For bones that a rig with a slider of its own hides,
    none."""
    row = layout.row(align=True)
    for role, text, _ in ROLES:
        if selectable_refs(limb, role):
            row.operator("pose.planar_ik_select", text=text).role = role


class _Section(InSidebar):
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


def draw_followed(layout: UILayout, limb: Description) -> None:
    """Draw target and pole, each a button that picks another."""
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


def draw_buttons(layout: UILayout, limb: Description) -> None:
    """Draw a button for each feature that a limb may have or not, but for those whose sliders are always there."""
    for feature in FEATURES:
        if feature.label and not feature.is_offered and feature.is_possible(limb):
            row, is_on = layout.row(align=True), feature.of(limb)
            setting.draw_set(row, feature.label, is_on, **{feature.name: not is_on})
            if is_on and feature.choices:
                _numbers(row, limb, feature.choices)


def draw_limits(layout: UILayout, limb: PoseBone, described: Description) -> None:
    """Draw the limits of a limb's angles and features, and the way out of features whose sliders are always there."""
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


def draw_mode(layout: UILayout, context: Context, limb: Description) -> None:
    """Draw what poses the limb, and the way out."""
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
    VIEW3D_PT_planar_ik,
    VIEW3D_PT_planar_ik_tools,
    VIEW3D_PT_planar_ik_setup,
    VIEW3D_PT_planar_ik_all,
    VIEW3D_PT_planar_ik_overlay,
)
