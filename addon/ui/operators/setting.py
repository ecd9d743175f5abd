"""Setting what does not animate, and flip, of all limbs that are selected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi
from typing import Any

import bpy
from bpy.props import EnumProperty, FloatProperty
from bpy.types import Context, Event, PoseBone

from ... import live
from ...blender.animation import stop
from ...blender.editing import unkeyed_kept
from ...blender.keying import key_automatically
from ...blender.types import path_to_custom, tag
from ...limb.foot_roll import has_roll
from ...limb.pole_follow import has_pole_follow
from ...limb.settings import SLIDER, Slider
from ...limb.storage import choices_of, has_slider, read_slider
from ...limb.words import translated_text
from ...tasks.bending import make_poles, make_targets, set_plane
from ...tasks.feet import foot_follows, set_feet
from ...tasks.following import follow, pickable
from ...tasks.modes import rebuild_mechanisms
from ...tasks.pole_follow import give_pole_follow, take_pole_follow
from ...tasks.rolling import give_roll, take_roll
from ...tasks.setting import set_choice, set_slider
from ..finding import limb_meant, limbs_meant
from ..preferences import PLANE
from .base import LimbOperator
from .selecting import ROLES, refs_of_role, select_if_shown

Change = Callable[[Context, Sequence[PoseBone]], None]

NEW = "\n"
"""What stands for a new control among those to pick: no name of Blender's has a line break."""

_shown: list[tuple[str, str, str]] = []
"""Blender keeps no words of a list that is made while it is shown."""

WHAT: Any = [
    ("PLANE", "Plane", "What decides where the knee points. The limb stays where it is"),
    ("DROP_SOFTNESS", "Remove Softness", "Take the softness away, with its keys"),
    ("DROP_STRETCH", "Remove Stretch", "Take the stretch away, with its keys"),
    ("FOOT", "Foot Follows", "Turn the foot or hand below the limb as the target is turned, or not"),
    ("ROLL", "Foot Roll", "Let the foot roll on heel, ball and toe, and tilt on its edges, or not"),
    ("BREAK", "Toe From", "The roll from which on the foot rolls on its toe"),
    ("POLE", "Pole Follows", "Let the pole go with the target as far as a slider says, or not"),
    ("LIMITS", "Knee Limits", "How far the knee may bend and straighten"),
    ("STRETCH", "Stretch Limit", "How far the limb may stretch, and what becomes of its volume"),
]


class POSE_OT_planar_ik_flip(LimbOperator):
    """Bend the selected limbs to the other side"""

    bl_idname = "pose.planar_ik_flip"
    bl_label = "Flip Knee"

    def act(self, context: Context, lasts: list[PoseBone]) -> None:
        """Flip, with keys as Auto Keying wants them."""
        for last in lasts:
            set_slider(last, "flip", not read_slider(last, "flip"))
            key_automatically(context, last.id_data, [path_to_custom(last.name, SLIDER["flip"].key)], last.name)
        live.refresh(context)


class POSE_OT_planar_ik_set(LimbOperator):
    """Set this on all selected limbs"""

    bl_idname = "pose.planar_ik_set"
    bl_label = "Set Limb"

    what: EnumProperty(name="What", description="What to set", items=WHAT)
    plane: EnumProperty(name="Knee", description="What decides where the knee points", items=PLANE[1:], default="FREE")
    min_angle: FloatProperty(
        name="Knee Min", description="The smallest angle inside the knee", min=0.0, max=pi, subtype="ANGLE"
    )
    max_angle: FloatProperty(
        name="Knee Max", description="The largest angle inside the knee", min=0.0, max=pi, default=pi, subtype="ANGLE"
    )
    stretch_max: FloatProperty(
        name="Stretch Max", description="How many times its length the limb may have", min=1.0, max=100.0, default=2.0
    )
    stretch_volume: EnumProperty(
        name="Volume",
        description="How thick the bones are while they are longer",
        items=[
            ("LENGTH", "Length", "As thick as ever"),
            ("UNIFORM", "Uniform", "Thicker, too"),
            ("VOLUME", "Volume", "Thinner, so that their volume stays"),
        ],
    )

    break_angle: FloatProperty(
        name="Toe From",
        description="The roll from which on the foot rolls on its toe",
        min=0.0,
        max=pi,
        default=pi / 4.0,
        subtype="ANGLE",
    )

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse."""
        return translated_text(next(text for name, _, text in WHAT if name == properties.what))

    def invoke(self, context: Context, _event: Event) -> Any:
        """Do it, or ask for numbers, starting from those of the active limb."""
        names, last = NUMBERS.get(self.what, ()), limb_meant(context)
        if not names or last is None:
            return self.execute(context)
        for name in names:
            setattr(self, name, choices_of(last)[name])
        manager: Any = context.window_manager
        title = {"LIMITS": "Knee Limits", "STRETCH": "Stretch Limit", "BREAK": "Foot Roll"}[self.what]
        return manager.invoke_props_dialog(self, title=title)

    def draw(self, _context: Context) -> None:
        """Only what counts."""
        layout: Any = self.layout
        layout.use_property_split = True
        for name in NUMBERS.get(self.what, ("plane",) if self.what == "PLANE" else ()):
            layout.prop(self, name)

    def act(self, context: Context, lasts: list[PoseBone]) -> None:
        """Set it, of every selected limb."""
        feature = SLIDER.get(self.what.partition("_")[2].lower())
        if self.what == "PLANE":
            set_plane(context, lasts, self.plane)
        elif self.what == "FOOT":
            set_feet(lasts, not foot_follows(limb_meant(context) or lasts[0]))
        elif self.what == "ROLL":
            _toggle(context, lasts, has_roll, give_roll, take_roll)
        elif self.what == "POLE":
            _toggle(context, lasts, has_pole_follow, give_pole_follow, take_pole_follow)
        elif self.what in NUMBERS:
            for name in NUMBERS[self.what]:
                for ob, bone in [(last.id_data, last.name) for last in lasts]:
                    set_choice(ob.pose.bones[bone], name, getattr(self, name))
        elif feature:
            for ob, bone in [(last.id_data, last.name) for last in lasts]:
                _drop_feature(context, ob.pose.bones[bone], feature)
        live.refresh(context)


NUMBERS = {
    "LIMITS": ("min_angle", "max_angle"),
    "STRETCH": ("stretch_max", "stretch_volume"),
    "BREAK": ("break_angle",),
}
"""What is asked for in a dialog."""


def _toggle(
    context: Context, lasts: list[PoseBone], has: Callable[[PoseBone], bool], give: Change, take: Change
) -> None:
    """Give limbs something, or take it away where the one that is meant has it."""
    (take if has(limb_meant(context) or lasts[0]) else give)(context, lasts)


def _drop_feature(context: Context, last: PoseBone, feature: Slider) -> None:
    if not has_slider(last, feature.name):
        return
    with unkeyed_kept(context, [last.id_data]):
        stop(last.id_data, [path_to_custom(last.name, feature.key)])
    del last[feature.key]
    rebuild_mechanisms(context, [last])
    tag(last)


def _items(_operator: Any, context: Context | None) -> list[tuple[str, str, str]]:
    """What may be picked, under names that tell all apart."""
    if context is None:
        return []
    _shown[:] = [(NEW, "New Control", "")]
    for ob, bone in pickable(context, limbs_meant(context)):
        label = f"{bone} ({ob.name_full})" if bone else ob.name_full
        _shown.append((f"{ob.name_full}\n{bone}", label, ""))
    return _shown


class POSE_OT_planar_ik_pick(LimbOperator):
    """Choose what the selected limbs follow, from a list of bones and objects; with its first entry a control is made
    where the limb is now"""

    bl_idname = "pose.planar_ik_pick"
    bl_label = "Pick Target or Pole"
    bl_property = "followed"

    role: EnumProperty(name="Part", description="What to pick", items=ROLES[:2])
    followed: EnumProperty(name="Goal", description="The object or bone to follow", items=_items)

    def invoke(self, context: Context, _event: Event) -> Any:
        """Ask, with a search."""
        manager: Any = context.window_manager
        manager.invoke_search_popup(self)
        return {"RUNNING_MODAL"}

    def act(self, context: Context, lasts: list[PoseBone]) -> None:
        """Check that every selected limb can follow it, then let them."""
        if self.followed == NEW:
            names = [(last.id_data, last.name) for last in lasts]
            (make_targets if self.role == "TARGET" else make_poles)(context, lasts)
            new_refs = [role for ob, name in names for role in refs_of_role(ob.pose.bones[name], self.role)]
            select_if_shown(context, new_refs)
        else:
            name, bone = self.followed.split("\n")
            ob: Any = next((ob for ob in bpy.data.objects if ob.name_full == name), None)
            follow(context, lasts, "target" if self.role == "TARGET" else "pole_target", (ob, bone))
        live.refresh(context)


CLASSES = (POSE_OT_planar_ik_flip, POSE_OT_planar_ik_set, POSE_OT_planar_ik_pick)
