"""The overlay in the 3D view: one batch of areas and one of lines in each region, whatever the number of limbs."""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, NamedTuple

import bpy
import gpu as blender_gpu
from bpy.app.handlers import persistent
from bpy.types import SpaceView3D

from ...rig.access import scene_of, scene_settings
from . import colours, figure, gathering

gpu: Any = blender_gpu  # whose stubs are wrong about most of what is used here
log = logging.getLogger("planar_ik")

FEW, FINE, COARSE = 8, 64, 32
"""Limbs up to which circles are fine, and of how many segments they are made then and else."""

WIDTH = 1.6
"""Of lines, in pixels of a display that is not scaled."""


class Kept(NamedTuple):
    """What was made of the limbs at the last change of the scene, for all regions that show it."""

    scene: tuple[int, str]
    areas: Any
    lines: Any


_handle: Any = None
_kept: Kept | None = None


def draw() -> None:
    """Draw the limbs that are shown into the region that is being drawn."""
    context: Any = bpy.context
    if not scene_settings(scene_of(context)).show_overlay:
        forget()
    elif context.space_data.overlay.show_overlays:
        _draw(_up_to_date(context), WIDTH * context.preferences.system.ui_scale)


def forget() -> None:
    """The scene has changed, or nothing is to be drawn."""
    global _kept  # noqa: PLW0603 - one for all regions
    _kept = None


def _up_to_date(context: Any) -> Kept:
    global _kept  # noqa: PLW0603
    scene = (context.scene.session_uid, context.view_layer.name)
    if _kept is None or _kept.scene != scene:
        _kept = Kept(scene, *_batches(context))
    return _kept


def _batches(context: Any) -> tuple[Any, Any]:
    try:
        limbs = gathering.limbs_shown(context)
    except (KeyError, ReferenceError) as gone:  # renamed or deleted, of which live has not heard yet
        log.debug("Nothing drawn: %r", gone)
        limbs = None
    if limbs is None:
        return None, None
    segments = FINE if len(limbs.root) <= FEW else COARSE
    theme = context.preferences.themes[0]
    areas, lines = figure.areas(limbs, segments), figure.lines(limbs, segments)
    return _batch(areas, colours.of_areas(theme, len(limbs.root)), "TRIS"), _batch(
        lines, colours.of_lines(theme), "LINES"
    )


def _batch(drawing: figure.Drawing, palette: Any, kind: str) -> Any:
    room = gpu.types.GPUVertBuf(_format(), len(drawing.vertices))
    room.attr_fill("pos", drawing.vertices)
    room.attr_fill("color", palette[drawing.roles])
    return gpu.types.GPUBatch(type=kind, buf=room, elem=gpu.types.GPUIndexBuf(type=kind, seq=drawing.indices))


def _draw(kept: Kept, width: float) -> None:
    if kept.areas is None:
        return
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    try:
        kept.areas.draw(_shader("SMOOTH_COLOR"))
        shader = _shader("POLYLINE_SMOOTH_COLOR")
        shader.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        shader.uniform_float("lineWidth", width)
        kept.lines.draw(shader)
    finally:
        gpu.state.blend_set("NONE")


@cache
def _shader(name: str) -> Any:
    return gpu.shader.from_builtin(name)


@cache
def _format() -> Any:
    made = gpu.types.GPUVertFormat()
    made.attr_add(id="pos", comp_type="F32", len=3, fetch_mode="FLOAT")
    made.attr_add(id="color", comp_type="F32", len=4, fetch_mode="FLOAT")
    return made


EVENTS = ("depsgraph_update_post", "frame_change_post", "undo_post", "redo_post", "load_post")


@persistent
def _on_event(*_event: Any) -> None:
    forget()


def register() -> None:
    """Draw into every 3D view from now on."""
    global _handle  # noqa: PLW0603 - Blender's handle is all there is to keep
    for event in EVENTS:
        getattr(bpy.app.handlers, event).append(_on_event)
    _handle = SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    """Draw no more, and let go of everything."""
    SpaceView3D.draw_handler_remove(_handle, "WINDOW")
    for event in EVENTS:
        getattr(bpy.app.handlers, event).remove(_on_event)
    forget()
    _shader.cache_clear()
    _format.cache_clear()
