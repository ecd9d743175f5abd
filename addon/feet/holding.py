"""Tips held over frames: where they are to be, from how they were read, and what limbs get keys of for that.

Held in a range of frames, a tip stays at a place and its foot keeps a turn; a foot that rolls meanwhile, its phases say
which of its pivots. Either way, what it is off what was read dies away over some frames before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.fcurves import Segments, few, hermite
from ..limb.features.roll import FLAT_TOE_BONE, HEEL_PIVOT, PIVOTS, ROLL_CONTROL, ROLLED_TARGET
from ..limb.follow import flat_toes, follow_of, helpers_of, pole_goes_along
from ..limb.rest_geometry import rest_geometry_of
from ..limb.storage import choices_of
from ..limb.tips import foot_of
from ..limb.tolerances import ROUNDING
from ..limb.transforms import rigid, turns_of
from ..motion.ik import foot_offset, nearest_in_rotation_mode
from ..motion.matching import factor_past, is_pole_movable, own_foot_turns, solver_target
from ..motion.parts import part_of_foot, part_of_ik, rotation_channel_of, slider_channel
from ..motion.placing import ControlPlacing
from ..motion.reading import Channel, LimbsRead, Recording, Values, matrices_of, places_of
from ..motion.writing import KeyedPart, Keys, no_points
from ..rigging import feet
from ..solver.matrices import applied, inverted_all, rotation
from .contacts import SOLE
from .planting import (
    STRAIGHTEST,
    RollShape,
    ease_out,
    mean_of,
    moved_near,
    plant_foot,
    roll_transforms,
    turned_by,
    vectors_of,
)

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
        most = np.maximum(were, min(STRAIGHTEST * self.reach, float(were.max())))
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
    poles = pole_stays(recording, limbs, row, changed)
    parts = [KeyedPart(pole.channels, no_points, still_keys(ease)) for pole in poles] + parts
    return HeldLimb(limb, [target, *poles, *placings], places, ease, parts)


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


ROLL_TOLERANCE = 0.007
"""How far a rolling foot may be off for fewer keys of roll and bank, in lengths of its limb."""


TURNING = ("roll", "bank")
"""What a foot rolls by."""


class FootContact(NamedTuple):
    """A contact as rows: what the foot is on in each; and the row in which its tip stays where it is, or None for
    moving it least."""

    on: Sequence[str]
    at: int | None


def hold_rolling(
    recording: Recording,
    limbs: LimbsRead,
    row: int,
    ease: Ease,
    contacts: Sequence[FootContact],
    times: Array,
    values: Values,
) -> HeldLimb:
    """Plan the hold of a limb with a foot roll, planted on heel, sole and toe in each range. Sets its roll, and how its
    toes are turned, in ``values``."""
    limb, size = limbs.rig.limbs[row], sum(limbs.rig.table.limbs[row].geometry.lengths)
    shape, rolled_targets, roots = (
        shape_of(limb),
        matrices_of(recording, solver_target(limb)),
        roots_of(recording, limb),
    )
    sliders = [slider_channel(limb, name) for name in TURNING]
    rolls_seen = np.concatenate([recording.channels[channel] for channel in sliders], axis=1)
    feet, offsets, ranges = [], np.zeros_like(rolls_seen), []
    for (first, end), contact in zip(ease.ranges, contacts, strict=True):
        feet.append(plant_foot(shape, rolled_targets[first : end + 1], contact.on, size))
        offsets[first : end + 1] = feet[-1].rolls - rolls_seen[first : end + 1]
        ranges.append((first + feet[-1].stands[0], first + feet[-1].stands[1]))
    contacts = [
        FootContact(contact.on[foot.stands[0] : foot.stands[1] + 1], contact.at)
        for contact, foot in zip(contacts, feet, strict=True)
    ]
    ease = ease._replace(ranges=ranges)
    curves = RollCurves(shape, rolls_seen + ease.over(offsets), ease, times, size)
    for channel, numbers in zip(sliders, curves.rolls.T, strict=True):
        values[channel][:] = numbers[:, None]
    for i, ((first, end), contact) in enumerate(zip(ease.ranges, contacts, strict=True)):
        rows = np.arange(first, end + 1) if contact.at is None else np.array([first + contact.at])
        foot = feet[i]._replace(rolls=curves.rolls[rows])
        feet[i] = moved_near(shape, foot, rolled_targets[rows, :3, 3], roots[rows], ease.reach, size)
    rolled_by = roll_transforms(shape, curves.rolls)
    rolled_held = _rolled_targets(rolled_targets, rolled_by, ease, [foot.flat for foot in feet], roots)
    toes = _turn_toes(recording, limb, ease, contacts, curves.rolls[:, 0], values)
    controls = rolled_held @ inverted_all(rolled_by) @ _control_in_rolled_target(limb)
    places, turns, changed = controls[:, :3, 3].copy(), controls.copy(), ease.changed(len(rolled_targets))
    tips = rolled_held[:, :3, 3].copy()
    places[~changed], turns[~changed], tips[~changed] = np.nan, np.nan, np.nan
    placing = ControlPlacing(moved_control(limb), moved_control(limb), places, sizes_of(limbs, row), turns)
    poles = pole_stays(recording, limbs, row, changed)
    moved = [channel for one in (placing, *poles) for channel in one.channels]
    stays = KeyedPart([*moved, *toes], no_points, still_keys(ease))
    return HeldLimb(limb, [placing, *poles], tips, ease, [stays, KeyedPart(sliders, no_points, curves.keys(sliders))])


def shape_of(limb: PoseBone) -> RollShape:
    """What the foot of a limb rolls about, by its helper bones."""
    helpers = helpers_of(limb)
    into = helpers[ROLLED_TARGET].matrix_local.inverted()
    pivots = [np.array(into @ helpers[role].matrix_local, float) for role in PIVOTS]
    heel = pivots[PIVOTS.index(HEEL_PIVOT)]
    return RollShape(
        places=np.array([pivot[:3, 3] for pivot in pivots]),
        axes=np.array([pivot[:3, 0] for pivot in pivots]),
        sole=heel[:3, :3],
        break_angle=float(choices_of(limb)["break_angle"]),
    )


def _control_in_rolled_target(limb: PoseBone) -> Array:
    """Where the control of a foot that does not roll is in the frame of its rolled target."""
    helpers = helpers_of(limb)
    return np.array(helpers[ROLLED_TARGET].matrix_local.inverted() @ helpers[ROLL_CONTROL].matrix_local, float)


def _rolled_targets(rolled_targets: Array, rolled_by: Array, ease: Ease, flats: Sequence[Array], roots: Array) -> Array:
    """The matrices (rows, 4, 4) that the rolled target of a planted foot is to have: flat in each range, times
    ``rolled_by``, the transforms of its rolls."""
    rolled_held = rolled_targets.copy()
    for (first, end), flat in zip(ease.ranges, flats, strict=True):
        rolled_held[first : end + 1] = flat @ rolled_by[first : end + 1]
    turns, now = (rigid(matrices)[0][:, :3, :3] for matrices in (rolled_held, rolled_targets))
    off = turned_by(ease.over(vectors_of(turns @ now.swapaxes(1, 2))))
    places = rolled_targets[:, :3, 3] + ease.over(rolled_held[:, :3, 3] - rolled_targets[:, :3, 3])
    rolled_held[:, :3, :3] = off @ rolled_targets[:, :3, :3]
    rolled_held[:, :3, 3] = ease.within_reach(places, rolled_targets[:, :3, 3], roots)
    for (first, end), flat in zip(ease.ranges, flats, strict=True):
        rolled_held[first : end + 1] = flat @ rolled_by[first : end + 1]
    return rolled_held


# toes


def _turn_toes(
    recording: Recording, limb: PoseBone, ease: Ease, contacts: Sequence[FootContact], roll: Array, values: Values
) -> list[Channel]:
    """Put into ``values`` how the toes that a roll keeps flat are turned by themselves: in a range they stay as they
    are in the mean of where the foot is flat. Gives their channels."""
    channels, changed = [], ease.changed(len(roll))
    for toe in flat_toes(limb):
        shown = rotation(own_foot_turns(recording, limb, toe)[1].T)[:, :3, :3]
        back = _turned_back(limb, toe, roll)
        turns_held = shown.copy()
        for (first, end), contact in zip(ease.ranges, contacts, strict=True):
            here, flat = slice(first, end + 1), np.array(contact.on) == SOLE
            own = back[here].swapaxes(1, 2) @ shown[here]
            turns_held[here] = back[here] @ mean_of(own[flat] if flat.any() else own)
        off = turned_by(ease.over(vectors_of(turns_held @ shown.swapaxes(1, 2))))
        channel = rotation_channel_of((limb.id_data, toe.name))
        own_turns = turns_of(back.swapaxes(1, 2) @ off @ shown)
        values[channel][changed] = nearest_in_rotation_mode(toe.rotation_mode, own_turns, values[channel])[changed]
        channels.append(channel)
    return channels


def _turned_back(limb: PoseBone, toe: PoseBone, roll: Array) -> Array:
    """How a roll (rows) turns a toe to keep it flat, (rows, 3, 3), before its own turn."""
    axis = (
        (toe.bone.matrix_local.inverted() @ helpers_of(limb)[FLAT_TOE_BONE].matrix_local).to_3x3().normalized().col[0]
    )
    ball = np.clip(roll, 0.0, float(choices_of(limb)["break_angle"]))
    return turned_by(np.array(axis, float) * -ball[:, None])


# keys


class RollCurves:
    """Roll and bank over rows, (rows, 2), as few keys make them: one in each row that is eased, and at the ends of each
    range; between these as many as the foot needs."""

    def __init__(self, shape: RollShape, rolls: Array, ease: Ease, times: Array, size: float) -> None:
        self.rolls, self._slopes = rolls.copy(), np.gradient(rolls, times, axis=0)
        self._keyed = np.tile(ease.changed(len(rolls))[:, None], 2)
        ends = np.array([shape.places[2], shape.places[3], np.zeros(3)]) / size  # the heel, the toe and the tip
        for first, end in ease.ranges:
            if first == end:
                continue
            here = slice(first, end + 1)
            for k in range(2):
                which = _fewest(shape, ends, times[here], rolls[here], self._slopes[here], k)
                self._keyed[here, k] = False
                self._keyed[first + which, k] = True
                rolled_by = hermite(times[here], rolls[here], self._slopes[here], _segments(which))
                self.rolls[here, k] = rolled_by[:, k]

    def keys(self, channels: Sequence[Channel]) -> Keys:
        """Which rows are keyed of channels of roll and bank, and the slopes there."""

        def keys(_values: Values, rows: Array) -> dict[Channel, tuple[Array, Array | None]]:
            keyed = [rows[self._keyed[rows, k]] for k in range(2)]
            return {channel: (keyed[k], self._slopes[keyed[k], k : k + 1]) for k, channel in enumerate(channels)}

        return keys


def _fewest(shape: RollShape, ends: Array, times: Array, rolls: Array, slopes: Array, which: int) -> Array:
    """Which rows to key for a curve of roll (0) or bank (1) to hold the tolerance at these ends of the foot, in lengths
    of the limb."""

    def ends_at(rolls: Array) -> Array:
        rolled_by = roll_transforms(shape, rolls)
        places: Array = ends @ rolled_by[:, :3, :3].swapaxes(1, 2) + rolled_by[:, None, :3, 3]
        return places

    ends_held = ends_at(rolls)

    def errors(rows: Segments) -> Array:
        guessed = rolls[rows.at].copy()
        guessed[:, which] = hermite(times, rolls, slopes, rows)[:, which]
        worst: Array = np.linalg.norm(ends_at(guessed) - ends_held[rows.at], axis=2).max(axis=1)
        return worst

    return few(errors, len(rolls), ROLL_TOLERANCE)[0]


def _segments(which: Array) -> Segments:
    """The segment of each row between keyed rows, the last of which is the last row."""
    at = np.arange(which[-1] + 1)
    start = np.minimum(np.searchsorted(which, at, "right") - 1, max(len(which) - 2, 0))
    return Segments(which[start], which[np.minimum(start + 1, len(which) - 1)], at)


def still_keys(ease: Ease) -> Keys:
    """Keys in rows that are eased and at the ends of ranges; inside a range only where a channel changes."""

    def keys(values: Values, rows: Array) -> dict[Channel, tuple[Array, Array | None]]:
        keys_of_channels: dict[Channel, tuple[Array, Array | None]] = {}
        ranges = [(first, end) for first, end in ease.ranges if first <= rows[-1] and end >= rows[0]]
        for channel, numbers in values.items():
            keyed = np.zeros(len(numbers), bool)
            keyed[rows] = True
            for first, end in ranges:
                if np.allclose(numbers[first : end + 1], numbers[first], rtol=ROUNDING, atol=ROUNDING):
                    keyed[first + 1 : end] = False
            keys_of_channels[channel] = (np.flatnonzero(keyed), None)
        return keys_of_channels

    return keys
