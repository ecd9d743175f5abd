"""Hold: limbs' tips, and how their feet are turned, are planted in the world over ranges of frames, eased in and out.

The controls get keys for it, in the frames of a range and of its easing and in no others."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Quaternion
from numpy.typing import NDArray

from ..blender.dependencies import Dependencies
from ..blender.rotation import set_turn
from ..blender.types import carried_by, is_evaluated, scene_of, tag, view_layer_of
from ..limb.follow import follow_of
from ..limb.foot_roll import move_of_control
from ..limb.moving import Move, check_movable, move, rig_slider
from ..limb.solving import limbs_now
from ..limb.storage import bones_of_limb, limbs_of, mode_of, read_slider
from ..limb.tips import foot_of
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..live.settings import is_live
from ..poses.contacts import Span, slide_of
from ..poses.keyed_parts import part_of_foot, part_of_ik
from ..poses.matching import Matched
from ..poses.over_frames import fit_over_frames
from ..poses.reading import Progress
from ..poses.targets import target_for
from ..poses.tip_paths import TipNow, TipReader, path_of, tips_over
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
    holds, slide = _planted(context, lasts, spans, is_mean, movers)
    runs: dict[Span, list[Hold]] = {}
    for plan in holds:
        for run, plants in _runs(plan.plants, ease):
            runs.setdefault(run, []).append(plan._replace(plants=plants))
    missed: dict[tuple[Any, str], set[int]] = {}
    warnings: list[Message] = []
    for done, (run, group) in enumerate(runs.items()):
        warnings += _fit(context, run, group, ease, tolerance, missed)
        if progress:
            progress((done + 1) / len(runs))
    warnings += [
        Message("'{bone}' does not reach where it is held in {count} frames: hold fewer", bone=name, count=len(frames))
        for (_, name), frames in missed.items()
    ]
    return Report(slide, [*{str(message): message for message in warnings}.values()])


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
) -> tuple[list[Hold], float]:
    """Where limbs are planted in their spans, and the farthest that one slides in a span now, in scene units."""
    frames = sorted(
        {frame for limb_spans in spans for span in limb_spans for frame in range(span.first, span.last + 1)}
    )
    rows, current, slide = tips_over(context, lasts, frames), scene_of(context).frame_current, 0.0
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


def _runs(plants: list[Plant], ease: int) -> list[tuple[Span, list[Plant]]]:
    """The frames to be keyed, easing included, with what is planted in them: what is eased out while the next is eased
    in is keyed as one."""
    runs: list[tuple[Span, list[Plant]]] = []
    for plant in plants:
        first, last = plant.span.first - ease, plant.span.last + ease
        if runs and first <= runs[-1][0].last + 2:  # a key beside each run is for what goes on there
            run, planted = runs[-1]
            runs[-1] = (Span(run.first, last), [*planted, plant])
        else:
            runs.append((Span(first, last), [plant]))
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


def _fit(
    context: Context,
    run: Span,
    holds: Sequence[Hold],
    ease: int,
    tolerance: float,
    missed: dict[tuple[Any, str], set[int]],
) -> list[Message]:
    """Key what holds limbs in the frames of a run; the frames in which one misses its place are noted by its rig and
    name."""
    parts = [part_of_ik(plan.last) for plan in holds]
    parts += [part_of_foot(plan.last) for plan in holds if plan.turns_foot]

    def step(i: int) -> Matched:
        frame = run.first + i
        depsgraph = context.evaluated_depsgraph_get()
        stands = [_stand(plan, ease, frame, plan.reader.now(depsgraph)) for plan in holds]
        pairs = [(plan, stand) for plan, stand in zip(holds, stands, strict=True) if stand is not None]
        changes = move(context, [_move(context, plan, stand, frame) for plan, stand in pairs])
        for plan, stand in pairs:
            if plan.turns_foot and stand.turn is not None:
                _turn_foot(context, plan, stand.turn)
        view_layer_of(context).update()
        depsgraph = context.evaluated_depsgraph_get()
        for plan, stand in pairs:
            off = np.linalg.norm(plan.reader.now(depsgraph).tip - stand.place)
            if stand.is_whole and not off <= MISSED * plan.reader.size:
                missed.setdefault((plan.reader.object, plan.reader.last), set()).add(frame)
        return Matched(changes, [])

    frames = range(run.first, run.last + 1)
    return fit_over_frames(context, frames, parts, step, tolerance, keeps_others=True)


class Stand(NamedTuple):
    """Where a tip is to be in a frame, and how its foot is to be turned (w, x, y, z), if there is one; ``is_whole``
    where it is planted and not eased."""

    place: Array
    turn: Array | None
    is_whole: bool


def _stand(plan: Hold, ease: int, frame: int, now: TipNow) -> Stand | None:
    """Where a limb is to be in a frame, by where it is now; None where it is neither planted nor eased."""
    weights = weights_of([plant.span for plant in plan.plants], ease, frame)
    if not any(weights):
        return None
    place, turn = now.tip, now.turn
    for weight, plant in zip(weights, plan.plants, strict=True):
        place = place + weight * (plant.place - now.tip)
        if turn is not None and now.turn is not None and plant.turn is not None:
            sign = -1.0 if plant.turn @ now.turn < 0.0 else 1.0
            turn = turn + weight * (sign * plant.turn - now.turn)
    is_whole = max(weights) == 1.0
    if not is_whole:  # on the way there, a target that is out of reach would show in no pose, but as one that is missed
        place = _reached(place, now.root[None], plan.reach)
    return Stand(place, None if turn is None else turn / np.linalg.norm(turn), is_whole)


def _move(context: Context, plan: Hold, stand: Stand, frame: int) -> Move:
    """Where the target is to be for a limb to stand so in this frame, and how it is to be turned if the foot turns with
    it. Raises `Refused`."""
    last, follow = plan.last, follow_of(plan.last)
    if read_slider(last, "influence") < 1.0 - 1e-6:
        raise Refused("'{bone}' is not in IK in frame {frame}: switch it there, then hold", bone=last.name, frame=frame)
    turn = None
    if stand.turn is not None and feet.foot_follows(last):
        turn = Quaternion(stand.turn.tolist()) @ feet.off_target(context, last).inverted()
    ob: Any = follow.target
    move_of_goal = Move(ob, follow.subtarget, target_for(context, last, stand.place), turn, plan.reader.size)
    return move_of_control(last, move_of_goal, context.evaluated_depsgraph_get())


def _turn_foot(context: Context, plan: Hold, turn: Array) -> None:
    """Turn a foot by its own channels for it to be turned so in the world (w, x, y, z)."""
    foot = plan.last.id_data.pose.bones[plan.reader.foot]
    evaluated: Any = foot.id_data.evaluated_get(context.evaluated_depsgraph_get())
    now, rotation = evaluated.pose.bones[foot.name], Quaternion(turn.tolist()).to_matrix().to_4x4()
    pose = (evaluated.matrix_world.inverted_safe() @ rotation).to_quaternion().to_matrix().to_4x4()
    own = now.bone.convert_local_to_pose(pose, now.bone.matrix_local, **carried_by(now), invert=True)
    set_turn(foot, own.to_quaternion()[:])
    tag(foot)
