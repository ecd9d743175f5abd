"""Going through the frames as often as limbs need it.

What live limbs hang on does not hang on them as a rule: then once is enough. Those that hang on another come after it,
and so do limbs on the rig and feet that follow a target: by then the others have keys on trial, so that Blender itself
says where everything is. In the shot, a last time shows whether all is there as the keys play.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.types import scene_of
from ..limb.settings import SLIDER
from ..limb.tasks.feet import foot_follows
from .keys import Sheet, path_to_channel, stripped, trial
from .recording import new_recording, readers_of
from .results import Course, Key, bones_of, bones_read, courses_of
from .stepping import shot, step_apart, times_of
from .way import Way, is_live, levels_among, strange_constraints

Passes = Generator[float, None, dict[Key, Course]]


def go_through(context: Context, lasts: Sequence[PoseBone], frames: Sequence[float], way: Way) -> Passes:
    """What limbs do over frames. Gives the part that is done."""
    levels = levels_among(lasts, way.carriers)
    again = [last for last in lasts if not is_live(last) or _is_seen_only(last)]
    known: dict[Key, Course] = {}
    with ExitStack() as stack:
        step = partial(step_apart, context) if way.is_apart else stack.enter_context(shot(context, is_live=False))
        sheets: dict[Any, Sheet] = {}
        if len(levels) + bool(again) > 1 or not way.is_apart:
            rigs = dict.fromkeys(last.id_data for level in levels for last in level)
            sheets = {ob: stack.enter_context(trial(context, ob)) for ob in rigs}
        elif levels:
            stack.enter_context(stripped(context, _unneeded(levels[0], way), len(frames)))
        total = len(levels) + bool(again)
        for n, level in enumerate([*levels, *([again] if again else [])]):
            recording = new_recording(level, len(frames), bones_read, way.is_apart)
            for done in step(recording.worlds, frames, partial(readers_of, recording)):
                yield (n + done) / total
            found = courses_of(recording, None if n < len(levels) else known)
            known |= found
            if sheets and n < len(levels):
                _write(found.values(), sheets, times_of(scene_of(context), frames))
        is_so = way.is_apart or not levels
        if not is_so:
            some = np.arange(0, len(frames), max(len(frames) // LOOKS, 1))
            recording = new_recording(lasts, len(some), bones_read, False)
            yield from step(recording.worlds, [frames[i] for i in some], partial(readers_of, recording))
            is_so = all(_is_there(known[key], each, some) for key, each in courses_of(recording, known).items())
    if not is_so:
        recording = new_recording(lasts, len(frames), bones_read, False)
        with shot(context, is_live=True) as step:
            yield from step(recording.worlds, frames, partial(readers_of, recording))
        known = courses_of(recording, {})
    return known


LOOKS = 16
"""In so many frames of the shot it is looked whether targets are where they were before limbs had keys: what Python
does may depend on these."""


def _is_seen_only(last: PoseBone) -> bool:
    """Whether only Blender knows where a live limb is in the end, or its foot."""
    return foot_follows(last) or bool(strange_constraints(last))


def _write(courses: Iterable[Course], sheets: Mapping[Any, Sheet], times: Any) -> None:
    for course in courses:
        for track in course.tracks:
            sheets[course.last.id_data].write(path_to_channel(track.bone, track.channel), times, track.values)


def _is_there(before: Course, now: Course, frames: Any) -> bool:
    """Whether a target is where it was before limbs had keys."""
    off = np.linalg.norm(before.targets[frames] - now.targets, axis=1)
    return bool((off <= now.slack).all())


def _unneeded(lasts: Sequence[PoseBone], way: Way) -> dict[Any, set[str]]:
    """The bones of rigs whose own channels nobody needs to know while these limbs are all IK, by rig."""
    needed: dict[Any, set[str]] = {}
    for ob, name in way.carriers:
        needed.setdefault(ob, set()).add(name)
    for last in lasts:
        path, has_stretch = SLIDER["influence"].key, SLIDER["stretch"].key in last  # type: ignore[operator]
        if not has_stretch and last[path] >= 1.0:
            needed[last.id_data] -= {bone.name for bone in bones_of(last)}
    return {ob: {bone.name for bone in ob.pose.bones} - needed[ob] for ob in {last.id_data for last in lasts}}
