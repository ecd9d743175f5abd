"""What the panels show of a chain, from its name down to its buttons."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, PoseBone

from ...rig.data.access import (
    chain_settings,
    library_of,
    place_of_setting,
    place_on_bone,
    runs_on_rig,
    scene_of,
    upper_of,
)
from ...rig.data.animation import animated_paths
from ...rig.settings import ON_RIG, PREFIX
from ...rig.tasks.joints import lengths_to_joints
from ...rig.words import iface_
from ..finding import goals_of, left_behind
from ..meaning import refusal
from ..operators.mending import MENDS, mends_for, wrong_goals
from ..operators.selecting import OFF, is_held_back, reach_icon
from ..translations import told
from ..units import length_text
from .wrapping import lines_of

SNAPS = (("snap_target", "Snap IK to FK"), ("snap_fk", "Snap FK to IK"))
"""Operators and what is written on them; beside each is one that does it over a range of frames."""

SHORT = {"stretch_max": "Limit", "stretch_volume": "Volume", "min_angle": "Knee Min", "max_angle": "Max"}
"""What settings are called where their names are wider than the panel, or another above says of what."""

PICKS = {"TARGET": "Pick a Target…", "POLE": "Pick a Pole…"}

PARTS = {"TARGET": ("Target", "EMPTY_AXIS"), "POLE": ("Pole", "CON_TRACKTO"), "LIMB": ("Limb", "BONE_DATA")}


def draw_adding(layout: Any, context: Context) -> None:
    """The button that adds a chain, and which bone to click if that would refuse; or, where a deleted chain left parts,
    the button that removes these."""
    if left_behind(context):
        _draw_lines(layout, context, iface_("Parts are left of a chain whose bones were deleted"), "ERROR")
        layout.operator("pose.planar_ik_remove", text="Remove These Parts")
        return
    if context.active_pose_bone is None:
        _draw_lines(layout, context, iface_("Click the lower bone of a limb: a shin, a forearm"), "INFO")
    elif why := refusal(context):
        _draw_lines(layout, context, told(why), "INFO")
        if lengths_to_joints(context.active_pose_bone):
            layout.operator("pose.planar_ik_end_at_joints", icon="BONE_DATA")
    layout.operator("pose.planar_ik_add", icon="CON_KINEMATIC")


def draw_parts(layout: Any, lower: PoseBone) -> None:
    """What the chain is, and a button for each of its parts that selects it."""
    upper = upper_of(lower)
    name = f"{upper.name if upper else '-'} > {lower.name}"
    layout.label(text=name, icon="CON_KINEMATIC", translate=False)
    row = layout.row(align=True)
    goals = goals_of(lower)
    for part, (word, icon) in PARTS.items():
        if part == "LIMB" or part in goals:
            select = row.operator("pose.planar_ik_select", text=word, icon=icon)
            select.part, select.object, select.bone = part, lower.id_data.name, lower.name
            select.library = library_of(lower.id_data)


def draw_settings(layout: Any, lower: PoseBone) -> None:
    """What an animator sets, from the target down to stretch."""
    chain = chain_settings(lower)
    _draw_goal(layout, lower, "target", "subtarget")
    _draw_plane(layout, lower)
    if chain.plane == "POLE":
        _draw_goal(layout, lower, "pole_target", "pole_subtarget")
        draw_each(layout, lower, "pole_angle")
    column = draw_each(layout, lower, "influence")
    column.operator("pose.planar_ik_switch", text="Switch to FK" if chain.influence > 0.5 else "Switch to IK")
    draw_each(layout, lower, "bend", "softness")
    draw_each(layout, lower, "stretch", *(("stretch_max", "stretch_volume") if chain.stretch else ()))
    _draw_runs_on(layout, lower)


def _draw_runs_on(layout: Any, lower: PoseBone) -> None:
    """What poses the limb, and the one click that changes it."""
    row, on_rig = _labelled(layout, "Runs On"), runs_on_rig(lower)
    row.operator("pose.planar_ik_make_portable", text="Rig", depress=on_rig)
    row.operator("pose.planar_ik_make_live", text="Extension", depress=not on_rig)


def _draw_plane(layout: Any, lower: PoseBone) -> None:
    """The plane; a pole that is not there yet is made by pressing it."""
    chain = chain_settings(lower)
    row = _labelled(layout, "Plane")
    place = _place_drawn(lower, "plane")
    has_pole = chain.pole_target or chain.plane == "POLE"
    for plane in ("REST", "SWING", "POLE") if has_pole else ("REST", "SWING"):
        row.prop_enum(*place, plane)
    if not has_pole:
        row.operator("pose.planar_ik_pole", text="Pole")
    row.prop_decorator(*place)


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
    column, ob = layout.column(align=True), getattr(group, target)
    column.prop(group, target)
    if ob and ob.type == "ARMATURE":
        column.prop_search(group, subtarget, ob.data, "bones")


def draw_each(layout: Any, lower: PoseBone, *names: str) -> Any:
    """Settings of a chain, each where it is: on the bone, or on the rig; give their column."""
    column = layout.column(align=True)
    for name in names:
        label = SHORT.get(name) or lower.bl_rna.properties[PREFIX + name].name
        column.row(align=True).prop(*_place_drawn(lower, name), text=label)
    return column


def _place_drawn(lower: PoseBone, name: str) -> tuple[PoseBone, str]:
    """The bone whose property the panel shows as a setting, and the data path from there: where the setting is. But for
    a bend on the rig that nothing animates it is the lower bone's own property, which rebuilds a mechanism that can't
    swing its knee yet when it is set."""
    holder, path = place_on_bone(lower, name)
    if name != "bend" or holder.get(f"{ON_RIG}bend") != getattr(lower, f"{PREFIX}bend"):
        return holder, path
    is_animated = place_of_setting(lower, name)[1] in animated_paths(holder.id_data)
    return (holder, path) if is_animated else (lower, f"{PREFIX}bend")


def draw_result(layout: Any, context: Any, lower: PoseBone) -> None:
    """What became of the chain, and where something is wrong, what helps."""
    chain = chain_settings(lower)
    if not chain.enabled:
        layout.label(text="Switched off", icon=OFF)
        return
    reach = chain.reach
    icon = reach_icon(chain, reach)
    if reach == "INVALID":
        _draw_lines(layout, context, told(chain.message), icon, alert=True)
        _draw_mends(layout, lower)
    elif reach == "REACHED":
        layout.label(text="Reached", icon=icon)
    else:
        words = _how_far(lower, reach)
        away = length_text(scene_of(context), chain.residual)
        sentence = iface_("{reach}: {away} from the target").format(reach=iface_(words), away=away)
        layout.label(text=sentence, icon=icon, translate=False)


def _how_far(lower: PoseBone, reach: str) -> str:
    """What is said of a tip that is not on its target."""
    chain = chain_settings(lower)
    if is_held_back(chain, reach):
        return "Between FK and IK" if chain.influence else "FK"
    name: str = lower.planar_ik.bl_rna.properties["reach"].enum_items[reach].name  # type: ignore[attr-defined]
    return name


def _draw_lines(layout: Any, context: Context, sentence: str, icon: str, alert: bool = False) -> None:
    """A sentence in as many lines as it takes, beside an icon."""
    column = layout.column(align=True)
    column.alert = alert
    for number, line in enumerate(lines_of(context, sentence)):
        column.label(text=line, icon="BLANK1" if number else icon, translate=False)


def _draw_mends(layout: Any, lower: PoseBone) -> None:
    """A button for each thing that helps."""
    column = layout.column(align=True)
    for part in wrong_goals(lower):
        column.operator("pose.planar_ik_pick", text=PICKS[part], icon="EYEDROPPER").part = part
    for way in mends_for(lower):
        column.operator("pose.planar_ik_mend", text=MENDS[way].label, icon="TOOL_SETTINGS").way = way


def draw_operators(layout: Any) -> None:
    """What can be done with a chain."""
    _draw_buttons(layout, ("flip", "Flip"), ("mirror", "Mirror"))
    column = layout.column(align=True)
    for name, text in SNAPS:
        row = _draw_buttons(column, (name, text))
        row.operator(f"pose.planar_ik_{name}", text="", icon="PREVIEW_RANGE").use_range = True
    _draw_buttons(layout, ("bake", "Bake…"), ("remove", "Remove"))


def _draw_buttons(layout: Any, *buttons: tuple[str, str]) -> Any:
    row = layout.row(align=True)
    for name, text in buttons:
        row.operator(f"pose.planar_ik_{name}", text=text)
    return row
