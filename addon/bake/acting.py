"""What of an object's animation acts on it: its action's F-curves, and what may besides."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Object

from ..rig.animation import animated_paths, curves_of

GROUPS_ARE_HEEDED = bpy.app.version < (4, 4)
"""Whether a muted group silences its curves; with slots it does so only where there are NLA strips."""

Curves = dict[tuple[str, int], Any]
"""F-curves by data path and index."""


def acting_curves(ob: Object) -> Curves:
    """The F-curves of an object's action that act."""
    data = ob.animation_data
    curves = curves_of(data.action, getattr(data, "action_slot", None)) if data else ()
    return {(curve.data_path, curve.array_index): curve for curve in curves if acts(curve)}


def acts(curve: Any) -> bool:
    """Whether Blender evaluates an F-curve of an object without NLA strips."""
    is_muted = curve.mute or (GROUPS_ARE_HEEDED and curve.group and curve.group.mute)
    return not (is_muted or curve.is_empty) and curve.is_valid


def paths_besides_action(ob: Object) -> set[str]:
    """The data paths that drivers act on, and NLA strips may, whatever the object's own action does."""
    data = ob.animation_data
    if data is None:
        return set()
    return animated_paths(ob) if data.nla_tracks else {driver.data_path for driver in data.drivers}
