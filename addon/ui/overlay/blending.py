"""Limbs between FK and IK: the whole solution and the animator's own pose, of which what Blender shows is a mixture.

Turns are kept as the axes that they take a bone's own to, in rows, so that a row of numbers times them is turned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from bpy.types import Depsgraph
from mathutils import Quaternion

from ...live.plan import plan
from ...rig.anatomy import frame_of, hangs_as_child
from ...rig.data.access import bones_of, scene_settings
from ...solver.chain import axes_for
from ...solver.compiled import bind_rows, constants_of
from ...solver.ops import Array
from ...solver.rotation import combine, conjugate, rotate
from .bones import Bases, World
from .sights import Shape, Sight

WW, WX, WY, WZ, XX, XY, XZ, YY, YZ, ZZ = np.eye(16).reshape(4, 4, 16)[np.triu_indices(4)]
TO_AXES = np.array(
    (
        (WW + XX - YY - ZZ, 2 * (XY + WZ), 2 * (XZ - WY)),
        (2 * (XY - WZ), WW - XX + YY - ZZ, 2 * (YZ + WX)),
        (2 * (XZ + WY), 2 * (YZ - WX), WW - XX - YY + ZZ),
    )
).reshape(9, 16)
"""What of the products of a unit quaternion's numbers makes the axes of its turn."""


class Blended:
    """Limbs that are solved by the same formula, all at once."""

    def __init__(self, which: list[int], sights: list[Sight], axes: Array, world: World) -> None:
        self.which = slice(which[0], which[-1] + 1) if which[-1] - which[0] < len(which) else np.array(which)
        """Their places among the limbs that are shown."""
        shapes: list[Any] = [sight.shape for sight in sights]
        features, self._is_uninherited = shapes[0].features._replace(blended=False), shapes[0].uninherited is not None
        self._sights, self._axes = sights, axes
        to_axes = np.array([axes_for(each.limb, features.plane) for each in shapes]).transpose(0, 2, 1)
        self._carriers = Carriers(sights, world, to_axes)
        constants = [constants_of(each.limb, each.settings, 0.0, each.uninherited) for each in shapes]
        self._solve = bind_rows(constants, features, self._is_uninherited)
        self._goals = 2 if features.plane == "POLE" else 1
        self._upper = np.array([each.limb.r1 for each in shapes]).reshape(-1, 1, 1)
        lowers, hung = zip(*map(_lower_of, shapes), strict=True)
        self._lower, self._hung = np.array(lowers)[:, None], np.array(hung)
        self._is_linked = any(each.source and each.object.library for each in sights)
        self._own = Bases([(each.object, each.source is None, bone) for each in sights for bone in each.bones])
        self._edits: int | None = None
        self._local = np.empty((len(sights), 7, 3))
        """In F: knees and tips, solved and the animator's own, less the roots; and the axes of the bend planes."""

    def place(self, root: Array, goals: Array, depsgraph: Depsgraph, edits: int) -> tuple[Array, Array]:
        """Knees and tips in the world, solved and then as the animator posed them ``(n, 4, 3)``, and the axes of the
        solved bend planes as rows ``(n, 3, 3)``; from the places of roots, and of targets and poles ``(2, n, 3)``. The
        animator's own pose is read again when ``edits`` is another number."""
        frames, to_axes = self._carriers.read(depsgraph)
        given = (goals[: self._goals] - root).transpose(1, 0, 2) @ to_axes
        solved = self._solve(given.reshape(len(root), -1).T)
        self._put(0, axes_of(solved[:8]), solved[8].reshape(-1, 1, 1))
        if self._is_in_channels(depsgraph.scene):
            turns = [axes_of(np.array(each.own(depsgraph)).reshape(8, 1)) for each in self._sights]
            self._put(2, np.concatenate(turns, axis=1))
            self._edits = None
        elif edits != self._edits:
            self._put(2, self._own.read(depsgraph).reshape(-1, 2, 3, 3).transpose(1, 0, 2, 3))
            self._edits = edits
        found = self._local @ frames
        return found[:, :4] + root[:, None], found[:, 4:]

    def _put(self, first: int, turns: Array, stretch: Any = 1.0) -> None:
        """Put a pose's knees and tips, by the turns of the upper and of the lower bones ``(2, n, 3, 3)``, and if it is
        the solution, the bend planes."""
        upper, lower = turns
        plane = self._axes @ upper
        beyond = self._lower @ lower @ self._hung
        knee = stretch * self._upper * plane[:, :1]
        self._local[:, first : first + 1] = knee
        self._local[:, first + 1 : first + 2] = knee + stretch * (beyond if self._is_uninherited else beyond @ upper)
        if first == 0:
            self._local[:, 4:] = plane

    def _is_in_channels(self, scene: Any) -> bool:
        """Whether solutions may stand in the channels that are the animator's."""
        return self._is_linked or plan.is_kept or not scene_settings(scene).live


class Carriers:
    """What carries limbs, in which their frames F stand still: for each its parent or, without one, the armature. If it
    hangs otherwise on that than a child does, F itself, which must be looked up each time."""

    def __init__(self, sights: Sequence[Sight], world: World, to_axes: Array) -> None:
        """``to_axes`` takes F's to those that limbs are solved in, ``(n, 3, 3)``."""
        self._world = world
        rows: dict[Any, int] = {}
        carried = []
        for sight in sights:
            key, turn = _carrier_of(sight, world)
            carried.append((rows.setdefault(key, len(rows)), turn))
        self._which = np.array([row for row, _ in carried])
        self._carried = np.array([turn for _, turn in carried])
        self._to_axes = np.linalg.inv(self._carried) @ to_axes
        self._places = np.array([0 if isinstance(key, Sight) else key for key in rows])
        self._frames = [(row, key) for key, row in rows.items() if isinstance(key, Sight)]
        self._axes = np.empty(0)
        self._found = self._axes, self._axes

    def read(self, depsgraph: Depsgraph) -> tuple[Array, Array]:
        """The axes of the limbs' frames in the world, and what takes the world's to those that they are solved in."""
        axes = self._world.matrices.take(self._places, axis=0)[:, :3, :3].astype(float)
        for row, sight in self._frames:
            evaluated = sight.object.evaluated_get(depsgraph)
            frame = evaluated.matrix_world @ frame_of(bones_of(evaluated)[sight.bones[0]])
            axes[row] = frame.to_3x3().transposed()
        if not np.array_equal(axes, self._axes):
            self._axes = axes
            try:
                inverted = np.linalg.inv(axes)
            except np.linalg.LinAlgError:  # something is scaled to nothing
                inverted = np.linalg.pinv(axes)
            self._found = self._carried @ axes[self._which], inverted[self._which] @ self._to_axes
        return self._found


def alike(which: Iterable[int], shown: Sequence[Sight], axes: Array, world: World) -> list[Blended]:
    """These of the limbs that are shown, by what they are solved by."""
    found: dict[Any, list[int]] = {}
    for i in which:
        shape: Any = shown[i].shape
        found.setdefault((shape.features, shape.uninherited is None), []).append(i)
    return [Blended(members, [shown[i] for i in members], axes[members], world) for members in found.values()]


def axes_of(quaternions: Array) -> Array:
    """The axes ``(2, n, 3, 3)`` that two unit quaternions of each limb ``(8, n)`` turn a bone's own to."""
    each = quaternions.reshape(2, 4, -1)
    products = (each[:, :, None] * each[:, None]).reshape(2, 16, -1)
    return (TO_AXES @ products).transpose(0, 2, 1).reshape(2, -1, 3, 3)  # type: ignore[no-any-return]


def _carrier_of(sight: Sight, world: World) -> tuple[Any, Any]:
    """The place of what carries a limb, or else the limb; and the axes of its frame in that."""
    upper = bones_of(sight.object)[sight.bones[0]]
    rest = upper.bone.matrix_local.to_3x3()
    if upper.parent is None:
        return world.object(sight.object), rest.transposed()
    if hangs_as_child(upper):
        inside = upper.parent.bone.matrix_local.to_3x3().inverted() @ rest
        return world.bone(sight.object, upper.parent.name), inside.transposed()
    return sight, np.eye(3)


def _lower_of(shape: Shape) -> tuple[Any, Any]:
    """The lower bone's direction, as long as it is, in the axes that its own rotation is in, and these axes in F or, if
    they are turned with the upper bone, in that."""
    limb, uninherited = shape.limb, shape.uninherited
    pointing = rotate(limb.rest_turn, (limb.r2, 0.0, 0.0))
    if uninherited is None:
        return combine(*pointing, limb.lower_axes), np.array(limb.lower_axes).T @ np.array(limb.axes)
    turned = rotate(conjugate(uninherited.rest), combine(*pointing, limb.axes))
    return turned, np.array(Quaternion(uninherited.now).to_matrix().transposed())
