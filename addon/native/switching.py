"""Switching many chains on the rig at once."""

from __future__ import annotations

from collections.abc import Iterable

from bpy.types import PoseBone

from ..rig.chain_settings import quietly
from ..rig.data.access import chain_settings, runs_on_rig
from .resting import switch


def switch_all(lowers: Iterable[PoseBone], is_on: bool) -> None:
    """Switch chains on or off, and no more: to set a chain on the rig by itself has the scene evaluated and its
    mechanism compared with its settings, which nothing has changed here."""
    with quietly():
        for lower in lowers:
            chain_settings(lower).enabled = is_on
            if runs_on_rig(lower):
                switch(lower, is_on)
