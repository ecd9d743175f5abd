"""Bones that importers made shorter or longer than to the next joint, as where twist bones begin before that."""

from __future__ import annotations

from bpy.types import Context, PoseBone
from mathutils import Matrix

from ..data.access import ArmatureObject
from ..data.editing import edit_mode
from .limbs import TOUCHING, is_limb, joint_ahead


def lengths_to_joints(lower: PoseBone) -> dict[str, float]:
    """How long a bone and its parent would be if they ended at the joints ahead, by their names, where that makes them
    meet; else nothing."""
    upper = lower.parent
    if upper is None or is_limb(lower):
        return {}
    knee, tip = joint_ahead(upper), joint_ahead(lower)
    if knee != lower or tip is None:
        return {}
    ways = {
        bone: (joint.bone.head_local - bone.bone.head_local).length for bone, joint in ((upper, knee), (lower, tip))
    }
    return {bone.name: way for bone, way in ways.items() if abs(bone.bone.length - way) > TOUCHING * way}


def end_at_joints(context: Context, ob: ArmatureObject, lengths: dict[str, float]) -> None:
    """Give bones these lengths: their heads and axes stay, and all that hangs on them stays where it is."""
    hanging = [each for each in ob.children if each.parent_type == "BONE" and each.parent_bone in lengths]
    for each in hanging:  # which hangs on the tail
        shorter = ob.data.bones[each.parent_bone].length - lengths[each.parent_bone]
        each.matrix_parent_inverse = Matrix.Translation((0.0, shorter, 0.0)) @ each.matrix_parent_inverse
    with edit_mode(context, ob):
        for name, length in lengths.items():
            bone = ob.data.edit_bones[name]
            for child in bone.children:
                child.use_connect = False
            bone.length = length
