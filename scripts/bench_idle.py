"""What an event costs a scene that has no chain, and one that has one: the time spent in the extension's handlers."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import bpy

from . import installed
from .bench_rigs import FRAMES, Limbs, moving_limbs, new_object

ROUNDS = 9


class Stopwatch:
    """Stands in for a handler and times it."""

    def __init__(self, handlers: list[Callable[..., None]]) -> None:
        self.handlers = handlers
        (self.handler,) = [each for each in handlers if each.__module__.startswith(installed.MODULE)]
        self.spent: list[float] = []

    def __enter__(self) -> Stopwatch:
        self.handlers[self.handlers.index(self.handler)] = self._timed
        return self

    def __exit__(self, *_: object) -> None:
        self.handlers[:] = [self.handler if each == self._timed else each for each in self.handlers]

    def _timed(self, *arguments: Any) -> None:
        start = time.perf_counter()
        self.handler(*arguments)
        self.spent.append(time.perf_counter() - start)


def main() -> None:
    print("us per event, best of the rounds' medians")
    print(f"{'':44}{'frame':>8}{'edit':>8}{'bar':>6}")
    limbs = moving_limbs(1)
    report("an armature, no chain", limbs, 10)
    limbs = moving_limbs(100)
    for i in range(1000):
        new_object(f"other{i}")
    report("an armature of 201 bones and 1101 objects", limbs, 10)
    limbs = moving_limbs(1)
    limbs.pose_by_chains()
    report("one chain that moves", limbs, 25)


def report(name: str, limbs: Limbs, bar: int) -> None:
    rounds = [(frames(), edits(limbs)) for _ in range(ROUNDS)]
    frame, edit = (1e6 * min(each) for each in zip(*rounds, strict=True))
    print(f"{name:44}{frame:8.1f}{edit:8.1f}{bar:6}", flush=True)


def frames() -> float:
    """The median event of a playback."""
    with Stopwatch(bpy.app.handlers.frame_change_post) as watch:
        for frame in range(1, FRAMES + 1):
            bpy.context.scene.frame_set(frame)
    return median(watch.spent)


def edits(limbs: Limbs) -> float:
    """The median event of dragging a target."""
    target = limbs.targets[0]
    with Stopwatch(bpy.app.handlers.depsgraph_update_post) as watch:
        for i in range(FRAMES):
            target.location.z = 0.8 + 0.005 * i
            bpy.context.view_layer.update()
    return median(watch.spent)


def median(numbers: list[float]) -> float:
    return sorted(numbers)[len(numbers) // 2]
