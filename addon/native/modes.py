"""The rotation modes of mechanisms' bones, put right at once where a script has set those of all bones of a rig: such a
bone turns by channels that are driven, which another mode does not read."""

from __future__ import annotations

from array import array
from typing import Any

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Scene

from ..rig.data.access import ArmatureObject, is_armature, is_part
from ..rig.data.animation import drivers_by_bone
from ..rig.data.rotation import rotation_channel
from .mechanism.found import Found, lowers_in
from .mechanism.references import role_of

UNTURNED = {"QUATERNION": (1.0, 0.0, 0.0, 0.0), "AXIS_ANGLE": (0.0, 0.0, 1.0, 0.0)}
"""What bones have in their channels that are not turned, if these are no Euler angles: a new mode takes over the turn
that there was, also into channels that are not driven."""

_seen: dict[int, array[int]] = {}
"""The modes of all bones of objects, by their session_uid, as they were after the last edit."""


def _restore_modes(host: ArmatureObject) -> None:
    """Give the bones of the mechanisms in an armature the rotation modes that these were made with."""
    if not any(is_part(host, bone.name) for bone in host.data.bones):
        return
    drivers = drivers_by_bone(host)
    for lower in lowers_in(host):
        found = Found(lower, drivers)
        held = ((found.purpose or {}).get("made") or {}).get("channels", {})
        for name in found.bones:
            bone, (mode, *_) = host.pose.bones[name], held.get(role_of(host, name), [""])
            if mode not in ("", bone.rotation_mode):
                bone.rotation_mode = mode
                setattr(bone, rotation_channel(mode), UNTURNED.get(mode, (0.0, 0.0, 0.0)))


@persistent
def _on_edit(_scene: Scene, depsgraph: Depsgraph) -> None:
    """Something was edited, maybe the modes of bones."""
    for update in depsgraph.updates:
        ob: Any = update.id.original if update.id and update.is_updated_geometry else None
        if isinstance(ob, bpy.types.Object) and is_armature(ob) and not ob.library:
            modes = array("i", bytes(4 * len(ob.pose.bones)))
            ob.pose.bones.foreach_get("rotation_mode", modes)
            if _seen.get(ob.session_uid) != modes:
                _restore_modes(ob)
                ob.pose.bones.foreach_get("rotation_mode", modes)
                _seen[ob.session_uid] = modes


@persistent
def forget(*_args: Any) -> None:
    """Another file was opened, or nobody listens any more."""
    _seen.clear()


HANDLERS = (("depsgraph_update_post", _on_edit), ("load_post", forget))
