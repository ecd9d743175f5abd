"""The three ways to sample chains, cheapest first; each is exact where it says that it will do."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from .curves import places_from_curves
from .gathering import steady_chains
from .isolation import is_separable, step_isolated
from .samples import Sampled
from .solving import solved
from .stepping import step_live

Way = Generator[float, None, list[Sampled] | None]
"""Yields the fraction done and returns the samples, or None if this way will not do."""


def by_curves(context: Context, lowers: list[PoseBone], frames: NDArray[Any]) -> Way:
    """Way 1: sample F-curves and solve arrays."""
    yield 0.0
    chains = steady_chains(context, lowers)
    places = places_from_curves(context, chains, frames) if chains else None
    return solved(chains, places) if chains and places else None


def by_isolation(context: Context, lowers: list[PoseBone], frames: NDArray[Any]) -> Way:
    """Way 2: step what the chains depend on in a scene of its own, and solve arrays."""
    chains = steady_chains(context, lowers)
    if not chains or not is_separable(chains):
        return None
    places = yield from _fractions(step_isolated(context, chains, frames), len(frames))
    return solved(chains, places)


def by_stepping(context: Context, lowers: list[PoseBone], frames: NDArray[Any]) -> Way:
    """Way 3: step the scene with its chains live."""
    sampled: list[Sampled] = yield from _fractions(step_live(context, lowers, frames), len(frames))
    return sampled


WAYS: tuple[Callable[..., Way], ...] = (by_curves, by_isolation, by_stepping)


def sample_chains(
    context: Context, lowers: list[PoseBone], frames: NDArray[Any]
) -> Generator[float, None, list[Sampled]]:
    """What chains do over frames, by the cheapest way that is exact; yields the fraction done."""
    for way in WAYS:
        sampled = yield from way(context, lowers, frames)
        if sampled is not None:
            return sampled
    raise AssertionError("stepping the scene always does")


def _fractions(steps: Generator[int, None, Any], total: int) -> Generator[float, None, Any]:
    while True:
        try:
            yield next(steps) / total
        except StopIteration as end:
            return end.value
