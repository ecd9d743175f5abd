"""From how limbs stand in some frames to the settings and keys that show it in another way: read once, compute all
frames at once, write, and look once at what was written. This frame alone goes the same way, without keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.action_writer import ActionWriter
from ..blender.animation import is_animated, set_at, value_at
from ..blender.changes import Change
from ..blender.reduction import Segments, fewest, hermite
from ..blender.rotation import ARRAYS, rotation_channel, to_channels
from ..blender.stepping import times_of
from ..blender.types import is_armature, scene_of, view_layer_of
from ..limb.follow import follow_of
from ..limb.foot_roll import flat_toes
from ..limb.moving import check_undriven
from ..limb.rest_geometry import rest_geometry_of
from ..limb.solving import scaled_bones, scales_of, solve
from ..limb.tips import foot_of
from ..limb.words import Message, Refused
from ..rigging import feet
from ..solver.matrices import applied, inverted_all
from ..solver.rotation import conjugate, multiply
from .inverse import angle_between
from .matching import (
    LimbName,
    LimbPoses,
    Shown,
    factor_past,
    goal_ref,
    offset_turn,
    own_foot_turns,
    poses_by_fk,
    shown_in_ik,
    warnings_of_misses,
    world_turns,
)
from .parts import Part, Points, part_of_fk, part_of_foot, part_of_ik, slider_channel, turn_channel
from .placing import Placing, place, refs_of_control, without_jumps
from .reading import Channel, LimbsRead, Progress, Recording, Values, limbs_read, matrices_of, read_again, record

Array = NDArray[Any]

UNCHANGED = 1e-6
"""How far a number may be from what it was, as a part of it or of 1, and still count as that."""


class Matched(NamedTuple):
    """The properties that were changed to show a pose in another way, as they were before, and what to tell the
    person."""

    changes: list[Change]
    warnings: list[Message]


class Task(NamedTuple):
    """What is keyed in which frames: None for the frame that is shown, without keys. ``tolerance`` is how far joints
    may be off for the sake of fewer keys, in lengths of their limb. With ``keeps_others``, frames before and after
    these, which follow each other, stay as they are. Afterwards this frame shows what the keys say, or ``stays`` as it
    is."""

    context: Context
    frames: Sequence[float] | None
    tolerance: float = 0.0
    stays: bool = False
    keeps_others: bool = False
    progress: Progress | None = None

    def part_done(self, start: float, end: float) -> Progress | None:
        """Progress of a part of the whole."""
        told = self.progress
        return None if told is None else lambda done: told(start + (end - start) * done)


def show_in_ik(
    task: Task, lasts: Sequence[PoseBone], poses: dict[LimbName, LimbPoses] | None = None, moves_controls: bool = True
) -> Matched:
    """Have limbs show by IK the bones' own pose, or these ``poses`` over the frames: by targets and poles (unless they
    stay where they are), flip, swivel and ankle. Two passes, one where controls stay. Raises `Refused` for what can't
    be seen where it has to be."""
    parts = [part_of_ik(last, moves_controls) for last in lasts]
    channels = [*dict.fromkeys(channel for part in parts for channel in part.channels)]
    refs = [ref for last in lasts for pair in follow_of(last).pairs if pair[0] for ref in refs_of_control(pair)]
    recording = record(
        task.context, lasts, task.frames, refs, channels, None if poses else 0.0, task.part_done(0.0, 0.4)
    )
    poses = poses or poses_by_fk(recording)
    before = {channel: rows.copy() for channel, rows in recording.channels.items()}
    shown, values = shown_in_ik(recording, poses, moves_controls), {key: rows.copy() for key, rows in before.items()}
    for each in shown:
        _set_sliders(each, values, before)
    placings = _placings(shown, recording, values) if moves_controls else []
    writing = Writing(task, before, [Run(np.arange(recording.frames), parts)])

    def reread(rows: Array) -> None:
        writing.write(values)
        read_again(task.context, recording, lasts, task.frames, rows, 1.0, task.part_done(0.4, 0.8))
        for each, placing in zip(shown, placings, strict=False):
            if placing.turns is not None:
                foot: Any = foot_of(each.last)
                placing.offset = turn_off(recording, placing.followed, (foot.id_data, foot.name))

    if moves_controls:
        place(placings, recording, values, reread)
        _turn_toes(recording, lasts, values)
    sliders = {(each.last.id_data, each.last.name): each.sliders for each in shown}
    warnings = [warning for each in shown for warning in each.warnings]
    warnings += warnings_of_misses(recording, poses, sliders)
    touched = [channel for placing in placings for channel in placing.channels]
    touched += [slider_channel(each.last, name) for each in shown for name in each.sliders]
    return Matched(writing.finish(recording, values, touched), warnings)


def _set_sliders(shown: Shown, values: Values, before: Values) -> None:
    for name, rows in shown.sliders.items():
        channel = slider_channel(shown.last, name)
        if not np.array_equal(rows, before[channel][:, 0]):
            check_undriven(shown.last, name)
            values[channel][:, 0] = rows


def _placings(shown: Sequence[Shown], recording: Recording, values: Values) -> list[Placing]:
    """Where controls are to be: targets first, as limbs are, then poles."""
    targets, poles = [], []
    for each in shown:
        follow, turn = follow_of(each.last), None
        if each.foot is not None and feet.foot_follows(each.last):
            turn = each.foot
        offset = offset_turn(each.last) if turn is not None else (1.0, 0.0, 0.0, 0.0)
        goal: Any = goal_ref(each.last)
        control: Any = follow.pairs[0]
        targets.append(Placing(control, goal, each.target, each.sizes, turn, offset))
        if each.pole is not None:
            pole: Any = follow.pairs[1]
            poles.append(Placing(pole, pole, each.pole, each.sizes))
    return [*targets, *poles]


def _turn_toes(recording: Recording, lasts: Sequence[PoseBone], values: Values) -> None:
    """Turn toes that are kept flat by their own channels so that they are in IK as these have them in FK. What keeps
    them flat is a turn before their own."""
    for last in lasts:
        for toe in flat_toes(last) if feet.foot_follows(last) else ():
            own, in_ik = own_foot_turns(recording, last, toe)
            own_turn: Any = tuple(own.T)
            is_off = angle_between(own_turn, tuple(in_ik.T)) > feet.ALIKE
            turn = multiply(multiply(own_turn, conjugate(tuple(in_ik.T))), own_turn)
            channel = turn_channel((toe.id_data, toe.name))
            rows = in_mode(toe.rotation_mode, np.stack(turn, axis=-1), values[channel])
            values[channel][is_off] = rows[is_off]


def in_mode(mode: str, turns: Array, near: Array) -> Array:
    """Quaternions (f, 4) as the numbers of a rotation mode, in each frame those nearest to others (f, numbers)."""
    return np.stack(np.broadcast_arrays(*to_channels(mode, tuple(turns.T), [*near.T], ARRAYS)), axis=-1)


def show_in_fk(task: Task, lasts: Sequence[PoseBone]) -> Matched:
    """Give limbs' bones, and the feet that turn with their targets, what IK shows as their own pose."""
    parts = [part_of_fk(last) for last in lasts]
    channels = [*dict.fromkeys(channel for part in parts for channel in part.channels)]
    recording = record(task.context, lasts, task.frames, (), channels, 1.0, task.part_done(0.0, 0.9))
    before = {channel: rows.copy() for channel, rows in recording.channels.items()}
    values = {channel: rows.copy() for channel, rows in before.items()}
    for rig in recording.rigs:
        limbs, table = limbs_read(recording, rig), rig.table
        sliders, into = {**limbs.sliders, "influence": np.ones_like(limbs.own_length)}, inverted_all(limbs.frames)
        solution = solve(table, applied(into, limbs.target), applied(into, limbs.pole), sliders, limbs.own)
        for row, last in enumerate(rig.lasts):
            for bone in scaled_bones(last):
                scale = scales_of(table.limbs[row], solution.stretch[:, row])  # type: ignore[arg-type]
                channel = Channel.of_bone(rig.object, bone.name, "scale")
                values[channel][:] = np.stack(np.broadcast_arrays(*scale), axis=-1)
            for k, name in enumerate(table.limbs[row].bones):
                _turn_bone(values, rig.object.pose.bones[name], solution.turns[:, row, k])
            for bone in feet.following_bones(last):
                _turn_bone(values, bone, own_foot_turns(recording, last, bone)[1])
    writing = Writing(task, before, [Run(np.arange(recording.frames), parts)])
    return Matched(writing.finish(recording, values, channels), [])


def _turn_bone(values: Values, bone: PoseBone, turns: Array) -> None:
    channel = Channel.of_bone(bone.id_data, bone.name, rotation_channel(bone.rotation_mode))
    rows = in_mode(bone.rotation_mode, turns, values[channel])
    values[channel][:] = without_jumps(bone.rotation_mode, rows, is_animated(bone.id_data, channel.path))


class TipsWanted(NamedTuple):
    """Where the tip of a limb is to be in f frames, and how its foot is to be turned (w, x, y, z), both in the world
    and not numbers where they stay as they are; ``turns_foot`` where the foot, which does not follow the target, is to
    be turned by itself."""

    last: PoseBone
    places: Array  # (f, 3)
    turns: Array | None  # (f, 4)
    turns_foot: bool = False


def place_tips(
    task: Task, wanted: Sequence[TipsWanted], runs: Sequence[tuple[Array, Sequence[int]]]
) -> dict[LimbName, Array]:
    """Have tips and feet of limbs at influence 1 be there, by keys of what the limbs follow; each of ``runs`` says in
    which frames, by their rows, which of the ``wanted`` limbs get keys. Hold calls it. Gives where tips are then, as
    they are evaluated, (f, 3) in the world. Two passes. Raises `Refused`."""
    lasts = [each.last for each in wanted]
    parts = [[part_of_ik(each.last), *([part_of_foot(each.last)] if each.turns_foot else [])] for each in wanted]
    channels = [*dict.fromkeys(channel for of_limb in parts for part in of_limb for channel in part.channels)]
    refs = [ref for last in lasts for pair in follow_of(last).pairs if pair[0] for ref in refs_of_control(pair)]
    feet_refs = [(last.id_data, foot.name) for last in lasts if (foot := foot_of(last))]
    recording = record(task.context, lasts, task.frames, [*refs, *feet_refs], channels, None, task.part_done(0.0, 0.5))
    before = {channel: rows.copy() for channel, rows in recording.channels.items()}
    values = {channel: rows.copy() for channel, rows in before.items()}
    placings: list[Placing] = []
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        for row, last in enumerate(rig.lasts):
            each = wanted[lasts.index(last)]
            check_in_ik(limbs.sliders["influence"][:, row], each, task.frames)
            placings += _tip_placings(recording, limbs, row, each)
    writing = Writing(task, before, [Run(rows, [part for i in which for part in parts[i]]) for rows, which in runs])

    def reread(rows: Array) -> None:
        writing.write(values)
        read_again(task.context, recording, lasts, task.frames, rows, None, task.part_done(0.5, 1.0))

    place(placings, recording, values, reread)
    writing.finish(recording, values)
    return {(last.id_data, last.name): tips_of(recording, last) for last in lasts}


def check_in_ik(influence: Array, wanted: TipsWanted, frames: Sequence[float] | None) -> None:
    """Refuse a limb that is not in IK in a frame in which its tip is to be somewhere."""
    wrong = np.flatnonzero(np.isfinite(wanted.places).all(axis=1) & (influence < 1.0 - 1e-6))
    if len(wrong) and frames is not None:
        raise Refused(
            "'{bone}' is not in IK in frame {frame}: switch it there, then hold",
            bone=wanted.last.name,
            frame=frames[int(wrong[0])],
        )


def _tip_placings(recording: Recording, limbs: LimbsRead, row: int, wanted: TipsWanted) -> list[Placing]:
    """The placing of the target, past the tip's place where softness holds back, and of a foot that turns by itself."""
    last, frames = wanted.last, limbs.frames[:, row]
    sizes = sum(limbs.rig.table.limbs[row].geometry.lengths) * np.linalg.norm(frames[:, :3, 1], axis=1)
    in_frame = applied(inverted_all(frames), np.nan_to_num(wanted.places))
    places = applied(frames, factor_past(limbs, row, in_frame)[0][:, None] * in_frame)
    places[~np.isfinite(wanted.places).all(axis=1)] = np.nan
    control: Any = follow_of(last).pairs[0]
    goal: Any = goal_ref(last)
    foot, turns, offset, placings = foot_of(last), None, (1.0, 0.0, 0.0, 0.0), []
    if foot and wanted.turns is not None:
        ref = (last.id_data, foot.name)
        if feet.foot_follows(last):
            turns, offset = wanted.turns, turn_off(recording, goal, ref)
        elif wanted.turns_foot:
            nowhere = np.full_like(wanted.places, np.nan)
            placings = [Placing(ref, ref, nowhere, sizes, wanted.turns)]
    return [Placing(control, goal, places, sizes, turns, offset), *placings]


def turn_off(recording: Recording, goal: Any, foot: Any) -> Any:
    """How a foot is turned off what it follows, (f, 4), w first."""
    one, other = (tuple(world_turns(matrices_of(recording, ref)).T) for ref in (goal, foot))
    return np.stack(multiply(conjugate(one), other), axis=-1)


def tips_of(recording: Recording, last: PoseBone) -> Array:
    """Where the tip of a limb is evaluated in the world, (f, 3)."""
    tip = rest_geometry_of(last).tip
    return applied(matrices_of(recording, (last.id_data, last.name)), np.broadcast_to(tip, (recording.frames, 3)))


# writing


class Run(NamedTuple):
    """Frames that are keyed together, by their ``rows``, and what gets keys in them."""

    rows: Array
    parts: Sequence[Part]

    @property
    def channels(self) -> set[Channel]:
        """All that may get keys."""
        return {channel for part in self.parts for channel in part.channels}


class Writing:
    """The one writer of keys over frames: what channels said ``before`` in them, (f, numbers) each. Channels that are
    nowhere in a run other than they were get none in it."""

    def __init__(self, task: Task, before: Values, runs: Sequence[Run]) -> None:
        self._task, self._before, self._runs = task, before, runs
        self._writers: dict[Any, ActionWriter] = {}
        self._start = {channel: value_at(channel.object, channel.path) for channel in before}
        self._times = np.zeros(1) if task.frames is None else times_of(scene_of(task.context), task.frames)
        if task.frames is not None:
            for ob in dict.fromkeys(channel.object for channel in before):
                check_keys(ob)

    def write(self, values: Values) -> None:
        """Have channels say this: by keys in every frame, or in the frame that is shown by themselves."""
        if self._task.frames is None:
            self._set(values)
            return
        for run in self._runs:
            for channel, numbers in self._changed(values, run).items():
                self._write(channel, numbers, run.rows, None)

    def finish(self, recording: Recording, values: Values, touched: Sequence[Channel] = ()) -> list[Change]:
        """The same for good, with as few keys as hold the tolerance; what of this frame was changed, or may have
        been."""
        if self._task.frames is None:
            self._set(values)
            moved = {*touched, *(key for key in values if self._is_changed(key, values[key], slice(None)))}
            return [Change(key.object, key.path, self._start[key], key.bone) for key in values if key in moved]
        for run in self._runs:
            self._finish_run(run, recording, values)
        for writer in self._writers.values():
            (writer.restore if self._task.stays else writer.show)(self._task.context)
        if self._task.progress:
            self._task.progress(1.0)
        return []

    def _finish_run(self, run: Run, recording: Recording, values: Values) -> None:
        changed, written, rows = self._changed(values, run), set[Channel](), run.rows
        for part in run.parts:
            of_part = {key: changed[key] for key in part.channels if key in changed and key not in written}
            if of_part:
                in_frames = part.points(recording, of_part)
                points = partial(_points_of_rows, in_frames, rows)
                in_run = {key: numbers[rows] for key, numbers in of_part.items()}
                which, slopes = thinned(in_run, self._times[rows], points, self._task.tolerance)
                for key, numbers in of_part.items():
                    slope = slopes[key][which] if key in slopes else None
                    self._write(key, numbers, rows[which], slope)
                written.update(of_part)

    def _changed(self, values: Values, run: Run) -> Values:
        return {
            key: values[key] for key in values if key in run.channels and self._is_changed(key, values[key], run.rows)
        }

    def _is_changed(self, channel: Channel, numbers: Array, rows: Any) -> bool:
        return not np.allclose(numbers[rows], self._before[channel][rows], rtol=UNCHANGED, atol=UNCHANGED)

    def _set(self, values: Values) -> None:
        for channel, rows in values.items():
            if not np.array_equal(rows, self._before[channel]):
                was, numbers = self._start[channel], rows[0].tolist()
                set_at(channel.object, channel.path, numbers if isinstance(was, tuple) else type(was)(numbers[0]))
                channel.object.update_tag(refresh={"DATA"} if is_armature(channel.object) else {"OBJECT"})
        view_layer_of(self._task.context).update()

    def _write(self, channel: Channel, numbers: Array, rows: Array, slopes: Array | None) -> None:
        writer = self._writers.get(channel.object)
        if writer is None:
            writer = self._writers[channel.object] = ActionWriter(self._task.context, channel.object)
        times, keeps_others, is_choice = self._times[rows], self._task.keeps_others, numbers.dtype == bool
        writer.write(channel.path, times, numbers[rows].astype(float), slopes, keeps_others, is_stepped=is_choice)


def _points_of_rows(points: Points, rows: Array, values: Values, at: Array) -> list[Array]:
    return points(values, rows[at])


def thinned(values: Values, times: Array, points: Any, tolerance: float) -> tuple[Array, Values]:
    """The fewest frames to key of channels that go together, by their values over the frames (f, numbers), and the
    slopes there of those that are smooth between keys. Choices (bool) hold from key to key. ``points`` (see `Part`) may
    be off by ``tolerance``; 0 keys every frame."""
    count = len(times)
    if tolerance <= 0.0 or count < 3:
        return np.arange(count), {}
    choices = [rows for rows in values.values() if rows.dtype == bool]
    turns = np.unique([f for rows in choices for f in np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1))])
    always = np.union1d(turns, turns + 1).astype(int)  # the frame before a choice, and its own
    slopes = {channel: _slopes(rows, times, turns) for channel, rows in values.items() if rows.dtype != bool}
    wanted = points(values, np.arange(count))

    def errors(rows: Segments) -> Array:
        guessed = {
            channel: numbers[rows.start] if numbers.dtype == bool else hermite(times, numbers, slopes[channel], rows)
            for channel, numbers in values.items()
        }
        off = [np.linalg.norm(a - b[rows.at], axis=-1) for a, b in zip(points(guessed, rows.at), wanted, strict=True)]
        worst: Array = np.max(off, axis=0)
        return worst

    return fewest(errors, count, tolerance, always)[0], slopes


def _slopes(rows: Array, times: Array, turns: Array) -> Array:
    """How fast numbers (f, numbers) change in each frame, per unit of ``times``; ``turns`` are the frames before a
    choice changes, over which they may jump."""
    slopes = np.zeros_like(rows)
    ends = [0, *(int(f) + 1 for f in turns), len(times)]
    for start, end in pairwise(ends):
        if end - start > 1:
            slopes[start:end] = np.gradient(rows[start:end], times[start:end], axis=0)
    return slopes


def check_keys(ob: Any) -> None:
    """Refuse an object whose keys can't be written, or would not act as they are written."""
    data = ob.animation_data
    has_strips = bool(data and data.use_nla and data.nla_tracks)
    if not ob.is_editable:
        raise Refused("'{object}' is linked from another file: make a library override of it first", object=ob.name)
    if data and data.use_tweak_mode:
        raise Refused("'{object}' is in tweak mode: leave it in the NLA editor first", object=ob.name)
    if has_strips and any(track.is_solo for track in data.nla_tracks):
        raise Refused("An NLA track of '{object}' plays solo, and its action not at all: end the solo", object=ob.name)
    if has_strips and (data.action_influence < 1.0 or data.action_blend_type != "REPLACE"):
        raise Refused(
            "The action of '{object}' is mixed into its NLA strips: set it to Replace, influence 1", object=ob.name
        )
