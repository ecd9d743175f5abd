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
from .bones import World
from .figure import CROSS_SIZE, FIRST, Place, radii, roles_in
from .placing import Bends, bend_axes, dot, place_missed, place_other, place_tinted
from .sights import Shape, Sight, Sights

sights = Sights()

NOTHING = np.zeros((0, len(Place), 4), np.float32)


class Cast:
    """All limbs that something is drawn of, for as long as they do nothing but move: the first ones are shown with all
    there is, the others have their bones tinted."""

    def __init__(self, shown: tuple[Sight, ...], tinted: dict[ArmatureObject, list[tuple[int, int]]]) -> None:
        self.shown = shown
        targets: list[Any] = [each.target for each in shown]
        goals = [*targets, *(each.pole for each in shown if each.pole)]
        owners: list[Any] = [*(each.object for each in shown), *tinted]
        armatures = dict.fromkeys([*owners, *(goal.object for goal in goals if goal.bone)])
        self._world = world = World([*armatures, *(goal.object for goal in goals)], armatures)
        pairs = [(each.object, each.bones) for each in shown] + [(ob, pair) for ob in tinted for pair in tinted[ob]]
        self._pairs = np.array([[world.first(ob) + bone for bone in pair] for ob, pair in pairs]).T
        self._goals = np.stack((self._pairs[0, : len(shown)],) * 2)  # where there is no pole, the root
        self._goals[0] = [world.goal(target) for target in targets]
        self._poled = np.array([i for i, each in enumerate(shown) if each.pole], np.intp)
        self._goals[1, self._poled] = [world.goal(each.pole) for each in shown if each.pole]
        self._lengths = np.array([[bones_of(ob)[lower].bone.length] for ob, (_, lower) in pairs], np.float32)
        self.tinted = len(pairs) - len(shown)
        """How many have only their bones tinted."""
        self.rows = np.zeros((FIRST + len(pairs), len(Place), 4), np.float32)
        """The table that the GPU looks places up in: the colours of lines and of areas, then a row for each limb."""
        self._set([_shape(each) for each in shown])

    def _set(self, shapes: list[Shape]) -> None:
        """Take notice of what does not change while limbs only move."""
        settings = [each.settings for each in shapes]
        self._axes = bend_axes(shapes)
        self._bends = Bends.of(settings)
        rings = np.array([radii(each.limb.bones, each.settings) for each in shapes]).reshape(-1, CROSS_SIZE)
        self._least = (MISSED * rings[:, 0]) ** 2
        between = [i for i, each in enumerate(settings) if each.influence < 1.0]
        self._blended = alike(between, self.shown, self._axes, self._world)
        self._stretched = [i for i, each in enumerate(self.shown) if each.is_stretched]
        self._looks, self._axes_kept = -1, self._axes
        self.roles = roles_in(rings, bool(self._blended), bool(len(self._poled)))
        self.rows[FIRST : FIRST + len(shapes), :CROSS_SIZE, 3] = rings

    def place(self, depsgraph: Depsgraph) -> Array:
        """Fill the limbs' rows, which it returns, with how they stand now."""
        rows, count = self.rows[FIRST:], len(self.shown)
        places = rows[:, :, :3]
        self._world.read(depsgraph, sights.edits)
        uppers, lowers = self._world.matrices.take(self._pairs, axis=0)[:, :, :, :3]
        places[:, Place.ROOT] = uppers[:, 3]
        places[:, Place.KNEE] = knee = lowers[:, 3]
        places[:, Place.TIP] = knee + self._lengths * lowers[:, 1]
        if self.tinted:
            place_tinted(places[count:], uppers[count:, 2])
        if count:
            self._place_shown(rows[:count], uppers[:count, :3], depsgraph)
        return rows

    def _place_shown(self, rows: Array, uppers: Array, depsgraph: Depsgraph) -> None:
        places = rows[:, :, :3]
        root, knee, tip = places[:, Place.ROOT], places[:, Place.KNEE], places[:, Place.TIP]
        goals = self._world.matrices.take(self._goals, axis=0)[:, :, 3, :3]
        places[:, Place.TARGET] = target = goals[0]
        if len(self._poled):
            places[:, Place.POLE] = goals[1]
            places[:, Place.POLED_KNEE] = root
            places[self._poled, Place.POLED_KNEE] = knee[self._poled]
        plane = self._unscaled(depsgraph) @ uppers
        away = tip - target
        if self._blended:
            places[:, Place.SOLVED_KNEE : Place.OWN_TIP + 1] = root[:, None]
            knee, tip = knee.copy(), tip.copy()
        for blended in self._blended:
            which = blended.which
            joints, plane[which] = blended.place(root[which], goals[:, which], depsgraph, sights.edits)
            knee[which], tip[which] = joints[:, 0], joints[:, 1]
            places[which, Place.SOLVED_KNEE : Place.OWN_TIP + 1] = joints
        place_other(places, plane, (root, knee, tip), self._bends)
        place_missed(rows, dot(away, away) > self._least * dot(plane[:, 0], plane[:, 0]))

    def _unscaled(self, depsgraph: Depsgraph) -> Array:
        """The axes of the bend planes without what lengthens the upper bones of the limbs that are shown: their own
        channels, and on the rig what stretches them there."""
        if self._looks == sights.looks and not self._stretched:
            return self._axes_kept
        self._looks = sights.looks
        scales = self._world.scales(depsgraph)[self._pairs[0, : len(self.shown)]]
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
