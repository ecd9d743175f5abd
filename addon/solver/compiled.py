"""The chain's formula as one straight Python function, for the per-frame driver: for one limb, or for many at once.

`solve_chain` spends most of its time on floats in calls and tuples. Recorded once for a set of features and written
out as source (as `collections.namedtuple` does), the same arithmetic takes less than half of it. As `columns`, it poses
some dozens of limbs and more for less than one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .chain import OWN_AT_REST, Features, Own, Plane, Uninherited, solve_in_axes
from .columns import Columns, columns
from .limb import Limb
from .ops import Array
from .record import RECORDER, Node, inputs
from .rotation import IDENTITY, Vector
from .simplify import Parted, part
from .source import EITHER, lines, names
from .triangle import Bones, Settings

Solve = Callable[..., tuple[Any, ...]]
"""``solve(x, y, z)`` of a target, with a pole's place after it if the plane is the pole's, and with influence both
bones' own rotations. Places are in `axes_for` the plane. Returns the upper and the lower bone's own rotation (w, x, y,
z each), the stretch and the reach."""

SolveRows = Callable[[Array], Array]
"""`Solve` by columns, each limb to the last bit: takes numbers ``(given, limbs)`` and returns ``(results, limbs)``.
Where what is given is not finite, a limb's rotations are not numbers."""

_CONSTANTS, _UNINHERITED = 5 + 9 + 12 + 4 + 3 + 2 + len(Settings._fields) + 1, 4 + 4 + 9
"""How many numbers the formula takes of a limb and its settings, and of a lower bone that does not inherit rotation."""

_RESULTS = 10

_OPERATIONS = EITHER | {
    "select": "({1} if {0} else {2})",
    "min": "({0} if {0} < {1} else {1})",
    "max": "({0} if {0} > {1} else {1})",
}


def bind(
    limb: Limb, settings: Settings, features: Features, tolerance: float, uninherited: Uninherited | None = None
) -> Solve:
    """The function that poses this limb with these settings."""
    return _maker(features, uninherited is not None)(*constants_of(limb, settings, tolerance, uninherited))


def bind_rows(constants: Sequence[Sequence[float]], features: Features, is_uninherited: bool = False) -> SolveRows:
    """The function that poses many limbs with these features; ``constants`` holds `constants_of` for each."""
    make, count = _columns(features, is_uninherited)
    buffers = np.empty((count, len(constants)))
    with np.errstate(all="ignore"):
        step, same = make(*np.ascontiguousarray(np.transpose(constants)))

    def solve(given: Array) -> Array:
        results = np.empty((_RESULTS, given.shape[1]))
        with np.errstate(all="ignore"):
            step(*given, buffers, results)
        for i, number in same.items():
            results[i] = number
        return results

    return solve


@cache
def _columns(features: Features, is_uninherited: bool) -> Columns:
    return columns(*record(features, is_uninherited))


def constants_of(limb: Limb, settings: Settings, tolerance: Any, uninherited: Uninherited | None = None) -> list[Any]:
    """All that the formula takes of a limb and its settings, in order."""
    shape = (limb.bones, *limb.axes, *limb.knee_turns, limb.line_turn, limb.start, limb.pole_turn)
    groups = [*shape, settings, (tolerance,)]
    if uninherited is not None:
        groups += [*uninherited, *limb.lower_axes]
    return [number for group in groups for number in group]


@cache
def _maker(features: Features, is_uninherited: bool) -> Callable[..., Solve]:
    namespace: dict[str, Any] = {}
    source = _source(*record(features, is_uninherited))
    exec(compile(source, "<planar_ik formula>", "exec"), namespace)  # noqa: S102 made of the formula alone
    make: Callable[..., Solve] = namespace["make"]
    return make


class Recorded(NamedTuple):
    """The inputs that `constants_of` fills, and the formula."""

    constants: tuple[Node, ...]
    formula: Parted


@cache
def record(features: Features, is_uninherited: bool = False) -> Recorded:
    """Record `solve_in_axes` with these features; its results are `Solve`'s."""
    constants = inputs("constant", _CONSTANTS + (_UNINHERITED if is_uninherited else 0))
    has_pole = features.plane is Plane.POLE
    given = inputs("given", 3 + (3 if has_pole else 0) + (8 if features.blended else 0))
    return Recorded(constants, part(_results(iter(constants), iter(given), features, is_uninherited), given))


def _results(constants: Iterator[Any], given: Iterator[Any], features: Features, is_uninherited: bool) -> list[Any]:
    """The nodes of `Solve`'s results."""
    limb, settings, tolerance = shape_of(constants)
    uninherited = Uninherited(take(constants, 4), take(constants, 4)) if is_uninherited else None
    if is_uninherited:
        limb = limb._replace(lower_axes=take_rows(constants, 3))
    target, pole, own = take_goals(given, features)
    solution = solve_in_axes(target, limb, settings, features, RECORDER, pole, own, uninherited, tolerance)
    return [*solution.upper, *solution.lower, solution.stretch, solution.reach]


def shape_of(constants: Iterator[Any]) -> tuple[Limb, Settings, Any]:
    """The limb as far as `solve_in_axes` takes it, its settings and the tolerance, from what `constants_of` gives."""
    bones, axes, knee_turns = Bones(*take(constants, 5)), take_rows(constants, 3), take_rows(constants, 4)
    line_turn, start, pole_turn = take(constants, 4), take(constants, 3), take(constants, 2)
    limb = Limb(None, None, bones, axes, axes, IDENTITY, knee_turns, axes, line_turn, start, pole_turn)
    return limb, Settings(*take(constants, len(Settings._fields))), next(constants)


def take_goals(given: Iterator[Any], features: Features) -> tuple[Vector, Vector | None, Own]:
    """The target, the pole and the bones' own rotations, from what a limb with these features is given each time."""
    target = take(given, 3)
    pole = take(given, 3) if features.plane is Plane.POLE else None
    return target, pole, Own(take(given, 4), take(given, 4)) if features.blended else OWN_AT_REST


def take(numbers: Iterator[Any], count: int) -> Any:
    """The next numbers, as a tuple."""
    return tuple(islice(numbers, count))


def take_rows(numbers: Iterator[Any], size: int) -> Any:
    """The next three rows of numbers."""
    return tuple(take(numbers, size) for _ in range(3))


def _source(constants: tuple[Node, ...], formula: Parted) -> str:
    """The source of ``make(constants...)``, which returns ``solve(given...)``."""
    fixed, texts = lines(formula.fixed, "c", "    ", _OPERATIONS)
    held = [f"    {name} = {text}" for name, text in zip(names(formula.held), texts, strict=True)]
    worked_out, results = lines(formula.results, "v", "        ", _OPERATIONS)
    head = f"from math import sqrt\ndef make({', '.join(names(constants))}):"
    solve = f"    def solve({', '.join(names(formula.given))}):"
    return "\n".join(
        [head, *fixed, *held, solve, *worked_out, f"        return ({', '.join(results)},)", "    return solve\n"]
    )
