"""Going through the frames as often as limbs need it.

What live limbs hang on does not hang on them as a rule: then once is enough. Those that hang on another come after it,
and so do limbs on the rig and feet that follow a target: by then the others have keys on trial, so that Blender itself
says where everything is. In the shot, some frames show at last whether all is there as the keys play.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.action_writer import ActionWriter, trial
from ..blender.animation import animated_paths, curves_of
from ..blender.stepping import times_of
from ..blender.types import scene_of, split_path
from ..limb.settings import SLIDER
from ..limb.storage import bones_of_limb, has_slider, path_to_influence
from ..poses.reading import Recording, new_recording, readers_of
from ..rigging.feet import foot_follows
from .frames import Step, shot, step_apart
from .method import Method, is_live_limb, levels_among, strange_constraints
from .results import (
    Key,
    LimbTrajectory,
    bones_to_bake,
    completed_trajectories,
    evaluated_trajectories,
    solved_trajectories,
)

LOOKS = 16
"""In so many frames of the shot it is looked whether targets are where they were before limbs had keys: what Python
does may depend on these."""

WORTH = 5_000
"""So many curves times frames take as long to evaluate as to be copied and left out."""


def go_through(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float], method: Method
) -> Generator[float, None, dict[Key, LimbTrajectory]]:
    """What limbs do over frames. Gives the part that is done."""
    levels = levels_among(method.depends_on)
    unsolved = [limb for limb in limbs if not is_live_limb(limb) or foot_follows(limb) or strange_constraints(limb)]
    with ExitStack() as stack:
        step = partial(step_apart, context) if method.is_solved else stack.enter_context(shot(context, is_live=False))
        writers: dict[Any, ActionWriter] = {}
        if len(levels) + bool(unsolved) > 1 or not method.is_solved:
            rigs = dict.fromkeys(limb.id_data for level in levels for limb in level)
            writers = {ob: stack.enter_context(trial(context, ob)) for ob in rigs}
        else:
            _leave_out(context, limbs, frames, method, stack)
        passes = len(levels) + bool(unsolved)
        solved: dict[Key, LimbTrajectory] = {}
        for done, level in enumerate(levels):
            recording = yield from _record(level, frames, method, step, done, passes)
            trajectories = solved_trajectories(recording)
            solved |= trajectories
            _try(trajectories.values(), writers, times_of(scene_of(context), frames))
        result = solved
        if unsolved:
            recording = yield from _record(unsolved, frames, method, step, len(levels), passes)
            result = solved | completed_trajectories(recording, solved)
        if method.is_solved or not levels or (yield from _are_targets_unmoved(solved, frames, step)):
            return result
    return (yield from _as_played(context, limbs, frames))


def _are_targets_unmoved(
    solved: dict[Key, LimbTrajectory], frames: Sequence[float], step: Step
) -> Generator[float, None, bool]:
    """Whether the targets of limbs are in some frames where they were before these had keys."""
    some = np.arange(0, len(frames), max(len(frames) // LOOKS, 1))
    recording = new_recording([trajectory.limb for trajectory in solved.values()], len(some), bones_to_bake, False)
    yield from step(recording.worlds, [frames[i] for i in some], partial(readers_of, recording))
    now = completed_trajectories(recording, solved)
    return all(_is_target_unmoved(solved[key], now[key], some) for key in now)


def _as_played(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float]
) -> Generator[float, None, dict[Key, LimbTrajectory]]:
    """What limbs do as the shot plays."""
    recording = new_recording(limbs, len(frames), bones_to_bake, False)
    with shot(context, is_live=True) as step:
        yield from step(recording.worlds, frames, partial(readers_of, recording))
    return evaluated_trajectories(recording)


def _record(
    limbs: Sequence[PoseBone], frames: Sequence[float], method: Method, step: Step, done: int, passes: int
) -> Generator[float, None, Recording]:
    """Go through all frames for some limbs, after so many of all passes."""
    recording = new_recording(limbs, len(frames), bones_to_bake, method.is_solved)
    for part_done in step(recording.worlds, frames, partial(readers_of, recording)):
        yield (done + part_done) / passes
    return recording


def _leave_out(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float], method: Method, stack: ExitStack
) -> None:
    """Take the curves that nobody needs to know out of a copy of each action, where that saves time."""
    for ob, paths in _unneeded(limbs, method):
        if len(paths) * len(frames) > WORTH:
            stack.enter_context(trial(context, ob)).remove(paths)


def _try(trajectories: Iterable[LimbTrajectory], writers: Mapping[Any, ActionWriter], times: Any) -> None:
    """Key limbs on trial, where a later pass sees them."""
    for trajectory in trajectories:
        if trajectory.limb.id_data in writers:
            for track in trajectory.tracks:
                writers[trajectory.limb.id_data].write(track.path, times, track.values)


def _is_target_unmoved(before: LimbTrajectory, now: LimbTrajectory, frames: Any) -> bool:
    """Whether a target is where it was before limbs had keys."""
    off = np.linalg.norm(before.targets[frames] - now.targets, axis=1)
    return bool((off <= now.slack).all())


def _unneeded(limbs: Sequence[PoseBone], method: Method) -> Iterator[tuple[Any, set[str]]]:
    """The data paths of rigs that act and nobody needs to know: channels of bones that limbs don't hang on, and those
    that limbs turn which are all IK."""
    for ob in dict.fromkeys(limb.id_data for limb in limbs):
        split = {curve.data_path: split_path(curve.data_path) for curve in curves_of(ob) if not curve.mute}
        animated, needed = animated_paths(ob), {bone for rig, bone in method.depends_on if rig == ob}
        limb_bones: set[str] = set()
        for limb in limbs:
            is_ik = limb[SLIDER["influence"].key] >= 1.0 and path_to_influence(limb.name) not in animated
            if limb.id_data == ob and is_ik and not has_slider(limb, "stretch"):
                limb_bones |= {bone.name for bone in bones_of_limb(limb)}
                needed -= limb_bones if is_live_limb(limb) else set()
        yield ob, {path for path, (bone, channel) in split.items() if _is_unneeded(bone, channel, needed, limb_bones)}


def _is_unneeded(bone: str, channel: str, needed: set[str], limb_bones: set[str]) -> bool:
    if bone and bone not in needed:
        return channel.startswith(("location", "rotation", "scale"))
    return bone in limb_bones and channel.startswith("rotation")
