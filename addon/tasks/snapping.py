"""Carrying a pose over between a limb's own bones (FK) and what it follows (IK), so that switching shows no jump: in
this frame, or over a range of frames with keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ..blender import dependencies, editing, stepping, transaction
from ..blender.action_writer import ActionWriter
from ..blender.animation import curves_of, is_animated
from ..blender.keying import is_autokey_on, key_changes, key_changes_from
from ..blender.types import Message, Refused, announce, scene_of, view_layer_of
from ..limb.follow import change_of, check_movable, check_posable, check_undriven, follow_of, rig_slider
from ..limb.storage import bones_of_limb, path_to_slider, read_slider, write_slider
from ..motion import check, fk, ik, passing, reading, thinning
from ..motion.frames import around, ends_of, moved_by
from ..motion.seen import check_alone, see_limbs
from ..motion.writing import Run, Task
from ..rigging import description, features
from .baking import key_in_fk, with_end


@stepping.Stepwise
@transaction.transactional_steps
def snap_target(
    context: Context,
    limbs: Sequence[PoseBone],
    frames: Sequence[float] | None = None,
    tolerance: float = 0.0,
) -> stepping.Steps[list[Message]]:
    """Match IK to FK: move targets and poles, and set flip and swivel, so that IK shows the bones' own pose, in the
    current frame or with keys in each of ``frames``. ``tolerance`` is how far joints may be off for fewer keys, in
    lengths of the limb. Returns warnings."""
    check_snap(limbs, "IK")
    # Each snap would turn toes by the roll again: they have one turn of their own in FK and IK.
    leveled = features.level_feet(limbs) if frames is None else []
    changes, warnings = yield from _show_in(_task(context, limbs, frames, tolerance), limbs, "IK")
    key_changes(context, [*leveled, *changes])
    return warnings


@stepping.Stepwise
@transaction.transactional_steps
def snap_fk(
    context: Context,
    limbs: Sequence[PoseBone],
    frames: Sequence[float] | None = None,
    tolerance: float = 0.0,
) -> stepping.Steps[list[Message]]:
    """Match FK to IK: set the own channels of limbs' bones, and of feet that turn with targets, to what IK shows, in
    the current frame or with keys in each of ``frames``. Returns warnings."""
    check_snap(limbs, "FK")
    changes, warnings = yield from _show_in(_task(context, limbs, frames, tolerance), limbs, "FK")
    key_changes(context, changes)
    return warnings


def _task(context: Context, limbs: Sequence[PoseBone], frames: Sequence[float] | None, tolerance: float) -> Task:
    return Task(context, frames, tolerance, keeps_others=around(context, moved_by(limbs)) if frames else None)


def _show_in(task: Task, limbs: Sequence[PoseBone], to: str) -> stepping.Steps[ik.MatchResult]:
    """Have limbs show by ``IK``, or by ``FK``, the pose that the other one shows."""
    named = [description.ref_of(limb) for limb in limbs]

    def show(known: reading.Recording) -> stepping.Steps[ik.MatchResult]:
        bones = [ob.pose.bones[name] for ob, name in named]  # new sliders void those from before
        return ik.show_in_ik(task, bones, known=known) if to == "IK" else _show_in_fk(task, bones, known)

    (changes, warnings), told = yield from check.keeping_shown(task, limbs, to, show)
    return ik.MatchResult(changes, [*warnings, *told])


def _show_in_fk(task: Task, limbs: Sequence[PoseBone], known: reading.Recording) -> stepping.Steps[ik.MatchResult]:
    """Set the own channels of limbs' bones, and of feet that turn with targets, to the pose that IK shows."""
    parts, sampling = [fk.part_of_fk(limb, task.tolerance) for limb in limbs], thinning.sampling_of(task.frames)
    channels = [*dict.fromkeys(channel for keyed_part in parts for channel in keyed_part.channels)]
    asked = reading.Asked(channels=channels, known=known)
    recording = yield from passing.record(task.context, limbs, sampling.frames, asked, 1.0, task.next_progress())
    values = reading.copied(recording.channels)
    for of_limb in fk.to_fk(recording, is_solved=True, influence=1.0).values():
        values |= of_limb
    writing = yield from ik.placed(task, recording, values, [Run(sampling.rows, parts)])
    return ik.MatchResult(writing.finish(recording, values, channels), [])


def check_snap(limbs: Sequence[PoseBone], to: str) -> None:
    """Refuse what can't be snapped to ``IK`` or ``FK``."""
    for limb in limbs:
        if slider := rig_slider(limb):
            raise Refused(
                "Use the rig's own slider '{slider}' of '{bone}' for this limb", slider=slider[1], bone=slider[0]
            )
        check_posable(limb)
        check_undriven(limb, "influence")
        if to == "IK":
            follow = follow_of(limb)
            check_movable(limb, follow.target, follow.subtarget)  # type: ignore[arg-type]  # `check_posable` found it there


# from one to the other


class Switched(NamedTuple):
    """What limbs were switched to, and what to select next."""

    to: str  # ``FK`` or ``IK``
    select: list[tuple[Any, str]]  # what of them one poses next: objects and names of bones
    warnings: list[Message]


def other_mode(limbs: Sequence[PoseBone]) -> str:
    """``FK`` if the first of these limbs is more than half in IK, else ``IK``."""
    return "FK" if limbs and read_slider(limbs[0], "influence") > 0.5 else "IK"


@transaction.transactional
def switch(context: Context, limbs: Sequence[PoseBone], to: str | None = None, insert_keys: bool = False) -> Switched:
    """Switch limbs to ``FK`` or ``IK``, by default to the other mode than the first one's, without moving them. With
    Auto Keying or ``insert_keys``, keys hold the old state up to the frame before. Raises `Refused`."""
    to = to or other_mode(limbs)
    check_snap(limbs, to)
    others = [limb for limb in limbs if read_slider(limb, "influence") != (to == "IK")]
    switched = [change_of(limb, "influence") for limb in limbs]
    leveled = features.level_feet(others) if to == "IK" else []
    is_keyed = insert_keys or is_autokey_on(context) or any(is_animated(*key[:2], strips=False) for key in switched)
    keys = [scene_of(context).frame_current] if is_keyed else []
    changes, warnings = stepping.finished(_show_in(Task(context, None, keys=keys), others, to))
    changes = [*leveled, *changes]
    for limb in others:
        write_slider(limb, "influence", to == "IK")
    with editing.keeping_unkeyed(context, dict.fromkeys(change.object for change in (*switched, *changes))):
        key_changes_from(context, switched, insert_keys, holds=True)
        key_changes_from(context, changes, insert_keys)
    view_layer_of(context).update()
    return Switched(to, _to_pose(limbs, to), warnings)


def _to_pose(limbs: Sequence[PoseBone], to: str) -> list[tuple[Any, str]]:
    """The bones of limbs in FK, their targets in IK."""
    if to == "FK":
        return [(limb.id_data, bone.name) for limb in limbs for bone in bones_of_limb(limb)]
    return [follow_of(limb)[:2] for limb in limbs]


@stepping.Stepwise
@transaction.transactional_steps
def switch_over(
    context: Context, limbs: Sequence[PoseBone], to: str, frames: Sequence[int], tolerance: float = 0.0
) -> stepping.Steps[list[Message]]:
    """Switch limbs to ``FK`` or ``IK`` in all of these frames, with keys, without moving them; other frames stay as
    they are. Raises `Refused`. Returns warnings."""
    check_snap(limbs, to)
    _check_influence(context, limbs, to == "FK", frames)
    named, task = [description.ref_of(limb) for limb in limbs], _task(context, limbs, frames, tolerance)
    if to == "FK":
        _, warnings = yield from check.keeping_shown(task, limbs, to, lambda _: _keyed_in_fk(task, limbs), False)
    else:
        warnings = (yield from _show_in(task, limbs, to)).warnings
        _key_influence(context, named, frames, True)
    view_layer_of(context).update()
    return warnings


def _keyed_in_fk(task: Task, limbs: Sequence[PoseBone]) -> stepping.Steps[None]:
    """Give limbs keys in FK for what they show, as a bake does."""
    frames: Any = task.frames
    for limb in limbs:
        check_alone(limb)
    seen = yield from see_limbs(task.context, limbs, with_end(task.context, limbs, frames), task.tolerance, True)
    yield from key_in_fk(task.context, seen, frames)


ROUNDED = 1e-4
"""How far influence may be from 0 or 1 and still count as that."""


def _check_influence(context: Context, limbs: Sequence[PoseBone], is_ik: bool, frames: Sequence[int]) -> None:
    """Refuse limbs that are not in IK, or in FK, in all of these frames."""
    times = stepping.times_of(scene_of(context), frames)
    for limb in limbs:
        path, now = path_to_slider(limb.name, "influence"), read_slider(limb, "influence")
        curve = next((curve for curve in curves_of(limb.id_data) if curve.data_path == path and not curve.mute), None)
        for frame, time in zip(frames, times, strict=True):
            if abs((curve.evaluate(time) if curve else now) - is_ik) > ROUNDED:
                template = "'{bone}' is not in {mode} in frame {frame}: switch frames in which it is"
                raise Refused(template, bone=limb.name, mode="IK" if is_ik else "FK", frame=frame)


def _key_influence(context: Context, limbs: Sequence[dependencies.BoneRef], frames: Sequence[int], is_ik: bool) -> None:
    """Key limbs to be in IK, or in FK, from the first to the last of these frames, and as before around them, where
    anything changes there."""
    scene, writers = scene_of(context), dict[Any, ActionWriter]()
    times, kept = stepping.times_of(scene, frames), stepping.times_of(scene, ends_of(context, limbs))
    for ob, name in limbs:
        announce(ob)
        writer = writers.get(ob) or writers.setdefault(ob, ActionWriter(context, ob))
        writer.set_between(path_to_slider(name, "influence"), times, float(is_ik), float(not is_ik), kept)
    for writer in writers.values():
        writer.show(context)
