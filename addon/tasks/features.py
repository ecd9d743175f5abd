"""Giving limbs what they may have besides their mechanism, and taking it away: a foot that follows, foot roll, pole
follow, softness, stretch. Nothing moves."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.words import Refused
from ..finding.checking import check_editable
from ..limb.foot_roll import goal_bone, has_roll
from ..limb.pole_follow import has_pole_follow, poles_kept
from ..limb.settings import TWISTS
from ..limb.whole import wholly
from ..rigging.apply import apply
from ..rigging.description import describe, ref_of
from ..rigging.features import ROLL_SLIDERS, pole_follow_for, roll_for, with_foot, with_twist
from ..rigging.rolling import goals_kept


@wholly
def set_feet(context: Context, lasts: Sequence[PoseBone], on: bool) -> None:
    """Have the feet of limbs turn as their targets do, or leave them to their own pose: they go on as they stand.
    Raises `Refused` before any does."""
    for last in lasts:
        if not on and goal_bone(last):
            raise Refused("The foot of '{bone}' rolls with its target: switch off Foot Roll first", bone=last.name)
    limbs = {ref_of(last): last for last in lasts}
    off = {limb: describe(limb)._replace(foot_turn=None) for limb in limbs}
    apply(context, {limb: with_foot(context, last) for limb, last in limbs.items()} if on else off)


@wholly
def give_roll(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs that have none a foot roll, whose feet then follow their targets. Raises `Refused`."""
    for last in lasts:
        check_editable(last)
    lacking, dependencies = [last for last in lasts if goal_bone(last) is None or not has_roll(last)], Dependencies()
    limbs = {ref_of(last): with_foot(context, last) for last in lacking}
    apply(context, {limb: roll_for(wish, limb, dependencies) for limb, wish in limbs.items()})


@wholly
def take_roll(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the foot roll of limbs away, with its keys; where limbs are rolled now, their controls go where the feet
    are, if they can be moved."""
    lasts = [last for last in lasts if has_roll(last)]
    for last in lasts:
        check_editable(last)
    limbs = [ref_of(last) for last in lasts]
    with goals_kept(context, lasts):
        apply(context, {limb: describe(limb).without_sliders(*ROLL_SLIDERS)._replace(roll=None) for limb in limbs})


@wholly
def give_pole_follow(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Let the poles of limbs that do not do so yet go with their targets as far as a slider says: 0, or 1 of a pole
    that hung on the target. Raises `Refused`."""
    lasts, dependencies = [last for last in lasts if not has_pole_follow(last)], Dependencies()
    for last in lasts:
        check_editable(last)
    limbs = [ref_of(last) for last in lasts]
    apply(context, {limb: pole_follow_for(describe(limb), limb, dependencies) for limb in limbs})


@wholly
def take_pole_follow(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Have poles hang on what they hung on before, where they are now."""
    lasts = [last for last in lasts if has_pole_follow(last)]
    for last in lasts:
        check_editable(last)
    limbs = {ref_of(last): describe(ref_of(last)).without_sliders("pole_follow") for last in lasts}
    with poles_kept(context, lasts):
        apply(context, {limb: wish._replace(pole_follow=None) for limb, wish in limbs.items()})


@wholly
def give_twist(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Let the bones of limbs be turned about their own lines."""
    apply(context, {ref_of(last): with_twist(last) for last in lasts})


@wholly
def drop_feature(context: Context, lasts: Sequence[PoseBone], *names: str) -> None:
    """Take softness, stretch or twist of limbs away, with what animates it."""
    apply(context, {ref_of(last): describe(ref_of(last)).without_sliders(*names) for last in lasts})


def toggle(context: Context, lasts: Sequence[PoseBone], name: str, like: PoseBone) -> None:
    """Give limbs a foot that follows (``foot``), foot ``roll``, ``twist`` or ``pole_follow``, or take it away, as one
    limb does not have it or has it."""
    limb = describe(ref_of(like))
    if name == "foot":
        set_feet(context, lasts, limb.foot_turn is None)
    elif name == "roll":
        (take_roll if limb.roll else give_roll)(context, lasts)
    elif name == "twist" and limb.has_twist:
        drop_feature(context, lasts, *(twist.name for twist in TWISTS))
    elif name == "twist":
        give_twist(context, lasts)
    else:
        (take_pole_follow if name in limb.sliders else give_pole_follow)(context, lasts)
