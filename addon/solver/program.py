"""A recorded formula as a run of NumPy calls on a few buffers.

Written with operators, a formula on arrays spends half its time on fresh memory for every number on the way. Recorded,
it is known where each number is needed last, and the next one can take its place.
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


class Program(NamedTuple):
    """A formula ready to run: ``once``, on the numbers that all rows share, and then ``steps``, on some rows at a time.

    The inputs have the first slots, in order. ``buffers`` are slots that want room for rows of one kind of number;
    those in ``filled`` want it full of the number in another slot. ``results`` are the slots of the results and the
    kinds of their numbers; those in ``outputs`` want room too, for they differ from row to row.
    """

    size: int
    constants: dict[Slot, Any]
    once: list[tuple[Callable[..., Any], list[Slot], Slot]]
    steps: list[tuple[Callable[..., Any], Callable[[list[Any]], tuple[Any, ...]]]]
    buffers: dict[Slot, type]
    filled: dict[Slot, Slot]
    results: list[tuple[Slot, type]]
    outputs: set[Slot]

    def begin(self, numbers: Sequence[Any]) -> list[Any]:
        """The slots with what all rows share; ``numbers`` holds anything for inputs that differ."""
        slots = [*numbers, *(None for _ in range(self.size - len(numbers)))]
        for slot, constant in self.constants.items():
            slots[slot] = constant
        for operation, parts, into in self.once:
            slots[into] = operation(*[slots[part] for part in parts])
        return slots

    def run(self, slots: list[Any]) -> None:
        """Leave the results in their slots."""
        for operation, parts_and_room in self.steps:
            operation(*parts_and_room(slots))


def compose(results: Sequence[Any], inputs: Sequence[Node], differ: Sequence[bool]) -> Program:
    """The program for recorded results, given which of the inputs differ from row to row."""
    nodes = [result if isinstance(result, Node) else Node("constant", result) for result in results]
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
    made = composer.constants, composer.once, composer.steps, composer.buffers, composer.filled
    return Program(composer.size, *made, placed, outputs)


class _Composer:
    """Gives each node its slot, after its parts."""

    def __init__(self, inputs: Sequence[Node], differing: set[Any], uses: Counter[Any]) -> None:
        self.size = 0
        self.slots: dict[Any, Slot] = {node: self.new() for node in inputs}
        self.differing = differing
        self.uses = uses
        self.constants: dict[Slot, Any] = {}
        self.once: list[tuple[Callable[..., Any], list[Slot], Slot]] = []
        self.steps: list[tuple[Callable[..., Any], Callable[[list[Any]], tuple[Any, ...]]]] = []
        self.buffers: dict[Slot, type] = {}
        self.filled: dict[Slot, Slot] = {}
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
        operation, operands = _on_rows(node)
        parts = [self.slots[part] for part in operands]
        if node.operation in ("min", "max") and kinds[node] is float:  # which are fast between arrays only
            parts = [self.slots[part] if part in self.differing else self.full(self.slots[part]) for part in operands]
        if operation is not _select:  # which writes before it has read all its parts
            self.release(node)
        self.slots[node] = self.new() if is_result else self.buffer(kinds[node])
        self.steps.append((operation, operator.itemgetter(*parts, self.slots[node])))
        if operation is _select:
            self.release(node)

    def place(self, node: Node, differs: bool) -> Slot:
        """The slot of a result: its own, or a copy's if that of another result or of an input."""
        slot = self.slots[node]
        if differs and slot in self.taken:
            slot = self.new()
            self.steps.append((np.positive, operator.itemgetter(self.slots[node], slot)))
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


def _on_rows(node: Node) -> tuple[Callable[..., Any], tuple[Node, ...]]:
    """What does on rows what the node says, and the operands it needs."""
    parts = node.parts
    if node.operation == "max" and parts[0].operation == "neg" and parts[0].parts[0] is parts[1]:
        return np.absolute, parts[1:]
    if node.operation != "select":
        return _ON_ROWS[node.operation], parts
    if_true, if_false = (part.parts[0] if part.operation == "constant" else None for part in parts[1:])
    if if_true is None or if_false is None or (if_true - if_false) + if_false != if_true:
        return _select, parts
    return (_select_number, parts) if if_false else (np.multiply, parts[:2])


def _select(condition: Any, if_true: Any, if_false: Any, out: Array) -> None:
    np.copyto(out, if_false)
    np.copyto(out, if_true, where=condition)


def _select_number(condition: Any, if_true: Any, if_false: Any, out: Array) -> None:
    """The same by arithmetic: branching at random costs the processor more."""
    np.multiply(condition, if_true - if_false, out)
    np.add(out, if_false, out)


_ON_ROWS: dict[str, Callable[..., Any]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "neg": np.negative,
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
    "sqrt": math.sqrt,
    "min": min,
    "max": max,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "select": lambda condition, if_true, if_false: if_true if condition else if_false,
}
