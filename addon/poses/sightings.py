"""Where Blender's own IK constraints have limbs, in this frame and in all frames of what animates them; and how far the
limbs that are made of them are from that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.animation import using_action
from ..blender.dependencies import Dependencies
from ..blender.types import ArmatureObject, scene_of
from ..finding.constraints import at_full_influence
from ..limb.storage import hierarchy, is_live, mode_of
from ..limb.tips import tip_of
from ..solver.matrices import applied, inverted_all
from .channels import Channel
from .converted import Conversion
from .keeping import frames_of
from .matching import LimbName, LimbPoses, poses_shown, solved_joints
from .over_frames import show_in_ik
from .reading import Recording, limbs_read, poses_of, record, worlds_of
from .writing import Task

Array = NDArray[Any]

KEPT = 5e-4
"""How far keys that keep limbs may have joints off for the sake of fewer keys, in lengths of the limb."""


class Sighting(NamedTuple):
    """Where constraints have limbs in some frames of an action."""

    ob: ArmatureObject | None  # the rig whose action that is; None for what animates all of them now
    action: Any
    frames: Sequence[int] | None  # None for the frame as it is, unkeyed changes included
    joints: dict[LimbName, Array]  # (frames, joints, 3): knees and tail, in the armature and in lengths of the limb
    poses: dict[LimbName, LimbPoses]  # how the bones stand


def sightings_of(whole: Task, plans: Sequence[Conversion], all_actions: bool) -> list[Sighting]:
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
    bones = [bone for plan in plans for bone in plan.solvers.bones]
    refs = [(bone.id_data, bone.name) for bone in (*bones, *(bone.parent for bone in bones if bone.parent))]

    @contextmanager
    def fully() -> Iterator[None]:
        with ExitStack() as stack:
            for plan in plans:
                if plan.solvers.acting.influence < 1.0:
                    stack.enter_context(at_full_influence(context, plan.solvers))
            yield

    firsts = [plan.solvers.bones[0] for plan in plans]
    locations = [Channel.of_bone(first.id_data, first.name, "location") for first in firsts]
    recording = record(context, [], frames, refs, locations, progress=progress, within=fully)
    joints = {plan.name: _joints_seen(recording, plan.solvers.last, len(plan.solvers.segments)) for plan in plans}
    poses = {plan.name: poses_shown(recording, plan.solvers.last, plan.solvers.segments) for plan in plans}
    return Sighting(ob, action, frames, joints, poses)


def _joints_seen(recording: Recording, last: PoseBone, count: int) -> Array:
    """Knees and tail of a bone and those above it, so many in all, in the armature and in lengths of the limb, (frames,
    count, 3)."""
    ob, bones = last.id_data, hierarchy(last, count)
    places = [poses_of(recording, ob, bone.name)[:, :3, 3] for bone in bones[1:]]
    tail = np.broadcast_to(tip_of(last, "TAIL"), (recording.frames, 3))
    joints = np.stack([*places, applied(poses_of(recording, ob, last.name), tail)], axis=1)
    in_lengths: Array = joints / sum(bone.bone.length for bone in bones)
    return in_lengths


def kept_misses(whole: Task, sighting: Sighting, tolerance: float) -> dict[LimbName, tuple[float, int]]:
    """Give limbs keys of swivel, flip and ankle where they would else move by more than a tolerance from where they
    were seen; `_misses` after that."""
    with using_action(sighting.ob, sighting.action):
        misses = _misses(whole, sighting, [*sighting.joints])
        moved = [name for name, (off, _) in misses.items() if not off <= tolerance]
        if moved and sighting.frames is not None:
            kept, progress = min(KEPT, 0.25 * tolerance), whole.next_share()
            task = Task(whole.context, sighting.frames, kept, stays=True, progress=progress)
            lasts = [ob.pose.bones[name] for ob, name in moved]
            show_in_ik(task, lasts, sighting.poses, moves_controls=False)
            misses |= _misses(whole, sighting, moved)
    return misses


def _misses(whole: Task, sighting: Sighting, names: Sequence[LimbName]) -> dict[LimbName, tuple[float, int]]:
    """How far knees and tip of limbs are at most from where they were seen, in lengths of the limb, and in which
    frame, by IK as Blender evaluates them; of live limbs while *Live* is off, where they would be."""
    context, frames, lasts = whole.context, sighting.frames, [ob.pose.bones[name] for ob, name in names]
    progress = whole.next_share() if frames else None
    recording = record(context, lasts, frames, influence=1.0, progress=progress)
    misses: dict[LimbName, tuple[float, int]] = {}
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        solved = solved_joints(limbs, {**limbs.sliders, "influence": np.ones_like(limbs.own_length)})
        for row, last in enumerate(rig.lasts):
            before = sighting.joints[rig.object, last.name]
            if mode_of(last) == "RIG" or is_live(scene_of(context)):
                joints = _joints_seen(recording, last, before.shape[1])
            else:
                into = inverted_all(worlds_of(recording, rig.object))
                size = sum(rig.table.limbs[row].geometry.lengths)
                joints = applied(into[:, None], solved[:, row, : before.shape[1]]) / size
            off = np.abs(joints - before).reshape(len(joints), -1).max(axis=1)
            worst = int(np.argmax(np.where(np.isnan(off), inf, off)))
            frame = scene_of(context).frame_current if frames is None else frames[worst]
            misses[rig.object, last.name] = (float(off[worst]), frame)
    return misses
