"""Whole chains on arrays, frames x chains at once: `solve_chain` and nothing else, a piece at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

from .blocks import Formula, Group, solve_rows
from .chain import OWN_AT_REST, Features, Hinge, Own, Pole, solve_chain
from .limb import Limb
from .ops import Array
from .reach import Reach
from .record import RECORDER
from .rotation import IDENTITY
from .triangle import Bones, Settings

AS_IT_IS, NOTHING = Settings(), Features()
INVALID = (IDENTITY, IDENTITY, (0.0, 0.0, 1.0), (1.0,), (Reach.INVALID,))
"""What comes of input that is not finite: both rotations, normal, stretch, reach."""


class Solutions(NamedTuple):
    """`Solution` for an array of chains of shape ``S``; what all of them share is read-only."""

    upper: Array  # S + (4,), w first
    lower: Array  # S + (4,)
    stretch: Array  # S
    reach: Array  # S, Reach values as int8
    normal: Array  # S + (3,)


def solve_chains(
    target: Any,
    limb: Limb,
    settings: Settings = AS_IT_IS,
    features: Features = NOTHING,
    pole: Any = None,
    own: Own = OWN_AT_REST,
    hinge: Hinge | None = None,
    tolerance: Any = 1e-12,
) -> Solutions:
    """Pose many chains, as `solve_chain` does one; every argument broadcasts, so that frames x chains is one call.

    ``target`` and ``pole`` are positions ``(..., 3)`` in each chain's frame F, ``own`` and ``hinge`` hold quaternions
    ``(..., 4)``, w first. Each number in ``limb`` (made with `ARRAYS` from arrays, or with `FLOATS`) and in
    ``settings`` may be an array. ``features`` are the same for all. A pole in line leaves a chain in its own plane.

    Chains with input that is not finite are `Reach.INVALID` and at rest, their normal the z axis.
    """
    vectors = [(target, 3)]
    if pole is not None:
        vectors.append((pole, 3))
    quaternions = (own if features.blended else ()) + (() if hinge is None else hinge)
    vectors += [(quaternion, 4) for quaternion in quaternions]
    numbers = [*settings, tolerance, *limb.bones, *_flat(limb.axes), *_flat(limb.lower_axes), *_flat(limb.knee_turns)]
    formula = _formula(features, pole is not None, hinge is not None)
    upper, lower, normal, stretch, reach = solve_rows(formula, vectors, numbers, INVALID)
    return Solutions(upper, lower, stretch[..., 0], reach[..., 0], normal)


@cache
def _formula(features: Features, has_pole: bool, has_hinge: bool) -> Formula:
    """`solve_chain` with these features, on all that varies in one sequence."""

    def formula(given: Sequence[Any]) -> tuple[Group, ...]:
        rest = iter(given)
        target = _take(rest, 3)
        position = _take(rest, 3) if has_pole else None
        own = Own(_take(rest, 4), _take(rest, 4)) if features.blended else OWN_AT_REST
        hinge = Hinge(_take(rest, 4), _take(rest, 4)) if has_hinge else None
        settings, tolerance, bones = Settings(*_take(rest, len(Settings._fields))), next(rest), Bones(*_take(rest, 5))
        axes, lower_axes, knee_turns = (tuple(_take(rest, size) for _ in range(3)) for size in (3, 3, 4))
        limb = Limb(None, None, bones, axes, lower_axes, IDENTITY, knee_turns)
        pole = None if position is None else Pole(position, axes[2])
        solution = solve_chain(target, limb, settings, features, RECORDER, pole, own, hinge, tolerance)
        return solution.upper, solution.lower, solution.normal, (solution.stretch,), (solution.reach,)

    return formula


def _take(given: Iterator[Any], size: int) -> Any:
    return tuple(islice(given, size))


def _flat(rows: tuple[tuple[Any, ...], ...]) -> list[Any]:
    return [number for row in rows for number in row]
