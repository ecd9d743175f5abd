"""Drawing the overlay's lines in 3D views, by Blender's own shader for lines."""

from __future__ import annotations

import logging
from typing import Any

import bpy
import gpu
from bpy.types import Context, Depsgraph, SpaceView3D
from gpu_extras.batch import batch_for_shader

from ...blender.types import scene_of, view_layer_of
from ..finding import limb_meant
from ..preferences import preference
from .figure import Stroke, figure

log = logging.getLogger("planar_ik")

GPU: Any = gpu  # whose functions return nothing, say the stubs

WIDTHS = {"pole": 1.0, "miss": 2.0, "reach": 1.5, "ghost": 1.5}
OPACITY = {"pole": 0.6, "miss": 0.9, "reach": 0.7, "ghost": 0.4}

_handles: list[Any] = []

_logged: set[str] = set()
"""The errors that were logged, each once."""


def colour_of(context: Context, role: str) -> tuple[float, float, float, float]:
    """The colour of a role, from the theme: red for what is missed, else that of posed bones."""
    theme: Any = context.preferences.themes[0].view_3d  # type: ignore[union-attr]
    rgb = (1.0, 0.25, 0.2) if role == "miss" else tuple(theme.bone_pose)[:3]
    return (rgb[0], rgb[1], rgb[2], OPACITY[role] * preference(context, "overlay", 1.0))


def strokes_of(context: Context) -> list[Stroke]:
    """What is to be drawn now: the limb that is active, unless the animation plays or overlays are off."""
    space, screen = context.space_data, context.screen
    settings: Any = scene_of(context).planar_ik  # type: ignore[attr-defined]
    if not settings.show_overlay or (screen and screen.is_animation_playing):
        return []
    if isinstance(space, SpaceView3D) and not space.overlay.show_overlays:
        return []
    last = limb_meant(context) if context.mode in {"POSE", "OBJECT"} else None
    depsgraph: Depsgraph | None = view_layer_of(context).depsgraph
    return figure(last, depsgraph, settings.show_reach) if last and depsgraph else []


def _draw() -> None:
    context = bpy.context
    try:
        strokes = strokes_of(context)
    except Exception as error:  # in a drawing handler it would be shown at every redraw
        if repr(error) not in _logged:
            _logged.add(repr(error))
            log.exception("The overlay can't be drawn")
        return
    if strokes:
        _draw_strokes(context, strokes)


def _draw_strokes(context: Context, strokes: list[Stroke]) -> None:
    shader = GPU.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    shader.bind()
    region: Any = context.region
    shader.uniform_float("viewportSize", (region.width, region.height))
    scale = context.preferences.system.ui_scale  # type: ignore[union-attr]
    depth, blend = GPU.state.depth_test_get(), GPU.state.blend_get()
    GPU.state.depth_test_set("NONE")
    GPU.state.blend_set("ALPHA")
    try:
        for role, points in strokes:
            shader.uniform_float("lineWidth", WIDTHS[role] * scale)
            shader.uniform_float("color", colour_of(context, role))
            batch_for_shader(shader, "LINE_STRIP", {"pos": points.tolist()}).draw(shader)
    finally:
        GPU.state.depth_test_set(depth)
        GPU.state.blend_set(blend)


def register() -> None:
    """Draw in all 3D views from now on, where there is a window."""
    if not bpy.app.background:
        _handles.append(SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    """Draw no more."""
    while _handles:
        SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
