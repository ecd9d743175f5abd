"""Matching IK to FK and FK to IK, for live limbs and limbs on the rig: the limb stays where it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Matrix, Vector

from ... import live
from ...native.own import adopt, own_pose, stretched
from ...rig.data.access import (
    bones_of,
    chain_settings,
    path_to_bone,
    place_of_setting,
    runs_on_rig,
    upper_of,
    view_layer_of,
)
from ...rig.data.keying import Change
from ...rig.data.rotation import rotation_channel
from ...rig.kinds import Refused
from ...rig.targets import Target
from ...rig.tasks.ends import adopt_turn, goal_of_own, turned_ends
from ...rig.tasks.fitting import UNTURNED
from ...rig.tasks.moving import place
from ...rig.tasks.setup import check_parent, told_turned
from ...rig.tasks.snapping import Match, at_full_influence, check_goal, check_shown, match
from ...rig.words import n_, rpt_
from ..finding import goals_of

LIMITED = n_("Its knee limits keep '{bone}' from its pose: set Min and Max Knee Angle, and snap again")
"""What to say of a limb that is posed straighter or more bent than its chain lets it be."""

OFF_PLACE = 1e-4
"""How far a target may stay from where it was put, next to how far it is from the world's origin."""


class Matched(NamedTuple):
    """What was changed to match poses: places and rotations, settings and scales; and what to tell the person."""

    poses: list[Change]
    settings: list[Change]
    warnings: list[str]


class Place(NamedTuple):
    """Where in the world a target is to be put, and the transform that it is to be turned as, if it is turned."""

    target: Target
    position: Vector
    turned: Matrix | None = None


class Matching(NamedTuple):
    """A way to match. ``check`` raises `Refused` where a chain's pose can't be carried over in the current frame, or
    not with keys where these are wanted; ``match`` carries it over for several chains."""

    check: Callable[[Context, PoseBone, bool], None]
    match: Callable[[Context, Sequence[PoseBone]], Matched]


def _check_ik(context: Context, lower: PoseBone, _with_keys: bool) -> None:
    """Raise `Refused` if no target, pole and bend show a chain's own pose."""
    check_parent(lower)
    check_shown(lower)
    settings = chain_settings(lower)
    target = Target.read(settings.target, settings.subtarget)
    if target is None:
        raise Refused(rpt_("'{bone}' has no target").format(bone=lower.name))
    check_goal(lower, target)
    if "POLE" in goals_of(lower):
        check_goal(lower, goals_of(lower)["POLE"])
    _fit(context, lower)


def _match_ik(context: Context, lowers: Sequence[PoseBone]) -> Matched:
    """Put target and pole of chains, and set bend side, hinge and twist, so that IK shows the bones' own (FK) pose."""
    matched = Matched([], [], [])
    found = [(lower, _fit(context, lower)) for lower in lowers]
    places: list[Place] = []
    for lower, fit in found:
        goals, settings = goals_of(lower), chain_settings(lower)
        places.append(Place(goals["TARGET"], fit.target))
        if fit.pole is not None and "POLE" in goals:
            places.append(Place(goals["POLE"], fit.pole))
        for name, value in fit.settings.items():
            matched.settings.append(Change.of(*place_of_setting(lower, name), lower.name))
            if getattr(settings, name) != value:
                setattr(settings, name, value)
        if fit.turned > UNTURNED:
            matched.warnings.append(told_turned(upper_of(lower), fit.turned))
        if fit.is_limited:
            matched.warnings.append(rpt_(LIMITED).format(bone=lower.name))
    matched.poses.extend(Change.of(each.target.object, each.target.path, each.target.bone) for each in places)
    left = _put(context, places)
    if ends := [(lower, fit, end) for lower, fit in found for end in turned_ends(lower)]:
        for lower, fit, end in ends:  # which hang on the limbs as these are now
            target = goals_of(lower)["TARGET"]
            matched.poses.append(Change.of(target.object, target.rotation_path, target.bone))
            places.append(Place(target, fit.target, goal_of_own(context, lower, end)))
        left = _put(context, places)
    for target in left:
        sentence = rpt_("Something else moves '{name}': mute its constraints and drivers, snap again")
        matched.warnings.append(sentence.format(name=target.bone or target.object.name))
    return matched


def _put(context: Context, places: list[Place]) -> list[Target]:
    """Move targets to places in the world; return those that something else keeps from there.

    One that hangs on another is moved again after that.
    """
    left = places
    for _ in places:
        for each in left:
            place(*each)
        view_layer_of(context).update()
        depsgraph = context.evaluated_depsgraph_get()
        left = [each for each in places if _is_away(each, depsgraph)]
        if not left:
            break
    return [each.target for each in left]


def _is_away(wanted: Place, depsgraph: Depsgraph) -> bool:
    away = wanted.target.position(depsgraph) - wanted.position
    return bool(away.length > OFF_PLACE * (1.0 + wanted.position.length))


def _fit(context: Context, lower: PoseBone) -> Match:
    """The target, pole and bend that show a chain's own pose; raises `Refused`."""
    rig = lower.id_data.evaluated_get(context.evaluated_depsgraph_get())
    own = own_pose(rig.pose.bones[lower.name]) if runs_on_rig(lower) else live.own_pose_of(lower)
    return match(rig, lower.name, *own)


def _check_fk(context: Context, lower: PoseBone, with_keys: bool) -> None:
    """Raise `Refused` if a chain has no solution, or none that can be keyed."""
    check_parent(lower)
    check_shown(lower)
    if not runs_on_rig(lower):
        live.chain_of(context, lower)
    problem = chain_settings(lower).message
    if problem:
        raise Refused(problem)
    if with_keys and runs_on_rig(lower) and stretched(context, lower):
        sentence = "'{bone}' is stretched, and keys on its scale need the extension: let the limb run on that"
        raise Refused(rpt_(sentence).format(bone=upper_of(lower).name))


def _match_fk(context: Context, lowers: Sequence[PoseBone]) -> Matched:
    """Make the whole solution of chains, whatever their influence, the bones' own (FK) pose."""
    matched = Matched([], [], [])
    for lower in lowers:
        bones = (upper_of(lower), lower)
        rotations = [_change(bone, rotation_channel(bone.rotation_mode)) for bone in bones]
        scales = [_change(bone, "scale") for bone in bones]
        lengthened = _take_over(context, lower)
        matched.poses.extend(rotations)
        matched.settings.extend(change for change in scales if change.group in lengthened)
    if ends := [(lower, end) for lower in lowers for end in turned_ends(lower)]:
        view_layer_of(context).update()
        for lower, end in ends:
            matched.poses.append(_change(end, rotation_channel(end.rotation_mode)))
            adopt_turn(context, lower, end)
    return matched


def _take_over(context: Context, lower: PoseBone) -> set[str]:
    """Make a chain's solution its bones' own pose; return the names of the bones whose scale has part in it."""
    if runs_on_rig(lower):
        return {bone.name for bone in adopt(context, lower)}
    with at_full_influence(lower) as was_blended:
        if was_blended:
            live.solve_now(context)
        lengthened = {slot.index for slot in live.take_over(live.chain_of(context, lower)) if slot.channel == "scale"}
    if was_blended:
        live.solve_now(context)
    bones = bones_of(lower.id_data)
    return {bones[index].name for index in lengthened}


def _change(bone: PoseBone, channel: str) -> Change:
    return Change.of(bone.id_data, f"{path_to_bone(bone.name)}.{channel}", bone.name)


TO_IK = Matching(_check_ik, _match_ik)
TO_FK = Matching(_check_fk, _match_fk)
