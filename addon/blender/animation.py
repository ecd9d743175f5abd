"""What animates an object or another datablock: F-curves of actions, and drivers, in all versions of Blender."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import FCurve

from .fcurves import read_keys
from .types import Datablock, all_actions, announce, announce_keys

_CUSTOM_PROPERTY = re.compile(r'(.*?)\["((?:[^"\\]|\\.)*)"\]$', re.DOTALL)

SAME = 1e-9
"""How far keys may be apart that say the same."""


def drivers_of(owner: Datablock) -> list[Any]:
    """All drivers of a datablock, as the F-curves that hold them."""
    data = getattr(owner, "animation_data", None)
    return [*data.drivers] if data else []


def driver_of(owner: Datablock, path: str, index: int = 0) -> Any:
    """The F-curve of the driver of one number of a property, or None."""
    data = getattr(owner, "animation_data", None)
    return data.drivers.find(path, index=index) if data else None


def strips_of(owner: Datablock, muted: bool = True) -> Iterator[Any]:
    """The strips of a datablock's NLA, with those that are in others, maybe without those that are muted."""
    data = getattr(owner, "animation_data", None)
    waiting = [strip for track in data.nla_tracks if muted or not track.mute for strip in track.strips] if data else []
    while waiting:
        strip = waiting.pop()
        yield strip
        waiting += getattr(strip, "strips", ())


def all_curve_lists(action: Any, slot_handle: int | None = None) -> Iterator[Any]:
    """The collections of an action's F-curves: for whatever they act on, or for one slot."""
    for layer in action.layers:
        for strip in layer.strips:
            yield from (bag.fcurves for bag in strip.channelbags if slot_handle in (None, bag.slot_handle))


def lists_of(user: Any) -> list[Any]:
    """The collections of F-curves that act on a user of an action: on animation data, or on an NLA strip."""
    if user is None or not user.action:
        return []
    return [*all_curve_lists(user.action, user.action_slot_handle)]


def curves_of(owner: Datablock) -> list[Any]:
    """The F-curves that act on a datablock by its action, and by its slot of that."""
    return [curve for curves in lists_of(getattr(owner, "animation_data", None)) for curve in curves]


def curves_everywhere(owner: Datablock, muted: bool = True) -> list[Any]:
    """The F-curves that act on a datablock by its action or by strips of the NLA; importers mute all but one."""
    lists = [curves for strip in strips_of(owner, muted) for curves in lists_of(strip)]
    return curves_of(owner) + [curve for curves in lists for curve in curves]


def animated_paths(owner: Datablock) -> set[str]:
    """The data paths of all F-curves and drivers that act on a datablock."""
    return {curve.data_path for curve in (*drivers_of(owner), *curves_everywhere(owner))}


def is_animated(owner: Datablock, path: str, strips: bool = True) -> bool:
    """Whether keys or a driver animate a property, so that the next frame overwrites what is set. Without
    ``strips``, keys in its own action only."""
    curves = curves_everywhere(owner) if strips else curves_of(owner)
    return any(curve.data_path == path for curve in (*drivers_of(owner), *curves))


def is_by_strips(owner: Datablock, path: str) -> bool:
    """Whether strips of the NLA alone animate a property."""
    return is_animated(owner, path) and not is_animated(owner, path, strips=False)


def modifiers_of(curve: FCurve) -> list[Any]:
    """The modifiers of an F-curve that act."""
    return [modifier for modifier in curve.modifiers if not modifier.mute and modifier.is_valid]


def changes(curve: FCurve) -> bool:
    """Whether the values of an F-curve change over time. Importers leave curves that are constant."""
    if modifiers_of(curve):
        return True
    if len(curve.sampled_points):
        return len({point.co.y for point in curve.sampled_points}) > 1
    if not len(curve.keyframe_points):
        return False
    first = curve.keyframe_points[0].co.y
    parts = ("co", "handle_left", "handle_right")
    return any((np.abs(read_keys(curve, part)[1] - first) > SAME).any() for part in parts)


class Clip(NamedTuple):
    """An action with one of its slots, which somebody may pick for a datablock."""

    action: Any
    slot_handle: int

    @property
    def curves(self) -> list[Any]:
        """Its F-curves."""
        return [curve for curves in all_curve_lists(*self) for curve in curves]


def clips_besides(owner: Datablock, prefixes: tuple[str, ...]) -> list[Clip]:
    """The actions, each with a slot, that animate an object of this kind and that nothing uses: an exporter finds
    them, or somebody picks them. Only those with paths that begin with one of the ``prefixes``."""
    data = getattr(owner, "animation_data", None)
    used = {(user.action, user.action_slot_handle) for user in (data, *strips_of(owner)) if user} if data else set()
    clips = [
        Clip(action, slot.handle)
        for action in all_actions()
        for slot in action.slots
        if (action, slot.handle) not in used and not slot.users()
    ]
    return [clip for clip in clips if any(curve.data_path.startswith(prefixes) for curve in clip.curves)]


@contextmanager
def using_clip(owner: Datablock, clip: Clip | None) -> Iterator[None]:
    """Within, a datablock uses this action by this slot, or its own (None)."""
    if clip is None:
        yield
        return
    action = clip.action
    announce(owner, action)
    data = owner.animation_data or owner.animation_data_create()
    before, slot, had_user = data.action, data.action_slot, action.use_fake_user
    action.use_fake_user = True  # while nothing else uses it
    data.action = action
    data.action_slot_handle = clip.slot_handle
    try:
        yield
    finally:
        data.action = before
        if slot is not None:
            data.action_slot = slot
        action.use_fake_user = had_user


def remove_if_empty(owner: Datablock) -> None:
    """Remove the animation data of a datablock if there is nothing in it."""
    data = owner.animation_data
    if data and not (data.drivers or data.action or data.nla_tracks):
        announce(owner)
        owner.animation_data_clear()


def curve_holder(owner: Datablock) -> Any:
    """The channelbag that holds the F-curves and groups of a datablock's own action, made if there is none. The
    datablock alone has it: see `make_own`."""
    announce_keys(owner)
    data = owner.animation_data or owner.animation_data_create()
    if data.action is None:
        data.action = bpy.data.actions.new(f"{owner.name} Action")
    make_own(owner, data)
    if data.action_slot is None:
        data.action_slot = data.action.slots.new(owner.id_type, owner.name)
    layer = data.action.layers[0] if data.action.layers else data.action.layers.new("Layer")
    strip = layer.strips[0] if layer.strips else layer.strips.new(type="KEYFRAME")
    return strip.channelbag(data.action_slot, ensure=True)


def new_curve(holder: Any, path: str, index: int = 0, group: str = "") -> Any:
    """A new F-curve, without keys, in a `curve_holder` that has none there; Blender gets slower with each."""
    if bpy.app.version >= (5, 0):
        return holder.fcurves.new(path, index=index, group_name=group)
    curve = holder.fcurves.new(path, index=index)
    if group:
        curve.group = holder.groups.get(group) or holder.groups.new(group)
    return curve


def has_others(user: Any, owner: Datablock) -> bool:
    """Whether the slot of an action that a ``user`` plays (animation data, or a strip) also animates datablocks other
    than its owner."""
    return user.action_slot is not None and any(other != owner for other in user.action_slot.users())


def make_editable(owner: Datablock) -> None:
    """Make the keys of a datablock editable: where its action is linked from another file, by a copy."""
    announce_keys(owner)
    data = owner.animation_data
    if data and data.action and not data.action.is_editable:
        use_copy(data)


def make_own(owner: Datablock, user: Any, copies: dict[Any, Any] | None = None) -> None:
    """Copy a user's action if it is linked or also animates other datablocks by the same curves. The user is
    animation data or an NLA strip; ``copies`` are those made before, to be used again."""
    action = user.action
    if action.is_editable and not action.override_library and not has_others(user, owner):
        return
    copies = {} if copies is None else copies
    use_copy(user, copies.get(action))
    copies[action] = user.action


def use_copy(user: Any, copy: Any = None) -> None:
    """Give a user of an action (animation data, or an NLA strip) a copy of it, maybe one that was made before."""
    announce(user.id_data)
    identifier = user.action_slot.identifier if user.action_slot else ""
    user.action = copy or user.action.copy()
    if user.action.override_library:
        user.action.make_local()
    if identifier:
        user.action_slot = user.action.slots[identifier]


def _editable_lists(owner: Datablock, paths: Collection[str]) -> Iterator[Any]:
    """Give a datablock and its strips copies of linked or shared actions that have these paths; then all collections of
    F-curves of these actions, announced."""
    copies: dict[Any, Any] = {}
    for user in (*filter(None, [getattr(owner, "animation_data", None)]), *strips_of(owner)):
        if any(curve.data_path in paths for curves in lists_of(user) for curve in curves):
            make_own(owner, user, copies)
            announce(owner, user.action)
            yield from lists_of(user)


def remove_animation(owner: Datablock, paths: Collection[str]) -> None:
    """Remove the drivers and F-curves of these properties of a datablock; those of other datablocks stay."""
    for curves in _editable_lists(owner, paths):
        for curve in [curve for curve in curves if curve.data_path in paths]:
            curves.remove(curve)
    for driver in drivers_of(owner):
        if driver.data_path in paths:
            announce(owner)
            owner.animation_data.drivers.remove(driver)


def move_curves(owner: Datablock, old: str, new: str) -> None:
    """Move the F-curves and drivers of one property of a datablock to another one, in place of what that has."""
    for curves in _editable_lists(owner, [old]):
        for curve in [curve for curve in curves if curve.data_path == old]:
            if there := curves.find(new, index=curve.array_index):
                curves.remove(there)
            curve.data_path = new
            curve.is_valid = True  # which an editor may have found that it is not where it was
    for driver in drivers_of(owner):
        if driver.data_path == old:
            announce(owner)
            if there := driver_of(owner, new, driver.array_index):
                owner.animation_data.drivers.remove(there)
            driver.data_path = new


def value_at(owner: Datablock, path: str) -> Any:
    """What the property at a data path holds, the numbers of a vector or rotation as a tuple; None if there is none."""
    try:
        holder, name, is_custom = property_at(owner, path)
        value = holder[name] if is_custom else getattr(holder, name)
    except (AttributeError, KeyError, ValueError):
        return None
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def set_at(owner: Datablock, path: str, value: Any) -> None:
    """Set the property at a data path."""
    holder, name, is_custom = property_at(owner, path)
    if is_custom:
        holder[name] = value
    else:
        setattr(holder, name, value)


def property_at(owner: Datablock, path: str) -> tuple[Any, str, bool]:
    """The owner of the property at a data path, the property's name, and whether it is a custom property. Of an
    enum, `path_resolve` gives another value than it holds."""
    custom = _CUSTOM_PROPERTY.match(path)
    place, name = (custom[1], bpy.utils.unescape_identifier(custom[2])) if custom else path.rpartition(".")[::2]
    return (owner.path_resolve(place) if place else owner), name, custom is not None
