"""Chains as Blender's own bones, constraints and drivers: they need no extension, no Python and no trust."""

from . import handlers, keys, modes, restoring

_REGISTERED = (handlers, restoring, keys, modes)


def register() -> None:
    """Start to listen."""
    for room in _REGISTERED:
        room.register()


def unregister() -> None:
    """Stop listening."""
    for room in reversed(_REGISTERED):
        room.unregister()
