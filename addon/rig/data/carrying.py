"""Moving the animation of one property to another: its F-curves and drivers, and drivers that read it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import bpy
from bpy.types import Object

from . import fcurves
from .animation import curves_of, drivers_of, drivers_on, lists_of, read_by_drivers, strips_of, with_drivers
from .unkeyed import frame_held

Property = tuple[Object, str]
"""A property of an object, by its data path."""


def carry(ob: Object, old: str, new: str, together: Collection[Object] = ()) -> None:
    """Move F-curves and drivers of one property of an object to another one of its properties, which may have some.

    An action that is linked, or that animates other objects by the same curves, is copied for the object first. Objects
    in ``together`` do not count as others: the same is done for them.
    """
    _make_own(ob, old, together)
    for user in _users_of_actions(ob):
        for curves in lists_of(user):
            for curve in [curve for curve in curves if curve.data_path == old]:
                fcurves.send(curves, curve, new)
    _carry_drivers(ob, old, ob, new)


def carry_across(source: Object, old: str, to: Object, new: str) -> None:
    """Move F-curves and drivers to a property of another object. NLA strips stay, and so do the curves of actions that
    are linked or that others share: they do no harm where nothing reads the old property."""
    data: Any = source.animation_data
    for curve in [curve for curve in curves_of(data) if curve.data_path == old]:
        _copy_curve(curve, _new_curve(to, new))
    if data and data.action and data.action.is_editable and not has_others(data, {source}):
        for curves in lists_of(data):
            for curve in [curve for curve in curves if curve.data_path == old]:
                curves.remove(curve)
    _carry_drivers(source, old, to, new)


def redirect(moved: Mapping[Property, Property]) -> None:
    """Let drivers that read properties of objects read others in their place, whosever drivers they are; linked ones
    are left."""
    readers = _with_drivers_of({ob for ob, _ in moved})
    targets = [target for owner in readers for target in read_by_drivers(owner)]
    found = [(target, moved[read]) for target in targets if (read := (target.id, target.data_path)) in moved]
    if found:
        with frame_held():
            for target, to in found:
                target.id, target.data_path = to


def revive(objects: Iterable[Object]) -> None:
    """Have Blender evaluate drivers again that failed while properties of these objects were missing; it never tries a
    driver again that has failed."""
    drivers = [curve.driver for owner in _with_drivers_of(set(objects)) for curve in drivers_of(owner)]
    if failed := [driver for driver in drivers if driver and not driver.is_valid]:
        with frame_held():
            for driver in failed:
                driver.type = driver.type  # to set it is enough


def _with_drivers_of(objects: set[Object]) -> Iterator[Any]:
    """Everything editable whose drivers may read or drive properties of these objects."""
    users: Any = bpy.data.user_map(subset=objects).values()  # type: ignore[call-arg]  # the others are optional
    for user in objects.union(*users):
        if user.is_editable:
            yield from with_drivers(user)


def _make_own(ob: Object, path: str, together: Collection[Object]) -> None:
    """Give an object copies of the `shared_users`' actions."""
    copies: dict[Any, Any] = {}
    for user in shared_users(ob, path, together):
        action = user.action
        if action not in copies:
            copies[action] = action.copy()
        use(user, copies[action])


def use(user: Any, copy: Any) -> None:
    """Let what has an action have a copy of that in its place, with the same slot."""
    slot = getattr(user, "action_slot", None)
    identifier = slot.identifier if slot else ""
    user.action = copy
    if identifier:
        user.action_slot = copy.slots[identifier]


def shared_users(ob: Object, path: str, together: Collection[Object]) -> list[Any]:
    """The users of actions (animation data and NLA strips) of an object whose action animates this property, and is
    linked or animates other objects than this one and those of ``together`` by the same curves."""
    found = []
    for user in _users_of_actions(ob):
        is_own = user.action.is_editable and not has_others(user, {ob, *together})
        if not is_own and any(curve.data_path == path for curve in curves_of(user)):
            found.append(user)
    return found


def _users_of_actions(ob: Object) -> Iterator[Any]:
    """What of an object has an action: its animation data, and the strips of the NLA."""
    data = ob.animation_data
    if data is None:
        return
    waiting: list[Any] = [data, *strips_of(ob)]
    while waiting:
        user = waiting.pop()
        if user.action:
            yield user
        waiting += getattr(user, "strips", ())


def has_others(user: Any, but: Collection[Any]) -> bool:
    """Whether the curves that act on a user of an action animate others than these too."""
    if hasattr(user, "action_slot"):
        return user.action_slot is not None and any(other not in but for other in user.action_slot.users())
    users: Any = bpy.data.user_map  # whose other arguments have defaults
    return any(other not in but for other in users(subset={user.action})[user.action])


def _carry_drivers(source: Object, old: str, to: Object, new: str) -> None:
    for curve in drivers_on(source, old):
        there: Any = to.animation_data or to.animation_data_create()
        if before := there.drivers.find(new):
            there.drivers.remove(before)
        if source == to:
            curve.data_path = new  # whoever has just made it may go on setting it up
            continue
        there.drivers.from_existing(src_driver=curve).data_path = new
        source.animation_data.drivers.remove(curve)  # type: ignore[union-attr]  # it has drivers


def _new_curve(ob: Object, path: str) -> Any:
    """The curve of an object's action on a property that is one number, without keys."""
    data = ob.animation_data
    if data and data.action and not data.action.is_editable:
        use(data, data.action.copy())
    ob.keyframe_insert(path)
    curve = next(curve for curve in curves_of(ob.animation_data) if curve.data_path == path)
    fcurves.clear(curve)
    return curve


def _copy_curve(curve: Any, to: Any) -> None:
    """Give a curve without keys those of another one, and all else that makes its shape."""
    to.keyframe_points.add(len(curve.keyframe_points))
    for key, new in zip(curve.keyframe_points, to.keyframe_points, strict=True):
        fcurves.copy_key(key, new)
    to.extrapolation, to.mute = curve.extrapolation, curve.mute
    for modifier in curve.modifiers:
        new = fcurves.copy_modifier(modifier, to)
        new.name, new.active = modifier.name, modifier.active
    to.update()
