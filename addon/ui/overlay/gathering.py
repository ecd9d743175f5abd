"""From Blender to the overlay's numbers: how the limbs that are shown stand in the evaluated scene, read by the rig."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Context, Depsgraph

from ...rig.anatomy import frame_of
from ...rig.data.access import ArmatureObject, bones_of, view_layer_of
from ...rig.status import MISSED
from ...solver.ops import Array
from .blending import alike
from .bones import Bones, Goals, Objects
from .figure import CROSS_SIZE, FIRST, Place, radii, roles_in
from .placing import Bends, bend_axes, place_missed, place_other, place_tinted
from .sights import Shape, Sight, Sights

sights = Sights()

JOINTS = (Place.ROOT, Place.KNEE, Place.TIP)
NOTHING = np.zeros((0, len(Place), 4), np.float32)

Joints = tuple[Array, Array, Array]
"""Roots, knees and tips ``(n, 3)``."""


class Cast:
    """All limbs that something is drawn of, for as long as they do nothing but move: the first ones are shown with all
    there is, the others have their bones tinted."""

    def __init__(self, shown: tuple[Sight, ...], tinted: dict[ArmatureObject, list[tuple[int, int]]]) -> None:
        self.shown = shown
        goals = [goal for each in shown for goal in (each.target, each.pole)]
        owners: list[Any] = [*(each.object for each in shown), *tinted]
        armatures = dict.fromkeys([*owners, *(goal.object for goal in goals if goal and goal.bone)])
        self._objects = Objects([*armatures, *(goal.object for goal in goals if goal)])
        self._bones = Bones(armatures, self._objects)
        self._goals = Goals(goals, self._bones, self._objects)
        self._poled = [i for i, each in enumerate(shown) if each.pole]
        pairs = [(each.object, each.bones) for each in shown] + [(ob, pair) for ob in tinted for pair in tinted[ob]]
        self._pairs = np.array([[self._bones.first(ob) + bone for bone in pair] for ob, pair in pairs]).T
        self._lengths = np.array([[bones_of(ob)[lower].bone.length] for ob, (_, lower) in pairs])
        self.rows = np.zeros((FIRST + len(pairs), len(Place), 4), np.float32)
        """The table that the GPU looks places up in: the colours of lines and of areas, then a row for each limb."""
        self._set([_shape(each) for each in shown])

    def _set(self, shapes: list[Shape]) -> None:
        """Take notice of what does not change while limbs only move."""
        settings = [each.settings for each in shapes]
        self._axes = bend_axes(shapes)
        self._bends = Bends.of(settings)
        self._rings = np.array([radii(each.limb.bones, each.settings) for each in shapes]).reshape(-1, CROSS_SIZE)
        between = [i for i, each in enumerate(settings) if each.influence < 1.0]
        self._blended = alike(between, self.shown, self._axes, self._bones)
        self._stretched = [i for i, each in enumerate(self.shown) if each.is_stretched]
        self._looks, self._axes_kept = -1, self._axes
        self.roles = roles_in(self._rings, bool(self._blended), bool(self._poled))
        self.rows[FIRST : FIRST + len(shapes), :CROSS_SIZE, 3] = self._rings

    def place(self, depsgraph: Depsgraph) -> Array:
        """Fill the limbs' rows, which it returns, with how they stand now."""
        rows, count = self.rows[FIRST:], len(self.shown)
        self._objects.read(depsgraph, sights.edits)
        self._bones.read(depsgraph)
        uppers, lowers = self._bones.world[self._pairs]
        knees = lowers[:, 3, :3]
        joints = (uppers[:, 3, :3], knees, knees + self._lengths * lowers[:, 1, :3])
        for place, joint in zip(JOINTS, joints, strict=True):
            rows[:, place, :3] = joint
        if count < len(rows):
            place_tinted(rows[count:], uppers[count:, 2, :3])
        if count:
            root, knee, tip = (joint[:count] for joint in joints)
            self._place_shown(rows[:count], uppers[:count, :3, :3], (root, knee, tip), depsgraph)
        return rows

    def _place_shown(self, rows: Array, uppers: Array, joints: Joints, depsgraph: Depsgraph) -> None:
        root, knee, tip = joints
        goals = root.repeat(2, axis=0)  # where there is no pole
        target, pole = self._goals.read(goals).reshape(-1, 2, 3).transpose(1, 0, 2)
        rows[:, Place.TARGET, :3] = target
        if self._poled:
            rows[:, Place.POLE, :3], rows[:, Place.POLED_KNEE, :3] = pole, root
            rows[self._poled, Place.POLED_KNEE, :3] = knee[self._poled]
        plane = self._unscaled(depsgraph) @ uppers
        if self._blended:
            rows[:, Place.SOLVED_KNEE : Place.OWN_TIP + 1, :3] = root[:, None]
            knee, tip = knee.copy(), tip.copy()
        for blended in self._blended:
            which = blended.which
            parts = blended.place(root[which], goals.reshape(-1, 2, 3)[which], depsgraph, sights.edits)
            knee[which], tip[which], plane[which] = parts.knee, parts.tip, parts.plane
            rows[which, Place.SOLVED_KNEE : Place.OWN_TIP + 1, :3] = np.stack(parts[:4], axis=1)
        place_missed(rows, joints[2] - target, MISSED * self._rings[:, 0], plane[:, 0])
        place_other(rows, plane, (root, knee, tip), self._bends)

    def _unscaled(self, depsgraph: Depsgraph) -> Array:
        """The axes of the bend planes without what lengthens the upper bones of the limbs that are shown: their own
        channels, and on the rig what stretches them there."""
        if self._looks == sights.looks and not self._stretched:
            return self._axes_kept
        self._looks = sights.looks
        scales = self._bones.scales(depsgraph)[self._pairs[0, : len(self.shown)]]
        for i in self._stretched:
            if self.shown[i].source is None:
                upper = bones_of(self.shown[i].object.evaluated_get(depsgraph))[self.shown[i].bones[0]]
                inside = frame_of(upper).to_3x3().inverted_safe() @ upper.matrix.to_3x3()
                scales[i] = [axis.length for axis in inside.col]
        scales[scales == 0.0] = 1.0
        self._axes_kept = self._axes / scales[:, None]
        return self._axes_kept


_cast: Cast | None = None


def limbs_drawn(context: Context) -> tuple[Cast | None, Array]:
    """All limbs that something is drawn of, and their rows of the table as they stand; nothing if there are none."""
    global _cast  # noqa: PLW0603 - one, as the overlay has one selection
    depsgraph = view_layer_of(context).depsgraph
    if depsgraph is None:
        return None, NOTHING
    shown = sights.look(context, depsgraph)
    if not (shown or sights.tinted):
        return None, NOTHING
    if _cast is None or _cast.shown is not shown:
        _cast = Cast(shown, sights.tinted)
    return _cast, _cast.place(depsgraph)


def forget() -> None:
    """Let go of everything in the file."""
    global _cast  # noqa: PLW0603
    _cast = None
    sights.forget()


def _shape(chain: Sight) -> Shape:
    return chain.shape  # type: ignore[return-value]  # which is None for those only that are not shown
