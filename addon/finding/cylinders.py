"""Cylinders: two bones that aim at each other's foot, as a housing and its rod do."""

from __future__ import annotations

from typing import Any

from bpy.types import Context, PoseBone
from mathutils import Vector

from ..blender.types import ArmatureObject, view_layer_of

NEAR = 1e-3
"""How far from a foot it may be that a bone aims at, as a part of the bone's length."""

Cylinder = tuple[PoseBone, PoseBone]
"""Its two bones, in the order of their rig."""


def cylinders_of(ob: ArmatureObject) -> list[Cylinder]:
    """The cylinders of a rig, whoever made them."""
    aimed = [(bone, at) for bone in ob.pose.bones if (at := _aimed_at(bone)) is not None]
    return [
        (one, other)
        for i, (one, at) in enumerate(aimed)
        for other, its_at in aimed[i + 1 :]
        if _is_at(at, other) and _is_at(its_at, one)
    ]


def bones_of_cylinders(ob: ArmatureObject) -> set[str]:
    """The names of all bones that are half of a cylinder."""
    return {bone.name for cylinder in cylinders_of(ob) for bone in cylinder}


def cylinder_at(bone: PoseBone) -> Cylinder | None:
    """The cylinder that a bone is half of."""
    return next((cylinder for cylinder in cylinders_of(bone.id_data) if bone in cylinder), None)


def stroke_of(context: Context, cylinder: Cylinder) -> tuple[float, float]:
    """How far the feet of a cylinder are apart now, and by how much more than at rest, in the armature's unit."""
    one, other = cylinder
    rig: Any = one.id_data.evaluated_get(view_layer_of(context).depsgraph or context.evaluated_depsgraph_get())
    now = (rig.pose.bones[one.name].head - rig.pose.bones[other.name].head).length
    return now, now - (one.bone.head_local - other.bone.head_local).length


def _aimed_at(bone: PoseBone) -> Vector | None:
    """Where what a bone aims at is at rest: a place on a bone of its own rig."""
    constraints: Any = bone.constraints
    for constraint in constraints:
        is_aim = constraint.type == "DAMPED_TRACK" and not constraint.mute and constraint.target == bone.id_data
        at = bone.id_data.data.bones.get(constraint.subtarget) if is_aim else None
        if at is not None:
            place: Vector = at.head_local.lerp(at.tail_local, constraint.head_tail)
            return place
    return None


def _is_at(place: Vector, bone: PoseBone) -> bool:
    return bool((place - bone.bone.head_local).length <= NEAR * bone.bone.length)
