"""Setting what limbs are, all that are selected and all at once; and picking what they follow."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, Event, PoseBone

from ...blender.selecting import select_if_shown
from ...blender.types import all_objects
from ...blender.words import Refused, translated_text
from ...tasks.following import follow, make_poles, make_targets, pickable
from ...tasks.setting import set_limbs
from ...tasks.status import CHOICE, FEATURES
from .. import finding, state
from ..preferences import PLANE
from . import adding, base
from .selecting import ROLES, selectable_refs

NEW_CONTROL = "\n"
"""What stands for a new control among those to pick: no name of Blender's has a line break."""

_shown: list[tuple[str, str, str]] = []
"""Blender keeps no words of a list that is made while it is shown."""


WHETHER = {"flip": ("Flip", "Bend to the other side")}
WHETHER |= {feature.name: (feature.label, feature.description) for feature in FEATURES if feature.label}
"""Settings that are on or off, by name: what they are called, and what they do."""

NUMBERS = {choice.name for choice in CHOICE.values() if choice.is_number}


def _property(name: str) -> Any:
    if name in WHETHER:
        label, text = WHETHER[name]
        return BoolProperty(name=label, description=text, options={"SKIP_SAVE"})
    choice = CHOICE[name]
    said: dict[str, Any] = {"name": choice.label, "description": choice.description, "options": {"SKIP_SAVE"}}
    if choice.items:
        return EnumProperty(**said, items=[(word, *of) for word, of in zip(choice.allowed, choice.items, strict=True)])
    low, high = choice.allowed
    subtype: Any = "ANGLE" if choice.is_angle else "NONE"
    # refused out of its range, as from the façade: a hard limit would be kept to without a word
    return FloatProperty(**said, soft_min=low, soft_max=high, default=choice.default, subtype=subtype)


class POSE_OT_planar_ik_set(base.RigOperator):
    """Set of the selected limbs what is given, all at once"""

    bl_idname = "pose.planar_ik_set"
    bl_label = "Set Limbs"

    mode: EnumProperty(**adding.MODE, options={"SKIP_SAVE"})
    plane: EnumProperty(
        name="Knee", description="What decides where the knee points", items=PLANE[1:], options={"SKIP_SAVE"}
    )

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse: what it sets."""
        texts = [cls._meaning(properties, name) for name in _given(properties)]
        return ". ".join(map(translated_text, texts or [cls.__doc__ or ""]))

    @staticmethod
    def _meaning(properties: Any, name: str) -> str:
        setting = properties.bl_rna.properties[name]
        items = setting.enum_items if setting.type == "ENUM" else {}
        text: str = items[getattr(properties, name)].description if items else setting.description
        return text

    def invoke(self, context: Context, event: Event) -> Any:
        """Do it, or ask for the numbers that are given, beginning with these."""
        if not NUMBERS & {*_given(self.properties)}:
            return super().invoke(context, event)
        return self.ask(context)

    def draw(self, context: Context) -> None:
        """What is given."""
        layout: Any = self.layout
        layout.use_property_split, limb = True, finding.active_limb(context)
        for name in _given(self.properties):
            label: Any = self.properties.bl_rna.properties[name].name
            layout.prop(self, name, text=label.replace("Knee", state.joint_label(limb)) if limb else label)

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Set it, of every selected limb."""
        try:
            self.warn(*set_limbs(context, limbs, {name: getattr(self, name) for name in _given(self.properties)}))
        except ValueError as why:
            raise Refused(str(why)) from None


POSE_OT_planar_ik_set.__annotations__ |= {
    name: _property(name) for name in (*WHETHER, *(one for one in CHOICE if one in NUMBERS or CHOICE[one].items))
}


def _given(properties: Any) -> list[str]:
    """The settings that are given."""
    return [name for name in POSE_OT_planar_ik_set.__annotations__ if properties.is_property_set(name)]


def draw_set(row: Any, text: str, depress: bool = False, translate: bool = True, **settings: Any) -> None:
    """A button that sets something of the selected limbs."""
    button = row.operator(POSE_OT_planar_ik_set.bl_idname, text=text, depress=depress, translate=translate)
    for name, value in settings.items():
        setattr(button, name, value)


def _items(_operator: Any, context: Context | None) -> list[tuple[str, str, str]]:
    """What may be picked, under names that tell all apart."""
    if context is None:
        return []
    _shown[:] = [(NEW_CONTROL, "New Control", "")]
    for ob, bone in pickable(context, finding.selected_limbs(context)):
        label = f"{bone} ({ob.name_full})" if bone else ob.name_full
        _shown.append((f"{ob.name_full}\n{bone}", label, ""))
    return _shown


class POSE_OT_planar_ik_pick(base.RigOperator):
    """Choose what the selected limbs follow, from a list of bones and objects; with its first entry a control is made
    where the limb is now"""

    bl_idname = "pose.planar_ik_pick"
    bl_label = "Pick Target or Pole"
    bl_property = "followed"

    role: EnumProperty(name="Part", description="What to pick", items=ROLES[:2])
    followed: EnumProperty(name="Follow", description="The object or bone to follow", items=_items)

    def invoke(self, context: Context, _event: Event) -> Any:
        """Ask, with a search."""
        manager: Any = context.window_manager
        manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Make new controls and select them; or check that every selected limb can follow what is picked, then let
        them."""
        if self.followed == NEW_CONTROL:
            names = [(limb.id_data, limb.name) for limb in limbs]
            (make_targets if self.role == "TARGET" else make_poles)(context, limbs)
            new_refs = [role for ob, name in names for role in selectable_refs(ob.pose.bones[name], self.role)]
            select_if_shown(context, new_refs)
        else:
            name, bone = self.followed.split("\n")
            ob: Any = next((ob for ob in all_objects() if ob.name_full == name), None)
            follow(context, limbs, self.role.lower(), (ob, bone))


CLASSES = (POSE_OT_planar_ik_set, POSE_OT_planar_ik_pick)
