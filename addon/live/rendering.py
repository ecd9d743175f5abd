"""Writing to a pose that is evaluated apart from its object.

The window keeps an object's animated values both evaluated and on the object itself. A render evaluates apart and does
not, nor does a scene that no window shows yet; and Blender takes a fresh copy of an object that was written to:
whatever is animated would fall back to the window's frame.
"""

from __future__ import annotations

from array import array
from typing import Any

from ..rig.access import ArmatureObject
from ..rig.animation import animated_paths
from .channels import SIZES


def is_apart(ob: ArmatureObject, evaluated: ArmatureObject) -> bool:
    """Whether the object does not have the pose that is evaluated."""
    here, there = (array("f", bytes(12 * len(of.pose.bones))) for of in (ob, evaluated))
    ob.pose.bones.foreach_get("tail", here)
    evaluated.pose.bones.foreach_get("tail", there)
    return here.tobytes() != there.tobytes()


def keep_animation(ob: ArmatureObject, evaluated: ArmatureObject) -> None:
    """Bring the animated values of this frame to the object, so that they outlast a write to its pose."""
    for channel, size in SIZES.items():
        numbers = array("f", bytes(4 * size * len(ob.pose.bones)))
        evaluated.pose.bones.foreach_get(channel, numbers)
        ob.pose.bones.foreach_set(channel, numbers)
    for path in animated_paths(ob):
        if not (path.startswith("pose.bones") and path.rpartition(".")[2] in SIZES):
            _copy(path, ob, evaluated)
    # Written to without this, the evaluated pose would become a copy of the object's, which is that of another frame.
    ob.update_tag(refresh={"DATA"})


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
