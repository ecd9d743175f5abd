"""Recording a formula: stand-ins for numbers that note what is done to them, to be written out as source later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

from .ops import Ops


class Node:
    """A number not yet known: an input by name, a constant, or an operation on others.

    It answers to ``+ - * /``, ``-x``, ``abs`` and comparisons, and refuses to be used as a truth value, so that a
    formula which branches on a value can't be recorded wrongly.
    """

    __slots__ = ("operation", "parts")

    def __init__(self, operation: str, *parts: Any) -> None:
        self.operation = operation
        self.parts = parts

    def __bool__(self) -> bool:
        raise TypeError("a recorded formula may not branch on a value")

    def __neg__(self) -> Node:
        return Node("neg", self)

    def __abs__(self) -> Node:
        return Node("max", -self, self)

    def __add__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else Node("+", self, _node(other))

    def __radd__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else Node("+", _node(other), self)

    def __sub__(self, other: Any) -> Any:
        return self if _is(other, 0.0) else Node("-", self, _node(other))

    def __rsub__(self, other: Any) -> Any:
        return -self if _is(other, 0.0) else Node("-", _node(other), self)

    def __mul__(self, other: Any) -> Any:
        if _is(other, 0.0):
            return 0.0
        return self if _is(other, 1.0) else Node("*", self, _node(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self if _is(other, 1.0) else Node("/", self, _node(other))

    def __rtruediv__(self, other: Any) -> Node:
        return Node("/", _node(other), self)

    def __lt__(self, other: Any) -> Node:
        return Node("<", self, _node(other))

    def __le__(self, other: Any) -> Node:
        return Node("<=", self, _node(other))

    def __gt__(self, other: Any) -> Node:
        return Node(">", self, _node(other))

    def __ge__(self, other: Any) -> Node:
        return Node(">=", self, _node(other))


def _is(value: Any, number: float) -> bool:
    return not isinstance(value, Node) and value == number


def _node(value: Any) -> Node:
    return value if isinstance(value, Node) else Node("constant", value)


def _select(condition: Any, if_true: Any, if_false: Any) -> Any:
    if not isinstance(condition, Node):
        return if_true if condition else if_false
    return Node("select", condition, _node(if_true), _node(if_false))


RECORDER = Ops(
    lambda x: Node("sqrt", _node(x)),
    lambda a, b: Node("min", _node(a), _node(b)),
    lambda a, b: Node("max", _node(a), _node(b)),
    _select,
)


def inputs(prefix: str, count: int) -> tuple[Node, ...]:
    """``count`` inputs named ``prefix0``, ``prefix1`` and so on."""
    return tuple(Node("input", f"{prefix}{i}") for i in range(count))


def in_order(results: list[Node], parts: Callable[[Node], Iterable[Any]] = attrgetter("parts")) -> Iterator[Node]:
    """Every node that the results need, each once, after those it is made from; ``parts`` says which these are."""
    seen: set[int] = set()
    waiting = list(reversed(results))
    while waiting:
        node = waiting[-1]
        needed = [part for part in parts(node) if isinstance(part, Node) and id(part) not in seen]
        if needed and id(node) not in seen:
            waiting.extend(reversed(needed))
            continue
        waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
