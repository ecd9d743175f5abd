"""Keys on what was changed, set as the user's own settings say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bpy.types import Context

from . import fcurves
from .animation import curves_of, set_at, value_at
from .types import scene_of


def autokey(context: Context) -> bool:
    """Whether the user has Blender set keys by itself."""
    return bool(scene_of(context).tool_settings.use_keyframe_insert_auto)


def key(context: Context, owner: Any, path: str, group: str = "", index: int = -1, frame: float | None = None) -> None:
    """Set a key on a property, by default in the scene's frame."""
    scene = scene_of(context)
    options = {"INSERTKEY_CYCLE_AWARE"} if scene.tool_settings.use_keyframe_cycle_aware else set()
    at = scene.frame_current if frame is None else frame
    owner.keyframe_insert(path, index=index, frame=at, group=group, options=options)


def key_automatically(context: Context, owner: Any, paths: Iterable[str], group: str = "") -> None:
    """Set keys on what an operator has changed, if autokey is on, where its settings want them."""
    if not autokey(context):
        return
    settings = scene_of(context).tool_settings
    preferences: Any = context.preferences.edit  # type: ignore[union-attr]  # there always are some
    wanted = {
        "INSERTKEY_CYCLE_AWARE": settings.use_keyframe_cycle_aware,
        "INSERTKEY_REPLACE": settings.auto_keying_mode == "REPLACE_KEYS",
        "INSERTKEY_AVAILABLE": preferences.use_keyframe_insert_available,
        "INSERTKEY_NEEDED": preferences.use_auto_keyframe_insert_needed,
    }
    options = {option for option, is_wanted in wanted.items() if is_wanted}
    for path in paths:
        owner.keyframe_insert(path, group=group, options=options)


def key_from(context: Context, owner: Any, path: str, before: Any, group: str = "") -> None:
    """Set a key on a property that has just been changed from what it was ``before``, and keep all earlier frames."""
    frame, now = scene_of(context).frame_current, value_at(owner, path)
    keyed = {curve.array_index for curve in curves_of(owner) if curve.data_path == path}
    missing = set(range(len(now) if isinstance(now, tuple) else 1)) - keyed
    if missing:
        set_at(owner, path, before)
        for index in missing:
            key(context, owner, path, group, index if isinstance(now, tuple) else -1, frame - 1)
        set_at(owner, path, now)
    for curve in curves_of(owner):
        if curve.data_path == path:
            fcurves.hold_from(curve, frame - 1)
    key(context, owner, path, group)
