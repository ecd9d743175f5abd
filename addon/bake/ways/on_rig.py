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
from ...rig.data.access import bones_of, chain_settings, upper_of
from ...rig.data.dependencies import Dependencies
from ...rig.data.rotation import ARRAYS, rotation_channel, to_channels
from ...rig.kinds import Refused
from ...rig.problems import moved_by, movers_of
from ...rig.settings import BY_NAME, IN_SHAPE, NUMBERS, ON_RIG, features_of, holder_of, solver_settings
from ...solver import Reach
from ...solver.chains import solve_chains
from ..samples import Sampled
from .courses.transforms import frame_of, inverted, local_to, moved, turn_and_scale
from .recording import BoneValues, ChainRecorder, matrices_of
from .shapes import Shapes, bodies_of, shapes_of


class RigRecorder(ChainRecorder):
    """Chains on the rig of one object: their bones' channels as they are evaluated, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        super().__init__(lowers, count)
        dependencies = Dependencies()
        uppers = [upper_of(lower) for lower in lowers]
        names = [bone.name for bone in (*uppers, *lowers)]
        parents = {upper.parent.name: None for upper in uppers if upper.parent}
        self._limbs = list(zip(uppers, lowers, strict=True))
        self._movers = [movers_of(lower, dependencies) for lower in lowers]
        self._poses = BoneValues(self.object, "matrix", list(dict.fromkeys([*parents, *names])), count)
        self._own = {name: BoneValues(self.object, name, names, count) for name in ("location", "scale")}
        self._turns = {
            channel: BoneValues(self.object, channel, names, count)
            for channel in {rotation_channel(self.object.pose.bones[name].rotation_mode) for name in names}
        }
        self._settings = [SettingValues(lower, count) for lower in lowers]

    def record_results(self, i: int, depsgraph: Depsgraph) -> None:
        """Read what the limbs are made of in the ``i``-th frame."""
        for values in (self._poses, *self._own.values()):
            values.record(i, depsgraph)
        for settings in self._settings:
            settings.record(i, depsgraph)

    def in_doubt(self) -> Iterator[tuple[int, int]]:
        """The frames and limbs, by their numbers, that are to be examined again, once all frames are read: the first
        in which a tip is off its target, as no frame changes a mechanism, and those in which arrays do not tell why.
        All that are on count as on their targets until then."""
        for number, settings in enumerate(self._settings):
            is_on = settings.of("enabled") != 0.0
            self.reach[is_on, number] = Reach.REACHED
            self.influence[:, number] = settings.of("influence")
            self.samples[number].is_stretched = bool((is_on & (settings.of("stretch") > 0.0)).any())
        _, are_off = self.missed()
        are_off &= self.reach == Reach.REACHED
        limbs, frames = np.flatnonzero(are_off.any(axis=0)).tolist(), np.flatnonzero(are_off.any(axis=1))
        if limbs:
            self.reach[are_off] = self._reach(limbs, frames)[are_off[np.ix_(frames, limbs)]]
        for number in limbs:
            is_off, is_untold = are_off[:, number], self.reach[:, number] == Reach.INVALID
            first = int(np.argmax(is_off))
            yield first, number
            is_open = self._movers[number] or self.samples[number].problem
            others = is_off if is_open else is_off & is_untold
            yield from ((row, number) for row in np.flatnonzero(others).tolist() if row != first)

    def examine(self, i: int, number: int, depsgraph: Depsgraph) -> None:
        """Find out what keeps a limb's tip off its target in the ``i``-th frame, which is evaluated now. Raises
        `Refused` where something else moves the limb: what its mechanism makes of it is not to be seen."""
        problem = moved_by(self.object.evaluated_get(depsgraph), self._movers[number])
        if problem:
            raise Refused(problem)
        self.reach[i, number], problem = answer(self._limbs[number][1], depsgraph)
        self.samples[number].problem = problem or self.samples[number].problem

    def record_channels(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the rotations that the limbs' bones have of their own in the ``i``-th frame: of all ways to write one,
        what they become is the closest to those."""
        for values in self._turns.values():
            values.record(i, depsgraph)

    def finish(self) -> list[Sampled]:
        """What was read of each limb."""
        for limb, sample in zip(self._limbs, self.samples, strict=True):
            for bone, turned, scaled in zip(limb, sample.tracks[::2], sample.tracks[1::2], strict=True):
                posed, above = self._pose(bone), self._pose(bone.parent) if bone.parent else None
                turn, scaled.values[:] = turn_and_scale(local_to(bone.bone, above, posed))
                near = [*self._turns[turned.channel].of(bone.name).T]
                turned.values[:] = np.stack(to_channels(turned.mode, turn, near, ARRAYS), axis=1)
        return super().finish()

    def _pose(self, bone: PoseBone) -> NDArray[Any]:
        """Where a bone is in the armature, ``(frames, 4, 4)``."""
        return matrices_of(self._poses.of(bone.name))

    def _reach(self, limbs: list[int], frames: NDArray[Any]) -> NDArray[Any]:
        """What keeps the tips of some limbs off their targets in some frames ``(frames, limbs)``, `INVALID` if neither
        the solver nor the influence does."""
        numbers = {
            name: np.stack([self._settings[limb].of(name)[frames] for limb in limbs], axis=1)
            for name in (*NUMBERS, "plane")
        }
        angles = np.stack([numbers[name] for name in IN_SHAPE], axis=-1)
        found = [self._limb(limb, frames, angles[:, i]) for i, limb in enumerate(limbs)]
        places = np.stack([place for _, place in found], axis=1)
        body, _, are_limbs = bodies_of([shapes for shapes, _ in found])
        settings = solver_settings(numbers, 1.0, np.cos)
        in_rest = numbers["plane"] == BY_NAME["plane"].number_of("REST")
        reach = np.full(in_rest.shape, Reach.INVALID, np.int8)
        for plane, are_in_it in (("REST", in_rest), ("SWING", ~in_rest)):  # A pole changes no reach.
            if are_in_it.any():
                features = features_of(settings, plane, np.any)
                solved = solve_chains(places, body, settings, features, tolerance=status.MISSED)
                reach = np.where(are_in_it, solved.reach, reach)
        kept_off = np.where(numbers["influence"] < 1.0, Reach.LIMITED, Reach.INVALID)
        return np.where(are_limbs, np.where(reach == Reach.REACHED, kept_off, reach), Reach.INVALID)

    def _limb(self, number: int, frames: NDArray[Any], angles: NDArray[Any]) -> tuple[Shapes, NDArray[Any]]:
        """A limb as it is in some frames, and where its target is in the frame F ``(frames, 3)``; ``angles``
        ``(frames, 3)`` are the settings `IN_SHAPE`."""
        limb = self._limbs[number]
        upper = limb[0]
        parent = self._pose(upper.parent)[frames] if upper.parent else None
        own = {name: [read.of(bone.name)[frames].astype(float) for bone in limb] for name, read in self._own.items()}
        unturned = np.tile(np.eye(4), (len(frames), 1, 1))
        unturned[:, :3, 3] = own["location"][0]
        frame = frame_of(upper.bone, parent, unturned)
        shapes = shapes_of(limb, parent, frame, own["location"][1], own["scale"], angles)
        x, y, z = self._targets[frames, self._followers.index(number)].T
        return shapes, np.stack(moved(inverted(self._worlds[frames] @ frame), (x, y, z)), axis=-1)


class SettingValues:
    """The settings of a limb on the rig, frame by frame: those that are custom properties, which all that change are,
    are read in each, and the others once."""

    def __init__(self, lower: PoseBone, count: int) -> None:
        holder, settings = holder_of(lower), chain_settings(lower)
        numbers = [(name, setting.number_of(getattr(settings, name))) for name, setting in BY_NAME.items()]
        self._values = {name: np.full(count, float(number)) for name, number in numbers}
        self._holder = (holder.id_data, holder.name)
        self._changing = [(ON_RIG + name, values) for name, values in self._values.items() if ON_RIG + name in holder]

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        ob, bone = self._holder
        holder: Any = bones_of(ob.evaluated_get(depsgraph))[bone]
        for name, values in self._changing:
            values[i] = holder[name]

    def of(self, name: str) -> NDArray[Any]:
        """One setting as the number that Blender stores for it, ``(frames,)``."""
        return self._values[name]
