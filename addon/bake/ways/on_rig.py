"""What became of limbs on the rig in frames that were stepped: their tips are seen there, and where one is not on its
target, arrays tell afterwards what keeps it away."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ...rig import status
from ...rig.anatomy import solved
from ...rig.data.access import bones_of, chain_settings, upper_of
from ...rig.data.dependencies import Dependencies
from ...rig.data.rotation import to_channels
from ...rig.kinds import Refused
from ...rig.problems import moved_by, movers_of
from ...rig.settings import IN_SHAPE, NUMBERS, features_of, solver_settings
from ...solver import Reach
from ...solver.chains import solve_chains
from ...solver.limb import Limb
from .courses.transforms import frame_of, inverted, moved
from .recording import BoneValues, ChainRecorder, matrices_of
from .shapes import bodies_of, shapes_of


class RigRecorder(ChainRecorder):
    """Chains on the rig of one object: their bones' channels as they are evaluated, joints and reach."""

    def __init__(self, lowers: list[PoseBone], count: int) -> None:
        super().__init__(lowers, count)
        dependencies = Dependencies()
        uppers = [upper_of(lower) for lower in lowers]
        names = [bone.name for bone in (*uppers, *lowers)]
        parents = list({upper.parent.name for upper in uppers if upper.parent})
        self._limbs = list(zip(uppers, lowers, strict=True))
        self._movers = [movers_of(lower, dependencies) for lower in lowers]
        self._parents = BoneValues(self.object, "matrix", parents, count)
        self._own = {name: BoneValues(self.object, name, names, count) for name in ("location", "scale")}
        self._settings: list[list[tuple[str, dict[str, float]]]] = [[] for _ in lowers]
        """By limbs, the plane and the numbers that each frame has."""

    def record_results(self, i: int, depsgraph: Depsgraph) -> None:
        """Read what the limbs are made of in the ``i``-th frame, and count those that are on as on their targets."""
        for values in (self._parents, *self._own.values()):
            values.record(i, depsgraph)
        bones = bones_of(self.object.evaluated_get(depsgraph))
        for number, sample in enumerate(self.samples):
            settings = chain_settings(bones[sample.lower])
            numbers = settings.numbers()
            self._settings[number].append((settings.plane, numbers))
            if settings.enabled:
                self.influence[i, number] = numbers["influence"]
                sample.is_stretched = sample.is_stretched or numbers["stretch"] > 0.0
                self.reach[i, number] = Reach.REACHED

    def in_doubt(self) -> Iterator[tuple[int, int]]:
        """The frames and limbs, by their numbers, that are to be examined again, once all frames are read: the first
        in which a tip is off its target, as no frame changes a mechanism, and those in which arrays do not tell why."""
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
        """Read what turns and scales the limbs' bones in the ``i``-th frame."""
        bones = bones_of(self.object.evaluated_get(depsgraph))
        for sample in self.samples:
            for turned, scaled in (sample.tracks[:2], sample.tracks[2:]):
                bone = bones[turned.bone]
                turn, scaled.values[i] = solved(bone)
                turned.values[i] = to_channels(turned.mode, turn, getattr(bone, turned.channel)[:])

    def _reach(self, number: int, rows: NDArray[Any]) -> NDArray[Any]:
        """What keeps a tip off its target in some frames, `INVALID` if neither the solver nor the influence does."""
        given = [self._settings[number][row] for row in rows]
        numbers = {name: np.array([each[name] for _, each in given])[:, None] for name in NUMBERS}
        body, are_limbs, places = self._limb(number, rows, np.concatenate([numbers[name] for name in IN_SHAPE], axis=1))
        settings = solver_settings(numbers, 1.0, np.cos)
        planes = np.array(["REST" if plane == "REST" else "SWING" for plane, _ in given])  # A pole changes no reach.
        found = np.full(len(rows), Reach.INVALID, np.int8)
        for plane in set(planes.tolist()):
            features = features_of(settings, plane, np.any)
            reach = solve_chains(places, body, settings, features, tolerance=status.MISSED).reach
            found = np.where(planes == plane, reach[:, 0], found)
        are_blended = numbers["influence"][:, 0] < 1.0
        found = np.where(found == Reach.REACHED, np.where(are_blended, Reach.LIMITED, Reach.INVALID), found)
        return np.where(are_limbs, found, Reach.INVALID)

    def _limb(self, number: int, rows: NDArray[Any], angles: NDArray[Any]) -> tuple[Limb, NDArray[Any], NDArray[Any]]:
        """A limb as it is in some frames, where it can be posed ``(frames,)``, and where its target is in the frame F
        ``(frames, 1, 3)``; ``angles`` ``(frames, 3)`` are the settings `IN_SHAPE`."""
        limb = self._limbs[number]
        upper = limb[0]
        parent = matrices_of(self._parents.of(upper.parent.name)[rows]) if upper.parent else None
        own = {name: [read.of(bone.name)[rows].astype(float) for bone in limb] for name, read in self._own.items()}
        unturned = np.tile(np.eye(4), (len(rows), 1, 1))
        unturned[:, :3, 3] = own["location"][0]
        frame = frame_of(upper.bone, parent, unturned)
        body, _, are_limbs = bodies_of([shapes_of(limb, parent, frame, own["location"][1], own["scale"], angles)])
        x, y, z = self._targets[rows, self._followers.index(number)].T
        places = moved(inverted(self._worlds[rows] @ frame), (x, y, z))
        return body, np.broadcast_to(are_limbs.reshape(-1), len(rows)), np.stack(places, axis=-1)[:, None]
