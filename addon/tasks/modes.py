"""Putting limbs on the rig, and back."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..blender.announcing import announce
from ..blender.dependencies import Dependencies
from ..blender.types import can_edit_bones
from ..blender.words import Refused
from ..finding.checking import check_length, check_overruled, check_solvers_above
from ..limb.storage import chain_bones, check_complete
from ..limb.transactional import transactional
from ..rigging.apply import apply
from ..rigging.controls import recolour
from ..rigging.description import describe, ref_of
from ..rigging.features import roll_for
from ..rigging.state import check_moved, find_feet, mechanism_problem, unfit

__all__ = ["mechanism_problem"]


@transactional
def to_rig(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Give limbs a mechanism, in place of one that they have. Raises `Refused`."""
    _check_takes_bones(limbs)
    dependencies = Dependencies()
    for limb in limbs:
        check_complete(limb)
        check_length(limb)
        check_solvers_above(limb, chain_bones(limb), dependencies)
        check_moved(limb)
    wishes = {ref_of(limb): describe(ref_of(limb)) for limb in limbs}
    again = [ref for ref, wish in wishes.items() if wish.mode == "RIG"]
    apply(context, {ref: wish._replace(mode="RIG") for ref, wish in wishes.items()}, again)


@transactional
def to_live(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Take the mechanisms of limbs away; the add-on poses them then. Raises `Refused`."""
    _check_takes_bones(limbs)
    for limb in limbs:
        check_overruled(limb)
    apply(context, {ref_of(limb): describe(ref_of(limb))._replace(mode="LIVE") for limb in limbs})


@transactional
def rebuild(context: Context, limbs: Sequence[PoseBone], and_others: bool = False) -> None:
    """Make all that was made for limbs anew, ``and_others`` of their rigs that need it; look for the feet of those that
    lost theirs, and give their controls the colours of their sides. Raises `Refused`."""
    limbs = [*dict.fromkeys([*limbs, *(unfit(limbs) if and_others else ())])]
    announce(*(limb.id_data for limb in limbs))
    find_feet(limbs)
    wishes, dependencies = {ref_of(limb): describe(ref_of(limb)) for limb in limbs}, Dependencies()
    has_bones = [wish.mode == "RIG" or wish.roll or wish.pole_follow for wish in wishes.values()]
    _check_takes_bones([limb for limb, has in zip(limbs, has_bones, strict=True) if has])
    for limb, (ref, wish) in zip(limbs, [*wishes.items()], strict=True):
        if wish.mode == "RIG":
            check_length(limb)
        if wish.roll and wish.foot:
            wishes[ref] = roll_for(wish, ref, dependencies)
    apply(context, wishes, anew=wishes)
    for ob, name in wishes:
        recolour(ob.pose.bones[name])


def _check_takes_bones(limbs: Sequence[PoseBone]) -> None:
    for limb in limbs:
        if not can_edit_bones(limb.id_data):
            raise Refused("'{rig}' comes from another file: change the mode of its limbs there", rig=limb.id_data.name)
