"""The three ways to sample chains, cheapest first; each is exact where it says that it will do."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ...rig.access import scene_of
from ..keeping import limbs_kept
from ..samples import Sampled
from .curves import courses_from_curves
from .isolation import is_separable, step_isolated
from .results import sampled
from .steady import steady_chains
from .stepping import step_live

Way = Generator[float, None, list[Sampled] | None]
"""Yields the fraction done and returns the samples, or None if this way will not do."""


def by_curves(context: Context, lowers: list[PoseBone], frames: NDArray[Any]) -> Way:
    """Way 1: sample F-curves and solve arrays."""
    yield 0.0
    chains = steady_chains(context, lowers)
    courses = courses_from_curves(context, chains, frames) if chains else None
    return sampled(chains, courses) if chains and courses else None


def by_isolation(context: Context, lowers: list[PoseBone], frames: NDArray[Any]) -> Way:
    """Way 2: step what the chains depend on in a scene of its own, and solve arrays."""
    chains = steady_chains(context, lowers)
    if not chains or not is_separable(chains):
        return None
    courses = yield from part_of(step_isolated(context, chains, frames), 0.0, 1.0 / len(frames))
    return sampled(chains, courses) if courses else None


def by_stepping(context: Context, lowers: list[PoseBone], frames: NDArray[Any]) -> Way:
    """Way 3: step the scene with its chains live."""
    live: list[Sampled] = yield from part_of(step_live(context, lowers, frames), 0.0, 1.0 / len(frames))
    return live


WAYS: dict[str, Callable[..., Way]] = {"curves": by_curves, "isolated": by_isolation, "stepped": by_stepping}


def sample_chains(
    context: Context, lowers: list[PoseBone], frames: NDArray[Any]
) -> Generator[float, None, list[Sampled]]:
    """What chains do over frames, by the cheapest way that is exact; yields the fraction done, and leaves the scene as
    it was."""
    with limbs_kept(scene_of(context)):
        for name, way in WAYS.items():
            found = yield from way(context, lowers, frames)
            if found is not None:
                for chain in found:
                    chain.way = name
                return found
    raise AssertionError("stepping the scene always does")


def part_of(steps: Generator[float, None, Any], start: float, share: float) -> Generator[float, None, Any]:
    """The same steps as a share of a whole, each unit of theirs so much of it."""
    while True:
        try:
            yield start + share * next(steps)
        except StopIteration as end:
            return end.value
