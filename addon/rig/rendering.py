"""Writing to a pose while Blender renders.

The window keeps an object's animated values both evaluated and on the object itself. A render evaluates apart and does
not, and takes a fresh copy of an object that was written to: what is animated would fall back to the window's frame.
"""

from __future__ import annotations

from array import array
from typing import Any

from .access import ArmatureObject
from .animation import animated_paths
from .channels import SIZES


def keep_animation(ob: ArmatureObject, evaluated: ArmatureObject) -> None:
    """Bring the animated values of this frame to the object, so that they outlast a write to its pose."""
    for channel, size in SIZES.items():
        numbers = array("f", bytes(4 * size * len(ob.pose.bones)))
        evaluated.pose.bones.foreach_get(channel, numbers)
        ob.pose.bones.foreach_set(channel, numbers)
    for path in animated_paths(ob):
        if not (path.startswith("pose.bones") and path.rpartition(".")[2] in SIZES):
            _copy(path, ob, evaluated)


def _copy(path: str, ob: Any, evaluated: Any) -> None:
    try:
        value = evaluated.path_resolve(path)
        if path.endswith("]"):
            owner, _, key = path.rpartition("[")
            ob.path_resolve(owner)[key[1:-2]] = value
        else:
            owner, _, name = path.rpartition(".")
            setattr(ob.path_resolve(owner) if owner else ob, name, value)
    except (ValueError, AttributeError, TypeError, KeyError):
        return  # a curve left over from something that is gone animates nothing
