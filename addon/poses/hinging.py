"""Targets that are animated, and leave the plane in which a hinge can follow them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.stepping import finished
from ..blender.words import Message
from ..limb.follow import follow_of
from ..limb.settings import IN_ONE_PLANE
from ..limb.storage import chain_bones, choices_of
from ..limb.tolerances import ON_TARGET
from ..motion.frames import frames_of
from ..rigging.description import ref_of
from ..solver.matrices import applied, inverted_all
from .reading import LimbsRead, limbs_read
from .recording import record


def targets_off_plane(context: Context, limbs: Sequence[PoseBone]) -> list[Message]:
    """Warnings of hinges and sliding limbs whose keyed targets leave the plane that they can follow in: by frame, where
    they do so most."""
    frames_of_limb = {}
    for limb in limbs:
        target, bone = follow_of(limb).pairs[0]
        if target and choices_of(limb)["plane"] in IN_ONE_PLANE:
            refs = (target, bone), (limb.id_data, chain_bones(limb)[0].name)
            frames_of_limb[ref_of(limb)] = frames_of(context, refs).at
    animated = [limb for limb in limbs if frames_of_limb.get(ref_of(limb))]
    frames = sorted({*chain.from_iterable(frames_of_limb.values())})
    if not frames:
        return []
    recording = finished(record(context, animated, frames))
    return [warning for rig in recording.rigs for warning in _warnings(limbs_read(recording, rig), frames)]


def _warnings(limbs: LimbsRead, frames: Sequence[int]) -> Iterator[Message]:
    """What to say of the limbs of one rig."""
    inside = applied(inverted_all(limbs.frames), limbs.target)
    for row, limb in enumerate(limbs.rig.limbs):
        off = np.abs(inside[:, row, 2]) / sum(limbs.rig.table.limbs[row].geometry.lengths)
        worst = int(np.argmax(off))
        if off[worst] > ON_TARGET:
            template = (
                "The target of '{bone}' leaves its hinge's plane in {count} of {frames} frames: by {off} of the limb's "
                "length in frame {frame}"
            )
            yield Message(
                template,
                bone=limb.name,
                count=int((off > ON_TARGET).sum()),
                frames=len(frames),
                off=f"{off[worst]:.2g}",
                frame=frames[worst],
            )
