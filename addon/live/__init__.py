"""The limbs that nothing on the rig poses: solved whenever a frame changes or something is edited."""

from __future__ import annotations

from . import handlers, settings
from .handlers import refresh
from .posing import is_posing

__all__ = ["is_posing", "refresh", "register", "unregister"]


def register() -> None:
    """Give scenes their settings, and start to listen."""
    settings.register()
    handlers.register()


def unregister() -> None:
    """Take both away again."""
    handlers.unregister()
    settings.unregister()
