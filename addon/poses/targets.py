"""Where a limb's target has to be for its tip to be somewhere: or past it where softness or stretch hold back."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Vector
from numpy.typing import NDArray

from ..limb.solving import limbs_now, solve
from ..limb.table import joints_in
from ..solver.matrices import applied, inverted_all
from .fitting import PAST_STRAIGHT

Array = NDArray[Any]

EXACT = 1e-7
"""How far the tip may be off, in lengths of the limb, for its target not to be looked for elsewhere."""

STEPS, ROUNDS = 33, 5
"""In how many places on the line from the root the target is tried at once, and how often ever closer together."""


def target_for(context: Context, last: PoseBone, place: Array) -> Vector:
    """Where in the world the target of a limb at influence 1 has to be in this frame for the tip to be at a place, or
    as near to it as the limb gets."""
    now = limbs_now(last.id_data, [last], context.evaluated_depsgraph_get(), is_whole=True)
    point = applied(inverted_all(now.frames), place[None])[0]
    length, total = float(np.linalg.norm(point)), sum(now.table.limbs[0].geometry.lengths)

    def excess(factors: Array) -> Array:
        """How much farther from the root than the place the tip is, with the target ``factors`` times as far:
        (factors)."""
        count = len(factors)
        sliders = {name: np.broadcast_to(values, (count, 1)) for name, values in now.sliders.items()}
        target, pole = (factors[:, None] * point)[:, None], np.broadcast_to(now.pole, (count, 1, 3))
        solution = solve(now.table, target, pole, sliders, None, None)
        joints = joints_in(now.table, solution.turns, solution.stretch)[:, 0]
        distances: Array = np.linalg.norm(joints[:, -1], axis=-1) - length
        return distances

    factor = 1.0
    if length > total * (1.0 - PAST_STRAIGHT):
        factor = 1.0 + PAST_STRAIGHT
    elif length > 0.0:
        factor = _factor(excess, length, total)
    place = applied(now.frames, (factor * point)[None])[0]
    return Vector(place.tolist())


def _factor(excess: Any, length: float, total: float) -> float:
    """The least factor from 1 on at which there is no excess left below 0; 1 where there is none."""
    low, high = 1.0, max(1.0, 2.0 * total / length)
    if excess(np.ones(1))[0] >= -EXACT * total:
        return low
    for _ in range(ROUNDS):
        factors = np.linspace(low, high, STEPS)
        there = np.flatnonzero(excess(factors) >= 0.0)
        if not len(there):
            return 1.0
        low, high = float(factors[max(there[0] - 1, 0)]), float(factors[there[0]])
    return high
