"""Hold: limbs' tips, and how their feet are turned, are planted in the world over ranges of frames, eased in and out.

The controls get keys for it, in the frames of a range and of its easing and in no others."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.dependencies import Dependencies
from ..blender.types import is_evaluated, scene_of
from ..limb.follow import follow_of
from ..limb.moving import check_movable, rig_slider
from ..limb.solving import limbs_now
from ..limb.storage import bones_of_limb, limbs_of, mode_of, read_slider
from ..limb.tips import foot_of
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..live.settings import is_live
from ..poses.contacts import Span, slide_of
from ..poses.over_frames import TipsWanted, place_tips
from ..poses.reading import Progress
from ..poses.tip_paths import TipNow, TipReader, path_of, tips_over
from ..poses.writing import Task
from ..rigging import feet
from .status import check_posable

Array = NDArray[Any]

MOST_EASE = 10
"""The frames that a hold may be eased in and out over."""

TOLERANCE = 1e-5
"""How far joints may be off for fewer keys, in lengths of their limb: what is planted is to look it."""

MISSED = 1e-4
"""How far a tip may be off its place for nobody to be told, in lengths of its limb."""

ROUNDS = 1000
"""How often a place is brought nearer to the root that is farthest from it."""

SLACK = 1e-4
"""How much of its length a limb that is planted where all frames reach keeps in the farthest of these."""


class Plant(NamedTuple):
    """Where a tip is planted in the world, and how the foot is turned there (w, x, y, z), if there is one."""

    span: Span
    place: Array
    turn: Array | None


class Hold(NamedTuple):
    """A limb with what it is read by, where it is planted in order, how far it reaches in the world, and whether its
    foot, which does not follow the target, has to be turned by itself."""

    reader: TipReader
    plants: list[Plant]
    reach: float
    turns_foot: bool

    @property
    def last(self) -> PoseBone:
        """The last bone as it is now."""
        bone: PoseBone = self.reader.object.pose.bones[self.reader.last]
        return bone


class Report(NamedTuple):
    """How far tips slid in the ranges before, the farthest of them in scene units, and warnings."""

    slide: float
    warnings: list[Message]


@wholly
def hold_tips(
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
    runs: dict[Span, list[int]] = {}
    for i, of_limb in enumerate(spans):
        for run in _runs(of_limb, ease):
            runs.setdefault(run, []).append(i)
    frames = sorted({frame for run in runs for frame in range(run.first, run.last + 1)})
    rows = tips_over(context, lasts, frames)
    holds, slide = _planted(context, lasts, spans, is_mean, movers, frames, rows)
    stands = [_stands(plan, ease, frames, tips) for plan, tips in zip(holds, rows, strict=True)]
    tips_wanted = [
        TipsWanted(plan.last, stand.places, stand.turns, plan.turns_foot)
        for plan, stand in zip(holds, stands, strict=True)
    ]
    in_runs = [(np.arange(*np.searchsorted(frames, (run.first, run.last + 1))), which) for run, which in runs.items()]
    task = Task(context, frames, tolerance, keeps_others=True, progress=progress)
    tips_now = place_tips(task, tips_wanted, in_runs) if frames else {}
    warnings = []
    for plan, stand in zip(holds, stands, strict=True):
        off = np.linalg.norm(tips_now[plan.reader.object, plan.reader.last] - stand.places, axis=1)
        if count := int((stand.is_whole & ~(off <= MISSED * plan.reader.size)).sum()):
            template = "'{bone}' does not reach where it is held in {count} frames: hold fewer"
            warnings.append(Message(template, bone=plan.reader.last, count=count))
    return Report(slide, warnings)


def check_hold(context: Context, last: PoseBone) -> None:
    """Refuse a limb whose target can't be moved, or does not move it."""
    if slider := rig_slider(last):
        raise Refused("Use the rig's own slider '{slider}' of '{bone}' for this limb", slider=slider[1], bone=slider[0])
    check_posable(last)
    if not is_evaluated(last.id_data, context.evaluated_depsgraph_get()):
        raise Refused("'{rig}' is not shown here: show it to pose its limbs", rig=last.id_data.name)
    follow = follow_of(last)
    check_movable(last, follow.target, follow.subtarget)  # type: ignore[arg-type]  # `check_posable` found it there
    if mode_of(last) == "LIVE" and not is_live(scene_of(context)):
        raise Refused("'{bone}' is in FK, because Live is off in this scene: switch it on, then hold", bone=last.name)


# where they are planted


def _planted(
    context: Context,
    lasts: Sequence[PoseBone],
    spans: Sequence[Sequence[Span]],
    is_mean: bool,
    movers: Dependencies,
    frames: Sequence[int],
    rows: Sequence[Sequence[TipNow]],
) -> tuple[list[Hold], float]:
    """Where limbs are planted in their spans, and the farthest that one slides in a span now, in scene units."""
    current, slide = scene_of(context).frame_current, 0.0
    taken = {bone.name for last in lasts for limb in limbs_of(last.id_data) for bone in bones_of_limb(limb)}
    holds = []
    for last, of_limb, row in zip(lasts, spans, rows, strict=True):
        tips, path = dict(zip(frames, row, strict=True)), path_of(row, TipReader(last).size)
        foot, plants, reach = foot_of(last), [], _reach(last)
        for span in of_limb:
            tips_there = [tips[frame] for frame in range(span.first, span.last + 1)]
            at = None if is_mean else min(max(current, span.first), span.last) - span.first
            plants.append(_plant(span, tips_there, at, reach))
            slide = max(slide, slide_of(path, frames, span))
        turns_foot = foot is not None and not feet.foot_follows(last)
        turns_foot = turns_foot and foot.name not in taken and not [*movers.movers(foot)]  # type: ignore[union-attr,arg-type]
        holds.append(Hold(TipReader(last), plants, reach, turns_foot))
    return holds, slide


def _plant(span: Span, tips: Sequence[TipNow], at: int | None, reach: float) -> Plant:
    """Where a limb is planted: where it is in one of these frames, or in the mean of them, as near as it reaches."""
    if at is not None:
        return Plant(span, tips[at].tip, tips[at].turn)
    place, turn = np.mean([tip.tip for tip in tips], axis=0), None
    if tips[0].turn is not None:
        turns = np.array([tip.turn for tip in tips])
        turns *= np.where(turns @ turns[0] < 0.0, -1.0, 1.0)[:, None]
        turn = turns.mean(axis=0)
        turn /= np.linalg.norm(turn)
    return Plant(span, _reached(place, np.array([tip.root for tip in tips]), reach * (1.0 - SLACK)), turn)


def _reach(last: PoseBone) -> float:
    """How far a limb reaches in the world; one that stretches, anywhere."""
    if read_slider(last, "stretch") > 0.0:
        return inf
    now = limbs_now(last.id_data, [last], bpy.context.evaluated_depsgraph_get())
    single = now.table.singles[0]
    return float(min(single.settings.farthest, single.reference.bones.total) * np.linalg.norm(now.frames[0, :3, 1]))


def _reached(place: Array, roots: Array, reach: float) -> Array:
    """The place near to one that is no farther than a reach from any of these roots (frames, 3), if there is one."""
    for _ in range(ROUNDS):
        offsets = place - roots
        distances = np.linalg.norm(offsets, axis=1)
        farthest = int(distances.argmax())
        if distances[farthest] <= reach:
            break
        place = roots[farthest] + offsets[farthest] * (reach / distances[farthest])
    return place


# over frames


def _runs(spans: Sequence[Span], ease: int) -> list[Span]:
    """The frames to be keyed, easing included: what is eased out while the next is eased in is keyed as one."""
    runs: list[Span] = []
    for span in spans:
        first, last = span.first - ease, span.last + ease
        if runs and first <= runs[-1].last + 2:  # a key beside each run is for what goes on there
            runs[-1] = Span(runs[-1].first, last)
        else:
            runs.append(Span(first, last))
    return runs


def weights_of(spans: Sequence[Span], ease: int, frame: int) -> list[float]:
    """The weights of spans, which follow each other, in a frame: 1 in a span, falling to 0 over ``ease`` frames beside
    it, but not beyond the next. Their sum is 1 at most."""
    weights = []
    for i, span in enumerate(spans):
        before = span.first - spans[i - 1].last - 1 if i else ease
        after = spans[i + 1].first - span.last - 1 if i + 1 < len(spans) else ease
        if frame < span.first:
            share = 1.0 - (span.first - frame) / (min(ease, before) + 1.0)
        else:
            share = 1.0 - max(frame - span.last, 0) / (min(ease, after) + 1.0)
        share = max(share, 0.0)
        weights.append(share * share * (3.0 - 2.0 * share))
    return weights


class Stands(NamedTuple):
    """Where a tip is to be in frames, (frames, 3), and how its foot is to be turned (w, x, y, z), if there is one; not
    numbers where it is neither planted nor eased. ``is_whole`` where it is planted and not eased."""

    places: Array
    turns: Array | None
    is_whole: Array


def _stands(plan: Hold, ease: int, frames: Sequence[int], tips: Sequence[TipNow]) -> Stands:
    """Where a limb is to be in these frames, by where it is in them now."""
    has_foot = bool(tips) and tips[0].turn is not None
    places, turns = np.full((len(frames), 3), np.nan), np.full((len(frames), 4), np.nan) if has_foot else None
    is_whole = np.zeros(len(frames), bool)
    for i, (frame, now) in enumerate(zip(frames, tips, strict=True)):
        weights = weights_of([plant.span for plant in plan.plants], ease, frame)
        if not any(weights):
            continue
        place, turn = now.tip, now.turn
        for weight, plant in zip(weights, plan.plants, strict=True):
            place = place + weight * (plant.place - now.tip)
            if turn is not None and now.turn is not None and plant.turn is not None:
                sign = -1.0 if plant.turn @ now.turn < 0.0 else 1.0
                turn = turn + weight * (sign * plant.turn - now.turn)
        is_whole[i] = max(weights) == 1.0
        if not is_whole[
            i
        ]:  # on the way, a target that is out of reach would show in no pose, but as one that is missed
            place = _reached(place, now.root[None], plan.reach)
        places[i] = place
        if turns is not None and turn is not None:
            turns[i] = turn / np.linalg.norm(turn)
    return Stands(places, turns, is_whole)
