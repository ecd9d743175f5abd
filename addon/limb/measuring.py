"""Where the knees and tips of limbs are in the evaluated pose, and where the solver has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..solver.matrices import applied
from .solving import LimbsNow, Solution, own_size, solve
from .table import joints_in

Array = NDArray[Any]

UNEVEN = 1e-4
"""By how much the axes of a rig in the world may differ, or be off square, for it still to be scaled evenly: of others,
Blender blends constraints between 0 and 1 as if it was sheared."""


class Measured(NamedTuple):
    """The solution, and in the world: evaluated tips, targets and poles, (n, 3) each; the knees and tips that the
    solver expects, (n, segments, 3), and how far the evaluated knees are from there at most, (n). ``sizes`` are the
    lengths of the limbs there."""

    solution: Solution
    tips: Array
    joints: Array
    bent: Array
    targets: Array
    poles: Array
    influence: Array
    sizes: Array
    is_uneven: bool  # whether the rig itself is scaled unevenly in the world


def measure(now: LimbsNow) -> Measured:
    """Where knees and tips of limbs are, and where they should be."""
    table = now.table
    solution = solve(table, now.target, now.pole, now.sliders, now.own)
    turns = solution.turns / np.linalg.norm(solution.turns, axis=-1, keepdims=True)  # as Blender takes them
    stretch = solution.stretch * own_size(now.own_length, now.sliders["influence"])
    joints = applied(now.frames[:, None], joints_in(table, turns, stretch))
    targets, poles = (applied(now.frames, place) for place in (now.target, now.pole))
    tips = applied(now.world @ now.poses[table.lasts], np.array([limb.geometry.tip for limb in table.limbs]))
    knees = (now.world @ now.poses[table.bones[:, 1:]])[..., :3, 3]
    bent = np.linalg.norm(knees - joints[:, :-1], axis=-1)
    bent[table.bones[:, 1:] < 0] = 0.0
    lengths = np.array([sum(limb.geometry.lengths) for limb in table.limbs])
    sizes = lengths * np.linalg.norm(now.frames[:, :3, 1], axis=-1)
    axes = now.world[:3, :3].T @ now.world[:3, :3]
    is_uneven = bool(abs(axes - np.eye(3) * axes[0, 0]).max() > UNEVEN * abs(axes[0, 0]))
    influence = now.sliders["influence"]
    return Measured(solution, tips, joints, bent.max(axis=1), targets, poles, influence, sizes, is_uneven)
