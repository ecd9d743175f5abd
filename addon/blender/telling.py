"""Before something is changed, it is said here: whoever may have to bring it back keeps what it is.

tell(rig, action)
rig.location.x = 1.0
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

listeners: list[Callable[[Any], None]] = []
"""Who is told: transactions that are open."""


def tell(*blocks: Any) -> None:
    """Say which objects, actions or scenes are about to be changed; None is nothing."""
    for block in blocks if listeners else ():
        for keep in listeners if block is not None else ():
            keep(block)


def tell_keys(owner: Any) -> None:
    """Say that keys of an object, in the action that it has now, are about to be changed."""
    data = owner.animation_data
    tell(owner, data.action if data else None)
