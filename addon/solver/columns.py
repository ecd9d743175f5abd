"""A recorded formula as one NumPy function, for many limbs at once.

Plain array code makes a new array for every step, and copies the results to where they belong. Here each step is
written into a buffer whose number is needed no more, and each result where it belongs, which takes two thirds of the
time. What all limbs share is worked out once, as numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, NamedTuple

import numpy as np

from .ops import choose_into, choose_whole
from .reach import Reach
from .record import Node, in_order
from .simplify import Parted
from .source import EITHER, lines, names

Step = Callable[..., None]
"""``step(given..., buffers, rooms)``: works results out into ``rooms``, arrays of the shape of a slab, as are the
``buffers``; for results that all limbs share, nothing."""

FUNCTIONS = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "neg": "negative",
    "sqrt": "sqrt",
    "min": "minimum",
    "max": "maximum",
}
COMPARISONS = {"<": "less", "<=": "less_equal", ">": "greater", ">=": "greater_equal"}

_FIXED = EITHER | {"select": "where({}, {}, {})", "min": "minimum({}, {})", "max": "maximum({}, {})"}

_NAMES: dict[str, Any] = {name: getattr(np, name) for name in (*FUNCTIONS.values(), *COMPARISONS.values())}
_NAMES |= {"absolute": np.absolute, "copyto": np.copyto, "int8": np.int8, "where": np.where}
_NAMES |= {"choose": choose_into, "choose_whole": choose_whole, "whole": lambda number: np.asarray(number, np.int8)}
_NAMES |= {"array": np.array}  # of a single number too: functions take that sooner than a float


class Columns(NamedTuple):
    """A formula for arrays: ``make(constants...)`` gives a `Step` and the results that it does not work out, by their
    place. Numbers given as constants may be arrays that broadcast with the rest."""

    make: Callable[..., tuple[Step, dict[int, Any]]]
    buffers: int
    """How many the step takes."""


def columns(constants: Sequence[Node], formula: Parted) -> Columns:
    """Write a formula out for arrays."""
    written = _Steps(formula)
    fixed, texts = lines(formula.fixed, "c", "    ", _FIXED)
    held = [
        f"    {node.parts[0]} = {'whole' if node in written.wholes else 'array'}({number})"
        for node, number in zip(formula.held, texts, strict=True)
    ]
    text = [
        f"def make({', '.join(names(constants))}):",
        *fixed,
        *held,
        f"    def step({', '.join([*names(formula.given), 'buffers', 'rooms'])}):",
        f"        {''.join(f'b{i}, ' for i in range(written.count))}*_ = buffers",
        f"        {''.join(f'r{i}, ' for i in range(len(formula.results)))}= rooms",
        *(f"        {line}" for line in written.lines),
        f"    return step, {{{', '.join(f'{i}: {text}' for i, text in written.shared.items())}}}",
    ]
    namespace = _NAMES | {name: np.array(number) for number, name in written.literals.items()}
    exec(compile("\n".join(text) + "\n", "<planar_ik columns>", "exec"), namespace)  # noqa: S102 made of the formula alone
    return Columns(namespace["make"], written.count)


class _Steps:
    """The lines of a step, and how many buffers they need."""

    def __init__(self, formula: Parted) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.shared = {i: _number(node) for i, node in enumerate(formula.results) if not _varies(node, formula)}
        fixed = _wholes(in_order([*formula.fixed]), set())
        self.wholes = {held for held, node in zip(formula.held, formula.fixed, strict=True) if node in fixed}
        self.literals: dict[float, str] = {}
        self._free: list[str] = []
        self._texts: dict[Node, str] = {}
        varying = [(f"r{i}", node) for i, node in enumerate(formula.results) if i not in self.shared]
        self._rooms = {node: room for room, node in reversed(varying) if node.operation != "input"}
        nodes = [*in_order([node for _, node in varying], _parts)]
        self.wholes |= _wholes(nodes, self.wholes)
        self._uses = Counter(part for node in nodes for part in _parts(node))
        for node in nodes:
            self._texts[node] = self._text(node)
        self.lines += [f"copyto({room}, {self._texts[node]})" for room, node in varying if self._texts[node] != room]

    def _text(self, node: Node) -> str:
        """Where a node's number is, once the lines that work it out are written."""
        if node.operation == "input":
            return str(node.parts[0])
        if node.operation == "constant":
            return _number(node)
        parts = [*_parts(node)]
        is_choice = node.operation == "select"
        if node in self.wholes or node.operation in COMPARISONS:
            out = f"w{len(self.lines)}"
            self.lines.append(f"{out} = {self._whole(node, [self._texts[part] for part in parts])}")
            self._release(parts)
            return out
        # A choice reads what it chooses from more than once.
        out = self._rooms.get(node) or (self._taken() if is_choice else "")
        texts = [self._texts[part] if is_choice else self._held(part) for part in parts]
        self._release(parts)
        out = out or self._taken()
        function = "choose" if is_choice else "absolute" if _is_absolute(node) else FUNCTIONS[node.operation]
        self.lines.append(f"{function}({', '.join(texts)}, {out})")
        return out

    def _whole(self, node: Node, texts: list[str]) -> str:
        if node.operation != "select":
            return f"{(FUNCTIONS | COMPARISONS)[node.operation]}({', '.join(texts)})"
        condition, *chosen = texts
        return f"{condition}.view(int8)" if chosen == ["1", "0"] else f"choose_whole({', '.join(texts)})"

    def _held(self, node: Node) -> str:
        """The text of a number, one that is known as the name of an array."""
        if node.operation != "constant":
            return self._texts[node]
        return self.literals.setdefault(float(node.parts[0]), f"k{len(self.literals)}")

    def _taken(self) -> str:
        if self._free:
            return self._free.pop()
        self.count += 1
        return f"b{self.count - 1}"

    def _release(self, parts: Iterable[Node]) -> None:
        """Free the buffers whose numbers were needed for the last time."""
        for part in parts:
            self._uses[part] -= 1
            if not self._uses[part] and self._texts[part].startswith("b"):
                self._free.append(self._texts[part])


def _varies(result: Any, formula: Parted) -> bool:
    return isinstance(result, Node) and result.operation != "constant" and result not in formula.held


def _number(result: Any) -> str:
    """The text of what is the same for all."""
    if isinstance(result, Node) and result.operation == "input":
        return str(result.parts[0])
    number = result.parts[0] if isinstance(result, Node) else result
    return repr(int(number) if isinstance(number, Reach) else float(number))


def _parts(node: Node) -> tuple[Node, ...]:
    """The nodes that a step is made from."""
    if node.operation in ("input", "constant"):
        return ()
    return node.parts[1:] if _is_absolute(node) else node.parts


def _is_absolute(node: Node) -> bool:
    """Whether this is how `abs` is recorded."""
    if node.operation != "max":
        return False
    first, second = node.parts
    return first.operation == "neg" and first.parts[0] is second


def _wholes(nodes: Iterable[Node], known: AbstractSet[Node]) -> set[Node]:
    """The nodes, each after those it is made from, that are a `Reach`, as are those that are known to be."""
    found: set[Node] = {*known}
    for node in nodes:
        chosen = {"select": node.parts[1:], "min": node.parts, "max": node.parts}.get(node.operation, ())
        is_reach = node.operation == "constant" and isinstance(node.parts[0], Reach)
        if is_reach or (chosen and found.issuperset(chosen)):
            found.add(node)
    return found
