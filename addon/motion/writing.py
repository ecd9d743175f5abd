"""The one writer of keys over frames: as few as hold a tolerance, in place of what channels had in these frames; or
the frame that is shown, without keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context

from ..blender.action_writer import ActionWriter
from ..blender.animation import set_at, value_at
from ..blender.keying import Change
from ..blender.stepping import times_of
from ..blender.types import Refused, announce, is_armature, scene_of, view_layer_of
from ..limb.tolerances import ROUNDING
from ..solver.ops import Array
from .passing import PassProgress
from .reading import Channel, Recording, Values
from .thinning import BETWEEN, CHECKED, KeyRows, Slopes, thinned

PointsOf = Callable[[Values, Array], list[Array]]
"""Gives, from what channels say in some rows and the frames that these rows are of, where joints are in lengths of the
limb, (rows, 3) each."""


Keys = Callable[[Values, Array], dict[Channel, tuple[Array, Array | None]]]
"""Gives, from what channels say over the frames and the rows of a run, which rows of it are keyed of each channel, and
the slopes there, or None for straight lines."""


class KeyedPart(NamedTuple):
    """What of a limb may get keys, all in the same frames, and where its joints are by these. ``points`` looks at what
    was read over the frames once it is asked. What is not keyed by joints and a tolerance says its ``keys`` itself.
    ``truth`` says where the first of these are to be, if not where keys in all frames have them."""

    channels: Sequence[Channel]
    points: Callable[[Recording, Values], PointsOf]
    keys: Keys | None = None
    truth: Callable[[], list[Array]] | None = None


def no_points(_recording: Recording, _values: Values) -> PointsOf:
    """For a `KeyedPart` that computes its keys itself."""
    return lambda _values, _at: []


@dataclass
class Task:
    """Frames to be keyed; None for the current frame, without keys. ``tolerance`` is how far joints may be off for
    fewer keys, in lengths of the limb. Other frames, from the first to the last of ``keeps_others``, keep their values.
    Afterwards the current frame shows what the keys say, or with ``stays`` what it showed before. Keys that are to
    repeat get a ``cycle``, by the modes before and after of its modifier; ``keys`` are frames that get keys
    first. What curves say of controls is compared with what Blender shows in one of so many frames that ``checks``
    says; in none, for 0, where somebody looks at all of it afterwards."""

    context: Context
    frames: Sequence[float] | None
    tolerance: float = 0.0
    stays: bool = False
    keeps_others: tuple[int, int] | None = None
    cycle: tuple[str, str] | None = None
    keys: Sequence[int] = ()
    checks: int = CHECKED
    _done: float = 0.0

    def next_progress(self) -> PassProgress:
        """Of the next pass: of what is left then, a half, since nobody knows how many there will be."""
        start = self._done
        self._done += 0.5 * (1.0 - self._done)
        return lambda done: start + 0.5 * (1.0 - start) * done


class Run(NamedTuple):
    """Frames that may be keyed together, by their ``rows``, and what gets keys in them. Rows between them are checked,
    too."""

    rows: Array
    parts: Sequence[KeyedPart]

    @property
    def all_rows(self) -> Array:
        """All that was read from the first to the last of them."""
        return np.arange(self.rows[0], self.rows[-1] + 1)

    @property
    def channels(self) -> set[Channel]:
        """All that may get keys."""
        return {channel for keyed_part in self.parts for channel in keyed_part.channels}


class KeyedTogether(NamedTuple):
    """Channels of one part that are keyed in the same frames, and the runs in which they are."""

    keyed_part: KeyedPart
    channels: Sequence[Channel]
    runs: list[Run]


class Writing:
    """The one writer of keys over frames: what channels said ``before`` in them, (f, numbers) each, and strips, see
    `said_by_strips`. ``frames`` were read, if not those of the task. Channels that are nowhere in a run other than they
    were get none in it, unless they have been written already."""

    def __init__(
        self,
        task: Task,
        before: Values,
        runs: Sequence[Run],
        frames: Sequence[float] | None = None,
        said: Mapping[Any, Mapping[str, Array]] | None = None,
    ) -> None:
        self._task, self._before, self._runs, self._said = task, before, runs, said or {}
        self._writers: dict[Any, ActionWriter] = {}
        self._written = set[Channel]()
        announce(*(channel.object for channel in before))
        self._start = {channel: value_at(channel.object, channel.path) for channel in before}
        self._times = np.zeros(1) if task.frames is None else times_of(scene_of(task.context), frames or task.frames)
        self._kept = times_of(scene_of(task.context), task.keeps_others or ())
        if task.frames is not None:
            for ob in dict.fromkeys(channel.object for channel in before):
                check_keys(ob)

    def write(self, values: Values, rows: Array | None = None) -> None:
        """Have channels say this: by keys in every frame, or in some rows, or in the frame that is shown by
        themselves."""
        if self._task.frames is None:
            self._set(values)
            return
        keyed: dict[Channel, list[Array]] = {}
        for run in self._runs:
            for channel in self._changed(values, run):
                self._written.add(channel)
                keyed.setdefault(channel, []).append(run.all_rows if rows is None else rows)
        for channel, of_runs in keyed.items():
            starts = np.cumsum([len(of_run) for of_run in of_runs])[:-1]
            self._write(channel, values[channel], np.concatenate(of_runs), starts=starts)

    def finish(self, recording: Recording, values: Values, touched: Sequence[Channel] = ()) -> list[Change]:
        """The same for good, with as few keys as hold the tolerance; what of this frame was changed, or may have
        been."""
        if self._task.frames is None:
            self._set(values)
            moved = {*touched, *(key for key in values if self._is_changed(key, values[key], slice(None)))}
            return [Change(key.object, key.path, self._start[key], key.bone) for key in values if key in moved]
        for bundle in self._bundles(values):
            self._finish_bundle(bundle, recording, values)
        for writer in self._writers.values():
            (writer.restore if self._task.stays else writer.show)(self._task.context)
        return []

    def _bundles(self, values: Values) -> list[KeyedTogether]:
        """What is keyed together. A channel of two parts goes with the first."""
        bundles: dict[Any, KeyedTogether] = {}
        for run in self._runs:
            changed, taken = self._changed(values, run), set[Channel]()
            for keyed_part in run.parts:
                channels = [key for key in keyed_part.channels if key in changed and key not in taken]
                taken.update(channels)
                if channels:
                    bundle = KeyedTogether(keyed_part, channels, [])
                    bundles.setdefault((id(keyed_part), *channels), bundle).runs.append(run)
        return [*bundles.values()]

    def _finish_bundle(self, bundle: KeyedTogether, recording: Recording, values: Values) -> None:
        of_part = {key: values[key] for key in bundle.channels}
        if bundle.keyed_part.keys:
            of_runs = [bundle.keyed_part.keys(of_part, run.rows) for run in bundle.runs]
            for key in of_runs[0]:
                keyed_rows = [keys[key][0] for keys in of_runs]
                slope = [of_run for keys in of_runs if (of_run := keys[key][1]) is not None]
                both = Slopes(np.concatenate(slope), np.concatenate(slope)) if slope else None
                starts = np.cumsum([len(rows) for rows in keyed_rows])[:-1]
                self._write(key, of_part[key], np.concatenate(keyed_rows), both, starts)
            return
        rows = np.concatenate([run.all_rows for run in bundle.runs])
        ends = np.cumsum([len(run.all_rows) for run in bundle.runs])
        keyed = np.flatnonzero(np.isin(rows, np.concatenate([run.rows for run in bundle.runs])))
        of_rows = bundle.keyed_part.points(recording, of_part)
        points: PointsOf = lambda values, at: of_rows(values, rows[at])  # noqa: E731
        in_runs = {key: numbers[rows] for key, numbers in of_part.items()}
        truth = [numbers[rows] for numbers in bundle.keyed_part.truth()] if bundle.keyed_part.truth else ()
        if self._is_held(bundle, points, in_runs, truth, KeyRows(rows, keyed)):
            return
        times, starts = self._times[rows], ends[:-1]
        wanted = np.flatnonzero(np.isin(times, times_of(scene_of(self._task.context), self._task.keys)))
        which, slopes = thinned(in_runs, KeyRows(times, keyed, starts, wanted), points, self._task.tolerance, truth)
        for key, numbers in of_part.items():
            of_key = slopes[key].at(which) if key in slopes else None
            self._write(key, numbers, rows[which], of_key, np.searchsorted(which, starts))

    def _is_held(
        self, bundle: KeyedTogether, points: PointsOf, values: Values, truth: Sequence[Array], at: KeyRows
    ) -> bool:
        """Whether what channels said before holds the tolerance as well: then they need no keys. ``at`` has the rows of
        the recording, and which of these may be keyed."""
        if self._task.tolerance <= 0.0 or self._written.intersection(bundle.channels):
            return False
        every = np.arange(len(at.times))
        allowed = np.where(np.isin(every, at.keyed), 1.0, BETWEEN) * self._task.tolerance
        for rows in (every[[0, len(every) // 2, -1]], every):  # most are off in the first of these
            before = points({key: self._before[key][at.times[rows]] for key in bundle.channels}, rows)
            now = points({key: numbers[rows] for key, numbers in values.items()}, rows)
            wanted = [*(numbers[rows] for numbers in truth), *now[len(truth) :]]
            off = [np.linalg.norm(one - other, axis=-1) for one, other in zip(before, wanted, strict=True)]
            if (np.max(off, axis=0) > allowed[rows]).any():
                return False
        return True

    def _changed(self, values: Values, run: Run) -> Values:
        return {
            key: values[key]
            for key in values
            if key in run.channels and self._is_changed(key, values[key], run.all_rows)
        }

    def _is_changed(self, channel: Channel, numbers: Array, rows: Any) -> bool:
        return channel in self._written or not np.allclose(
            numbers[rows], self._before[channel][rows], rtol=ROUNDING, atol=ROUNDING
        )

    def _set(self, values: Values) -> None:
        for channel, rows in values.items():
            if channel in self._written or not np.array_equal(rows, self._before[channel]):
                self._written.add(channel)
                was, numbers = self._start[channel], rows[0].tolist()
                set_at(channel.object, channel.path, numbers if isinstance(was, tuple) else type(was)(numbers[0]))
                channel.object.update_tag(refresh={"DATA"} if is_armature(channel.object) else {"OBJECT"})
        view_layer_of(self._task.context).update()

    def _write(
        self, channel: Channel, numbers: Array, rows: Array, slopes: Slopes | None = None, starts: Any = ()
    ) -> None:
        self._written.add(channel)
        writer = self._writers.get(channel.object)
        if writer is None:
            writer = self._writers[channel.object] = ActionWriter(
                self._task.context, channel.object, said=self._said.get(channel.object)
            )
        times, is_choice = self._times[rows], numbers.dtype == bool
        after, before = (slopes.after, slopes.before) if slopes else (None, None)
        writer.write(
            channel.path,
            times,
            numbers[rows].astype(float),
            after,
            self._kept,
            is_choice,
            before,
            starts,
            self._task.cycle,
            () if slopes is None else [times[i] for i in slopes.cuts],
        )


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
