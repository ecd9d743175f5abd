"""Planar IK: exact limbs in their bend plane."""

from __future__ import annotations

from types import ModuleType


def _rooms() -> tuple[ModuleType, ...]:
    """What is made known to Blender, in this order."""
    from . import cli, live, planar_ik, ui

    return planar_ik, live, ui, cli


def register() -> None:
    """Make the properties, operators and handlers known to Blender: all, or none if one fails."""
    from .blender.types import run_or_undo

    run_or_undo((room.register, room.unregister) for room in _rooms())


def unregister() -> None:
    """Take them away again, in reverse order."""
    for room in reversed(_rooms()):
        room.unregister()
