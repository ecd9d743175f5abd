"""Switching limbs between FK and IK over a range of frames, with keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.action_writer import ActionWriter
from ..blender.animation import curves_of
from ..blender.announcing import announce
from ..blender.dependencies import BoneRef
from ..blender.stepping import Steps, Stepwise, times_of
from ..blender.types import scene_of, view_layer_of
from ..blender.words import Message, Refused
from ..limb.storage import path_to_slider, read_slider
from ..limb.transactional import transactional_steps
from ..motion.frames import around, ends_of, moved_by
from ..motion.ik import show_in_ik
from ..motion.seen import check_alone, see_limbs
from ..motion.writing import Task
from .baking import key_in_fk, with_end
from .snapping import check_snap, snap_fk_now, snap_target_now


@Stepwise
@transactional_steps
def switch_over(
    context: Context, limbs: Sequence[PoseBone], to: str, frames: Sequence[int], tolerance: float = 0.0
) -> Steps[list[Message]]:
    """Switch limbs to ``FK`` or ``IK`` in all of these frames, with keys, without moving them; other frames stay as
    they are. Raises `Refused`. Returns warnings."""
    check_snap(limbs, snap_fk_now if to == "FK" else snap_target_now)
    check_influence(context, limbs, to == "FK", frames)
    warnings = list[Message]()
    if to == "FK":
        for limb in limbs:
            check_alone(limb)
        seen = yield from see_limbs(context, limbs, with_end(context, limbs, frames), tolerance, in_lengths=True)
        yield from key_in_fk(context, seen, frames)
    else:
        named = [(limb.id_data, limb.name) for limb in limbs]
        task = Task(context, frames, tolerance, keeps_others=around(context, moved_by(limbs)))
        warnings = (yield from show_in_ik(task, limbs)).warnings
        key_influence(context, named, frames, True)
    view_layer_of(context).update()
    return warnings


ROUNDED = 1e-4
"""How far influence may be from 0 or 1 and still count as that."""


def check_influence(context: Context, limbs: Sequence[PoseBone], is_ik: bool, frames: Sequence[int]) -> None:
    """Refuse limbs that are not in IK, or in FK, in all of these frames."""
    times = times_of(scene_of(context), frames)
    for limb in limbs:
        path, now = path_to_slider(limb.name, "influence"), read_slider(limb, "influence")
        curve = next((curve for curve in curves_of(limb.id_data) if curve.data_path == path and not curve.mute), None)
        for frame, time in zip(frames, times, strict=True):
            if abs((curve.evaluate(time) if curve else now) - is_ik) > ROUNDED:
                template = "'{bone}' is not in {mode} in frame {frame}: switch frames in which it is"
                raise Refused(template, bone=limb.name, mode="IK" if is_ik else "FK", frame=frame)


def key_influence(context: Context, limbs: Sequence[BoneRef], frames: Sequence[int], is_ik: bool) -> None:
    """Key limbs to be in IK, or in FK, from the first to the last of these frames, and as before around them, where
    anything changes there."""
    scene, writers = scene_of(context), dict[Any, ActionWriter]()
    times, kept = times_of(scene, frames), times_of(scene, ends_of(context, limbs))
    for ob, name in limbs:
        announce(ob)
        writer = writers.get(ob) or writers.setdefault(ob, ActionWriter(context, ob))
        writer.set_between(path_to_slider(name, "influence"), times, float(is_ik), float(not is_ik), kept)
    for writer in writers.values():
        writer.show(context)
