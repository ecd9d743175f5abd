"""What limbs do in the frame that is evaluated, read of all limbs of an object at once."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ...live import solved_channels
from ...live.channels import SIZES
from ...live.places import Positions
from ...rig import status
from ...rig.access import ArmatureObject, Key, bones_of, chain_settings, key_of, upper_of
from ...rig.rotation import rotation_channel
from ...rig.settings import PREFIX, SWITCH
from ...rig.targets import Target
from ...solver import Reach
from ..samples import Joints, Sampled, Track, empty_sample
from .transforms import array_of


class Recorder:
    """The joints of some limbs of one object, whatever puts them there."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        self.object: ArmatureObject = lowers[0].id_data
        self.samples = [empty_sample(lower, count) for lower in lowers]
        self.joints = np.zeros((2, len(lowers), count, 3), np.float32)
        for sample, knee, tip in zip(self.samples, *self.joints, strict=True):
            sample.joints = Joints(knee, tip)
        self.lowers = self.rows_of(lowers)
        self.world = np.eye(4)

    def rows_of(self, bones: list[PoseBone]) -> NDArray[Any]:
        """Where bones are among those of the pose."""
        return np.array([self.object.pose.bones.find(bone.name) for bone in bones])

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        evaluated = self.object.evaluated_get(depsgraph)
        self.world = array_of(evaluated.matrix_world)
        for joints, name in zip(self.joints, ("head", "tail"), strict=True):
            joints[:, i] = self.places(evaluated, name, self.lowers)

    def places(self, evaluated: ArmatureObject, name: str, rows: NDArray[Any]) -> NDArray[Any]:
        """Where heads or tails of some bones are in the world."""
        numbers = array("f", bytes(12 * len(evaluated.pose.bones)))
        evaluated.pose.bones.foreach_get(name, numbers)
        places = np.frombuffer(numbers, np.float32).reshape(-1, 3)[rows]
        world: NDArray[Any] = places @ self.world[:3, :3].T + self.world[:3, 3]
        return world


class ChainRecorder(Recorder):
    """Live chains of one object: their channels, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        super().__init__(lowers, count)
        self._uppers = self.rows_of([upper_of(lower) for lower in lowers])
        self._keys = [key_of(lower) for lower in lowers]
        targets = [Target.read(s.target, s.subtarget) for s in map(chain_settings, lowers)]
        goals = {k: target for k, target in enumerate(targets) if target and not target.problem()}
        self._followers, self._goals = list(goals), Positions(list(goals.values()))
        self._tracks: dict[str, list[tuple[int, Track]]] = {}
        for sample, lower in zip(self.samples, lowers, strict=True):
            for bone in (upper_of(lower), lower):
                self._add_track(sample, bone, rotation_channel(bone.rotation_mode), bone.rotation_mode)
                self._add_track(sample, bone, "scale", "")

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        super().record(i, depsgraph)
        self._record_results(i, depsgraph)
        solved = solved_channels(self.object)
        for channel, tracks in self._tracks.items():
            values = solved.rows(channel)
            for index, track in tracks:
                track.values[i] = values[index]

    def _record_results(self, i: int, depsgraph: Depsgraph) -> None:
        evaluated = self.object.evaluated_get(depsgraph)
        gaps = np.zeros((len(self.samples), 3))
        gaps[self._followers] = self.joints[1, self._followers, i] - self._goals.read(depsgraph).T
        are_off = self._are_off(i, evaluated, gaps)
        bones = bones_of(evaluated)
        for sample, key, gap, is_off in zip(self.samples, self._keys, gaps, are_off, strict=True):
            _record_result(sample, i, key, bones[sample.lower], gap, is_off)

    def _are_off(self, i: int, evaluated: ArmatureObject, gaps: NDArray[Any]) -> NDArray[Any]:
        """Which tips count as off their targets, by the rule of the status."""
        root = self.places(evaluated, "head", self._uppers)
        knee, tip = self.joints[:, :, i].astype(float)
        length = np.linalg.norm(knee - root, axis=1) + np.linalg.norm(tip - knee, axis=1)
        far = np.maximum(np.linalg.norm(tip, axis=1), np.linalg.norm(tip - self.world[:3, 3], axis=1))
        are_off: NDArray[Any] = np.linalg.norm(gaps, axis=1) > status.MISSED * length + status.ROUNDING * far
        return are_off

    def _add_track(self, sample: Sampled, bone: PoseBone, channel: str, mode: str) -> None:
        track = Track(bone.name, channel, mode, np.zeros((len(sample.reach), SIZES[channel]), np.float32))
        sample.tracks.append(track)
        self._tracks.setdefault(channel, []).append((self.object.pose.bones.find(bone.name), track))


def _record_result(sample: Sampled, i: int, key: Key, bone: Any, gap: NDArray[Any], is_off: bool) -> None:
    """What became in the ``i``-th frame of a chain whose lower bone is evaluated as ``bone``."""
    if not getattr(bone, PREFIX + SWITCH):
        return
    chain = status.of_key(key)
    reach = status.judged(chain, lambda: is_off, lambda: bone)
    sample.reach[i], sample.gap[i] = reach, gap
    if reach == Reach.INVALID:
        sample.problem = (chain.problem or status.MOVED) if chain else status.UNPOSED
    sample.is_stretched = sample.is_stretched or bone.planar_ik_stretch > 0.0
    sample.is_blended = sample.is_blended or 0.0 < bone.planar_ik_influence < 1.0
