"""What is called when something happens in Blender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import bpy

Handlers = Sequence[tuple[str, Callable[..., None]]]
"""Functions, each with the name of the list in `bpy.app.handlers` that it belongs to."""


def add_handlers(handlers: Handlers) -> None:
    """Add these handlers; each is there once, however often this is called."""
    for name, handler in handlers:
        called = getattr(bpy.app.handlers, name)
        if handler not in called:
            called.append(handler)


def remove_handlers(handlers: Handlers) -> None:
    """Remove what `add_handlers` added, in reverse order."""
    for name, handler in reversed(handlers):
        called = getattr(bpy.app.handlers, name)
        if handler in called:
            called.remove(handler)


def run_or_undo(steps: Iterable[tuple[Callable[[], None], Callable[[], None]]]) -> None:
    """Run steps, each given with the one that undoes it; if one fails, undo those before it."""
    done: list[Callable[[], None]] = []
    try:
        for do, restore in steps:
            do()
            done.append(restore)
    except BaseException:
        for restore in reversed(done):
            restore()
        raise
