"""The one fit over frames: from how limbs stood in some frames to the keys that show it in another way.

In each frame all that may be set is sampled, changed there or not; what changed in any frame gets keys over all of
them: in each, or in as few as keep the joints within a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context
from numpy.typing import NDArray

from ..blender.action_writer import ActionWriter
from ..blender.animation import set_at, value_at
from ..blender.stepping import stepping, times_of
from ..blender.types import scene_of
from ..limb.words import Message, Refused
from .matching import Matched
from .reading import Channel, Progress
from .thinning import Thinned, thinned

Array = NDArray[Any]

UNCHANGED = 1e-6
"""How far a number may be from what it was, as a part of it or of 1, and still count as that."""


class Part(NamedTuple):
    """What of a limb may get keys, all in the same frames. ``record`` is called in each frame once that is set; then
    ``points`` gives from the values of channels over the frames (frames, numbers) where the limb's joints are, each
    (frames, 3), in lengths of the limb."""

    channels: Sequence[Channel]
    record: Callable[[], None]
    points: Callable[[dict[Channel, Array]], list[Array]]


def fit_over_frames(
    context: Context,
    frames: Sequence[float],
    parts: Sequence[Part],
    step: Callable[[int], Matched],
    tolerance: float = 0.0,
    progress: Progress | None = None,
    stays: bool = False,
    keeps_others: bool = False,
) -> list[Message]:
    """Call ``step`` in each of these frames, with its index, and key in all of them the channels that it changed in
    any. Then this frame shows what the keys say, or ``stays`` as it is. ``tolerance`` is how far joints may be off for
    the sake of fewer keys, in lengths of their limb. With ``keeps_others``, frames before and after these, which follow
    each other, stay as they are. Returns warnings. Raises `Refused`, and then nothing has changed."""
    channels = [*dict.fromkeys(channel for keyed_part in parts for channel in keyed_part.channels)]
    for ob in dict.fromkeys(channel.object for channel in channels):
        check_keys(ob)
    values, warnings = _sampled(context, frames, channels, parts, step, progress)
    times = times_of(scene_of(context), frames)
    writers: dict[Any, ActionWriter] = {}
    channels_written: set[Channel] = set()
    for keyed_part in parts:
        of_part = {
            channel: values[channel]
            for channel in keyed_part.channels
            if channel in values and channel not in channels_written
        }
        if of_part:
            thin = thinned(of_part, times, keyed_part.points, tolerance)
            for channel, rows in of_part.items():
                writer = writers.get(channel.object)
                if writer is None:
                    writer = writers[channel.object] = ActionWriter(context, channel.object)
                _write(writer, channel, times, rows, thin, keeps_others)
            channels_written.update(of_part)
    for writer in writers.values():
        (writer.restore if stays else writer.show)(context)
    return warnings


def _sampled(
    context: Context,
    frames: Sequence[float],
    channels: Sequence[Channel],
    parts: Sequence[Part],
    step: Callable[[int], Matched],
    progress: Progress | None,
) -> tuple[dict[Channel, Array], list[Message]]:
    """The values over frames (frames, numbers) of those channels that steps change in any frame, and warnings."""
    start = {channel: value_at(channel.object, channel.path) for channel in channels}
    rows: dict[Channel, list[Any]] = {channel: [] for channel in channels}
    changed: set[Channel] = set()
    warnings: dict[str, Message] = {}
    try:
        with stepping(context) as show_frame:
            for i, frame in enumerate(frames):
                show_frame(frame)
                before = {channel: value_at(channel.object, channel.path) for channel in channels}
                warnings |= {str(message): message for message in step(i).warnings}
                for channel, was in before.items():
                    now = value_at(channel.object, channel.path)
                    rows[channel].append(now)
                    if not np.allclose(now, was, rtol=UNCHANGED, atol=UNCHANGED):
                        changed.add(channel)
                for keyed_part in parts:
                    keyed_part.record()
                if progress:
                    progress((i + 1) / len(frames))
    finally:
        for channel, value in start.items():  # what has keys as well: it may be posed without them
            set_at(channel.object, channel.path, value)
    return {channel: _array(rows[channel]) for channel in channels if channel in changed}, [*warnings.values()]


def _array(rows: list[Any]) -> Array:
    kind = bool if isinstance(rows[0], bool) else float
    return np.array(rows, kind).reshape(len(rows), -1)


def _write(
    writer: ActionWriter, channel: Channel, times: Array, rows: Array, thin: Thinned, keeps_others: bool
) -> None:
    which, slopes = thin.which, thin.slopes.get(channel)
    if rows.dtype == bool:
        writer.write(channel.path, times[which], rows[which].astype(float), None, keeps_others, is_stepped=True)
    else:
        writer.write(channel.path, times[which], rows[which], None if slopes is None else slopes[which], keeps_others)


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
