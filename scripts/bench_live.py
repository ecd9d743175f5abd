"""What a chain adds to every frame, against what Blender's IK constraint adds to the same rig with the same targets."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import bpy

from .bench_rigs import FEATURES, FRAMES, Limbs, moving_limbs

COUNTS = {1: 15, 10: 9, 50: 7, 500: 5}
"""How many chains are measured, and in how many rounds."""

LIMIT = 3.0
"""Seconds that one measurement may take."""


def main() -> None:
    print("Added per chain and frame in us, and the farthest that a tip is from its target in lengths of the limb")
    print(f"{'':26}{'chain':>8}{'constraint':>12}{'ratio':>8}{'bar':>6}{'chain tip':>12}{'constraint tip':>16}")
    for count, rounds in COUNTS.items():
        limbs = moving_limbs(count)
        ways = [limbs.pose_by_nothing, limbs.pose_by_chains, limbs.pose_by_constraints]
        report(f"{count} plain", limbs, rounds, ways, 0.6)
    for count in (50, 500):
        limbs = moving_limbs(count)
        chains, constraints = (
            partial(limbs.pose_by_chains, **FEATURES),
            partial(limbs.pose_by_constraints, has_pole=True),
        )
        report(f"{count} with every feature", limbs, COUNTS[count], [limbs.pose_by_nothing, chains, constraints], 0.8)


def report(name: str, limbs: Limbs, rounds: int, ways: list[Callable[[], None]], bar: float) -> None:
    """Measure the ways in turns: nothing, chains, constraints."""
    best = [float("inf")] * len(ways)
    errors = [0.0] * len(ways)
    for number in range(rounds + 1):
        for i, way in enumerate(ways):
            way()
            play(5)
            if number:
                best[i] = min(best[i], play(FRAMES))
            else:  # Not timed: bones change as they get their first chain, and what counts is how it goes on.
                errors[i] = limbs.tip_error()
    base, ours, native = (1e6 * each / len(limbs.targets) for each in best)
    tips = f"{errors[1]:12.1e}{errors[2]:16.1e}" if bar < 0.7 else ""
    ratio = (ours - base) / (native - base)
    print(f"{name:26}{ours - base:8.2f}{native - base:12.2f}{ratio:8.2f}{bar:6.1f}{tips}", flush=True)


def play(frames: int) -> float:
    """Seconds per frame, of so many frames or of those that can be played in a few seconds."""
    scene = bpy.context.scene
    start = time.perf_counter()
    for frame in range(1, frames + 1):
        scene.frame_set(frame)
        spent = time.perf_counter() - start
        if spent > LIMIT:
            break
    return spent / frame
