"""Limbs as they are seen over frames: read in one pass, and which keys show the same in FK."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone

from ..blender import animation, stepping
from ..blender.dependencies import BoneRef, Dependencies, driver_targets
from ..blender.types import Refused, is_armature, scene_of
from ..limb import follow, settings, solving, storage, tolerances
from ..live.plan import is_posed, levels_of
from ..rigging import controls, description, feet, parts
from ..solver.limb import IN_ONE_PLANE
from ..solver.matrices import applied
from ..solver.ops import Array, Column, Indices, Points
from . import fk, passing, thinning
from .reading import (
    Channel,
    Evaluated,
    Recording,
    Rig,
    Values,
    bones_to_read,
    followed_places,
    limb_frames,
    new_recording,
    readers_of,
    worlds_of,
)

FAST = 0.06
"""From where on what turns is looked at halfway between frames: the change of the change of its numbers, per frame."""


@dataclass
class SeenLimb:
    """What a limb does over F frames, and which of these are keyed for that."""

    object: Any
    name: str
    mode: str
    method: str
    values: Values  # of its channels in FK, (F, numbers) each
    slopes: dict[Channel, thinning.Slopes]  # of those that are smooth between keys
    which: Array  # the frames that are keyed, by their numbers
    cuts: Array  # those of them from which nothing goes on to the next frame
    times: Array  # (F): where on F-curves the frames are
    asked: Array  # those that were asked for, by their numbers
    influence: Array  # (F)
    misses: Array = field(default_factory=lambda: np.zeros(0))  # (F): how far the tip is from the target in the world
    slack: Array = field(default_factory=lambda: np.zeros(0))  # (F): how far it may be

    @property
    def limb(self) -> PoseBone:
        """Its last bone."""
        bone: PoseBone = self.object.pose.bones[self.name]
        return bone

    def is_missed(self, most: float | None) -> Array:
        """In which of the frames that were asked for the tip is off its target although the limb is all IK."""
        missed = (self.influence >= 1.0) & ~(self.misses <= (self.slack if most is None else most))
        return missed[self.asked]


class Method(NamedTuple):
    """How limbs are read: ``is_apart`` in a scene of their own, else in the shot; and there in FK, if the solver gives
    all that is asked for."""

    is_apart: bool
    is_solved: bool
    is_live: bool  # whether live limbs are to be posed
    depends_on: set[BoneRef]

    @property
    def name(self) -> str:
        """What reports call it."""
        return "solved" if self.is_apart else "played"


def method_of(limbs: Sequence[PoseBone]) -> Method:
    """The method for limbs: what is played is always right, the others are the same and take less time."""
    among = Dependencies()
    depends_on = among.dependencies_of(*(ref for limb in limbs for ref in _moving(limb, among)))
    is_apart = passing.can_be_apart(depends_on, among)
    is_plain = all(
        storage.mode_of(limb) == "LIVE" and not (feet.foot_follows(limb) or strange_constraints(limb)) for limb in limbs
    )
    levels = _levels(depends_on)
    is_solved = is_apart and is_plain and len(levels) <= 1
    is_live = bool(levels) and not is_solved  # in a scene of their own, what live limbs read may be a frame late
    return Method(is_apart and not is_live, is_solved, is_live, depends_on)


def _moving(limb: PoseBone, among: Dependencies) -> list[BoneRef]:
    """What has to be known to bake a limb: what it follows, and what moves its own bones."""
    refs: list[Any] = [
        ref for ob, name in follow.solver_follow(limb).pairs if ob is not None for ref in ((ob, ""), (ob, name))
    ]
    for bone in storage.chain_bones(limb):
        refs.append((limb.id_data, bone.name))
        refs += [ref for _, curve in among.drivers(limb.id_data, bone.name) for ref in driver_targets(curve)]
    return refs


def _levels(depends_on: set[BoneRef]) -> list[list[PoseBone]]:
    """The live limbs among these dependencies, by what they hang on: each in a later list."""
    rigs: list[Any] = [ob for ob in dict.fromkeys(ob for ob, _ in depends_on) if is_armature(ob)]
    live = [limb for ob in rigs for limb in storage.limbs_of(ob) if is_posed(limb)]
    return levels_of(
        [limb for limb in live if any((limb.id_data, bone.name) in depends_on for bone in storage.chain_bones(limb))]
    )


def see_limbs(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float], tolerance: float, in_lengths: bool = False
) -> stepping.Steps[list[SeenLimb]]:
    """What limbs do over frames, and what of it is keyed for joints to be off by no more than a ``tolerance``, in scene
    units or ``in_lengths`` of the limb. What is halfway from frame to frame is looked at where straight lines miss it:
    of fast motion, and of limbs that close a loop."""
    method = method_of(limbs)
    recording, keyed = (yield from _read(context, limbs, frames, method)), np.arange(len(frames))
    gaps = keyed[:-1] if any(map(_closes_loop, limbs)) else _unsure(fk.to_fk(recording, method.is_solved).values())
    if len(gaps):
        whole, keyed = recording, keyed + np.searchsorted(gaps, keyed)
        halves = np.array([frames[i] + frames[i + 1] for i in gaps]) / 2.0
        frames = np.sort(np.concatenate((frames, halves))).tolist()
        recording = yield from _read(context, limbs, frames, method, np.setdiff1d(np.arange(len(frames)), keyed))
        for (_, rows), (_, of_whole) in zip(passing.arrays_of(recording), passing.arrays_of(whole), strict=True):
            rows[keyed] = of_whole
    times = stepping.times_of(scene_of(context), frames)
    return limbs_of_recording(recording, method, times, keyed, tolerance, in_lengths)


def _read(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float], method: Method, rows: Array | None = None
) -> stepping.Steps[Recording]:
    """Read limbs in frames, or in some rows of these."""
    recording = new_recording(limbs, frames, bones_to_read, method.is_apart)
    rows = np.arange(len(frames)) if rows is None else rows

    def reading(evaluated_of: Evaluated) -> Callable[[int], None]:
        read = readers_of(recording, evaluated_of)
        return lambda i: read(int(rows[i]))

    some = [frames[row] for row in rows]
    yield from passing.play(context, recording.worlds, some, reading, method.is_apart, method.is_live)
    return recording


def _unsure(values_of: Iterable[Values]) -> Array:
    """The frames from which straight lines to the next would miss what is halfway, as limbs turn too fast."""
    rows = [numbers for values in values_of for channel, numbers in values.items() if "rotation" in channel.path]
    is_fast = np.any([np.abs(np.diff(numbers, 2, axis=0)).max(axis=1) > FAST for numbers in rows], axis=0)
    return np.flatnonzero(np.append(is_fast, False) | np.append(False, is_fast))


def limbs_of_recording(
    recording: Recording, method: Method, times: Column, keyed: Indices, tolerance: float, in_lengths: bool = False
) -> list[SeenLimb]:
    """What limbs do as it was read, and which of the frames that may be ``keyed`` are, for fewer keys."""
    found, values_of = list[SeenLimb](), fk.to_fk(recording, method.is_solved)
    for rig in recording.rigs:
        frames: Array = worlds_of(recording, rig.object)[:, None] @ limb_frames(recording, rig)
        scales: Array = np.linalg.norm(frames[..., :3, :3], axis=2)
        tips, lengths = np.empty((recording.frames, len(rig.limbs), 3)), np.empty(len(rig.limbs))
        for row, limb in enumerate(rig.limbs):
            entry, values = rig.table.limbs[row], values_of[description.ref_of(limb)]
            lengths[row] = sum(entry.geometry.lengths)
            size = lengths[row] * float(np.nanmax(scales[:, row]))
            most = tolerance if in_lengths else tolerance / size
            points = fk.part_of_fk(limb, most, rig.table, row).points(recording, values)
            is_flipped: Array = rig.sliders["flip"][:, row] > 0.5
            changes = 1 + np.flatnonzero(np.diff(is_flipped))
            flip = Channel.of_bone(rig.object, limb.name, settings.slider_of("flip").path)
            flips = {flip: is_flipped[:, None]} if len(changes) else {}
            which, slopes = thinning.thinned(values | flips, thinning.KeyRows(times, keyed), points, most)
            tips[:, row] = lengths[row] * points(values, np.arange(recording.frames))[len(entry.bones) - 1]
            one = SeenLimb(
                object=rig.object,
                name=limb.name,
                mode=storage.mode_of(limb),
                method=method.name,
                values=values,
                slopes=slopes,
                which=which,
                cuts=which[np.searchsorted(which, changes) - 1],
                times=times,
                asked=keyed,
                influence=rig.sliders["influence"][:, row],
            )
            found.append(one)
        _note_misses(found[-len(rig.limbs) :], recording, rig, frames, applied(frames, tips), lengths * scales[..., 1])
    return found


def _note_misses(
    seen: Sequence[SeenLimb], recording: Recording, rig: Rig, frames: Array, tips: Points, sizes: Column
) -> None:
    """Note how far tips ``(F, n, 3)`` of the n limbs of a rig are from their targets in the world, and how far they may
    be by the limbs' sizes ``(F, n)``. ``frames`` are their G."""
    targets = followed_places(recording, rig, 0)
    misses = np.linalg.norm(tips - solving.counting(rig.table, frames, targets, tips), axis=2)
    slack = tolerances.MISS * sizes + tolerances.ROUNDING * np.abs(targets).max(axis=2)
    for row, one in enumerate(seen):
        one.misses, one.slack = misses[:, row], slack[:, row]


def _closes_loop(limb: PoseBone) -> bool:
    """Whether a limb that stays in its plane has a target on its own rig, as in linkages: there people see where joints
    part, and what is halfway between frames counts."""
    target, bone = follow.follow_of(limb).pairs[0]
    if target != limb.id_data or not bone or storage.choices_of(limb)["plane"] not in IN_ONE_PLANE:
        return False
    above = limb.id_data.pose.bones[bone].parent  # of a pin that was made, what drives
    return not storage.is_control(limb.id_data, bone) or (
        above is not None and above.name != controls.rig_root(limb, storage.segments_of(limb))
    )


def check_alone(limb: PoseBone) -> None:
    """Refuse a limb on the rig on whose bones something else acts: it would act on what keys say as well."""
    if storage.mode_of(limb) == "RIG" and (others := strange_constraints(limb)):
        names = {"constraint": others[0].name, "bone": limb.name}
        raise Refused("'{constraint}' would move '{bone}' once more after the bake: mute it, or take it away", **names)


def strange_constraints(limb: PoseBone) -> list[Any]:
    """The constraints on a limb's own bones that act there and are not of the limb, or not as far as its influence."""
    constraints = [constraint for bone in storage.bones_of_limb(limb) for constraint in bone.constraints]
    acting = [constraint for constraint in constraints if not constraint.mute and constraint.influence > 0.0]
    ours = storage.limb_constraint_of(limb)
    return [constraint for constraint in acting if constraint != ours and not _goes_with(constraint)]


def _goes_with(constraint: Any) -> bool:
    """Whether a constraint acts only as far as the influence of a limb goes."""
    if constraint.name == parts.POSE:
        is_driven = animation.driver_of(constraint.id_data, constraint.path_from_id("influence")) is not None
        return is_driven and constraint.owner_space == "LOCAL"  # else it also moves the bone
    return storage.is_mechanism_constraint(constraint)
