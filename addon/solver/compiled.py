"""The chain's formula as one straight Python function, for the per-frame driver.

`solve_chain` spends most of its time on floats in calls and tuples. Recorded once for a set of features and written
out as source (as `collections.namedtuple` does), the same arithmetic takes less than half of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from .chain import Features, Hinge, Own, Pole, solve_chain
from .limb import Limb, in_axes
from .ops import FLOATS
from .record import RECORDER, Node, in_order, inputs
from .rotation import IDENTITY, conjugate, dot, from_plane, multiply, normalised
from .simplify import Parted, part
from .triangle import Bones, Settings

Solve = Callable[..., tuple[Any, ...]]
"""``solve(x, y, z)`` of a target, or ``solve(x, y, z, px, py, pz, nx, ny, nz)`` with a pole and the last normal; with
influence, both bones' own rotations follow. Positions are in the limb's axes. Returns the upper and the lower bone's
own rotation (w, x, y, z each), the stretch, the reach and, with a pole, the plane's normal in the limb's axes."""

_PARTS = {"+": "({} + {})", "-": "({} - {})", "*": "({} * {})", "/": "({} / {})", "neg": "(-{})", "sqrt": "sqrt({})"}
_PARTS |= {sign: "({} " + sign + " {})" for sign in ("<", "<=", ">", ">=")}
_PARTS |= {
    "select": "({1} if {0} else {2})",
    "min": "({0} if {0} < {1} else {1})",
    "max": "({0} if {0} > {1} else {1})",
}
_REPEATS_PARTS = ("min", "max")
_SHAPE, _SETTINGS = 26, len(Settings._fields)
"""How many numbers of a limb's shape, and how many settings, the formula takes."""

_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def bind(
    limb: Limb, settings: Settings, features: Features, has_pole: bool, tolerance: float, hinge: Hinge | None = None
) -> Solve:
    """The function that poses this limb with these settings."""
    return _maker(features, has_pole, hinge is not None)(*constants_of(limb, settings, tolerance, hinge))


def constants_of(limb: Limb, settings: Settings, tolerance: float, hinge: Hinge | None = None) -> list[float]:
    """All that the formula takes of a limb and its settings, in order."""
    constants = [*limb.bones, *_flat(limb.axes), *_flat(limb.knee_turns), *settings, tolerance]
    if hinge is not None:
        to_axes = conjugate(normalised(from_plane(limb.axes[0], limb.axes[2], FLOATS), FLOATS))
        constants += [*multiply(to_axes, hinge.rest), *multiply(to_axes, hinge.now), *_flat(limb.lower_axes)]
    return constants


@cache
def _maker(features: Features, has_pole: bool, has_hinge: bool) -> Callable[..., Solve]:
    constants, formula = record(features, has_pole, has_hinge)
    namespace: dict[str, Any] = {}
    source = _source([node.parts[0] for node in constants], formula)
    exec(compile(source, "<planar_ik formula>", "exec"), namespace)  # noqa: S102 made of the formula alone
    make: Callable[..., Solve] = namespace["make"]
    return make


class Recorded(NamedTuple):
    """The inputs that `constants_of` fills, and the formula."""

    constants: tuple[Node, ...]
    formula: Parted


@cache
def record(features: Features, has_pole: bool, has_hinge: bool = False) -> Recorded:
    """Record `solve_chain` with these features; its results are `Solve`'s."""
    constants = inputs("constant", _SHAPE + _SETTINGS + 1 + (17 if has_hinge else 0))
    given = inputs("given", 3 + (6 if has_pole else 0) + (8 if features.blended else 0))
    return Recorded(constants, part(_results(constants, given, features, has_pole), given))


def _results(constants: Any, given: Any, features: Features, has_pole: bool) -> list[Any]:
    """The nodes of `Solve`'s results; positions and the upper bone's rotation are solved in the limb's axes."""
    lengths, axes, knee_turns = constants[:5], _rows(constants[5:14], 3), _rows(constants[14:_SHAPE], 4)
    settings, (tolerance, *rest) = Settings(*constants[_SHAPE : _SHAPE + _SETTINGS]), constants[_SHAPE + _SETTINGS :]
    hinge = Hinge(tuple(rest[:4]), tuple(rest[4:8])) if rest else None
    lower_axes = _rows(tuple(rest[8:]), 3)
    limb = Limb(None, None, Bones(*lengths), _AXES, lower_axes, IDENTITY, knee_turns)
    pole = Pole(given[3:6], given[6:9]) if has_pole else None
    own = Own()
    if features.blended:
        upper, lower = given[-8:-4], given[-4:]
        own = Own((upper[0], *(dot(upper[1:], axis) for axis in axes)), lower)
    solution = solve_chain(given[:3], limb, settings, features, RECORDER, pole, own, hinge, tolerance)
    results = [*in_axes(solution.upper, axes), *solution.lower, solution.stretch, solution.reach]
    return [*results, *solution.normal] if has_pole else results


def _flat(rows: tuple[tuple[Any, ...], ...]) -> list[Any]:
    return [number for row in rows for number in row]


def _rows(numbers: tuple[Any, ...], size: int) -> Any:
    return tuple(numbers[i : i + size] for i in range(0, len(numbers), size))


def _source(constants: list[str], formula: Parted) -> str:
    """The source of ``make(constants...)``, which returns ``solve(given...)``."""
    fixed, texts = _lines(formula.fixed, "c", "    ")
    held = [f"    {name} = {text}" for name, text in zip(_names(formula.held), texts, strict=True)]
    lines, results = _lines(formula.results, "v", "        ")
    head = f"from math import sqrt\ndef make({', '.join(constants)}):"
    solve = f"    def solve({', '.join(_names(formula.given))}):"
    return "\n".join(
        [head, *fixed, *held, solve, *lines, f"        return ({', '.join(results)},)", "    return solve\n"]
    )


def _names(nodes: tuple[Node, ...]) -> list[str]:
    return [node.parts[0] for node in nodes]


def _lines(results: Sequence[Any], prefix: str, indent: str) -> tuple[list[str], list[str]]:
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
            text = _PARTS[node.operation].format(*(written[id(each)] for each in node.parts))
            if uses[id(node)] > 1:
                lines.append(f"{indent}{prefix}{len(lines)} = {text}")
                text = f"{prefix}{len(lines) - 1}"
        written[id(node)] = text
    return lines, [written[id(node)] if isinstance(node, Node) else repr(float(node)) for node in results]
