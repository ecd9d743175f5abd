"""The overlay in the 3D view: one batch in each region, whatever the number of limbs."""

from __future__ import annotations

import logging
from typing import Any, NamedTuple

import bpy
from bpy.app.handlers import persistent
from bpy.types import SpaceView3D

from ...live.plan import plan
from ...rig.chain_settings import on_change
from ...rig.data.access import scene_of, scene_settings
from ...rig.data.dependencies import is_structural
from ...rig.data.listening import listen, listen_no_more
from . import colours, figure, gathering, shader

log = logging.getLogger("planar_ik")

FEW, FINE, COARSE = 8, 64, 32
"""Limbs up to which circles are fine, and of how many segments they are made then and else."""

OF_EDITS = ("ARMATURE", "SCENE")
"""What Blender says was updated where somebody selected, posed or set something, and not where a rig only follows what
moved."""

WIDTH = 1.6
"""Of lines, in pixels of a display that is not scaled."""


class Kept(NamedTuple):
    """What was made of the limbs at the last change of the scene, for all regions that show it; without a batch there
    is nothing to draw."""

    scene: tuple[int, str]
    batch: Any
    rows: Any


_handle: Any = None
_kept: Kept | None = None
_batch: tuple[Any, Any, Any] = (None, None, None)
"""The triangles that were drawn last, the `figure.Pattern` that they are of, and after how many edits of what that and
the theme were asked for."""


def draw() -> None:
    """Draw the limbs that are shown into the region that is being drawn."""
    context: Any = bpy.context
    if not scene_settings(scene_of(context)).show_overlay:
        forget()
    elif context.space_data.overlay.show_overlays:
        _draw(_up_to_date(context), WIDTH * context.preferences.system.ui_scale)


def forget() -> None:
    """Nothing is to be drawn, or what is known of the file is not true any more: keep nothing."""
    global _batch  # noqa: PLW0603 - one for all regions
    _forget_places()
    if _batch[0] is not None:
        _batch = (None, None, None)
        figure.pattern.cache_clear()
    gathering.forget()


def _forget_places() -> None:
    """The scene has changed."""
    global _kept  # noqa: PLW0603 - one for all regions
    _kept = None


def _up_to_date(context: Any) -> Kept:
    global _kept  # noqa: PLW0603
    scene = (context.scene.session_uid, context.view_layer.name)
    if _kept is None or _kept.scene != scene:
        _kept = Kept(scene, *_make(context))
    return _kept


def _make(context: Any) -> tuple[Any, Any]:
    """The batch and the table of limbs as they stand."""
    try:
        cast, _ = gathering.limbs_drawn(context)
    except (KeyError, IndexError, ReferenceError) as gone:  # renamed or deleted, of which live has not heard yet
        log.debug("Nothing drawn: %r", gone)
        gathering.forget()
        cast = None
    if cast is None:
        return None, None
    return _batch_of(cast, context), shader.texture(cast.rows)


def _batch_of(cast: gathering.Cast, context: Any) -> Any:
    """The triangles, and in their table the colours; looked at again after edits."""
    global _batch  # noqa: PLW0603
    made, known, of = _batch
    if of != (cast, gathering.sights.edits):
        shown = len(cast.shown)
        pattern = figure.pattern(shown, cast.tinted, cast.roles, FINE if shown <= FEW else COARSE)
        palette = colours.palette(context.preferences.themes[0], max(shown, 1))
        cast.rows[: figure.FIRST, : len(figure.Role)] = palette
        made = made if known is pattern else shader.batch(pattern)
        _batch = (made, pattern, (cast, gathering.sights.edits))
    return made


def _draw(kept: Kept, width: float) -> None:
    if kept.batch is None:
        return
    gpu, made = shader.gpu, shader.shader()
    gpu.state.blend_set("ALPHA")
    gpu.state.depth_test_set("NONE")
    try:
        made.bind()
        made.uniform_float("toWindow", gpu.matrix.get_projection_matrix() @ gpu.matrix.get_model_view_matrix())
        made.uniform_float("viewportSize", gpu.state.viewport_get()[2:])
        made.uniform_float("lineWidth", width)
        made.uniform_sampler("limbRows", kept.rows)
        kept.batch.draw(made)
    finally:
        gpu.state.blend_set("NONE")


@persistent
def _on_update(_scene: Any, depsgraph: Any) -> None:
    """After the scene changed; what was found in it is true no more if its structure did."""
    _forget_places()
    if plan.is_busy:  # live has its solutions evaluated, which is nobody's edit
        return
    if is_structural(depsgraph):
        gathering.forget()
    elif any(map(depsgraph.id_type_updated, OF_EDITS)):
        gathering.sights.is_edited = True


@persistent
def _on_frame(*_event: Any) -> None:
    """After the frame changed, in which anything may be set otherwise."""
    _forget_places()
    gathering.sights.is_edited = True


@persistent
def _on_other_file(*_event: Any) -> None:
    """After undo, redo or load, when all that was found is gone."""
    forget()


def _on_setting(_settings: Any, _is_aim: bool) -> None:
    gathering.forget()


HANDLERS = (
    ("frame_change_post", _on_frame),
    ("undo_post", _on_other_file),
    ("redo_post", _on_other_file),
    ("load_post", _on_other_file),
)


def register() -> None:
    """Draw into every 3D view from now on."""
    global _handle  # noqa: PLW0603 - Blender's handle is all there is to keep
    listen(HANDLERS)
    # Before live, as Blender forgets what was edited when live has its solutions evaluated.
    bpy.app.handlers.depsgraph_update_post.insert(0, _on_update)
    on_change.append(_on_setting)
    _handle = SpaceView3D.draw_handler_add(draw, (), "WINDOW", "POST_VIEW")


def unregister() -> None:
    """Draw no more, and let go of everything."""
    SpaceView3D.draw_handler_remove(_handle, "WINDOW")
    on_change.remove(_on_setting)
    listen_no_more((("depsgraph_update_post", _on_update), *HANDLERS))
    forget()
    shader.forget()
