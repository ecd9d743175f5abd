"""Plant Feet: all that a capture's feet need, at one press."""

from __future__ import annotations

from bpy.props import FloatProperty, IntProperty
from bpy.types import Context, PoseBone

from ...blender.selecting import select_if_shown
from ...blender.stepping import Steps
from ...blender.types import scene_of
from ...blender.words import Refused
from ...tasks.adding import LimbRequest
from ...tasks.contact_markers import frame_range
from ...tasks.limbs import check_complete, description_of, is_arm_or_leg, is_leg
from ...tasks.planting import PlantOptions, plant
from ...tasks.selection import LimbsToAdd, limbs_to_add, limbs_without_ik
from ..finding import selected_limbs
from .adding import rigify_ik
from .base import PoseOperator
from .holding import EASE_PROPERTY, HEIGHT_PROPERTY, HELD, SPEED_PROPERTY, slide_values


class POSE_OT_planar_ik_plant(PoseOperator):
    """Plant the feet of the selected legs where they stand: add IK with Foot Roll where it is missing, find when they
    stand, mark that, and hold them"""

    bl_idname = "pose.planar_ik_plant"
    bl_label = "Plant Feet"

    height: FloatProperty(**HEIGHT_PROPERTY)
    speed: FloatProperty(**SPEED_PROPERTY)
    ease: IntProperty(**EASE_PROPERTY)

    def checked(self, context: Context) -> tuple[list[LimbRequest], list[PoseBone]]:
        """The legs that get IK, and those that have it."""
        bones, limbs = [*(context.selected_pose_bones or ())], selected_limbs(context)
        legs = [limb for limb in limbs if is_leg(limb)]
        if not limbs and rigify_ik(context):
            raise Refused("This rig has IK of its own: let Solve Exactly take it over, then plant its feet")
        choice = LimbsToAdd(limbs_without_ik(bones) if bones else [], [], [], {}) if limbs else limbs_to_add(context)
        new = [suggestion for suggestion in choice.limbs if is_leg(*suggestion) and is_arm_or_leg(suggestion[0])]
        if not legs and not new:
            raise Refused("No leg is selected: select bones of legs, or all bones")
        for limb in legs:
            check_complete(limb)
        target, pole = [*choice.followed, None, None][:2]
        return [LimbRequest(limb, segments, target, pole) for limb, segments in new], legs

    def act(self, context: Context, subject: tuple[list[LimbRequest], list[PoseBone]]) -> Steps[None]:
        """Plant, and say how far soles slid before, and slide now."""
        options, frames = PlantOptions(self.height, self.speed, self.ease), frame_range(scene_of(context))
        planted = yield from plant.steps(context, *subject, frames, options)
        self.warn(*planted.warnings)
        select_if_shown(context, [ref for leg in planted.legs if (ref := description_of(leg.limb).followed[0])])
        self.inform(HELD, **slide_values(context, planted.report))


CLASSES = (POSE_OT_planar_ik_plant,)
