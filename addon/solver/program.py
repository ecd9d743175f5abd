"""A recorded formula as a run of NumPy calls on a few buffers.

Written with operators, a formula on arrays spends half its time on fresh memory for every number on the way. Recorded,
it is known where each number is needed last, and the next one can take its place. Nothing is worked out twice, and
what some operations say together has a faster way in NumPy: `_merged`.
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .ops import Array
from .record import Node, in_order

Slot = int
"""The place of an array or a number while a program runs."""

Step = tuple[Callable[..., Any], tuple[Slot, ...]]
"""What to call with what is in these slots; the last has room for what comes of it."""


class Program(NamedTuple):
    """A formula ready to run: ``once``, on the numbers that all rows share, and then ``run``, on some rows at a time.

    The inputs have the first slots, in order. ``run`` takes the slots and leaves the results in theirs. ``buffers`` are
    slots that want room for rows of one kind of number; those in ``filled`` want it full of the number in another slot.
    ``scalars`` are slots of shared numbers that rows are combined with. ``results`` are the slots of the results and
    the kinds of their numbers; those in ``outputs`` want room too, for they differ from row to row.
    """

    size: int
    constants: dict[Slot, Any]
    once: list[tuple[Callable[..., Any], list[Slot], Slot]]
    run: Callable[[list[Any]], None]
    buffers: dict[Slot, type]
    filled: dict[Slot, Slot]
    scalars: list[Slot]
    results: list[tuple[Slot, type]]
    outputs: set[Slot]

    def begin(self, numbers: Sequence[Any]) -> list[Any]:
        """The slots with what all rows share; ``numbers`` holds anything for inputs that differ."""
        slots = [*numbers, *[None] * (self.size - len(numbers))]
        for slot, constant in self.constants.items():
            slots[slot] = constant
        for operation, parts, into in self.once:
            slots[into] = operation(*[slots[part] for part in parts])
        for slot in self.scalars:  # which NumPy would turn into arrays at every step
            slots[slot] = np.array(slots[slot])
        return slots


def compose(results: Sequence[Any], inputs: Sequence[Node], differ: Sequence[bool]) -> Program:
    """The program for recorded results, given which of the inputs differ from row to row."""
    nodes = _merged([result if isinstance(result, Node) else Node("constant", result) for result in results])
    order = list(in_order([*inputs, *nodes]))
    wanted = set(nodes)
    differing = {node for node, does in zip(inputs, differ, strict=True) if does}
    kinds: dict[Any, type] = {}
    for node in order:
        kinds[node] = _kind(node, kinds)
        if not differing.isdisjoint(node.parts):
            differing.add(node)
    composer = _Composer(inputs, differing, Counter(part for node in order for part in node.parts) + Counter(nodes))
    for node in order:
        if node.operation == "constant":
            composer.add_constant(node, kinds[node])
        elif node in differing and node.operation != "input":
            composer.add_step(node, kinds, node in wanted)
        elif node.operation != "input":
            composer.add_once(node)
    placed = [(composer.place(node, node in differing), kinds[node]) for node in nodes]
    outputs = {slot for (slot, _), node in zip(placed, nodes, strict=True) if node in differing}
    run = _function(composer.steps, composer.size)
    made = composer.constants, composer.once, run, composer.buffers, composer.filled, sorted(composer.scalars)
    return Program(composer.size, *made, placed, outputs)


def _merged(results: list[Node]) -> list[Node]:
    """The same results with no number made twice; ``max(-x, x)`` and ``-y if x < 0 else y`` are one operation each."""
    known: dict[Any, Node] = {}
    merged: dict[Node, Node] = {}
    for node in in_order(results):
        operation, parts = node.operation, tuple(merged.get(part, part) for part in node.parts)
        if operation == "max" and _is_negative(parts[0], parts[1]):
            operation, parts = "abs", parts[1:]
        elif operation == "select" and _is_negative(parts[1], parts[2]) and _is_below_0(parts[0]):
            operation, parts = "flip", (parts[0].parts[0], parts[2])
        key = (operation, *map(repr, parts)) if operation == "constant" else (operation, *parts)
        merged[node] = known.setdefault(key, node if parts == node.parts else Node(operation, *parts))
    return [merged[node] for node in results]


def _function(steps: list[Step], size: int) -> Callable[[list[Any]], None]:
    """The steps as a Python function, which costs less than going through a list; with few rows that counts."""
    names = {operation: f"operation{i}" for i, operation in enumerate(dict.fromkeys(step[0] for step in steps))}
    lines = [f"{names[operation]}({', '.join(f'slot{slot}' for slot in slots)})" for operation, slots in steps]
    unpack = f"[{', '.join(f'slot{i}' for i in range(size))}] = slots"
    source = "\n    ".join(["def run(slots):", unpack, *lines])
    namespace: dict[str, Any] = {name: operation for operation, name in names.items()}
    exec(compile(source, "<planar_ik program>", "exec"), namespace)  # noqa: S102 made of the formula alone
    run: Callable[[list[Any]], None] = namespace["run"]
    return run


def _is_negative(node: Node, other: Node) -> bool:
    return node.operation == "neg" and node.parts[0] is other


def _is_below_0(node: Node) -> bool:
    return node.operation == "<" and node.parts[1].operation == "constant" and node.parts[1].parts[0] == 0.0


class _Composer:
    """Gives each node its slot, after its parts."""

    def __init__(self, inputs: Sequence[Node], differing: set[Any], uses: Counter[Any]) -> None:
        self.size = 0
        self.slots: dict[Any, Slot] = {node: self.new() for node in inputs}
        self.differing = differing
        self.uses = uses
        self.constants: dict[Slot, Any] = {}
        self.once: list[tuple[Callable[..., Any], list[Slot], Slot]] = []
        self.steps: list[Step] = []
        self.buffers: dict[Slot, type] = {}
        self.filled: dict[Slot, Slot] = {}
        self.scalars: set[Slot] = set()
        self.free: list[Slot] = []
        self.taken = set(self.slots.values())

    def new(self) -> Slot:
        """A slot never used before."""
        self.size += 1
        return self.size - 1

    def add_constant(self, node: Node, kind: type) -> None:
        self.slots[node] = self.new()
        self.constants[self.slots[node]] = kind(node.parts[0])

    def add_once(self, node: Node) -> None:
        self.slots[node] = self.new()
        self.once.append((_ON_NUMBERS[node.operation], [self.slots[part] for part in node.parts], self.slots[node]))

    def add_step(self, node: Node, kinds: dict[Any, type], is_result: bool) -> None:
        """Into a slot of its own if it is a result; else into one whose number is needed no more."""
        operation, operands = _on_rows(node, kinds)
        parts = [self.slots[part] for part in operands]
        if node.operation in ("min", "max") and kinds[node] is float:  # which are fast between arrays only
            parts = [self.slots[part] if part in self.differing else self.full(self.slots[part]) for part in operands]
        else:
            self.scalars.update(self.slots[part] for part in operands if part not in self.differing)
        if operation not in (_select, _flip):  # which write before it has read all its parts
            self.release(node)
        self.slots[node] = self.new() if is_result else self.buffer(kinds[node])
        self.steps.append((operation, (*parts, self.slots[node])))
        if operation in (_select, _flip):
            self.release(node)

    def place(self, node: Node, differs: bool) -> Slot:
        """The slot of a result: its own, or a copy's if that of another result or of an input."""
        slot = self.slots[node]
        if differs and slot in self.taken:
            slot = self.new()
            self.steps.append((np.positive, (self.slots[node], slot)))
        self.taken.add(slot)
        return slot

    def full(self, number: Slot) -> Slot:
        """A slot for rows of the same number."""
        known = {source: slot for slot, source in self.filled.items()}
        if number not in known:
            known[number] = self.new()
            self.filled[known[number]] = number
        return known[number]

    def buffer(self, kind: type) -> Slot:
        for slot in reversed(self.free):
            if self.buffers[slot] is kind:
                self.free.remove(slot)
                return slot
        slot = self.new()
        self.buffers[slot] = kind
        return slot

    def release(self, node: Node) -> None:
        for part in node.parts:
            self.uses[part] -= 1
            if not self.uses[part] and self.slots[part] in self.buffers:
                self.free.append(self.slots[part])


def _kind(node: Node, kinds: dict[Any, type]) -> type:
    """What numbers a node holds: truths, whole numbers (small: the `Reach`) or floats."""
    if node.operation == "constant":
        return np.int8 if isinstance(node.parts[0], int) else float
    if node.operation in ("<", "<=", ">", ">="):
        return bool
    chosen = node.parts[1:] if node.operation == "select" else node.parts
    is_choice = node.operation in ("select", "min", "max")
    return np.int8 if is_choice and all(kinds[part] is np.int8 for part in chosen) else float


def _on_rows(node: Node, kinds: dict[Any, type]) -> tuple[Callable[..., Any], tuple[Node, ...]]:
    """What does on rows what the node says, and the operands it needs."""
    parts = node.parts
    if node.operation != "select":
        return _ON_ROWS[node.operation], parts
    if_true, if_false = (part.parts[0] if part.operation == "constant" else None for part in parts[1:])
    if kinds[node] is np.int8 and if_false == 0:
        return _select_or_none, parts[:2]
    if if_true is None or if_false is None or (if_true - if_false) + if_false != if_true:
        return _select, parts
    return _select_number(if_true, if_false, kinds[node]), parts[:1]


def _select(condition: Any, if_true: Any, if_false: Any, out: Array) -> None:
    np.copyto(out, if_false)
    np.copyto(out, if_true, where=condition)


def _select_or_none(condition: Array, if_true: Any, out: Array) -> None:
    """``if_true``, a whole number, or 0."""
    np.multiply(condition.view(np.int8), if_true, out)


def _select_number(if_true: float, if_false: float, kind: type) -> Callable[[Array, Array], None]:
    """The choice between two numbers by arithmetic: branching at random costs the processor more."""
    difference: Array = np.array(if_true - if_false, kind)
    otherwise: Array = np.array(if_false, kind)

    def select(condition: Array, out: Array) -> None:
        np.copyto(out, condition)
        np.multiply(out, difference, out)
        np.add(out, otherwise, out)

    return select


_ZERO: Array = np.array(0.0)
_SIGN_BIT: Array = np.array(np.iinfo(np.int64).min)


def _flip(sign: Array, number: Array, out: Array) -> None:
    """``number``, negated where ``sign`` is below 0."""
    bits = out.view(np.int64)
    np.add(sign, _ZERO, out)  # or -0 would count as below 0
    np.bitwise_and(bits, _SIGN_BIT, bits)
    np.bitwise_xor(bits, number.view(np.int64), bits)


_ON_ROWS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "neg": np.negative,
    "abs": np.absolute,
    "flip": _flip,
    "sqrt": np.sqrt,
    "min": np.minimum,
    "max": np.maximum,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}
_ON_NUMBERS: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "neg": operator.neg,
    "abs": abs,
    "flip": lambda sign, number: -number if sign < 0.0 else number,
    "sqrt": math.sqrt,
    "min": min,
    "max": max,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "select": lambda condition, if_true, if_false: if_true if condition else if_false,
}
