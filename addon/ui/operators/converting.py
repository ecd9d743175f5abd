"""What poses a limb: its mechanism, made anew, or Blender's own IK constraint."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import Context, Event, PoseBone

from ...blender import editing, stepping
from ...blender.types import ENDLESS, Refused, is_armature
from ...tasks import converting, modes, selection
from ...tasks.adding import FEWER_KEYS
from ...tasks.status import description_of, is_converted, limbs_counted, limbs_of, mechanism_problem
from ..finding import require_limbs, rig_in_view, selected_limbs
from .adding import MODE
from .base import PoseOperator, RigOperator


class POSE_OT_planar_ik_convert(PoseOperator):
    """Solve IK constraints of two to four bones exactly. The limbs stay where they are, and follow what they did"""

    bl_idname = "pose.planar_ik_convert"
    bl_label = "Solve Exactly"

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
        description="How far joints may be off, as a share of the limb's length; less takes more keys",
        default=FEWER_KEYS,
        soft_min=0.0,
        soft_max=0.1,
        max=ENDLESS,
        precision=4,
    )
    all_actions: BoolProperty(
        name="All Actions", description="Keep the limbs where they are in all actions of the rig, not only in this one"
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """On an armature."""
        is_there = context.mode in {"POSE", "OBJECT"} and is_armature(context.object)
        return is_there or cls.cannot("Select an armature")

    def invoke(self, context: Context, event: Event) -> Any:
        """From a menu where nothing selected has a constraint, as on Rigify's FK bones: take all of the rig."""
        if not self.properties.is_property_set("which") and not self._limbs(context):
            self.which = "ALL"
        return super().invoke(context, event)

    def checked(self, context: Context) -> list[PoseBone]:
        """The bones with IK constraints that are meant."""
        limbs = self._limbs(context)
        if not limbs:
            raise Refused("There is no IK constraint of two to four bones here: select such a bone, or choose All")
        return limbs

    def act(self, context: Context, limbs: list[PoseBone]) -> stepping.Steps[None]:
        """Convert what can be, and name what can't."""
        done = yield from converting.convert.steps(context, limbs, self.tolerance, self.mode, self.all_actions)
        self.warn(*(why.message for _, why in done.refused), *done.warnings)
        if not selected_limbs(context):
            editing.select_if_shown(context, done.limbs)
        self.inform("Solved {count} of {all} exactly", count=len(done.limbs), all=limbs_counted(len(limbs)))

    def _limbs(self, context: Context) -> list[PoseBone]:
        ob: Any = context.object
        if self.which == "ALL" or context.mode == "OBJECT":
            return selection.candidates(ob)
        return selection.convertible([bone for bone in context.selected_pose_bones or () if bone.id_data == ob])


class POSE_OT_planar_ik_unconvert(RigOperator):
    """Have Blender's own IK constraint pose the selected limbs again"""

    bl_idname = "pose.planar_ik_unconvert"
    bl_label = "Back to Blender's IK"

    which: EnumProperty(
        name="Limbs",
        description="Which limbs to give back",
        items=[
            ("SELECTED", "Selected", "Those that are selected"),
            ("ALL", "All", "All of the armature"),
        ],
    )

    @classmethod
    def poll(cls, context: Context) -> bool:
        """On limbs, and on an armature that has some."""
        ob = context.object
        if context.mode in {"POSE", "OBJECT"} and is_armature(ob) and any(map(is_converted, limbs_of(ob))):
            return True
        return super().poll(context)

    def checked(self, context: Context) -> list[PoseBone]:
        """The limbs meant that were converted."""
        ob = rig_in_view(context)
        all_or_selected = limbs_of(ob) if self.which == "ALL" and ob else require_limbs(context, with_broken=True)
        limbs = [limb for limb in all_or_selected if is_converted(limb)]
        if not limbs:
            raise Refused("This limb was not converted: Remove takes its IK away")
        return limbs

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Give the constraints back."""
        names = converting.unconvert(context, limbs)
        if context.active_pose_bone is None:
            editing.select_if_shown(context, names)
        self.inform("{limbs} with Blender's IK again", limbs=limbs_counted(len(names)))


class POSE_OT_planar_ik_rebuild(RigOperator):
    """Rebuild the helper bones of the selected limbs, and of all others of the rig that need it"""

    bl_idname = "pose.planar_ik_rebuild"
    bl_label = "Rebuild"

    def checked(self, context: Context) -> list[PoseBone]:
        """The selected limbs that have a mechanism, or need to be rebuilt for another reason."""
        limbs = [
            limb for limb in require_limbs(context) if description_of(limb).mode == "RIG" or mechanism_problem(limb)
        ]
        if not limbs:
            raise Refused("The selected limbs are live: there is nothing to rebuild")
        return limbs

    def act(self, context: Context, limbs: list[PoseBone]) -> None:
        """Rebuild these, and what else of their rigs has to be rebuilt."""
        self.warn(*modes.rebuild(context, limbs, and_others=True).values())


CLASSES = (POSE_OT_planar_ik_rebuild, POSE_OT_planar_ik_convert, POSE_OT_planar_ik_unconvert)
