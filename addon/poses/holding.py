"""Tips held over frames: where they are to be, from how they were read, and what limbs get keys of for that.

Held in a range of frames, a tip stays at a place and its foot keeps a turn; `poses.planted_feet` is about feet that
roll meanwhile. Either way, what it is off what was read dies away over some frames before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..limb.follow import follow_of
from ..limb.pole_follow import pole_goes_along
from ..limb.rest_geometry import rest_geometry_of
from ..limb.tips import foot_of
from ..limb.transforms import rigid
from ..motion.reading import LimbsRead, Recording, matrices_of, places_of
from ..motion.writing import KeyedPart
from ..rigging import feet
from ..solver.matrices import applied, inverted_all
from .matching import factor_past, is_pole_movable, solver_target
from .over_frames import foot_offset
from .parts import part_of_foot, part_of_ik
from .placing import ControlPlacing
from .planting import STRAIGHTEST, ease_out, turned_by, vectors_of

Array = NDArray[Any]

RowRange = tuple[int, int]
"""A range of rows, both ends in it. Rows are frames that were read."""


class Ease(NamedTuple):
    """The ranges of rows in which a limb is held, in order; over how many rows it eases in and out of each; and its
    reach in the world."""

    ranges: Sequence[RowRange]
    rows: int
    reach: float

    def over(self, offsets: Array) -> Array:
        """Offsets (rows, numbers) within the ranges, fading out around them."""
        return ease_out(offsets, self.ranges, self.rows)

    def changed(self, count: int) -> Array:
        """Which of so many rows are held or eased."""
        flags = np.zeros(count, bool)
        for first, end in self.ranges:
            flags[max(first - self.rows, 0) : end + self.rows + 1] = True
        return flags

    def within_reach(self, places: Array, before: Array, roots: Array) -> Array:
        """Places (rows, 3) on the way, brought so near to the roots of the limb that it is no straighter than
        ``before``, unless it is bent anyway: else its knee would be drawn straight, and pop back."""
        offsets, were = places - roots, np.linalg.norm(before - roots, axis=1)
        distances = np.maximum(np.linalg.norm(offsets, axis=1), 1e-30)
        most = np.maximum(were, STRAIGHTEST * self.reach)
        nearer: Array = roots + offsets * np.minimum(most / distances, 1.0)[:, None]
        for first, end in self.ranges:
            nearer[first : end + 1] = places[first : end + 1]
        return nearer


class HeldLimb(NamedTuple):
    """A limb that is held: what is placed; where its tip is to be, (rows, 3), not a number where it stays; in which
    ranges; and what gets keys."""

    limb: PoseBone
    placings: list[ControlPlacing]
    tips: Array
    ease: Ease
    parts: list[KeyedPart]


class HoldPose(NamedTuple):
    """Where a tip is held, and the rotation of its foot there, (3, 3), if it has one."""

    place: Array
    turn: Array | None


def hold_flat(
    recording: Recording, limbs: LimbsRead, row: int, ease: Ease, plants: Sequence[HoldPose], turns_foot: bool
) -> HeldLimb:
    """Plan the hold of a limb whose foot does not roll, as each of ``plants`` says in its range. ``turns_foot`` if the
    foot, which does not follow the target, gets keys itself."""
    limb, foot = limbs.rig.limbs[row], foot_of(limbs.rig.limbs[row])
    tips, changed = tips_of(recording, limb), ease.changed(recording.frames)
    offsets = np.zeros_like(tips)
    for (first, end), plant in zip(ease.ranges, plants, strict=True):
        offsets[first : end + 1] = plant.place - tips[first : end + 1]
    places = ease.within_reach(tips + ease.over(offsets), tips, roots_of(recording, limb))
    places[~changed] = np.nan
    placings, parts, turns, offset = [], [part_of_ik(limb)], None, (1.0, 0.0, 0.0, 0.0)
    if foot and (turns_foot or feet.foot_follows(limb)):
        ref = (limb.id_data, foot.name)
        turns = np.tile(np.eye(4), (recording.frames, 1, 1))
        turns[:, :3, :3] = _turns_held(rotations_of(recording, ref), ease, plants)
        turns[~changed] = np.nan
        if turns_foot:
            placings.append(ControlPlacing(ref, ref, np.full_like(places, np.nan), sizes_of(limbs, row), turns))
            parts.append(part_of_foot(limb))
            turns = None
        else:
            offset = foot_offset(recording, solver_target(limb), ref)
    target = ControlPlacing(
        moved_control(limb), solver_target(limb), _targets(limbs, row, places), sizes_of(limbs, row), turns, offset
    )
    return HeldLimb(limb, [target, *pole_stays(recording, limbs, row, changed), *placings], places, ease, parts)


def _turns_held(turns: Array, ease: Ease, plants: Sequence[HoldPose]) -> Array:
    """How a foot that is turned so, (rows, 3, 3), is turned where it is held, (rows, 3, 3)."""
    offsets = np.zeros((len(turns), 3))
    for (first, end), plant in zip(ease.ranges, plants, strict=True):
        offsets[first : end + 1] = vectors_of(plant.turn @ turns[first : end + 1].swapaxes(1, 2))
    held: Array = turned_by(ease.over(offsets)) @ turns
    return held


def _targets(limbs: LimbsRead, row: int, tips: Array) -> Array:
    """Where the target has to be for tips to be there: past them where softness holds back."""
    frames = limbs.frames[:, row]
    in_frame = applied(inverted_all(frames), np.nan_to_num(tips))
    targets = applied(frames, factor_past(limbs, row, in_frame)[0] * in_frame)
    targets[~np.isfinite(tips).all(axis=1)] = np.nan
    return targets


def pole_stays(recording: Recording, limbs: LimbsRead, row: int, changed: Array) -> list[ControlPlacing]:
    """Have a pole that hangs on the target stay where it was in the rows that are changed, as knees do."""
    limb = limbs.rig.limbs[row]
    if not (pole_goes_along(limb) and is_pole_movable(limb)):
        return []
    pole: Any = follow_of(limb).pairs[1]
    places = places_of(recording, *pole)
    places[~changed] = np.nan
    return [ControlPlacing(pole, pole, places, sizes_of(limbs, row))]


# what was read


def moved_control(limb: PoseBone) -> tuple[Any, str]:
    """What is moved to move the tip of a limb: its target."""
    control: Any = follow_of(limb).pairs[0]
    return control  # type: ignore[no-any-return]


def tips_of(recording: Recording, limb: PoseBone) -> Array:
    """Where the tip of a limb is in the world, (rows, 3)."""
    return applied(matrices_of(recording, (limb.id_data, limb.name)), rest_geometry_of(limb).tip)


def roots_of(recording: Recording, limb: PoseBone) -> Array:
    """Where a limb begins in the world, (rows, 3)."""
    return places_of(recording, limb.id_data, rest_geometry_of(limb).names[0])


def sizes_of(limbs: LimbsRead, row: int) -> Array:
    """How long a limb is in the world, (rows)."""
    length = sum(limbs.rig.table.limbs[row].geometry.lengths)
    sizes: Array = length * np.linalg.norm(limbs.frames[:, row, :3, 1], axis=1)
    return sizes


def rotations_of(recording: Recording, ref: tuple[Any, str]) -> Array:
    """How an object, or a bone of it, is turned in the world, (rows, 3, 3)."""
    turns: Array = rigid(matrices_of(recording, ref))[0][:, :3, :3]
    return turns
