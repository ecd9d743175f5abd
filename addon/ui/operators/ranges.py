"""Ranges of frames that operators ask for."""

from __future__ import annotations

from typing import Any

from bpy.types import Context

from ...rig.data.access import scene_of
from ...rig.words import iface_


def start_from_scene(operator: Any, context: Context) -> None:
    """Let a range be the scene's where it was not given, for a dialog to start from."""
    scene = scene_of(context)
    for name, frame in (("frame_start", scene.frame_start), ("frame_end", scene.frame_end)):
        if not operator.properties.is_property_set(name):
            setattr(operator, name, frame)


def draw_range(layout: Any, operator: Any) -> None:
    """Draw the first and the last frame of an operator's range."""
    column = layout.column(align=True)
    for name in ("frame_start", "frame_end"):
        column.prop(operator, name)


def over_range(operator: str) -> str:
    """What an operator of this label is called where it asks for a range of frames, in the interface's language."""
    return iface_("{operator} over a Range").format(operator=iface_(operator, "Operator"))
