"""What the overlay shows of a limb, as lines in the world: a list of roles and points, without a window.

Everything is found in the limb's frame G, where the reach is a ring about the root, and then taken to the world.
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, PoseBone
from numpy.typing import NDArray

from ...limb.home import choices_of
from ...limb.solving import (
    Table,
    frames_now,
    into_frames,
    own_turns,
    places,
    pose_matrices,
    sliders_of,
    solve,
    table_of,
)
from ...limb.status import tips_now
from ...solver.arrays import row_of
from ...solver.limb import joints_of
from ...solver.rotation import rotate

Array = NDArray[Any]

SEGMENTS = 64
"""Of a whole ring."""
NEAR_REACH = 0.9
"""The share of the full reach from which the arc near the target is shown."""
ARC = pi / 6.0
"""How far the arc goes to either side of the target."""


class Stroke(NamedTuple):
    """A line through points (n, 3) of the world, and what it is: ``pole``, ``miss``, ``reach``, ``ghost``."""

    role: str
    points: Array


def figure(last: PoseBone, depsgraph: Depsgraph, is_whole: bool = False) -> list[Stroke]:
    """The lines of one limb as it is evaluated: to its pole, from its tip to a target that it misses, an arc of its
    reach where the target is near that, and its whole solution where it is between FK and IK. ``is_whole`` adds the
    rings of the nearest and farthest reach."""
    ob = last.id_data
    evaluated: Any = ob.evaluated_get(depsgraph)
    table = table_of(ob, [last])
    poses = pose_matrices(evaluated)
    frames = frames_now(table, evaluated, poses)
    target, pole = places(table, evaluated, depsgraph)
    in_frame = into_frames(frames, target)
    sliders = sliders_of(table, evaluated)
    if not np.isfinite(in_frame).all() or sliders["influence"][0] <= 0.0:
        return []
    whole = {**sliders, "influence": np.ones(1)}
    found = solve(table, in_frame, into_frames(frames, pole), whole, own_turns(table, ob))
    to_world = np.array(evaluated.matrix_world, float) @ frames[0]
    root, knee, tip = _joints(table, found.turns[0], float(found.stretch[0]))
    tip_now = in_armature(evaluated, tips_now(table, evaluated, poses)[0])
    strokes = []
    if sliders["influence"][0] < 1.0:
        strokes.append(Stroke("ghost", in_world(to_world, np.array([root, knee, tip]))))
    if table.is_poled[0]:
        strokes.append(Stroke("pole", np.array([in_world(to_world, knee[None])[0], in_armature(evaluated, pole[0])])))
    size = sum(table.limbs[0].shape.lengths)
    place = in_armature(evaluated, target[0])
    scale = float(np.linalg.norm(to_world[:3, 1]))
    if sliders["influence"][0] >= 1.0 and np.linalg.norm(tip_now - place) > 1e-4 * size * scale:
        strokes.append(Stroke("miss", np.array([tip_now, place])))
    strokes += _reach(last, table, in_frame[0], (root, knee, tip), is_whole, to_world)
    return strokes


def _joints(table: Table, turns: Array, stretch: float) -> tuple[Array, Array, Array]:
    """Root, knee and tip in G."""
    first, second = (tuple(float(number) for number in turn) for turn in turns)
    reference = row_of(table.reference, 0)
    knee, tip = joints_of((first, second), reference, stretch)  # type: ignore[arg-type]
    return np.zeros(3), np.array(knee, float), np.array(tip, float)


def _reach(
    last: PoseBone, table: Table, target: Array, joints: tuple[Array, Array, Array], is_whole: bool, to_world: Array
) -> list[Stroke]:
    """The arc of the full reach by the target, or the rings of it and of the nearest reach."""
    _, knee, tip = joints
    farthest, nearest = _range(last, table)
    along = target if np.linalg.norm(target) > 1e-9 else tip
    distance = float(np.linalg.norm(target))
    normal = np.cross(tip - knee, knee)
    if np.linalg.norm(normal) < 1e-9:
        normal = np.array((0.0, 0.0, 1.0))
    turn = ARC if not is_whole else pi
    if not is_whole and distance < NEAR_REACH * farthest:
        return []
    radii = [farthest] if not is_whole or nearest < 1e-6 else [farthest, nearest]
    return [Stroke("reach", in_world(to_world, _arc(along, normal, radius, turn))) for radius in radii]


def _range(last: PoseBone, table: Table) -> tuple[float, float]:
    """The farthest and the nearest distance from root to tip, within the limits of the knee."""
    r1, r2 = table.limbs[0].shape.lengths
    choices = choices_of(last)
    ends = [
        np.sqrt(max(r1 * r1 + r2 * r2 - 2.0 * r1 * r2 * cos(choices[name]), 0.0)) for name in ("max_angle", "min_angle")
    ]
    return float(ends[0]), float(ends[1])


def _arc(along: Array, normal: Array, radius: float, turn: float) -> Array:
    """Points of an arc about the origin, to either side of a direction, square to a normal."""
    x = along / np.linalg.norm(along)
    z = normal - x * (normal @ x)
    size = float(np.linalg.norm(z))
    z = z / size if size > 1e-9 else np.array((0.0, 0.0, 1.0))
    count = max(8, int(SEGMENTS * turn / pi))
    angles = np.linspace(-turn, turn, count + 1)
    turns = [(cos(angle / 2.0), *(z * sin(angle / 2.0))) for angle in angles]
    return np.array([rotate(quaternion, tuple(x * radius)) for quaternion in turns])


def in_world(to_world: Array, points: Array) -> Array:
    """Points (..., 3) of a frame in the world."""
    moved: Array = points @ to_world[:3, :3].T + to_world[:3, 3]
    return moved


def in_armature(evaluated: Any, point: Array) -> Array:
    """A point of the armature in the world."""
    return in_world(np.array(evaluated.matrix_world, float), point)
