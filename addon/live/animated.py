"""Lending numbers to an object, for Blender to take over when it evaluates the object, and putting its own back.

The window keeps an object's animated values both evaluated and on the object itself. A render evaluates apart and does
not, nor does a scene that no window shows yet; and Blender takes a fresh copy of an object that was written to:
whatever is animated would fall back to the window's frame.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from bpy.types import Depsgraph

from ..rig.access import ArmatureObject, split_path
from .channels import SIZES, Channels


class Lent:
    """What to put back into objects after they were evaluated with other numbers."""

    def __init__(self) -> None:
        self._steps: list[Callable[[], None]] = []

    def add(self, step: Callable[[], None]) -> None:
        """Have something done when all is put back, before what was added earlier."""
        self._steps.append(step)

    def put_back(self) -> None:
        """Put everything back."""
        while self._steps:
            self._steps.pop()()


def is_apart(ob: ArmatureObject, evaluated: ArmatureObject, depsgraph: Depsgraph) -> bool:
    """Whether the object itself does not stand in the frame that is evaluated."""
    if depsgraph.mode == "RENDER":
        return True
    here, there = (array("f", bytes(12 * len(of.pose.bones))) for of in (ob, evaluated))
    ob.pose.bones.foreach_get("tail", here)
    evaluated.pose.bones.foreach_get("tail", there)
    return here.tobytes() != there.tobytes()


def lend_animation(ob: ArmatureObject, evaluated: ArmatureObject, paths: set[str], lent: Lent) -> None:
    """Bring the animated values of the evaluated frame to an object that does not have them itself."""
    bones: dict[str, list[str]] = {channel: [] for channel in SIZES}
    for path in paths:
        bone, channel = split_path(path)
        if channel in SIZES:
            bones[channel].append(bone)
        else:
            _copy(path, ob, evaluated)
    channels, there = Channels(ob), Channels(evaluated)
    for channel, names in bones.items():
        if names:
            rows = _rows_of(ob, names)
            channels.rows(channel)[rows] = there.rows(channel)[rows]
    channels.write()
    lent.add(channels.take_back)


def _rows_of(ob: ArmatureObject, names: Iterable[str]) -> Any:
    found = {ob.pose.bones.find(name) for name in names} - {-1}
    return np.array(sorted(found), np.intp)


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
