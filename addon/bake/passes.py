"""Going through the frames as often as limbs need it.

What live limbs hang on does not hang on them as a rule: then once is enough. Those that hang on another come after it,
and so do limbs on the rig and feet that follow a target: by then the others have keys on trial, so that Blender itself
says where everything is. In the shot, a last time shows whether all is there as the keys play.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.types import scene_of
from ..limb.settings import SLIDER
from ..limb.tasks.feet import foot_follows
from .keys import Sheet, path_to_channel, stripped, trial
from .recording import Recording, new_recording, readers_of
from .results import Course, Key, bones_of, bones_read, courses_of
from .stepping import step_apart, step_shot, times_of
from .way import Way, is_live, levels_among, strange_constraints

Passes = Generator[float, None, dict[Key, Course]]


def go_through(context: Context, lasts: Sequence[PoseBone], frames: Sequence[float], way: Way) -> Passes:
    """What limbs do over frames. Gives the part that is done."""
    levels = levels_among(lasts, way.carriers)
    again = [last for last in lasts if not is_live(last) or not way.is_apart or _is_seen_only(last)]
    total = len(levels) + bool(again)
    known: dict[Key, Course] = {}
    with ExitStack() as stack:
        sheets: dict[Any, Sheet] = {}
        if total > 1:
            rigs = dict.fromkeys(last.id_data for level in levels for last in level)
            sheets = {ob: stack.enter_context(trial(context, ob)) for ob in rigs}
        elif levels and way.is_apart:
            stack.enter_context(stripped(context, _unneeded(levels[0], way), len(frames)))
        for n, level in enumerate(levels):
            recording = new_recording(level, len(frames), bones_read, way.is_apart)
            for done in _step(context, recording, frames, way):
                yield (n + done) / total
            found = courses_of(recording, None)
            known |= found
            if sheets:
                _write(found.values(), sheets, times_of(scene_of(context), frames))
        if again:
            recording = new_recording(again, len(frames), bones_read, way.is_apart)
            for done in _step(context, recording, frames, way):
                yield (len(levels) + done) / total
            played = courses_of(recording, known)
            is_so = way.is_apart or all(_is_there(known.get(key), course) for key, course in played.items())
            known |= played
    if again and not is_so:
        recording = new_recording(lasts, len(frames), bones_read, False)
        yield from step_shot(context, frames, lambda evaluated_of: readers_of(recording, evaluated_of), is_live=True)
        known = courses_of(recording, {})
    return known


def _is_seen_only(last: PoseBone) -> bool:
    """Whether only Blender knows where a live limb is in the end, or its foot."""
    return foot_follows(last) or bool(strange_constraints(last))


def _step(context: Context, recording: Recording, frames: Sequence[float], way: Way) -> Iterator[float]:
    def reading(evaluated_of: Any) -> Any:
        return readers_of(recording, evaluated_of)

    if way.is_apart:
        return step_apart(context, recording.worlds, frames, reading)
    return step_shot(context, frames, reading, is_live=False)


def _write(courses: Iterable[Course], sheets: Mapping[Any, Sheet], times: Any) -> None:
    for course in courses:
        for track in course.tracks:
            sheets[course.last.id_data].write(path_to_channel(track.bone, track.channel), times, track.values)


def _is_there(before: Course | None, now: Course) -> bool:
    """Whether a target is where it was before the limb had keys."""
    if before is None:
        return True
    off = np.linalg.norm(before.targets - now.targets, axis=1)
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
