"""What limbs do in the frame that is evaluated, read of all limbs of an object at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ...live import solved_channels
from ...live.channels import SIZES
from ...live.places import Positions
from ...rig import status
from ...rig.access import ArmatureObject, bones_of, chain_settings, key_of, upper_of
from ...rig.anatomy import solved
from ...rig.dependencies import Dependencies
from ...rig.problems import moved_by, movers_of
from ...rig.rotation import rotation_channel, to_channels
from ...rig.settings import PREFIX, SWITCH
from ...rig.setup import Refused
from ...rig.targets import Target
from ...solver import Reach
from ..samples import Joints, Track, empty_sample, is_off
from .transforms import array_of

ROOT, KNEE, TIP = range(3)


class Recorder:
    """The joints of some limbs of one object, whatever puts them there."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        self.object: ArmatureObject = lowers[0].id_data
        self.samples = [empty_sample(lower, count) for lower in lowers]
        self.joints = np.zeros((3, len(lowers), count, 3), np.float32)
        for sample, knee, tip in zip(self.samples, self.joints[KNEE], self.joints[TIP], strict=True):
            sample.joints = Joints(knee, tip)
        self.lowers, self.uppers = self.rows_of(lowers), self.rows_of([upper_of(lower) for lower in lowers])
        self.world = np.eye(4)
        self._places = np.zeros((len(self.object.pose.bones), 3), np.float32)

    def rows_of(self, bones: list[PoseBone]) -> NDArray[Any]:
        """Where bones are among those of the pose."""
        return np.array([self.object.pose.bones.find(bone.name) for bone in bones])

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        evaluated = self.object.evaluated_get(depsgraph)
        self.world = array_of(evaluated.matrix_world)
        for name, parts in (("head", ((ROOT, self.uppers), (KNEE, self.lowers))), ("tail", ((TIP, self.lowers),))):
            evaluated.pose.bones.foreach_get(name, self._places.ravel())
            for joint, rows in parts:
                self.joints[joint, :, i] = self._places[rows] @ self.world[:3, :3].T + self.world[:3, 3]


class ChainRecorder(Recorder):
    """Live chains of one object: their channels, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        super().__init__(lowers, count)
        self._keys = [key_of(lower) for lower in lowers]
        targets = [Target.read(s.target, s.subtarget) for s in map(chain_settings, lowers)]
        goals = {k: target for k, target in enumerate(targets) if target and not target.problem()}
        self._followers, self._goals = list(goals), Positions(list(goals.values()))
        self._gaps = np.zeros((len(lowers), 3))
        limbs = [bone for lower in lowers for bone in (upper_of(lower), lower)]
        self._values: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
        """By channels, which of the pose's bones are read, and their numbers ``(bones, frames, numbers)``."""
        tracks: dict[tuple[str, str], Track] = {}
        for channel in {"scale", *(rotation_channel(bone.rotation_mode) for bone in limbs)}:
            owners = [bone for bone in limbs if channel in {"scale", rotation_channel(bone.rotation_mode)}]
            values = np.zeros((len(owners), count, SIZES[channel]), np.float32)
            self._values[channel] = (self.rows_of(owners), values)
            for bone, own in zip(owners, values, strict=True):
                mode = "" if channel == "scale" else bone.rotation_mode
                tracks[bone.name, channel] = Track(bone.name, channel, mode, own)
        for sample in self.samples:
            for name in (sample.upper, sample.lower):
                rotation = rotation_channel(self.object.pose.bones[name].rotation_mode)
                sample.tracks = [*sample.tracks, tracks[name, rotation], tracks[name, "scale"]]

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        super().record(i, depsgraph)
        tips = self.joints[TIP, :, i].astype(float)
        self._gaps[self._followers] = tips[self._followers] - self._goals.read(depsgraph).T
        bones = bones_of(self.object.evaluated_get(depsgraph))
        for number, has_missed in enumerate(self._are_off(i, tips).tolist()):
            bone: Any = bones[self.samples[number].lower]
            if getattr(bone, PREFIX + SWITCH):
                reach, problem = self.judged(number, bone, has_missed, depsgraph)
                self._record_result(i, number, bone, reach, problem)
        self.record_channels(i, depsgraph)

    def record_channels(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the channels of the limbs' bones in the ``i``-th frame."""
        channels = solved_channels(self.object)
        for channel, (rows, values) in self._values.items():
            values[:, i] = channels.rows(channel)[rows]

    def judged(self, number: int, bone: Any, has_missed: bool, depsgraph: Depsgraph) -> tuple[Reach, str]:
        """The reach of a chain, and why it could not be posed, with its lower bone as it is evaluated."""
        chain = status.of_key(self._keys[number])
        reach = status.judged(chain, lambda: has_missed, lambda: bone)
        problem = (chain.problem or status.MOVED) if chain else status.UNPOSED
        return reach, problem if reach == Reach.INVALID else ""

    def _record_result(self, i: int, number: int, bone: Any, reach: Reach, problem: str) -> None:
        sample = self.samples[number]
        sample.reach[i], sample.gap[i] = reach, self._gaps[number]
        sample.problem = problem or sample.problem
        sample.is_stretched = sample.is_stretched or bone.planar_ik_stretch > 0.0
        sample.is_blended = sample.is_blended or 0.0 < bone.planar_ik_influence < 1.0

    def _are_off(self, i: int, tips: NDArray[Any]) -> NDArray[Any]:
        """Which tips count as off their targets, by the rule of the status."""
        root, knee, tip = (tuple(part.T) for part in self.joints[:, :, i].astype(float))
        far = np.maximum(np.linalg.norm(tips, axis=1), np.linalg.norm(tips - self.world[:3, 3], axis=1))
        are_off: NDArray[Any] = is_off(root, knee, tip, tuple((tips - self._gaps).T), far)
        return are_off


class RigRecorder(ChainRecorder):
    """Chains on the rig of one object: their bones' channels as they are evaluated, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        super().__init__(lowers, count)
        dependencies = Dependencies()
        self._movers = [movers_of(lower, dependencies) for lower in lowers]

    def judged(self, number: int, bone: Any, has_missed: bool, depsgraph: Depsgraph) -> tuple[Reach, str]:
        """The reach of a chain, and why it could not be posed. Raises `Refused` where something else moves it: what its
        mechanism makes of it is not to be seen."""
        if not has_missed:
            return Reach.REACHED, ""
        problem = moved_by(bone.id_data, self._movers[number])
        if problem:
            raise Refused(problem)
        return status.on_rig[0](self.object.pose.bones[bone.name], depsgraph)

    def record_channels(self, i: int, depsgraph: Depsgraph) -> None:
        """Read what turns and scales the limbs' bones in the ``i``-th frame."""
        bones = bones_of(self.object.evaluated_get(depsgraph))
        for sample in self.samples:
            for track in sample.tracks:
                turn, scale = solved(bones[track.bone])
                near = getattr(bones[track.bone], track.channel)[:]
                track.values[i] = to_channels(track.mode, turn, near) if track.mode else scale
