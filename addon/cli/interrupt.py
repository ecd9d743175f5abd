"""Ctrl-C, heeded where it is safe: as an exception it is lost whenever it comes while Blender calls a handler."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

_asked = Event()


@contextmanager
def interrupts_noted() -> Iterator[None]:
    """Only take note of Ctrl-C; pressed a second time, it acts as it does elsewhere."""

    def note(*_: Any) -> None:
        _asked.set()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, note) or signal.SIG_DFL  # None: Blender's own
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        _asked.clear()


def heed() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was pressed."""
    if _asked.is_set():
        raise KeyboardInterrupt
