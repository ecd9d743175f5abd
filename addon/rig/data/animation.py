"""Which properties of an object are animated, in whichever way this Blender stores it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import Any

import bpy
from bpy.types import Object

from .access import split_path

_CUSTOM_PROPERTY = re.compile(r'(.*?)\["((?:[^"\\]|\\.)*)"\]$', re.DOTALL)


def animated_paths(ob: Object) -> set[str]:
    """The data paths of all F-curves and drivers that act on an object."""
    return {curve.data_path for curve in (*drivers_of(ob), *curves_everywhere(ob))}


def changing_paths(ob: Object, among: Collection[str]) -> set[str]:
    """Those among these data paths at which something gives a property different values over time: importers leave
    curves that do not."""
    if not among:
        return set()
    found = {curve.data_path for curve in drivers_of(ob)}.intersection(among)
    return found | {curve.data_path for curve in curves_everywhere(ob) if curve.data_path in among and changes(curve)}


def changes(curve: Any) -> bool:
    """Whether an F-curve has different values over time."""
    return len({key.co.y for key in curve.keyframe_points}) > 1 or is_shaped(curve)


def is_shaped(curve: Any) -> bool:
    """Whether an F-curve has other values than its keys tell."""
    return len(curve.modifiers) > 0 or len(curve.sampled_points) > 0


def datablocks() -> Iterator[Any]:
    """All datablocks of the file that is open."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            yield from getattr(bpy.data, prop.identifier)


def with_drivers(owner: Any) -> Iterator[Any]:
    """An ID, and the node tree that is part of it and not listed anywhere else, if they may have drivers."""
    for each in (owner, getattr(owner, "node_tree", None)):
        if getattr(each, "animation_data", None):
            yield each


def read_by_drivers(owner: Any) -> Iterator[Any]:
    """The targets of the variables of all drivers of something."""
    for curve in drivers_of(owner):
        for variable in curve.driver.variables if curve.driver else ():
            yield from variable.targets


def curves_everywhere(ob: Object) -> Iterator[Any]:
    """The F-curves that act on an object, by its action or by strips of the NLA."""
    yield from curves_of(ob.animation_data)
    for strip in strips_of(ob):
        yield from _strip_curves(strip)


def curves_on(ob: Object, path: str) -> list[Any]:
    """The F-curves that act on one property of an object."""
    return [curve for curve in curves_everywhere(ob) if curve.data_path == path]


def value_at(ob: Any, path: str) -> Any:
    """What the property of an object at a data path holds, the numbers of a vector or rotation as a tuple; None if
    there is no such property."""
    try:
        holder, name, is_custom = _property_at(ob, path)
        value = holder[name] if is_custom else getattr(holder, name)
    except (AttributeError, KeyError, ValueError):
        return None
    return tuple(value) if hasattr(value, "__len__") and not isinstance(value, str) else value


def set_at(ob: Any, path: str, value: Any) -> None:
    """Set the property of an object at a data path."""
    holder, name, is_custom = _property_at(ob, path)
    if is_custom:
        holder[name] = value
    else:
        setattr(holder, name, value)


def _property_at(ob: Any, path: str) -> tuple[Any, str, bool]:
    """What has the property at a data path, the property's name, and whether it is a custom one: of one that is a
    choice, `path_resolve` gives another value than it holds."""
    custom = _CUSTOM_PROPERTY.match(path)
    owner, name = (custom[1], bpy.utils.unescape_identifier(custom[2])) if custom else path.rpartition(".")[::2]
    return (ob.path_resolve(owner) if owner else ob), name, custom is not None


def drivers_of(owner: Any) -> list[Any]:
    """All drivers of an object or of something else, if it can have any, as the F-curves that hold them."""
    data = getattr(owner, "animation_data", None)
    return [*data.drivers] if data else []


def bone_of_driver(curve: Any) -> str:
    """The name of the bone that a driver drives something of; empty if that is none."""
    return split_path(curve.data_path)[0]


def drivers_by_bone(owner: Any) -> dict[str, list[Any]]:
    """The drivers of an object or an armature by the bones that they drive something of."""
    found: dict[str, list[Any]] = {}
    for curve in drivers_of(owner):
        found.setdefault(bone_of_driver(curve), []).append(curve)
    return found


def drivers_on(ob: Object, path: str) -> list[Any]:
    """The drivers that set one property of an object, or its numbers."""
    return [curve for curve in drivers_of(ob) if curve.data_path == path]


def stop(ob: Object, paths: Collection[str]) -> None:
    """Remove what animates properties of an object for good: its drivers, and the F-curves of its action, unless that
    is linked or others have it too."""
    data: Any = ob.animation_data
    if data is None:
        return
    if data.action and data.action.users == 1 and data.action.is_editable:
        for curves in lists_of(data):
            for curve in [curve for curve in curves if curve.data_path in paths]:
                curves.remove(curve)
    for driver in [driver for driver in data.drivers if driver.data_path in paths]:
        data.drivers.remove(driver)


def clear_if_empty(ob: Object) -> None:
    """Take away an object's animation data if there is nothing in it any more."""
    data = ob.animation_data
    if data and not (data.action or data.nla_tracks or data.drivers):
        ob.animation_data_clear()


def outcomes_of(driver: Any) -> set[float]:
    """The numbers of which an expression gives one or another, whatever it reads; none if it may give any."""
    try:
        waiting = [ast.parse(driver.expression.strip(), mode="eval").body] if driver.type == "SCRIPTED" else []
    except SyntaxError:
        return set()
    found: set[float] = set()
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.IfExp):
            waiting += [part.body, part.orelse]
        elif isinstance(part, ast.Constant) and isinstance(part.value, int | float):
            found.add(float(part.value))
        else:
            return set()
    return found


def strips_of(ob: Object) -> list[Any]:
    """The strips of an object's NLA, without those that are in others."""
    data = ob.animation_data
    return [strip for track in data.nla_tracks for strip in track.strips] if data else []


def has_action(ob: Object, actions: set[Any]) -> bool:
    """Whether one of these actions may act on an object."""
    data = ob.animation_data
    return data is not None and (data.action in actions or len(data.nla_tracks) > 0)


def curves_of(user: Any) -> Iterator[Any]:
    """The F-curves that act on a user of an action, animation data or a strip of the NLA, if it has one: those for its
    slot; before slotted actions (4.4), all of them."""
    for curves in lists_of(user):
        yield from curves


def lists_of(user: Any) -> Iterator[Any]:
    """The collections that these are in."""
    if user and user.action:
        yield from curve_lists_of(user.action, slot_handle_of(user))


def slot_handle_of(user: Any) -> int | None:
    """The handle of the slot that a user of an action has, 0 for none; None before slotted actions (4.4)."""
    handle: int | None = getattr(user, "action_slot_handle", None)
    return handle


def curve_lists_of(action: Any, slot_handle: int | None = None) -> Iterator[Any]:
    """The collections of an action's F-curves: for whatever they act on, or for one slot."""
    if not hasattr(action, "layers"):
        yield action.fcurves
        return
    for layer in action.layers:
        for strip in layer.strips:
            yield from (bag.fcurves for bag in strip.channelbags if slot_handle in (None, bag.slot_handle))


def strip_paths(strip: Any) -> set[str]:
    """The data paths that an NLA strip acts on."""
    return {curve.data_path for curve in _strip_curves(strip)}


def _strip_curves(strip: Any) -> Iterator[Any]:
    yield from strip.fcurves
    yield from curves_of(strip)
    for inner in getattr(strip, "strips", ()):
        yield from _strip_curves(inner)
