"""What limbs do in the frame that is evaluated, read of all limbs of an object at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from bpy.types import Depsgraph, Object, PoseBone, bpy_prop_collection
from numpy.typing import NDArray

from ...live import solved_channels
from ...live.channels import SIZES
from ...live.places import Positions
from ...rig import status
from ...rig.data.access import ArmatureObject, bones_of, chain_settings, key_of, upper_of
from ...rig.data.rotation import rotation_channel
from ...rig.targets import Target
from ...solver import Reach
from ..samples import OFF, Joints, Sampled, Track, empty_sample, is_off
from .courses.transforms import array_of

WIDTHS = {"matrix": 16, **SIZES}
"""How many numbers properties of bones have that are read."""

Y_AXIS, HEAD = slice(4, 7), slice(12, 15)
"""Where those are among the numbers of a bone's matrix, which Blender stores column by column."""


class BoneValues:
    """One property of some bones of an armature, frame by frame; it is read of all bones at once."""

    def __init__(self, ob: Object, name: str, bones: list[str], count: int) -> None:
        everyone = {bone.name: i for i, bone in enumerate(bones_of(ob))}
        self._name = name
        self._column = {bone: i for i, bone in enumerate(bones)}
        self._rows = np.array([everyone[bone] for bone in bones], np.intp)
        self._all = np.zeros((len(everyone), WIDTHS[name]), np.float32)
        self.values = np.zeros((count, len(bones), WIDTHS[name]), np.float32)
        """The numbers read, ``(frames, bones, numbers)``."""

    def record(self, i: int, evaluated: bpy_prop_collection[PoseBone]) -> None:
        """Read the ``i``-th frame of the bones as they are evaluated in it."""
        evaluated.foreach_get(self._name, self._all.ravel())
        self._all.take(self._rows, axis=0, out=self.values[i])

    def of(self, bone: str) -> NDArray[Any]:
        """Of one bone, ``(frames, numbers)``."""
        values: NDArray[Any] = self.values[:, self._column[bone]]
        return values


class Recorder:
    """The joints of some limbs of one object, whatever puts them there, by the poses of their bones, and of others that
    are named."""

    def __init__(self, lowers: list[PoseBone], count: int, others: Iterable[str] = ()) -> None:
        self.object: ArmatureObject = lowers[0].id_data
        self.samples = [empty_sample(lower, count) for lower in lowers]
        bones = [bone.name for bone in (*map(upper_of, lowers), *lowers)]
        self._lengths = np.array([[lower.bone.length] for lower in lowers], np.float32)
        self._worlds = np.zeros((count, 4, 4))
        self._read: list[BoneValues] = []
        self._poses = self.reading("matrix", [*bones, *others], count)

    def reading(self, name: str, bones: list[str], count: int) -> BoneValues:
        """Read a property of bones in every frame."""
        self._read.append(BoneValues(self.object, name, bones, count))
        return self._read[-1]

    def rows_of(self, bones: list[PoseBone]) -> NDArray[Any]:
        """Where bones are among those of the pose."""
        return np.array([self.object.pose.bones.find(bone.name) for bone in bones])

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        evaluated = self.object.evaluated_get(depsgraph)
        self._worlds[i] = array_of(evaluated.matrix_world)
        for values in self._read:
            values.record(i, bones_of(evaluated))

    def joints(self) -> Any:
        """Roots, knees and tips in the world, each ``(frames, limbs, 3)``."""
        count, worlds = len(self.samples), self._worlds
        along, heads = (self._poses.values[:, : 2 * count, column] for column in (Y_AXIS, HEAD))
        tails = heads[:, count:] + self._lengths * along[:, count:]
        places = np.concatenate([heads, tails], axis=1)
        moved = places @ worlds[:, :3, :3].transpose(0, 2, 1) + worlds[:, None, :3, 3]
        return np.split(moved, 3, axis=1)

    def finish(self) -> list[Sampled]:
        """What was read of each limb."""
        _, knees, tips = self.joints()
        for sample, knee, tip in zip(self.samples, knees.swapaxes(0, 1), tips.swapaxes(0, 1), strict=True):
            sample.joints = Joints(knee.astype(np.float32), tip.astype(np.float32))
        return self.samples


class ChainRecorder(Recorder):
    """Live chains of one object: their channels, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int, others: Iterable[str] = ()) -> None:
        super().__init__(lowers, count, others)
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

    def in_doubt(self) -> Iterable[tuple[int, list[int]]]:
        """The frames, each with the numbers of limbs, that are to be examined once all frames are read."""
        return ()

    def examine(self, i: int, limbs: list[int], depsgraph: Depsgraph) -> None:
        """Examine limbs in the ``i``-th frame, which is evaluated now."""

    def record_channels(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the channels of the limbs' bones in the ``i``-th frame."""
        channels = solved_channels(self.object)
        for channel, (rows, values) in self._values.items():
            values[:, i] = channels.rows(channel)[rows]

    def missed(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """What leads from the targets to the tips ``(frames, limbs, 3)``, 0 without a target, and which tips count as
        off them, by the rule of the status."""
        root, knee, tip = self.joints()
        gaps = np.zeros_like(tip)
        gaps[:, self._followers] = tip[:, self._followers] - self._targets
        far = np.maximum(np.linalg.norm(tip, axis=2), np.linalg.norm(tip - self._worlds[:, None, :3, 3], axis=2))
        columns: Any = [tuple(np.moveaxis(places, -1, 0)) for places in (root, knee, tip, tip - gaps)]
        return gaps, is_off(columns[0], columns[1], columns[2], columns[3], far)

    def finish(self) -> list[Sampled]:
        """What was read of each limb."""
        gaps, are_off = self.missed()
        are_off &= self.reach == Reach.REACHED
        _, knee, tip = self.joints()
        numbers = (self.influence, np.linalg.norm(gaps, axis=2), np.linalg.norm(tip - knee, axis=2))
        self.reach[are_off] = [*map(status.off, *(each[are_off] for each in numbers))]
        for number, sample in enumerate(super().finish()):
            reach = self.reach[:, number]
            sample.reach, sample.influence = reach, self.influence[:, number]
            sample.gap = np.where((reach == OFF)[:, None], 0.0, gaps[:, number]).astype(np.float32)
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


def matrices_of(columns: NDArray[Any]) -> NDArray[Any]:
    """Matrices ``(frames, 4, 4)`` of their numbers ``(frames, 16)`` as Blender stores them, column by column."""
    matrices: NDArray[Any] = columns.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
    return matrices
