"""Limbs between FK and IK: the whole solution and the animator's own pose, of which what Blender shows is a mixture.

Turns are kept as the axes that they take a bone's own to, in rows, so that a row of numbers times them is turned.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

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
from .bones import Bases, Bones
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


class Parts(NamedTuple):
    """Places of limbs in the world ``(n, 3)``, and the axes of their bend planes as rows ``(n, 3, 3)``."""

    knee: Array
    tip: Array
    own_knee: Array
    own_tip: Array
    plane: Array


class Blended:
    """Limbs that are solved by the same formula, all at once."""

    def __init__(self, which: list[int], sights: list[Sight], axes: Array, bones: Bones) -> None:
        self.which = which
        """Their numbers among the limbs that are shown."""
        shapes: list[Any] = [sight.shape for sight in sights]
        features, self._is_uninherited = shapes[0].features._replace(blended=False), shapes[0].uninherited is not None
        self._sights, self._axes = sights, axes
        self._carriers = Carriers(sights, bones)
        to_axes = np.array([axes_for(each.limb, features.plane) for each in shapes]).transpose(0, 2, 1)
        self._to_axes = np.linalg.inv(self._carriers.carried) @ to_axes
        constants = [constants_of(each.limb, each.settings, 0.0, each.uninherited) for each in shapes]
        self._solve = bind_rows(constants, features, self._is_uninherited)
        self._goals = 2 if features.plane == "POLE" else 1
        self._upper = np.array([[each.limb.axes[0]] for each in shapes])
        self._upper *= np.array([each.limb.r1 for each in shapes]).reshape(-1, 1, 1)
        lowers, hung = zip(*map(_lower_of, shapes), strict=True)
        self._lower, self._hung = np.array(lowers)[:, None], np.array(hung)
        self._is_linked = any(each.source and each.object.library for each in sights)
        self._own = Bases([(each.object, each.source is None, bone) for each in sights for bone in each.bones])

    def place(self, root: Array, goals: Array, depsgraph: Depsgraph, edits: int) -> Parts:
        """Where they are, solved and as the animator posed them; from the places of their roots, and of each's target
        and pole ``(n, 2, 3)``."""
        frames, inverted = self._carriers.read(depsgraph)
        given = (goals[:, : self._goals] - root[:, None]) @ inverted @ self._to_axes
        solved = self._solve(given.reshape(len(root), -1).T)
        upper, lower = np.stack((axes_of(solved[:8]), self._read_own(depsgraph, edits)), axis=1)
        upper = upper @ frames
        stretch = np.ones((2, len(root), 1, 1))
        stretch[0, :, 0, 0] = solved[8]
        knee = stretch * (self._upper @ upper)
        tip = knee + stretch * (self._lower @ lower @ self._hung @ (frames if self._is_uninherited else upper))
        (knee, own_knee), (tip, own_tip) = (joint[:, :, 0] + root for joint in (knee, tip))
        return Parts(knee, tip, own_knee, own_tip, self._axes @ upper[0])

    def _read_own(self, depsgraph: Depsgraph, edits: int) -> Array:
        """The animator's own turns of the upper and of the lower bones ``(2, n, 3, 3)``."""
        found = self._own.read(depsgraph, edits).reshape(-1, 2, 3, 3).transpose(1, 0, 2, 3)
        scene: Any = depsgraph.scene
        if self._is_linked or plan.is_kept or not scene_settings(scene).live:  # solutions may stand in the channels
            for i, sight in enumerate(self._sights):
                found[:, i] = axes_of(np.array(sight.own(depsgraph)).reshape(8, 1))[:, 0]
        return found


class Carriers:
    """What carries limbs, in which their frames F stand still: for each its parent or, without one, the armature. If it
    hangs otherwise on that than a child does, F itself, which must be looked up each time."""

    def __init__(self, sights: Sequence[Sight], bones: Bones) -> None:
        self._bones = bones
        rows: dict[Any, int] = {}
        carried = []
        for sight in sights:
            key, turn = _carrier_of(sight, bones)
            carried.append((rows.setdefault(key, len(rows)), turn))
        self._which = [row for row, _ in carried]
        self.carried = np.array([turn for _, turn in carried])
        """The axes of their frames in what carries them."""
        self._places = [0 if isinstance(key, Sight) else key for key in rows]
        self._frames = [(row, key) for key, row in rows.items() if isinstance(key, Sight)]
        self._axes = np.empty(0)
        self._found = self._axes, self._axes

    def read(self, depsgraph: Depsgraph) -> tuple[Array, Array]:
        """The axes of the limbs' frames in the world, and what takes the world's to those of what carries them."""
        axes = self._bones.world[self._places, :3, :3]
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
            self._found = self.carried @ axes[self._which], inverted[self._which]
        return self._found


def alike(which: Iterable[int], shown: Sequence[Sight], axes: Array, bones: Bones) -> list[Blended]:
    """These of the limbs that are shown, by what they are solved by."""
    found: dict[Any, list[int]] = {}
    for i in which:
        shape: Any = shown[i].shape
        found.setdefault((shape.features, shape.uninherited is None), []).append(i)
    return [Blended(members, [shown[i] for i in members], axes[members], bones) for members in found.values()]


def axes_of(quaternions: Array) -> Array:
    """The axes ``(2, n, 3, 3)`` that two unit quaternions of each limb ``(8, n)`` turn a bone's own to."""
    each = quaternions.reshape(2, 4, -1)
    products = (each[:, :, None] * each[:, None]).reshape(2, 16, -1)
    return (TO_AXES @ products).transpose(0, 2, 1).reshape(2, -1, 3, 3)  # type: ignore[no-any-return]


def _carrier_of(sight: Sight, bones: Bones) -> tuple[Any, Any]:
    """The place of what carries a limb, or else the limb; and the axes of its frame in that."""
    upper = bones_of(sight.object)[sight.bones[0]]
    rest = upper.bone.matrix_local.to_3x3()
    if upper.parent is None:
        return bones.itself(sight.object), rest.transposed()
    if hangs_as_child(upper):
        inside = upper.parent.bone.matrix_local.to_3x3().inverted() @ rest
        return bones.place(sight.object, upper.parent.name), inside.transposed()
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
