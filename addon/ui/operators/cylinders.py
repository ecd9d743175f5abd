"""Cylinders: two bones that aim at each other's foot."""

from __future__ import annotations

from typing import Any

from bpy.props import BoolProperty
from bpy.types import Context, PoseBone

from ...blender.words import Refused, translated_text
from ...tasks.cylinders import Cylinder, check_cylinder, cylinder_at, is_our_cylinder, make_cylinder, remove_cylinder
from .base import PoseOperator


class POSE_OT_planar_ik_cylinder(PoseOperator):
    """Have the two selected bones aim at each other's foot, as a housing and its rod do"""

    bl_idname = "pose.planar_ik_cylinder"
    bl_label = "Add Cylinder"

    remove: BoolProperty(
        name="Remove",
        description="Let the two bones of the cylinder go where they would, and remove what they aim at",
        options={"SKIP_SAVE"},
    )

    @classmethod
    def description(cls, _context: Context, properties: Any) -> str:
        """What a button of it says under the mouse."""
        remove: Any = properties.bl_rna.properties["remove"]
        return translated_text(remove.description if properties.remove else cls.__doc__ or "")

    def checked(self, context: Context) -> Cylinder:
        """The two bones; or the cylinder that a selected bone is half of."""
        bones = [*(context.selected_pose_bones or ())]
        if not self.remove:
            return check_cylinder(bones)
        found = [cylinder for bone in bones if (cylinder := cylinder_at(bone)) and is_our_cylinder(cylinder)]
        if not found:
            raise Refused("Select a bone of a cylinder that Add Cylinder made")
        return found[0]

    def act(self, context: Context, cylinder: Cylinder) -> None:
        """Make it, or take it away."""
        if self.remove:
            remove_cylinder(context, cylinder)
            return
        names = [bone.name for bone in cylinder]
        make_cylinder(context, cylinder)
        self.inform("'{bone}' and '{other}' aim at each other's foot", bone=names[0], other=names[1])


def halves_selected(context: Context) -> list[PoseBone]:
    """The selected bones that are half of a cylinder."""
    return [bone for bone in context.selected_pose_bones or () if cylinder_at(bone)]


CLASSES = (POSE_OT_planar_ik_cylinder,)
