"""Way 3, exact for everything: step the scene with its chains live, and read what they wrote."""

from __future__ import annotations

from array import array
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from math import floor
from typing import Any

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone, Scene
from numpy.typing import NDArray

from ...live import solved_channels
from ...live.channels import SIZES
from ...rig import status
from ...rig.access import ArmatureObject, chain_settings, runs_on_rig, scene_of, scene_settings, upper_of
from ...rig.rotation import rotation_channel
from ...rig.setup import Refused
from ...rig.targets import Target
from ..samples import Joints, Sampled, Track, empty_sample


def step_live(context: Context, chains: list[PoseBone], frames: NDArray[Any]) -> Generator[int, None, list[Sampled]]:
    """Sample chains over frames with the scene as it is; yields the number of frames done. Raises `Refused`."""
    _check_evaluated(context, chains)
    for lower in chains:
        if runs_on_rig(lower):
            raise Refused(
                f"What '{lower.name}' follows can only be stepped: bring the chain back from the rig to bake it"
            )
    recorders = _recorders(chains, len(frames), has_channels=True)
    with frame_kept(scene_of(context)), live_as(scene_of(context), True):
        yield from _step(context, recorders, frames)
    found = {(s.object, s.lower): s for recorder in recorders for s in recorder.samples}
    return [found[lower.id_data, lower.name] for lower in chains]


def step_joints(context: Context, chains: list[PoseBone], frames: NDArray[Any]) -> Generator[int, None, list[Joints]]:
    """Where the joints of chains are over frames, whatever puts them there; in the order of ``chains``."""
    recorders = _recorders(chains, len(frames), has_channels=False)
    yield from _step(context, recorders, frames)
    found = {(s.object, s.lower): s.joints for recorder in recorders for s in recorder.samples}
    return [found[lower.id_data, lower.name] for lower in chains]


def set_frame(scene: Scene, frame: float) -> None:
    """Go to a frame, or between two."""
    whole = floor(frame)
    scene.frame_set(whole, subframe=frame - whole)


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


def _step(context: Context, recorders: list[_Recorder], frames: NDArray[Any]) -> Iterator[int]:
    for i, frame in enumerate(frames):
        set_frame(scene_of(context), float(frame))
        depsgraph = context.evaluated_depsgraph_get()
        for recorder in recorders:
            recorder.record(i, depsgraph)
        yield i + 1


def _recorders(chains: list[PoseBone], count: int, has_channels: bool) -> list[_Recorder]:
    grouped: dict[ArmatureObject, list[PoseBone]] = {}
    for lower in chains:
        grouped.setdefault(lower.id_data, []).append(lower)
    return [_Recorder(ob, lowers, count, has_channels) for ob, lowers in grouped.items()]


class _Recorder:
    """Reads the chains of one object, each channel of the whole pose at once."""

    def __init__(self, ob: ArmatureObject, lowers: list[PoseBone], count: int, has_channels: bool) -> None:
        self.object = ob
        self.samples = [empty_sample(lower, count) for lower in lowers]
        self._index = {bone.name: i for i, bone in enumerate(ob.pose.bones)}
        self._tips = np.array([self._index[lower.name] for lower in lowers])
        self._has_channels = has_channels
        self._targets = [Target.read(s.target, s.subtarget) for s in map(chain_settings, lowers)]
        self._by_channel: dict[str, list[tuple[int, Track]]] = {}
        if has_channels:
            for sample, lower in zip(self.samples, lowers, strict=True):
                for bone in (upper_of(lower), lower):
                    mode = bone.rotation_mode
                    self._add_track(sample, bone.name, rotation_channel(mode), mode, count)
                    self._add_track(sample, bone.name, "scale", "", count)

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        evaluated = self.object.evaluated_get(depsgraph)
        world = np.array(evaluated.matrix_world)
        bones = evaluated.pose.bones
        knees, tips = (
            self._numbers(bones, name, 3)[self._tips] @ world[:3, :3].T + world[:3, 3] for name in ("head", "tail")
        )
        for sample, knee, tip in zip(self.samples, knees, tips, strict=True):
            sample.joints.knee[i], sample.joints.tip[i] = knee, tip
        if self._has_channels:
            self._record_results(i, depsgraph, tips)
            solved = solved_channels(self.object)
            for channel, tracks in self._by_channel.items():
                values = solved.rows(channel)
                for index, track in tracks:
                    track.values[i] = values[index]

    def _record_results(self, i: int, depsgraph: Depsgraph, tips: NDArray[Any]) -> None:
        for sample, tip, target in zip(self.samples, tips, self._targets, strict=True):
            settings = chain_settings(self.object.pose.bones[sample.lower])
            if settings.enabled:
                sample.reach[i] = status.reach(settings)
                sample.problem = status.message(settings) or sample.problem
                sample.is_stretched = sample.is_stretched or settings.stretch > 0.0
                sample.is_blended = sample.is_blended or 0.0 < settings.influence < 1.0
                if target and not target.problem():
                    place: Any = target.position(depsgraph)  # the stubs do not know that vectors iterate
                    sample.gap[i] = [a - b for a, b in zip(tip, place, strict=True)]  # it may be nowhere: NumPy warns

    def _add_track(self, sample: Sampled, bone: str, channel: str, mode: str, count: int) -> None:
        track = Track(bone, channel, mode, np.zeros((count, SIZES[channel]), np.float32))
        sample.tracks.append(track)
        self._by_channel.setdefault(channel, []).append((self._index[bone], track))

    @staticmethod
    def _numbers(bones: object, name: str, size: int) -> NDArray[Any]:
        """A property of all bones of a pose, a row for each."""
        numbers = array("f", bytes(4 * size * len(bones)))  # type: ignore[arg-type]
        bones.foreach_get(name, numbers)  # type: ignore[attr-defined]
        return np.frombuffer(numbers, np.float32).reshape(-1, size)
