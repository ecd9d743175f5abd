"""The limb's geometry in the 3D view: bend plane, reach, limits, the other solution, and what the tip misses."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context

from ...rig.data.access import scene_of, scene_settings
from . import drawing


def _draw_switch(panel: Any, context: Context) -> None:
    column = panel.layout.column(heading="Planar IK")
    column.active = context.space_data.overlay.show_overlays  # type: ignore[union-attr]
    column.prop(scene_settings(scene_of(context)), "show_overlay", text="Limb Geometry")


def register() -> None:
    """Draw, and put the switch among the 3D view's overlays."""
    drawing.register()
    bpy.types.VIEW3D_PT_overlay.append(_draw_switch)


def unregister() -> None:
    """Take both away."""
    bpy.types.VIEW3D_PT_overlay.remove(_draw_switch)
    drawing.unregister()
