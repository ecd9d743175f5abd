"""A foot planted as it stands: where it stays over a contact, how it rolls there about heel, ball and toe, and how what
it is off the capture dies away before and after. Knows nothing of Blender.

A foot is known by its rolled target (see `limb.foot_roll`): a frame at the tip of its limb. Planted, that is ``flat
@ rolled``: ``flat`` is the same in all frames of a contact, and stands for the control; ``rolled`` is what roll and
bank make of it. Rows are frames, one after the other; matrices are 4 x 4, angles in radians."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..solver.matrices import unit_array
from ..solver.ops import Array, Column, Matrices, Points, Rotations
from .contacts import HEEL, SOLE, SOLE_FLAT, TOE

STRAIGHTEST = 0.96
"""The part of its reach from which on a planted limb is not to be straighter than it was."""

REACH_ROUNDS = 200
"""How often a place is brought nearer to the root that is farthest from it."""

FITS = 6
"""How often place and rolls are fitted to each other."""

NEAR = 0.004
"""From how far off on, in lengths of the limb, frames count by how far off they are, and not by its square: those in
which a foot comes down or leaves are farthest off."""

TURN = 0.3
"""What a turn off the capture counts beside a distance from it: as if at this part of the sole."""

MOST_OFF, SHARE_OFF = 0.12, 0.4
"""How far roll and bank may be off the capture's, in radians, and as a part of its roll: a flat foot stays flat."""


MOST_TURNED = np.radians(18.0)
"""How far a foot may be turned off the capture where it comes to stand and where it leaves."""


class RollShape(NamedTuple):
    """What a foot rolls about, in the frame of its rolled target: the outer and the inner edge, the heel, the end of
    the toe and the ball, in the order in which they carry each other, with the axes that they turn about; the
    directions across (to the left), up and ahead of the sole; and how far it rolls about the ball before it does about
    the toe."""

    places: Array  # (5, 3)
    axes: Array  # (5, 3)
    sole: Array  # (3, 3), in columns
    break_angle: float

    @property
    def length(self) -> float:
        """From the heel to the end of the toe."""
        return float(np.linalg.norm(self.places[3] - self.places[2]))

    def ball_of(self, roll: Array) -> Array:
        """By how much of a roll (rows) the foot turns about the ball, (rows)."""
        return np.clip(roll, 0.0, self.break_angle)


def roll_transforms(shape: RollShape, rolls: Array) -> Matrices:
    """The transforms that the sliders *IK Roll* and *IK Bank*, (rows, 2) in radians, give the rolled target, (rows, 4,
    4), in its own frame."""
    roll, bank = rolls.T
    ball = shape.ball_of(roll)
    angles = (np.maximum(bank, 0.0), np.minimum(bank, 0.0), np.minimum(roll, 0.0), np.maximum(roll, 0.0) - ball, ball)
    rolled_by = np.tile(np.eye(4), (len(roll), 1, 1))
    for place, axis, angle in zip(shape.places, shape.axes, angles, strict=True):
        turn = np.tile(np.eye(4), (len(roll), 1, 1))
        turn[:, :3, :3] = turned_by(axis * angle[:, None])
        turn[:, :3, 3] = place - turn[:, :3, :3] @ place
        rolled_by = rolled_by @ turn
    return rolled_by


def rolls_of(shape: RollShape, turns: Rotations) -> Array:
    """The roll and the bank, (rows, 2), that turn a foot most nearly as ``turns`` do. These, (rows, 3, 3), are off
    the flat foot, in the frame of its rolled target."""
    across, up, ahead = range(3)
    by_sole = shape.sole.T @ turns @ shape.sole
    roll = np.arctan2(-by_sole[:, up, ahead], by_sole[:, ahead, ahead])
    side = np.sign(shape.axes[0] @ shape.sole[:, ahead])
    return np.stack((roll, side * np.arctan2(by_sole[:, up, across], by_sole[:, across, across])), axis=1)


class PlantedFoot(NamedTuple):
    """Where a foot is flat in a contact, a matrix (4, 4), and its roll and bank in each row, (rows, 2)."""

    flat: Array
    rolls: Array


def plant_foot(shape: RollShape, rolled_targets: Matrices, on: Sequence[str], size: float) -> tuple[PlantedFoot, slice]:
    """A planted foot whose tip moves least, by its rolled targets (rows, 4, 4), and the rows in which it stands. It
    is flat as in the rows in which it is ``on`` its sole, or level if there are none; rolled about what it is on;
    and stands until it turns away as it leaves. ``size`` is how long its limb is in the world."""
    phases, tips, scale = np.array(on), rolled_targets[:, :3, 3], _scale_of(rolled_targets)
    turns, is_flat, flat = rolled_targets[:, :3, :3] / scale, phases == SOLE, np.eye(4)
    flat[:3, :3] = mean_of(turns[is_flat]) if is_flat.any() else _levelled(shape, turns)
    off_flat = flat[:3, :3].T @ turns
    flat[:3, :3] *= scale
    rolls_seen = rolls_of(shape, off_flat)
    slack = np.arcsin(min(SOLE_FLAT * size / shape.length, 1.0))
    low, high = np.where(phases == HEEL, -np.pi, -slack), np.where(phases == TOE, np.pi, slack)
    jumps = np.flatnonzero((phases[:-1] != phases[1:]) & (phases[:-1] != SOLE) & (phases[1:] != SOLE))
    for rows in (jumps, jumps + 1):  # from the heel to the toe at once, or back
        low[rows], high[rows] = -np.pi, np.pi
    rolls_seen[:, 0] = np.clip(rolls_seen[:, 0], low, high)
    most = np.minimum(MOST_OFF, SHARE_OFF * np.abs(rolls_seen[:, :1]))
    rolls = rolls_seen
    for _ in range(FITS):
        flat[:3, 3] = middle_of(tips - _offsets(shape, flat, rolls), NEAR * size * scale)
        rolls = np.clip(_nearer(shape, flat, rolls, tips, off_flat), rolls_seen - most, rolls_seen + most)
    off = np.linalg.norm(vectors_of(roll_transforms(shape, rolls)[:, :3, :3].swapaxes(1, 2) @ off_flat), axis=1)
    near = np.flatnonzero(off <= max(MOST_TURNED, off.min()))
    return PlantedFoot(flat, rolls), slice(int(near[0]), int(near[-1]) + 1)


def moved_near(
    shape: RollShape, foot: PlantedFoot, tips: Points, roots: Points, reach: float, size: float
) -> PlantedFoot:
    """A planted foot moved to where its tip is nearest to ``tips``, while its limb, which begins at ``roots``, gets no
    straighter, if that can be: (rows, 3) in the world. ``reach`` is how far the limb reaches there, ``size`` its
    length."""
    flat, offsets = foot.flat.copy(), _offsets(shape, foot.flat, foot.rolls)
    distances = np.linalg.norm(tips - roots, axis=1)
    around = np.pad(distances, 1, mode="edge")
    distances = np.minimum(distances, (around[:-2] + around[1:-1] + around[2:]) / 3.0)
    middle = middle_of(tips - offsets, NEAR * size * _scale_of(flat[None]))
    flat[:3, 3] = place_in_reach(
        middle, roots - offsets, np.maximum(distances, min(STRAIGHTEST * reach, float(distances.max())))
    )
    return foot._replace(flat=flat)


def _offsets(shape: RollShape, flat: Array, rolls: Array) -> Array:
    """How far tips are from where that of a flat foot is, for its rolls, (rows, 3)."""
    offsets: Array = (flat @ roll_transforms(shape, rolls))[:, :3, 3] - flat[:3, 3]
    return offsets


def middle_of(places: Points, near: float) -> Points:
    """The place (3) with the least sum of distances from all of these (rows, 3); within ``near``, squares count."""
    middle: Array = places.mean(axis=0)
    for _ in range(10):
        weights = 1.0 / np.maximum(np.linalg.norm(places - middle, axis=1), near)
        middle = weights @ places / weights.sum()
    return middle


def _nearer(shape: RollShape, flat: Array, rolls: Array, tips: Points, off_flat: Array) -> Array:
    """Rolls, (rows, 2), with which tips and turns of a foot are nearer to where they were (Gauss-Newton)."""
    scale = _scale_of(flat[None])

    def missed(rolls: Array) -> Array:
        rolled_by = roll_transforms(shape, rolls)
        turns = vectors_of(rolled_by[:, :3, :3].swapaxes(1, 2) @ off_flat)
        return np.concatenate(((flat @ rolled_by)[:, :3, 3] - tips, TURN * shape.length * scale * turns), axis=1)

    now, step = missed(rolls), 1e-4
    slopes = np.stack([(missed(rolls + step * axis) - now) / step for axis in np.eye(2)], axis=2)
    squares = np.einsum("fij,fik->fjk", slopes, slopes) + 1e-6 * (shape.length * scale) ** 2 * np.eye(2)
    better: Array = rolls - np.linalg.solve(squares, np.einsum("fij,fi->fj", slopes, now)[..., None])[..., 0]
    return better


def place_in_reach(place: Points, roots: Points, reach: Column) -> Points:
    """The place (3), near to one, that is no farther than ``reach`` (rows) from any root (rows, 3), if there is one."""
    for _ in range(REACH_ROUNDS):
        offsets = place - roots
        distances = np.linalg.norm(offsets, axis=1)
        worst = int((distances - reach).argmax())
        if distances[worst] <= reach[worst]:
            break
        place = roots[worst] + offsets[worst] * (reach[worst] / distances[worst])
    return place


def ease_out(offsets: Array, ranges: Sequence[tuple[int, int]], ease: int) -> Array:
    """Offsets (rows, numbers) as they are in ranges of rows, eased out beside these, and 0 elsewhere. They die away
    over ``ease`` rows, without a step in speed, but not beyond the next range; both ends are in a range."""
    over = np.zeros_like(offsets)
    for i, (first, last) in enumerate(ranges):
        over[first : last + 1] = offsets[first : last + 1]
        gaps = (
            (first if i == 0 else first - ranges[i - 1][1] - 1),
            (len(offsets) - 1 - last if i == len(ranges) - 1 else ranges[i + 1][0] - last - 1),
        )
        for end, direction, between in ((first, -1, gaps[0]), (last, 1, gaps[1])):
            rows = min(ease, between)
            speed = offsets[end] - offsets[end - direction] if last > first else 0.0 * offsets[end]
            share = np.arange(1.0, rows + 1.0)[:, None] / (rows + 1.0)
            dying = (1.0 - share) ** 2 * ((1.0 + 2.0 * share) * offsets[end] + share * (rows + 1.0) * speed)
            over[end + direction * np.arange(1, rows + 1)] += dying
    return over


# turns


def turned_by(vectors: Points) -> Rotations:
    """Turns as matrices (rows, 3, 3), from vectors (rows, 3): about each by its length in radians."""
    angle = np.linalg.norm(vectors, axis=1)[:, None, None]
    safe = np.where(angle > 0.0, angle, 1.0)
    x, y, z = (vectors / safe[:, 0]).T
    zero = np.zeros_like(x)
    across = np.array(((zero, -z, y), (z, zero, -x), (-y, x, zero))).transpose(2, 0, 1)
    turns: Array = np.eye(3) + np.sin(angle) * across + (1.0 - np.cos(angle)) * (across @ across)
    return turns


def shortest_turn(one: Points, other: Points) -> Rotations:
    """The shortest turn, (3, 3), from one unit vector (3) to another that does not point against it."""
    across = np.cross(one, other)
    sine = float(np.linalg.norm(across))
    turn: Array = turned_by((across * (np.arctan2(sine, one @ other) / max(sine, 1e-30)))[None])[0]
    return turn


def vectors_of(turns: Rotations) -> Points:
    """Turns as vectors (rows, 3), from matrices (rows, 3, 3): each axis, as long as the angle, below half a turn."""
    twice = np.stack(
        (turns[:, 2, 1] - turns[:, 1, 2], turns[:, 0, 2] - turns[:, 2, 0], turns[:, 1, 0] - turns[:, 0, 1]), axis=1
    )
    sine, cosine = np.linalg.norm(twice, axis=1), np.trace(turns, axis1=1, axis2=2) - 1.0
    factor = np.where(sine > 0.0, np.arctan2(sine, cosine) / np.where(sine > 0.0, sine, 1.0), 0.5)
    vectors: Array = twice * factor[:, None]
    return vectors


def _scale_of(rolled_targets: Matrices) -> float:
    """By how much matrices (rows, 4, 4) scale."""
    return float(np.cbrt(np.abs(np.linalg.det(rolled_targets[:, :3, :3]))).mean())


def mean_of(turns: Rotations) -> Rotations:
    """The mean turn (3, 3) of turns (rows, 3, 3): the one nearest to all."""
    first_axes, _, right = np.linalg.svd(turns.sum(axis=0))
    mean: Array = first_axes @ np.diag((1.0, 1.0, np.linalg.det(first_axes @ right))) @ right
    return mean


def _levelled(shape: RollShape, turns: Rotations) -> Rotations:
    """The turn of a foot that points where it does in the mean of these and whose sole is level; the mean where it
    points up or down."""
    mean, up = mean_of(turns), np.array((0.0, 0.0, 1.0))
    ahead = mean @ shape.sole[:, 2]
    level = unit_array(ahead - (ahead @ up) * up, np.zeros(3))
    if not level.any():
        return mean
    axes = np.stack((np.cross(up, level), up, level), axis=1)
    turn: Array = axes @ shape.sole.T
    return turn
