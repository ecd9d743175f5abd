"""Channels of mechanisms that somebody else set, set back.

Blender's glTF and FBX exporters, and scripts that reset poses, set those of all bones; the axes by which the solution
turns are among them.
"""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene

from ..rig.access import ArmatureObject, is_armature, runs_on_rig
from ..rig.dependencies import is_structural
from .found import Found, host_of
from .quietly import is_quiet

_axes: dict[int, bytes] = {}
"""The axes of all bones of an armature when they were last looked at, by the object's session_uid."""


def heal() -> None:
    """Set back what mechanisms hold, of the armatures of which the axis of any bone changed since the last look."""
    for ob in filter(is_armature, bpy.data.objects):
        axes = _axes_of(ob)
        if _axes.get(ob.session_uid, axes) != axes and not (is_quiet() or ob.library):
            _heal(ob)
            axes = _axes_of(ob)
        _axes[ob.session_uid] = axes


def _axes_of(ob: ArmatureObject) -> bytes:
    found = np.empty((len(ob.pose.bones), 4), np.float32)
    ob.pose.bones.foreach_get("rotation_axis_angle", found.ravel())
    return found[:, 1:].tobytes()


def _heal(ob: ArmatureObject) -> None:
    for lower in ob.pose.bones:
        if runs_on_rig(lower) and host_of(lower) == ob and Found(lower).put_back():
            ob.update_tag(refresh={"DATA"})


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, or a frame shown: looked at is what may be an exporter's work, who sets other actions."""
    if is_structural(depsgraph):
        heal()


@persistent
def _on_load(*_args: Any) -> None:
    _axes.clear()
    heal()  # which has nothing to compare yet


HANDLERS = ("depsgraph_update_post", "frame_change_post")


def register() -> None:
    """Listen."""
    handlers: Any = bpy.app.handlers
    handlers.load_post.append(_on_load)
    for name in HANDLERS:
        getattr(handlers, name).append(_on_edit)


def unregister() -> None:
    """Stop listening."""
    handlers: Any = bpy.app.handlers
    handlers.load_post.remove(_on_load)
    for name in HANDLERS:
        getattr(handlers, name).remove(_on_edit)
