"""Chains posed by arrays, a slab of frames at a time: what they follow is gathered, then all of them are solved."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ...live import solve_now
from ...live.frame import Frame
from ...rig.data.access import scene_of, scene_settings, view_layer_of
from ...rig.data.dependencies import Carrier
from ..samples import Joints, empty_sample
from ..scope import curve_times, slabs
from .courses.curves import SampledChannels, Sampler, basis
from .courses.evaluation import ALL, Evaluated, Route, evaluate
from .courses.gathering import Course, Places
from .results import Solved, joined, sampled
from .routes import Routes
from .subjects import Reader, Subject


def by_arrays(
    context: Context, lowers: list[PoseBone], frames: NDArray[Any], allowed: Route = ALL
) -> Generator[int, None, list[Solved | None]]:
    """What chains do over frames, in their order, None for those that arrays can't pose; yields the frames evaluated.

    Raises nothing, and changes nothing but the limbs' pose in the frame at which the scene is.
    """
    routes = Routes(_reader(context, lowers), allowed)
    subjects = [routes.subject(lower) for lower in lowers]
    evaluated = yield from _evaluated(context, routes, frames)
    found: dict[Carrier, list[Solved]] = {}
    if routes.subjects:
        with Sampler(curve_times(scene_of(context), frames)) as sampler:
            for rows in slabs(len(frames), len(routes.subjects)):
                places = Places(routes, SampledChannels(sampler, rows), evaluated, rows)
                for key, solved in _solve(routes, places, rows.stop - rows.start).items():
                    found.setdefault(key, []).append(solved)
    keys = [(subject.object, subject.lower.name) if subject else None for subject in subjects]
    return [joined(found[key]) if key else None for key in keys]


def joints_by_arrays(
    context: Context, lowers: list[PoseBone], frames: NDArray[Any], allowed: Route
) -> Generator[int, None, list[Joints | None]]:
    """Where the joints of limbs are over frames whose chains are off, in their order, None for those of which arrays
    can't tell by the routes ``allowed``; yields the frames evaluated. Raises nothing."""
    routes = Routes(_reader(context, lowers), allowed)
    limbs = [lower if routes.follow(lower.id_data, lower.name) else None for lower in lowers]
    evaluated = yield from _evaluated(context, routes, frames)
    found: list[Joints | None] = [empty_sample(lower, len(frames)).joints if lower else None for lower in limbs]
    with Sampler(curve_times(scene_of(context), frames)) as sampler:
        for rows in slabs(len(frames), len(lowers)):
            places = Places(routes, SampledChannels(sampler, rows), evaluated, rows)
            for lower, joints in zip(limbs, found, strict=True):
                if lower and joints:
                    joints.knee[rows], joints.tip[rows] = places.ends(lower.id_data, lower.name)
    return found


def _evaluated(context: Context, routes: Routes, frames: NDArray[Any]) -> Generator[int, None, dict[Route, Evaluated]]:
    """All that must be evaluated, by its route."""
    found: dict[Route, Evaluated] = {}
    for route, wanted in routes.wanted.items():
        found[route] = yield from evaluate(context, wanted, frames, route, routes.dependencies)
    return found


def _reader(context: Context, lowers: list[PoseBone]) -> Reader:
    """What reads the chains, once all of the animator's own pose is known."""
    if scene_settings(scene_of(context)).live:
        view_layer_of(context).update()
    else:
        solve_now(context)
    depsgraph = context.evaluated_depsgraph_get()
    return Reader(depsgraph, Frame(lowers[0].id_data.evaluated_get(depsgraph), depsgraph, False).shows)


def _solve(routes: Routes, places: Places, count: int) -> dict[Carrier, Solved]:
    """All chains over some frames, those first that others hang on."""
    found: dict[Carrier, Solved] = {}
    for level in routes.levels():
        courses = [places.course(subject) for subject in level]
        for subject, course, solved in zip(level, courses, sampled(level, courses, count), strict=True):
            key = (subject.object, subject.lower.name)
            solved.sample.way = routes.way(key)
            known = [found[other].is_known for other in routes.needs[key]]
            are_known = np.broadcast_arrays(solved.is_known, places.is_free(subject), *known)
            found[key] = solved._replace(is_known=np.all(are_known, axis=0))
            if routes.is_needed(key):
                _note(places, subject, course, solved)
    return found


def _note(places: Places, subject: Subject, course: Course, solved: Solved) -> None:
    """Keep in mind how a limb stands, for what hangs on it."""
    channels = {(track.bone, track.channel): track.values for track in solved.sample.tracks}
    for own, scale, location in zip((subject.upper, subject.lower), course.scales, course.locations, strict=True):
        turned = channels[own.name, own.channel].astype(float)
        lengthened = channels.get((own.name, "scale"), scale).astype(float)
        places.note(subject.object, own.name, basis(own.mode, location, turned, lengthened))
