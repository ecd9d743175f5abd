"""Blender's IK constraints into limbs, and back."""

from __future__ import annotations

from typing import Any

from bpy.props import EnumProperty, FloatProperty
from bpy.types import Context, PoseBone

from ... import live
from ...blender.types import is_armature
from ...limb.tasks.converting import candidates, convert, is_converted, unconvert
from ...limb.words import Refused
from ..finding import selected_limbs
from ..preferences import MODE
from .adding import put_on_rig
from .base import LimbOperator, PoseOperator, told
from .selecting import select_if_shown


class POSE_OT_planar_ik_convert(PoseOperator):
    """Solve the IK constraints of two bones exactly. The limbs stay where they are, and follow what they did"""

    bl_idname = "pose.planar_ik_convert"
    bl_label = "Convert IK Constraints"

    which: EnumProperty(
        name="Limbs",
        description="Which constraints to convert",
        items=[
            ("SELECTED", "Selected", "Those of the selected bones and of their children"),
            ("ALL", "All", "Those of all bones of the armature"),
        ],
    )
    mode: EnumProperty(**MODE)
    tolerance: FloatProperty(
        name="Tolerance",
        description="Skip limbs that would move by more than this share of their length",
        default=1e-3,
        min=0.0,
        soft_max=0.1,
        precision=4,
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """On an armature."""
        if context.mode not in {"POSE", "OBJECT"} or not is_armature(context.object):
            cls.poll_message_set(told("Select an armature"))
            return False
        return True

    def act(self, context: Context) -> None:
        """Convert what can be, and name what can't."""
        lasts = self._lasts(context)
        if not lasts:
            raise Refused("There is no IK constraint of two bones here: select such a bone, or choose All")
        done = convert(context, lasts, self.tolerance)
        for each in (*done.refused, *done.warnings):
            self.warn(each.template, **each.values)
        if self.mode == "RIG":
            put_on_rig(self, context, done.lasts)
        live.refresh(context)
        select_if_shown(context, done.lasts)
        self.tell("Converted {count} of {all} limbs", count=len(done.lasts), all=len(lasts))

    def _lasts(self, context: Context) -> list[PoseBone]:
        ob: Any = context.object
        if self.which == "ALL" or context.mode == "OBJECT":
            return candidates(ob)
        return candidates(ob, [bone for bone in context.selected_pose_bones or () if bone.id_data == ob])


class POSE_OT_planar_ik_unconvert(LimbOperator):
    """Have Blender's own IK constraint pose the selected limbs again"""

    bl_idname = "pose.planar_ik_unconvert"
    bl_label = "Back to Blender's IK"

    def act(self, context: Context) -> None:
        """Give the constraints back."""
        lasts = [last for last in selected_limbs(context) if is_converted(last)]
        if not lasts:
            raise Refused("This limb was not converted: Remove takes its IK away")
        names = unconvert(context, lasts)
        live.refresh(context)
        if context.active_pose_bone is None:
            select_if_shown(context, names)
        self.tell("{count} limbs have Blender's IK again", count=len(names))


CLASSES = (POSE_OT_planar_ik_convert, POSE_OT_planar_ik_unconvert)
