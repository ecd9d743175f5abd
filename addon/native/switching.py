"""Setting settings without updating mechanisms: while mechanisms are made, taken away or mended, and to switch many
chains at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from bpy.types import PoseBone

from ..rig.data.access import chain_settings, runs_on_rig
from .mechanism.found import constraints_of

_setting: list[bool] = []
"""One for each `quietly` that is active."""


@contextmanager
def quietly() -> Iterator[None]:
    """Set settings, and let no mechanism follow."""
    _setting.append(True)
    try:
        yield
    finally:
        _setting.pop()


def is_quiet() -> bool:
    """Whether mechanisms are not to follow what is set now."""
    return bool(_setting)


def switch_all(lowers: Iterable[PoseBone], is_on: bool) -> None:
    """Switch chains on or off, and no more: to set a chain on the rig by itself has the scene evaluated and its
    mechanism compared with its settings, which nothing has changed here."""
    with quietly():
        for lower in lowers:
            chain_settings(lower).enabled = is_on
            for _, constraint in constraints_of(lower) if runs_on_rig(lower) else ():
                constraint.mute = not is_on
