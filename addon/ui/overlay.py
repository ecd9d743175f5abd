"""The overlay: where the selected limb can reach, what it misses, and where its knee points, as lines in 3D views by
Blender's own shader. It fills nothing."""

from __future__ import annotations

import logging
from typing import Any

import bpy
import gpu
import numpy as np
from bpy.props import BoolProperty, PointerProperty
from bpy.types import Context, Depsgraph, PropertyGroup, Scene, SpaceView3D
from gpu_extras.batch import batch_for_shader

from ..blender.types import scene_of, view_layer_of
from ..tasks.status import Stroke, Viewpoint, figure
from . import finding, state
from .preferences import preference

log = logging.getLogger("planar_ik")

GPU: Any = gpu  # whose functions return nothing, say the stubs

Colour = tuple[float, float, float, float]

WIDTHS = {"pole": 1.5, "miss": 2.5, "reach": 2.0, "ghost": 2.0}
LINE_COLOURS = {
    "miss": (0.95, 0.25, 0.2, 1.0),  # as the panel's dot of a target that is missed
    "ghost": (1.0, 0.65, 0.1, 0.9),  # as that of a limb between FK and IK
    "reach": (0.9, 0.9, 0.9, 0.8),
    "pole": (0.45, 0.8, 1.0, 0.9),
}
"""One colour for one meaning, on light bones and dark ones: `OUTLINE` lies below."""

OUTLINE = (0.0, 0.0, 0.0, 0.45)
"""What the lines are drawn over, `MARGIN` wider on both sides."""

MARGIN = 1.25

_handles: list[Any] = []

_logged: set[str] = set()
"""The errors that were logged, each once."""


def faded(context: Context, colour: Colour) -> Colour:
    """A colour with the opacity of the preferences."""
    return (*colour[:3], colour[3] * preference(context, "overlay", 1.0))


def strokes_of(context: Context) -> list[Stroke]:
    """What is to be drawn now: the limb that is active, unless the animation plays or overlays are off."""
    space, screen = context.space_data, context.screen
    settings: Any = scene_of(context).planar_ik_overlay  # type: ignore[attr-defined]
    if not settings.shows_limbs or (screen and screen.is_animation_playing):
        return []
    if isinstance(space, SpaceView3D) and not space.overlay.show_overlays:
        return []
    limb = finding.active_limb(context) if context.mode in {"POSE", "OBJECT"} else None
    depsgraph: Depsgraph | None = view_layer_of(context).depsgraph
    if limb is None or depsgraph is None or (state.slider_of_rig(limb) and state.status_in(context, limb).is_fk):
        return []
    view: Any = context.region_data
    along = -np.array(view.view_matrix.inverted_safe().col[2][:3]) if view else None
    viewpoint = Viewpoint(along, _is_dragging(context), settings.shows_reach)
    return figure(limb, depsgraph, viewpoint, state.structure_known(limb))


def _is_dragging(context: Context) -> bool:
    """Whether somebody is moving something in the window."""
    operators: Any = context.window.modal_operators if context.window else ()
    return any(operator.bl_idname.startswith("TRANSFORM_OT") for operator in operators)


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
            batch = batch_for_shader(shader, "LINE_STRIP", {"pos": points.tolist()})
            for width, colour in ((WIDTHS[role] + 2.0 * MARGIN, OUTLINE), (WIDTHS[role], LINE_COLOURS[role])):
                shader.uniform_float("lineWidth", width * scale)
                shader.uniform_float("color", faded(context, colour))
                batch.draw(shader)
    finally:
        GPU.state.depth_test_set(depth)
        GPU.state.blend_set(blend)


class PlanarIKOverlay(PropertyGroup):
    """Planar IK: what of limbs a scene shows"""

    shows_limbs: BoolProperty(
        name="Limbs", description="Show limbs, their targets and how far these are out of reach", default=True
    )
    shows_reach: BoolProperty(name="Reach", description="Show all of how far the limb goes, stretched too")


SCENE: Any = Scene


def register() -> None:
    """Draw in all 3D views from now on, where there is a window, as scenes have it set."""
    SCENE.planar_ik_overlay = PointerProperty(type=PlanarIKOverlay)
    if not bpy.app.background:
        _handles.append(SpaceView3D.draw_handler_add(_draw, (), "WINDOW", "POST_VIEW"))


def unregister() -> None:
    """Draw no more."""
    while _handles:
        SpaceView3D.draw_handler_remove(_handles.pop(), "WINDOW")
    del SCENE.planar_ik_overlay


CLASSES = (PlanarIKOverlay,)
