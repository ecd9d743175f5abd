"""Hold: limbs' tips, and how their feet are turned, are planted in the world over ranges of frames, eased in and out.

The controls get keys for it, in the frames of a range and of its easing and in no others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Quaternion, Vector
from numpy.typing import NDArray

from ..blender.dependencies import Dependencies
from ..blender.rotation import rotation_channel, set_turn
from ..blender.types import carried_by, scene_of, tag, view_layer_of
from ..limb.follow import follow_of
from ..limb.moving import Move, check_movable, move, rig_slider
from ..limb.solving import carried
from ..limb.storage import bones_of_limb, limbs_of, mode_of, read_slider
from ..limb.table import table_of
from ..limb.tips import foot_of
from ..limb.whole import wholly
from ..limb.words import Refused
from ..live.settings import is_live
from . import feet
from .contacts import Span, slide_of
from .keyed_parts import part_of_foot, part_of_target
from .matching import Matched
from .over_frames import Part, Progress, fit_over_frames
from .status import check
from .targets import target_for
from .tip_paths import TipNow, TipReader, tips_over

Array = NDArray[Any]

MOST_EASE = 10
"""The frames that a hold may be eased in and out over."""

TOLERANCE = 2e-5
"""How far joints may be off for fewer keys, in lengths of their limb: what is planted is to look it."""

MISSED = 1e-4
"""How far a tip may be off its place for nobody to be told, in lengths of its limb."""

SLACK = 1e-4
"""How much of its length a limb that is planted where all frames reach keeps in the farthest of these."""


class Plant(NamedTuple):
    """Where a tip is planted in the world, and how the foot is turned there (w, x, y, z), if there is one."""

    span: Span
    place: Array
    turn: Array | None


class Hold(NamedTuple):
    """A limb with what it is read by, where it is planted in order, and whether its foot, which does not follow the
    target, has to be turned by itself."""

    reader: TipReader
    plants: list[Plant]
    turns_foot: bool

    @property
    def last(self) -> PoseBone:
        """The last bone as it is now."""
        bone: PoseBone = self.reader.object.pose.bones[self.reader.last]
        return bone


class Report(NamedTuple):
    """How far tips slid in the ranges before, the farthest of them in scene units, and warnings."""

    slide: float
    warnings: list[Refused]


@wholly
def hold(
    context: Context,
    lasts: Sequence[PoseBone],
    spans: Sequence[Sequence[Span]],
    ease: int = 3,
    is_mean: bool = False,
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
) -> Report:
    """Plant the tips of limbs, and how their feet are turned, over spans of frames, which are those of each limb in
    order. They stay where they are in the current frame, or in that of the span nearest to it; with ``is_mean`` where
    they are in the mean of the span, or as near to that as the limb reaches in all of it. So many frames before and
    after lead there and back. ``tolerance`` is how far joints may be off for fewer keys, in lengths of their limb.
    Raises `Refused`, and then nothing has changed."""
    movers = Dependencies()
    for last in lasts:
        check_hold(context, last)
    holds, slide = _planted(context, lasts, spans, is_mean, movers)
    runs: dict[Span, list[Hold]] = {}
    for each in holds:
        for run, plants in _runs(each.plants, ease):
            runs.setdefault(run, []).append(each._replace(plants=plants))
    missed: dict[tuple[Any, str], set[int]] = {}
    warnings: list[Refused] = []
    for done, (run, group) in enumerate(runs.items()):
        warnings += _fit(context, run, group, ease, tolerance, missed)
        if progress:
            progress((done + 1) / len(runs))
    warnings += [
        Refused("'{bone}' does not reach where it is held in {count} frames: hold fewer", bone=name, count=len(frames))
        for (_, name), frames in missed.items()
    ]
    return Report(slide, [*{str(each): each for each in warnings}.values()])


def check_hold(context: Context, last: PoseBone) -> None:
    """Refuse a limb whose target can't be moved, or does not move it."""
    if slider := rig_slider(last):
        raise Refused("Use the rig's own slider '{slider}' of '{bone}' for this limb", slider=slider[1], bone=slider[0])
    check(last)
    follow = follow_of(last)
    check_movable(last, follow.target, follow.subtarget)  # type: ignore[arg-type]  # `check` found it there
    if mode_of(last) == "LIVE" and not is_live(scene_of(context)):
        raise Refused("'{bone}' is in FK, because Live is off in this scene: switch it on, then hold", bone=last.name)


# where they are planted


def _planted(
    context: Context,
    lasts: Sequence[PoseBone],
    spans: Sequence[Sequence[Span]],
    is_mean: bool,
    movers: Dependencies,
) -> tuple[list[Hold], float]:
    """Where limbs are planted over their spans, and how far they slide there as they are, at most."""
    frames = sorted({frame for each in spans for span in each for frame in range(span.first, span.last + 1)})
    rows, current, slide = tips_over(context, lasts, frames), scene_of(context).frame_current, 0.0
    taken = {bone.name for last in lasts for limb in limbs_of(last.id_data) for bone in bones_of_limb(limb)}
    holds = []
    for last, of_limb, row in zip(lasts, spans, rows, strict=True):
        tips = dict(zip(frames, row, strict=True))
        foot, plants = foot_of(last), []
        for span in of_limb:
            seen_there = [tips[frame] for frame in range(span.first, span.last + 1)]
            at = None if is_mean else min(max(current, span.first), span.last) - span.first
            plants.append(_plant(last, span, seen_there, at))
            slide = max(slide, slide_of(np.array([tip.tip for tip in row]), frames, span))
        turns_foot = foot is not None and not feet.foot_follows(last)
        turns_foot = turns_foot and foot.name not in taken and not [*movers.movers(foot)]  # type: ignore[union-attr,arg-type]
        holds.append(Hold(TipReader(last), plants, turns_foot))
    return holds, slide


def _plant(last: PoseBone, span: Span, tips: Sequence[TipNow], at: int | None) -> Plant:
    """Where a limb is planted: where it is in one of these frames, or in the mean of them, as near as it reaches."""
    if at is not None:
        return Plant(span, tips[at].tip, tips[at].turn)
    place, turn = np.mean([tip.tip for tip in tips], axis=0), None
    if tips[0].turn is not None:
        turns = np.array([tip.turn for tip in tips])
        turns *= np.where(turns @ turns[0] < 0.0, -1.0, 1.0)[:, None]
        turn = turns.mean(axis=0)
        turn /= np.linalg.norm(turn)
    if read_slider(last, "stretch") > 0.0:
        return Plant(span, place, turn)
    return Plant(span, _reached(place, np.array([tip.root for tip in tips]), _reach(last)), turn)


def _reach(last: PoseBone) -> float:
    """How far a limb reaches in the world, without stretch."""
    table = table_of(last.id_data, [last])
    _, of, settings = table.singles[0]
    evaluated: Any = last.id_data.evaluated_get(view_layer_of_rig(last))
    frame = np.array(evaluated.matrix_world, float) @ carried(evaluated, table.limbs[0].geometry)
    longest = min(settings.farthest, of.bones.total) * (1.0 - SLACK)
    return float(longest * np.linalg.norm(frame[:3, 1]))
