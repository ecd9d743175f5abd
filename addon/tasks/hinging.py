"""Targets that are animated, and leave the plane in which a hinge can follow them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.dependencies import Dependencies
from ..limb.follow import follow_of
from ..limb.solving import TOLERANCE
from ..limb.storage import chain_bones
from ..limb.words import Message
from ..poses.keeping import frames_of
from ..poses.reading import LimbsRead, limbs_read, record
from ..solver.matrices import applied, inverted_all


def targets_off_plane(context: Context, lasts: Sequence[PoseBone]) -> list[Message]:
    """Warnings of those of these limbs, which are hinges, whose targets leave their plane: in which frame they do most,
    of those in which keys move what the limbs follow, or what carries them."""
    dependencies, followed = Dependencies(), [follow_of(last).pairs[0] for last in lasts]
    animated = [
        (last, frames_of(dependencies.carriers(target, (last.id_data, chain_bones(last)[0].name))))
        for last, target in zip(lasts, followed, strict=True)
        if target[0]
    ]
    frames = sorted({frame for _, frames_of_limb in animated for frame in frames_of_limb})
    if not frames:
        return []
    recording = record(context, [last for last, _ in animated], frames)
    return [warning for rig in recording.rigs for warning in _warnings(limbs_read(recording, rig), frames)]


def _warnings(limbs: LimbsRead, frames: Sequence[int]) -> Iterator[Message]:
    """What to say of the limbs of one rig."""
    inside = applied(inverted_all(limbs.frames), limbs.target)
    for row, last in enumerate(limbs.rig.lasts):
        off = np.abs(inside[:, row, 2]) / sum(limbs.rig.table.limbs[row].geometry.lengths)
        worst = int(np.argmax(off))
        if off[worst] > TOLERANCE:
            template = (
                "The target of '{bone}' leaves its hinge's plane in {count} of {frames} frames: by {off} of the limb's "
                "length in frame {frame}"
            )
            yield Message(
                template,
                bone=last.name,
                count=int((off > TOLERANCE).sum()),
                frames=len(frames),
                off=f"{off[worst]:.2g}",
                frame=frames[worst],
            )
