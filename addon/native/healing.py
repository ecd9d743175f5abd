"""Channels of mechanisms that somebody else set, set back.

Blender's glTF and FBX exporters, and scripts that reset poses, set those of all bones; the axes by which the solution
turns are among them.
"""

from __future__ import annotations

import bpy
import numpy as np

from ..rig.access import ArmatureObject, is_armature, runs_on_rig
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


def forget() -> None:
    """Let go of what was looked at, as when another file is opened."""
    _axes.clear()
