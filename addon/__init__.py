"""Planar IK: exact two-bone limbs in their bend plane."""

from __future__ import annotations

from types import ModuleType


def _rooms() -> tuple[ModuleType, ...]:
    """What is made known to Blender, in this order."""
    from . import cli, live, ui
    from .limb import limb
    from .mechanism import modes

    return limb, modes, live, ui, cli


def register() -> None:
    """Make the properties, operators and handlers known to Blender: all, or none if one fails."""
    done: list[ModuleType] = []
    try:
        for room in _rooms():
            room.register()
            done.append(room)
    except BaseException:
        for room in reversed(done):
            room.unregister()
        raise


def unregister() -> None:
    """Take them away again, in reverse order."""
    for room in reversed(_rooms()):
        room.unregister()
