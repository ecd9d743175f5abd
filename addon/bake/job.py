"""A bake from beginning to end: check, go through the frames, reduce, write."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.action_writer import ActionWriter
from ..blender.editing import mute_drivers
from ..blender.stepping import times_of
from ..blender.transaction import all_or_nothing
from ..blender.types import scene_of
from ..limb.storage import group_of, mode_of, path_to_influence
from ..limb.whole import concerned
from ..limb.words import Refused
from ..live import refresh
from ..tasks.removing import remove
from .driven import driver_of_influence, influence_outside
from .game import bake_for_game
from .passes import go_through
from .reduction import Keys, keys_of
from .request import Baked, Report, Request, check
from .results import Course
from .way import Way, way_of

SHEARED = "Between FK and IK '{bone}' is sheared, as keys can't be: it is a little different there"

MUTED = "The driver of IK Influence of '{bone}' is muted now: keys say what it said"


def bake(context: Context, request: Request, progress: Callable[[float], None] | None = None) -> Report:
    """Turn what limbs do into keys. ``progress`` is told the part done, once a frame, and may raise to cancel: then the
    file is as it was. Raises `Refused` before anything is changed."""
    work = steps(context, request)
    try:
        while True:
            done = next(work)
            if progress:
                progress(done)
    except StopIteration as end:
        report: Report = end.value
        return report
    finally:
        work.close()


def steps(context: Context, request: Request) -> Generator[float, None, Report]:
    """The same for a window, which has to be drawn meanwhile: a step for each frame, of which the part done is given;
    closed before the end, the file is as it was."""
    lasts, notes = check(request)
    with all_or_nothing(context, concerned(last.id_data for last in lasts)):
        report = yield from _steps(context, request, lasts, notes)
    return report


def _steps(
    context: Context, request: Request, lasts: list[PoseBone], notes: list[Refused]
) -> Generator[float, None, Report]:
    modes = [mode_of(last) for last in lasts]
    names = [(last.id_data.name, last.name) for last in lasts]
    way = way_of(lasts)
    if request.for_game:
        courses, more = yield from bake_for_game(context, lasts, request, way)
        notes += more
        keys = [Keys(np.arange(len(request.frames)), None, 0.0)] * len(courses)
    else:
        driven = [last.name for last in lasts if driver_of_influence(last) and not request.remove]
        courses, keys = yield from _bake(context, lasts, request, way)
        notes += [Refused(MUTED, bone=name) for name in driven]
    sheared = [course.last.name for course in courses if course.is_sheared and not request.for_game]
    notes += [Refused(SHEARED, bone=name) for name in sheared]
    rows = zip(names, modes, courses, keys, strict=True)
    limbs = [_told(name, mode, way, course, found, request) for name, mode, course, found in rows]
    unreached = np.any([course.is_missed(request.max_miss) for course in courses], axis=0)
    return Report(request.frames, limbs, notes, int(unreached.sum()))


def _bake(
    context: Context, lasts: list[PoseBone], request: Request, way: Way
) -> Generator[float, None, tuple[list[Course], list[Keys]]]:
    found = yield from go_through(context, lasts, request.frames, way)
    courses = [found[last.id_data, last.name] for last in lasts]
    driven = {} if request.remove else (yield from influence_outside(context, lasts, request.frames, way))
    times = times_of(scene_of(context), request.frames)
    keys = [keys_of(course, times, request.tolerance) for course in courses]
    writers: dict[Any, ActionWriter] = {}
    for course, (which, slopes, _) in zip(courses, keys, strict=True):
        ob, influence = course.last.id_data, path_to_influence(course.last.name)
        writer = writers.get(ob) or writers.setdefault(ob, ActionWriter(context, ob, request.new_action))
        outside = driven.get((ob, course.last.name))
        is_fk_elsewhere = outside is not None or influence in writer.paths
        for i, track in enumerate(course.tracks):
            slope = None if slopes is None else slopes[i][which]
            writer.write(track.path, times[which], track.values[which], slope, is_fk_elsewhere)
        if outside:
            writer.fold(influence, times, outside.times, outside.values)
        elif not request.remove:
            writer.hold(influence, times, 0.0, course.influence[0])
    mute_drivers(context, [each.driver for each in driven.values()])
    for writer in writers.values():
        writer.show(context)
    if request.remove:
        for course in courses:
            _keep_aligned(course)
        remove(context, lasts)
        refresh(context)
    return courses, keys


def _keep_aligned(course: Course) -> None:
    """Leave what bones inherit of scale as it is, if the scale of a limb that goes is keyed."""
    group = group_of(course.last)
    if group and "aligned" in group and any(track.channel == "scale" for track in course.tracks):
        del group["aligned"]


def _told(name: tuple[str, str], mode: str, way: Way, course: Course, keys: Keys, request: Request) -> Baked:
    """What became of a limb, in plain numbers."""
    ik, frames = course.misses[course.influence >= 1.0], request.frames
    worst = float(ik.max()) if len(ik) and np.isfinite(ik).all() else None
    unreached = int(course.is_missed(request.max_miss).sum())
    found, how = (unreached, worst, len(keys.which), keys.error), "solved" if way.is_apart else "played"
    return Baked(name[0], name[1], mode, how, float(frames[0]), float(frames[-1]), len(frames), *found)
