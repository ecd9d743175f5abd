"""What the overlay shows of a limb, as lines in the world: a list of roles and points, without a window."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ...blender.types import is_evaluated
from ...limb.measuring import Measured, measure
from ...limb.solving import LimbsNow, limbs_now
from ...limb.storage import read_slider
from ...solver.rotation import rotate
from ...tasks.status import MISSED, problem_of

Array = NDArray[Any]

SEGMENTS = 16
"""Of the arc of the reach."""
NEAR_REACH = 0.9
"""The share of the full reach from which that arc is shown."""
ARC = pi / 6.0
"""How far it goes to either side of the target."""


class Stroke(NamedTuple):
    """A line through points (n, 3) of the world, and what it is: ``pole``, ``miss``, ``reach``, ``ghost``."""

    role: str
    points: Array


def figure(last: PoseBone, depsgraph: Depsgraph, has_reach: bool = False) -> list[Stroke]:
    """The lines of one limb as it is evaluated: to its pole, from its tip to a target that it misses, an arc of its
    reach where the target is near that (with ``has_reach`` all of it, stretched too), and its whole solution where it
    is between FK and IK."""
    if not is_evaluated(last.id_data, depsgraph) or problem_of(last):
        return []
    now = limbs_now(last.id_data, [last], depsgraph, is_whole=True)
    seen = measure(now)
    target, influence = seen.targets[0], read_slider(last, "influence")
    if not np.isfinite(target).all() or influence <= 0.0:
        return []
    root = now.frames[0, :3, 3]
    strokes = []
    if influence < 1.0:
        strokes.append(Stroke("ghost", np.array([root, *seen.joints[0]])))
    elif np.linalg.norm(seen.tips[0] - target) > 3.0 * MISSED * seen.sizes[0]:
        strokes.append(Stroke("miss", np.array([seen.tips[0], target])))
    if now.table.is_poled[0]:
        strokes.append(Stroke("pole", np.array([seen.joints[0, 0], seen.poles[0]])))
    return [*strokes, *_reach(now, seen, has_reach)]


def _reach(now: LimbsNow, seen: Measured, is_whole: bool) -> list[Stroke]:
    """The arc of the full reach by the target, in the plane that the limb bends in."""
    limb, root = now.table.limbs[0], now.frames[0, :3, 3]
    total = sum(limb.geometry.lengths)
    farthest = seen.sizes[0] * min(now.table.singles[0][2].farthest / total, 1.0)
    along, knee = seen.targets[0] - root, seen.joints[0, 0] - root
    distance = float(np.linalg.norm(along))
    if (distance < NEAR_REACH * farthest and not is_whole) or not distance:
        return []
    normal = np.cross(along, knee)
    if np.linalg.norm(normal) < 1e-6 * distance * seen.sizes[0]:  # straight
        normal = now.frames[0, :3, 2] - along * (now.frames[0, :3, 2] @ along) / distance**2
    normal = normal / max(float(np.linalg.norm(normal)), 1e-12)
    arc, count = (pi, 4 * SEGMENTS) if is_whole else (ARC, SEGMENTS)
    turns = [(cos(angle / 2.0), *(normal * sin(angle / 2.0))) for angle in np.linspace(-arc, arc, count + 1)]
    edge = tuple(along / distance * farthest)
    ring = np.array([rotate(turn, edge) for turn in turns])
    sizes = [1.0, limb.choices["stretch_max"]] if is_whole and now.sliders["stretch"][0] > 0.0 else [1.0]
    return [Stroke("reach", root + size * ring) for size in sizes]
