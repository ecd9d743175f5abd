"""Keeping what is animated: the keys that let IK show over frames what the bones' own keys showed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor

from bpy.types import Context, PoseBone

from ..blender.animation import keyed_range
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import split_path
from ..limb.words import Message
from .keyed_parts import part_of_ik
from .matching import Matched, match, stances_by_fk
from .over_frames import fit_over_frames
from .reading import Progress


def animated_frames(bones: Iterable[PoseBone], goes_along: bool) -> list[int]:
    """The whole frames from the first to the last key that moves these bones, or what carries them. What carries their
    whole rig counts unless all that they follow ``goes_along``."""
    dependencies, starts = Dependencies(), [(bone.id_data, bone.name) for bone in bones]
    carriers = dependencies.carriers(*starts)
    if goes_along:
        carriers -= dependencies.carriers(*{(ob, "") for ob, _ in starts})
    return frames_of(carriers)


def frames_of(carriers: Iterable[BoneRef]) -> list[int]:
    """The whole frames from the first to the last key of objects and bones."""
    names: dict[object, set[str]] = {}
    for ob, bone in carriers:
        names.setdefault(ob, set()).add(bone)
    ranges = [keyed_range(ob, lambda path, names=of_ob: split_path(path)[0] in names) for ob, of_ob in names.items()]  # type: ignore[misc]
    ends = [range_ for range_ in ranges if range_]
    return [*range(floor(min(first for first, _ in ends)), ceil(max(last for _, last in ends)) + 1)] if ends else []


def fit_ik_to_fk(
    context: Context,
    lasts: Sequence[PoseBone],
    frames: Sequence[float],
    tolerance: float,
    progress: Progress | None = None,
    stays: bool = False,
) -> list[Message]:
    """Give what limbs follow, flip, swivel and ankle keys, so that IK shows the bones' own pose in each of these
    frames: see `fit_over_frames`. Returns warnings."""
    names = [(last.id_data, last.name) for last in lasts]

    def step(_: int) -> Matched:
        now = [ob.pose.bones[name] for ob, name in names]
        return match(context, now, stances_by_fk(context, now))

    return fit_over_frames(context, frames, [part_of_ik(last) for last in lasts], step, tolerance, progress, stays)
