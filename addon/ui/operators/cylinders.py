"""Cylinders: two bones that aim at each other's foot."""

from __future__ import annotations

from bpy.types import Context, PoseBone

from ...blender.words import Refused
from ...tasks.cylinders import Cylinder, check_cylinder, cylinder_at, is_our_cylinder, make_cylinder, remove_cylinder
from .base import PoseOperator


class POSE_OT_planar_ik_cylinder(PoseOperator):
    """Have the two selected bones aim at each other's foot, as a housing and its rod do"""

    bl_idname = "pose.planar_ik_cylinder"
    bl_label = "Add Cylinder"

    def checked(self, context: Context) -> Cylinder:
        """The two bones."""
        return check_cylinder([*(context.selected_pose_bones or ())])

    def act(self, context: Context, cylinder: Cylinder) -> None:
        """Make it."""
        names = [bone.name for bone in cylinder]
        make_cylinder(context, cylinder)
        self.inform("'{bone}' and '{other}' aim at each other's foot", bone=names[0], other=names[1])


class POSE_OT_planar_ik_cylinder_remove(PoseOperator):
    """Let the two bones of the cylinder go where they would, and remove what they aim at"""

    bl_idname = "pose.planar_ik_cylinder_remove"
    bl_label = "Remove Cylinder"

    def checked(self, context: Context) -> Cylinder:
        """The cylinder that a selected bone is half of."""
        for bone in context.selected_pose_bones or ():
            cylinder = cylinder_at(bone)
            if cylinder and is_our_cylinder(cylinder):
                return cylinder
        raise Refused("Select a bone of a cylinder that Add Cylinder made")

    def act(self, context: Context, cylinder: Cylinder) -> None:
        """Take it away."""
        remove_cylinder(context, cylinder)


def halves_selected(context: Context) -> list[PoseBone]:
    """The selected bones that are half of a cylinder."""
    return [bone for bone in context.selected_pose_bones or () if cylinder_at(bone)]


CLASSES = (POSE_OT_planar_ik_cylinder, POSE_OT_planar_ik_cylinder_remove)
