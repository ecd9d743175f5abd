"""The per-frame driver: poses all chains of a scene whenever its frame changes or something is edited."""

from .handlers import register, unregister
from .own_pose import of_limb as own_pose_of
from .solving import chain_of, is_posing, refresh, solve_now, solve_only, solve_scene, solved_channels, take_over

__all__ = [
    "chain_of",
    "is_posing",
    "own_pose_of",
    "refresh",
    "register",
    "solve_now",
    "solve_only",
    "solve_scene",
    "solved_channels",
    "take_over",
    "unregister",
]
