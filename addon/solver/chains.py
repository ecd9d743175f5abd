"""Whole chains on arrays, frames x chains at once: `solve_chain` and nothing else, a slab at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from .chain import OWN_AT_REST, Features, Own, Plane, Uninherited, axes_for, solve_chain
from .compiled import constants_of, shape_of, take, take_goals, take_rows
from .limb import Limb
from .ops import Array, Ops
from .reach import Reach
from .rotation import IDENTITY
from .slabs import Formula, Group, solve_slabs
from .triangle import Settings

AS_IT_IS, NOTHING = Settings(), Features()
INVALID = (IDENTITY, IDENTITY, (1.0,), (Reach.INVALID,))
"""What comes of input that is not finite: both rotations, stretch, reach."""


class Solutions(NamedTuple):
    """`Solution` for an array of chains of shape ``S``; what all of them share is read-only."""

    upper: Array  # S + (4,), w first
    lower: Array  # S + (4,)
    stretch: Array  # S
    reach: Array  # S, Reach values as int8


def solve_chains(
    target: Any,
    limb: Limb,
    settings: Settings = AS_IT_IS,
    features: Features = NOTHING,
    pole: Any = None,
    own: Own = OWN_AT_REST,
    uninherited: Uninherited | None = None,
    tolerance: Any = 1e-12,
) -> Solutions:
    """Pose many chains, as `solve_chain` does one; every argument broadcasts, so that frames x chains is one call.

    ``target`` and ``pole`` are positions ``(..., 3)`` in each chain's frame F, ``own`` and ``uninherited`` hold
    quaternions ``(..., 4)``, w first. Each number in ``limb`` (made with `ARRAYS` from arrays, or with `FLOATS`) and in
    ``settings`` may be an array. ``features`` are the same for all.

    Chains with input that is not finite are `Reach.INVALID` and at rest.
    """
    vectors = [(target, 3)]
    if features.plane is Plane.POLE:
        vectors.append((pole, 3))
    quaternions = (own if features.blended else ()) + (() if uninherited is None else uninherited)
    vectors += [(quaternion, 4) for quaternion in quaternions]
    axes = (*axes_for(limb, features.plane), *limb.lower_axes)
    numbers = [*constants_of(limb, settings, tolerance), *chain.from_iterable(axes)]
    formula = _formula_with(features, uninherited is not None)
    upper, lower, stretch, reach = solve_slabs(formula, vectors, numbers, INVALID)
    return Solutions(upper, lower, stretch[..., 0], reach[..., 0])


@cache
def _formula_with(features: Features, is_uninherited: bool) -> Formula:
    """The same one each time, for `solve_slabs` records it."""
    return partial(_formula, features, is_uninherited)


def _formula(features: Features, is_uninherited: bool, given: Sequence[Any], m: Ops) -> tuple[Group, ...]:
    """`solve_chain` with these features, on all that it takes in one sequence."""
    rest = iter(given)
    target, pole, own = take_goals(rest, features)
    uninherited = Uninherited(take(rest, 4), take(rest, 4)) if is_uninherited else None
    limb, settings, tolerance = shape_of(rest)
    limb = limb._replace(line_axes=take_rows(rest, 3), lower_axes=take_rows(rest, 3))
    solution = solve_chain(target, limb, settings, features, m, pole, own, uninherited, tolerance)
    return solution.upper, solution.lower, (solution.stretch,), (solution.reach,)


def stacked(trees: Sequence[Any]) -> Any:
    """Nested tuples of numbers, as nested tuples of arrays with the trees along the last axis."""
    first = trees[0]
    if not isinstance(first, tuple):
        are_single = not any(isinstance(each, np.ndarray) for each in trees)
        return np.array(trees, float) if are_single else np.stack(np.broadcast_arrays(*trees), axis=-1)
    return _like(first, [stacked(branch) for branch in zip(*trees, strict=True)])


def mapped(change: Callable[[Any], Any], tree: Any) -> Any:
    """Nested tuples with everything in them changed."""
    return _like(tree, [mapped(change, branch) for branch in tree]) if isinstance(tree, tuple) else change(tree)


def _like(tree: Any, branches: list[Any]) -> Any:
    return type(tree)(*branches) if hasattr(tree, "_fields") else tuple(branches)
