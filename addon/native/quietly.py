"""Settings that are set while mechanisms are made, taken away or mended: those no mechanism is to follow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_setting: list[bool] = []
"""As many as are in the midst of it."""


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
