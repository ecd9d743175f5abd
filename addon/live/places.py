"""Where the targets and poles of many chains are, read at once: asking for each costs more than solving the limb."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from bpy.types import Depsgraph, Object
from mathutils import Matrix
from numpy.typing import NDArray

from ..rig.data.access import bones_of

if TYPE_CHECKING:
    from ..rig.targets import Target
    from .chain import Chain
    from .frame import Frame

OBJECTS = 4
"""Reading all objects of a scene costs less than asking for some if they are at most so many times as many."""

BONES = 30
"""The same for the bones of an object."""

Single = NDArray[np.float32]


class Places:
    """Where the targets and poles, if any, of one object's chains are in the axes that the solver takes."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self._parents = list(dict.fromkeys(chain.parent for chain in chains))
        order = {parent: i for i, parent in enumerate(self._parents)}
        self._carried_by = np.array([order[chain.parent] for chain in chains])
        self._axes = _rows([chain.posing.to_axes for chain in chains if chain.posing])
        self._spaces = self._to_axes = _rows([])
        targets, poles = [chain.target for chain in chains], [chain.pole for chain in chains]
        self._goals = [Positions([goal for goal in goals if goal]) for goals in (targets, poles) if all(goals)]

    def read(self, frame: Frame) -> NDArray[np.float64]:
        """The places as columns ``(3 or 6, chains)``, to the last bit as `Chain.places` gives each."""
        spaces = _rows([frame.space(parent) for parent in self._parents])
        if spaces.tobytes() != self._spaces.tobytes():
            self._spaces = spaces
            self._to_axes = _product(self._axes, spaces[:, :, self._carried_by] if len(self._parents) > 1 else spaces)
        places = [_transformed(self._to_axes, goals.read(frame.depsgraph)) for goals in self._goals]
        return np.concatenate(places, dtype=np.float64)


class Positions:
    """The positions of many targets in the world."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._positions = np.empty((3, len(targets)), np.float32)
        self._objects = [(i, target) for i, target in enumerate(targets) if not target.bone]
        self._bones = [_Bones(ob, members) for ob, members in _by_object(targets).items()]
        self._listed: list[Object] = []
        self._columns = self._rows = _whole([])
        self._unlisted = self._objects

    def read(self, depsgraph: Depsgraph) -> Single:
        """The positions ``(3, targets)``, good until they are read again: for each what `Target.position` says."""
        self._read_objects(depsgraph)
        for i, target in self._unlisted:
            self._positions[:, i] = target.position(depsgraph)[:]
        for bones in self._bones:
            bones.read(depsgraph, self._positions)
        return self._positions

    def _read_objects(self, depsgraph: Depsgraph) -> None:
        objects = depsgraph.objects
        limit = OBJECTS * len(self._objects)
        shown: list[Any] = list(islice(objects, limit + 1))  # Counting those of a large scene costs more than asking.
        if len(shown) > limit:
            self._unlisted, self._listed = self._objects, []
            return
        originals = [evaluated.original for evaluated in shown]
        if originals != self._listed:
            self._find(originals)
        matrices = np.empty((len(originals), 4, 4), np.float32)
        objects.foreach_get("matrix_world", matrices.reshape(-1))
        self._positions[:, self._columns] = matrices[self._rows, 3, :3].T

    def _find(self, listed: list[Object]) -> None:
        """Look up where in the list the targets are; those that nothing shows are not among them."""
        self._listed = listed
        order = {ob: i for i, ob in enumerate(listed)}
        found = [(i, target, order.get(target.object)) for i, target in self._objects]
        self._columns = _whole([i for i, _, row in found if row is not None])
        self._rows = _whole([row for _, _, row in found if row is not None])
        self._unlisted = [(i, target) for i, target, row in found if row is None]


class _Bones:
    """The bones of one object among targets."""

    def __init__(self, ob: Object, targets: list[tuple[int, Target]]) -> None:
        bones = bones_of(ob)
        self._object = ob
        self._targets = targets
        self._columns = _whole([i for i, _ in targets])
        self._rows = _whole([bones.find(target.bone) for _, target in targets])
        self._is_worth_it = len(bones) <= BONES * len(targets)

    def read(self, depsgraph: Depsgraph, positions: Single) -> None:
        if not self._is_worth_it:
            for i, target in self._targets:
                positions[:, i] = target.position(depsgraph)[:]
            return
        evaluated = self._object.evaluated_get(depsgraph)
        bones = bones_of(evaluated)
        heads = np.empty((len(bones), 3), np.float32)
        bones.foreach_get("head", heads.reshape(-1))
        positions[:, self._columns] = _transformed(_rows([evaluated.matrix_world]), heads[self._rows].T)


def _by_object(targets: Sequence[Target]) -> dict[Object, list[tuple[int, Target]]]:
    found: dict[Object, list[tuple[int, Target]]] = {}
    for i, target in enumerate(targets):
        if target.bone:
            found.setdefault(target.object, []).append((i, target))
    return found


def _whole(numbers: list[int]) -> NDArray[np.intp]:
    return np.array(numbers, np.intp)


# As mathutils does, these round products to single precision and sum them in double.


def _rows(matrices: Sequence[Matrix]) -> Single:
    """The rows of affine matrices, but for the last, as ``(3, 4, matrices)``."""
    numbers: list[Any] = [(*matrix[0][:], *matrix[1][:], *matrix[2][:]) for matrix in matrices]
    return np.array(numbers, np.float32).T.reshape(3, 4, -1)


def _product(rows: Single, others: Single) -> Single:
    """Matrices ``(3, 4, n)`` times matrices ``(3, 4, n or 1)``."""
    products = (rows[:, :3, None] * others).astype(np.float64)
    sums = products[:, 0] + products[:, 1] + products[:, 2]
    sums[:, 3] += rows[:, 3]
    single: Single = sums.astype(np.float32)
    return single


def _transformed(rows: Single, points: Single) -> Single:
    """Matrices ``(3, 4, n or 1)`` times points ``(3, n)``."""
    products = (rows[:, :3] * points).astype(np.float64)
    sums = products[:, 0] + products[:, 1] + products[:, 2] + rows[:, 3]
    single: Single = sums.astype(np.float32)
    return single
