"""Ctrl-C, and the SIGTERM by which farms cancel, heeded where it is safe.

As an exception, Ctrl-C is lost whenever it comes while Blender calls a handler; SIGTERM would leave temporary files.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)

_asked = Event()


@contextmanager
def interrupts_noted() -> Iterator[None]:
    """Only take note of a signal to end; the second acts as it does elsewhere."""
    before = {number: signal.getsignal(number) or signal.SIG_DFL for number in SIGNALS}  # None: Blender's own

    def note(number: int, _frame: Any) -> None:
        _asked.set()
        signal.signal(number, before[signal.Signals(number)])

    for number in SIGNALS:
        signal.signal(number, note)
    try:
        yield
    finally:
        for number in SIGNALS:
            signal.signal(number, before[number])
        _asked.clear()


def heed() -> None:
    """Raise KeyboardInterrupt if such a signal came."""
    if _asked.is_set():
        raise KeyboardInterrupt
