"""What of a limb animates, in the panel: a field for each of its custom properties, with the dot that keys it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

import bpy
from bpy.props import FloatProperty, PointerProperty
from bpy.types import Context, PoseBone, PropertyGroup, Scene, UILayout
from bpy.utils import escape_identifier

from ..blender.types import Refused, can_edit_bones, scene_of, translated_text
from ..tasks.setting import set_slider
from ..tasks.status import FEATURES, IN_ONE_PLANE, Description, description_of, field_of
from . import preferences, state
from .finding import Name, active_limb, name_of
from .operators.setting import draw_set


def draw_fields(layout: UILayout, context: Context, limb: PoseBone) -> None:
    """A field for each slider, from influence down."""
    described = description_of(limb)
    draw_influence(layout, limb)
    draw_knee(layout, limb, described)
    draw_features(layout, context, limb)
    for feature in FEATURES:
        if feature.of(described) and not feature.is_offered:
            draw_sliders(layout, limb, described, feature.keys)


def draw_slider(row: Any, limb: PoseBone, name: str, **options: Any) -> None:
    """The custom property itself, so that keys, drivers and the context menu work as everywhere in Blender."""
    field = field_of(name)
    row.prop(limb, field.path, **{"text": field.label, **options})


def draw_keyed(row: Any, limb: PoseBone, name: str) -> None:
    """The slider, with the decorator that keys it."""
    draw_slider(row, limb, name)
    row.prop_decorator(limb, field_of(name).path)


def fixed_width(row: Any, width: float) -> Any:
    """A part of a row of a layout with a fixed width, in button heights."""
    end = row.row(align=True)
    end.ui_units_x = width
    return end


def draw_influence(layout: UILayout, limb: PoseBone) -> None:
    """Draw Influence and the button that switches, or the rig's own slider for this limb. That, where it has one,
    and no panel of its own that shows it."""
    row = layout.row(align=True)
    if state.slider_of_rig(limb):
        rig: Any = limb.id_data.data
        if not hasattr(bpy.types, f"VIEW3D_PT_rig_ui_{rig.get('rig_id')}"):  # Rigify's own panel
            draw_slider_of_limb(row, limb)
        return
    draw_keyed(row, limb, "influence")
    fixed_width(row, 3.3).operator("pose.planar_ik_switch", text="Switch")


def draw_line(row: Any, limb: PoseBone) -> None:
    """One limb among several: its title, which selects its target, and what blends it."""
    button = row.operator("pose.planar_ik_select", text=state.title_of(limb), translate=False, emboss=False)
    button.role, button.bone = "TARGET", limb.name
    draw_slider_of_limb(row, limb)


def draw_slider_of_limb(row: Any, limb: PoseBone) -> None:
    """What blends a limb between FK and IK: the rig's own slider, by its own name, where it has one."""
    slider = state.slider_of_rig(limb)
    if slider is None:
        draw_slider(row, limb, "influence", text="")
        return
    bone = limb.id_data.pose.bones[slider.bone]
    text = slider.name.replace("_", "-")
    row.prop(bone, f'["{escape_identifier(slider.name)}"]', text=text, slider=True, translate=False)


def draw_knee(layout: UILayout, limb: PoseBone, described: Description) -> None:
    """The plane, and where the knee points in it."""
    plane = described.choices["plane"]
    split = layout.split(factor=0.2)
    split.label(text=state.joint_label(limb))
    row = split.row(align=True)
    slides = plane == "SLIDE" or state.joint_label(limb) == "Bend"  # nobody's leg is a piston
    for value, label, _ in (item for item in preferences.PLANE[1:] if slides or item[0] != "SLIDE"):
        draw_set(row, label, plane == value, plane=value)
    row = layout.row(align=True)
    if plane not in IN_ONE_PLANE:
        draw_keyed(row, limb, "swivel")
        row.separator()
    draw_slider(row if plane in IN_ONE_PLANE else fixed_width(row, 3.6), limb, "flip")


def draw_sliders(layout: UILayout, limb: PoseBone, described: Description, names: Sequence[str]) -> None:
    """Draw a row for each slider of a feature. Of one with a number for each bone, a field for each, from the root
    down, and their dots beside them."""
    fields = [field_of(name) for name in names]
    if not any(field.is_of_bones for field in fields):
        for name in names:
            draw_keyed(layout.row(align=True), limb, name)
        return
    field, row = fields[0], layout.row(align=True)
    column = row.column(align=True)
    for k in range(len(described.segments)):
        column.prop(limb, field.path, index=k, text=f"{translated_text(field.label)} {k + 1}", translate=False)
    row.prop_decorator(limb, field.path)


def draw_features(layout: UILayout, context: Context, limb: PoseBone) -> None:
    """Softness and stretch, always there: at 0 until they are moved."""
    for name, text in OFFERED.items():
        row = layout.row(align=True)
        if is_slider_there(limb, name):
            draw_keyed(row, limb, name)
            continue
        if can_edit_bones(limb.id_data):
            row.prop(scene_of(context).planar_ik_features, name, text=text, slider=True)  # type: ignore[attr-defined]
        else:  # a button, whose tooltip can say why it is grey, as a field's can't
            draw_set(row, text, **{name: True})
        row.label(text="", icon="BLANK1")


OFFERED = {feature.name: feature.label for feature in FEATURES if feature.is_offered}
"""The features whose sliders, which are called as they are, are always shown; and what people call them."""

PAUSE = 1.0
"""Seconds since a slider was moved during which it may still be dragged: Blender lets go of a field that it no longer
draws."""

_moved: dict[tuple[Name, str], float] = {}


def _property(name: str) -> Any:
    def read(_features: Any) -> float:
        limb = active_limb(bpy.context)
        return float(description_of(limb).sliders.get(name, 0.0)) if limb else 0.0

    def write(_features: Any, value: float) -> None:
        limb = active_limb(bpy.context)
        if limb is None or (value <= 0.0 and name not in description_of(limb).sliders):
            return
        key = name_of(limb), name
        with suppress(Refused):  # on a rig that takes no bones, where the panel shows it disabled
            set_slider(limb, name, value)
            _moved[key] = monotonic()

    return FloatProperty(
        name=OFFERED[name],
        description=field_of(name).description,
        min=0.0,
        max=1.0,
        subtype="FACTOR",
        get=read,
        set=write,
    )


class PlanarIKFeatures(PropertyGroup):
    """Planar IK: what the limb that is meant could have"""


PlanarIKFeatures.__annotations__ |= {name: _property(name) for name in OFFERED}


def is_slider_there(limb: PoseBone, name: str) -> bool:
    """Whether a limb has a feature, and nobody is still dragging the slider that added it."""
    return name in description_of(limb).sliders and monotonic() - _moved.get((name_of(limb), name), -PAUSE) >= PAUSE


SCENE: Any = Scene


def register() -> None:
    """Give scenes, whose settings Blender undoes, the sliders."""
    SCENE.planar_ik_features = PointerProperty(type=PlanarIKFeatures)


def unregister() -> None:
    """Take them away."""
    del SCENE.planar_ik_features
    _moved.clear()


CLASSES = (PlanarIKFeatures,)
