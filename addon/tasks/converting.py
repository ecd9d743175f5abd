"""Turning Blender's own IK constraints of two to four bones into limbs, which stay where they are in every frame of
what is animated, and back."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.animation import Clip, action_named, using_clip
from ..blender.stepping import Steps, Stepwise
from ..blender.transaction import all_or_nothing
from ..blender.types import ArmatureObject, scene_of
from ..blender.words import Message, Refused
from ..finding.constraints import at_full_influence
from ..limb.follow import follow_of_constraint
from ..limb.storage import hierarchy, is_converted, is_live, mode_of, segments_of
from ..limb.tips import tip_of
from ..limb.tolerances import KEPT_TURN, ON_TARGET, SEEN
from ..limb.transactional import transactional_steps
from ..motion.frames import Frames, frames_of, moved_by
from ..motion.ik import show_in_ik, show_turns
from ..motion.inverse import angle_between
from ..motion.matching import solved_poses
from ..motion.parts import part_of_ik, rotation_channel_of
from ..motion.passing import record
from ..motion.poses import LimbPoses, evaluated_poses, evaluated_turn, evaluated_turns
from ..motion.reading import Asked, Recording, bones_to_read, limbs_read, poses_of, worlds_of
from ..motion.thinning import CHECKED, sampling_of
from ..motion.writing import Task
from ..rigging.description import LimbRef
from ..solver.matrices import applied, inverted_all
from .converted import Conversion, conversion_of, make_converted
from .removing import refresh, remove

Array = NDArray[Any]

NOTICED_MOVE = 2.0 * SEEN
"""By how much a limb may move, in its lengths, even where less is asked for: Blender's IK misses its targets by as
much, and no key of ours does."""


class Converted(NamedTuple):
    """What was done."""

    limbs: list[LimbRef]  # the limbs that were made, by rig and last bone's name
    refused: list[tuple[LimbRef, Refused]]  # others, by rig and the bone with the constraint, and why
    warnings: list[Message]  # what is otherwise than the constraints had it


class NotKept(Exception):
    """Some limbs would move: why, by the rig and the name of the bone with the constraint."""

    def __init__(self, refused: dict[LimbRef, Refused]) -> None:
        super().__init__(*map(str, refused.values()))
        self.refused = refused


@Stepwise
@transactional_steps
def convert(
    context: Context,
    limbs: Sequence[PoseBone],
    tolerance: float = NOTICED_MOVE,
    mode: str = "LIVE",
    all_actions: bool = False,
) -> Steps[Converted]:
    """Make limbs of the IK constraints that bones have, on the rig or live: of those whose knee and tip stay, as
    Blender evaluates them, in every frame of what is animated. Where these would move by more than a tolerance, in
    lengths of the limb, swivel, flip and ankle get as many keys as it takes to be within it, or as near as keys go.
    ``all_actions`` does that in all actions of the rig, not only in the one in use. A table keeps what IK did to it as
    its own motion. Raises `Refused` if there are none."""
    done = yield from convert_what_can.steps(context, limbs, tolerance, mode, all_actions)
    if not done.limbs:
        raise done.refused[0][1] if done.refused else Refused("Select bones with an IK constraint")
    return done


@Stepwise
@transactional_steps
def convert_what_can(
    context: Context, limbs: Sequence[PoseBone], tolerance: float, mode: str, all_actions: bool
) -> Steps[Converted]:
    """The same, but it is fine if nothing can be converted."""
    waiting, refused = [(limb.id_data, limb.name) for limb in limbs], list[tuple[LimbRef, Refused]]()
    sightings: list[Sighting] = []
    while True:
        plans: list[Conversion] = []
        for ob, name in [*waiting]:
            try:
                plans.append(conversion_of(context, ob.pose.bones[name]))
            except Refused as why:
                refused.append(((ob, name), why))
                waiting.remove((ob, name))
        if not plans:
            return Converted([], refused, [])
        names = [plan.name for plan in plans]
        try:
            with all_or_nothing(context):
                warnings = yield from _convert(Task(context, None), plans, tolerance, mode, all_actions, sightings)
        except NotKept as why:  # taken back, the others go on without them
            refused += why.refused.items()
            waiting = [owner for owner in waiting if owner not in why.refused]
            continue
        return Converted(names, refused, warnings)


def unconvert(context: Context, limbs: Sequence[PoseBone]) -> list[LimbRef]:
    """Restore the IK constraints that limbs were converted from, with the animation of their influence."""
    for limb in limbs:
        if not is_converted(limb):
            raise Refused("'{bone}' was made by Planar IK: remove it instead", bone=limb.name)
    named = [(limb.id_data, limb.name) for limb in limbs]
    remove(context, limbs)
    return named


def _convert(
    whole: Task,
    plans: Sequence[Conversion],
    tolerance: float,
    mode: str,
    all_actions: bool,
    sightings: list[Sighting],
) -> Steps[list[Message]]:
    """Look where limbs are, unless that is known already, make them, and keep them there. Raises `NotKept`."""
    context = whole.context
    owners = {plan.name: (plan.solvers.owner.id_data, plan.solvers.owner.name) for plan in plans}
    _check_apart(plans, owners)
    if not sightings:
        sightings += yield from sightings_of(whole, plans, all_actions)
    warnings = make_converted(context, plans, mode)
    refresh(context)
    for sighting in sightings:
        warnings += yield from _check_still(whole, sighting, owners, tolerance)
    for plan in plans if not all_actions else ():
        if plan.others:
            names = ", ".join(dict.fromkeys(f"'{clip.action.name}'" for clip in plan.others))
            template = "'{bone}' may move in {actions}, not looked at: All Actions keeps it"
            warnings.append(Message(template, bone=plan.name[1], actions=names))
    return warnings


def _check_apart(plans: Sequence[Conversion], owners: dict[LimbRef, LimbRef]) -> None:
    """Refuse limbs that share bones with one before them."""
    taken = set[PoseBone]()
    for plan in plans:
        if taken.intersection(plan.solvers.bones):
            template = "The limb of '{bone}' shares bones with another one: add one of the two"
            raise NotKept({owners[plan.name]: Refused(template, bone=plan.name[1])})
        taken.update(plan.solvers.bones)


def _check_still(
    whole: Task, sighting: Sighting, owners: dict[LimbRef, LimbRef], tolerance: float
) -> Steps[list[Message]]:
    """Keep limbs where they were seen; warnings of those that move or turn all the same. Raises `NotKept` where keys
    can't keep one."""
    warnings, refused = list[Message](), dict[LimbRef, Refused]()
    misses = yield from kept_misses(whole, sighting, owners, tolerance)
    for (ob, name), (_, turn, beyond, frame) in misses.items():
        values: dict[str, Any] = {"bone": name, "moved": f"{beyond:.2g}", "frame": frame}
        if turn > NOTICED_TURN:
            warnings.append(Message("'{bone}' is turned off its hinge: IK turns it back", bone=name))
        if not beyond <= max(tolerance, NOTICED_MOVE):
            template = (
                "'{bone}' would move by {moved} of its length in frame {frame}: set Tolerance to more, or mute what "
                "else moves it"
            )
            refused[owners[ob, name]] = Refused(template, **values)
        elif beyond > NOTICED_MOVE:
            warnings.append(Message("'{bone}' moves by {moved} of its length in frame {frame}", **values))
    if refused:
        raise NotKept(refused)
    return warnings


OUT_OF_REACH = 1e-2
"""By how much a limb that can't reach its target may be off once keys keep what they can, in its lengths, as far as it
misses that: at the limits of its joints Blender's IK only comes near to the closest pose."""

NOTICED_TURN = 2.0 * KEPT_TURN
"""By how much bones may be turned, in radians, before that is said."""


class Sighting(NamedTuple):
    """The poses that IK constraints give limbs in some frames of an action."""

    ob: ArmatureObject | None  # the rig whose action that is; None for what animates all of them now
    action: tuple[str, int]  # its full name, as one that is brought back is another data-block; and its slot
    frames: Sequence[int] | None  # None for the frame as it is, unkeyed changes included
    cycle: tuple[str, str] | None  # how they repeat
    recording: Recording
    joints: dict[LimbRef, Array]  # (frames, joints, 3): knees and tail, in the armature and in lengths of the limb
    poses: dict[LimbRef, LimbPoses]  # how the bones stand, there and halfway between
    above: dict[LimbRef, dict[str, Array]]  # of the bones above that they turn as well, the same: (frames, 4)


class Miss(NamedTuple):
    """How far joints of a limb are off at most, in lengths of the limb, and by how much bones are turned off, in
    radians; how far joints are off beyond what `OUT_OF_REACH` allows, and in which frame that is most."""

    off: float
    turn: float
    beyond: float
    frame: int

    def is_over(self, tolerance: float) -> bool:
        """Whether keys have to keep the limb where it was."""
        return not (self.off <= tolerance and self.turn <= KEPT_TURN)

    def with_more(self, other: Miss) -> Miss:
        """The worse of two."""
        worse = self if self.beyond >= other.beyond else other
        return worse._replace(off=max(self.off, other.off), turn=max(self.turn, other.turn))


def sightings_of(whole: Task, plans: Sequence[Conversion], all_actions: bool) -> Steps[list[Sighting]]:
    """Where constraints have limbs in this frame, and in every frame of all that animates them now, and of other
    actions."""
    sightings = [(yield from _sighting(whole, plans, None, None, None))]
    others = dict.fromkeys((plan.name[0], clip) for plan in plans for clip in plan.others if all_actions)
    for ob, clip in [(None, None), *others]:
        moved = [plan for plan in plans if clip is None or (plan.name[0] == ob and clip in plan.others)]
        with using_clip(ob, clip):
            frames = frames_of(whole.context, moved_by(plan.solvers.limb for plan in moved))
            if frames.at:
                sightings.append((yield from _sighting(whole, moved, ob, clip, frames)))
    return sightings


def _sighting(
    whole: Task, plans: Sequence[Conversion], ob: Any, clip: Clip | None, looked_at: Frames | None
) -> Steps[Sighting]:
    frames = looked_at and looked_at.at
    context, progress, times = whole.context, whole.next_progress() if frames else float, sampling_of(frames).frames
    bones = [bone for plan in plans for bone in bones_to_read(plan.solvers.limb, plan.solvers.segments)]
    above = {plan.name: plan.solvers.above for plan in plans}
    bones += [one for of_limb in above.values() for bone in of_limb for one in (bone, bone.parent) if one]
    follow: Any = [
        ref
        for plan in plans
        for constraint in plan.solvers.constraints
        for ref in follow_of_constraint(constraint).pairs
    ]

    @contextmanager
    def fully() -> Iterator[None]:
        with ExitStack() as stack:
            for plan in plans:
                if plan.solvers.acting.influence < 1.0:
                    stack.enter_context(at_full_influence(context, plan.solvers))
            yield

    channels = [rotation_channel_of((bone.id_data, bone.name)) for of_limb in above.values() for bone in of_limb]
    recording = yield from record(context, [], times, Asked(follow, bones, channels), progress=progress, within=fully)
    joints = {plan.name: _joints_seen(recording, plan.solvers.limb, len(plan.solvers.segments)) for plan in plans}
    poses = {plan.name: evaluated_poses(recording, plan.solvers.limb, plan.solvers.segments) for plan in plans}
    return Sighting(
        ob=ob,
        action=(clip.action.name_full, clip.slot_handle) if clip else ("", 0),
        frames=frames,
        cycle=looked_at and looked_at.cycle,
        recording=recording,
        joints=joints,
        poses=poses,
        above={
            name: {bone.name: evaluated_turn(recording, bone) for bone in of_limb} for name, of_limb in above.items()
        },
    )


def _joints_seen(recording: Recording, limb: PoseBone, count: int) -> Array:
    """Knees and tail of a bone and those above it, so many in all, in the armature and in lengths of the limb, (frames,
    count, 3)."""
    ob, bones = limb.id_data, hierarchy(limb, count)
    places = [poses_of(recording, ob, bone.name)[:, :3, 3] for bone in bones[1:]]
    tail = np.broadcast_to(tip_of(limb, "TAIL"), (recording.frames, 3))
    joints = np.stack([*places, applied(poses_of(recording, ob, limb.name), tail)], axis=1)
    in_lengths: Array = joints / _length_of(limb, count)
    return in_lengths


def _length_of(limb: PoseBone, count: int) -> float:
    """The length of so many bones, a limb's last and those above it."""
    return sum(bone.bone.length for bone in hierarchy(limb, count))


def kept_misses(
    whole: Task, sighting: Sighting, refs: Collection[LimbRef], tolerance: float
) -> Steps[dict[LimbRef, Miss]]:
    """Key swivel, flip and ankle of limbs that would else move by more than a tolerance from where they were; returns
    how far each is off after that."""
    names, keyed = [name for name in sighting.joints if name in refs], set[LimbRef]()
    frames, rows = sighting.frames, sampling_of(sighting.frames).rows
    task, known = (
        Task(whole.context, frames, tolerance, stays=True, cycle=sighting.cycle),
        sighting.recording if frames else None,
    )
    action = action_named(sighting.action[0])
    with using_clip(sighting.ob, action and Clip(action, sighting.action[1])):
        exact = Task(
            whole.context, frames, min(tolerance, ON_TARGET), stays=True, cycle=sighting.cycle
        )  # hinges on them leave no plane
        show_turns(exact, sighting.recording, {name: sighting.above[name] for name in names})
        while True:
            recording = yield from _limbs_recorded(whole, names, sampling_of(frames).frames, known)
            misses = _misses(whole.context, recording, sighting, rows)
            is_moved = {name: bool(frames) and name not in keyed and misses[name].is_over(tolerance) for name in names}
            if frames and recording.is_computed and not any(is_moved.values()):
                shown = yield from _limbs_recorded(whole, names, frames[::CHECKED])
                for name, miss in _misses(whole.context, shown, sighting, rows[::CHECKED]).items():
                    misses[name] = misses[name].with_more(miss)
                    is_moved[name] = name not in keyed and miss.is_over(tolerance)
            moved = [ob.pose.bones[name] for (ob, name), is_so in is_moved.items() if is_so]
            if not moved:
                return misses
            yield from show_in_ik(task, moved, sighting.poses, moves_controls=False, known=recording)
            keyed.update(ref for ref, is_so in is_moved.items() if is_so)


def _limbs_recorded(
    whole: Task, names: Sequence[LimbRef], times: Sequence[float] | None, known: Recording | None = None
) -> Steps[Recording]:
    """Limbs by IK in some frames, by what is ``known`` of these, or by one more pass."""
    limbs = [ob.pose.bones[name] for ob, name in names]
    sliders = [channel for limb in limbs for channel in part_of_ik(limb, False).channels]
    progress = whole.next_progress() if times and not known else float
    return record(whole.context, limbs, times, Asked(channels=sliders, known=known), 1.0, progress)


def _misses(context: Context, recording: Recording, sighting: Sighting, rows: Array) -> dict[LimbRef, Miss]:
    """How limbs are off how they were seen in these rows, by IK as Blender evaluates them; as the solver has them if
    that was not shown, and live limbs while *Live* is off."""
    misses = dict[LimbRef, Miss]()
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        solved_turns, solved = solved_poses(limbs, {**limbs.sliders, "influence": np.ones_like(limbs.own_length)})
        for row, limb in enumerate(rig.limbs):
            before, turns_before = sighting.joints[rig.object, limb.name], sighting.poses[rig.object, limb.name].turns
            into, length = inverted_all(worlds_of(recording, rig.object)), _length_of(limb, before.shape[1])
            target = applied(into, limbs.target[:, row]) / length
            if not recording.is_computed and (mode_of(limb) == "RIG" or is_live(scene_of(context))):
                joints = _joints_seen(recording, limb, before.shape[1])
                turns = evaluated_turns(recording, limb, segments_of(limb))
            else:
                turns = solved_turns[:, row, : turns_before.shape[1]]
                joints = applied(into[:, None], solved[:, row, : before.shape[1]]) / length
            if recording.frames == sighting.recording.frames:
                joints, turns, target = joints[rows], turns[rows], target[rows]
            off = np.abs(joints - before[rows]).reshape(len(rows), -1).max(axis=1)
            beyond = off - np.minimum(np.linalg.norm(joints[:, -1] - target, axis=1), OUT_OF_REACH)
            worst = int(np.argmax(np.where(np.isnan(beyond), inf, beyond)))
            times = sampling_of(sighting.frames).frames
            frame = int(times[rows[worst]]) if times else scene_of(context).frame_current
            turn = angle_between(tuple(np.moveaxis(turns, -1, 0)), tuple(np.moveaxis(turns_before[rows], -1, 0)))
            misses[rig.object, limb.name] = Miss(float(off.max()), float(turn.max()), float(beyond[worst]), frame)
    return misses
