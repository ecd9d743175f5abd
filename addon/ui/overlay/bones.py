"""Where bones, and what limbs follow, are in the evaluated scene: read for all limbs at once, by the armature."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from bpy.types import Depsgraph

from ...live.places import Positions
from ...rig.data.access import ArmatureObject, bones_of
from ...rig.targets import Target
from ...solver.ops import Array


class Bones:
    """The bones of armatures, one armature's after another's, and after each's bones the armature itself."""

    def __init__(self, objects: Iterable[ArmatureObject]) -> None:
        self._parts: dict[Any, slice] = {}
        count = 0
        for ob in objects:
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
        """Read where they are now; raises `IndexError` if an armature has other bones."""
        for ob, part in self._parts.items():
            evaluated = ob.evaluated_get(depsgraph)
            _rows_of(evaluated.pose.bones, "matrix", self._posed[part])
            whole = slice(part.start, part.stop + 1)
            to_world = np.array(evaluated.matrix_world.transposed())
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

    def read(self, depsgraph: Depsgraph) -> Array:
        """Their axes, as rows ``(n, 3, 3)``; good until they are read again."""
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

    def __init__(self, goals: Sequence[Target | None], bones: Bones) -> None:
        on_bones = [(i, goal) for i, goal in enumerate(goals) if goal and goal.bone]
        self._bones = bones
        self._on_bones = [i for i, _ in on_bones]
        self._places = [bones.place(goal.object, goal.bone) for _, goal in on_bones]
        objects = [(i, goal) for i, goal in enumerate(goals) if goal and not goal.bone]
        self._on_objects = [i for i, _ in objects]
        self._objects = Positions([goal for _, goal in objects])

    def read(self, found: Array, depsgraph: Depsgraph) -> Array:
        """Put where they are now into an array ``(goals, 3)``."""
        if self._on_bones:
            found[self._on_bones] = self._bones.world[self._places, 3, :3]
        if self._on_objects:
            found[self._on_objects] = self._objects.read(depsgraph).T
        return found


def _rows_of(bones: Any, name: str, room: Array) -> None:
    if len(bones) != len(room):
        raise IndexError(len(bones))
    bones.foreach_get(name, room.reshape(-1))
