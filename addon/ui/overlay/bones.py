"""Where bones, and what limbs follow, are in the evaluated scene: read for all limbs at once, by the armature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

import numpy as np
from bpy.types import Depsgraph

from ...rig.data.access import ArmatureObject, bones_of
from ...rig.targets import Target
from ...solver.ops import Array

FEW = 4
"""All objects of a scene are read at once if they are at most so many times as many as those that are asked for."""


class World:
    """Where objects are in the world and, of the armatures among them, all bones."""

    def __init__(self, objects: Iterable[Any], armatures: Iterable[ArmatureObject]) -> None:
        self._rows = {ob: i for i, ob in enumerate(dict.fromkeys(objects))}
        self._edits: int | None = None
        self._shown = np.empty((0, 4, 4), np.float32)
        self._to = self._from = np.empty(0, np.intp)
        self._others: list[tuple[int, Any]] = []
        self._parts: dict[Any, slice] = {}
        count = len(self._rows)
        for ob in armatures:
            self._parts[ob] = slice(count, count + len(bones_of(ob)))
            count = self._parts[ob].stop
        self._posed = np.empty((count, 4, 4), np.float32)
        self.matrices = np.zeros((count, 4, 4), np.float32)
        """By columns: three axes, and where the object or the bone's head is."""

    def object(self, ob: Any) -> int:
        """The place of an object among them."""
        return self._rows[ob]

    def first(self, ob: Any) -> int:
        """The place of an armature's first bone."""
        start: int = self._parts[ob].start
        return start

    def bone(self, ob: Any, name: str) -> int:
        """The place of a bone that the armature has."""
        return self.first(ob) + bones_of(ob).find(name)

    def goal(self, goal: Target) -> int:
        """The place of what a limb follows."""
        return self.bone(goal.object, goal.bone) if goal.bone else self.object(goal.object)

    def read(self, depsgraph: Depsgraph, edits: int) -> None:
        """Read where they are now; which objects the scene shows is looked up again when ``edits`` is another number.

        Raises `IndexError` if an armature has other bones.
        """
        if edits != self._edits:
            self._find(depsgraph)
            self._edits = edits
        if len(self._to):
            try:
                depsgraph.objects.foreach_get("matrix_world", self._shown.reshape(-1))
            except RuntimeError:  # there are other objects, which nobody told of
                self._edits = None
                self.read(depsgraph, edits)
                return
            self.matrices[self._to] = self._shown[self._from]
        for row, ob in self._others:
            self.matrices[row] = ob.evaluated_get(depsgraph).matrix_world.transposed()
        for ob, part in self._parts.items():
            posed = self._posed[part]
            _rows_of(bones_of(ob.evaluated_get(depsgraph)), "matrix", posed)
            to_world = self.matrices[self._rows[ob]]
            np.matmul(posed.reshape(-1, 4), to_world, out=self.matrices[part].reshape(-1, 4))

    def _find(self, depsgraph: Depsgraph) -> None:
        """Look up where in the depsgraph's list objects are; what is hidden is not in it."""
        limit = FEW * len(self._rows)
        shown: list[Any] = list(islice(depsgraph.objects, limit + 1))
        rows = [self._rows.get(each.original) for each in shown] if len(shown) <= limit else []
        self._shown = np.empty((len(rows), 4, 4), np.float32)
        self._from = np.array([i for i, row in enumerate(rows) if row is not None], np.intp)
        self._to = np.array([row for row in rows if row is not None], np.intp)
        self._others = [(row, ob) for ob, row in self._rows.items() if row not in rows]

    def scales(self, depsgraph: Depsgraph) -> Array:
        """What the bones' own channels scale them by, and 1 for objects, ``(objects and bones, 3)``."""
        found = np.ones((len(self.matrices), 3), np.float32)
        for ob, part in self._parts.items():
            _rows_of(bones_of(ob.evaluated_get(depsgraph)), "scale", found[part])
        return found


class Bases:
    """The animator's own rotations of bones, whatever their mode."""

    def __init__(self, places: Sequence[tuple[Any, bool, int]]) -> None:
        """Of as many bones: their armature, whether to look at it evaluated, and their places in it."""
        self._parts: dict[tuple[Any, bool], tuple[list[int], list[int]]] = {}
        for i, (ob, is_evaluated, place) in enumerate(places):
            which, members = self._parts.setdefault((ob, is_evaluated), ([], []))
            which.append(i)
            members.append(place)
        self._turns = np.empty((len(places), 3, 3))

    def read(self, depsgraph: Depsgraph) -> Array:
        """Their axes, as rows ``(n, 3, 3)``."""
        for (ob, is_evaluated), (which, members) in self._parts.items():
            bones = bones_of(ob.evaluated_get(depsgraph) if is_evaluated else ob)
            based, scales = np.empty((len(bones), 4, 4), np.float32), np.empty((len(bones), 3), np.float32)
            bones.foreach_get("matrix_basis", based.reshape(-1))
            bones.foreach_get("scale", scales.reshape(-1))
            sizes = scales[members]
            sizes[sizes == 0.0] = 1.0
            self._turns[which] = based[members, :3, :3] / sizes[:, :, None]
        return self._turns


def _rows_of(bones: Any, name: str, room: Array) -> None:
    if len(bones) != len(room):
        raise IndexError(len(bones))
    bones.foreach_get(name, room.reshape(-1))
