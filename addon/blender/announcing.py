"""Before something is changed, it is said here: whoever may have to bring it back copies what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

listeners: list[Callable[[Any], None]] = []
"""Who is told: transactions that are open."""


def announce(*blocks: Any) -> None:
    """Call this before you change objects, actions or scenes, so that an open transaction can copy them; None is
    nothing."""
    for block in blocks if listeners else ():
        for remember in listeners if block is not None else ():
            remember(block)


def announce_keys(owner: Any) -> None:
    """Call this before you change keys of an object in its current action."""
    data = owner.animation_data
    announce(owner, data.action if data else None)
