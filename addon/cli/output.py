"""Standard output for JSON only, and progress for a person."""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from time import perf_counter
from typing import Any

from .codes import Code, Stop

Write = Callable[[dict[str, Any]], None]
"""Writes one line of JSON."""

BAR = 30


@contextmanager
def only_json() -> Iterator[Write]:
    """Send to standard error what Blender prints meanwhile, which it does below Python; give what writes JSON."""
    _flush()
    told, kept = os.dup(sys.stdout.fileno()), os.dup(1)
    os.dup2(2, 1)
    try:
        # Blender's reports come by Python's stream, the rest of what it prints does not.
        with os.fdopen(told, "wb", buffering=0) as lines, redirect_stdout(sys.stderr):

            def write(line: dict[str, Any]) -> None:
                try:
                    lines.write(f"{json.dumps(line)}\n".encode())
                except BrokenPipeError:
                    pass  # Nobody reads on; the files are wanted all the same.
                except OSError as error:
                    raise Stop(Code.NOT_WRITTEN, f"Standard output can't be written to: {error.strerror}") from error

            yield write
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)


def _flush() -> None:
    """Bring out what Python and Blender still hold back, while it goes to the right place."""
    sys.stdout.flush()
    with suppress(TypeError, OSError):  # Windows has no library without a name
        ctypes.CDLL(None).fflush(None)


class Progress:
    """A bar on standard error, if that is a terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._is_shown = sys.stderr.isatty()
        self._last = 0.0

    def show(self, done: float) -> None:
        """Draw the bar, ten times a second at most."""
        if self._is_shown and perf_counter() - self._last > 0.1:
            self._last = perf_counter()
            sys.stderr.write(f"\r{self._name} [{'#' * round(done * BAR):{BAR}}] {done:4.0%}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the bar away."""
        if self._last:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()
