"""Way 3, exact for everything: step the scene with its chains live, and read what they wrote."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from math import floor
from typing import Any

import bpy
from bpy.types import Context, PoseBone, Scene
from numpy.typing import NDArray

from ...rig.data.access import ArmatureObject, runs_on_rig, scene_of, scene_settings
from ...rig.kinds import Refused
from ..samples import Joints, Sampled
from .on_rig import RigRecorder
from .recording import ChainRecorder, Recorder


def step_live(context: Context, chains: list[PoseBone], frames: NDArray[Any]) -> Generator[int, None, list[Sampled]]:
    """Sample chains over frames with the scene as it is; yields the number of frames done. Raises `Refused`."""
    _check_evaluated(context, chains)
    recorders = [
        kind(lowers, len(frames))
        for kind, is_on_rig in ((ChainRecorder, False), (RigRecorder, True))
        for lowers in by_object([lower for lower in chains if runs_on_rig(lower) == is_on_rig])
    ]
    with frame_kept(scene_of(context)), live_as(scene_of(context), True):
        yield from _step(context, recorders, frames)
        for recorder in recorders:
            for i, limbs in recorder.in_doubt():
                set_frame(scene_of(context), float(frames[i]))
                recorder.examine(i, limbs, context.evaluated_depsgraph_get())
    return _in_order(chains, recorders)


def step_joints(context: Context, chains: list[PoseBone], frames: NDArray[Any]) -> Generator[int, None, list[Joints]]:
    """Where the joints of chains are over frames, whatever puts them there; in the order of ``chains``."""
    recorders = [Recorder(lowers, len(frames)) for lowers in by_object(chains)]
    yield from _step(context, recorders, frames)
    return [sample.joints for sample in _in_order(chains, recorders)]


def set_frame(scene: Scene, frame: float) -> None:
    """Go to a frame, or between two."""
    whole = floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


def others_listen() -> bool:
    """Whether others do something as frames change, as what moves things by Python does: what becomes of a chain then
    only stepping the scene tells."""
    ours = __name__.removesuffix("bake.ways.stepping")  # wherever that is: as an extension, or run from the tree
    handlers = (*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post)
    return any(not (getattr(each, "__module__", "") or "").startswith(ours) for each in handlers)


@contextmanager
def frame_kept(scene: Scene) -> Iterator[None]:
    """Come back to the frame at which the scene is now."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    try:
        yield
    finally:
        scene.frame_set(frame, subframe=subframe)


def _check_evaluated(context: Context, chains: list[PoseBone]) -> None:
    """Raise `Refused` if the scene does not pose one of these chains at all."""
    depsgraph = context.evaluated_depsgraph_get()
    for lower in chains:
        if not lower.id_data.evaluated_get(depsgraph).is_evaluated:
            raise Refused(f"'{lower.id_data.name}' is disabled in viewports, and so stands still: enable it to bake it")


@contextmanager
def live_as(scene: Scene, is_live: bool) -> Iterator[None]:
    """Live on or off, whatever the scene has it set to."""
    was_live = scene_settings(scene).live
    scene_settings(scene).live = is_live
    try:
        yield
    finally:
        scene_settings(scene).live = was_live


def _step(context: Context, recorders: Sequence[Recorder], frames: NDArray[Any]) -> Iterator[int]:
    for i, frame in enumerate(frames):
        set_frame(scene_of(context), float(frame))
        depsgraph = context.evaluated_depsgraph_get()
        for recorder in recorders:
            recorder.record(i, depsgraph)
        yield i + 1


def by_object(chains: list[PoseBone]) -> list[list[PoseBone]]:
    """Chains together with those of the same object."""
    grouped: dict[ArmatureObject, list[PoseBone]] = {}
    for lower in chains:
        grouped.setdefault(lower.id_data, []).append(lower)
    return list(grouped.values())


def _in_order(chains: list[PoseBone], recorders: Sequence[Recorder]) -> list[Sampled]:
    found = {(s.object, s.lower): s for recorder in recorders for s in recorder.finish()}
    return [found[lower.id_data, lower.name] for lower in chains]
