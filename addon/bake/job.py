"""A bake from beginning to end: check, go through the frames, reduce, write."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.action_writer import ActionWriter
from ..blender.announcing import announce
from ..blender.editing import mute_drivers
from ..blender.stepping import Steps, Stepwise, times_of
from ..blender.transaction import all_or_nothing
from ..blender.types import scene_of
from ..blender.words import Message
from ..limb.storage import group_of, mode_of, path_to_influence
from ..live import refresh
from ..motion.frames import ends_of, moved_by
from ..tasks.removing import STAYING, remove
from .driven import driver_of_influence, influence_outside
from .game import bake_for_game
from .method import Method, closes_loop, method_of
from .passes import go_through
from .reduction import Keys, keys_of, keys_of_loop
from .request import BakedLimb, BakeReport, BakeRequest, check_request, with_halfway_frames
from .results import LimbTrajectory

SHEARED_BY_BLEND = "Between FK and IK '{bone}' is sheared, as keys can't be: it is a little different there"

MUTED = "The driver of IK Influence of '{bone}' is muted now: keys say what it said"


@Stepwise
def bake(context: Context, request: BakeRequest) -> Steps[BakeReport]:
    """Turn what limbs do into keys, a step for each frame. Raises `Refused` before anything is changed."""
    limbs, notes = check_request(request)
    with all_or_nothing(context):
        announce(*(limb.id_data for limb in limbs))  # before frames are gone through
        report = yield from _steps(context, request, limbs, notes)
    return report


def _steps(context: Context, request: BakeRequest, limbs: list[PoseBone], notes: list[Message]) -> Steps[BakeReport]:
    modes = [mode_of(limb) for limb in limbs]
    names = [(limb.id_data.name, limb.name) for limb in limbs]
    method = method_of(limbs)
    if request.for_game:
        trajectories, more = yield from bake_for_game(context, limbs, request, method)
        notes += more
        keys = [Keys(np.arange(len(request.frames)), None, 0.0)] * len(trajectories)
    else:
        driven = [limb.name for limb in limbs if driver_of_influence(limb) and not request.remove]
        trajectories, keys = yield from _bake(context, limbs, request, method, notes)
        notes += [Message(MUTED, bone=name) for name in driven]
    sheared = [trajectory.limb.name for trajectory in trajectories if trajectory.is_sheared and not request.for_game]
    notes += [Message(SHEARED_BY_BLEND, bone=name) for name in sheared]
    rows = zip(names, modes, trajectories, keys, strict=True)
    baked = [_baked(request, method, name, mode, trajectory, kept) for name, mode, trajectory, kept in rows]
    unreached = np.any([trajectory.is_missed(request.max_miss) for trajectory in trajectories], axis=0)
    return BakeReport(request.frames, baked, notes, int(unreached.sum()))


def _bake(
    context: Context, limbs: list[PoseBone], request: BakeRequest, method: Method, notes: list[Message]
) -> Steps[tuple[list[LimbTrajectory], list[Keys]]]:
    is_every = request.tolerance <= 0.0 and len(request.frames) > 1
    loops = [is_every and closes_loop(limb) for limb in limbs]
    frames = with_halfway_frames(request.frames) if any(loops) else request.frames
    by_limb = yield from go_through(context, limbs, frames, method)
    trajectories = [by_limb[limb.id_data, limb.name] for limb in limbs]
    driven = {} if request.remove else (yield from influence_outside(context, limbs, request.frames, method))
    times = times_of(scene_of(context), frames)
    if any(loops):
        all_frames = Keys(np.arange(0, len(times), 2), None, 0.0)
        pairs = zip(trajectories, loops, strict=True)
        keys = [keys_of_loop(trajectory, times) if is_loop else all_frames for trajectory, is_loop in pairs]
    else:
        keys = [keys_of(trajectory, times, request.tolerance) for trajectory in trajectories]
    changing = times_of(scene_of(context), ends_of(context, moved_by(limbs)))
    writers: dict[Any, ActionWriter] = {}
    for trajectory, (which, slopes, _) in zip(trajectories, keys, strict=True):
        ob, influence = trajectory.limb.id_data, path_to_influence(trajectory.limb.name)
        writer = writers.get(ob) or writers.setdefault(ob, ActionWriter(context, ob, request.new_action))
        outside = driven.get((ob, trajectory.limb.name))
        sides = changing if outside is not None or influence in writer.paths else ()  # by FK
        for i, track in enumerate(trajectory.tracks):
            slope = None if slopes is None else slopes[i][which]
            writer.write(track.path, times[which], track.values[which], slope, sides)
        if outside:
            writer.fold(influence, times, outside.times, outside.values)
        elif not request.remove:
            writer.set_between(influence, times, 0.0, trajectory.influence[0], changing)
    mute_drivers(context, [influence.driver for influence in driven.values()])
    for writer in writers.values():
        writer.show(context)
    if request.remove:
        for trajectory in trajectories:
            _keep_aligned(trajectory)
        kept = remove(context, limbs)
        notes += [Message(STAYING, names=", ".join(kept))] if kept else []
        refresh(context)
    return [trajectory.every(2 if any(loops) else 1) for trajectory in trajectories], keys


def _keep_aligned(trajectory: LimbTrajectory) -> None:
    """Leave what bones inherit of scale as it is, if the scale of a limb that goes is keyed."""
    group = group_of(trajectory.limb)
    if group and "aligned" in group and any(track.channel == "scale" for track in trajectory.tracks):
        del group["aligned"]


def _baked(
    request: BakeRequest, method: Method, name: tuple[str, str], mode: str, trajectory: LimbTrajectory, keys: Keys
) -> BakedLimb:
    """What became of a limb, in plain numbers."""
    misses_in_ik, frames = trajectory.misses[trajectory.influence >= 1.0], request.frames
    has_miss = len(misses_in_ik) > 0 and bool(np.isfinite(misses_in_ik).all())
    return BakedLimb(
        object=name[0],
        limb=name[1],
        mode=mode,
        method=method.name,
        first=float(frames[0]),
        last=float(frames[-1]),
        frames=len(frames),
        unreached=int(trajectory.is_missed(request.max_miss).sum()),
        miss=float(misses_in_ik.max()) if has_miss else None,
        keys=len(keys.which),
        deviation=keys.error,
    )
