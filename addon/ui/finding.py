"""Which chains a person means: by a limb's bones, by what it follows, and by the bone below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bpy.types import Context, Object, PoseBone

from ..native.mechanism.references import goals_left
from ..rig.data.access import (
    ArmatureObject,
    bones_of,
    chain_settings,
    children_of,
    has_chain,
    is_armature,
    made_on,
    runs_on_rig,
    view_layer_of,
)
from ..rig.kinds import Refused
from ..rig.settings import MADE
from ..rig.targets import Target, followed
from ..rig.tasks.turning import COPY
from ..rig.words import rpt_

NOTHING_SELECTED = (
    "Select a bone with a chain, the lower bone of a limb, like a shin or a forearm, or what the chain follows"
)
NOTHING_FOLLOWED = "Go to Pose Mode and select a bone with a chain, or select the target or pole of one"


def chains_meant(context: Context, or_off: bool = False) -> list[PoseBone]:
    """The lower bones of the chains that are selected, by their own bones or else by their target, their pole or the
    bone below; with ``or_off`` also of those that are switched off. In Object Mode, by target or pole."""
    if context.mode == "OBJECT":
        return _by_what_they_follow(context, {(ob, "") for ob in context.selected_objects}, or_off)
    selected = list(context.selected_pose_bones or ())
    if context.active_pose_bone and not selected:
        selected.append(context.active_pose_bone)
    limbs = [lower for bone in selected for lower in (bone, *children_of(bone)) if _is_chain(lower, or_off)]
    if not limbs:
        goals = {(bone.id_data, bone.name) for bone in selected}
        limbs = _by_what_they_follow(context, goals, or_off)
    if not limbs:
        limbs = [bone.parent for bone in selected if bone.parent and _is_chain(bone.parent, or_off)]
    if not limbs:
        limbs = [lower for lower in _by_what_moves_them(selected) if _is_chain(lower, or_off)]
    return list(dict.fromkeys(limbs))


def selected_chains(context: Context, or_off: bool = False) -> list[PoseBone]:
    """What `chains_meant` gives; raises `Refused` if that is none."""
    found = chains_meant(context, or_off)
    if not found:
        if off := [] if or_off else chains_meant(context, or_off=True):
            raise Refused(rpt_("The chain of '{bone}' is switched off").format(bone=off[0].name))
        raise Refused(NOTHING_SELECTED)
    return found


def left_behind(context: Context) -> dict[ArmatureObject, list[str]]:
    """The armatures that hold the mechanism of a chain whose bones were deleted, with the selected bones that it still
    poses; with no bones where a target or pole that was made for such a chain is selected."""
    left: dict[ArmatureObject, list[str]] = {}
    bones: Sequence[Any] = context.selected_pose_bones or () if context.mode == "POSE" else ()
    for bone in bones:
        if made_on(bone) and not any(map(runs_on_rig, (bone, *children_of(bone)))):
            left.setdefault(bone.id_data, []).append(bone.name)
    made = {(bone.id_data, bone.name) for bone in bones if MADE in bone.bone}
    things: Sequence[Any] = context.selected_objects if context.mode == "OBJECT" else ()
    made |= {(ob, "") for ob in things if MADE in ob}
    for ob in _armatures_in_view(context) if made else ():
        if any((goal.object, goal.bone) in made for goal in goals_left(ob)):
            left.setdefault(ob, [])
    return left


def chain_meant(context: Context) -> PoseBone | None:
    """The chain of the active bone or object, or of the bone that the Properties editor shows, on or off; where there
    are several, the first."""
    bone = getattr(context, "pose_bone", None)  # of the Properties editor, in any mode, maybe a pinned one
    if bone is None and context.mode == "OBJECT":
        ob = context.active_object
        found = _by_what_they_follow(context, {(ob, "")}, or_off=True) if ob else []
        return found[0] if found else None
    bone = bone or context.active_pose_bone
    if bone is None:
        return None
    found = [lower for lower in (bone, *children_of(bone)) if has_chain(lower)]
    found = found or _by_what_they_follow(context, {(bone.id_data, bone.name)}, or_off=True)
    if not found and bone.parent and has_chain(bone.parent):
        found = [bone.parent]
    found = found or _by_what_moves_them([bone])
    return found[0] if found else None


def chains_of(ob: ArmatureObject) -> list[PoseBone]:
    """The lower bones of all chains of an armature, as its bones are sorted."""
    return [bone for bone in ob.pose.bones if has_chain(bone)]


def goals_of(lower: PoseBone) -> dict[str, Target]:
    """The target and the pole of a chain, those that it has, by what they are called."""
    goals = zip(("TARGET", "POLE"), followed(chain_settings(lower)), strict=True)
    return {part: goal for part, goal in goals if goal and not goal.problem()}


def _is_chain(lower: PoseBone, or_off: bool) -> bool:
    return bool(chain_settings(lower).enabled or (or_off and has_chain(lower)))


def _by_what_they_follow(context: Context, goals: set[tuple[Object, str]], or_off: bool) -> list[PoseBone]:
    # What a chain follows has a user for that besides the collection that it is in. To ask what has one takes no time;
    # to go through all bones in view, which every redrawing of the panel would do for a mesh, takes 0.8 ms for 1,000.
    followed_by_some = {(ob, bone) for ob, bone in goals if ob.users > 1}
    if not followed_by_some:
        return []
    return [
        lower
        for lower in chains_in_view(context)
        if _is_chain(lower, or_off)
        and any((goal.object, goal.bone) in followed_by_some for goal in goals_of(lower).values())
    ]


def _by_what_moves_them(bones: list[PoseBone]) -> list[PoseBone]:
    """The chains whose target, but not whose limb, hangs on one of these bones of the same rig, or whose upper bone one
    of these copies: so do the controls of rigs whose limbs are hidden, such as Rigify's."""
    found = []
    for ob in dict.fromkeys(bone.id_data for bone in bones):
        of_rig = [bone for bone in bones if bone.id_data == ob]
        names = {bone.name for bone in of_rig}
        copied = {each.subtarget for bone in of_rig for each in bone.constraints if each.name == COPY}  # type: ignore[attr-defined]
        for lower in filter(has_chain, ob.pose.bones):
            settings = chain_settings(lower)
            goal = bones_of(ob).get(settings.subtarget) if settings.target == ob else None
            is_carried = goal is not None and _hangs_on(names, goal) and not _hangs_on(names, lower)
            if is_carried or (lower.parent is not None and lower.parent.name in copied):
                found.append(lower)
    return found


def _hangs_on(names: set[str], bone: PoseBone) -> bool:
    return any(above.name in names for above in bone.parent_recursive)


def chains_in_view(context: Context) -> Iterator[PoseBone]:
    """The lower bones of all chains of the view layer's armatures, on or off."""
    for ob in _armatures_in_view(context):
        yield from (bone for bone in ob.pose.bones if bone.is_property_set("planar_ik") and has_chain(bone))


def _armatures_in_view(context: Context) -> Iterator[ArmatureObject]:
    """The armatures of the view layer."""
    layer: Any = view_layer_of(context)
    return filter(is_armature, layer.objects)
