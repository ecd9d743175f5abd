"""An interrupted run ends tidily: what it began to write is taken away, as are its folders."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]

_received: list[int] = []


class Interrupted(BaseException):
    """The run is to end: somebody pressed Ctrl-C, or a farm cancelled the job."""


@contextmanager
def interruptible() -> Iterator[None]:
    """Have signals that end a program raise `Interrupted` where Python is."""
    _received.clear()
    if threading.current_thread() is not threading.main_thread():  # only that one may ask for signals
        yield
        return
    before = {number: signal.signal(number, _receive) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)  # None: it was C's


def check_not_interrupted() -> None:
    """Raise `Interrupted` if a signal came: Blender swallows what is raised in its handlers and drivers."""
    if _received:
        raise Interrupted


def going_on(_done: float) -> None:
    """The same, for who is told the part done of long work."""
    check_not_interrupted()


def exit_code() -> int:
    """What shells call the end by a signal."""
    return 128 + _received[0] if _received else 130


def _receive(number: int, _frame: Any) -> None:
    _received.append(number)
    raise Interrupted
