"""Chains as Blender's own bones, constraints and drivers: they need no extension, no Python and no trust."""

from . import handlers, restoring


def register() -> None:
    """Start to listen."""
    handlers.register()
    restoring.register()


def unregister() -> None:
    """Stop listening."""
    restoring.unregister()
    handlers.unregister()
