"""Putting limbs on the rig, and back."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.types import ArmatureObject, takes_bones, view_layer_of
from ..finding.checking import SAME_PLACE, check_overruled, check_solvers_above
from ..limb.foot_roll import goal_of, has_roll
from ..limb.pole_follow import has_pole_follow
from ..limb.rest_geometry import rest_geometry_of
from ..limb.storage import bones_of_limb, by_rig, check_whole, is_on_rig, limbs_of
from ..limb.tips import is_foot_gone, mark_tip
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..poses.settling import settle, solved
from ..rigging import build
from ..rigging.pole_follow import rebuild_pole_follow
from ..rigging.rolling import rebuild_rolls
from ..rigging.spec import differs, spec_of
from ..rigging.state import problem_of

SHORTEST = 1e-5
"""How long a limb on the rig is at least: Blender drops bones of no length."""


@wholly
def to_rig(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs a mechanism, in place of one that they have. Raises `Refused`."""
    named, dependencies = _named(lasts), Dependencies()
    for last in lasts:
        check_whole(last)
        if sum(rest_geometry_of(last).lengths) < SHORTEST:
            raise Refused(SAME_PLACE, bone=last.name)
        check_solvers_above(last, dependencies)
        _check_moved(last)
    stands = solved(context, lasts)
    build.remove(context, lasts)
    if shifted := _build(context, named):
        build.remove(context, [ob.pose.bones[name] for ob, name in shifted])
        _build(context, shifted)
    view_layer_of(context).update()
    settle(context, stands, is_shown=True)


def _check_moved(last: PoseBone) -> None:
    """Refuse a limb whose first bone has a location that its helper bones can't take over."""
    bone = bones_of_limb(last)[0].bone
    inherits = (bone.use_inherit_rotation and bone.inherit_scale == "FULL") or not bone.parent
    if not (inherits and bone.use_local_location) and spec_of(last).is_moved:
        template = "'{bone}' is moved: have it inherit rotation, full scale and local location, or use Live"
        raise Refused(template, bone=bone.name)


def _build(context: Context, named: Sequence[tuple[ArmatureObject, str]]) -> list[tuple[ArmatureObject, str]]:
    """Make mechanisms; the limbs that theirs do not fit, as the rest pose shifted while Blender left Edit Mode: once
    with files of 2.7x and 2.8x."""
    lasts = [ob.pose.bones[name] for ob, name in named]
    specs = [spec_of(last) for last in lasts]
    build.build(context, [(last.id_data, spec, goal_of(last)) for last, spec in zip(lasts, specs, strict=True)])
    now = [spec_of(ob.pose.bones[name]) for ob, name in named]
    return [
        rig_and_name for rig_and_name, before, after in zip(named, specs, now, strict=True) if differs(before, after)
    ]


def put_on_rig(context: Context, named: Sequence[tuple[ArmatureObject, str]]) -> list[Message]:
    """Give limbs that were just made, by rig and last bone's name, a mechanism; where that can't be, they stay live,
    and a warning says why."""
    try:
        to_rig(context, [ob.pose.bones[name] for ob, name in named])
    except Refused as why:
        return [Message("The limb is Live for now: {why}", why=why.message.translated)]
    return []


@wholly
def to_live(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the mechanisms of limbs away; the add-on poses them then. Raises `Refused`."""
    _named(lasts)
    for last in lasts:
        check_overruled(last)
    build.remove(context, lasts)


@wholly
def rebuild(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Make the mechanisms of those of these limbs anew that have one, and look for the feet of all that lost theirs.
    Raises `Refused`."""
    for last in filter(is_foot_gone, lasts):
        mark_tip(last)
    _named([last for last in lasts if has_roll(last) or has_pole_follow(last)])
    named = [(last.id_data, last.name) for last in lasts]
    rebuild_rolls(context, [last for last in lasts if has_roll(last)])
    rebuild_pole_follow(context, [ob.pose.bones[name] for ob, name in named])
    rebuild_mechanisms(context, [ob.pose.bones[name] for ob, name in named])


def rebuild_mechanisms(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Make the mechanisms of those of these limbs anew that have one, which may have got other settings."""
    if on_rig := [last for last in lasts if is_on_rig(last)]:
        to_rig(context, on_rig)


def unfit(lasts: Sequence[PoseBone]) -> list[PoseBone]:
    """The limbs on the rigs of these whose mechanisms have to be made anew, or whose foot is gone."""
    limbs = [last for ob in by_rig(lasts) for last in limbs_of(ob)]
    return [last for last in limbs if bones_of_limb(last) and (problem_of(last) or is_foot_gone(last))]


def _named(lasts: Sequence[PoseBone]) -> list[tuple[ArmatureObject, str]]:
    """Limbs by rig and name, which stay as Edit Mode makes the bones anew."""
    for last in lasts:
        if not takes_bones(last.id_data):
            raise Refused("'{rig}' comes from another file: change the mode of its limbs there", rig=last.id_data.name)
    return [(last.id_data, last.name) for last in lasts]
