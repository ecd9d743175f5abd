"""What limbs do in the frame that is evaluated, read of all limbs of an object at once."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ...live import solved_channels
from ...live.channels import SIZES
from ...live.places import Positions
from ...native.status import reach_of
from ...rig import status
from ...rig.anatomy import Unposable, solved
from ...rig.data.access import ArmatureObject, bones_of, chain_settings, key_of, upper_of
from ...rig.data.dependencies import Dependencies
from ...rig.data.rotation import rotation_channel, to_channels
from ...rig.problems import moved_by, movers_of
from ...rig.targets import Target, followed
from ...rig.tasks.setup import Refused
from ...solver import Reach
from ..samples import OFF, Joints, Sampled, Track, empty_sample, is_off
from .courses.transforms import array_of

HEAD, TAIL = "head", "tail"


class Recorder:
    """The joints of some limbs of one object, whatever puts them there."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        self.object: ArmatureObject = lowers[0].id_data
        self.samples = [empty_sample(lower, count) for lower in lowers]
        self._rows = {HEAD: self.rows_of([upper_of(lower) for lower in lowers] + lowers), TAIL: self.rows_of(lowers)}
        self._joints = {name: np.zeros((count, len(rows), 3), np.float32) for name, rows in self._rows.items()}
        self._worlds = np.zeros((count, 4, 4))
        self._places = np.zeros((len(self.object.pose.bones), 3), np.float32)

    def rows_of(self, bones: list[PoseBone]) -> NDArray[Any]:
        """Where bones are among those of the pose."""
        return np.array([self.object.pose.bones.find(bone.name) for bone in bones])

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        evaluated = self.object.evaluated_get(depsgraph)
        self._worlds[i] = array_of(evaluated.matrix_world)
        bones = evaluated.pose.bones
        for name, rows in self._rows.items():
            bones.foreach_get(name, self._places.ravel())
            self._joints[name][i] = self._places[rows]

    def joints(self, frames: slice) -> Any:
        """Roots, knees and tips in the world, each ``(frames, limbs, 3)``."""
        places = np.concatenate([self._joints[HEAD][frames], self._joints[TAIL][frames]], axis=1)
        worlds = self._worlds[frames]
        moved = places @ worlds[:, :3, :3].transpose(0, 2, 1) + worlds[:, None, :3, 3]
        return np.split(moved, 3, axis=1)

    def finish(self) -> list[Sampled]:
        """What was read of each limb."""
        _, knees, tips = self.joints(slice(None))
        for sample, knee, tip in zip(self.samples, knees.swapaxes(0, 1), tips.swapaxes(0, 1), strict=True):
            sample.joints = Joints(knee.astype(np.float32), tip.astype(np.float32))
        return self.samples


class ChainRecorder(Recorder):
    """Live chains of one object: their channels, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        super().__init__(lowers, count)
        self._keys = [key_of(lower) for lower in lowers]
        targets = [Target.read(s.target, s.subtarget) for s in map(chain_settings, lowers)]
        goals = {k: target for k, target in enumerate(targets) if target and not target.problem()}
        self._followers, self._goals = list(goals), Positions(list(goals.values()))
        self._targets = np.zeros((count, len(goals), 3), np.float32)
        self.reach = np.full((count, len(lowers)), OFF, np.int8)
        self.influence = np.ones((count, len(lowers)))
        self._told: list[Any] = []
        self._values: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
        """By channels, which of the pose's bones are read, and their numbers ``(bones, frames, numbers)``."""
        self._add_tracks([bone for lower in lowers for bone in (upper_of(lower), lower)])

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        super().record(i, depsgraph)
        self._targets[i] = self._goals.read(depsgraph).T
        self.record_results(i, depsgraph)
        self.record_channels(i, depsgraph)

    def record_results(self, i: int, depsgraph: Depsgraph) -> None:
        """Read what became of the chains in the ``i``-th frame, wherever their tips are: most became what they did in
        the frame before."""
        chains = [status.of_key(key) for key in self._keys]
        told = [(chain.posing, chain.problem, chain.reach) if chain and chain.posing else None for chain in chains]
        if i and None not in told and told == self._told:
            self.reach[i], self.influence[i] = self.reach[i - 1], self.influence[i - 1]
            return
        self._told = told
        for number, (sample, chain) in enumerate(zip(self.samples, chains, strict=True)):
            posing = chain and chain.posing
            if posing or chain is None or chain.problem:
                settings = posing.settings if posing else chain_settings(self.object.pose.bones[sample.lower])
                self.influence[i, number] = settings.influence
                sample.is_stretched = sample.is_stretched or settings.stretch > 0.0
                self.reach[i, number] = Reach.INVALID if chain is None or chain.problem else chain.reach
                sample.problem = (chain.problem if chain else status.UNPOSED) or sample.problem

    def record_channels(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the channels of the limbs' bones in the ``i``-th frame."""
        channels = solved_channels(self.object)
        for channel, (rows, values) in self._values.items():
            values[:, i] = channels.rows(channel)[rows]

    def missed(self, frames: slice) -> tuple[NDArray[Any], NDArray[Any]]:
        """What leads from the targets to the tips ``(frames, limbs, 3)``, 0 without a target, and which tips count as
        off them, by the rule of the status."""
        root, knee, tip = self.joints(frames)
        gaps = np.zeros_like(tip)
        gaps[:, self._followers] = tip[:, self._followers] - self._targets[frames]
        far = np.maximum(np.linalg.norm(tip, axis=2), np.linalg.norm(tip - self._worlds[frames, None, :3, 3], axis=2))
        columns: Any = [tuple(np.moveaxis(places, -1, 0)) for places in (root, knee, tip, tip - gaps)]
        return gaps, is_off(columns[0], columns[1], columns[2], columns[3], far)

    def finish(self) -> list[Sampled]:
        """What was read of each limb."""
        gaps, are_off = self.missed(slice(None))
        are_off &= self.reach == Reach.REACHED
        _, knee, tip = self.joints(slice(None))
        numbers = (self.influence, np.linalg.norm(gaps, axis=2), np.linalg.norm(tip - knee, axis=2))
        self.reach[are_off] = [*map(status.off, *(each[are_off] for each in numbers))]
        for number, sample in enumerate(super().finish()):
            reach, influence = self.reach[:, number], self.influence[:, number]
            sample.reach, sample.gap = reach, np.where((reach == OFF)[:, None], 0.0, gaps[:, number]).astype(np.float32)
            sample.is_blended = bool(((reach != OFF) & (influence > 0.0) & (influence < 1.0)).any())
            if not sample.problem and (reach == Reach.INVALID).any():
                sample.problem = status.MOVED
        return self.samples

    def _add_tracks(self, bones: list[PoseBone]) -> None:
        """Room for the channels of the limbs' bones: numbers of all that have a channel are read at once."""
        found: dict[tuple[str, str], Track] = {}
        modes = {bone.name: bone.rotation_mode for bone in bones}
        for channel in {"scale", *map(rotation_channel, modes.values())}:
            owners = [bone for bone in bones if channel in {"scale", rotation_channel(bone.rotation_mode)}]
            values = np.zeros((len(owners), len(self.reach), SIZES[channel]), np.float32)
            self._values[channel] = (self.rows_of(owners), values)
            for bone, own in zip(owners, values, strict=True):
                mode = "" if channel == "scale" else modes[bone.name]
                found[bone.name, channel] = Track(bone.name, channel, mode, own)
        for sample in self.samples:
            pairs = [(name, channel) for name in (sample.upper, sample.lower) for channel in (modes[name], "scale")]
            sample.tracks = [found[name, c if c == "scale" else rotation_channel(c)] for name, c in pairs]


class RigRecorder(ChainRecorder):
    """Chains on the rig of one object: their bones' channels as they are evaluated, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        super().__init__(lowers, count)
        dependencies = Dependencies()
        self._movers = [movers_of(lower, dependencies) for lower in lowers]
        self._examined: set[int] = set()

    def record_results(self, i: int, depsgraph: Depsgraph) -> None:
        """Read what became of the chains in the ``i``-th frame. Raises `Refused` where something else moves a limb:
        what its mechanism makes of it is not to be seen."""
        bones = bones_of(self.object.evaluated_get(depsgraph))
        _, are_off = self.missed(slice(i, i + 1))
        for number, (sample, has_missed) in enumerate(zip(self.samples, are_off[0].tolist(), strict=True)):
            settings = chain_settings(bones[sample.lower])
            if settings.enabled:
                self.influence[i, number] = settings.influence
                sample.is_stretched = sample.is_stretched or settings.stretch > 0.0
                self.reach[i, number] = self._judged(number, depsgraph) if has_missed else Reach.REACHED

    def _judged(self, number: int, depsgraph: Depsgraph) -> Reach:
        """The reach of a chain whose tip is off its target. Its mechanism, which no frame changes, is examined once,
        and again where the chain is not where it should be."""
        evaluated = self.object.evaluated_get(depsgraph)
        problem = moved_by(evaluated, self._movers[number])
        if problem:
            raise Refused(problem)
        sample = self.samples[number]
        lower = self.object.pose.bones[sample.lower]
        target = followed(chain_settings(lower), False)[0]
        if number in self._examined and target:
            with suppress(Refused, Unposable):
                reach = reach_of(lower, evaluated.pose.bones[lower.name], target, depsgraph)
                if reach != Reach.INVALID:
                    return reach
        reach, problem = status.on_rig[0](lower, depsgraph)
        sample.problem = problem or sample.problem
        if not problem:
            self._examined.add(number)
        return reach

    def record_channels(self, i: int, depsgraph: Depsgraph) -> None:
        """Read what turns and scales the limbs' bones in the ``i``-th frame."""
        bones = bones_of(self.object.evaluated_get(depsgraph))
        for sample in self.samples:
            for track in sample.tracks:
                turn, scale = solved(bones[track.bone])
                near = getattr(bones[track.bone], track.channel)[:]
                track.values[i] = to_channels(track.mode, turn, near) if track.mode else scale
