"""Whether what moves limbs is posed otherwise than its keys have it."""

from __future__ import annotations

from collections.abc import Iterable

from bpy.types import Context

from ..blender.action_writer import unkeyed
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.stepping import time_now
from ..blender.types import split_path


def is_posed_by_hand(context: Context, refs: Iterable[BoneRef]) -> bool:
    """Whether something that moves these bones, or what carries them, is not as its keys have it in this frame."""
    moving, now = Dependencies().dependencies_of(*refs), time_now(context)
    return any((ob, split_path(path)[0]) in moving for ob in {ob for ob, _ in moving} for path in unkeyed(ob, now))
