"""Chains as Blender's own bones, constraints and drivers: they need no extension, no Python and no trust."""

from ..rig.data.listening import listen, listen_no_more
from . import drivers, exposing, handlers, keys, modes, resting, restoring, status, undoing

HANDLERS = (
    *restoring.HANDLERS,
    *keys.HANDLERS,
    *exposing.HANDLERS,
    *modes.HANDLERS,
    *drivers.HANDLERS,
    *resting.HANDLERS,
    *status.HANDLERS,
    *undoing.HANDLERS,
)


def register() -> None:
    """Start to listen."""
    handlers.register()
    listen(HANDLERS)


def unregister() -> None:
    """Stop listening and forget."""
    listen_no_more(HANDLERS)
    modes.forget()
    resting.forget()
    status.forget()
    exposing.unregister()
    handlers.unregister()
