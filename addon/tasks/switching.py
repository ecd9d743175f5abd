"""Switching limbs between FK and IK over a range of frames, with keys."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..blender.stepping import Steps, Stepwise
from ..blender.types import view_layer_of
from ..blender.words import Message
from ..limb.transactional import transactional_steps
from ..motion.frames import around, moved_by
from ..motion.seen import check_alone, see_limbs
from ..motion.writing import Task
from ..poses.influence import check_influence, key_influence
from ..poses.over_frames import show_in_ik
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
