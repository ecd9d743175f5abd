"""The panels' status is true while a target is dragged, though the mouse is not over them."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...live import is_posing
from ...rig import status

TAB = "Item"
EVENTS = ("depsgraph_update_post", "frame_change_post")


def _tag_panels() -> None:
    """Have the sidebars that show the panel drawn again, and the bone's properties."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager else ():
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                for region in area.regions:
                    if region.type == "UI" and region.width > 1 and _shows_tab(region):
                        region.tag_redraw()
            elif area.type == "PROPERTIES" and getattr(area.spaces.active, "context", "") == "BONE":
                area.tag_redraw()


def _shows_tab(region: Any) -> bool:
    return getattr(region, "active_panel_category", TAB) in {TAB, "UNSUPPORTED"}


@persistent
def _on_event(*_event: Any) -> None:
    if is_posing():  # because of an event of which this was told before
        return
    screen = bpy.context.screen
    if status.has_chains() and not (screen and screen.is_animation_playing):  # whose editors Blender itself chooses
        _tag_panels()


def register() -> None:
    """Listen, where there is a window."""
    for event in () if bpy.app.background else EVENTS:
        getattr(bpy.app.handlers, event).append(_on_event)


def unregister() -> None:
    """Stop listening."""
    for event in EVENTS:
        handlers = getattr(bpy.app.handlers, event)
        if _on_event in handlers:
            handlers.remove(_on_event)
