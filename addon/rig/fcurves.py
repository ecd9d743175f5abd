"""What makes the shape of an F-curve: its keys and modifiers, taken away or copied."""

from __future__ import annotations

from typing import Any


def clear(curve: Any) -> None:
    """Take a curve's keys and modifiers away.

    A new driver then sets what its expression says: else its curve maps that, by keys (from 5.0 on, which round near 0
    and 1) or by a modifier.
    """
    while curve.keyframe_points:
        curve.keyframe_points.remove(curve.keyframe_points[0])
    while curve.modifiers:
        curve.modifiers.remove(curve.modifiers[0])


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
