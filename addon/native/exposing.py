"""Custom properties for settings that were keyed or driven since their limb was put on the rig.

They take another mechanism, which is made as soon as nobody is busy, and not while the setting is dragged: the panel
would then show another property, and Blender lets go of a slider that shows another one.
"""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene, Window

from ..rig.data.access import ArmatureObject, Key, is_armature, runs_on_rig, setting_path, split_path
from ..rig.data.animation import animated_paths
from ..rig.data.carrying import shared_users
from ..rig.data.dependencies import is_structural
from ..rig.kinds import Refused
from ..rig.settings import PREFIX
from .checking import is_out_of_reach
from .convert import rebuild
from .mechanism.found import exposed
from .wanted import values_of

WAIT = 0.25
"""Seconds until it is tried again where somebody was busy."""

Lacking = dict[ArmatureObject, dict[str, set[str]]]
"""Settings by the objects and the names of the lower bones of the chains that want them as custom properties."""

_left: dict[Key, set[str]] = {}
"""What is not tried, or not again: what was lacking still when all that could be done was done, or after undo."""


def _lacking() -> Lacking:
    """The settings that something animates by their names on the bone while the mechanism holds them fixed. Actions
    that others share are left to *Rebuild*, as in `keys`."""
    found: Lacking = {}
    for ob in filter(is_armature, bpy.data.objects):
        animated = animated_paths(ob) if ob.animation_data and not ob.library else set()
        for name in {split_path(path)[0] for path in animated if f"].{PREFIX}" in path}:
            lower = ob.pose.bones.get(name)
            if lower and lower.parent and runs_on_rig(lower) and not is_out_of_reach(lower):
                names = values_of(lower, animated).animated.difference(exposed(lower))
                own = {each for each in names if not shared_users(ob, setting_path(name, each), ())}
                if own:
                    found.setdefault(ob, {})[name] = own
    return found


def _keyed(lacking: Lacking) -> dict[Key, set[str]]:
    """What `_lacking` gives, by keys of chains, which outlast undo."""
    return {(ob.session_uid, name): of for ob, each in lacking.items() for name, of in each.items()}


def expose() -> float | None:
    """Make the mechanisms anew of chains that lack custom properties, or say in how many seconds to try again."""
    windows: list[Window] = [*bpy.context.window_manager.windows]  # type: ignore[union-attr]  # there is one
    is_rendering: Any = bpy.app.is_job_running("RENDER")  # type: ignore[func-returns-value]  # the stubs say none
    if is_rendering or any(map(_is_busy, windows)):
        return WAIT
    for ob, names in _lacking().items():
        window = next((each for each in windows if ob in [*each.view_layer.objects]), None)
        if window:
            with bpy.context.temp_override(window=window):
                _make_anew(ob, [*names])
    _left.clear()
    _left.update(_keyed(_lacking()))
    return None


def _make_anew(ob: ArmatureObject, names: list[str]) -> None:
    """Make mechanisms of a rig anew, at once if none is refused; what keeps one from it, its message says."""
    try:
        rebuild(bpy.context, [ob.pose.bones[name] for name in names])
    except Refused:
        for name in names if len(names) > 1 else ():
            _make_anew(ob, [name])


def _is_busy(window: Window) -> bool:
    """Whether something goes on in a window that making bones would disturb."""
    with bpy.context.temp_override(window=window):
        is_elsewhere = bpy.context.mode not in ("OBJECT", "POSE")
    return is_elsewhere or window.screen.is_animation_playing or len(window.modal_operators) > 0


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, or a frame shown: there are new keys or drivers only where Blender found out anew what
    depends on what."""
    if is_structural(depsgraph):
        _expose_soon()


@persistent
def _on_stop(*_args: Any) -> None:
    """Playback ended, during which Blender does not tell of new keys."""
    _expose_soon()


def _expose_soon() -> None:
    """Have what is lacking exposed, unless that was tried already."""
    lacking = _keyed(_lacking())
    if lacking != _left:
        _left.clear()
        if lacking and not bpy.app.timers.is_registered(expose):
            bpy.app.timers.register(expose)


@persistent
def _on_step(*_args: Any) -> None:
    """A step was undone or redone: what is lacking now stays so until something else does. Bones that were made between
    two steps of undo would still be there after the next, which takes an armature that is in both for the same."""
    unregister()
    _left.clear()
    _left.update(_keyed(_lacking()))


@persistent
def _on_load(*_args: Any) -> None:
    _left.clear()


def unregister() -> None:
    """Expose nothing any more."""
    if bpy.app.timers.is_registered(expose):
        bpy.app.timers.unregister(expose)


HANDLERS = (
    ("depsgraph_update_post", _on_edit),
    ("frame_change_post", _on_edit),
    ("animation_playback_post", _on_stop),
    ("undo_post", _on_step),
    ("redo_post", _on_step),
    ("load_post", _on_load),
)
