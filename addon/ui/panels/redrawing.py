"""The panels' status is true while a target is dragged, though the mouse is not over them."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.app.handlers import persistent

from ...live import is_posing
from ...rig import status
from ...rig.data.listening import listen, listen_no_more

TAB = "Item"


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


HANDLERS = () if bpy.app.background else (("depsgraph_update_post", _on_event), ("frame_change_post", _on_event))
"""Only where there is a window."""


def register() -> None:
    """Start to listen."""
    listen(HANDLERS)


def unregister() -> None:
    """Stop listening."""
    listen_no_more(HANDLERS)
