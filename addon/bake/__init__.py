"""Chains into keys, frames x chains at once: gather what the chains do, then write it down as F-curves.

``bake`` is the whole of it. Nothing of the file is changed before everything is gathered, so that a bake that is
cancelled leaves the file as it was.
"""

from ..rig.kinds import Refused
from .game import bake_for_game
from .job import NO_CHAIN, NotPosed, Report, Request, bake, finish
from .scope import Span, chains_of_scene, frames_between, frames_of
from .ways import sample_chains

__all__ = [
    "NO_CHAIN",
    "NotPosed",
    "Refused",
    "Report",
    "Request",
    "Span",
    "bake",
    "bake_for_game",
    "chains_of_scene",
    "finish",
    "frames_between",
    "frames_of",
    "sample_chains",
]
