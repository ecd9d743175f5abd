"""Carrying a pose over between a limb's own bones (FK) and what it follows (IK), so that switching shows no jump."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ..blender.editing import keeping_unkeyed
from ..blender.keying import key_changes, key_changes_from
from ..blender.stepping import Steps, Stepwise, finished
from ..blender.types import view_layer_of
from ..blender.words import Message, Refused
from ..limb.follow import change_of, check_movable, check_posable, check_undriven, follow_of, rig_slider
from ..limb.storage import bones_of_limb, read_slider, write_slider
from ..limb.transactional import transactional, transactional_steps
from ..motion.fk import part_of_fk, to_fk
from ..motion.frames import around, moved_by
from ..motion.ik import MatchResult, show_in_ik
from ..motion.passing import record
from ..motion.reading import Asked, copied
from ..motion.thinning import sampling_of
from ..motion.writing import Run, Task, Writing
from ..rigging.features import reset_roll

Snap = Callable[[Context, Sequence[PoseBone]], MatchResult]


@Stepwise
@transactional_steps
def snap_target(
    context: Context,
    limbs: Sequence[PoseBone],
    frames: Sequence[float] | None = None,
    tolerance: float = 0.0,
) -> Steps[list[Message]]:
    """Match IK to FK: move targets and poles, and set flip and swivel, so that IK shows the bones' own pose, in the
    current frame or with keys in each of ``frames``. ``tolerance`` is how far joints may be off for fewer keys, in
    lengths of the limb. Returns warnings."""
    check_snap(limbs, snap_target_now)
    # Each snap would turn toes by the roll again: they have one turn of their own in FK and IK.
    leveled = reset_roll(limbs) if frames is None else []
    shown = yield from show_in_ik(_task(context, limbs, frames, tolerance), limbs)
    return _snapped(context, shown._replace(changes=[*leveled, *shown.changes]))


@Stepwise
@transactional_steps
def snap_fk(
    context: Context,
    limbs: Sequence[PoseBone],
    frames: Sequence[float] | None = None,
    tolerance: float = 0.0,
) -> Steps[list[Message]]:
    """Match FK to IK: set the own channels of limbs' bones, and of feet that turn with targets, to what IK shows, in
    the current frame or with keys in each of ``frames``. Returns warnings."""
    check_snap(limbs, snap_fk_now)
    return _snapped(context, (yield from show_in_fk(_task(context, limbs, frames, tolerance), limbs)))


def _task(context: Context, limbs: Sequence[PoseBone], frames: Sequence[float] | None, tolerance: float) -> Task:
    return Task(context, frames, tolerance, keeps_others=around(context, moved_by(limbs)) if frames else None)


def show_in_fk(task: Task, limbs: Sequence[PoseBone]) -> Steps[MatchResult]:
    """Set the own channels of limbs' bones, and of feet that turn with targets, to the pose that IK shows."""
    parts, sampling = [part_of_fk(limb, task.tolerance) for limb in limbs], sampling_of(task.frames)
    channels = [*dict.fromkeys(channel for keyed_part in parts for channel in keyed_part.channels)]
    recording = yield from record(
        task.context, limbs, sampling.frames, Asked(channels=channels), 1.0, task.next_progress()
    )
    before = copied(recording.channels)
    values = copied(before)
    for of_limb in to_fk(recording, is_solved=True, influence=1.0).values():
        values |= of_limb
    writing = Writing(task, before, [Run(sampling.rows, parts)], sampling.frames)
    return MatchResult(writing.finish(recording, values, channels), [])


def _snapped(context: Context, matched: MatchResult) -> list[Message]:
    key_changes(context, matched.changes)
    return matched.warnings


def check_snap(limbs: Sequence[PoseBone], snap: Snap) -> None:
    """Refuse what can't be snapped."""
    for limb in limbs:
        if slider := rig_slider(limb):
            raise Refused(
                "Use the rig's own slider '{slider}' of '{bone}' for this limb", slider=slider[1], bone=slider[0]
            )
        check_posable(limb)
        check_undriven(limb, "influence")
        if snap is snap_target_now:
            follow = follow_of(limb)
            check_movable(limb, follow.target, follow.subtarget)  # type: ignore[arg-type]  # `check_posable` found it there


def snap_target_now(context: Context, limbs: Sequence[PoseBone]) -> MatchResult:
    """`snap_target` in the current frame, without keys."""
    return finished(show_in_ik(Task(context, None), limbs))


def snap_fk_now(context: Context, limbs: Sequence[PoseBone]) -> MatchResult:
    """`snap_fk` in the current frame, without keys."""
    return finished(show_in_fk(Task(context, None), limbs))


# from one to the other


class Switched(NamedTuple):
    """What limbs were switched to, and what to select next."""

    to: str  # ``FK`` or ``IK``
    select: list[tuple[Any, str]]  # what of them one poses next: objects and names of bones
    warnings: list[Message]


def other_mode(limbs: Sequence[PoseBone]) -> str:
    """The other mode than the first of these limbs has."""
    return "FK" if limbs and read_slider(limbs[0], "influence") > 0.5 else "IK"


@transactional
def switch(context: Context, limbs: Sequence[PoseBone], to: str | None = None, insert_keys: bool = False) -> Switched:
    """Switch limbs to ``FK`` or ``IK``, by default to the other mode than the first one's, without moving them. With
    Auto Keying or ``insert_keys``, keys hold the old state up to the frame before. Raises `Refused`."""
    to = to or other_mode(limbs)
    snap: Snap = snap_fk_now if to == "FK" else snap_target_now
    check_snap(limbs, snap)
    others = [limb for limb in limbs if read_slider(limb, "influence") != (to == "IK")]
    switched = [change_of(limb, "influence") for limb in limbs]
    leveled = reset_roll(others) if to == "IK" else []
    changes, warnings = snap(context, others)
    changes = [*leveled, *changes]
    for limb in others:
        write_slider(limb, "influence", to == "IK")
    with keeping_unkeyed(context, dict.fromkeys(change.object for change in (*switched, *changes))):
        key_changes_from(context, switched, insert_keys, holds=True)
        key_changes_from(context, changes, insert_keys)
    view_layer_of(context).update()
    return Switched(to, _to_pose(limbs, to), warnings)


def _to_pose(limbs: Sequence[PoseBone], to: str) -> list[tuple[Any, str]]:
    """The bones of limbs in FK, their targets in IK."""
    if to == "FK":
        return [(limb.id_data, bone.name) for limb in limbs for bone in bones_of_limb(limb)]
    return [follow_of(limb)[:2] for limb in limbs]
