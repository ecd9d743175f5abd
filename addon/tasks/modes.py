"""Putting limbs on the rig, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bpy.types import Context, PoseBone

from ..blender.announcing import announce
from ..blender.dependencies import Dependencies
from ..blender.types import takes_bones
from ..finding.checking import SAME_PLACE, check_overruled, check_solvers_above
from ..limb.rest_geometry import rest_geometry_of
from ..limb.storage import bones_of_limb, by_rig, chain_bones, check_whole, is_on_rig, limbs_of
from ..limb.tips import is_foot_gone, mark_tip
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..rigging.apply import apply
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import roll_for
from ..rigging.spec import spec_of
from ..rigging.state import problem_of


@wholly
def to_rig(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs a mechanism, in place of one that they have. Raises `Refused`."""
    _check_takes_bones(lasts)
    dependencies = Dependencies()
    for last in lasts:
        check_whole(last)
        _check_length(last)
        check_solvers_above(last, chain_bones(last), dependencies)
        _check_moved(last)
    again = [ref_of(last) for last in lasts if is_on_rig(last)]
    apply(context, {ref_of(last): describe(ref_of(last))._replace(mode="RIG") for last in lasts}, again)


SHORTEST = 1e-5
"""How long a limb on the rig is at least: Blender drops bones of no length."""


def _check_length(last: PoseBone) -> None:
    """Refuse a limb of which all joints are in one point."""
    if sum(rest_geometry_of(last).lengths) < SHORTEST:
        raise Refused(SAME_PLACE, bone=last.name)


def _check_moved(last: PoseBone) -> None:
    """Refuse a limb whose first bone has a location that its helper bones can't take over."""
    bone = bones_of_limb(last)[0].bone
    inherits = (bone.use_inherit_rotation and bone.inherit_scale == "FULL") or not bone.parent
    if not (inherits and bone.use_local_location) and spec_of(last).is_moved:
        template = "'{bone}' is moved: have it inherit rotation, full scale and local location, or use Live"
        raise Refused(template, bone=bone.name)


def live_for_now(
    wishes: Mapping[LimbRef, Description], dependencies: Dependencies
) -> tuple[dict[LimbRef, Description], list[Message]]:
    """Limbs that are to be made, on the rig; where one of them can't be, all stay live, and a warning says why."""
    try:
        for (ob, name), wish in wishes.items():
            last = ob.pose.bones[name]
            check_solvers_above(last, chain_bones(last, wish.segments), dependencies)
    except Refused as why:
        return {**wishes}, [Message("The limb is Live for now: {why}", why=why.message.translated)]
    return {limb: wish._replace(mode="RIG") for limb, wish in wishes.items()}, []


@wholly
def to_live(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the mechanisms of limbs away; the add-on poses them then. Raises `Refused`."""
    _check_takes_bones(lasts)
    for last in lasts:
        check_overruled(last)
    apply(context, {ref_of(last): describe(ref_of(last))._replace(mode="LIVE") for last in lasts})


@wholly
def rebuild(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Make all that was made for limbs anew, and look for the feet of those that lost theirs. Raises `Refused`."""
    announce(*(last.id_data for last in lasts))
    for last in filter(is_foot_gone, lasts):
        mark_tip(last)
    wishes, dependencies = {ref_of(last): describe(ref_of(last)) for last in lasts}, Dependencies()
    has_bones = [wish.mode == "RIG" or wish.roll or wish.pole_follow for wish in wishes.values()]
    _check_takes_bones([last for last, has in zip(lasts, has_bones, strict=True) if has])
    for last, (limb, wish) in zip(lasts, [*wishes.items()], strict=True):
        if wish.mode == "RIG":
            _check_length(last)
        if wish.roll and wish.foot:
            wishes[limb] = roll_for(wish, limb, rest_geometry_of(last), dependencies)
    apply(context, wishes, anew=wishes)


def unfit(lasts: Sequence[PoseBone]) -> list[PoseBone]:
    """The limbs on the rigs of these whose mechanisms have to be made anew, or whose foot is gone."""
    limbs = [last for ob in by_rig(lasts) for last in limbs_of(ob)]
    return [last for last in limbs if bones_of_limb(last) and (problem_of(last) or is_foot_gone(last))]


def _check_takes_bones(lasts: Sequence[PoseBone]) -> None:
    for last in lasts:
        if not takes_bones(last.id_data):
            raise Refused("'{rig}' comes from another file: change the mode of its limbs there", rig=last.id_data.name)
