"""Limbs between FK and IK: the whole solution and the animator's own pose, of which what Blender shows is a mixture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph
from mathutils import Vector

from ...rig.anatomy import frame_of
from ...rig.data.access import bones_of
from ...solver.chain import Own, Uninherited, solve_chain, tip_position
from ...solver.chains import stacked
from ...solver.limb import Limb
from ...solver.ops import ARRAYS, Array
from ...solver.rotation import rotate
from ...solver.triangle import Settings
from .sights import Sight

Goals = tuple[Vector, Vector]
"""The places of a target and of a pole in the world; the latter's matters to nobody where there is none."""


class Parts(NamedTuple):
    """Places of limbs in the world ``(n, 3)``, and the axes of their bend planes as rows ``(n, 3, 3)``."""

    knee: Array
    tip: Array
    own_knee: Array
    own_tip: Array
    plane: Array


class Blended:
    """Limbs that are solved by the same formula, all at once."""

    def __init__(self, which: list[int], sights: list[Sight], axes: Array) -> None:
        self.which = which
        """Their numbers among the limbs that are shown."""
        shapes: list[Any] = [sight.shape for sight in sights]
        self._sights = sights
        self._axes = tuple(axes.transpose(2, 1, 0))
        self._features = shapes[0].features._replace(blended=False)
        self._limb: Limb = stacked([shape.limb for shape in shapes])
        self._upper = self._limb._replace(r2=0.0)
        self._settings: Settings = stacked([shape.settings for shape in shapes])
        self._uninherited: Uninherited | None = stacked([shape.uninherited or () for shape in shapes]) or None

    def place(self, goals: Iterable[Goals], depsgraph: Depsgraph) -> Parts:
        """Where they are, solved and as the animator posed them; from what each of them follows."""
        found = [_seen(sight, goal, depsgraph) for sight, goal in zip(self._sights, goals, strict=True)]
        numbers = np.array(found).T
        frames, target, pole = numbers[:12].T.reshape(-1, 3, 4), (*numbers[12:15],), (*numbers[15:18],)
        own = Own((*numbers[18:22],), (*numbers[22:],))
        with np.errstate(invalid="ignore"):  # what is not a number shows where it is
            solution = solve_chain(
                target, self._limb, self._settings, self._features, ARRAYS, pole, uninherited=self._uninherited
            )
            turns = Own(solution.upper, solution.lower)
            joints = [*self._joints(turns, solution.stretch), *self._joints(own, 1.0)]
            axes = rotate(solution.upper, self._axes)
        turned, moved = frames[:, :, :3].transpose(0, 2, 1), frames[:, None, :, 3]
        places = np.array(joints).transpose(2, 0, 1) @ turned + moved
        plane = np.array(axes).transpose(2, 1, 0) @ turned
        knee, tip, own_knee, own_tip = places.transpose(1, 0, 2)
        return Parts(knee, tip, own_knee, own_tip, plane)

    def _joints(self, turns: Own, stretch: Any) -> tuple[Any, Any]:
        """Knees and tips in F of limbs whose bones are turned so."""
        knee, tip = (tip_position(turns, limb, stretch, self._uninherited) for limb in (self._upper, self._limb))
        return knee, tip


def alike(which: Iterable[int], shown: Sequence[Sight], axes: Array) -> list[Blended]:
    """These of the limbs that are shown, by what they are solved by."""
    found: dict[Any, list[int]] = {}
    for i in which:
        shape: Any = shown[i].shape
        found.setdefault((shape.features, shape.uninherited is None), []).append(i)
    return [Blended(members, [shown[i] for i in members], axes[members]) for members in found.values()]


def _seen(sight: Sight, goals: Goals, depsgraph: Depsgraph) -> tuple[float, ...]:
    """The rows of a chain's frame F in the world, its target and pole in F, and the animator's rotations."""
    evaluated = sight.object.evaluated_get(depsgraph)
    frame: Any = evaluated.matrix_world @ frame_of(bones_of(evaluated)[sight.bones[0]])
    inside = frame.inverted_safe()
    target, pole = (inside @ goal for goal in goals)
    own: Any = sight.own(depsgraph)
    return (*frame[0][:], *frame[1][:], *frame[2][:], *target[:], *pole[:], *own.upper, *own.lower)
