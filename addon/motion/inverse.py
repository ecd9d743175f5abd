"""The solver backwards: with which side, swivel and ankle it gives limbs the poses that they have, for all rows at
once. A row is a frame, or whatever poses one has; numbers are arrays of rows, vectors and quaternions tuples of
such."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..limb import table, tolerances
from ..limb.rest_geometry import RestGeometry
from ..solver import ankles, groups, limb
from ..solver.ops import ARRAYS, Array, Column, Indices, Points, Quaternions, mapped, row_of
from ..solver.reference import Reference
from ..solver.rotation import conjugate, cross, half_angle, multiply, normalised

EXACT = 0.1
"""The `Inverse.error` from which down no better ankle or side is looked for."""


class SolverPose(NamedTuple):
    """The pose of a limb as the solver sees it: the rotations of its bones by their own channels, and in its frame G
    its joints and its pole, or None."""

    turns: tuple[Any, ...]  # of each segment, w first
    joints: tuple[Any, ...]  # knees and tip: x, y and z of each, by rows
    pole: Any

    @property
    def tip(self) -> Any:
        """Where the tip is, as the joints are given."""
        return self.joints[-1]


class Inverse(NamedTuple):
    """The settings with which the solver comes nearest to poses, and by how much it misses them."""

    side: Any  # -1: flipped
    swivel: Any  # in radians, as is the ankle
    ankle: Any
    turn: Any  # of the reference to the target and about the line there
    off: Array  # how far joints are off at most, in lengths of the limb
    off_turn: Array  # by how much bones are turned off at most, in radians
    twist: tuple[Array, ...]  # by how much each is to be turned about its own line for that, right-handed

    @property
    def off_twist(self) -> Array:
        """By how much bones are turned off about their own lines at most, in radians: where joints are the same, that
        is all that may differ."""
        most: Array = np.max(np.abs(self.twist), axis=0)
        return most

    @property
    def error(self) -> Array:
        """By how much it is off, as a part of what is allowed."""
        error: Array = np.maximum(self.off / tolerances.UNSEEN, self.off_turn / tolerances.TURNED)
        return error

    def is_better(self, other: Inverse) -> Array:
        """In which rows this one holds the pose better: joints count, and where these are there, how bones are
        turned."""
        mine, its = np.maximum(self.off, tolerances.ON_TARGET), np.maximum(other.off, tolerances.ON_TARGET)
        is_better: Array = (mine < its) | ((mine == its) & (self.off_turn < other.off_turn))
        return is_better


def solver_pose_of_rows(turns: Quaternions, joints: Points, pole: Points | None = None) -> SolverPose:
    """A `SolverPose` from arrays: turns ``(rows, segments, 4)``, joints ``(rows, segments, 3)``, pole ``(rows, 3)``."""
    of_segments = tuple(tuple(turns[:, k].T) for k in range(turns.shape[1]))
    of_joints = tuple(tuple(joints[:, k].T) for k in range(joints.shape[1]))
    return SolverPose(of_segments, of_joints, None if pole is None else tuple(pole.T))


def nearest_inverse(
    geometry: RestGeometry, pose: SolverPose, plane: str, sides: Sequence[Array], enough: float = EXACT
) -> Inverse:
    """The solver's inputs that come nearest to poses in a plane, on the first side that is near ``enough``. Sides of
    the knee are (-1: flipped) ``(rows,)``; else on whichever is nearest."""
    reference: Reference = row_of(table.reference_of([geometry]), 0)
    best: Any = None
    for side in sides:
        is_missed = True if best is None else best.error > enough
        for ankle in ankles.ankles_of(*flattened(reference, pose.joints, plane), side):
            is_open = np.isfinite(ankle) & is_missed & (True if best is None else best.error > EXACT)
            rows = np.flatnonzero(is_open)
            if len(rows):
                some = _taken(pose, rows)
                inverse = _inverse_at(reference, geometry, some, plane, side[rows], ankle[rows])
                best = inverse if best is None else _with_better(best, inverse, rows)
    return best  # type: ignore[no-any-return]


def flattened(reference: Reference, joints: Sequence[Any], plane: str) -> tuple[Reference, Sequence[Any]]:
    """A limb and its joints in G, projected into its plane where it stays in one."""
    if plane not in limb.IN_ONE_PLANE:
        return reference, joints
    none = np.zeros(len(joints))
    return reference._replace(plane_offsets=tuple(none)), [(x, y, 0.0 * z) for x, y, z in joints]


def _taken(tree: Any, rows: Array) -> Any:
    """These rows of nested tuples of arrays."""
    return mapped(lambda numbers: numbers[rows], tree)


def _with_better(best: Inverse, inverse: Inverse, rows: Array) -> Inverse:
    """The best, with what was found for some rows where that is better."""
    is_better = inverse.is_better(_taken(best, rows))
    return _with_rows(best, _taken(inverse, is_better), rows[is_better])  # type: ignore[no-any-return]


def _with_rows(tree: Any, others: Any, rows: Array) -> Any:
    """Nested tuples of arrays, with others in some rows."""
    if isinstance(tree, tuple):
        changed = [_with_rows(*pair, rows) for pair in zip(tree, others, strict=True)]
        return type(tree)(*changed) if hasattr(tree, "_fields") else tuple(changed)
    now = tree.copy()
    now[rows] = others
    return now


def _inverse_at(
    reference: Reference, geometry: RestGeometry, pose: SolverPose, plane: str, side: Column, ankle: Array
) -> Inverse:
    """The inverse with this ankle: the swivel is that by which the first bone turns as in the pose, or that by which
    the knee lies as there, whichever is nearer."""
    line_turns = (
        [np.zeros_like(ankle)]
        if plane in limb.IN_ONE_PLANE
        else _turns_about_line(reference, geometry, pose, side, ankle)
    )
    best: Any = None
    for line_turn in line_turns:
        if best is not None and (best.error <= EXACT).all():
            break
        inverse = _inverse_with(reference, pose, plane, side, ankle, line_turn)
        best = inverse if best is None else _with_better(best, inverse, np.arange(len(ankle)))
    return best  # type: ignore[no-any-return]


def _turns_about_line(
    reference: Reference, geometry: RestGeometry, pose: SolverPose, side: Column, ankle: Array
) -> list[Array]:
    """By how much the limb is turned about the line to the tip for its first bone to turn as in the pose, and for the
    knee to lie as there."""
    tip, half_ankle = pose.tip, half_of_angle(ankle)
    line = limb.line_to(tip, _length(tip), ARRAYS)
    solved, _ = _solved(tip, reference, limb.Settings(side, ankle=half_ankle), "FREE")
    own_turn, solved_turn = (_turn_in_frame(geometry, turn) for turn in (pose.turns[0], solved[0]))
    about = multiply(conjugate(line), multiply(multiply(own_turn, conjugate(solved_turn)), line))
    knees = [end_of_first_group(geometry, joints) for joints in (pose.joints, limb.joints_of(solved, reference))]
    by_knee, before = (angle_of(limb.turn_about_line(line, knee, ARRAYS)) for knee in knees)
    return [angle_of((about[0], about[2])), by_knee - before]


def _inverse_with(
    reference: Reference, pose: SolverPose, plane: str, side: Column, ankle: Array, line_turn: Column
) -> Inverse:
    """The inverse with this ankle, and turned about the line to the tip by ``line_turn`` (f), in radians."""
    tip, pole = pose.tip, pose.pole if plane == "POLE" else None
    zeros, half_ankle = np.zeros_like(ankle), half_of_angle(ankle)
    if plane == "HINGE":
        cosine, sine = half_angle(tip[1], -tip[0], np.hypot(tip[0], tip[1]), ARRAYS)
        line = normalised((cosine, zeros, zeros, sine), ARRAYS)
    elif plane in limb.MOVES_ROOT:
        line = (np.ones_like(ankle), zeros, zeros, zeros)
    else:
        line = limb.line_to(tip, _length(tip), ARRAYS)
    swivel = line_turn - _turn_of_pole(pose, plane)
    settings = limb.Settings(side, half_of_angle(swivel), ankle=half_ankle)
    solved, root = _solved(tip, reference, settings, plane, pole)
    off, off_turn = _errors_of(reference, pose, solved, root)
    cosine, sine = half_of_angle(line_turn)
    twist = limb.twists_between(solved, pose.turns, reference, ARRAYS)
    return Inverse(
        side=side,
        swivel=without_rounding(swivel),
        ankle=ankle,
        turn=normalised(multiply(line, (cosine, zeros, sine, zeros)), ARRAYS),
        off=off,
        off_turn=off_turn,
        twist=tuple(np.broadcast_to(without_rounding(angle_of(half)), ankle.shape).copy() for half in twist),
    )


def inverse_over_frames(
    geometry: RestGeometry, pose: SolverPose, plane: str, side: Column, calm: float, keyed: Indices
) -> Inverse:
    """The solver's inputs that come nearest to poses in frames one after the other, changing side only through
    straight. Rather in rows that may be ``keyed``, and maybe halfway between frames. Where the knee is off the line
    by less than ``calm``, in lengths of the limb, its direction is noise: there the limb turns with its first bone,
    off that as in the frames around."""
    if len(side) == 1 or plane in limb.MOVES_ROOT:
        return nearest_inverse(geometry, pose, plane, (side, -side))
    aside = _aside(geometry, flattened(row_of(table.reference_of([geometry]), 0), pose.joints, plane)[1])
    bent = np.flatnonzero(aside > calm)
    twice = np.arange(2 * len(side)).reshape(2, -1)
    of_both = nearest_inverse(
        geometry, _taken(pose, twice.ravel() % len(side)), plane, (np.repeat((1.0, -1.0), len(side)),)
    )
    both = [_taken(of_both, its_rows) for its_rows in twice]
    rows = np.flatnonzero(_steadiest(both, np.where(aside > calm, aside, 0.0), keyed))
    inverse: Inverse = _with_rows(both[0], _taken(both[1], rows), rows)
    return inverse if plane in limb.IN_ONE_PLANE else _calmed(geometry, pose, inverse, bent)


def _steadiest(both: Sequence[Inverse], aside: Array, keyed: Indices) -> Array:
    """In which frames to take the second of two: those with which knee and bones turn the least way in all, and what
    the knee does not reach counts most, and how bones are turned least. By dynamic programming, from frame to frame."""
    is_keyed, is_change = np.isin(np.arange(1, len(aside)), keyed), 1.0 - np.eye(2)[..., None]
    offs = [MISS_WEIGHT * np.maximum(one.off - tolerances.UNSEEN, 0.0) + SLIGHT * one.off_twist for one in both]
    angles = np.array([[one.swivel, *one.twist] for one in both])
    turns = abs(ankles.within_half_turn(angles[None, :, :, 1:] - angles[:, None, :, :-1]))  # (old, new, angle, frames)
    steps = turns[:, :, 0] + turns[:, :, 1:].max(axis=2) + 2.0 * is_change
    steps = np.maximum(aside[1:], aside[:-1]) * steps + SLIGHT * is_change * np.where(is_keyed, 1.0, 2.0)
    steps = steps + np.array(offs)[None, :, 1:]
    first, second = float(offs[0][0]), float(offs[1][0])
    froms = []
    for stay, leave, come, remain in zip(*steps.reshape(4, -1).tolist(), strict=True):  # floats, which are faster here
        costs = (first + stay, second + come), (first + leave, second + remain)
        froms.append([cost[1] < cost[0] for cost in costs])
        first, second = map(min, costs)
    chosen = [second < first]
    for came in reversed(froms):
        chosen.append(came[chosen[-1]])
    return np.array(chosen[::-1], bool)


MISS_WEIGHT, SLIGHT = 1e3, 1e-5
"""What counts as much as the knee going a limb's length in a frame: joints that are off by a thousandth of that, bones
that are turned by a hundred thousand radians, or a change to the other side where a limb is straight."""


def _aside(geometry: RestGeometry, joints: Sequence[Any]) -> Array:
    """How far the knee is off the line from root to tip, in lengths of the limb."""
    knee, tip = end_of_first_group(geometry, joints), joints[-1]
    aside: Array = _length(cross(knee, tip)) / np.maximum(_length(tip), 1e-30) / sum(geometry.lengths)
    return aside


def _calmed(geometry: RestGeometry, pose: SolverPose, inverse: Inverse, bent: Array) -> Inverse:
    """The inverse, turned in all frames but the ``bent`` ones (row numbers) as the first bone is, off that as in the
    bent frames around."""
    rows = np.arange(len(inverse.side))
    some = np.setdiff1d(rows, bent)
    if not len(some):
        return inverse
    reference: Reference = row_of(table.reference_of([geometry]), 0)
    by_bone, _ = _turns_about_line(reference, geometry, pose, inverse.side, inverse.ankle)
    off_bone = np.zeros(len(rows))
    if len(bent):
        off_bone = np.interp(rows, bent, np.unwrap(ankles.within_half_turn(inverse.swivel - by_bone)[bent]))
    calm = _inverse_with(
        reference,
        _taken(pose, some),
        "FREE",
        inverse.side[some],
        inverse.ankle[some],
        (by_bone + off_bone)[some],
    )
    return _with_rows(inverse, calm, some)  # type: ignore[no-any-return]


def _turn_of_pole(pose: SolverPose, plane: str) -> Any:
    """By how much the pole turns the limb about the line to the tip."""
    if plane != "POLE" or pose.pole is None:
        return 0.0
    return angle_of(limb.turn_about_line(limb.line_to(pose.tip, _length(pose.tip), ARRAYS), pose.pole, ARRAYS))


def _solved(
    tip: Any, reference: Reference, settings: limb.Settings, plane: str, pole: Any = None
) -> tuple[list[Any], Any]:
    """The rotations that the solver gives the bones, and where the first begins."""
    pose = limb.pose_limb(tip, reference, settings, limb.Plane(plane), ARRAYS, pole)
    turns = [normalised(tuple(np.broadcast_arrays(*turn)), ARRAYS) for turn in pose.turns]  # type: ignore[arg-type]
    return turns, pose.root


def _errors_of(reference: Reference, pose: SolverPose, turns: Sequence[Any], root: Any) -> tuple[Array, Array]:
    """How far joints of a limb turned so are off a pose at most, in its lengths, and by how much bones are turned."""
    places = zip(limb.joints_of(turns, reference, root=root), pose.joints, strict=True)
    off = [_length([a - b for a, b in zip(one, other, strict=True)]) / reference.bones.total for one, other in places]
    off_turns = [angle_between(a, b) for a, b in zip(turns, pose.turns, strict=True)]
    return np.max(off, axis=0), np.max(off_turns, axis=0)


def _turn_in_frame(geometry: RestGeometry, turn: Any) -> Any:
    """The turn of the first bone off the reference, in the axes of G."""
    axes = geometry.frame[:3, :3].T @ geometry.reference[0][:3, :3]
    w, *vector = multiply(conjugate(geometry.reference_rotations[0]), turn)
    x, y, z = np.tensordot(axes, np.array(np.broadcast_arrays(*vector)), axes=1)
    return (w, x, y, z)


def end_of_first_group(geometry: RestGeometry, joints: Any) -> Any:
    """Where the first bone, with those that keep to it, leads in G: of two bones, the knee. See `solver.groups`."""
    ends = [(0.0, 0.0, 0.0), *joints]
    end: Any = (0.0, 0.0, 0.0)
    for k in groups.members(len(joints), geometry.is_zigzag)[0]:
        end = tuple(e + b - a for e, a, b in zip(end, ends[k], ends[k + 1], strict=True))
    return end


def _length(vector: Any) -> Any:
    x, y, z = vector
    return np.sqrt(x * x + y * y + z * z)


def half_of_angle(angle: Any) -> Any:
    """Angles in radians as half angles: cosine and sine of half of them."""
    return np.cos(angle / 2.0), np.sin(angle / 2.0)


def angle_of(half: Any) -> Any:
    """Half angles, of any length, as angles in radians."""
    return 2.0 * np.arctan2(half[1], half[0])


def angle_between(a: Any, b: Any) -> Any:
    """The angles between rotations, in radians, from 0 to half a turn."""
    w, x, y, z = multiply(conjugate(a), b)
    return 2.0 * np.arctan2(_length((x, y, z)), abs(w))


def without_rounding(angle: Any) -> Any:
    """Angles within half a turn, with what is only single-precision rounding set to 0."""
    within = ankles.within_half_turn(angle)
    return np.where(abs(within) < 1e-6, 0.0, within)
