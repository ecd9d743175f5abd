"""Giving limbs what they may have besides their mechanism, and taking it away: a foot that follows, foot roll, pole
follow, softness, stretch. Nothing moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.rotation import set_turn
from ..blender.types import tag, view_layer_of
from ..finding.checking import check_editable
from ..limb.follow import follow_of, is_gone, matrix_of
from ..limb.foot_roll import flat_toes, goal_bone, has_roll
from ..limb.moving import Move, move
from ..limb.pole_follow import has_pole_follow, pole_goes_along
from ..limb.rest_geometry import rest_geometry_of
from ..limb.settings import TWISTS
from ..limb.storage import check_structure, has_twist, read_slider
from ..limb.tips import foot_of
from ..limb.whole import wholly
from ..limb.words import Refused
from ..rigging import twisting
from ..rigging.apply import apply
from ..rigging.description import Description, describe, ref_of
from ..rigging.features import ROLL_SLIDERS, pole_follow_for, roll_for
from ..rigging.feet import foot_follows, stand_of, turn_off, turns_of_feet


@wholly
def set_feet(context: Context, lasts: Sequence[PoseBone], on: bool) -> None:
    """Have the feet of limbs turn as their targets do, or leave them to their own pose: they go on as they stand.
    Raises `Refused` before any does."""
    for last in lasts:
        if not on and goal_bone(last):
            raise Refused("The foot of '{bone}' rolls with its target: switch off Foot Roll first", bone=last.name)
        if on:
            _check_foot(last)
    apply(context, {ref_of(last): _following(context, last) if on else _let_be(last) for last in lasts})


def _check_foot(last: PoseBone) -> None:
    if foot_of(last) is None:
        raise Refused("No foot or hand begins at the tip of '{bone}'", bone=last.name)
    if is_gone(*follow_of(last).pairs[0]):
        raise Refused("Pick a target for '{bone}', or make one", bone=last.name)


def _following(context: Context, last: PoseBone) -> Description:
    """A limb with a foot that follows, as it does already, or as it stands now."""
    wish = describe(ref_of(last))
    if wish.foot_turn is not None:
        return wish
    target: Any = wish.target
    turn = turn_off(last, target, stand_of(last), context.evaluated_depsgraph_get())
    return wish._replace(foot_turn=turn)


def _let_be(last: PoseBone) -> Description:
    return describe(ref_of(last))._replace(foot_turn=None)


@wholly
def give_roll(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs that have none a foot roll, whose feet then follow their targets. Raises `Refused`."""
    for last in lasts:
        check_editable(last)
        _check_foot(last)
    dependencies = Dependencies()
    lacking = [last for last in lasts if goal_bone(last) is None or not has_roll(last)]
    apply(
        context,
        {
            ref_of(last): roll_for(_following(context, last), ref_of(last), rest_geometry_of(last), dependencies)
            for last in lacking
        },
    )


@wholly
def take_roll(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the foot roll of limbs away, with its keys; where limbs are rolled now, their controls go where the feet
    are, if they can be moved."""
    lasts = [last for last in lasts if has_roll(last)]
    for last in lasts:
        check_editable(last)
    flat, moves = {toe for last in lasts for toe in flat_toes(last)}, _moves_to_goals(context, lasts)
    toes = [(ref_of(toe), turn) for toe, turn in turns_of_feet(context, lasts) if toe in flat] if moves else []
    limbs = [ref_of(last) for last in lasts]
    apply(context, {limb: describe(limb).without_sliders(*ROLL_SLIDERS)._replace(roll=None) for limb in limbs})
    move(context, moves)
    for (ob, name), turn in toes:
        set_turn(ob.pose.bones[name], turn)
        tag(ob.pose.bones[name])
    view_layer_of(context).update()


def _moves_to_goals(context: Context, lasts: Sequence[PoseBone]) -> list[Move]:
    """What has the controls of limbs that are rolled now go where their goals are."""
    moves, depsgraph = [], context.evaluated_depsgraph_get()
    for last in lasts:
        helper = goal_bone(last)
        if helper and any(read_slider(last, name) for name in ROLL_SLIDERS):
            matrix, size = matrix_of(last.id_data, helper.name, depsgraph), sum(rest_geometry_of(last).lengths)
            moves.append(Move(*follow_of(last).pairs[0], matrix.translation, matrix.to_quaternion(), size))  # type: ignore[arg-type]
            if pole_goes_along(last):
                ob, bone = follow_of(last).pairs[1]
                moves.append(Move(ob, bone, matrix_of(ob, bone, depsgraph).translation, size=size))  # type: ignore[arg-type]
    return moves


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
    moves, limbs = pole_moves(context, lasts), [ref_of(last) for last in lasts]
    apply(context, {limb: describe(limb).without_sliders("pole_follow")._replace(pole_follow=None) for limb in limbs})
    move(context, moves)


def pole_moves(context: Context, lasts: Sequence[PoseBone]) -> list[Move]:
    """What has the poles of limbs that go with targets seen where they are now."""
    moves, depsgraph = [], context.evaluated_depsgraph_get()
    for last in filter(has_pole_follow, lasts):
        pole = follow_of(last).pairs[1]
        if not is_gone(*pole):
            matrix = matrix_of(*pole, depsgraph)  # type: ignore[arg-type]  # it is there
            size = sum(rest_geometry_of(last).lengths)
            moves.append(Move(*pole, matrix.translation, matrix.to_quaternion(), size))  # type: ignore[arg-type]
    return moves


@wholly
def give_twist(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Let the bones of limbs be turned about their own lines."""
    for last in lasts:
        check_structure(last)
    twisting.give_twist(context, lasts)


@wholly
def drop_feature(context: Context, lasts: Sequence[PoseBone], *names: str) -> None:
    """Take softness, stretch or twist of limbs away, with what animates it."""
    apply(context, {ref_of(last): describe(ref_of(last)).without_sliders(*names) for last in lasts})


def toggle(context: Context, lasts: Sequence[PoseBone], name: str, like: PoseBone) -> None:
    """Give limbs a foot that follows (``foot``), foot ``roll``, ``twist`` or ``pole_follow``, or take it away, as one
    limb does not have it or has it."""
    if name == "foot":
        set_feet(context, lasts, not foot_follows(like))
    elif name == "roll":
        (take_roll if has_roll(like) else give_roll)(context, lasts)
    elif name == "twist" and has_twist(like):
        drop_feature(context, lasts, *(twist.name for twist in TWISTS))
    elif name == "twist":
        give_twist(context, lasts)
    else:
        (take_pole_follow if has_pole_follow(like) else give_pole_follow)(context, lasts)
