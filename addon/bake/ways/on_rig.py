"""What became of limbs on the rig in frames that were stepped: their tips are seen there, and where one is not on its
target, arrays tell afterwards what keeps it away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ...native.status import answer
from ...rig import status
from ...rig.anatomy import EVEN
from ...rig.chain_settings import holder_of
from ...rig.data.access import bones_of, chain_settings, upper_of
from ...rig.data.dependencies import Dependencies
from ...rig.data.rotation import ARRAYS, rotation_channel, to_channels
from ...rig.kinds import Refused
from ...rig.problems import moved_by, movers_of
from ...rig.settings import BY_NAME, IN_SHAPE, NUMBERS, ON_RIG
from ...rig.solver_settings import features_of, solver_settings
from ...solver import Reach
from ...solver.chain import Own, tip_position
from ...solver.chains import solve_chains
from ..samples import Sampled, Track
from ..scope import slabs
from .courses.transforms import frame_of, inverted, local_to, moved, turn_and_scale
from .recording import ChainRecorder, matrices_of
from .shapes import Shapes, bodies_of, shapes_of


class RigRecorder(ChainRecorder):
    """Chains on the rig of one object: their bones' channels as they are evaluated, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        uppers = [upper_of(lower) for lower in lowers]
        super().__init__(lowers, count, {upper.parent.name: None for upper in uppers if upper.parent})
        dependencies, bones = Dependencies(), [*uppers, *lowers]
        names = [bone.name for bone in bones]
        self._limbs = list(zip(uppers, lowers, strict=True))
        self._movers = [movers_of(lower, dependencies) for lower in lowers]
        self._own = {name: self.reading(name, names, count) for name in ("location", "scale")}
        turns = {rotation_channel(bone.rotation_mode) for bone in bones}
        self._turns = {channel: self.reading(channel, names, count) for channel in turns}
        self._settings = SettingValues(lowers, count)

    def record_results(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the limbs' settings in the ``i``-th frame."""
        self._settings.record(i, depsgraph)

    def record_channels(self, i: int, depsgraph: Depsgraph) -> None:
        """Nothing: what the channels need to be is in the poses of the bones."""

    def in_doubt(self) -> Iterator[tuple[int, list[int]]]:
        """The frames, each with the numbers of limbs, that are to be examined once all frames are read: those in which
        a tip is off its target and not where the solver has it, or something else may move the limb. Of those in which
        an influence keeps it off, one is enough if its mechanism is sound there, as no frame changes that."""
        are_off = self._seem_off()
        limbs, frames = np.flatnonzero(are_off.any(axis=0)), np.flatnonzero(are_off.any(axis=1))
        if len(limbs):
            self.reach[are_off] = self._reach(limbs, frames)[are_off[np.ix_(frames, limbs)]]
        are_blended = are_off & (self.influence < 1.0)
        are_first = are_blended & (are_blended.cumsum(axis=0) == 1)
        yield from _by_frame(are_first)
        pairs = zip(self._movers, self.samples, strict=True)
        are_untold = (self.reach == Reach.INVALID) | [bool(movers or sample.problem) for movers, sample in pairs]
        yield from _by_frame(are_off & are_untold & ~are_first)

    def _seem_off(self) -> NDArray[Any]:
        """Which tips are off their targets ``(frames, limbs)``; all that are on count as on them for now."""
        settings = self._settings
        is_on = settings.of("enabled") != 0.0
        self.reach[is_on] = Reach.REACHED
        self.influence[:] = settings.of("influence")
        are_stretched = (is_on & (settings.of("stretch") > 0.0)).any(axis=0)
        for sample, is_stretched in zip(self.samples, are_stretched.tolist(), strict=True):
            sample.is_stretched = is_stretched
        _, are_off = self.missed()
        are_off &= is_on
        return are_off

    def examine(self, i: int, limbs: list[int], depsgraph: Depsgraph) -> None:
        """Find out what keeps the tips of limbs off their targets in the ``i``-th frame, which is evaluated now. Raises
        `Refused` where something else moves a limb: what its mechanism makes of it is not to be seen."""
        dependencies = Dependencies()
        for number in limbs:
            problem = moved_by(self.object.evaluated_get(depsgraph), self._movers[number])
            if problem:
                raise Refused(problem)
            self.reach[i, number], problem = answer(self._limbs[number][1], depsgraph, dependencies)
            self.samples[number].problem = problem or self.samples[number].problem

    def finish(self) -> list[Sampled]:
        """What was read of each limb."""
        tracks = [track for sample in self.samples for track in sample.tracks]
        bones = [bone for limb in self._limbs for bone in limb]
        written = [*zip(bones, tracks[::2], tracks[1::2], strict=True)]
        for mode in {turned.mode for _, turned, _ in written}:
            alike = [each for each in written if each[1].mode == mode]
            for some in slabs(len(alike), len(self.reach)):
                self._write(mode, alike[some])
        return super().finish()

    def _write(self, mode: str, written: list[tuple[PoseBone, Track, Track]]) -> None:
        """Write the rotations and scales of bones of a rotation mode into their tracks."""
        pairs = [(bone, self._pose(bone.parent) if bone.parent else None) for bone, *_ in written]
        local = np.concatenate([local_to(bone.bone, above, self._pose(bone)) for bone, above in pairs])
        near = np.concatenate([self._turns[turned.channel].of(bone.name) for bone, turned, _ in written])
        turns, scales = turn_and_scale(local)
        channels = np.stack(to_channels(mode, turns, [*near.T], ARRAYS), axis=1)
        count = len(written)
        found = zip(np.split(channels, count), np.split(scales, count), strict=True)
        for (_, turned, scaled), (turn, scale) in zip(written, found, strict=True):
            turned.values[:], scaled.values[:] = turn, scale

    def _pose(self, bone: PoseBone) -> NDArray[Any]:
        """Where a bone is in the armature, ``(frames, 4, 4)``."""
        return matrices_of(self._poses.of(bone.name))

    def _reach(self, limbs: NDArray[Any], frames: NDArray[Any]) -> NDArray[Any]:
        """What keeps the tips of some limbs off their targets in some frames ``(frames, limbs)``: the solver, if they
        are where it has them, or the influence. `INVALID` if it is something else."""
        numbers = {name: self._settings.of(name)[np.ix_(frames, limbs)] for name in (*NUMBERS, "plane")}
        angles = np.stack([numbers[name] for name in IN_SHAPE], axis=-1)
        *_, ends = self.joints()
        found = [self._limb(limb, frames, angles[:, i], ends) for i, limb in enumerate(limbs.tolist())]
        targets, tips = (np.stack([places[i] for _, places in found], axis=1) for i in (0, 1))
        body, _, are_limbs = bodies_of([shapes for shapes, _ in found])
        settings = solver_settings(numbers | {"influence": 1.0}, 1.0, np.cos)
        in_rest = numbers["plane"] == BY_NAME["plane"].number_of("REST")
        reach, is_there = np.full(in_rest.shape, Reach.INVALID, np.int8), np.zeros(in_rest.shape, bool)
        for plane, are_in_it in (("REST", in_rest), ("SWING", ~in_rest)):  # A pole changes neither reach nor tip.
            if are_in_it.any():
                features = features_of(settings, plane, np.any)
                solved = solve_chains(targets, body, settings, features, tolerance=status.MISSED)
                turns = Own(*(tuple(np.moveaxis(turn, -1, 0)) for turn in (solved.upper, solved.lower)))
                off = np.stack(tip_position(turns, body, solved.stretch), axis=-1) - tips
                reach = np.where(are_in_it, solved.reach, reach)
                is_there |= are_in_it & (np.linalg.norm(off, axis=-1) <= EVEN * body.bones.total)
        is_blended = numbers["influence"] < 1.0
        reach = np.where((reach == Reach.REACHED) & is_blended, Reach.LIMITED, reach)
        is_told = are_limbs & (reach != Reach.REACHED) & (is_there | is_blended)
        return np.where(is_told, reach, Reach.INVALID)

    def _limb(
        self, number: int, frames: NDArray[Any], angles: NDArray[Any], ends: NDArray[Any]
    ) -> tuple[Shapes, list[NDArray[Any]]]:
        """A limb as it is in some frames, and where its target and its tip are in the frame F, each ``(frames, 3)``;
        ``angles`` ``(frames, 3)`` are the settings `IN_SHAPE`, ``ends`` all tips in the world."""
        limb = self._limbs[number]
        upper = limb[0]
        parent = self._pose(upper.parent)[frames] if upper.parent else None
        own = {name: [read.of(bone.name)[frames].astype(float) for bone in limb] for name, read in self._own.items()}
        unturned = np.tile(np.eye(4), (len(frames), 1, 1))
        unturned[:, :3, 3] = own["location"][0]
        frame = frame_of(upper.bone, parent, unturned)
        shapes = shapes_of(limb, parent, frame, own["location"][1], own["scale"], angles)
        into = inverted(self._worlds[frames] @ frame)
        places = (self._targets[frames, self._followers.index(number)], ends[frames, number])
        return shapes, [np.stack(moved(into, tuple(place.T)), axis=-1) for place in places]


def _by_frame(chosen: NDArray[Any]) -> Iterator[tuple[int, list[int]]]:
    """The frames, each with the numbers of limbs, of what is chosen ``(frames, limbs)``."""
    for i in np.flatnonzero(chosen.any(axis=1)).tolist():
        yield i, np.flatnonzero(chosen[i]).tolist()


class SettingValues:
    """The settings of limbs on the rig, frame by frame: those that are custom properties, which all that change are,
    are read in each, and the others once."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        holders: Any = [holder_of(lower) for lower in lowers]
        own = [chain_settings(lower) for lower in lowers]
        shape = count, len(lowers)
        self._values = {
            name: np.broadcast_to([float(setting.number_of(getattr(each, name))) for each in own], shape)
            for name, setting in BY_NAME.items()
        }
        self._changing: dict[Any, list[tuple[str, str, NDArray[Any]]]] = {}
        for name in BY_NAME:
            changing = [i for i, holder in enumerate(holders) if ON_RIG + name in holder]
            if changing:
                self._values[name] = self._values[name].copy()
            for i in changing:
                read = (holders[i].name, ON_RIG + name, self._values[name][:, i])
                self._changing.setdefault(holders[i].id_data, []).append(read)

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        for ob, changing in self._changing.items():
            bones: Any = bones_of(ob.evaluated_get(depsgraph))
            for bone, key, values in changing:
                values[i] = bones[bone][key]

    def of(self, name: str) -> NDArray[Any]:
        """One setting as the number that Blender stores for it, ``(frames, limbs)``."""
        return self._values[name]
