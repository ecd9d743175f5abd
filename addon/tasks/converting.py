"""Turning Blender's own IK constraints of two to four bones into limbs, which stay where they are in every frame of
what is animated, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import copysign, inf, pi
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.animation import actions_besides, is_animated, move_curves, using_action
from ..blender.dependencies import Dependencies
from ..blender.editing import frame_held, unkeyed_kept
from ..blender.stepping import stepping
from ..blender.transaction import all_or_nothing
from ..blender.types import ArmatureObject, path_to_bone, path_to_custom, scene_of, tag, view_layer_of
from ..finding.constraints import (
    STRETCHED,
    Solvers,
    at_full_influence,
    check_rest,
    joints_of_bones,
    muting,
    plane_of,
    solvers_of,
)
from ..limb.follow import read, write
from ..limb.measuring import measure
from ..limb.rest_geometry import rest_geometry
from ..limb.settings import CONVERTED_FROM, GROUP, SLIDER
from ..limb.solving import limbs_now
from ..limb.storage import is_converted, make_limb, mode_of
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..live import refresh
from ..live.settings import is_live
from ..poses.fitting import Fit, apply_fit, fit
from ..poses.keeping import frames_of
from ..poses.keyed_parts import part_of_ik
from ..poses.matching import Stances, match, stances_shown
from ..poses.over_frames import fit_over_frames
from ..poses.pole_switch import switch_pole
from ..rigging.feet import at_influence
from ..solver.matrices import applied
from .modes import put_on_rig
from .removing import remove
from .setting import set_slider

Array = NDArray[Any]

FARTHEST = 10.0
"""The limit for a stretch that has none."""

MOVED = 2e-3
"""By how much a limb may move, in its lengths, without keys of swivel, flip and ankle that keep it."""

KEPT = 5e-4
"""How far these may have joints off for the sake of fewer keys, in lengths of the limb."""


class Converted(NamedTuple):
    """What was done."""

    lasts: list[tuple[ArmatureObject, str]]  # the limbs that were made, by rig and last bone's name
    refused: list[Refused]  # why others were not
    warnings: list[Message]  # what is otherwise than the constraints had it


class Sighting(NamedTuple):
    """Where a constraint has a limb in some frames of an action."""

    action: Any  # of the rig; None for the one in use
    frames: Sequence[int]  # none for the frame as it is, unkeyed changes included
    joints: list[Array]  # of each frame, (joints, 3): knees and tail, in the armature and in lengths of the limb
    stances: list[Stances]  # of each frame: how the bones stand


@wholly
def convert(
    context: Context,
    lasts: Sequence[PoseBone],
    tolerance: float = MOVED,
    mode: str = "LIVE",
    all_actions: bool = False,
) -> Converted:
    """Make limbs of the IK constraints that bones have, on the rig or live: those of which knee and tip stay within a
    tolerance, in lengths of the limb, as Blender evaluates them, in every frame of what is animated. Where these would
    move, swivel, flip and ankle get keys. ``all_actions`` does that in all actions of the rig, not only in the one in
    use. Raises `Refused` if there are none."""
    done = Converted([], [], [])
    named = [(last.id_data, last.name) for last in lasts]
    for ob, name in named:
        try:
            plan = _conversion_of(context, ob.pose.bones[name], all_actions)
            limb = (ob, plan.solvers.last.name)
            with all_or_nothing(context, [ob]):
                done.warnings.extend(_convert(context, plan, tolerance, mode))
        except Refused as why:
            done.refused.append(why)
            continue
        done.lasts.append(limb)
    if not done.lasts:
        raise done.refused[0] if done.refused else Refused("Select bones with an IK constraint")
    return done


def unconvert(context: Context, lasts: Sequence[PoseBone]) -> list[tuple[ArmatureObject, str]]:
    """Give limbs back to the constraints that they were, with what animates their influence."""
    for last in lasts:
        if not is_converted(last):
            raise Refused("'{bone}' was made by Planar IK: remove it instead", bone=last.name)
    named = [(last.id_data, last.name) for last in lasts]
    remove(context, lasts)
    return named


class Conversion(NamedTuple):
    """All that is known of a limb to be, before anything is changed."""

    solvers: Solvers  # its constraints
    fit: Fit  # with which it stays where it is now
    sightings: list[Sighting]  # where its constraints have it, now and in what is animated
    left_out: list[str]  # names of actions of its rig that may move it and were not looked at


def _conversion_of(context: Context, owner: PoseBone, all_actions: bool) -> Conversion:
    """What is to be known of the limb of a bone's constraints; raises `Refused`."""
    solvers = solvers_of(owner)
    last, count = solvers.last, len(solvers.segments)
    others = actions_besides(last.id_data, tuple(f"{path_to_bone(bone.name)}." for bone in _moving_bones(solvers)))
    others_included = others if all_actions else []
    with at_full_influence(context, solvers):
        check_rest(context, solvers)
        fitted = fit(context, last, solvers.segments, read(solvers.acting), plane_of(solvers), "TAIL", inf)
        sighting_now = Sighting(
            None, [], [joints_of_bones(context, last, count)], [stances_shown(context, [last], [solvers.segments])]
        )
    over_time = [_sighting_over_time(context, solvers, action) for action in (None, *others_included)]
    sightings = [sighting_now, *(sighting for sighting in over_time if sighting.frames)]
    return Conversion(solvers, fitted, sightings, [action.name for action in others if action not in others_included])


def _convert(context: Context, plan: Conversion, tolerance: float, mode: str) -> list[Message]:
    ob, name = plan.solvers.last.id_data, plan.solvers.last.name
    warnings = _make_converted(context, plan.solvers, plan.fit)
    if mode == "RIG":
        warnings += put_on_rig(context, [(ob, name)])
    refresh(context)
    for sighting in plan.sightings:
        warnings += _keep_still(context, ob.pose.bones[name], sighting, tolerance)
    if plan.left_out:
        names = ", ".join(f"'{action}'" for action in plan.left_out)
        warnings.append(
            Message("'{bone}' may move in {actions}, not looked at: All Actions keeps it", bone=name, actions=names)
        )
    return warnings


def _moving_bones(solvers: Solvers) -> list[PoseBone]:
    """The bone with the constraints, those above it, and the bones of its rig that it follows."""
    ob, owner = solvers.owner.id_data, solvers.owner
    follow = [pair for constraint in solvers.constraints for pair in read(constraint).pairs]
    return [owner, *owner.parent_recursive, *(ob.pose.bones[bone] for target, bone in follow if target == ob and bone)]


def _sighting_over_time(context: Context, solvers: Solvers, action: Any) -> Sighting:
    """Where the constraint has the limb in every frame of an action, or of all that animates it now."""
    last, count = solvers.last, len(solvers.segments)
    sighting = Sighting(action, [], [], [])
    with using_action(last.id_data, action):
        carriers = Dependencies().carriers(*((last.id_data, bone.name) for bone in solvers.bones))
        frames = frames_of(carriers)
        with stepping(context) as show_frame:
            for frame in frames:
                show_frame(frame)
                with at_full_influence(context, solvers):
                    sighting.joints.append(joints_of_bones(context, last, count))
                    sighting.stances.append(stances_shown(context, [last], [solvers.segments]))
    return sighting._replace(frames=frames)


def _keep_still(context: Context, last: PoseBone, sighting: Sighting, tolerance: float) -> list[Message]:
    """Give a limb keys of swivel, flip and ankle where it would else move from where it was seen. Raises `Refused` if
    it still does by more than a tolerance."""
    warnings: list[Message] = []
    with using_action(last.id_data, sighting.action):
        off, frame = _worst_miss(context, last, sighting)
        if off > MOVED and sighting.frames:
            step: Any = lambda i: match(context, [last], sighting.stances[i], moves_controls=False)  # noqa: E731
            fit_over_frames(context, sighting.frames, [part_of_ik(last, moves_controls=False)], step, KEPT, stays=True)
            off, frame = _worst_miss(context, last, sighting)
    values: dict[str, Any] = {"bone": last.name, "moved": f"{off:.2g}", "frame": frame}
    if not off <= tolerance:
        raise Refused(
            "'{bone}' would move by {moved} of its length in frame {frame}: set Tolerance to more, or mute what else "
            "moves it",
            **values,
        )
    if off > MOVED:
        warnings.append(Message("'{bone}' moves by {moved} of its length in frame {frame}", **values))
    return warnings


def _worst_miss(context: Context, last: PoseBone, sighting: Sighting) -> tuple[float, int]:
    """How far knees and tip are at most from where they were seen, in lengths of the limb, and in which frame."""
    if not sighting.frames:
        now = context.scene.frame_current  # type: ignore[union-attr]
        return float(np.abs(_joints_by_ik(context, last) - sighting.joints[0]).max()), now
    misses = []
    with stepping(context) as show_frame:
        for frame, joints in zip(sighting.frames, sighting.joints, strict=True):
            show_frame(frame)
            misses.append((float(np.abs(_joints_by_ik(context, last) - joints).max()), frame))
    return max(misses, key=lambda pair: inf if pair[0] != pair[0] else pair[0])


def _joints_by_ik(context: Context, last: PoseBone) -> Array:
    """Where knees and tip are by IK as Blender evaluates it; of a live limb while *Live* is off, where they would
    be."""
    with at_influence(context, [last], 1.0):
        count = len(last[GROUP].get("segments", (1, 1)))
        if mode_of(last) == "RIG" or is_live(scene_of(context)):
            return joints_of_bones(context, last, count)
        now = limbs_now(last.id_data, [last], context.evaluated_depsgraph_get(), is_whole=True)
        ends = applied(np.linalg.inv(now.world)[None], measure(now).joints[0])
        places: Array = ends / sum(now.table.limbs[0].geometry.lengths)
        return places


# making the limb


def _make_converted(context: Context, solvers: Solvers, fitted: Fit) -> list[Message]:
    """Make the limb, live. Returns warnings: what is otherwise than the constraint had it."""
    last, is_poled = solvers.last, solvers.acting == solvers.poled  # which is muted next
    with unkeyed_kept(context, [last.id_data]), frame_held():
        _take_over(solvers)
        apply_fit(last, fitted, "TAIL")
        warnings = [*_carry_limits_over(solvers), *_differences(solvers)]
        if len(solvers.constraints) == 2:
            switch_pole(last, solvers.poled, muting(last, solvers.free), is_poled)
        if _stretches(solvers):
            group: Any = last[GROUP]
            group["stretch_max"], group["stretch_volume"] = FARTHEST, "UNIFORM"
            set_slider(last, "stretch", 1.0)
        tag(last)
        view_layer_of(context).update()
    return warnings


def _stretches(solvers: Solvers) -> bool:
    return solvers.acting.use_stretch and max(bone.ik_stretch for bone in solvers.bones) > 0.0


def _take_over(solvers: Solvers) -> None:
    """Make the limb of the constraint with a pole, if there is one; both are muted for good. Where the foot has
    them, the limb gets a constraint of ours that follows the same."""
    last, ob = solvers.last, solvers.last.id_data
    taken, acting = solvers.poled or solvers.free, solvers.acting
    before: dict[str, Any] = {"chain_count": taken.chain_count, "acting": acting.name, "muted_drivers": []}
    if is_below := solvers.owner != last:
        before["on_foot"] = True
    of_owner = [*solvers.constraints, *solvers.others]
    before["mute"] = {constraint.name: constraint.mute for constraint in of_owner}
    for constraint in of_owner:
        if (curve := muting(last, constraint)) and not curve.mute:
            curve.mute = True
            before["muted_drivers"].append(curve.data_path)
        constraint.mute = True
    constraint = make_limb(last, solvers.segments, constraint=None if is_below else taken)
    if is_below:
        write(constraint, read(taken))
    last[GROUP][CONVERTED_FROM] = json.dumps(before)
    last[SLIDER["influence"].key] = acting.influence
    move_curves(ob, acting.path_from_id("influence"), path_to_custom(last.name, SLIDER["influence"].key))


def _carry_limits_over(solvers: Solvers) -> list[Message]:
    """Carry the knee's IK limits over, if it has them about the one axis that it bends about. Returns warnings of all
    others."""
    last = solvers.last
    axes = [(bone, axis) for bone in solvers.bones for axis in "xyz" if not getattr(bone, f"lock_ik_{axis}")]
    limited = [(bone, axis) for bone, axis in axes if getattr(bone, f"use_ik_limit_{axis}")]
    if not limited:
        return []
    geometry = rest_geometry(last, solvers.segments, tip="TAIL")
    (bone, axis), *others = limited
    along = float(geometry.normals[1]["xyz".index(axis)])
    if others or bone != last or abs(along) < 1.0 - STRETCHED or len(solvers.segments) > 2:
        return [Message("IK limits of '{bone}' are left out: they are not about its hinge", bone=bone.name)]
    side = copysign(1.0, along)  # a turn about the normal takes as much from the knee's turn off straight
    ends = [
        geometry.angles[0] - geometry.angles[1] - side * getattr(last, f"ik_{end}_{axis}") for end in ("min", "max")
    ]
    limits = last[GROUP]
    limits["min_angle"] = min(max(pi - max(ends), 0.0), pi)
    limits["max_angle"] = min(max(pi - min(ends), 0.0), pi)
    return []


def _differences(solvers: Solvers) -> list[Message]:
    """Warnings of what is otherwise than the constraint had it."""
    last, warnings = solvers.last, []
    of_owner = [constraint for constraint in solvers.owner.constraints if constraint.type == "IK"]
    if len(of_owner) > len(solvers.constraints):
        taken = solvers.constraints[0].name  # of a pair, both are
        warnings.append(Message("Of the IK constraints of '{bone}', '{name}' is taken", bone=last.name, name=taken))
    influence = float(last[SLIDER["influence"].key])
    if 0.0 < influence < 1.0 or is_animated(last.id_data, path_to_custom(last.name, SLIDER["influence"].key)):
        warnings.append(
            Message("The influence of '{bone}' blends rotations now, not the target's place", bone=last.name)
        )
    if _stretches(solvers):
        warnings.append(Message("Within reach, the bones of '{bone}' keep their lengths now", bone=last.name))
    if solvers.poled and is_animated(last.id_data, solvers.poled.path_from_id("pole_angle")):
        warnings.append(
            Message("What animates the pole angle of '{bone}' does nothing now: use Swivel", bone=last.name)
        )
    return warnings
