"""What is read of limbs to hold them, and what is placed and gets keys for that: between Blender and `held`."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple, cast

import numpy as np
from bpy.types import PoseBone

from ..blender.animation import curves_of
from ..blender.dependencies import BoneRef, Dependencies
from ..limb import rest_geometry, storage, tolerances, transforms
from ..limb.features.roll import FLAT_TOE_BONE, HEEL_PIVOT, PIVOTS, ROLL_CONTROL, ROLLED_TARGET
from ..limb.follow import flat_toes, follow_of, helpers_of, pole_goes_along
from ..limb.tips import foot_of
from ..motion.ik import foot_offset, nearest_in_rotation_mode
from ..motion.matching import evaluated_turn, factor_past, is_pole_movable, solver_target
from ..motion.parts import part_of_foot, part_of_ik, rotation_channel_of, slider_channel
from ..motion.placing import ControlPlacing
from ..motion.reading import Channel, LimbsRead, Recording, Values, matrices_of, places_of
from ..motion.writing import KeyedPart, Keys, no_points
from ..rigging import feet
from ..solver.curves import Segments, few, hermite
from ..solver.matrices import applied, inverted_all, rotation
from ..solver.ops import Array, Column, Points, Rotations
from .contacts import SOLE
from .held import CARRIED, FootContact, HeldLeg, Leg
from .planting import RollShape, ease_out, mean_of, roll_transforms, turned_by, vectors_of

TURNING = ("roll", "bank")
"""What a foot rolls by."""

LEVEL = 0.02
"""How far a foot may roll and its toes still lie as on a flat one, in radians."""


def leg_read(recording: Recording, limbs: LimbsRead, row: int, contacts: Sequence[FootContact], rolls: bool) -> Leg:
    """A leg for `held_legs`, as it was read: of a limb that is a ``row`` of the limbs of its rig; whether its foot
    ``rolls`` in contacts or stands flat."""
    limb, count = limbs.rig.limbs[row], recording.frames
    if rolls:
        sliders = [recording.channels[slider_channel(limb, name)] for name in TURNING]
        ends, seen = matrices_of(recording, solver_target(limb)), np.concatenate(sliders, axis=1).astype(float)
    else:
        ends, seen, foot = np.tile(np.eye(4), (count, 1, 1)), np.zeros((count, 2)), foot_of(limb)
        ends[:, :3, 3] = tips_of(recording, limb)
        if foot:
            ends[:, :3, :3] = rotations_of(recording, (limb.id_data, foot.name))
    (_, reference, settings), stretch = limbs.rig.table.singles[row], limbs.sliders["stretch"][:, row]
    reach = min(settings.farthest, reference.bones.total) / reference.bones.total  # one that stretches reaches anywhere
    in_fk = limbs.sliders["influence"][:, row] < 1.0
    ends[in_fk, :3, 3] = tips_of(recording, limb)[in_fk]
    return Leg(
        ends=ends,
        rolls=seen,
        roots=places_of(recording, limb.id_data, rest_geometry.rest_geometry_of(limb).names[0]),
        reach=inf if (stretch > 0.0).all() else float(reach * sizes_of(limbs, row).mean()),
        size=float(sizes_of(limbs, row).mean()),
        shape=shape_of(limb) if rolls else None,
        contacts=contacts,
    )


class HeldLimb(NamedTuple):
    """A limb that is held: as it was read, and as it is to be; what is placed for that; and what gets keys."""

    limb: PoseBone
    leg: Leg
    held: HeldLeg
    placings: list[ControlPlacing]
    parts: list[KeyedPart]


def held_limb(
    recording: Recording, limbs: LimbsRead, row: int, leg: Leg, held: HeldLeg, ease: int, values: Values
) -> HeldLimb:
    """What is placed and keyed to hold a limb, a ``row`` of the limbs of its rig. Sets its roll and its toes in
    ``values``."""
    limb = limbs.rig.limbs[row]
    target: Any = follow_of(limb).pairs[0]
    poles = _poles_that_stay(recording, limbs, row, held)
    if not leg.shape:
        placings, parts = _placed_flat(recording, limbs, row, held)
        parts = [KeyedPart(pole.channels, no_points, _still_keys(held)) for pole in poles] + parts
        return HeldLimb(limb, leg, held, [placings[0], *poles, *placings[1:]], parts)
    sliders = [slider_channel(limb, name) for name in TURNING]
    for channel, numbers in zip(sliders, held.rolls.T, strict=True):
        values[channel][held.changed] = numbers[held.changed, None]
    toes = _turn_toes(recording, limb, held, ease, values)
    helpers = helpers_of(limb)
    at_rest = np.array(helpers[ROLLED_TARGET].matrix_local.inverted() @ helpers[ROLL_CONTROL].matrix_local, float)
    controls = held.ends @ inverted_all(roll_transforms(leg.shape, held.rolls)) @ at_rest
    turns = _where(controls, held.changed)
    placing = ControlPlacing(target, target, turns[:, :3, 3], sizes_of(limbs, row), turns)
    channels = [channel for one in (placing, *poles) for channel in one.channels]
    stays = KeyedPart([*channels, *toes], no_points, _still_keys(held))
    return HeldLimb(
        limb, leg, held, [placing, *poles], [stays, KeyedPart(sliders, no_points, _roll_keys(sliders, held))]
    )


def _where(numbers: Array, rows: Array) -> Array:
    """Numbers in some rows, not a number in others."""
    some = numbers.copy()
    some[~rows] = np.nan
    return some


def _placed_flat(
    recording: Recording, limbs: LimbsRead, limb_row: int, held: HeldLeg
) -> tuple[list[ControlPlacing], list[KeyedPart]]:
    """What is placed and keyed of the limb in this row of ``limbs``, whose foot does not roll: its target, and a foot
    that turns by itself."""
    limb, sizes = limbs.rig.limbs[limb_row], sizes_of(limbs, limb_row)
    ends, foot, part = _where(held.ends, held.changed), foot_of(limb), part_of_ik(limb)
    targets = _targets(limbs, limb_row, ends[:, :3, 3], held.carried)
    control: Any = follow_of(limb).pairs[0]
    target = ControlPlacing(control, solver_target(limb), targets, sizes)
    ref = (limb.id_data, foot.name) if foot else None
    if ref and feet.foot_follows(limb):
        return [target._replace(turns=ends, offset=foot_offset(recording, solver_target(limb), ref))], [part]
    if ref and _turns_by_itself(limb):
        turned = ControlPlacing(ref, ref, np.full_like(targets, np.nan), sizes, ends)
        return [target, turned], [part, part_of_foot(limb)]
    return [target], [part]


def _turns_by_itself(limb: PoseBone) -> bool:
    """Whether nothing else turns the foot of a limb, which does not follow its target."""
    foot: Any = foot_of(limb)
    taken = {bone.name for other in storage.limbs_of(limb.id_data) for bone in storage.bones_of_limb(other)}
    return foot.name not in taken and not [*Dependencies().constraints_and_drivers(foot)]


def _targets(limbs: LimbsRead, row: int, tips: Points, carried: Points) -> Points:
    """Where the target has to be for tips to be there: past them where softness holds back."""
    frames = limbs.frames[:, row].copy()
    frames[:, :3, 3] += carried
    in_frame = applied(inverted_all(frames), np.nan_to_num(tips))
    targets = applied(frames, factor_past(limbs, row, in_frame)[0] * in_frame)
    targets[~np.isfinite(tips).all(axis=1)] = np.nan
    return targets


def _poles_that_stay(recording: Recording, limbs: LimbsRead, row: int, held: HeldLeg) -> list[ControlPlacing]:
    """Have a pole that hangs on the target stay where it was in the rows that are changed, as knees do; and go up as
    far as the ground raises where the leg begins."""
    limb = limbs.rig.limbs[row]
    if not (pole_goes_along(limb) and is_pole_movable(limb)):
        return []
    pole: Any = follow_of(limb).pairs[1]
    raised = held.leg.roots - places_of(recording, limb.id_data, rest_geometry.rest_geometry_of(limb).names[0])
    places = _where(places_of(recording, *pole) + raised, held.changed)
    return [ControlPlacing(pole, pole, places, sizes_of(limbs, row))]


# what carries legs


def carrier_of(limbs: Sequence[PoseBone]) -> PoseBone | None:
    """The bone that carries limbs of one rig and can be moved, or None. Nothing else poses it, and it does not carry
    what they follow."""
    above = [storage.bones_of_limb(limb)[0].parent_recursive for limb in limbs]
    followed = {follow_of(limb).pairs[0] for limb in limbs}
    poses = Dependencies().constraints_and_drivers
    for bone in cast("list[PoseBone]", above[0]):
        below = {(bone.id_data, each.name) for each in (bone, *bone.children_recursive)}
        carries = len(bone.children) > 1 and all(bone in bones for bones in above)
        if carries and not followed & below and not (bone.parent and bone.bone.use_connect) and not [*poses(bone)]:
            return bone
    return None


def carrier_moved(
    recording: Recording, ref: BoneRef, carried: Points, size: float, times: Column
) -> tuple[ControlPlacing, KeyedPart]:
    """How a bone is placed and keyed to be moved in the world by ``carried`` (rows, 3) from where it was seen. By the
    keys that it has, and as few more as hold that. ``size`` is how long the legs are in the world, ``times`` are where
    rows are on F-curves."""
    places, is_moved = places_of(recording, *ref), np.abs(carried).max(axis=1) > tolerances.ROUNDING * size
    placing = ControlPlacing(ref, ref, _where(places + carried, is_moved), np.full(len(places), size))
    channel, scale = placing.location, ref[0].matrix_world.median_scale / size
    had = [key.co.x for curve in curves_of(ref[0]) if curve.data_path == channel.path for key in curve.keyframe_points]

    def keys(values: Values, rows: Array) -> dict[Channel, tuple[Array, Array | None]]:
        numbers, at = values[channel][rows] * scale, times[rows]
        slopes = np.gradient(numbers, at, axis=0) if len(rows) > 1 else 0.0 * numbers

        def errors(between: Segments) -> Array:
            off: Array = np.linalg.norm(hermite(at, numbers, slopes, between) - numbers[between.at], axis=1)
            return off

        there = np.flatnonzero(np.abs(at[:, None] - [had or [np.inf]]).min(axis=1) < 0.5)
        which, _ = few(errors, len(rows), CARRIED, there)
        return {channel: (rows[which], slopes[which] / scale)}

    return placing, KeyedPart([channel], no_points, keys)


# what was read


def tips_of(recording: Recording, limb: PoseBone) -> Points:
    """Where the tip of a limb is in the world, (rows, 3)."""
    return applied(matrices_of(recording, (limb.id_data, limb.name)), rest_geometry.rest_geometry_of(limb).tip)


def sizes_of(limbs: LimbsRead, row: int) -> Column:
    """How long a limb is in the world, (rows)."""
    length = sum(limbs.rig.table.limbs[row].geometry.lengths)
    sizes: Array = length * np.linalg.norm(limbs.frames[:, row, :3, 1], axis=1)
    return sizes


def rotations_of(recording: Recording, ref: BoneRef) -> Rotations:
    """How an object, or a bone of it, is turned in the world, (rows, 3, 3)."""
    turns: Array = transforms.rigid(matrices_of(recording, ref))[0][:, :3, :3]
    return turns


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
        break_angle=float(storage.choices_of(limb)["break_angle"]),
    )


# toes


def _turn_toes(recording: Recording, limb: PoseBone, held: HeldLeg, ease: int, values: Values) -> list[Channel]:
    """Put into ``values`` how the toes that a roll keeps flat are turned by themselves: in a contact they stay as they
    are in the mean of where the foot is flat. Gives their channels."""
    channels, ranges = [], [(one.rows.start, one.rows.stop - 1) for one in held.contacts]
    for toe in flat_toes(limb):
        shown = rotation(evaluated_turn(recording, toe).T)[:, :3, :3]
        back = _turned_back(limb, toe, held.rolls[:, 0])
        turns_held = shown.copy()
        for contact in held.contacts:
            here = contact.rows
            own = back[here].swapaxes(1, 2) @ shown[here]
            turns_held[here] = back[here] @ mean_of(own[_flattest(held.rolls[here, 0], contact.on)])
        off = turned_by(ease_out(vectors_of(turns_held @ shown.swapaxes(1, 2)), ranges, ease))
        channel = rotation_channel_of((limb.id_data, toe.name))
        own_turns = transforms.turns_of(back.swapaxes(1, 2) @ off @ shown)
        turned = nearest_in_rotation_mode(toe.rotation_mode, own_turns, values[channel])
        values[channel][held.changed] = turned[held.changed]
        channels.append(channel)
    return channels


def _flattest(roll: Array, on: Sequence[str]) -> Array:
    """Which rows of a contact show how toes lie, (rows): those on the sole, if any, that roll least."""
    flat = np.array(on) == SOLE
    up = np.where(flat if flat.any() else True, np.maximum(roll, 0.0), np.inf)
    flattest: Array = up <= up.min() + LEVEL
    return flattest


def _turned_back(limb: PoseBone, toe: PoseBone, roll: Array) -> Array:
    """How a roll (rows) turns a toe to keep it flat, (rows, 3, 3), before its own turn."""
    axis = (
        (toe.bone.matrix_local.inverted() @ helpers_of(limb)[FLAT_TOE_BONE].matrix_local).to_3x3().normalized().col[0]
    )
    ball = np.clip(roll, 0.0, float(storage.choices_of(limb)["break_angle"]))
    return turned_by(np.array(axis, float) * -ball[:, None])


# keys


def _roll_keys(channels: Sequence[Channel], held: HeldLeg) -> Keys:
    """Which rows are keyed of channels of roll and bank, and the slopes there."""

    def keys(values: Values, rows: Array) -> dict[Channel, tuple[Array, Array | None]]:
        keyed = {channel: rows[held.keyed[rows, k]] for k, channel in enumerate(channels) if channel in values}
        return {
            channel: (of_it, held.slopes[of_it, [channels.index(channel)], None]) for channel, of_it in keyed.items()
        }

    return keys


def _still_keys(held: HeldLeg) -> Keys:
    """Keys in rows that are eased and at the ends of contacts; inside one only where a channel changes."""

    def keys(values: Values, rows: Array) -> dict[Channel, tuple[Array, Array | None]]:
        keys_of_channels: dict[Channel, tuple[Array, Array | None]] = {}
        contacts = [one.rows for one in held.contacts if one.rows.start <= rows[-1] and one.rows.stop > rows[0]]
        for channel, numbers in values.items():
            keyed = np.zeros(len(numbers), bool)
            keyed[rows] = True
            for here in contacts:
                if np.allclose(numbers[here], numbers[here.start], rtol=tolerances.ROUNDING, atol=tolerances.ROUNDING):
                    keyed[here.start + 1 : here.stop - 1] = False
            keys_of_channels[channel] = (np.flatnonzero(keyed), None)
        return keys_of_channels

    return keys
