"""Which frames are animated: where keys move bones, or what carries them."""

from __future__ import annotations

from collections.abc import Iterable

import bpy
from bpy.types import Context, PoseBone

from ..blender.action_writer import unkeyed
from ..blender.animation import keyed_range
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.stepping import frames_of_times, time_now
from ..blender.types import scene_of, split_path


def animated_frames(bones: Iterable[PoseBone]) -> list[int]:
    """The whole frames from the first to the last key that moves these bones, or what they depend on. Keys of what
    moves their whole rig don't count: controls go along."""
    dependencies, starts = Dependencies(), [(bone.id_data, bone.name) for bone in bones]
    refs = dependencies.dependencies_of(*starts)
    refs -= dependencies.dependencies_of(*{(ob, "") for ob, _ in starts})
    return keyed_frames(refs)


def is_posed_by_hand(context: Context, bones: Iterable[PoseBone]) -> bool:
    """Whether something that moves these bones, or what carries them, is not as its keys have it in this frame."""
    refs, now = Dependencies().dependencies_of(*((bone.id_data, bone.name) for bone in bones)), time_now(context)
    return any((ob, split_path(path)[0]) in refs for ob in {ob for ob, _ in refs} for path in unkeyed(ob, now))


def keyed_frames(refs: Iterable[BoneRef]) -> list[int]:
    """The whole frames from the first to the last key of these objects and bones."""
    names: dict[object, set[str]] = {}
    for ob, bone in refs:
        names.setdefault(ob, set()).add(bone)
    ranges = [keyed_range(ob, lambda path, names=of_ob: split_path(path)[0] in names) for ob, of_ob in names.items()]  # type: ignore[misc]
    ends = [range_ for range_ in ranges if range_]
    times = [time for range_ in ends for time in range_]
    return [*frames_of_times(scene_of(bpy.context), min(times), max(times))] if ends else []
