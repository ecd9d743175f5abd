"""What the overlay shows of a limb, as lines in the world: a list of roles and points, without a window."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ..blender.types import is_evaluated
from ..limb.measuring import Measured, measure
from ..limb.solving import LimbsNow, limbs_now
from ..limb.storage import read_slider
from ..limb.table import Table
from ..limb.tolerances import MISS
from ..solver.limb import IN_ONE_PLANE
from ..solver.rotation import rotate
from .status import unposable_status

Array = NDArray[Any]

SEGMENTS = 16
"""Of the arc of the reach."""
AT_REACH = 1e-3, 1e-4
"""From how little short of the full reach, in shares of it, that arc is shown, and how much farther off than at rest
the target is then: straight legs rest at the end of their reach. Always while something is dragged."""
ARC = pi / 6.0
"""How far it goes to either side of the target."""
EDGE_ON = 0.2
"""The cosine between the arc's normal and the view below which only its edge would be seen."""
RING = 0.04
"""How large the ring around the knee is, in lengths of the limb, where the line to the pole is seen as a point."""
END_ON = 0.97
"""The cosine between the line to the pole and the view above which it is."""


class Stroke(NamedTuple):
    """A line through points (n, 3) of the world, and what it is: ``pole``, ``miss``, ``reach``, ``ghost``."""

    role: str
    points: Array


class Viewpoint(NamedTuple):
    """How a person looks at the limb: the unit view direction in the world (none without a window), whether something
    is dragged, and whether the whole reach is to be drawn."""

    along: Array | None = None
    is_dragging: bool = False
    has_reach: bool = False


def figure(
    limb: PoseBone,
    depsgraph: Depsgraph,
    view: Viewpoint = Viewpoint(),  # noqa: B008  # it is constant
    table: Table | None = None,
) -> list[Stroke]:
    """The lines of one limb as it is evaluated: to its pole, from its tip to a target that it misses, an arc of its
    reach where the target is near that (or all of it, stretched too), and its whole solution where it is between FK and
    IK."""
    if not is_evaluated(limb.id_data, depsgraph) or unposable_status(limb):
        return []
    now = limbs_now(limb.id_data, [limb], depsgraph, is_whole=True, table=table)
    measured = measure(now)
    target, influence = measured.targets[0], read_slider(limb, "influence")
    if not np.isfinite(target).all() or influence <= 0.0:
        return []
    root = now.frames[0, :3, 3]
    strokes = []
    if influence < 1.0:
        strokes.append(Stroke("ghost", np.array([root, *measured.joints[0]])))
    elif np.linalg.norm(measured.tips[0] - target) > 3.0 * MISS * measured.sizes[0]:
        strokes.append(Stroke("miss", np.array([measured.tips[0], target])))
    if now.table.is_poled[0] and now.sliders["pole"][0] > 0.5:
        strokes += _pole(measured, view)
    return strokes if now.table.moved_roots else [*strokes, *_reach(now, measured, view)]


def _pole(measured: Measured, view: Viewpoint) -> list[Stroke]:
    """The line from knee to pole; and who looks along it sees a ring around the knee."""
    knee, pole = measured.joints[0, 0], measured.poles[0]
    line = Stroke("pole", np.array([knee, pole]))
    along, distance = pole - knee, float(np.linalg.norm(pole - knee))
    if view.along is None or distance == 0.0 or abs(float(along @ view.along)) < END_ON * distance:
        return [line]
    across = np.cross(view.along, np.eye(3)[np.argmin(abs(view.along))])
    across *= RING * measured.sizes[0] / np.linalg.norm(across)
    return [line, Stroke("pole", knee + _turned_about(view.along, across, pi, 2 * SEGMENTS))]


def _turned_about(axis: Array, edge: Array, arc: float, count: int) -> Array:
    """An edge turned about a unit axis by up to an arc to both sides, (count + 1, 3)."""
    angles = np.linspace(-arc, arc, count + 1)
    return np.array([rotate((cos(angle / 2.0), *(axis * sin(angle / 2.0))), tuple(edge)) for angle in angles])


def _reach(now: LimbsNow, measured: Measured, view: Viewpoint) -> list[Stroke]:
    """The arc of the full reach by the target, in the plane that the limb bends in."""
    limb, root = now.table.limbs[0], now.frames[0, :3, 3]
    total = sum(limb.geometry.lengths)
    farthest = measured.sizes[0] * min(now.table.singles[0].settings.farthest / total, 1.0)
    if limb.plane in IN_ONE_PLANE:  # where the tip is, whatever layer the root is in
        axis = now.frames[0, :3, 2] / float(np.linalg.norm(now.frames[0, :3, 2]))
        root = root + axis * float(axis @ (measured.tips[0] - root))
    along, knee = measured.targets[0] - root, measured.joints[0, 0] - root
    distance = float(np.linalg.norm(along))
    along_rest = sum(size * cos(angle) for size, angle in zip(limb.geometry.lengths, limb.geometry.angles, strict=True))
    at_rest = measured.sizes[0] * along_rest / total
    is_at_end = distance >= max((1.0 - AT_REACH[0]) * farthest, (1.0 + AT_REACH[1]) * at_rest)
    is_shown = view.has_reach or view.is_dragging or is_at_end
    if not is_shown or not distance:
        return []
    normal = now.frames[0, :3, 2] if limb.plane in IN_ONE_PLANE else np.cross(along, knee)
    if np.linalg.norm(normal) < 1e-6 * distance * measured.sizes[0]:  # straight
        normal = now.frames[0, :3, 2] - along * (now.frames[0, :3, 2] @ along) / distance**2
    normal = normal / max(float(np.linalg.norm(normal)), 1e-12)
    if view.along is not None and abs(float(normal @ view.along)) < EDGE_ON:
        return []
    arc, count = (pi, 4 * SEGMENTS) if view.has_reach else (ARC, SEGMENTS)
    ring = _turned_about(normal, along / distance * farthest, arc, count)
    sizes = [1.0, limb.choices["stretch_max"]] if view.has_reach and now.sliders["stretch"][0] > 0.0 else [1.0]
    return [Stroke("reach", root + size * ring) for size in sizes]
