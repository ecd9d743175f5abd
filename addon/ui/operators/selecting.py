"""Going from a limb to its parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.props import EnumProperty, StringProperty
from bpy.types import Context, Object, PoseBone

from ...blender.dependencies import BoneRef
from ...blender.types import bones_of, has_bone, view_layer_of
from ...limb.follow import follow_of, is_gone
from ...limb.storage import bones_of_limb, is_limb
from ...limb.words import Refused, translated_text
from ..finding import control_of, limb_meant, limbs_meant, rig_in_view
from ..generated import fk_bones
from ..state import slider_of_rig
from .base import PoseOperator

ROLES: Any = [
    ("TARGET", "Target", "What the tip goes to"),
    ("POLE", "Pole", "What the knee points to"),
    ("LIMB", "FK Bones", "The limb's own bones"),
]


class POSE_OT_planar_ik_select(PoseOperator):
    """Select this part of the limb, in the mode in which it can be moved"""

    bl_idname = "pose.planar_ik_select"
    bl_label = "Select Part of Limb"

    role: EnumProperty(name="Part", description="What to select", items=ROLES)
    bone: StringProperty(
        name="Limb",
        description="The last bone of a limb of the rig, instead of those selected",
        options={"HIDDEN", "SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse: that of a limb by name says which bone it is."""
        text = translated_text(" ".join((cls.__doc__ or "").split()))
        return f"{properties.bone}: {text}" if properties.bone else text

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Where a limb is meant."""
        if context.mode not in {"POSE", "OBJECT"} or rig_in_view(context) is None:
            cls.poll_message_set(translated_text("Select a limb, its target or its pole"))
            return False
        return True

    def checked(self, context: Context) -> list[BoneRef]:
        """The part, of all limbs meant."""
        lasts = self._lasts(context)
        refs = dict.fromkeys(ref for last in lasts for ref in refs_of_role(last, self.role))
        if not refs:
            label = next(label for value, label, _ in ROLES if value == self.role)
            raise Refused("The limb has no {part} to select", part=translated_text(label))
        return [*refs]

    def act(self, context: Context, refs: list[BoneRef]) -> None:
        """Select it."""
        select(context, refs)

    def _lasts(self, context: Context) -> list[PoseBone]:
        if self.bone:
            ob = rig_in_view(context)
            named = ob.pose.bones.get(self.bone)
            return [named] if named and is_limb(named) else []
        first = limb_meant(context)
        return [*dict.fromkeys(filter(None, (*limbs_meant(context), first)))]


def refs_of_role(last: PoseBone, role: str) -> list[BoneRef]:
    """The objects or bones that are this part of a limb, the one to be active last."""
    if role == "LIMB":
        own = [bone.name for bone in bones_of_limb(last)]
        return [(last.id_data, name) for name in (fk_bones(last) if slider_of_rig(last) else own)]
    ob, bone = control_of(last) if role == "TARGET" else follow_of(last).pairs[1]
    return [] if ob is None or is_gone(ob, bone) else [(ob, bone)]


def select(context: Context, refs: Sequence[BoneRef]) -> None:
    """Select bones or objects in the mode in which they can be moved, the last one active."""
    if any(not bone for _, bone in refs):
        refs = [(ob, bone) for ob, bone in refs if not bone]
    for ob, _ in refs:
        if not ob.visible_get():
            raise Refused("'{name}' is hidden: show it first", name=ob.name)
    layer: Any = view_layer_of(context)
    objects, is_bones = [*dict.fromkeys(ob for ob, _ in refs)], bool(refs[0][1])
    if not (is_bones and context.mode == "POSE" and all(ob.mode == "POSE" for ob in objects)):
        _select_objects(context, layer, objects)
        if is_bones:
            bpy.ops.object.mode_set(mode="POSE")
    if is_bones:
        layer.objects.active = objects[-1]
        _select_bones(context, refs)


def _select_objects(context: Context, layer: Any, objects: list[Object]) -> None:
    if context.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in context.selected_objects:
        other.select_set(False)
    for ob in objects:
        ob.select_set(True)
    layer.objects.active = objects[-1]


def _select_bones(context: Context, refs: Sequence[BoneRef]) -> None:
    for posed in context.selected_pose_bones or ():
        select_bone(posed, False)
    for ob, name in refs:
        bone: Any = bones_of(ob)[name]
        bone.bone.hide = False
        select_bone(bone, True)
        ob.data.bones.active = bone.bone  # type: ignore[union-attr]  # an armature's


def select_if_shown(context: Context, refs: Sequence[BoneRef]) -> None:
    """Select those bones that can be seen, as what a person goes on with; without any, leave everything as it is."""
    shown = [(ob, bone) for ob, bone in refs if has_bone(ob, bone) and ob.mode == "POSE" and ob.visible_get()]
    if shown and context.mode == "POSE":
        select(context, shown)


def select_bone(bone: PoseBone, state: bool) -> None:
    """Select a pose bone or not, in any Blender."""
    owner: Any = bone if hasattr(bone, "select") else bone.bone  # the former from 5.0 on
    owner.select = state


CLASSES = (POSE_OT_planar_ik_select,)
