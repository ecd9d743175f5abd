"""Where Blender's own IK constraints have limbs, in this frame and in all frames of what animates them; and how far the
limbs that are made of them are from that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.animation import Clip, action_named, using_clip
from ..blender.stepping import Steps
from ..blender.types import ArmatureObject, scene_of
from ..finding.constraints import at_full_influence
from ..limb.follow import follow_of_constraint
from ..limb.storage import hierarchy, is_live, mode_of, segments_of
from ..limb.tips import tip_of
from ..limb.tolerances import KEPT_TURN, ON_TARGET
from ..motion.frames import Frames, frames_of, moved_by
from ..motion.reading import Recording, bones_to_read, limbs_read, poses_of, worlds_of
from ..motion.recording import record
from ..motion.thinning import CHECKED, sampling_of
from ..motion.writing import Task
from ..rigging.description import LimbRef
from ..solver.matrices import applied, inverted_all
from .converted import Conversion
from .inverse import angle_between
from .matching import solved_poses
from .over_frames import show_in_ik, show_turns
from .parts import part_of_ik, rotation_channel_of
from .standing import LimbPoses, evaluated_poses, evaluated_turn, evaluated_turns

Array = NDArray[Any]

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
    recording = yield from record(context, [], times, follow, channels, progress=progress, within=fully, bones=bones)
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
    return record(whole.context, limbs, times, channels=sliders, influence=1.0, progress=progress, known=known)


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
