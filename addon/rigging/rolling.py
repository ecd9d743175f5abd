"""Foot Roll: giving limbs one, taking it away, and making its helper bones anew."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import remainder, tau
from typing import Any

from bpy.types import Context, PoseBone
from mathutils import Matrix, Quaternion, Vector

from ..blender.animation import driver_of, drop_if_empty, is_animated, stop
from ..blender.changes import Change
from ..blender.dependencies import Dependencies
from ..blender.editing import frame_held, unkeyed_kept
from ..blender.names import other_side
from ..blender.rotation import get_turn, rotation_channel, set_turn
from ..blender.types import path_to_custom, tag, takes_bones, view_layer_of
from ..finding.checking import check_editable
from ..limb.follow import Follow, follow_of, is_gone, matrix_of
from ..limb.foot_roll import (
    CONTROL,
    FLAT_TOE,
    GOAL,
    PIVOTS,
    flat_toes,
    goal_bone,
    has_roll,
    helpers_of,
    role_of,
    tip_at_rest,
)
from ..limb.moving import Move, move
from ..limb.names import HANDS, says
from ..limb.pole_follow import pole_goes_along
from ..limb.rest_geometry import rest_geometry_of
from ..limb.settings import SLIDER
from ..limb.storage import has_slider, is_limb, make_slider, read_slider
from ..limb.tips import foot_of
from ..limb.whole import wholly
from ..limb.words import Refused
from . import feet
from . import roll_parts as foot_roll
from .build import retarget
from .foot_pivots import Pivots, mirrored_pivots, pivots_found, toes_of

SLIDERS = ("roll", "bank")
"""What a foot roll is set by."""

IMAGE = 0.01
"""How far from its mirror image a limb's tip may rest, in lengths of its last bone, for its pivots to be the image of
the other side's."""


@wholly
def give_roll(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs that have none a foot roll, whose feet then follow their targets; nothing moves. Raises `Refused`."""
    for last in lasts:
        check_editable(last)
        if foot_of(last) is None:
            raise Refused("No foot or hand begins at the tip of '{bone}'", bone=last.name)
        if is_gone(*follow_of(last).pairs[0]):
            raise Refused("Pick a target for '{bone}', or make one", bone=last.name)
    lasts = [last for last in lasts if goal_bone(last) is None or not has_roll(last)]
    for last in lasts:
        for name in SLIDERS:
            if not has_slider(last, name):
                make_slider(last, SLIDER[name])
    rebuild_rolls(context, lasts)


@wholly
def take_roll(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the foot roll of limbs away, with its keys; where limbs are rolled now, their controls go where the feet
    are, if they can be moved."""
    lasts = [last for last in lasts if has_roll(last)]
    for last in lasts:
        check_editable(last)
    flat, moves = {toe for last in lasts for toe in flat_toes(last)}, []
    toes = [(toe.id_data, toe.name, turn) for toe, turn in feet.turns_of_feet(context, lasts) if toe in flat]
    for last in lasts:
        if goal_bone(last) and any(read_slider(last, name) for name in SLIDERS):
            end_matrix = matrix_of(last.id_data, goal_bone(last).name, context.evaluated_depsgraph_get())  # type: ignore[union-attr]
            size = sum(rest_geometry_of(last).lengths)
            moves.append(Move(*follow_of(last).pairs[0], end_matrix.translation, end_matrix.to_quaternion(), size))  # type: ignore[arg-type]
            if pole_goes_along(last):
                pole = follow_of(last).pairs[1]
                stands = matrix_of(*pole, context.evaluated_depsgraph_get())  # type: ignore[arg-type]
                moves.append(Move(*pole, stands.translation, size=size))  # type: ignore[arg-type]
    named = [(last.id_data, last.name) for last in lasts]
    drop_roll(context, lasts)
    move(context, moves)
    for ob, name, turn in toes if moves else ():
        set_turn(ob.pose.bones[name], turn)
    for ob, name in named:
        tag(ob.pose.bones[name])
    view_layer_of(context).update()


def drop_roll(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the helpers and sliders of foot rolls away. The feet go on as they stand without roll and bank."""
    named = [(last.id_data, last.name) for last in lasts if has_roll(last)]
    lasts = [ob.pose.bones[name] for ob, name in named]
    stands = [feet.stand_of(last) if feet.foot_follows(last) else None for last in lasts]
    names = [foot_roll.all_helpers(last) for last in lasts]
    for last in lasts:
        with unkeyed_kept(context, [last.id_data]), frame_held():
            stop(last.id_data, [path_to_custom(last.name, SLIDER[name].key) for name in SLIDERS])
        for name in SLIDERS:
            if has_slider(last, name):
                del last[SLIDER[name].key]
    for last, stand in zip(lasts, stands, strict=True):
        if stand and not is_gone(*follow_of(last).pairs[0]):
            feet.set_feet([last], True, [stand])
        retarget(last)
    foot_roll.remove(context, [*zip(lasts, names, strict=True)])
    for ob in dict.fromkeys(ob for ob, _ in named):
        drop_if_empty(ob)


def rebuild_rolls(context: Context, lasts: Sequence[PoseBone], pivots: Mapping[str, Pivots] | None = None) -> None:
    """Make the helper bones of foot rolls anew: pivots stay where they were moved in Edit Mode, and go along where the
    foot was moved, but for limbs that are given others, by their last bones' names."""
    lasts = [last for last in lasts if foot_of(last)]
    feet.set_feet([last for last in lasts if not feet.foot_follows(last)], True)
    _make(context, lasts, [feet.stand_of(last) for last in lasts], pivots or {})


def refollow(context: Context, last: PoseBone, stand: Matrix | None = None) -> None:
    """Have the foot of a limb go on as it stands, or stood before in the world without roll and bank, with what the
    limb follows now; one that rolls does so from there."""
    if not feet.foot_follows(last):
        return
    is_there = not is_gone(*follow_of(last).pairs[0])
    if not has_roll(last):
        feet.set_feet([last], is_there, [stand] if stand else [])
    elif not is_there:
        drop_roll(context, [last])
        feet.set_feet([last], False)
    else:
        if not takes_bones(last.id_data):
            template = "The foot of '{bone}' rolls with its control: change what it follows in the file of '{rig}'"
            raise Refused(template, bone=last.name, rig=last.id_data.name)
        stand = stand or feet.stand_of(last)
        aim_controls([last])
        view_layer_of(context).update()
        feet.set_feet([last], True, [stand])
        _make(context, [last], [stand], {})


def aim_controls(lasts: Sequence[PoseBone]) -> None:
    """Have the foot rolls of limbs go with the targets that the limbs have now."""
    for last in lasts:
        if CONTROL in (helpers := helpers_of(last)):
            foot_roll.aim_control(last.id_data.pose.bones[helpers[CONTROL].name], follow_of(last))


def _make(context: Context, lasts: Sequence[PoseBone], stands: Sequence[Matrix], pivots: Mapping[str, Pivots]) -> None:
    """Make the helper bones of limbs anew, whose feet stand so without roll and bank."""
    named = [(last.id_data, last.name) for last in lasts]
    others: Dependencies = Dependencies()
    rolls = []
    for last in lasts:
        its_pivots = pivots.get(last.name) or pivots_of(last) or _image(last) or pivots_found(last)
        toes = tuple(toe.name for toe in toes_of(foot_of(last)) if not _moved_by_others(toe, others))
        rolls.append(foot_roll.FootRoll(last.id_data, last.name, dict(its_pivots), _goal_at_rest(last), toes))
    helpers = [(last, foot_roll.all_helpers(last)) for last in lasts]
    for last in lasts:
        _aim(last, follow_of(last))
    foot_roll.remove(context, helpers)
    names = foot_roll.build(context, rolls)
    lasts = [ob.pose.bones[name] for ob, name in named]
    for last, of_last in zip(lasts, names, strict=True):
        _aim(last, follow_of(last)._replace(target=last.id_data, subtarget=of_last[GOAL]))
    view_layer_of(context).update()
    feet.set_feet(lasts, True, stands)
    for last in lasts:
        tag(last)
    view_layer_of(context).update()


def _aim(last: PoseBone, follow: Follow) -> None:
    """Have the foot of a limb, and its mechanism, follow this."""
    foot: Any = foot_of(last)
    for name in feet.CONSTRAINTS:
        if name in foot.constraints:
            feet.aim_foot(foot.constraints[name], follow)
    retarget(last)


def _moved_by_others(toe: PoseBone, dependencies: Dependencies) -> bool:
    return any(getattr(mover, "name", "") != FLAT_TOE for mover in dependencies.movers(toe))


def _goal_at_rest(last: PoseBone) -> Matrix:
    """Where the goal rests: at the tip, turned as the control is where the foot is at rest."""
    foot: Any = foot_of(last)
    turn: Matrix = foot.bone.matrix_local.to_3x3() @ feet.offset_of(foot).to_3x3().transposed()
    end_rest: Matrix = Matrix.Translation(tip_at_rest(last)) @ turn.normalized().to_4x4()
    return end_rest


# where pivots are


def pivots_of(last: PoseBone) -> Pivots:
    """Where the pivots of a limb are, nothing where some are missing. They go along with a foot that was moved in Edit
    Mode."""
    bones = {role_of(bone): bone for bone in foot_roll.bones_named(last, foot_roll.all_helpers(last))}
    if not {*PIVOTS, GOAL} <= bones.keys():
        return {}
    by = _goal_at_rest(last).translation - bones[GOAL].head_local
    by = by if by.length > IMAGE * 1e-3 * last.bone.length else Vector()
    return {role: Matrix.Translation(by) @ bones[role].matrix_local for role in PIVOTS}


def _image(last: PoseBone) -> Pivots:
    """The mirror image of the pivots of the other side's limb, if it rests as the image of that, as after
    Symmetrize."""
    other = last.id_data.pose.bones.get(other_side(last.name))
    if other is None or other == last or not is_limb(other) or not has_roll(other):
        return {}
    across = Matrix.Scale(-1.0, 4, (1.0, 0.0, 0.0))
    near = (across @ tip_at_rest(other) - tip_at_rest(last)).length <= IMAGE * last.bone.length
    return mirrored_pivots(pivots_of(other), across) if near else {}


def is_for(last: PoseBone) -> bool:
    """Whether Add gives a limb a foot roll where that is asked for: it has a foot, which follows, and that is no
    hand."""
    foot = foot_of(last)
    return foot is not None and feet.foot_follows(last) and not says(foot.name, HANDS)


# in one frame


def level(lasts: Sequence[PoseBone]) -> list[Change]:
    """Set roll and bank of limbs to 0 where no keys or drivers say what they are; what was changed."""
    changes = []
    for last in filter(has_roll, lasts):
        for name in SLIDERS:
            path = path_to_custom(last.name, SLIDER[name].key)
            is_free = not is_animated(last.id_data, path) and driver_of(last.id_data, path) is None
            if is_free and read_slider(last, name):
                changes.append(Change.of_property(last.id_data, last.name, f'["{SLIDER[name].key}"]'))
                last[SLIDER[name].key] = 0.0
                tag(last)
    return changes


def turn_toes(context: Context, lasts: Sequence[PoseBone]) -> list[Change]:
    """Turn toes that are kept flat by their own channels so that they are in IK as these have them in FK now; what was
    changed. What keeps them flat is a turn before their own."""
    rolled = [last for last in lasts if flat_toes(last)]
    toes = [toe for last in rolled for toe in flat_toes(last)]
    if not toes:
        return []
    with feet.at_influence(context, rolled, 1.0):
        in_ik = [feet.shown_turn(context, toe) for toe in toes]
    changes = []
    for toe, in_ik_now in zip(toes, in_ik, strict=True):
        own: Any = Quaternion(get_turn(toe))
        if abs(remainder(own.rotation_difference(in_ik_now).angle, tau)) > feet.ALIKE:
            changes.append(Change.of_property(toe.id_data, toe.name, rotation_channel(toe.rotation_mode)))
            set_turn(toe, (own @ in_ik_now.inverted() @ own)[:])
            tag(toe)
    return changes
