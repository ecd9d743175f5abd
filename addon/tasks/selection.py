"""Which limbs bones and objects belong to, and what belongs to a limb: for whoever lets people choose. Nothing is
changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from bpy.types import Context, Object, PoseBone

from ..blender.dependencies import BoneRef
from ..blender.types import bones_of, children_of, has_bone, is_armature, is_evaluated, view_layer_of
from ..finding.choosing import LimbsToAdd, limbs_offered, limbs_to_add, limbs_without_ik
from ..finding.constraints import candidates, last_bone_of
from ..finding.generated import bones_around, fk_bones
from ..limb.follow import Follow, follow_of, follow_of_constraint, is_gone
from ..limb.names import FEET, has_word
from ..limb.storage import bones_of_limb, chain_bones, is_orphaned, limbs_of
from ..limb.tips import foot_of

__all__ = [
    "LimbsToAdd",
    "candidates",
    "limbs_offered",
    "limbs_to_add",
    "limbs_without_ik",
]

Around = Callable[[PoseBone], frozenset[str]]


def bones_beside(limb: PoseBone) -> frozenset[str]:
    """The names of further bones that belong to a limb of a rig with its own FK/IK slider."""
    return bones_around(limb, control_of(limb))


def limbs_of_bones(context: Context, bones: Sequence[PoseBone], around: Around = bones_beside) -> list[PoseBone]:
    """The limbs that bones are part of; else the limbs that follow them or their children, or whose feet they are.
    ``around`` gives the names of further bones of a limb."""
    rigs = dict.fromkeys(bone.id_data for bone in bones)
    limbs = [limb for rig in rigs for limb in limbs_of(rig)]
    own = {bone: limb for limb in limbs for bone in chain_bones(limb)}
    selected = [own[bone] for bone in bones if bone in own]
    selected = selected or followers(context, [(bone.id_data, bone.name) for bone in bones])
    selected = selected or [limb for limb in limbs if {*bones} & _parents_of_target(limb, follow_of(limb))]
    selected = selected or [limb for limb in limbs if {bone.name for bone in bones} & around(limb)]
    near: set[PoseBone | None] = {*bones, *(bone.parent for bone in bones)} - {None}
    selected = selected or [limb for limb in limbs if {foot_of(limb), limb} & near]
    return list(dict.fromkeys(selected))


def _parents_of_target(limb: PoseBone, follow: Follow) -> set[PoseBone]:
    """The bones that a limb's target hangs on and the limb does not: the control of a foot, on a rig of Rigify's."""
    target, name = follow.pairs[0]
    if target is None or not has_bone(target, name):
        return set()
    return {*bones_of(target)[name].parent_recursive} - {*limb.parent_recursive}


HELPERS = ("MCH-", "ORG-", "DEF-")
"""What the names of bones that people do not see begin with, on rigs that have such."""


def control_of(limb: PoseBone) -> tuple[Object | None, str]:
    """What people move to move the target: of the target and the bones above it that people see, the topmost one that
    is called a foot or hand, else the first."""
    target, name = follow_of(limb).pairs[0]
    if target is None or not has_bone(target, name):
        return target, name
    bone = bones_of(target)[name]
    names = [bone.name, *(above.name for above in bone.parent_recursive if above not in limb.parent_recursive)]
    shown = [control for control in names if not control.startswith(HELPERS)]
    feet = [control for control in shown if has_word(control, FEET)]
    return target, next(iter([*feet[-1:], *shown]), name)


def refs_of_role(limb: PoseBone, role: str, is_generated: bool) -> list[BoneRef]:
    """The objects or bones that are a part of a limb, the one to be active last: its ``TARGET``, as people move it, its
    ``POLE``, or its bones (``LIMB``), in their place the FK bones of a rig that ``is_generated``."""
    if role == "LIMB":
        own = [bone.name for bone in bones_of_limb(limb)]
        return [(limb.id_data, name) for name in (fk_bones(limb) if is_generated else own)]
    ob, bone = control_of(limb) if role == "TARGET" else follow_of(limb).pairs[1]
    return [] if ob is None or is_gone(ob, bone) else [(ob, bone)]


def orphaned_limbs(bones: Sequence[PoseBone]) -> list[PoseBone]:
    """The bones whose limb lost its IK constraint, if one of ``bones`` was part of it or its foot."""
    rigs = dict.fromkeys(bone.id_data for bone in bones)
    without_constraint = [limb for rig in rigs for limb in rig.pose.bones if is_orphaned(limb)]
    return [limb for limb in without_constraint if {*bones} & {*chain_bones(limb), foot_of(limb)}]


def convertible(bones: Sequence[PoseBone]) -> list[PoseBone]:
    """The bones with IK constraints that could be solved exactly: of these bones or their children, else those whose
    target or pole one of them is, else those whose targets hang on them."""
    near, rigs = {*bones, *(child for bone in bones for child in children_of(bone))}, {bone.id_data for bone in bones}
    owners = [owner for rig in rigs for owner in candidates(rig)]
    follows = {
        owner: [follow_of_constraint(constraint) for constraint in owner.constraints if constraint.type == "IK"]
        for owner in owners
    }
    named = {(bone.id_data, bone.name) for bone in bones}
    followed = [owner for owner in owners if any(named & {*follow.pairs} for follow in follows[owner])]
    hanging = [
        owner for owner in owners if any({*bones} & _parents_of_target(owner, follow) for follow in follows[owner])
    ]
    return [owner for owner in owners if {owner, last_bone_of(owner)} & near] or followed or hanging


def followers(context: Context, things: Sequence[BoneRef]) -> list[PoseBone]:
    """The limbs in the view layer that follow things."""
    followed = {*things}
    if not followed:
        return []
    return [limb for limb in limbs_in_view(context) if followed & set(follow_of(limb).pairs)]


def limbs_in_view(context: Context) -> list[PoseBone]:
    """All limbs of the view layer."""
    layer: Any = view_layer_of(context)
    return [limb for ob in layer.objects if is_armature(ob) and is_in_view(context, ob) for limb in limbs_of(ob)]


def is_in_view(context: Context, ob: Object) -> bool:
    """Whether the view layer evaluates an object, hidden or not: of others, the bones may not be looked at."""
    return is_evaluated(ob, view_layer_of(context).depsgraph or context.evaluated_depsgraph_get())
