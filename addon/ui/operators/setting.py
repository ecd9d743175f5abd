"""Setting what limbs are, all that are selected and all at once; picking what they follow, and going to
their parts."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty
from bpy.types import Context, Event, PoseBone

from ...blender import dependencies, editing
from ...blender.types import Refused, all_objects, translated_text
from ...tasks import following, selection, status
from ...tasks.setting import set_limbs
from ...tasks.status import CHOICE, FEATURES
from .. import finding, state
from ..preferences import PLANE
from . import adding, base
from .base import LimbOperator

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
    for ob, bone in following.pickable(context, finding.selected_limbs(context)):
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
            (following.make_targets if self.role == "TARGET" else following.make_poles)(context, limbs)
            new_refs = [role for ob, name in names for role in selectable_refs(ob.pose.bones[name], self.role)]
            editing.select_if_shown(context, new_refs)
        else:
            name, bone = self.followed.split("\n")
            ob: Any = next((ob for ob in all_objects() if ob.name_full == name), None)
            following.follow(context, limbs, self.role.lower(), (ob, bone))


ROLES: Any = [
    ("TARGET", "Target", "What the tip goes to"),
    ("POLE", "Pole", "What the knee points to"),
    ("LIMB", "FK Bones", "The limb's own bones"),
]

MOST_NAMED = 4
"""So many are named in a tooltip."""


class POSE_OT_planar_ik_select(LimbOperator):
    """Select this part of the limb, in the mode in which it can be moved"""

    bl_idname = "pose.planar_ik_select"
    bl_label = "Select Part of Limb"
    changes_limbs = False

    role: EnumProperty(name="Part", description="What to select", items=ROLES)
    bone: StringProperty(
        name="Limb",
        description="The last bone of a limb of the rig, instead of those selected",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """What a button of it says under the mouse: what it selects, by name."""
        limbs = limbs_meant(context, properties.bone)
        refs = [bone or ob.name for limb in limbs for ob, bone in selectable_refs(limb, properties.role)]
        if not refs:
            return cls.purpose()
        names = ", ".join(refs[:MOST_NAMED]) + (", …" if len(refs) > MOST_NAMED else "")
        return translated_text("{part}: select {names}", part=_part(properties.role), names=names)

    def checked(self, context: Context) -> list[dependencies.BoneRef]:
        """The part, of all limbs meant."""
        limbs = limbs_meant(context, self.bone)
        refs = dict.fromkeys(ref for limb in limbs for ref in selectable_refs(limb, self.role))
        if not refs:
            raise Refused("The limb has no {part} to select", part=_part(self.role))
        return [*refs]

    def act(self, context: Context, refs: list[dependencies.BoneRef]) -> None:
        """Select it, and say what was shown for that."""
        if shown := editing.select(context, refs):
            self.inform("Shown again: {names}", names=", ".join(shown))


def limbs_meant(context: Context, name: str) -> list[PoseBone]:
    """The limb of this last bone of the rig that is shown; those that are selected, where no name is given."""
    if not name:
        return finding.limbs_active_first(context)
    ob = finding.rig_in_view(context)
    named = ob.pose.bones.get(name) if ob else None
    return [named] if named and status.is_limb(named) else []


def _part(role: str) -> str:
    return translated_text(next(label for value, label, _ in ROLES if value == role))


def selectable_refs(limb: PoseBone, role: str) -> list[dependencies.BoneRef]:
    """The objects or bones of this part of a limb; the last one is to be active."""
    return selection.refs_of_role(limb, role, is_generated=state.slider_of_rig(limb) is not None)


CLASSES = (POSE_OT_planar_ik_set, POSE_OT_planar_ik_pick, POSE_OT_planar_ik_select)
