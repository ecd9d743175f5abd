"""The one writer of keys over frames: as few as hold a tolerance, in place of what channels had in these frames; or
the frame that is shown, without keys."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context
from numpy.typing import NDArray

from ..blender.action_writer import ActionWriter
from ..blender.animation import set_at, value_at
from ..blender.changes import Change
from ..blender.reduction import Segments, fewest, hermite
from ..blender.stepping import times_of
from ..blender.types import is_armature, scene_of, view_layer_of
from ..limb.whole import Progress
from ..limb.words import Refused
from .channels import Channel, Values
from .parts import Part, Points
from .reading import Recording

Array = NDArray[Any]

UNCHANGED = 1e-6
"""How far a number may be from what it was, as a part of it or of 1, and still count as that."""


class Task:
    """What is keyed in which frames: None for the frame that is shown, without keys. ``tolerance`` is how far joints
    may be off for the sake of fewer keys, in lengths of their limb. Other frames, from the first to the last of
    ``keeps_others``, stay as they are. Afterwards this frame shows what the keys say, or ``stays`` as it is."""

    def __init__(
        self,
        context: Context,
        frames: Sequence[float] | None,
        tolerance: float = 0.0,
        stays: bool = False,
        keeps_others: tuple[int, int] | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.context, self.frames, self.tolerance = context, frames, tolerance
        self.stays, self.keeps_others, self.progress = stays, keeps_others, progress
        self._done = 0.0

    def next_share(self) -> Progress | None:
        """Progress of the next pass: of what is left then, a half, since nobody knows how many there will be."""
        start, progress = self._done, self.progress
        self._done += 0.5 * (1.0 - self._done)
        return None if progress is None else lambda done: progress(start + 0.5 * (1.0 - start) * done)


class Run(NamedTuple):
    """Frames that are keyed together, by their ``rows``, and what gets keys in them."""

    rows: Array
    parts: Sequence[Part]

    @property
    def channels(self) -> set[Channel]:
        """All that may get keys."""
        return {channel for keyed_part in self.parts for channel in keyed_part.channels}


class Share(NamedTuple):
    """Channels of one part that are keyed together, and the rows of the runs in which they are."""

    keyed_part: Part
    channels: Sequence[Channel]
    runs: list[Array]


class Writing:
    """The one writer of keys over frames: what channels said ``before`` in them, (f, numbers) each. Channels that are
    nowhere in a run other than they were get none in it, unless they have been written already."""

    def __init__(self, task: Task, before: Values, runs: Sequence[Run]) -> None:
        self._task, self._before, self._runs = task, before, runs
        self._writers: dict[Any, ActionWriter] = {}
        self._written = set[Channel]()
        self._start = {channel: value_at(channel.object, channel.path) for channel in before}
        self._times = np.zeros(1) if task.frames is None else times_of(scene_of(task.context), task.frames)
        self._kept = times_of(scene_of(task.context), task.keeps_others or ())
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
        for share in self._shares(values):
            self._finish_share(share, recording, values)
        for writer in self._writers.values():
            (writer.restore if self._task.stays else writer.show)(self._task.context)
        if self._task.progress:
            self._task.progress(1.0)
        return []

    def _shares(self, values: Values) -> list[Share]:
        """What is keyed together. A channel of two parts goes with the first."""
        shares: dict[Any, Share] = {}
        for run in self._runs:
            changed, taken = self._changed(values, run), set[Channel]()
            for keyed_part in run.parts:
                channels = [key for key in keyed_part.channels if key in changed and key not in taken]
                taken.update(channels)
                if channels:
                    share = Share(keyed_part, channels, [])
                    shares.setdefault((id(keyed_part), *channels), share).runs.append(run.rows)
        return [*shares.values()]

    def _finish_share(self, share: Share, recording: Recording, values: Values) -> None:
        of_part = {key: values[key] for key in share.channels}
        if share.keyed_part.keys:
            for rows in share.runs:
                for key, (which, slope) in share.keyed_part.keys(of_part, rows).items():
                    self._write(key, of_part[key], which, slope)
            return
        rows, ends = np.concatenate(share.runs), np.cumsum([len(run) for run in share.runs])
        points = partial(_points_of_rows, share.keyed_part.points(recording, of_part), rows)
        in_runs = {key: numbers[rows] for key, numbers in of_part.items()}
        which, slopes = thinned(in_runs, self._times[rows], points, self._task.tolerance, ends[:-1] - 1)
        for of_run in np.split(which, np.searchsorted(which, ends[:-1])):
            for key, numbers in of_part.items():
                slope = slopes[key][of_run] if key in slopes else None
                self._write(key, numbers, rows[of_run], slope)

    def _changed(self, values: Values, run: Run) -> Values:
        return {
            key: values[key] for key in values if key in run.channels and self._is_changed(key, values[key], run.rows)
        }

    def _is_changed(self, channel: Channel, numbers: Array, rows: Any) -> bool:
        return channel in self._written or not np.allclose(
            numbers[rows], self._before[channel][rows], rtol=UNCHANGED, atol=UNCHANGED
        )

    def _set(self, values: Values) -> None:
        for channel, rows in values.items():
            if channel in self._written or not np.array_equal(rows, self._before[channel]):
                self._written.add(channel)
                was, numbers = self._start[channel], rows[0].tolist()
                set_at(channel.object, channel.path, numbers if isinstance(was, tuple) else type(was)(numbers[0]))
                channel.object.update_tag(refresh={"DATA"} if is_armature(channel.object) else {"OBJECT"})
        view_layer_of(self._task.context).update()

    def _write(self, channel: Channel, numbers: Array, rows: Array, slopes: Array | None) -> None:
        self._written.add(channel)
        writer = self._writers.get(channel.object)
        if writer is None:
            writer = self._writers[channel.object] = ActionWriter(self._task.context, channel.object)
        times, is_choice = self._times[rows], numbers.dtype == bool
        writer.write(channel.path, times, numbers[rows].astype(float), slopes, self._kept, is_stepped=is_choice)


def _points_of_rows(points: Points, rows: Array, values: Values, at: Array) -> list[Array]:
    return points(values, rows[at])


def thinned(
    values: Values, times: Array, points: Any, tolerance: float, ends: Array | Sequence[int] = ()
) -> tuple[Array, Values]:
    """The fewest frames to key of channels that go together, by their values over the frames (f, numbers), and the
    slopes there of those that are smooth between keys. Choices (bool) hold from key to key. ``points`` (see `Part`) may
    be off by ``tolerance``; 0 keys every frame. ``ends`` are frames after which others follow that do not go on from
    them."""
    count = len(times)
    if tolerance <= 0.0 or count < 3:
        return np.arange(count), {}
    choices = [rows for rows in values.values() if rows.dtype == bool]
    changes = [np.flatnonzero((rows[1:] != rows[:-1]).any(axis=1)) for rows in choices]
    turns = np.unique(np.concatenate([*changes, ends])).astype(int)
    always = np.union1d(turns, turns + 1).astype(int)  # the frame before a choice, and its own
    slopes = {channel: _slopes(rows, times, turns) for channel, rows in values.items() if rows.dtype != bool}
    all_points = points(values, np.arange(count))

    def errors(rows: Segments) -> Array:
        guessed = {
            channel: numbers[rows.start] if numbers.dtype == bool else hermite(times, numbers, slopes[channel], rows)
            for channel, numbers in values.items()
        }
        off = [
            np.linalg.norm(a - b[rows.at], axis=-1) for a, b in zip(points(guessed, rows.at), all_points, strict=True)
        ]
        worst: Array = np.max(off, axis=0)
        return worst

    return fewest(errors, count, tolerance, always)[0], slopes


def _slopes(rows: Array, times: Array, turns: Array) -> Array:
    """How fast numbers (f, numbers) change in each frame, per unit of ``times``; ``turns`` are the frames before a
    choice changes or a run ends, over which they may jump."""
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
