"""Keeping what is animated: the keys that let IK show over frames what the bones' own keys showed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import Any

from bpy.types import Context, PoseBone

from ...blender.animation import keyed_range
from ...blender.dependencies import Carrier, Dependencies
from ...blender.rotation import get_turn
from ...blender.stepping import stepping
from ...blender.types import split_path
from ..home import bones_of_limb
from ..words import Refused
from .keyed_parts import part_of_ik
from .matching import Matched, match, see_fk
from .over_frames import Progress, fit_over_frames

LOOKS = 24
"""In about so many frames it is looked how limbs stand, to find the pose that their knees bend from best."""


def animated_frames(bones: Iterable[PoseBone], goes_along: bool) -> list[int]:
    """The whole frames from the first to the last key that moves these bones, or what carries them. What carries their
    whole rig counts unless all that they follow ``goes_along``."""
    among, starts = Dependencies(), [(bone.id_data, bone.name) for bone in bones]
    carriers = among.carriers(*starts)
    if goes_along:
        carriers -= among.carriers(*{(ob, "") for ob, _ in starts})
    return frames_of(carriers)


def frames_of(carriers: Iterable[Carrier]) -> list[int]:
    """The whole frames from the first to the last key of objects and bones."""
    names: dict[object, set[str]] = {}
    for ob, bone in carriers:
        names.setdefault(ob, set()).add(bone)
    found = [keyed_range(ob, lambda path, of=of: split_path(path)[0] in of) for ob, of in names.items()]  # type: ignore[misc]
    ends = [each for each in found if each]
    return [*range(floor(min(a for a, _ in ends)), ceil(max(b for _, b in ends)) + 1)] if ends else []


def turns_seen(
    context: Context, limbs: Sequence[tuple[PoseBone, tuple[int, ...]]], frames: Sequence[float]
) -> list[list[Any]]:
    """How the bones of limbs, by last bone and links, are turned by their own channels in some of these frames."""
    found: list[list[Any]] = [[] for _ in limbs]
    if frames:
        with stepping(context) as show_frame:
            for frame in frames[:: max(len(frames) // LOOKS, 1)]:
                show_frame(frame)
                for turns, (last, links) in zip(found, limbs, strict=True):
                    turns.append(tuple(get_turn(bone) for bone in bones_of_limb(last, links)))
    return found


def fit_ik_to_fk(
    context: Context,
    lasts: Sequence[PoseBone],
    frames: Sequence[float],
    tolerance: float,
    progress: Progress | None = None,
) -> list[Refused]:
    """Give what limbs follow, flip, swivel and ankle keys, so that IK shows the bones' own pose in each of these
    frames. Returns warnings."""
    names = [(last.id_data, last.name) for last in lasts]

    def step(_: int) -> Matched:
        now = [ob.pose.bones[name] for ob, name in names]
        return match(context, now, see_fk(context, now))

    return fit_over_frames(context, frames, [part_of_ik(last) for last in lasts], step, tolerance, progress)
