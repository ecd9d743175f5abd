"""The per-frame driver: poses all chains of a scene whenever its frame changes or something is edited."""

from .handlers import register, unregister
from .plan import chain_of, refresh, solve_now, solve_only, solve_scene

__all__ = ["chain_of", "refresh", "register", "solve_now", "solve_only", "solve_scene", "unregister"]
