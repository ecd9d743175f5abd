"""Setting what does not animate, and flip, of all limbs that are selected."""

from __future__ import annotations

from math import pi
from typing import Any, ClassVar

from bpy.props import EnumProperty, FloatProperty
from bpy.types import Context, Event, PoseBone

from ...blender.types import all_objects
from ...blender.words import Refused, translated_text
from ...tasks.features import remove_features, toggle
from ...tasks.following import follow, make_poles, make_targets, pickable, set_plane
from ...tasks.limbs import description_of, field_of
from ...tasks.setting import flip, set_choice
from ..finding import active_limb, selected_limbs
from ..preferences import PLANE
from ..titles import joint_label
from .base import LimbOperator, RigOperator
from .selecting import ROLES, select_if_shown, selectable_refs

NEW_CONTROL = "\n"
"""What stands for a new control among those to pick: no name of Blender's has a line break."""

_shown: list[tuple[str, str, str]] = []
"""Blender keeps no words of a list that is made while it is shown."""


class POSE_OT_planar_ik_flip(LimbOperator):
    """Bend the selected limbs to the other side"""

    bl_idname = "pose.planar_ik_flip"
    bl_label = "Flip Knee"

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Flip, with keys as Auto Keying wants them."""
        flip(context, limbs)


class POSE_OT_planar_ik_plane(RigOperator):
    """What decides where the knees of the selected limbs point. The limbs stay where they are"""

    bl_idname = "pose.planar_ik_plane"
    bl_label = "Limb: Knee"

    plane: EnumProperty(name="Knee", description="What decides where the knee points", items=PLANE[1:], default="FREE")

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse: what each choice means."""
        return translated_text(next(text for value, _, text in PLANE if value == properties.plane))

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Set it, of every selected limb."""
        self.warn(*set_plane(context, limbs, self.plane))


class _Toggle(RigOperator):
    """A feature that limbs have or not"""

    _feature: ClassVar[str]

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """As the active limb does not have it yet."""
        toggle(context, limbs, self._feature, active_limb(context) or limbs[0])


class POSE_OT_planar_ik_foot_follows(_Toggle):
    """Turn the feet or hands below the selected limbs as the targets are turned, or not"""

    bl_idname = "pose.planar_ik_foot_follows"
    bl_label = "Limb: Foot Follows"
    _feature = "foot"


class POSE_OT_planar_ik_foot_roll(_Toggle):
    """Let the feet of the selected limbs roll on heel, ball and toe, and tilt on their edges, or not"""

    bl_idname = "pose.planar_ik_foot_roll"
    bl_label = "Limb: Foot Roll"
    _feature = "roll"


class POSE_OT_planar_ik_twist(_Toggle):
    """Let the bones of the selected limbs turn about their own lines, joints unmoved, or not"""

    bl_idname = "pose.planar_ik_twist"
    bl_label = "Limb: Twist"
    _feature = "twist"


class POSE_OT_planar_ik_pole_follows(_Toggle):
    """Have a slider say how far the poles of the selected limbs go with the targets, or leave them to what they hang
    on"""

    bl_idname = "pose.planar_ik_pole_follows"
    bl_label = "Limb: Pole Follow"
    _feature = "pole_follow"


class POSE_OT_planar_ik_drop(RigOperator):
    """Take softness or stretch of the selected limbs away, with its keys"""

    bl_idname = "pose.planar_ik_drop"
    bl_label = "Limb: Remove"

    feature: EnumProperty(
        name="Feature",
        description="What to take away",
        items=[
            ("SOFTNESS", "Softness", "The slowing before the limb is straight"),
            ("STRETCH", "Stretch", "The lengthening towards a target out of reach"),
        ],
    )

    @classmethod
    def description(cls, context: Context, properties: Any) -> str:
        """What a button of it says under the mouse: of a limb without the feature, what that is."""
        limb, name = active_limb(context), properties.feature.lower()
        has_it = limb is None or name in description_of(limb).sliders
        return translated_text(" ".join((cls.__doc__ or "").split()) if has_it else field_of(name).description)

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Take it from every selected limb that has it."""
        remove_features(context, limbs, self.feature.lower())


class _Numbers(RigOperator):
    """An operator that asks for numbers in a dialog"""

    _names: ClassVar[tuple[str, ...]]

    def invoke(self, context: Context, _event: Event) -> Any:
        """Ask, starting from the numbers of the active limb."""
        limb = active_limb(context)
        for name in self._names if limb else ():
            setattr(self, name, description_of(limb).choices[name])  # type: ignore[arg-type]
        manager: Any = context.window_manager
        return manager.invoke_props_dialog(self, title=_of_joint(context, self.bl_label))

    def draw(self, context: Context) -> None:
        """The numbers."""
        layout: Any = self.layout
        layout.use_property_split = True
        for name in self._names:
            label: Any = self.properties.bl_rna.properties[name].name
            layout.prop(self, name, text=_of_joint(context, label))

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Set them, of every selected limb."""
        for ob, bone in [(limb.id_data, limb.name) for limb in limbs]:
            for name in self._in_order(ob.pose.bones[bone]):
                set_choice(ob.pose.bones[bone], name, getattr(self, name))

    def _in_order(self, _limb: PoseBone) -> tuple[str, ...]:
        """The settings in an order in which they can be set one after the other; raises `Refused` if they can't."""
        return self._names


def _of_joint(context: Context, label: str) -> str:
    """A label in English that says *Knee*, of the joint that the active limb has."""
    limb = active_limb(context)
    return label.replace("Knee", joint_label(limb)) if limb else label


class POSE_OT_planar_ik_knee_limits(_Numbers):
    """How far the knees of the selected limbs may bend and straighten"""

    bl_idname = "pose.planar_ik_knee_limits"
    bl_label = "Limb: Knee Limits"
    _names = ("min_angle", "max_angle")

    min_angle: FloatProperty(
        name="Knee Min", description="The smallest angle inside the knee", min=0.0, max=pi, subtype="ANGLE"
    )
    max_angle: FloatProperty(
        name="Knee Max", description="The largest angle inside the knee", min=0.0, max=pi, default=pi, subtype="ANGLE"
    )

    def _in_order(self, limb: PoseBone) -> tuple[str, ...]:
        if self.min_angle > self.max_angle:
            raise Refused("Knee Min is above Knee Max: the knee would have no angle left")
        return self._names[::-1] if self.min_angle > description_of(limb).choices["max_angle"] else self._names


class POSE_OT_planar_ik_root_limits(_Numbers):
    """How far the first bones of the selected limbs may be turned about their hinges, from rest"""

    bl_idname = "pose.planar_ik_root_limits"
    bl_label = "Limb: Root Limits"
    _names = ("root_min_angle", "root_max_angle")

    root_min_angle: FloatProperty(
        name="Root Min",
        description="The least turn of the first bone: below 0 away from where the joint points",
        min=-pi,
        max=pi,
        default=-pi,
        subtype="ANGLE",
    )
    root_max_angle: FloatProperty(
        name="Root Max",
        description="The largest turn of the first bone: above 0 towards where the joint points",
        min=-pi,
        max=pi,
        default=pi,
        subtype="ANGLE",
    )


class POSE_OT_planar_ik_stretch_limit(_Numbers):
    """How far the selected limbs may stretch, and what becomes of their volume"""

    bl_idname = "pose.planar_ik_stretch_limit"
    bl_label = "Limb: Stretch Limit"
    _names = ("stretch_max", "stretch_volume")

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


class POSE_OT_planar_ik_roll_break(_Numbers):
    """From which roll on the feet of the selected limbs roll on their toes"""

    bl_idname = "pose.planar_ik_roll_break"
    bl_label = "Limb: Toe From"
    _names = ("break_angle",)

    break_angle: FloatProperty(
        name="Toe From",
        description="The roll from which on the foot rolls on its toe",
        min=0.0,
        max=pi,
        default=pi / 4.0,
        subtype="ANGLE",
    )


def _items(_operator: Any, context: Context | None) -> list[tuple[str, str, str]]:
    """What may be picked, under names that tell all apart."""
    if context is None:
        return []
    _shown[:] = [(NEW_CONTROL, "New Control", "")]
    for ob, bone in pickable(context, selected_limbs(context)):
        label = f"{bone} ({ob.name_full})" if bone else ob.name_full
        _shown.append((f"{ob.name_full}\n{bone}", label, ""))
    return _shown


class POSE_OT_planar_ik_pick(RigOperator):
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
        """Check that every selected limb can follow it, then let them."""
        if self.followed == NEW_CONTROL:
            names = [(limb.id_data, limb.name) for limb in limbs]
            (make_targets if self.role == "TARGET" else make_poles)(context, limbs)
            new_refs = [role for ob, name in names for role in selectable_refs(ob.pose.bones[name], self.role)]
            select_if_shown(context, new_refs)
        else:
            name, bone = self.followed.split("\n")
            ob: Any = next((ob for ob in all_objects() if ob.name_full == name), None)
            follow(context, limbs, self.role.lower(), (ob, bone))


CLASSES = (
    POSE_OT_planar_ik_flip,
    POSE_OT_planar_ik_plane,
    POSE_OT_planar_ik_foot_follows,
    POSE_OT_planar_ik_drop,
    POSE_OT_planar_ik_knee_limits,
    POSE_OT_planar_ik_root_limits,
    POSE_OT_planar_ik_stretch_limit,
    POSE_OT_planar_ik_roll_break,
    POSE_OT_planar_ik_foot_roll,
    POSE_OT_planar_ik_twist,
    POSE_OT_planar_ik_pole_follows,
    POSE_OT_planar_ik_pick,
)
