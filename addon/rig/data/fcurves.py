"""What makes the shape of an F-curve: its keys and modifiers, taken away, copied or sent elsewhere."""

from __future__ import annotations

from typing import Any

_HANDLES = ("handle_left_type", "handle_right_type", "handle_left", "handle_right")
_KEY = ("co", *_HANDLES, "interpolation", "easing", "back", "amplitude", "period", "type")
"""What a key is: its handles stay where they are put once their types let them."""

_DIVISIBLE = ("CONSTANT", "LINEAR", "BEZIER")
"""Ways to go on from a key to the next that have the same shape with another key between."""

LAST_FRAME = 1048574
"""Blender's frames end here, and begin at the negative of it."""


def clear(curve: Any) -> None:
    """Take a curve's keys and modifiers away.

    A new driver then sets what its expression says: else its curve maps that, by keys (from 5.0 on, which round near 0
    and 1) or by a modifier.
    """
    while curve.keyframe_points:
        curve.keyframe_points.remove(curve.keyframe_points[0])
    while curve.modifiers:
        curve.modifiers.remove(curve.modifiers[0])


def send(curves: Any, curve: Any, path: str) -> None:
    """Let one of these F-curves act at another path; if one acts there already, that gets its keys."""
    there = curves.find(path, index=curve.array_index)
    if there is None:
        curve.data_path = path
        curve.is_valid = True  # which an editor may have found that it is not where it was
    elif there != curve:
        for key in curve.keyframe_points:
            copy_key(key, there.keyframe_points.insert(*key.co))
        there.update()  # or automatic handles stay as they were without the other keys
        curves.remove(curve)


def hold_from(curve: Any, frame: int) -> None:
    """Put a key on a curve that holds its value there until the next key, and leave its values before as they are.

    Blender divides a Bezier segment by a key without changing its shape, if no handle of it is automatic. Easing can't
    be divided: each of its frames up to this one gets a key.
    """
    keys, frames = curve.keyframe_points, [frame]
    earlier = [key for key in keys if key.co.x < frame]
    here = [key for key in keys if key.co.x == frame]
    later = [key for key in keys if key.co.x > frame]
    handle = later[0].handle_left_type if later else ""
    for key in (*earlier[-1:], *here):
        key.handle_left_type = key.handle_right_type = "FREE"
    if later:
        later[0].handle_left_type = "FREE"
    if earlier and later and not here and earlier[-1].interpolation not in _DIVISIBLE:
        frames = [*range(int(earlier[-1].co.x) + 1, frame + 1)]
    places = [(each, curve.evaluate(each)) for each in frames]
    if earlier and not here and (len(frames) > 1 or not later):
        earlier[-1].interpolation = "LINEAR"
    for place in places:
        key = keys.insert(*place)
        key.handle_left_type = key.handle_right_type = "FREE"
        key.interpolation = "LINEAR"
    key.interpolation = "CONSTANT"
    if later:
        next(key for key in keys if key.co.x > frame).handle_left_type = handle


def copy_key(key: Any, to: Any) -> None:
    """Give a key everything that another one is."""
    for name in _KEY:
        setattr(to, name, getattr(key, name))


def copy_modifier(modifier: Any, curve: Any) -> Any:
    """Another modifier, of this curve, the same as that one but for its name."""
    copy = curve.modifiers.new(modifier.type)
    for prop in modifier.bl_rna.properties:
        if not prop.is_readonly and prop.identifier not in {"name", "active"}:
            value = getattr(modifier, prop.identifier)
            setattr(copy, prop.identifier, tuple(value) if getattr(prop, "is_array", False) else value)
    if modifier.type == "ENVELOPE":
        points = modifier.control_points
        for point in points:
            copy.control_points.add(point.frame)
        for end in ("min", "max"):
            # Set one by one, Blender takes each point for a modifier, reads past its end, and may crash by it.
            copy.control_points.foreach_set(end, [getattr(point, end) for point in points])
    return copy
