"""The action that an object's keys go to."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Object

from ..rig.data.carrying import has_others, use
from ..rig.kinds import Refused


def check_writable(objects: list[Object], into_new: bool) -> None:
    """Raise `Refused` if keys can't be written for these objects, or would not act as they are written."""
    for ob in objects:
        if not ob.is_editable:
            raise Refused(f"'{ob.name}' is linked from another file: make a library override of it first")
        data = ob.animation_data
        if data is None:
            continue
        _check_strips(ob, data)
        # An override of an action takes no keys either: Blender drops them without a word.
        if data.action and not into_new and (not data.action.is_editable or data.action.override_library):
            raise Refused(f"Action '{data.action.name}' is linked from another file: bake into a new action")


def _check_strips(ob: Object, data: Any) -> None:
    """Raise `Refused` if the object's NLA strips keep its action from acting alone on what it animates."""
    if data.use_tweak_mode:
        raise Refused(f"'{ob.name}' is in tweak mode: leave it in the NLA editor first")
    if not data.use_nla:
        return
    if any(track.is_solo for track in data.nla_tracks):
        raise Refused(f"An NLA track of '{ob.name}' plays solo, and its action not at all: end the solo first")
    if data.nla_tracks and (data.action_influence < 1.0 or data.action_blend_type != "REPLACE"):
        raise Refused(f"The action of '{ob.name}' is mixed into its NLA strips: set it to Replace, influence 1")


def action_of(ob: Object, into_new: bool) -> tuple[Any, Any]:
    """The action to write to, assigned to the object, and its slot (4.4 and later).

    A new action is a copy of the current one, so that what else it animates goes on as before. One that animates others
    by the same channels is copied too, or they would be given the keys.
    """
    data: Any = ob.animation_data or ob.animation_data_create()  # with slots from 4.4 on
    action = data.action
    if action is None:
        data.action = bpy.data.actions.new(f"{ob.name} Baked")
    elif into_new or has_others(data, {ob}):
        copy = action.copy()
        if copy.override_library:
            copy.make_local()
        copy.name = f"{action.name} Baked"
        use(data, copy)
        if not action.users and action.is_editable:
            action.use_fake_user = True  # or it would be gone when the file is opened again
    if not hasattr(data, "action_slot"):
        return data.action, None
    if data.action_slot is None:
        data.action_slot = data.action.slots.new("OBJECT", ob.name)  # the others' channels would act on it
    return data.action, data.action_slot


def layer_of(action: Any, slot: Any) -> Any:
    """What holds the F-curves: the slot's channelbag; before slotted actions (4.4), the action."""
    if slot is None:
        return action
    layer = action.layers[0] if action.layers else action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(slot, ensure=True)
