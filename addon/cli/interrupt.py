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
_waits = Event()


@contextmanager
def interrupts_noted() -> Iterator[None]:
    """Only take note of a signal to end; the second acts as it does elsewhere."""
    before = {number: signal.getsignal(number) or signal.SIG_DFL for number in SIGNALS}  # None: Blender's own

    def note(number: int, _frame: Any) -> None:
        _asked.set()
        signal.signal(number, before[signal.Signals(number)])
        if _waits.is_set():
            raise KeyboardInterrupt

    for number in SIGNALS:
        signal.signal(number, note)
    if hasattr(signal, "pthread_sigmask"):  # scripts/bake.py holds signals back until there is somebody to note them.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
    try:
        yield
    finally:
        for number in SIGNALS:
            signal.signal(number, before[number])
        _asked.clear()


@contextmanager
def waiting() -> Iterator[None]:
    """While Python waits for others, as for a disk or who reads its output: a signal ends that at once."""
    _waits.set()
    try:
        heed()
        yield
    finally:
        _waits.clear()


def heed() -> None:
    """Raise KeyboardInterrupt if such a signal came."""
    if _asked.is_set():
        raise KeyboardInterrupt
