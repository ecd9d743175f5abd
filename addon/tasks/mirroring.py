"""Mirroring limbs to the other side of their rig."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from bpy.types import Context, PoseBone

from ..blender.changes import key_changes
from ..blender.dependencies import Dependencies
from ..blender.stepping import Steps, Stepwise
from ..blender.types import ArmatureObject, can_edit_bones
from ..blender.words import Message
from ..limb.transactional import transactional_steps
from ..motion.frames import around, moved_by
from ..motion.writing import Task
from ..poses.mirroring import read_sources, show_mirrored
from ..rigging.apply import apply
from ..rigging.description import describe
from ..rigging.features import live_for_now
from ..rigging.mirrored import check_there, image_of, images_of, pair_of


class Mirrored(NamedTuple):
    """Rigs with the names of both last bones, and warnings."""

    pairs: list[tuple[ArmatureObject, str, str]]
    warnings: list[Message]


@Stepwise
@transactional_steps
def mirror(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float] | None = None, tolerance: float = 0.0
) -> Steps[Mirrored]:
    """Give the other side of limbs what these have: settings and sliders, and targets, poles and bones that are posed
    as the mirror image of theirs, here and now, or in each of these frames with keys; limbs and controls are made where
    there are none. New limbs are on the rig where the first ones are. ``tolerance`` is how far joints may be off for
    the sake of fewer keys, in lengths of the limb. Raises `Refused`."""
    depsgraph, dependencies, pairs = context.evaluated_depsgraph_get(), Dependencies(), [*map(pair_of, limbs)]
    images = {pair.image: images_of(pair, depsgraph) for pair in pairs}
    descriptions = {pair.image: image_of(pair, images[pair.image], depsgraph, dependencies) for pair in pairs}
    others = around(context, moved_by(limb for pair in pairs for limb in pair.limbs)) if frames else None
    task, all_images = Task(context, frames, tolerance, keeps_others=others), [*chain.from_iterable(images.values())]
    warnings = list[Message]()
    sources = yield from read_sources(task, pairs, all_images)
    if all(can_edit_bones(pair.ob) for pair in pairs):
        modes = {pair.image: describe((pair.ob, pair.limb_name)).mode for pair in pairs}
        new = {
            limb: description
            for limb, description in descriptions.items()
            if (modes[limb], description.mode) == ("RIG", "LIVE")
        }
        on_rig, warnings = live_for_now(new, dependencies)
        apply(context, descriptions | on_rig)
    else:
        for limb in descriptions:
            check_there(limb, images[limb])
    key_changes(context, (yield from show_mirrored(task, pairs, all_images, sources)))
    return Mirrored([pair[:3] for pair in pairs], warnings)
