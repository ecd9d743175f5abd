"""Whether what moves limbs is posed otherwise than its keys have it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from bpy.types import Context

from ..blender.action_writer import UNCHANGED
from ..blender.animation import animated_paths, value_at
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.stepping import stepping
from ..blender.types import scene_of, split_path


def is_posed_by_hand(context: Context, refs: Iterable[BoneRef]) -> bool:
    """Whether something that moves these bones, or what carries them, is not as its keys have it in this frame: looked
    at by showing that anew."""
    moving = Dependencies().dependencies_of(*refs)
    paths = [(ob, path) for ob in {ob for ob, _ in moving} for path in animated_paths(ob)]
    posed = [(ob, path, value_at(ob, path)) for ob, path in paths if (ob, split_path(path)[0]) in moving]
    with stepping(context) as show_frame:
        show_frame(scene_of(context).frame_current_final)
        return any(not _is_same(value_at(ob, path), value) for ob, path, value in posed)


def _is_same(now: object, before: object) -> bool:
    return now == before or (
        isinstance(now, float | int | tuple) and np.allclose(now, before, rtol=UNCHANGED, atol=UNCHANGED)  # type: ignore[arg-type]
    )
