"""The panel in the sidebar's Item tab, on the bones of a limb, its foot, target and pole: what it is, how it is, and
what animates it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from bpy.types import Context, Panel, PoseBone
from bpy.utils import escape_identifier

from ..blender.types import scene_of, takes_bones, view_layer_of
from ..limb.follow import follow_of
from ..limb.moving import RigSlider, rig_slider
from ..limb.settings import SLIDER
from ..limb.storage import choices_of, has_slider, read_slider
from ..limb.tips import foot_of
from ..limb.words import translated_text
from ..solver.reach import Reach
from ..tasks.feet import foot_follows
from ..tasks.finding import limb_suggested
from ..tasks.status import Status, status_now
from .dots import dot
from .features import FEATURES, is_there
from .finding import convertible, left_at, limb_meant
from .operators.mending import REPAIRS, repairs_for, repairs_for_adding
from .operators.selecting import ROLES, refs_of_role
from .preferences import PLANE
from .remembering import active_in, name_of, until_posed, until_rebuilt
from .titles import control_of, title_of
from .units import length_text

TURNED = 1e-3
"""From so many radians on, a foot that follows its control was turned by hand."""


class InSidebar:
    """Where all of the panel is."""

    bl_space_type: Any = "VIEW_3D"
    bl_region_type: Any = "UI"
    bl_category: Any = "Item"


class VIEW3D_PT_planar_ik(InSidebar, Panel):
    """The limb that is selected"""

    bl_label = "Planar IK"

    @classmethod
    def poll(cls, context: Context) -> bool:
        """On what belongs to a limb, and on a bone that could be made one."""
        if context.mode not in {"POSE", "OBJECT"}:
            return False
        return limb_meant(context) is not None or bool(offer_of(context))

    def draw(self, context: Context) -> None:
        """From the limb's state to what animates it."""
        layout: Any = self.layout
        last = limb_meant(context)
        if last is None:
            draw_offer(layout, context)
            return
        draw_title(layout, last)
        draw_state(layout, context, last, status_in(context, last))
        draw_foot(layout, context, last)
        draw_parts(layout, last)
        layout.use_property_split = True
        draw_influence(layout, last)
        draw_knee(layout, last)
        draw_features(layout, context, last)


def offer_of(context: Context) -> str:
    """What can be done for a bone of no limb: ``LEFT`` removes what is left of one, ``CONVERT`` makes one of a
    constraint, ``ADD`` a new one; nothing where there is nothing to do."""
    return until_rebuilt(("offer", active_in(context)), lambda: _offer(context))


def _offer(context: Context) -> str:
    bone = context.active_pose_bone if context.mode == "POSE" else None
    if bone is None:
        return ""
    if left_at([bone]):
        return "LEFT"
    return "CONVERT" if convertible([bone]) else "ADD" if limb_suggested(bone) else ""


def draw_offer(layout: Any, context: Context) -> None:
    """The button that fits a bone without IK, and what is in its way."""
    bone, offer = context.active_pose_bone, offer_of(context)
    leftovers = left_at([bone]) if bone and offer == "LEFT" else []
    if leftovers:
        template = "The IK constraint of '{bone}' was removed: remove what is left of the limb"
        draw_problem(layout.column(align=True), context, translated_text(template, bone=leftovers[0].name), ["LEFT"])
    elif offer == "CONVERT":
        layout.operator("pose.planar_ik_convert", text="Solve Exactly", icon="CON_KINEMATIC").which = "SELECTED"
    elif suggestion := limb_suggested(bone):
        why, repairs = repairs_for_adding(*suggestion)
        draw_problem(layout.column(align=True), context, why, repairs)
        if not why:
            label = translated_text("Add IK to {bone}", bone=suggestion[0].name)
            layout.operator("pose.planar_ik_add", text=label, translate=False)


def draw_problem(column: Any, context: Context, sentence: str, repairs: Sequence[str]) -> None:
    """What is wrong, in lines, and a button for each mend that helps."""
    for number, line_of_text in enumerate(wrapped(context, sentence)):
        column.label(text=line_of_text, icon="BLANK1" if number else "ERROR", translate=False)
    for repair in repairs:
        if repair == "PICK":
            column.operator("pose.planar_ik_pick", text=REPAIRS[repair], icon="EYEDROPPER").role = "TARGET"
        else:
            column.operator("pose.planar_ik_mend", text=REPAIRS[repair], icon="TOOL_SETTINGS").repair = repair


def wrapped(context: Context, sentence: str) -> list[str]:
    """A sentence in lines that the region has room for."""
    region, scale = context.region, context.preferences.system.ui_scale  # type: ignore[union-attr]
    return wrap(sentence, max(20, int((region.width if region else 250) / (7.5 * scale)) - 4))


# what it is, and how


def draw_title(layout: Any, last: PoseBone) -> None:
    """What people call the limb; its bone in the tooltip."""
    row = layout.row()
    row.alignment = "LEFT"
    button = row.operator(
        "pose.planar_ik_select", text=title_of(last), icon="CON_KINEMATIC", emboss=False, translate=False
    )
    button.role, button.bone = "LIMB", last.name


def status_in(context: Context, last: PoseBone) -> Status:
    """The status of a limb in a context; of the same pose, it is told once."""
    key = "status", name_of(last), view_layer_of(context).as_pointer()
    return until_posed(key, lambda: status_now(context, last))


def slider_of_rig(last: PoseBone) -> RigSlider | None:
    """The slider of the rig's own that switches a limb, if there is one."""
    return until_rebuilt(("slider", name_of(last)), lambda: rig_slider(last))


def draw_state(layout: Any, context: Context, last: PoseBone, status: Status) -> None:
    """The limb's state on a line of its own: a dot and a few words; what helps where something is wrong."""
    scene = scene_of(context)
    values = {
        name: length_text(scene, value) if isinstance(value, float) else value for name, value in status.values.items()
    }
    sentence = translated_text(status.template, **values)
    slider = slider_of_rig(last)
    if status.reach == Reach.INVALID:
        draw_problem(layout.column(align=True), context, sentence, repairs_for(last, status))
    elif slider and _influence_of(last, slider) <= 0.0:
        layout.label(text="FK", icon_value=dot("GREY"))
    else:
        layout.label(text=sentence, icon_value=dot(colour_of(status)), translate=False)


def _influence_of(last: PoseBone, slider: RigSlider) -> float:
    """How far a rig shows the IK of a limb that it switches itself."""
    return float(last.id_data.pose.bones[slider.copying].constraints[slider.constraint].influence)


def colour_of(status: Status) -> str:
    """The colour of what a status says: green is on target, amber is off it because somebody wants it so, red short."""
    if status.reach == Reach.INVALID:
        return "RED"
    if status.is_fk:
        return "GREY"
    if not status.is_ik or status.is_eased:
        return "AMBER"
    return "GREEN" if status.reach == Reach.REACHED else "RED"


def draw_foot(layout: Any, context: Context, last: PoseBone) -> None:
    """On a foot that was turned by hand though it follows: what to turn instead. Rigify's feet follow so, too."""
    bone, foot = context.active_pose_bone, foot_of(last)
    if bone is None or bone != foot or not foot_follows(last) or read_slider(last, "influence") <= 0.0:
        return
    if abs(bone.matrix_basis.to_quaternion().angle) > TURNED:
        target, control = follow_of(last).pairs[0]
        text = translated_text("Turns with its control: turn {name}", name=control or (target.name if target else "-"))
        layout.label(text=text, icon="INFO", translate=False)


def draw_parts(layout: Any, last: PoseBone) -> None:
    """A button for each part, which selects it."""
    row = layout.row(align=True)
    for role, text, _ in ROLES:
        if refs_of_role(last, role):
            row.operator("pose.planar_ik_select", text=text).role = role


# what animates it


def draw_slider(layout: Any, last: PoseBone, name: str, text: str | None = None) -> None:
    """The custom property itself, so that keys, drivers and the right mouse button work as everywhere in Blender."""
    slider = SLIDER[name]
    if has_slider(last, name):
        layout.prop(last, f'["{slider.key}"]', text=text or slider.key)


def draw_influence(layout: Any, last: PoseBone) -> None:
    """Influence, and the button that switches; or the rig's own slider where it has one for this limb."""
    slider = slider_of_rig(last)
    if slider is None:
        row = layout.row(align=True)
        draw_slider(row, last, "influence")
        row.operator("pose.planar_ik_switch", text="Switch")
        return
    column = layout.column()
    column.use_property_split = False
    text = f"{slider.name.replace('_', '-')} ({control_of(last).replace('_ik', '')})"
    bone = last.id_data.pose.bones[slider.bone]
    column.prop(bone, f'["{escape_identifier(slider.name)}"]', text=text, slider=True, translate=False)


def draw_knee(layout: Any, last: PoseBone) -> None:
    """The plane, and where the knee points in it."""
    plane = choices_of(last)["plane"]
    split = layout.split(factor=0.4)
    split.alignment = "RIGHT"
    split.label(text="Knee")
    row = split.row(align=True)
    for value, label, _ in PLANE[1:]:
        button = row.operator("pose.planar_ik_set", text=label, depress=plane == value)
        button.what, button.plane = "PLANE", value
    row = layout.row(align=True)
    if plane != "HINGE":
        draw_slider(row, last, "swivel", "Swivel")
    toggle = row.row(align=True)
    toggle.use_property_split = plane == "HINGE"
    if has_slider(last, "flip"):
        toggle.prop(last, f'["{SLIDER["flip"].key}"]', text="Flip", toggle=plane != "HINGE")
    draw_slider(layout, last, "ankle", "Ankle")


def draw_features(layout: Any, context: Context, last: PoseBone) -> None:
    """Softness and stretch, always there: at 0 until they are moved; the X takes them away again."""
    ob = last.id_data
    for name, text in FEATURES.items():
        row = layout.row(align=True)
        if is_there(last, name):
            draw_slider(row, last, name, text)
            row.operator("pose.planar_ik_set", text="", icon="X").what = f"DROP_{name.upper()}"
        else:
            row.enabled = takes_bones(ob) and not ob.override_library
            row.prop(scene_of(context).planar_ik_features, name, text=text, slider=True)  # type: ignore[attr-defined]
    if has_slider(last, "roll"):
        row = layout.row(align=True)
        row.use_property_split = False
        draw_slider(row, last, "roll", "Roll")
        draw_slider(row, last, "bank", "Bank")
    draw_slider(layout, last, "pole_follow", "Pole Follow")


CLASSES = (VIEW3D_PT_planar_ik,)
