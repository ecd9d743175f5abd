"""The solver backwards: with which side, swivel and ankle it gives limbs the poses that they have, for all rows at
once. A row is a frame, or whatever poses one has; numbers are arrays of rows, vectors and quaternions tuples of
such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..limb.rest_geometry import RestGeometry
from ..limb.table import reference_of
from ..solver.ankles import ankles_of, within_half_turn
from ..solver.arrays import mapped, row_of
from ..solver.groups import members
from ..solver.limb import Plane, Settings, joints_of, line_to, pose_limb, roll_to
from ..solver.ops import ARRAYS
from ..solver.reference import Reference
from ..solver.rotation import conjugate, half_angle, multiply, normalised

Array = NDArray[Any]

MOVED = 1e-4
"""How far joints may be off, in lengths of the limb, and still count as where they were."""

TURNED = 2e-3
"""How much a bone may be turned in radians, and still count as it was."""

ALIKE = 1e-5
"""How far joints may be off, in lengths of the limb, for how bones are turned to decide."""

EXACT = 0.1
"""The `Inverse.error` from which down no better ankle or side is looked for."""


class Posture(NamedTuple):
    """How a limb stands: the rotations of its bones by their own channels, and in its frame G its joints and its pole,
    or None."""

    turns: tuple[Any, ...]  # of each segment, w first
    joints: tuple[Any, ...]  # knees and tip
    pole: Any

    @property
    def tip(self) -> Any:
        """Where the tip is."""
        return self.joints[-1]


class Inverse(NamedTuple):
    """How near the solver comes to poses."""

    side: Any  # -1: flipped
    swivel: Any  # in radians, as is the ankle
    ankle: Any
    turn: Any  # of the reference to the target and about the line there
    off: Array  # how far joints are off at most, in lengths of the limb
    off_turn: Array  # by how much bones are turned off at most, in radians

    @property
    def error(self) -> Array:
        """By how much it is off, as a part of what is allowed."""
        error: Array = np.maximum(self.off / MOVED, self.off_turn / TURNED)
        return error

    def is_better(self, other: Inverse) -> Array:
        """In which rows this one holds the pose better: joints count, and where these are there, how bones are
        turned."""
        mine, its = np.maximum(self.off, ALIKE), np.maximum(other.off, ALIKE)
        is_better: Array = (mine < its) | ((mine == its) & (self.off_turn < other.off_turn))
        return is_better


def posture_of_rows(turns: Array, joints: Array, pole: Array | None = None) -> Posture:
    """A posture of arrays: turns ``(rows, segments, 4)``, joints ``(rows, segments, 3)``, pole ``(rows, 3)``."""
    of_segments = tuple(tuple(turns[:, k].T) for k in range(turns.shape[1]))
    of_joints = tuple(tuple(joints[:, k].T) for k in range(joints.shape[1]))
    return Posture(of_segments, of_joints, None if pole is None else tuple(pole.T))


def inverse_fit(
    geometry: RestGeometry, posture: Posture, plane: str, sides: Sequence[Array], enough: float = EXACT
) -> Inverse:
    """How the solver comes nearest to poses in a plane, with the knee on the first of these sides (-1: flipped), each
    ``(rows,)``, on which the error is small ``enough``; else on whichever is nearest."""
    reference: Reference = row_of(reference_of([geometry]), 0)
    distance = _length(posture.tip)
    best: Any = None
    for side in sides:
        is_missed = True if best is None else best.error > enough
        for ankle in ankles_of(reference, posture.turns, distance, side):
            is_open = np.isfinite(ankle) & is_missed & (True if best is None else best.error > EXACT)
            rows = np.flatnonzero(is_open)
            if len(rows):
                some = _taken(posture, rows)
                inverse = _inverse_at(reference, geometry, some, plane, side[rows], ankle[rows])
                best = inverse if best is None else _with_better(best, inverse, rows)
    return best  # type: ignore[no-any-return]


def _taken(tree: Any, rows: Array) -> Any:
    """These rows of nested tuples of arrays."""
    return mapped(lambda numbers: numbers[rows], tree)


def _with_better(best: Inverse, inverse: Inverse, rows: Array) -> Inverse:
    """The best, with what was found for some rows where that is better."""
    before = _taken(best, rows)
    is_better = inverse.is_better(before)

    def chosen(now: Any, new: Any) -> Any:
        if isinstance(now, tuple):
            return tuple(map(chosen, now, new))
        now = now.copy()
        now[rows[is_better]] = new[is_better]
        return now

    return Inverse._make(map(chosen, best, inverse))


def _inverse_at(
    reference: Reference, geometry: RestGeometry, posture: Posture, plane: str, side: Array, ankle: Array
) -> Inverse:
    """The inverse with this ankle: the swivel is that by which the first bone turns as in the pose, or that by which
    the knee lies as there, whichever is nearer."""
    tip, pole = posture.tip, posture.pole if plane == "POLE" else None
    zeros, half_ankle = np.zeros_like(ankle), half_of_angle(ankle)
    if plane == "HINGE":
        cosine, sine = half_angle(tip[1], -tip[0], np.hypot(tip[0], tip[1]), ARRAYS)
        line = normalised((cosine, zeros, zeros, sine), ARRAYS)
        rolls = [zeros]
    else:
        line = line_to(tip, _length(tip), ARRAYS)
        solved = _solved_turns(tip, reference, Settings(side, ankle=half_ankle), "FREE")
        own_turn, solved_turn = (_turn_in_frame(geometry, turn) for turn in (posture.turns[0], solved[0]))
        about = multiply(conjugate(line), multiply(multiply(own_turn, conjugate(solved_turn)), line))
        knees = [end_of_first_group(geometry, joints) for joints in (posture.joints, joints_of(solved, reference))]
        by_knee, before = (angle_of(roll_to(line, knee, ARRAYS)) for knee in knees)
        rolls = [angle_of((about[0], about[2])), by_knee - before]  # as the first bone is turned, and as the knee lies
    of_pole = zeros if pole is None else angle_of(roll_to(line, pole, ARRAYS))
    best: Any = None
    for roll in rolls:
        swivel = roll - of_pole
        settings = Settings(side, half_of_angle(swivel), ankle=half_ankle)
        off, off_turn = _errors_of(reference, posture, _solved_turns(tip, reference, settings, plane, pole))
        cosine, sine = half_of_angle(roll)
        turn = normalised(multiply(line, (cosine, zeros, sine, zeros)), ARRAYS)
        inverse = Inverse(side=side, swivel=clean(swivel), ankle=ankle, turn=turn, off=off, off_turn=off_turn)
        best = inverse if best is None else _with_better(best, inverse, np.arange(len(ankle)))
    return best  # type: ignore[no-any-return]


def _solved_turns(tip: Any, reference: Reference, settings: Settings, plane: str, pole: Any = None) -> list[Any]:
    """The rotations that the solver gives the bones."""
    turns = pose_limb(tip, reference, settings, Plane(plane), ARRAYS, pole).turns
    return [normalised(tuple(np.broadcast_arrays(*turn)), ARRAYS) for turn in turns]  # type: ignore[arg-type]


def _errors_of(reference: Reference, posture: Posture, turns: Sequence[Any]) -> tuple[Array, Array]:
    """How far joints of a limb turned so are off a pose at most, in its lengths, and by how much bones are turned."""
    places = zip(joints_of(turns, reference), posture.joints, strict=True)
    off = [_length([a - b for a, b in zip(one, other, strict=True)]) / reference.bones.total for one, other in places]
    off_turns = [angle_between(a, b) for a, b in zip(turns, posture.turns, strict=True)]
    return np.max(off, axis=0), np.max(off_turns, axis=0)


def _turn_in_frame(geometry: RestGeometry, turn: Any) -> Any:
    """The turn of the first bone off the reference, in the axes of G."""
    axes = geometry.frame[:3, :3].T @ geometry.reference[0][:3, :3]
    w, *vector = multiply(conjugate(geometry.reference_rotations[0]), turn)
    x, y, z = np.tensordot(axes, np.array(np.broadcast_arrays(*vector)), axes=1)
    return (w, x, y, z)


def end_of_first_group(geometry: RestGeometry, joints: Any) -> Any:
    """Where the first bone leads in G together with those that keep to it (see `solver.groups`): of two bones, the
    knee."""
    ends = [(0.0, 0.0, 0.0), *joints]
    end: Any = (0.0, 0.0, 0.0)
    for k in members(len(joints), geometry.is_zigzag)[0]:
        end = tuple(e + b - a for e, a, b in zip(end, ends[k], ends[k + 1], strict=True))
    return end


def _length(vector: Any) -> Any:
    x, y, z = vector
    return np.sqrt(x * x + y * y + z * z)


def half_of_angle(angle: Any) -> Any:
    """Angles as half angles: cosine and sine of half of them."""
    return np.cos(angle / 2.0), np.sin(angle / 2.0)


def angle_of(half: Any) -> Any:
    """The angles of half angles of any length."""
    return 2.0 * np.arctan2(half[1], half[0])


def angle_between(a: Any, b: Any) -> Any:
    """The angles between rotations."""
    w, x, y, z = multiply(conjugate(a), b)
    return 2.0 * np.arctan2(_length((x, y, z)), abs(w))


def clean(angle: Any) -> Any:
    """Angles within half a turn, without what is mere rounding of a pose in single precision."""
    within = within_half_turn(angle)
    return np.where(abs(within) < 1e-6, 0.0, within)
