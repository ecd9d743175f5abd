"""The chain's formula as one straight Python function, for the per-frame driver: for one limb, or for many at once.

`solve_chain` spends most of its time on floats in calls and tuples. Recorded once for a set of features and written
out as source (as `collections.namedtuple` does), the same arithmetic takes less than half of it. Written with NumPy's
functions, it poses some dozens of limbs and more for less than one after the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .chain import OWN_AT_REST, Features, Own, Plane, Uninherited, solve_in_axes
from .limb import Limb
from .ops import Array
from .record import RECORDER, Node, in_order, inputs
from .rotation import IDENTITY
from .simplify import Parted, part
from .triangle import Bones, Settings

Solve = Callable[..., tuple[Any, ...]]
"""``solve(x, y, z)`` of a target, with a pole's place after it if the plane is the pole's, and with influence both
bones' own rotations. Places are in `axes_for` the plane. Returns the upper and the lower bone's own rotation (w, x, y,
z each), the stretch and the reach."""

SolveRows = Callable[[Array], Array]
"""`Solve` by columns, each limb to the last bit: takes numbers ``(given, limbs)`` and returns ``(results, limbs)``.
Where what is given is not finite, a limb's rotations are not numbers."""

_CONSTANTS, _UNINHERITED = 5 + 9 + 12 + 4 + 3 + len(Settings._fields) + 1, 4 + 4 + 9
"""How many numbers the formula takes of a limb and its settings, and of a lower bone that does not inherit rotation."""

_EITHER = {"+": "({} + {})", "-": "({} - {})", "*": "({} * {})", "/": "({} / {})", "neg": "(-{})", "sqrt": "sqrt({})"}
_EITHER |= {sign: "({} " + sign + " {})" for sign in ("<", "<=", ">", ">=")}


class _Language(NamedTuple):
    """How a formula is written: what it imports, and each operation."""

    imports: str
    operations: dict[str, str]


_FOR_FLOATS = _Language(
    "from math import sqrt",
    _EITHER
    | {
        "select": "({1} if {0} else {2})",
        "min": "({0} if {0} < {1} else {1})",
        "max": "({0} if {0} > {1} else {1})",
    },
)
_FOR_ARRAYS = _Language(
    "from numpy import maximum, minimum, sqrt, where",
    _EITHER | {"select": "where({}, {}, {})", "min": "minimum({}, {})", "max": "maximum({}, {})"},
)
_REPEATS_PARTS = ("min", "max")


def bind(
    limb: Limb, settings: Settings, features: Features, tolerance: float, uninherited: Uninherited | None = None
) -> Solve:
    """The function that poses this limb with these settings."""
    return _maker(features, uninherited is not None)(*constants_of(limb, settings, tolerance, uninherited))


def bind_rows(constants: Sequence[Sequence[float]], features: Features, is_uninherited: bool = False) -> SolveRows:
    """The function that poses many limbs with these features; ``constants`` holds `constants_of` for each."""
    columns = np.array(constants).T
    shared = [column[0].item() if (column == column[0]).all() else column for column in columns]
    with np.errstate(all="ignore"):
        solve_columns = _maker(features, is_uninherited, for_arrays=True)(*shared)

    def solve(given: Array) -> Array:
        with np.errstate(all="ignore"):
            numbers = solve_columns(*given)
        results = np.empty((len(numbers), given.shape[1]))
        for room, number in zip(results, numbers, strict=True):
            room[:] = number
        return results

    return solve


def constants_of(
    limb: Limb, settings: Settings, tolerance: float, uninherited: Uninherited | None = None
) -> list[float]:
    """All that the formula takes of a limb and its settings, in order."""
    shape = (limb.bones, *limb.axes, *limb.knee_turns, limb.line_turn, limb.start)
    groups = (
        [*shape, settings, (tolerance,)]
        if uninherited is None
        else [*shape, settings, (tolerance,), *uninherited, *limb.lower_axes]
    )
    return [number for group in groups for number in group]


@cache
def _maker(features: Features, is_uninherited: bool, for_arrays: bool = False) -> Callable[..., Solve]:
    constants, formula = record(features, is_uninherited)
    namespace: dict[str, Any] = {}
    source = _source([node.parts[0] for node in constants], formula, _FOR_ARRAYS if for_arrays else _FOR_FLOATS)
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
    bones, axes, knee_turns = Bones(*_take(constants, 5)), _rows(constants, 3), _rows(constants, 4)
    line_turn, start = _take(constants, 4), _take(constants, 3)
    settings, tolerance = Settings(*_take(constants, len(Settings._fields))), next(constants)
    uninherited = Uninherited(_take(constants, 4), _take(constants, 4)) if is_uninherited else None
    lower_axes: Any = _rows(constants, 3) if is_uninherited else None
    limb = Limb(None, None, bones, axes, lower_axes, IDENTITY, knee_turns, axes, line_turn, start)
    target = _take(given, 3)
    pole = _take(given, 3) if features.plane is Plane.POLE else None
    own = Own(_take(given, 4), _take(given, 4)) if features.blended else OWN_AT_REST
    solution = solve_in_axes(target, limb, settings, features, RECORDER, pole, own, uninherited, tolerance)
    return [*solution.upper, *solution.lower, solution.stretch, solution.reach]


def _take(numbers: Iterator[Any], count: int) -> Any:
    return tuple(islice(numbers, count))


def _rows(numbers: Iterator[Any], size: int) -> Any:
    return tuple(_take(numbers, size) for _ in range(3))


def _source(constants: list[str], formula: Parted, language: _Language) -> str:
    """The source of ``make(constants...)``, which returns ``solve(given...)``."""
    operations = language.operations
    fixed, texts = _lines(formula.fixed, "c", "    ", operations)
    held = [f"    {name} = {text}" for name, text in zip(_names(formula.held), texts, strict=True)]
    lines, results = _lines(formula.results, "v", "        ", operations)
    head = f"{language.imports}\ndef make({', '.join(constants)}):"
    solve = f"    def solve({', '.join(_names(formula.given))}):"
    return "\n".join(
        [head, *fixed, *held, solve, *lines, f"        return ({', '.join(results)},)", "    return solve\n"]
    )


def _names(nodes: tuple[Node, ...]) -> list[str]:
    return [node.parts[0] for node in nodes]


def _lines(results: Sequence[Any], prefix: str, indent: str, operations: dict[str, str]) -> tuple[list[str], list[str]]:
    """Lines that work out results, and the results' texts; nodes used once are written in place."""
    nodes = list(in_order([node for node in results if isinstance(node, Node)]))
    uses = Counter(id(node) for node in results)
    for node in nodes:
        weight = 2 if node.operation in _REPEATS_PARTS else 1
        for each in node.parts:
            if isinstance(each, Node):
                uses[id(each)] += weight
    written: dict[int, str] = {}
    lines: list[str] = []
    for node in nodes:
        if node.operation == "input":
            text = node.parts[0]
        elif node.operation == "constant":
            text = repr(float(node.parts[0]))
        else:
            text = operations[node.operation].format(*(written[id(each)] for each in node.parts))
            if uses[id(node)] > 1:
                lines.append(f"{indent}{prefix}{len(lines)} = {text}")
                text = f"{prefix}{len(lines) - 1}"
        written[id(node)] = text
    return lines, [written[id(node)] if isinstance(node, Node) else repr(float(node)) for node in results]
