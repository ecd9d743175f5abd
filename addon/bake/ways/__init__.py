"""How chains are sampled: by arrays where these are exact, chain by chain and frame by frame, and else by stepping the
scene."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ...rig.data.access import runs_on_rig, scene_of
from ..keeping import limbs_kept
from ..samples import Joints, Sampled
from .arrays import by_arrays, joints_by_arrays
from .courses.evaluation import ALL, Route
from .ends import sample_ends
from .playing import plays
from .results import Solved
from .stepping import others_listen, step_joints, step_live

TRIED = Route.CURVES | Route.IN_SCENE
"""The routes by which arrays tell what plays if handlers move nothing that chains need: in a scene of its own these
would be called too."""

__all__ = ["ALL", "by_arrays", "find_joints", "part_of", "sample_chains", "sample_ends"]


def sample_chains(
    context: Context, lowers: list[PoseBone], frames: NDArray[Any], allowed: Route = ALL, may_try: bool = False
) -> Generator[float, None, list[Sampled]]:
    """What chains do over frames; yields the fraction done, and leaves the scene as it was. Raises `Refused`.

    Arrays take the routes that are ``allowed``. If something else may move things as frames change, they take none,
    unless it ``may_try`` keys to see what plays.
    """
    with limbs_kept(scene_of(context)):
        yield 0.0
        solved: list[Any] = yield from _by_arrays(context, lowers, frames, allowed, may_try)
        left = [i for i, each in enumerate(solved) if each is None or not each.is_known.all()]
        samples: list[Any] = [each.sample if each else None for each in solved]
        if left:
            are_left = np.any([~solved[i].is_known if solved[i] else np.ones(len(frames), bool) for i in left], axis=0)
            steps = step_live(context, [lowers[i] for i in left], frames[are_left])
            stepped = yield from part_of(steps, 0.5, 0.5 / are_left.sum())
            for i, sample in zip(left, stepped, strict=True):
                samples[i] = _filled(solved[i], sample, are_left)
    for sample in samples:
        if not sample.is_stretched:
            sample.tracks = [track for track in sample.tracks if track.mode]
    return samples


def _by_arrays(
    context: Context, lowers: list[PoseBone], frames: NDArray[Any], allowed: Route, may_try: bool
) -> Generator[float, None, list[Solved | None]]:
    """What arrays surely tell of chains; None for the others."""
    is_tried, part = others_listen(), 0.5 / len(frames)
    if is_tried:
        if not may_try or any(map(runs_on_rig, lowers)):
            return [None] * len(lowers)
        allowed &= TRIED
    solved: list[Any] = yield from part_of(by_arrays(context, lowers, frames, allowed), 0.0, part)
    if not is_tried:
        return solved
    if not (yield from part_of(plays(context, solved, frames), 0.5, part)):
        return [None] * len(lowers)
    for each in solved:
        each.sample.way += ", then played"
    return solved


def find_joints(context: Context, lowers: list[PoseBone], frames: NDArray[Any]) -> Generator[float, None, list[Joints]]:
    """Where the joints of limbs are over frames whose chains are off, in their order; yields the fraction done."""
    allowed = Route.NONE if others_listen() else ALL
    found = yield from part_of(joints_by_arrays(context, lowers, frames, allowed), 0.0, 0.5 / len(frames))
    left = [lower for lower, joints in zip(lowers, found, strict=True) if joints is None]
    stepped = iter((yield from part_of(step_joints(context, left, frames), 0.5, 0.5 / len(frames))) if left else ())
    return [joints or next(stepped) for joints in found]


def _filled(solved: Solved | None, stepped: Sampled, rows: NDArray[Any]) -> Sampled:
    """A chain with those frames of ``rows`` that arrays do not tell as they were stepped."""
    if solved is None:
        return stepped
    sample, are_left = solved.sample, ~solved.is_known
    tracks = {(track.bone, track.channel): track.values for track in stepped.tracks}
    joints, others = sample.joints, stepped.joints
    pairs = [(joints.knee, others.knee), (joints.tip, others.tip)]
    pairs += [(sample.reach, stepped.reach), (sample.gap, stepped.gap), (sample.influence, stepped.influence)]
    pairs += [(track.values, tracks[track.bone, track.channel]) for track in sample.tracks]
    for values, there in pairs:
        values[are_left] = there[are_left[rows]]
    sample.problem, sample.way = stepped.problem, f"{sample.way}, {are_left.sum()} frames stepped"
    return sample


def part_of(steps: Generator[float, None, Any], start: float, share: float) -> Generator[float, None, Any]:
    """Go through steps that report from 0 to 1 as part of a whole: from ``start`` on, each unit as ``share`` of it. The
    steps are closed with the whole."""
    with closing(steps):
        while True:
            try:
                yield start + share * next(steps)
            except StopIteration as end:
                return end.value
