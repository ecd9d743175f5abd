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


class Objects:
    """Where objects are in the world."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self._rows = {ob: i for i, ob in enumerate(dict.fromkeys(objects))}
        self._edits: int | None = None
        self._shown = 0
        self._from: Any = []
        self._to: Any = []
        self._others: list[tuple[int, Any]] = []
        self.world = np.empty((len(self._rows), 4, 4), np.float32)
        """Their matrices by columns."""

    def row(self, ob: Any) -> int:
        """The place of an object among them."""
        return self._rows[ob]

    def read(self, depsgraph: Depsgraph, edits: int) -> None:
        """Read where they are now; which ones the scene shows is looked up again when ``edits`` is another number."""
        if edits != self._edits:
            self._find(depsgraph)
            self._edits = edits
        if len(self._to):
            found = np.empty((self._shown, 4, 4), np.float32)
            try:
                depsgraph.objects.foreach_get("matrix_world", found.reshape(-1))
            except RuntimeError:  # there are other objects, which nobody told of
                self._find(depsgraph)
                self.read(depsgraph, edits)
                return
            self.world[self._to] = found[self._from]
        for row, ob in self._others:
            self.world[row] = ob.evaluated_get(depsgraph).matrix_world.transposed()

    def _find(self, depsgraph: Depsgraph) -> None:
        """Look up where in the depsgraph's list they are; what is hidden is not in it."""
        limit = FEW * len(self._rows)
        shown: list[Any] = list(islice(depsgraph.objects, limit + 1))
        rows = [self._rows.get(each.original) for each in shown] if len(shown) <= limit else []
        self._shown = len(rows)
        self._from = [i for i, row in enumerate(rows) if row is not None]
        self._to = [row for row in rows if row is not None]
        self._others = [(row, ob) for ob, row in self._rows.items() if row not in self._to]


class Bones:
    """The bones of armatures, one armature's after another's, and after each's bones the armature itself."""

    def __init__(self, armatures: Iterable[ArmatureObject], objects: Objects) -> None:
        self._parts: dict[Any, slice] = {}
        self._objects = objects
        count = 0
        for ob in armatures:
            self._parts[ob] = slice(count, count + len(bones_of(ob)))
            count = self._parts[ob].stop + 1
        self._posed = np.zeros((count, 4, 4), np.float32)
        for part in self._parts.values():
            self._posed[part.stop] = np.eye(4)
        self.world = np.empty((count, 4, 4))
        """Their matrices by columns: three axes, and their heads."""

    def place(self, ob: Any, bone: str) -> int:
        """The place of a bone among them; raises `KeyError`."""
        return self.first(ob) + bones_of(ob).find(bone)

    def first(self, ob: Any) -> int:
        """The place of an armature's first bone."""
        start: int = self._parts[ob].start
        return start

    def itself(self, ob: Any) -> int:
        """The place of an armature, which its bones without a parent hang on."""
        stop: int = self._parts[ob].stop
        return stop

    def read(self, depsgraph: Depsgraph) -> None:
        """Read where they are now, on the objects as read; raises `IndexError` if an armature has other bones."""
        for ob, part in self._parts.items():
            _rows_of(bones_of(ob.evaluated_get(depsgraph)), "matrix", self._posed[part])
            whole = slice(part.start, part.stop + 1)
            to_world = self._objects.world[self._objects.row(ob)]
            np.matmul(self._posed[whole].reshape(-1, 4), to_world, out=self.world[whole].reshape(-1, 4))

    def scales(self, depsgraph: Depsgraph) -> Array:
        """What the bones' own channels scale them by, ``(bones, 3)``."""
        found = np.ones((len(self.world), 3), np.float32)
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
        self._edits: int | None = None

    def read(self, depsgraph: Depsgraph, edits: int) -> Array:
        """Their axes, as rows ``(n, 3, 3)``; read again when ``edits`` is another number, and good until then."""
        if edits == self._edits:
            return self._turns
        self._edits = edits
        for (ob, is_evaluated), (which, members) in self._parts.items():
            bones = bones_of(ob.evaluated_get(depsgraph) if is_evaluated else ob)
            based, scales = np.empty((len(bones), 4, 4), np.float32), np.empty((len(bones), 3), np.float32)
            bones.foreach_get("matrix_basis", based.reshape(-1))
            bones.foreach_get("scale", scales.reshape(-1))
            sizes = scales[members]
            sizes[sizes == 0.0] = 1.0
            self._turns[which] = based[members, :3, :3] / sizes[:, :, None]
        return self._turns


class Goals:
    """Where what limbs follow is: the target, or the pole, of each that has one."""

    def __init__(self, goals: Sequence[Target | None], bones: Bones, objects: Objects) -> None:
        on_bones = [(i, goal) for i, goal in enumerate(goals) if goal and goal.bone]
        self._bones, self._objects = bones, objects
        self._on_bones = [i for i, _ in on_bones]
        self._places = [bones.place(goal.object, goal.bone) for _, goal in on_bones]
        on_objects = [(i, goal) for i, goal in enumerate(goals) if goal and not goal.bone]
        self._on_objects = [i for i, _ in on_objects]
        self._rows = [objects.row(goal.object) for _, goal in on_objects]

    def read(self, found: Array) -> Array:
        """Put where they are, on the objects and bones as read, into an array ``(goals, 3)``."""
        if self._on_bones:
            found[self._on_bones] = self._bones.world[self._places, 3, :3]
        if self._on_objects:
            found[self._on_objects] = self._objects.world[self._rows, 3, :3]
        return found


def _rows_of(bones: Any, name: str, room: Array) -> None:
    if len(bones) != len(room):
        raise IndexError(len(bones))
    bones.foreach_get(name, room.reshape(-1))
