"""Standard output for JSON only, the rest for a person, whether or not somebody listens."""

from __future__ import annotations

import ctypes
import errno
import io
import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from time import perf_counter
from typing import Any

from .codes import Code, Stop
from .interrupt import waiting

Write = Callable[[dict[str, Any]], None]
"""Writes one line of JSON."""

BAR = 30


@contextmanager
def only_json() -> Iterator[Write]:
    """Send to standard error what Blender prints meanwhile, which it does below Python; give what writes JSON."""
    _flush()
    aside = _Aside(sys.stderr)
    # Blender's reports come by Python's stream, the rest of what it prints does not.
    with _diverted() as answers, redirect_stdout(aside), redirect_stderr(aside):
        yield lambda line: _tell(answers, line)


@contextmanager
def unlogged() -> Iterator[None]:
    """Have nothing logged meanwhile that is less than an error: what keeps chains from being posed the program says."""
    log = logging.getLogger("planar_ik")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def say(sentence: str) -> None:
    """Tell a person."""
    sys.stderr.write(f"planar_ik: {sentence}\n")


@contextmanager
def _diverted() -> Iterator[int | None]:
    """What the process prints goes to standard error; give where it would have gone, None if that is closed."""
    if sys.stdout is None:  # and its number may be another file's by now
        yield None
        return
    answers, kept = os.dup(sys.stdout.fileno()), os.dup(1)
    with suppress(OSError):  # Standard error is closed.
        os.dup2(2, 1)
    try:
        yield answers
    finally:
        _flush()
        os.dup2(kept, 1)
        os.close(kept)
        os.close(answers)


def _tell(answers: int | None, line: dict[str, Any]) -> None:
    text = f"{json.dumps(line)}\n".encode()
    try:
        with waiting():
            while text and answers is not None:
                text = text[os.write(answers, text) :]
    except OSError as error:
        if error.errno in {errno.EPIPE, errno.EBADF}:
            return  # Nobody reads on, or ever did; the files are wanted all the same.
        raise Stop(Code.NOT_WRITTEN, f"Standard output can't be written to: {error.strerror}") from error


def _flush() -> None:
    """Bring out what Python and Blender still hold back, while it goes to the right place."""
    with suppress(AttributeError, OSError):
        sys.stdout.flush()
    with suppress(TypeError, OSError):  # Windows has no library without a name
        ctypes.CDLL(None).fflush(None)


class _Aside(io.TextIOBase):
    """Standard error, whose end stops nothing: it may be closed, or nobody may read it any more."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write at once, if that can be."""
        with suppress(AttributeError, OSError, ValueError):
            self._stream.write(text)
            self._stream.flush()
        return len(text)

    def isatty(self) -> bool:
        """Whether a person sees it."""
        return bool(self._stream and self._stream.isatty())


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

    def clear(self) -> None:
        """Take the bar away."""
        if self._last:
            sys.stderr.write("\r\033[K")
