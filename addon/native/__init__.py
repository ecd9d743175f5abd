"""Chains as Blender's own bones, constraints and drivers: they need no extension, no Python and no trust."""

from .handlers import register, unregister

__all__ = ["register", "unregister"]
