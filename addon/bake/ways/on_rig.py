"""What became of limbs on the rig in frames that were stepped: their tips are seen there, and where one is not on its
target, arrays tell afterwards what keeps it away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ...rig import status
from ...rig.data.access import bones_of, chain_settings, upper_of
from ...rig.data.dependencies import Dependencies
from ...rig.data.rotation import ARRAYS, rotation_channel, to_channels
from ...rig.kinds import Refused
from ...rig.problems import moved_by, movers_of
from ...rig.settings import BY_NAME, IN_SHAPE, NUMBERS, ON_RIG, features_of, holder_of, solver_settings
from ...solver import Reach
from ...solver.chains import solve_chains
from ...solver.limb import Limb
from ..samples import Sampled
from .courses.transforms import frame_of, inverted, local_to, moved, turn_and_scale
from .recording import BoneValues, ChainRecorder, matrices_of
from .shapes import bodies_of, shapes_of


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
        for number, is_off in enumerate(are_off.T):
            rows = np.flatnonzero(is_off)
            if rows.size:
                reach = self._reach(number, rows)
                self.reach[rows, number] = reach
                yield int(rows[0]), number
                is_open = self._movers[number] or self.samples[number].problem
                for row in rows[1:] if is_open else rows[1:][reach[1:] == Reach.INVALID]:
                    yield int(row), number

    def examine(self, i: int, number: int, depsgraph: Depsgraph) -> None:
        """Find out what keeps a limb's tip off its target in the ``i``-th frame, which is evaluated now. Raises
        `Refused` where something else moves the limb: what its mechanism makes of it is not to be seen."""
        problem = moved_by(self.object.evaluated_get(depsgraph), self._movers[number])
        if problem:
            raise Refused(problem)
        self.reach[i, number], problem = status.on_rig[0](self._limbs[number][1], depsgraph)
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

    def _reach(self, number: int, rows: NDArray[Any]) -> NDArray[Any]:
        """What keeps a tip off its target in some frames, `INVALID` if neither the solver nor the influence does."""
        numbers = {name: self._settings[number].of(name)[rows][:, None] for name in NUMBERS}
        body, are_limbs, places = self._limb(number, rows, np.concatenate([numbers[name] for name in IN_SHAPE], axis=1))
        settings = solver_settings(numbers, 1.0, np.cos)
        in_rest = self._settings[number].of("plane")[rows] == BY_NAME["plane"].number_of("REST")
        found = np.full(len(rows), Reach.INVALID, np.int8)
        for plane, are_in_it in (("REST", in_rest), ("SWING", ~in_rest)):  # A pole changes no reach.
            if are_in_it.any():
                features = features_of(settings, plane, np.any)
                reach = solve_chains(places, body, settings, features, tolerance=status.MISSED).reach
                found = np.where(are_in_it, reach[:, 0], found)
        are_blended = numbers["influence"][:, 0] < 1.0
        found = np.where(found == Reach.REACHED, np.where(are_blended, Reach.LIMITED, Reach.INVALID), found)
        return np.where(are_limbs, found, Reach.INVALID)

    def _limb(self, number: int, rows: NDArray[Any], angles: NDArray[Any]) -> tuple[Limb, NDArray[Any], NDArray[Any]]:
        """A limb as it is in some frames, where it can be posed ``(frames,)``, and where its target is in the frame F
        ``(frames, 1, 3)``; ``angles`` ``(frames, 3)`` are the settings `IN_SHAPE`."""
        limb = self._limbs[number]
        upper = limb[0]
        parent = self._pose(upper.parent)[rows] if upper.parent else None
        own = {name: [read.of(bone.name)[rows].astype(float) for bone in limb] for name, read in self._own.items()}
        unturned = np.tile(np.eye(4), (len(rows), 1, 1))
        unturned[:, :3, 3] = own["location"][0]
        frame = frame_of(upper.bone, parent, unturned)
        body, _, are_limbs = bodies_of([shapes_of(limb, parent, frame, own["location"][1], own["scale"], angles)])
        x, y, z = self._targets[rows, self._followers.index(number)].T
        places = moved(inverted(self._worlds[rows] @ frame), (x, y, z))
        return body, np.broadcast_to(are_limbs.reshape(-1), len(rows)), np.stack(places, axis=-1)[:, None]


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
