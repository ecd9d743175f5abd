"""Hold: limbs' tips, and how their feet are turned, are planted in the world over ranges of frames or contacts, eased
in and out. Feet that roll are planted as they stand."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.dependencies import Dependencies
from ..blender.stepping import Steps, Stepwise, rate_of, times_of
from ..blender.types import is_evaluated, scene_of
from ..blender.words import Message, Refused
from ..feet.contacts import SOLE, Contact, FrameRange, Phase, slip_of
from ..feet.holding import (
    TURNING,
    Ease,
    FootContact,
    HeldLimb,
    HoldPose,
    hold_flat,
    hold_rolling,
    roots_of,
    rotations_of,
    tips_of,
)
from ..feet.planting import mean_of, place_in_reach, vectors_of
from ..feet.soles import SolePoint, paths_of, sole_of
from ..limb.follow import check_movable, check_posable, check_undriven, follow_of, has_roll, rig_slider, rolled_target
from ..limb.solving import limbs_now
from ..limb.storage import bones_of_limb, is_live, limbs_of, mode_of, read_slider
from ..limb.tips import foot_of
from ..limb.tolerances import ON_TARGET, UNSEEN
from ..limb.transactional import transactional_steps
from ..motion.frames import around, moved_by
from ..motion.parts import part_of_foot, part_of_ik, slider_channel
from ..motion.passing import read_again, record
from ..motion.placing import controls_of, parents_of, place_controls
from ..motion.reading import Asked, Channel, Recording, Values, copied, limbs_read
from ..motion.writing import Run, Task, Writing
from ..rigging import feet
from ..rigging.description import LimbRef, ref_of

Array = NDArray[Any]

__all__ = ["HoldOptions", "HoldReport", "sole_contact"]

MOST_TURNED, SLACK = np.radians(30.0), 0.005
"""How far a planted foot may be turned off what was seen, and how much farther its sole may slide than it did, in
lengths of the limb: what is worse is not planted."""

MOST_EASE = 10
"""The frames that a hold may be eased in and out over."""


@Stepwise
@transactional_steps
def hold_tips(
    context: Context,
    limbs: Sequence[PoseBone],
    contacts: Sequence[Sequence[Contact]],
    request: HoldOptions,
) -> Steps[HoldReport]:
    """Hold limbs in contacts, given for each limb in order: feet with Foot Roll in all of a contact, others while they
    are on their soles. Raises `Refused`, with nothing changed."""
    within = FrameRange(scene_of(context).frame_start, scene_of(context).frame_end)
    plants = []
    for limb, of_limb in zip(limbs, contacts, strict=True):
        check_hold(context, limb)
        plants.append(limb_to_hold(limb, of_limb, request.rolls, within))
    report = yield from hold_limbs(context, plants, request, within)
    if report is None:
        template = "Nothing is to be held in the scene's frames, {first} to {last}: change these, or the range"
        raise Refused(template, first=within.first, last=within.last)
    return report


def check_hold(context: Context, limb: PoseBone) -> None:
    """Refuse a limb whose target can't be moved, or does not move it."""
    if slider := rig_slider(limb):
        raise Refused("Use the rig's own slider '{slider}' of '{bone}' for this limb", slider=slider[1], bone=slider[0])
    check_posable(limb)
    if not is_evaluated(limb.id_data, context.evaluated_depsgraph_get()):
        raise Refused("'{rig}' is not shown here: show it to pose its limbs", rig=limb.id_data.name)
    follow = follow_of(limb)
    check_movable(limb, follow.target, follow.subtarget)  # type: ignore[arg-type]  # `check_posable` found it there
    if mode_of(limb) == "LIVE" and not is_live(scene_of(context)):
        raise Refused("'{bone}' is in FK, because Live is off in this scene: switch it on, then hold", bone=limb.name)


class HoldOptions(NamedTuple):
    """How limbs are held: over how many frames it eases in and out; whether feet with Foot Roll are planted on heel,
    sole and toe, as in contacts, or keep their rotation; whether at the mean place, or where they are in the current
    frame or the one in the range that is nearest to it; and how far joints may be off for fewer keys, in lengths of the
    limb."""

    ease: int = 3
    rolls: bool = False
    is_mean: bool = False
    tolerance: float = ON_TARGET


class Slip(NamedTuple):
    """How far what is lowest of a sole slides in a range, in scene units: in the median of ranges, and at most."""

    median: float
    most: float


class HoldReport(NamedTuple):
    """In how many ranges limbs are held; how far soles slid in these, and do now; in how many frames the limb of a name
    does not reach where it is to be."""

    ranges: int
    before: Slip
    now: Slip
    missed: dict[LimbRef, int]

    @property
    def warnings(self) -> list[Message]:
        """What to tell of limbs that do not reach."""
        template = "'{bone}' does not reach where it is held in {count} frames: hold fewer"
        return [Message(template, bone=bone, count=count) for (_, bone), count in self.missed.items() if count]


class LimbToHold(NamedTuple):
    """A limb, whether its foot rolls, and the contacts in which it is held, in order."""

    limb: PoseBone
    rolls: bool
    contacts: list[Contact]


def limb_to_hold(limb: PoseBone, contacts: Sequence[Contact], rolls: bool, within: FrameRange) -> LimbToHold:
    """A limb to be held in contacts, as far as these are ``within`` a range: whose foot ``rolls``, if it can, in all of
    each, else where it is on its sole."""
    contacts = [clipped for contact in contacts for clipped in contact.within(within)]
    if not (rolls and has_roll(limb) and rolled_target(limb)):
        return LimbToHold(
            limb, False, [sole_contact(frames) for contact in contacts for frames in contact.ranges_on(SOLE)]
        )
    check_undriven(limb, *TURNING)
    return LimbToHold(limb, True, [*contacts])


def sole_contact(frames: FrameRange) -> Contact:
    """A range of frames as a contact of the sole."""
    return Contact((Phase(frames.first, SOLE),), frames.last)


def hold_limbs(
    context: Context, holds: Sequence[LimbToHold], request: HoldOptions, within: FrameRange
) -> Steps[HoldReport | None]:
    """Hold limbs, by keys in frames ``within`` a range; None if there is nothing to hold. Goes through the frames
    twice. Raises `Refused`."""
    limbs = [planted.limb for planted in holds]
    runs: dict[FrameRange, list[int]] = {}
    for i, planted in enumerate(holds):
        for run in _runs([contact.frames for contact in planted.contacts], request.ease, within):
            runs.setdefault(run, []).append(i)
    frames = sorted({frame for run in runs for frame in range(run.first, run.last + 1)})
    if not frames:
        return None
    task = Task(context, frames, request.tolerance, keeps_others=around(context, moved_by(limbs)))
    controls = controls_of(limbs) + [(limb.id_data, foot.name) for limb in limbs if (foot := foot_of(limb))]
    channels = [*dict.fromkeys(channel for planted in holds for channel in _channels(planted))]
    recording = yield from record(
        context,
        limbs,
        frames,
        Asked(parents_of(controls), channels=channels, controls=controls),
        progress=task.next_progress(),
    )
    before = copied(recording.channels)
    values, turns = copied(before), [_foot_turns(recording, limb) for limb in limbs]
    soles = [sole_of(recording, limb, rate_of(scene_of(context))) for limb in limbs]
    limbs_held = [_held(context, recording, planted, request, frames, values) for planted in holds]
    slipped = _slip(recording, limbs_held, soles)
    rows_of = {run: np.arange(*np.searchsorted(frames, (run.first, run.last + 1))) for run in runs}
    parts_of = {run: [keyed_part for i in which for keyed_part in limbs_held[i].parts] for run, which in runs.items()}
    writing = Writing(task, before, [Run(rows_of[run], parts_of[run]) for run in runs])

    def reread(rows: Array) -> Steps[None]:
        writing.write(values)
        yield from read_again(context, recording, limbs, rows, None, task.next_progress())

    yield from place_controls(
        [placing for limb_held in limbs_held for placing in limb_held.placings], recording, values, reread
    )
    writing.finish(recording, values)
    count = sum(len(planted.contacts) for planted in holds)
    missed = {ref_of(limb_held.limb): _missed(recording, limb_held) for limb_held in limbs_held}
    slip = _slip(recording, limbs_held, soles)
    if request.rolls:
        _check_better(recording, limbs_held, turns, frames)
        slack = SLACK * max(float(one.placings[0].sizes[0]) for one in limbs_held)
        if slip.median > slipped.median + slack or slip.most > slipped.most + slack:
            raise Refused("Planted, soles would slide by more than now: mark the contacts by hand, then hold")
    return HoldReport(count, slipped, slip, missed)


def _foot_turns(recording: Recording, limb: PoseBone) -> Array:
    """How what a limb ends in is turned in the world, (rows, 3, 3)."""
    return rotations_of(recording, (limb.id_data, (foot_of(limb) or limb).name))


def _check_better(
    recording: Recording, limbs_held: Sequence[HeldLimb], turns: Sequence[Array], frames: Sequence[int]
) -> None:
    """Refuse feet that are turned far from where they were ``turned``, (rows, 3, 3) each, rather than held."""
    for one, before in zip(limbs_held, turns, strict=True):
        now = _foot_turns(recording, one.limb)
        angles = np.linalg.norm(vectors_of(now @ before.swapaxes(1, 2)), axis=1)
        if angles.max() > MOST_TURNED:
            angle, frame = round(float(np.degrees(angles.max()))), frames[int(angles.argmax())]
            template = "'{bone}' would turn its foot by {angle}° in frame {frame}: mark its contacts by hand, then hold"
            raise Refused(template, bone=one.limb.name, angle=angle, frame=frame)


def _channels(planted: LimbToHold) -> list[Channel]:
    """What of a limb may get keys."""
    limb = planted.limb
    channels = [*part_of_ik(limb).channels, *(part_of_foot(limb).channels if foot_of(limb) else ())]
    return channels + [slider_channel(limb, name) for name in TURNING if planted.rolls]


def _slip(recording: Recording, limbs_held: Sequence[HeldLimb], soles: Sequence[list[SolePoint]]) -> Slip:
    """How far what is lowest of ``soles`` slips where they are held."""
    slips = [
        slip_of(paths_of(recording, one.limb, sole), range(recording.frames), FrameRange(*rows))
        for one, sole in zip(limbs_held, soles, strict=True)
        for rows in one.ease.ranges
    ]
    return Slip(float(np.median(slips)), max(slips))


# one limb


def _held(
    context: Context,
    recording: Recording,
    planted: LimbToHold,
    request: HoldOptions,
    frames: Sequence[int],
    values: Values,
) -> HeldLimb:
    """How a limb is held, by what was read. Raises `Refused`."""
    limb = planted.limb
    rig = next(rig for rig in recording.rigs if rig.object == limb.id_data)
    limbs, row = limbs_read(recording, rig), [one.name for one in rig.limbs].index(limb.name)
    ranges = [contact.frames for contact in planted.contacts]
    rows = [(frames.index(first), frames.index(last)) for first, last in ranges]
    ease = Ease(rows, request.ease, _reach(limb))
    _check_in_ik(limbs.sliders["influence"][:, row], limb, ease, frames)
    current = scene_of(context).frame_current
    at = [None if request.is_mean else min(max(current, first), last) - first for first, last in ranges]
    if planted.rolls:
        contacts = [FootContact(contact.on, i) for contact, i in zip(planted.contacts, at, strict=True)]
        return hold_rolling(recording, limbs, row, ease, contacts, times_of(scene_of(context), frames), values)
    tips, roots, foot = tips_of(recording, limb), roots_of(recording, limb), foot_of(limb)
    turns = rotations_of(recording, (limb.id_data, foot.name)) if foot else None
    plants = []
    for (first, end), i in zip(rows, at, strict=True):
        here = slice(first, end + 1) if i is None else slice(first + i, first + i + 1)
        reach = np.full(len(roots[here]), ease.reach * (1.0 - UNSEEN) if i is None else inf)
        place_held = place_in_reach(tips[here].mean(axis=0), roots[here], reach)
        plants.append(HoldPose(place_held, None if turns is None else mean_of(turns[here])))
    return hold_flat(recording, limbs, row, ease, plants, _turns_by_itself(limb))


def _turns_by_itself(limb: PoseBone) -> bool:
    """Whether the foot of a limb does not follow its target, and nothing else turns it."""
    foot = foot_of(limb)
    if foot is None or feet.foot_follows(limb):
        return False
    taken = {bone.name for other in limbs_of(limb.id_data) for bone in bones_of_limb(other)}
    return foot.name not in taken and not [*Dependencies().constraints_and_drivers(foot)]


def _check_in_ik(influence: Array, limb: PoseBone, ease: Ease, frames: Sequence[int]) -> None:
    """Refuse a limb that is not in IK in a frame in which its tip is to be somewhere."""
    wrong = np.flatnonzero(ease.changed(len(frames)) & (influence < 1.0 - 1e-6))
    if len(wrong):
        raise Refused(
            "'{bone}' is not in IK in frame {frame}: switch it there, then hold",
            bone=limb.name,
            frame=frames[int(wrong[0])],
        )


def _reach(limb: PoseBone) -> float:
    """How far a limb reaches in the world; one that stretches, anywhere."""
    if read_slider(limb, "stretch") > 0.0:
        return inf
    now = limbs_now(limb.id_data, [limb], bpy.context.evaluated_depsgraph_get())
    single = now.table.singles[0]
    return float(min(single.settings.farthest, single.reference.bones.total) * np.linalg.norm(now.frames[0, :3, 1]))


def _missed(recording: Recording, limb_held: HeldLimb) -> int:
    """In how many rows that are held or eased the tip of a limb is not where it is to be."""
    rows = limb_held.ease.changed(recording.frames)
    off = np.linalg.norm(tips_of(recording, limb_held.limb) - limb_held.tips, axis=1)
    return int((~(off[rows] <= UNSEEN * limb_held.placings[0].sizes[rows])).sum())


def _runs(ranges: Sequence[FrameRange], ease: int, within: FrameRange) -> list[FrameRange]:
    """The frames to be keyed, easing included, of those that are ``within`` a range: what is eased out while the next
    is eased in is keyed as one."""
    runs: list[FrameRange] = []
    for frames in ranges:
        first, last = max(frames.first - ease, within.first), min(frames.last + ease, within.last)
        if runs and first <= runs[-1].last + 2:  # a key beside each run is for what goes on there
            runs[-1] = FrameRange(runs[-1].first, last)
        else:
            runs.append(FrameRange(first, last))
    return runs
