"""Putting limbs on the rig, and back."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..blender.announcing import announce
from ..blender.dependencies import Dependencies
from ..blender.types import takes_bones
from ..blender.words import Refused
from ..finding.checking import check_length, check_overruled, check_solvers_above
from ..limb.storage import chain_bones, check_whole
from ..limb.whole import wholly
from ..rigging.apply import apply
from ..rigging.controls import recolour
from ..rigging.description import describe, ref_of
from ..rigging.features import roll_for
from ..rigging.state import check_moved, find_feet, problem_of, unfit

__all__ = ["problem_of"]


@wholly
def to_rig(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs a mechanism, in place of one that they have. Raises `Refused`."""
    _check_takes_bones(lasts)
    dependencies = Dependencies()
    for last in lasts:
        check_whole(last)
        check_length(last)
        check_solvers_above(last, chain_bones(last), dependencies)
        check_moved(last)
    wishes = {ref_of(last): describe(ref_of(last)) for last in lasts}
    again = [limb for limb, wish in wishes.items() if wish.mode == "RIG"]
    apply(context, {limb: wish._replace(mode="RIG") for limb, wish in wishes.items()}, again)


@wholly
def to_live(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the mechanisms of limbs away; the add-on poses them then. Raises `Refused`."""
    _check_takes_bones(lasts)
    for last in lasts:
        check_overruled(last)
    apply(context, {ref_of(last): describe(ref_of(last))._replace(mode="LIVE") for last in lasts})


@wholly
def rebuild(context: Context, lasts: Sequence[PoseBone], and_others: bool = False) -> None:
    """Make all that was made for limbs anew, ``and_others`` of their rigs that need it; look for the feet of those that
    lost theirs, and give their controls the colours of their sides. Raises `Refused`."""
    lasts = [*dict.fromkeys([*lasts, *(unfit(lasts) if and_others else ())])]
    announce(*(last.id_data for last in lasts))
    find_feet(lasts)
    wishes, dependencies = {ref_of(last): describe(ref_of(last)) for last in lasts}, Dependencies()
    has_bones = [wish.mode == "RIG" or wish.roll or wish.pole_follow for wish in wishes.values()]
    _check_takes_bones([last for last, has in zip(lasts, has_bones, strict=True) if has])
    for last, (limb, wish) in zip(lasts, [*wishes.items()], strict=True):
        if wish.mode == "RIG":
            check_length(last)
        if wish.roll and wish.foot:
            wishes[limb] = roll_for(wish, limb, dependencies)
    apply(context, wishes, anew=wishes)
    for ob, name in wishes:
        recolour(ob.pose.bones[name])


def _check_takes_bones(lasts: Sequence[PoseBone]) -> None:
    for last in lasts:
        if not takes_bones(last.id_data):
            raise Refused("'{rig}' comes from another file: change the mode of its limbs there", rig=last.id_data.name)
