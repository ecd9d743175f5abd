"""The limbs that nothing on the rig poses: solved whenever a frame changes or something is edited."""

from .handlers import refresh, register, unregister
from .posing import is_posing

__all__ = ["is_posing", "refresh", "register", "unregister"]
