"""Hold: limbs' tips, and how their feet are turned, are planted in the world over ranges of frames or contacts, eased
in and out. Feet that roll are planted as they stand; Plant Feet gives legs IK with Foot Roll and finds when they do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, cast

import bpy
import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Vector

from ..blender import animation, transaction
from ..blender.stepping import Steps, Stepwise, rate_of, stepping, times_of
from ..blender.types import Message, Refused, is_evaluated, scene_of
from ..feet.contacts import HEIGHT, SOLE, SPEED, Contact, FrameRange, Phase, slip_of
from ..feet.held import FootContact, Ground, Holding, held_legs
from ..feet.holding import TURNING, HeldLimb, carrier_moved, carrier_of, held_limb, leg_read, rotations_of, tips_of
from ..feet.planting import vectors_of
from ..feet.soles import SolePoint, paths_of, sole_of
from ..limb import rest_geometry, tips, tolerances
from ..limb.follow import check_movable, check_posable, check_undriven, follow_of, has_roll, rig_slider, rolled_target
from ..limb.storage import by_rig, is_live, limbs_of, mode_of, read_slider
from ..limb.tips import foot_of
from ..limb.tolerances import ON_TARGET, UNSEEN
from ..motion import ik, passing
from ..motion.frames import around, frames_of, moved_by
from ..motion.parts import part_of_foot, part_of_ik, slider_channel
from ..motion.placing import ControlPlacing, controls_of, parents_of
from ..motion.reading import Asked, Channel, Recording, Values, copied, limbs_read, places_of
from ..motion.writing import KeyedPart, Run, Task
from ..rigging.description import LimbRef, ref_of
from ..solver.matrices import applied
from ..solver.ops import Array, Column, Mask
from . import adding, selection, setting, status
from .contact_markers import Contacts, find_contacts, mark_contacts

__all__ = ["HoldOptions", "HoldReport", "sole_contact"]

MOST_TURNED, SLACK = np.radians(30.0), 0.005
"""How far a planted foot may be turned off what was seen, and how much farther its sole may slide than it did, in
lengths of the limb: what is worse is not planted."""

CALM = 0.25
"""Over how many seconds what carries legs goes down before they need it."""

MOST_EASE = 10
"""The frames that a hold may be eased in and out over."""


@Stepwise
@transaction.transactional_steps
def hold_tips(
    context: Context,
    limbs: Sequence[PoseBone],
    contacts: Sequence[Sequence[Contact]],
    request: HoldOptions,
) -> Steps[HoldReport]:
    """Hold limbs in contacts, given for each limb in order: feet with Foot Roll in all of a contact, others while they
    are on their soles. Raises `Refused`, with nothing changed."""
    within = FrameRange(scene_of(context).frame_start, scene_of(context).frame_end)
    for limb in limbs:
        check_hold(context, limb)
    now, rate = scene_of(context).frame_current, rate_of(scene_of(context))
    holds = [limb_to_hold(*pair, request, within, now) for pair in zip(limbs, contacts, strict=True)]
    spans = [contact.rows for one in holds for contact in one.contacts]
    if not spans:
        template = "Nothing is to be held in the scene's frames, {first} to {last}: change these, or the range"
        raise Refused(template, first=within.first, last=within.last)
    carriers = {ob: _carrier(of_rig) for ob, of_rig in by_rig(limbs).items()} if request.lower_hips else {}
    more = request.ease + 2 * (_calm(context) if any(carriers.values()) else 0)
    first, end = min(span.start for span in spans) - more, max(span.stop for span in spans) + more
    frames = range(max(first, within.first), min(end, within.last + 1))
    task = Task(context, frames, request.tolerance, keeps_others=around(context, moved_by(limbs)))
    asked = _asked(holds, carriers)
    repeating = _repeating(asked.channels)
    recording = yield from passing.record(context, limbs, frames, asked, progress=task.next_progress())
    values = copied(recording.channels)
    plans, placings, runs = _planned_holds(recording, holds, request, carriers, values)
    soles = [sole_of(recording, plan.limb, rate) for plan in plans]
    seen = [_seen(recording, plan.limb) for plan in plans]
    before = _slip(recording, plans, soles, [np.eye(3)] * len(plans))
    writing = yield from ik.placed(task, recording, values, runs, placings, reads_all=True)
    writing.finish(recording, values)
    slip = _slip(recording, plans, soles, [_by_ground(plan) for plan in plans])
    if request.plants:
        _check_turned(recording, plans, [each.turns for each in seen])
        slack = SLACK * max(plan.leg.size for plan in plans)
        if slip.median > before.median + slack or slip.most > before.most + slack:
            raise Refused("Planted, soles would slide by more than now: mark the contacts by hand, then hold")
    pairs = [zip(_seen(recording, plan.limb)[1:], was[1:], strict=True) for plan, was in zip(plans, seen, strict=True)]
    moved = [[float(np.linalg.norm(one - other, axis=-1).max()) for one, other in of_limb] for of_limb in pairs]
    tips, knees = map(max, zip(*moved, strict=True))
    missed = {ref_of(plan.limb): _missed(recording, plan) for plan in plans}
    ended = sorted(repeating - _repeating(asked.channels))
    return HoldReport(ranges=len(spans), before=before, now=slip, tips=tips, knees=knees, missed=missed, ended=ended)


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
    frame or the one in the range that is nearest to it; how far joints may be off for fewer keys, in lengths of the
    limb; whether what carries legs goes down where they do not reach; and the mesh that feet stand on, by name."""

    ease: int = 3
    plants: bool = False
    is_mean: bool = False
    tolerance: float = ON_TARGET
    lower_hips: bool = False
    ground: str = ""


class Slip(NamedTuple):
    """How far what is lowest of a sole slides in a range, in scene units: in the median of ranges, and at most."""

    median: float
    most: float


class HoldReport(NamedTuple):
    """In how many ranges limbs are held; how far soles slid in these, and do now; how far tips and knees are moved at
    most, in any frame; in which frames a limb does not reach where it is held; and which bones' curves no longer go on
    by modifiers. Lengths are in scene units."""

    ranges: int
    before: Slip
    now: Slip
    tips: float
    knees: float
    missed: dict[LimbRef, list[int]]
    ended: list[str]

    @property
    def warnings(self) -> list[Message]:
        """What to tell of limbs that do not reach, and of bones that no longer repeat."""
        template = "'{bone}' does not reach where it is held in frames {frames}: lower the hips there, or hold fewer"
        missed = [(bone, _ranges_said(frames)) for (_, bone), frames in self.missed.items() if frames]
        ended = "'{bones}' got keys in the scene's frames, and no longer repeat by Cycles or other modifiers"
        said = [Message(ended, bones="', '".join(self.ended))] if self.ended else []
        return [*(Message(template, bone=bone, frames=frames) for bone, frames in missed), *said]


def _ranges_said(frames: Sequence[int]) -> str:
    """Frames as people say them: 3, 7-12."""
    runs = np.split(np.array(frames), np.flatnonzero(np.diff(frames) > 1) + 1)
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


class LimbToHold(NamedTuple):
    """A limb, whether its foot rolls, and the contacts in which it is held, in order: first in frames, not rows."""

    limb: PoseBone
    rolls: bool
    contacts: list[FootContact]


def limb_to_hold(
    limb: PoseBone, contacts: Sequence[Contact], options: HoldOptions, within: FrameRange, now: int
) -> LimbToHold:
    """A limb to be held in contacts, as far as these are ``within`` a range. Its foot is planted, if that is wanted
    and it has a foot roll, in all of each, else where it is on its sole. ``now`` is the current frame."""
    contacts = [clipped for contact in contacts for clipped in contact.within(within)]
    rolls = bool(options.plants and has_roll(limb) and rolled_target(limb))
    if rolls:
        check_undriven(limb, *TURNING)
    else:
        contacts = [sole_contact(frames) for contact in contacts for frames in contact.ranges_on(SOLE)]
    spans = [contact.frames for contact in contacts]
    at = [None if options.is_mean else min(max(now, first), last) - first for first, last in spans]
    held = [FootContact(one.frames.first, one.on, row) for one, row in zip(contacts, at, strict=True)]
    return LimbToHold(limb, rolls, held)


def sole_contact(frames: FrameRange) -> Contact:
    """A range of frames as a contact of the sole."""
    return Contact((Phase(frames.first, SOLE),), frames.last)


def _asked(holds: Sequence[LimbToHold], carriers: dict[Any, Any]) -> Asked:
    """What is read of limbs, to be held, and of what carries them; the channels are what may get keys."""
    limbs, moved = [one.limb for one in holds], [(ob, bone.name) for ob, bone in carriers.items() if bone]
    feet = [limb for limb in limbs if foot_of(limb)]
    controls = [*controls_of(limbs), *((limb.id_data, foot_of(limb).name) for limb in feet), *moved]  # type: ignore[union-attr]
    parts = [*map(part_of_ik, limbs), *map(part_of_foot, feet)]
    channels = [channel for part in parts for channel in part.channels]
    channels += [slider_channel(one.limb, name) for one in holds if one.rolls for name in TURNING]
    channels += [Channel.of_bone(*ref, "location") for ref in moved]
    return Asked(parents_of(controls), channels=dict.fromkeys(channels), controls=controls)


def _repeating(channels: Iterable[Channel]) -> set[str]:
    """The objects and bones of which curves go on by modifiers, as by *Cycles*, by name."""
    bones = {(channel.object, channel.path): channel.bone or channel.object.name for channel in channels}
    return {
        bones[ob, curve.data_path]
        for ob in {ob for ob, _ in bones}
        for curve in animation.curves_of(ob)
        if (ob, curve.data_path) in bones and animation.modifiers_of(curve)
    }


def _planned_holds(
    recording: Recording, holds: Sequence[LimbToHold], options: HoldOptions, carriers: dict[Any, Any], values: Values
) -> tuple[list[HeldLimb], list[ControlPlacing], list[Run]]:
    """How limbs are held, by what was read; what is placed for that, and in which rows what gets keys. Sets sliders in
    ``values``. Raises `Refused`."""
    plans, placings = list[HeldLimb](), list[ControlPlacing]()
    parts: dict[tuple[int, int], list[KeyedPart]] = {}
    context, frames = bpy.context, cast("Sequence[int]", recording.at)
    for rig in recording.rigs:
        limbs, of_rig = limbs_read(recording, rig), [one for one in holds if one.limb.id_data == rig.object]
        rows, carrier = [rig.names.index(one.limb.name) for one in of_rig], carriers.get(rig.object)
        legs = []
        for to_hold, row in zip(of_rig, rows, strict=True):
            contacts = [contact._replace(first=contact.first - frames[0]) for contact in to_hold.contacts]
            legs.append(leg_read(recording, limbs, row, contacts, to_hold.rolls))
        how = Holding(
            options.ease,
            times_of(scene_of(context), frames),
            _calm(context) if carrier else None,
            _ground(context, options.ground) if options.ground else None,
        )
        held = held_legs(legs, how)
        carried = held[0].carried
        if carrier and carried.any():
            placing, part = carrier_moved(recording, (rig.object, carrier.name), carried, legs[0].size, how.times)
            placings.append(placing)
            _add_runs(parts, np.isfinite(placing.places).all(axis=1), [part])
        for row, leg, one in zip(rows, legs, held, strict=True):
            _check_in_ik(limbs.sliders["influence"][:, row], rig.limbs[row], one.changed | carried.any(axis=1), frames)
            plans.append(held_limb(recording, limbs, row, leg, one, options.ease, values))
            _add_runs(parts, one.changed, plans[-1].parts)
    placings += [placing for plan in plans for placing in plan.placings]
    return plans, placings, [Run(np.arange(first, last + 1), parts[first, last]) for first, last in parts]


def _carrier(limbs: Sequence[PoseBone]) -> PoseBone | None:
    """The bone that is lowered for limbs of one rig; none where a leg that is not held would go down with it, in FK."""
    ob, carrier = limbs[0].id_data, carrier_of(limbs)
    if carrier is None:
        return None
    others: list[Any] = [
        (limb, None) for limb in limbs_of(ob) if limb not in limbs and read_slider(limb, "influence") < 1
    ]
    others += selection.limbs_without_ik([*ob.pose.bones])
    return (
        None
        if any(carrier in limb.parent_recursive and status.is_leg(limb, segments) for limb, segments in others)
        else carrier
    )


def _calm(context: Context) -> int:
    """Over how many frames what carries legs goes down before they need it, and up again."""
    return max(1, round(CALM * rate_of(scene_of(context))))


def _add_runs(parts: dict[tuple[int, int], list[KeyedPart]], changed: Mask, keyed_parts: Sequence[KeyedPart]) -> None:
    """Add to the ``parts`` that get keys from a row to a row those that do in the rows that are ``changed``; a row
    between two runs has no room for a key beside each."""
    rows = np.flatnonzero(changed)
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > 2) + 1) if len(rows) else ():
        parts.setdefault((int(run[0]), int(run[-1])), []).extend(keyed_parts)


def _slip(
    recording: Recording, plans: Sequence[HeldLimb], soles: Sequence[list[SolePoint]], turns: Sequence[Array]
) -> Slip:
    """How far what is lowest of ``soles`` slides where they are held, on a ground that is turned so, (rows, 3, 3)."""
    slips = list[float]()
    for plan, sole, turn in zip(plans, soles, turns, strict=True):
        path = paths_of(recording, plan.limb, sole)
        path = path._replace(sole=(turn.swapaxes(-2, -1) @ path.sole[..., None])[..., 0])
        ranges = [FrameRange(contact.rows.start, contact.rows.stop - 1) for contact in plan.held.contacts]
        slips += [slip_of(path, range(recording.frames), each) for each in ranges]
    return Slip(float(np.median(slips)), max(slips))


class _Seen(NamedTuple):
    """How what a limb ends in is turned in the world, (rows, 3, 3), and where its tip is, (rows, 3), and its knees,
    (knees, rows, 3)."""

    turns: Array
    tips: Array
    knees: Array


def _seen(recording: Recording, limb: PoseBone) -> _Seen:
    ob = limb.id_data
    knees = [places_of(recording, ob, name) for name in rest_geometry.rest_geometry_of(limb).names[1:]]
    turns = rotations_of(recording, (ob, (foot_of(limb) or limb).name))
    return _Seen(turns, tips_of(recording, limb), np.array(knees))


def _by_ground(plan: HeldLimb) -> Array:
    """How the ground turns the foot of a limb, (rows, 3, 3)."""
    turns: Array = plan.held.leg.ends[:, :3, :3] @ np.linalg.inv(plan.leg.ends[:, :3, :3])
    return turns


def _check_turned(recording: Recording, plans: Sequence[HeldLimb], turns: Sequence[Array]) -> None:
    """Refuse feet that are turned far from where they were turned, (rows, 3, 3) each, rather than held."""
    for plan, before in zip(plans, turns, strict=True):
        off = _seen(recording, plan.limb).turns @ (_by_ground(plan) @ before).swapaxes(1, 2)
        angles = np.linalg.norm(vectors_of(off), axis=1)
        if angles.max() > MOST_TURNED:
            angle, frame = round(float(np.degrees(angles.max()))), (recording.at or [0])[int(angles.argmax())]
            template = "'{bone}' would turn its foot by {angle}° in frame {frame}: mark its contacts by hand, then hold"
            raise Refused(template, bone=plan.limb.name, angle=angle, frame=frame)


def _check_in_ik(influence: Column, limb: PoseBone, changed: Mask, frames: Sequence[int]) -> None:
    """Refuse a limb that is not in IK in a frame in which its tip is to be somewhere."""
    wrong = np.flatnonzero(changed & (influence < 1.0 - 1e-6))
    if len(wrong):
        raise Refused(
            "'{bone}' is not in IK in frame {frame}: switch it there, then hold",
            bone=limb.name,
            frame=frames[int(wrong[0])],
        )


def _missed(recording: Recording, plan: HeldLimb) -> list[int]:
    """The frames in which the tip of a limb is not where it is held."""
    off = np.linalg.norm(tips_of(recording, plan.limb) - plan.held.ends[:, :3, 3], axis=1)
    is_held = np.isin(
        np.arange(len(off)), [row for one in plan.held.contacts for row in range(one.rows.start, one.rows.stop)]
    )
    return [round((recording.at or [])[row]) for row in np.flatnonzero(is_held & ~(off <= UNSEEN * plan.leg.size))]


def _ground(context: Context, name: str) -> Ground:
    """The ground that a mesh of the scene is. Raises `Refused` where there is none, or where it moves."""
    ob, depsgraph = scene_of(context).objects.get(name), context.evaluated_depsgraph_get()
    if ob is None or ob.type != "MESH" or not is_evaluated(ob, depsgraph):
        raise Refused("No mesh that is shown is called '{name}': pick another Ground", name=name)
    now = _points(ob.evaluated_get(depsgraph))
    with stepping(context) as show_frame:
        for frame in frames_of(context, [(ob, "")]).at:
            show_frame(frame)
            then, template = (
                _points(ob.evaluated_get(context.evaluated_depsgraph_get())),
                "'{name}' moves in frame {frame}",
            )
            if then.shape != now.shape or np.abs(then - now).max() > UNSEEN:
                raise Refused(f"{template}: pick a Ground that stands still", name=name, frame=frame)
    seen = ob.evaluated_get(context.evaluated_depsgraph_get())
    into, top = seen.matrix_world.inverted_safe(), float(_points(seen)[:, 2].max(initial=0.0))

    def ground(at: Array, above: float) -> tuple[Array, Array]:
        down, found = into.to_3x3() @ Vector((0.0, 0.0, -1.0)), None
        for height in (float(at[2]) + above, top + above):  # from the top where it began below the ground
            is_hit, place, normal, _ = seen.ray_cast(into @ Vector((at[0], at[1], height)), down)
            normal = (into.to_3x3().transposed() @ normal).normalized()
            found = (place, normal) if is_hit else found
            if is_hit and normal.z > 0.0:
                break
        if found is None:
            template = "'{name}' is not below a foot at ({x}, {y}): pick a Ground that reaches there"
            raise Refused(template, name=name, x=round(float(at[0]), 2), y=round(float(at[1]), 2))
        return np.array(seen.matrix_world @ found[0]), np.array(found[1] if found[1].z > 0.0 else -found[1])

    return ground


def _points(seen: Any) -> Array:
    """Where the points of an evaluated mesh are in the world, (points, 3)."""
    points = np.empty(len(seen.data.vertices) * 3, np.float32)
    seen.data.vertices.foreach_get("co", points)
    return applied(np.array(seen.matrix_world, float), points.reshape(-1, 3).astype(float))


NOT_LOW = "No foot is low and slow in any frame: set Height or Speed to more"
KEEP_STILL = "The feet keep still from frame {first} to {last}: Plant Feet is for a rig that walks"


class PlantOptions(NamedTuple):
    """How feet are planted: the height and speed below which they are on the ground, see `contacts_of`; the frames over
    which each contact eases in and out; the tolerance of legs that get IK, see `add`; whether hips are lowered, and the
    mesh that feet stand on: see `HoldOptions`."""

    height: float = HEIGHT
    speed: float = SPEED
    ease: int = 3
    tolerance: float = adding.FEWER_KEYS
    lower_hips: bool = True
    ground: str = ""


class PlantResult(NamedTuple):
    """The legs that were planted, with their contacts and how far they slid before; the report of the hold; and
    warnings."""

    legs: list[Contacts]
    report: HoldReport
    warnings: list[Message]


class NoContacts(Refused):
    """No foot is on the ground in any frame."""


@Stepwise
def plant(
    context: Context,
    requests: Sequence[adding.LimbRequest],
    limbs: Sequence[PoseBone],
    frames: Sequence[int],
    description: PlantOptions,
) -> Steps[PlantResult]:
    """Plant the feet of legs, of those that are asked for and get IK, and of those that have it. Their contacts are
    marked in place of those that are. Raises `Refused`, and then nothing has changed."""
    names = [ref_of(limb) for limb in (*limbs, *(request.limb for request in requests))]
    warnings: list[Message] = []
    with transaction.as_one(context):
        if requests:
            tolerance = description.tolerance
            added = yield from adding.add.steps(context, requests, mode="RIG", foot_roll=True, tolerance=tolerance)
            warnings = added.warnings
        setting.add_foot_roll(context, [leg for ob, bone in names if tips.foot_of(leg := ob.pose.bones[bone])])
        legs = [ob.pose.bones[bone] for ob, bone in names]
        listed = yield from find_contacts.steps(context, legs, frames, description.height, description.speed)
        standing = [of_leg for of_leg in listed if of_leg.contacts]
        if not standing:
            raise NoContacts(NOT_LOW)
        if all(_keeps_still(of_leg, frames) for of_leg in listed):
            raise NoContacts(KEEP_STILL, first=frames[0], last=frames[-1])
        request = HoldOptions(
            ease=description.ease,
            plants=True,
            is_mean=True,
            lower_hips=description.lower_hips,
            ground=description.ground,
        )
        contacts = [of_leg.contacts for of_leg in standing]
        report = yield from hold_tips.steps(context, [of_leg.limb for of_leg in standing], contacts, request)
        mark_contacts(scene_of(context), standing)
    return PlantResult(standing, report, [*warnings, *report.warnings])


def _keeps_still(leg: Contacts, frames: Sequence[int]) -> bool:
    """Whether a leg stands in all of these frames, and does not slide: nothing moves it."""
    contacts = [contact.frames for contact in leg.contacts]
    return contacts == [(frames[0], frames[-1])] and leg.slip < tolerances.UNSEEN * leg.limb.length
