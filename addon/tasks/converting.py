"""Turning Blender's own IK constraints of two to four bones into limbs, which stay where they are in every frame of
what is animated, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.animation import action_named, actions_besides, using_action
from ..blender.dependencies import Dependencies
from ..blender.editing import shift_old_rests
from ..blender.transaction import all_or_nothing
from ..blender.types import ArmatureObject, path_to_bone, scene_of, takes_bones
from ..finding.constraints import (
    Solvers,
    at_full_influence,
    check_rest,
    plane_of,
    solvers_of,
)
from ..limb.follow import read
from ..limb.storage import hierarchy, is_converted, mode_of, segments_of
from ..limb.tips import tip_of
from ..limb.whole import Progress, wholly
from ..limb.words import Message, Refused
from ..live import refresh
from ..live.settings import is_live
from ..poses.fitting import fit
from ..poses.inverse import KEPT_TURN, angle_between
from ..poses.keeping import frames_of
from ..poses.matching import LimbName, LimbPoses, poses_shown, solved_poses, turns_shown
from ..poses.over_frames import show_in_ik
from ..poses.parts import part_of_ik
from ..poses.reading import Recording, bones_read, limbs_read, poses_of, worlds_of
from ..poses.recording import record
from ..poses.thinning import sampling_of
from ..poses.writing import Task
from ..solver.matrices import applied, inverted_all
from .converted import Conversion, make_converted
from .removing import remove

Array = NDArray[Any]

MOVED = 2e-3
"""By how much a limb may move, in its lengths, even where less is asked for: Blender's IK misses its targets by as
much, and no key of ours does."""

NOTICED_TURN = 2.0 * KEPT_TURN
"""By how much bones may be turned, in radians, before that is said."""


class Converted(NamedTuple):
    """What was done."""

    lasts: list[tuple[ArmatureObject, str]]  # the limbs that were made, by rig and last bone's name
    refused: list[Refused]  # why others were not
    warnings: list[Message]  # what is otherwise than the constraints had it


class Sighting(NamedTuple):
    """Where constraints have limbs in some frames of an action."""

    ob: ArmatureObject | None  # the rig whose action that is; None for what animates all of them now
    action: str  # its full name: one that is brought back, as some limbs are not kept, is another data-block
    frames: Sequence[int] | None  # None for the frame as it is, unkeyed changes included
    recording: Recording
    joints: dict[LimbName, Array]  # (frames, joints, 3): knees and tail, in the armature and in lengths of the limb
    poses: dict[LimbName, LimbPoses]  # how the bones stand, there and halfway between


class Miss(NamedTuple):
    """How far joints of a limb are off at most, in lengths of the limb, by how much bones are turned off, in radians,
    and in which frame joints are off most."""

    off: float
    turn: float
    frame: int

    def is_over(self, tolerance: float) -> bool:
        """Whether keys have to keep the limb where it was."""
        return not (self.off <= tolerance and self.turn <= KEPT_TURN)


class NotKept(Exception):
    """Some limbs can't be ones without moving: why, by the rig and the name of the bone with the constraint."""

    def __init__(self, refused: dict[tuple[Any, str], Refused]) -> None:
        super().__init__(*map(str, refused.values()))
        self.refused = refused


@wholly
def convert(
    context: Context,
    lasts: Sequence[PoseBone],
    tolerance: float = MOVED,
    mode: str = "LIVE",
    all_actions: bool = False,
    progress: Progress | None = None,
) -> Converted:
    """Make limbs of the IK constraints that bones have, on the rig or live: of those whose knee and tip stay, as
    Blender evaluates them, in every frame of what is animated. Where these would move by more than a tolerance, in
    lengths of the limb, swivel, flip and ankle get as many keys as it takes to be within it, or as near as keys go.
    ``all_actions`` does that in all actions of the rig, not only in the one in use. ``progress`` is told the part done
    of frames, and may raise to cancel. Raises `Refused` if there are none."""
    waiting, refused = [(last.id_data, last.name) for last in lasts], list[Refused]()
    shift_old_rests(context, (ob for ob, _ in waiting if mode == "RIG" and takes_bones(ob)))
    sightings: list[Sighting] = []
    while True:
        plans: list[Conversion] = []
        for ob, name in [*waiting]:
            try:
                plans.append(_conversion_of(context, ob.pose.bones[name]))
            except Refused as why:
                refused.append(why)
                waiting.remove((ob, name))
        if not plans:
            raise refused[0] if refused else Refused("Select bones with an IK constraint")
        limbs = [plan.name for plan in plans]
        try:
            with all_or_nothing(context):
                whole = Task(context, None, progress=progress)
                warnings = _convert(whole, plans, tolerance, mode, all_actions, sightings)
        except NotKept as why:  # taken back, the others go on without them
            refused += why.refused.values()
            waiting = [owner for owner in waiting if owner not in why.refused]
            continue
        return Converted(limbs, refused, warnings)


def unconvert(context: Context, lasts: Sequence[PoseBone]) -> list[tuple[ArmatureObject, str]]:
    """Give limbs back to the constraints that they were, with what animates their influence."""
    for last in lasts:
        if not is_converted(last):
            raise Refused("'{bone}' was made by Planar IK: remove it instead", bone=last.name)
    named = [(last.id_data, last.name) for last in lasts]
    remove(context, lasts)
    return named


def _conversion_of(context: Context, owner: PoseBone) -> Conversion:
    """What is to be known of the limb of a bone's constraints; raises `Refused`."""
    solvers = solvers_of(owner)
    last = solvers.last
    others = actions_besides(last.id_data, tuple(f"{path_to_bone(bone.name)}." for bone in _moving_bones(solvers)))
    with at_full_influence(context, solvers):
        check_rest(context, solvers)
        fitted = fit(context, last, solvers.segments, read(solvers.acting), plane_of(solvers), "TAIL", inf)
    return Conversion(solvers, fitted, others)


def _convert(
    whole: Task,
    plans: Sequence[Conversion],
    tolerance: float,
    mode: str,
    all_actions: bool,
    sightings: list[Sighting],
) -> list[Message]:
    """Look where limbs are, unless that is known already, make them, and keep them there. Raises `NotKept`."""
    context = whole.context
    owners = {plan.name: (plan.solvers.owner.id_data, plan.solvers.owner.name) for plan in plans}
    _check_apart(plans, owners)
    if not sightings:
        sightings += _sightings(whole, plans, all_actions)
    warnings = make_converted(context, plans, mode)
    refresh(context)
    for sighting in sightings:
        warnings += _keep_still(whole, sighting, owners, tolerance)
    for plan in plans if not all_actions else ():
        if plan.others:
            names = ", ".join(f"'{action.name}'" for action in plan.others)
            template = "'{bone}' may move in {actions}, not looked at: All Actions keeps it"
            warnings.append(Message(template, bone=plan.name[1], actions=names))
    return warnings


def _check_apart(plans: Sequence[Conversion], owners: dict[LimbName, tuple[Any, str]]) -> None:
    """Refuse limbs that share bones with one before them."""
    taken = set[PoseBone]()
    for plan in plans:
        if taken.intersection(plan.solvers.bones):
            template = "The limb of '{bone}' shares bones with another one: add one of the two"
            raise NotKept({owners[plan.name]: Refused(template, bone=plan.name[1])})
        taken.update(plan.solvers.bones)


def _moving_bones(solvers: Solvers) -> list[PoseBone]:
    """The bone with the constraints, those above it, and the bones of its rig that it follows."""
    ob, owner = solvers.owner.id_data, solvers.owner
    follow = [pair for constraint in solvers.constraints for pair in read(constraint).pairs]
    return [owner, *owner.parent_recursive, *(ob.pose.bones[bone] for target, bone in follow if target == ob and bone)]


def _sightings(whole: Task, plans: Sequence[Conversion], all_actions: bool) -> list[Sighting]:
    """Where constraints have limbs in this frame, and in every frame of all that animates them now, and of other
    actions."""
    sightings = [_sighting(whole, plans, None, None, None)]
    others = dict.fromkeys((plan.name[0], action) for plan in plans for action in plan.others if all_actions)
    for ob, action in [(None, None), *others]:
        moved = [plan for plan in plans if action is None or (plan.name[0] == ob and action in plan.others)]
        with using_action(ob, action):
            bones = [(plan.name[0], bone.name) for plan in moved for bone in plan.solvers.bones]
            if frames := frames_of(Dependencies().carriers(*bones)):
                sightings.append(_sighting(whole, moved, ob, action, frames))
    return sightings


def _sighting(whole: Task, plans: Sequence[Conversion], ob: Any, action: Any, frames: Sequence[int] | None) -> Sighting:
    context, progress = whole.context, whole.next_share() if frames else None
    bones = [bone for plan in plans for bone in bones_read(plan.solvers.last, plan.solvers.segments)]
    follow: Any = [ref for plan in plans for constraint in plan.solvers.constraints for ref in read(constraint).pairs]

    @contextmanager
    def fully() -> Iterator[None]:
        with ExitStack() as stack:
            for plan in plans:
                if plan.solvers.acting.influence < 1.0:
                    stack.enter_context(at_full_influence(context, plan.solvers))
            yield

    recording = record(context, [], sampling_of(frames).frames, follow, progress=progress, within=fully, bones=bones)
    joints = {plan.name: _joints_seen(recording, plan.solvers.last, len(plan.solvers.segments)) for plan in plans}
    poses = {plan.name: poses_shown(recording, plan.solvers.last, plan.solvers.segments) for plan in plans}
    action_name = action.name_full if action else ""
    return Sighting(ob=ob, action=action_name, frames=frames, recording=recording, joints=joints, poses=poses)


def _joints_seen(recording: Recording, last: PoseBone, count: int) -> Array:
    """Knees and tail of a bone and those above it, so many in all, in the armature and in lengths of the limb, (frames,
    count, 3)."""
    ob, bones = last.id_data, hierarchy(last, count)
    places = [poses_of(recording, ob, bone.name)[:, :3, 3] for bone in bones[1:]]
    tail = np.broadcast_to(tip_of(last, "TAIL"), (recording.frames, 3))
    joints = np.stack([*places, applied(poses_of(recording, ob, last.name), tail)], axis=1)
    in_lengths: Array = joints / sum(bone.bone.length for bone in bones)
    return in_lengths


def _keep_still(
    whole: Task, sighting: Sighting, owners: dict[LimbName, tuple[Any, str]], tolerance: float
) -> list[Message]:
    """Give limbs keys of swivel, flip and ankle where they would else move by more than a tolerance from where they
    were seen. Which these are, what was seen says as a rule; then one pass checks. Raises `NotKept` where keys can't
    keep one."""
    names, frames, keyed = [name for name in sighting.joints if name in owners], sighting.frames, set[LimbName]()
    with using_action(sighting.ob, action_named(sighting.action)):
        is_checked = frames is None
        recording = _limbs_recorded(whole, names, frames, None if is_checked else sighting.recording)
        misses = _misses(whole.context, recording, sighting, not is_checked)
        while True:
            moved = [name for name in names if frames and name not in keyed and misses[name].is_over(tolerance)]
            if moved:
                task = Task(whole.context, frames, tolerance, stays=True, progress=whole.next_share())
                lasts = [ob.pose.bones[name] for ob, name in moved]
                show_in_ik(task, lasts, sighting.poses, moves_controls=False, known=recording)
                keyed.update(moved)
            elif is_checked:
                break
            recording = _limbs_recorded(whole, names, frames)
            misses, is_checked = _misses(whole.context, recording, sighting), True
    warnings, refused = list[Message](), dict[tuple[Any, str], Refused]()
    for (ob, name), (off, turn, frame) in misses.items():
        values: dict[str, Any] = {"bone": name, "moved": f"{off:.2g}", "frame": frame}
        if turn > NOTICED_TURN:
            warnings.append(Message("'{bone}' is turned off its hinge: IK turns it back", bone=name))
        if not off <= max(tolerance, MOVED):
            template = (
                "'{bone}' would move by {moved} of its length in frame {frame}: set Tolerance to more, or mute what "
                "else moves it"
            )
            refused[owners[ob, name]] = Refused(template, **values)
        elif off > MOVED:
            warnings.append(Message("'{bone}' moves by {moved} of its length in frame {frame}", **values))
    if refused:
        raise NotKept(refused)
    return warnings


def _limbs_recorded(
    whole: Task, names: Sequence[LimbName], frames: Sequence[int] | None, known: Recording | None = None
) -> Recording:
    """Limbs by IK in some frames, by what is ``known`` of these or by one more pass."""
    lasts = [ob.pose.bones[name] for ob, name in names]
    sliders = [channel for last in lasts for channel in part_of_ik(last, False).channels]
    progress, times = whole.next_share() if frames else None, sampling_of(frames).frames
    return record(whole.context, lasts, times, channels=sliders, influence=1.0, progress=progress, known=known)


def _misses(
    context: Context, recording: Recording, sighting: Sighting, is_solved: bool = False
) -> dict[LimbName, Miss]:
    """How limbs are off how they were seen, by IK as Blender evaluates them; as the solver has them if that is told,
    and live limbs while *Live* is off."""
    misses, rows = dict[LimbName, Miss](), sampling_of(sighting.frames).rows
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        solved_turns, solved = solved_poses(limbs, {**limbs.sliders, "influence": np.ones_like(limbs.own_length)})
        for row, last in enumerate(rig.lasts):
            before, turns_before = sighting.joints[rig.object, last.name], sighting.poses[rig.object, last.name].turns
            if not is_solved and (mode_of(last) == "RIG" or is_live(scene_of(context))):
                joints = _joints_seen(recording, last, before.shape[1])
                turns = turns_shown(recording, last, segments_of(last))
            else:
                turns = solved_turns[:, row, : turns_before.shape[1]]
                into = inverted_all(worlds_of(recording, rig.object))
                size = sum(rig.table.limbs[row].geometry.lengths)
                joints = applied(into[:, None], solved[:, row, : before.shape[1]]) / size
            off = np.abs(joints - before)[rows].reshape(len(rows), -1).max(axis=1)
            worst = int(np.argmax(np.where(np.isnan(off), inf, off)))
            frame = scene_of(context).frame_current if sighting.frames is None else sighting.frames[worst]
            turn = angle_between(tuple(np.moveaxis(turns, -1, 0)), tuple(np.moveaxis(turns_before, -1, 0)))
            misses[rig.object, last.name] = Miss(float(off[worst]), float(turn.max()), frame)
    return misses
