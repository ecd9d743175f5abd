"""An interrupted run ends tidily: what it began to write is taken away, as are its folders."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

received: list[int] = []


class Interrupted(BaseException):
    """The run is to end: somebody pressed Ctrl-C, or a farm cancelled the job."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Have signals that end a program raise `Interrupted` where Python is; only the main thread may ask for that."""
    received.clear()
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, _receive) for number in SIGNALS if is_main}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)  # None: it was C's


def heed_signals(_done: float = 0.0) -> None:
    """Raise `Interrupted` if a signal came: Blender swallows what is raised in its handlers and drivers."""
    if received:
        raise Interrupted


def _receive(number: int, _frame: Any) -> None:
    """Remember a signal, and raise `Interrupted` where the program is."""
    received.append(number)
    raise Interrupted
