"""Which limbs a person means: by their own bones, by target or pole, and by the foot or hand below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpy.types import Context, Object, PoseBone

from ..blender.dependencies import BoneRef
from ..blender.types import bones_of, children_of, has_bone, is_armature, is_evaluated, view_layer_of
from ..finding.constraints import candidates, last_of
from ..limb.follow import Follow, follow_of, read
from ..limb.names import FEET, says
from ..limb.storage import chain_bones, check_whole, is_limb, is_orphaned, limbs_of
from ..limb.tips import foot_of
from ..limb.words import Refused
from .generated import bones_around
from .remembering import bone_of, name_of, selection_in, until_rebuilt


def limbs_meant(context: Context) -> list[PoseBone]:
    """The last bones of the limbs that are selected, each once: in Object Mode by what they follow."""
    if context.mode == "OBJECT":
        return _followers(context, [(ob, "") for ob in context.selected_objects])
    bones: list[Any] = list(context.selected_pose_bones or ()) or [context.active_pose_bone]
    return limbs_of_bones(context, [bone for bone in bones if bone and is_in_view(context, bone.id_data)])


def limb_meant(context: Context) -> PoseBone | None:
    """The last bone of the limb that the panel is about: of those selected that of the active bone or object, else the
    first."""
    return next(iter(limbs_shown(context)), None)


def limbs_shown(context: Context) -> list[PoseBone]:
    """What `limbs_meant` gives, the limb of the active bone or object first; looked up once for a selection."""
    names = until_rebuilt(("limbs", selection_in(context)), lambda: [*map(name_of, _limbs_shown(context))])
    lasts = [last for name in names if (last := bone_of(name)) is not None and is_limb(last)]
    return lasts if len(lasts) == len(names) else _limbs_shown(context)


def _limbs_shown(context: Context) -> list[PoseBone]:
    lasts = limbs_meant(context)
    if len(lasts) < 2:
        return lasts
    if context.mode == "OBJECT":
        ob = context.active_object
        active = _followers(context, [(ob, "")]) if ob else []
    else:
        bone = context.active_pose_bone
        active = limbs_of_bones(context, [bone]) if bone else []
    return [*(last for last in lasts if last in active[:1]), *(last for last in lasts if last not in active[:1])]


def limbs_of_bones(context: Context, bones: Sequence[PoseBone]) -> list[PoseBone]:
    """The limbs of which bones are a part, or else those that follow them or what hangs on them, or whose feet they
    are."""
    rigs = dict.fromkeys(bone.id_data for bone in bones)
    limbs = [last for rig in rigs for last in limbs_of(rig)]
    own = {bone: last for last in limbs for bone in chain_bones(last)}
    meant = [own[bone] for bone in bones if bone in own]
    meant = meant or _followers(context, [(bone.id_data, bone.name) for bone in bones])
    meant = meant or [last for last in limbs if {*bones} & _carriers(last, follow_of(last))]
    meant = meant or [last for last in limbs if {bone.name for bone in bones} & _around(last)]
    near: set[PoseBone | None] = {*bones, *(bone.parent for bone in bones)} - {None}
    meant = meant or [last for last in limbs if {foot_of(last), last} & near]
    return list(dict.fromkeys(meant))


def _carriers(last: PoseBone, follow: Follow) -> set[PoseBone]:
    """The bones that a limb's target hangs on and the limb does not: the control of a foot, on a rig of Rigify's."""
    target, name = follow.pairs[0]
    if target is None or not has_bone(target, name):
        return set()
    return {*bones_of(target)[name].parent_recursive} - {*last.parent_recursive}


def _around(last: PoseBone) -> frozenset[str]:
    """The names of the other bones of a limb of a rig that has a slider of its own for it."""
    around: frozenset[str] = until_rebuilt(("around", name_of(last)), lambda: bones_around(last, control_of(last)))
    return around


HELPERS = ("MCH-", "ORG-", "DEF-")
"""What the names of bones that people do not see begin with, on rigs that have such."""


def control_of(last: PoseBone) -> tuple[Object | None, str]:
    """What people move for a limb to follow: of the bones that they see of its target and what that hangs on, the
    uppermost that is called after a foot or hand, else the first."""
    target, name = follow_of(last).pairs[0]
    if target is None or not has_bone(target, name):
        return target, name
    bone = bones_of(target)[name]
    names = [bone.name, *(above.name for above in bone.parent_recursive if above not in last.parent_recursive)]
    shown = [control for control in names if not control.startswith(HELPERS)]
    feet = [control for control in shown if says(control, FEET)]
    return target, next(iter([*feet[-1:], *shown]), name)


def bones_selected(context: Context) -> list[PoseBone]:
    """The bones that are selected in Pose Mode."""
    return [*(context.selected_pose_bones or ())] if context.mode == "POSE" else []


def left_at(bones: Sequence[PoseBone]) -> list[PoseBone]:
    """The last bones of limbs whose IK constraint is gone, and of which bones are a part or the foot."""
    rigs = dict.fromkeys(bone.id_data for bone in bones)
    without_constraint = [last for rig in rigs for last in rig.pose.bones if is_orphaned(last)]
    return [last for last in without_constraint if {*bones} & {*chain_bones(last), foot_of(last)}]


def convertible(bones: Sequence[PoseBone]) -> list[PoseBone]:
    """The bones with IK constraints that could be solved exactly: of these bones or their children, else those whose
    target or pole one of them is, else those whose targets hang on them."""
    near, rigs = {*bones, *(child for bone in bones for child in children_of(bone))}, {bone.id_data for bone in bones}
    owners = [owner for rig in rigs for owner in candidates(rig)]
    follows = {
        owner: [read(constraint) for constraint in owner.constraints if constraint.type == "IK"] for owner in owners
    }
    named = {(bone.id_data, bone.name) for bone in bones}
    followed = [owner for owner in owners if any(named & {*follow.pairs} for follow in follows[owner])]
    hanging = [owner for owner in owners if any({*bones} & _carriers(owner, follow) for follow in follows[owner])]
    return [owner for owner in owners if {owner, last_of(owner)} & near] or followed or hanging


def _followers(context: Context, things: Sequence[BoneRef]) -> list[PoseBone]:
    """The limbs in the view layer that follow things."""
    followed = {*things}
    if not followed:
        return []
    return [last for last in limbs_in_view(context) if followed & set(follow_of(last).pairs)]


def limbs_in_view(context: Context) -> list[PoseBone]:
    """All limbs of the view layer."""
    layer: Any = view_layer_of(context)
    return [last for ob in layer.objects if is_armature(ob) and is_in_view(context, ob) for last in limbs_of(ob)]


def is_in_view(context: Context, ob: Object) -> bool:
    """Whether the view layer evaluates an object, hidden or not: of others, the bones may not be looked at."""
    return is_evaluated(ob, view_layer_of(context).depsgraph or context.evaluated_depsgraph_get())


def selected_limbs(context: Context, with_broken: bool = False) -> list[PoseBone]:
    """What `limbs_meant` gives; refuses where that is none, or one lacks bones, unless ``with_broken``."""
    lasts = limbs_meant(context)
    if not lasts:
        raise Refused("Select a limb, its target or its pole")
    for last in () if with_broken else lasts:
        check_whole(last)
    return lasts


def rig_in_view(context: Context) -> Any:
    """The armature of the limb that is meant, else the active object if it is one."""
    last = limb_meant(context)
    ob = last.id_data if last else context.object
    return ob if ob and is_armature(ob) else None
