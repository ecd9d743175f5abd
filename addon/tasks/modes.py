"""Putting limbs on the rig, and back; taking them away; what helps where one can't be posed; rebuilding them, also
those whose bones were edited: in Edit Mode, by Apply, by Join, or made by Symmetrize, which copies colours, but no
drivers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.transaction import all_or_nothing, transactional
from ..blender.types import ArmatureObject, Message, Refused, announce, can_edit_bones, scene_of
from ..finding.checking import (
    check_addable,
    check_editable,
    check_length,
    check_overruled,
    check_solvers_above,
    conflicts_of,
    mute_constraints,
)
from ..limb import follow, names, storage, tips
from ..limb.settings import BonesPerSegment
from ..live import refresh
from ..rigging import controls, features
from ..rigging.build import build
from ..rigging.description import LimbRef, describe, ref_of, spec_of
from .following import make_poles, make_targets
from .status import Status, mechanism_problem, problem_of_version, problems_of

__all__ = ["conflicts_of", "refresh"]

STAYING = "Kept {names}: something else uses it"


@transactional
def remove(context: Context, limbs: Sequence[PoseBone]) -> list[str]:
    """Remove limbs with their animated settings and unused controls; returns the names of controls that stay. Of one
    rig or several. Bones go back to their FK pose. A constraint that was there before the limb poses again."""
    for limb in limbs:
        check_editable(limb)
    kept = build(context, {ref_of(limb): None for limb in limbs})
    refresh(context)
    return kept


def set_mode(context: Context, limbs: Sequence[PoseBone], mode: str) -> None:
    """Have limbs be posed by their ``RIG`` or by the add-on (``LIVE``), if they are not yet. Raises `Refused`."""
    others = [limb for limb in limbs if storage.mode_of(limb) != mode]
    if others and mode == "LIVE" and not scene_of(context).planar_ik.live:  # type: ignore[attr-defined]
        raise Refused("Live is off in this scene: switch it on, then make the limb live")
    if others:
        (to_rig if mode == "RIG" else to_live)(context, others)


@transactional
def to_rig(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Give limbs a mechanism, in place of one that they have. Raises `Refused`."""
    _check_takes_bones(limbs)
    dependencies = Dependencies()
    for limb in limbs:
        storage.check_complete(limb)
        check_length(limb)
        check_solvers_above(limb, storage.chain_bones(limb), dependencies)
        _check_moved(limb)
        if not storage.is_on_rig(limb):
            check_overruled(limb)
    descriptions = {ref_of(limb): describe(ref_of(limb)) for limb in limbs}
    again = [ref for ref, description in descriptions.items() if description.mode == "RIG"]
    build(context, {ref: description._replace(mode="RIG") for ref, description in descriptions.items()}, again)


@transactional
def to_live(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Take the mechanisms of limbs away; the add-on poses them then. Raises `Refused`."""
    _check_takes_bones(limbs)
    for limb in limbs:
        check_overruled(limb)
    build(context, {ref_of(limb): describe(ref_of(limb))._replace(mode="LIVE") for limb in limbs})


@transactional
def rebuild(context: Context, limbs: Sequence[PoseBone], and_others: bool = False) -> dict[LimbRef, Message]:
    """Make all that was made for limbs anew; returns why some could not be. ``and_others`` of their rigs that need
    it, too. Looks for the feet of those that lost theirs, and gives their controls the colours of their sides.
    Raises `Refused` where none of ``limbs`` can be."""
    given = [ref_of(limb) for limb in limbs]
    refs = [*dict.fromkeys([*given, *map(ref_of, _unfit(limbs) if and_others else ())])]
    with suppress(Refused), all_or_nothing(context):
        _rebuild(context, refs)
        return {}
    refused = dict[LimbRef, Refused]()
    for ref in refs:
        try:
            with all_or_nothing(context):
                _rebuild(context, [ref])
        except Refused as why:
            refused[ref] = why
    if all(ref in refused for ref in given):
        raise refused[given[0]]
    return {ref: why.message for ref, why in refused.items()}


def _rebuild(context: Context, refs: Sequence[LimbRef]) -> None:
    limbs = [ob.pose.bones[name] for ob, name in refs]
    announce(*(limb.id_data for limb in limbs))
    for limb in filter(tips.is_foot_gone, limbs):
        tips.mark_tip(limb)
    descriptions, dependencies = {ref_of(limb): describe(ref_of(limb)) for limb in limbs}, Dependencies()
    _check_takes_bones([limb for limb in limbs if storage.has_helpers(limb)])
    for limb, (ref, description) in zip(limbs, [*descriptions.items()], strict=True):
        if description.mode == "RIG":
            check_length(limb)
        descriptions[ref] = features.with_pivots_found(description, ref, dependencies)
    build(context, descriptions, anew=descriptions)
    for ob, name in descriptions:
        controls.recolour(ob.pose.bones[name])


def _check_takes_bones(limbs: Sequence[PoseBone]) -> None:
    for limb in limbs:
        if not can_edit_bones(limb.id_data):
            raise Refused("'{rig}' comes from another file: change the mode of its limbs there", rig=limb.id_data.name)


def _check_moved(limb: PoseBone) -> None:
    """Refuse a limb whose first bone has a location that its helper bones can't take over."""
    bone = storage.bones_of_limb(limb)[0].bone
    inherits = (bone.use_inherit_rotation and bone.inherit_scale == "FULL") or not bone.parent
    if not (inherits and bone.use_local_location) and spec_of(ref_of(limb), describe(ref_of(limb))).is_moved:
        template = "'{bone}' is moved: have it inherit rotation, full scale and local location, or use Live"
        raise Refused(template, bone=bone.name)


def _unfit(limbs: Sequence[PoseBone]) -> list[PoseBone]:
    """The limbs on the rigs of these whose mechanisms have to be made anew, or whose feet are gone."""
    of_rigs = [[limb for limb in storage.limbs_of(ob) if storage.bones_of_limb(limb)] for ob in storage.by_rig(limbs)]
    problems = [pair for of_rig in of_rigs if of_rig for pair in zip(of_rig, problems_of(of_rig), strict=True)]
    return [limb for limb, problem in problems if problem]


def edited_limbs(ob: ArmatureObject) -> list[PoseBone]:
    """The limbs of a rig that have to be rebuilt since its bones were edited. And those without helper bones whose
    controls have the colours of the other side, while that side has its own."""
    limbs = storage.limbs_of(ob)
    odd = {limb.name for limb in limbs if controls.coloured_as_other_side(limb)}
    live = [limb for limb in limbs if not storage.is_on_rig(limb) and limb.name in odd]
    copied = [limb for limb in live if (other := names.other_side(limb.name)) not in odd and other in ob.pose.bones]
    return [*dict.fromkeys([*(limb for limb in _unfit(limbs) if not problem_of_version(limb)), *copied])]


def rebuild_edited(context: Context, ob: ArmatureObject) -> bool:
    """Rebuild the limbs of a rig that were edited; whether there are any. Raises `Refused`."""
    limbs = edited_limbs(ob) if can_edit_bones(ob) and storage.limbs_of(ob) else []
    if limbs:
        rebuild(context, limbs)
    return bool(limbs)


# repairs


def repairs_for(limb: PoseBone, status: Status | None = None) -> list[str]:
    """The names of the repairs that apply to a limb now."""
    if status is not None and not status.is_broken:
        return []
    if not storage.bones_of_limb(limb):
        return ["LEFT"]
    target, pole = follow.follow_of(limb).pairs
    if follow.is_gone(*target):
        return ["TARGET", "PICK"]
    if "POLE" in follow.gone_controls(limb) or (pole[0] and follow.is_gone(*pole)):
        return ["POLE"]
    muting = ["MUTE"] if conflicts_of(limb) else []
    is_edited = status is not None and storage.is_on_rig(limb) and not muting  # which the pose alone tells
    return ["REBUILD", *muting] if is_edited or mechanism_problem(limb) else muting


def refusal_of(limb: PoseBone, segments: BonesPerSegment) -> Refused | None:
    """Why IK can't be added to a limb, by its last bone and its segments; None if it can."""
    try:
        check_addable(limb, segments)
    except Refused as why:
        return why
    return None


REPAIRS: dict[str, Callable[[Context, PoseBone], Any]] = {
    "TARGET": lambda context, limb: make_targets(context, [limb]),
    "POLE": lambda context, limb: make_poles(context, [limb]),
    "MUTE": lambda _, limb: mute_constraints(conflicts_of(limb)),
    "REBUILD": lambda context, limb: rebuild(context, [limb], and_others=True),
    "LEFT": lambda context, limb: remove(context, [limb]),
}
