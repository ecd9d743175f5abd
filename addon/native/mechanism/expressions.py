"""Recorded formulas as text of Blender's simple expressions, which its drivers evaluate without Python.

A driver that fails once stays invalid for good, so that no input may make one fail, infinite or not a number as it may
be: comparing what is not a number fails (but for ``==``), and so do infinity less infinity and infinity times 0.
`where_finite` keeps a formula from seeing either. What isn't chosen isn't evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, sqrt
from typing import Any

from ...solver.record import Node

LONGEST = 255
"""Characters of an expression; Blender cuts what is longer, and says nothing."""

_CHOICE, _COMPARISON, _SUM, _PRODUCT, _SIGN, _ATOM = range(6)
"""How tightly the parts of a text hold together."""

_INFIX = {
    "+": (_SUM, _SUM, _PRODUCT),
    "-": (_SUM, _SUM, _PRODUCT),
    "*": (_PRODUCT, _PRODUCT, _SIGN),
    "/": (_PRODUCT, _PRODUCT, _SIGN),
    "==": (_COMPARISON, _SUM, _SUM),
    "<": (_COMPARISON, _SUM, _SUM),
    "<=": (_COMPARISON, _SUM, _SUM),
    ">": (_COMPARISON, _SUM, _SUM),
    ">=": (_COMPARISON, _SUM, _SUM),
}
"""How tightly an operation holds together, and how tightly its two parts must."""


def text(formula: Any) -> str:
    """The expression of a recorded formula, or of a number."""
    return _written(formula)[0]


def variables_of(formula: Any) -> list[str]:
    """The names of the inputs that a formula needs, each once."""
    if not isinstance(formula, Node):
        return []
    if formula.operation == "input":
        return [formula.parts[0]]
    return sorted({name for part in formula.parts for name in variables_of(part)})


def call(function: str, *parts: Any) -> Node:
    """One of the functions that Blender's expressions have beyond those of the solver."""
    return Node(function, *map(_node, parts))


def constant(number: float) -> Node:
    """A number that the recorder is not to take away, as it does with one that changes nothing."""
    return Node("constant", number)


def turn_of(cosine: Any, sine: Any) -> Node:
    """The angle, in radians, of which this is the half angle (of any length).

    What both are over under a root is left out: only their ratio matters.
    """
    divisors = [_under_root(cosine), _under_root(sine)]
    if divisors[0] is not None and divisors[0] is divisors[1]:
        cosine, sine = (_without_divisor(part, divisors[0]) for part in (cosine, sine))
    return Node("*", Node("constant", 2.0), call("atan2", _shorter(sine), _shorter(cosine)))


def where_finite(square: Any, formula: Any, otherwise: Any = 0.0) -> Node:
    """The formula, or something else where a sum of squares is infinite or not a number."""
    if not variables_of(formula):
        return _node(formula)
    is_finite = Node("==", call("ceil", 1.0 / (square + 1.0)), Node("constant", 1.0))
    return Node("select", is_finite, _node(formula), _node(otherwise))


def _node(value: Any) -> Node:
    return value if isinstance(value, Node) else Node("constant", value)


def cut(formula: Any, letters: Iterator[str]) -> tuple[Any, list[tuple[str, Node]]]:
    """A formula short enough for a driver, and the pieces cut out of it, each with the variable that it leaves behind;
    none if it is short enough as it is."""
    pieces: list[tuple[str, Node]] = []
    while len(text(formula)) > LONGEST:
        longest = max(_repeated(formula), key=lambda found: found[0])[1]
        piece = Node("input", next(letters))
        formula = replaced(formula, longest, piece)
        pieces.append((piece.parts[0], longest))
    return formula, pieces


def _repeated(formula: Node) -> list[tuple[int, Node]]:
    """What a formula has several times, and how many characters it is shorter without."""
    found: dict[str, list[Node]] = {}
    waiting = [formula]
    while waiting:
        node = waiting.pop()
        if node.operation not in ("input", "constant"):
            found.setdefault(text(node), []).append(node)
            waiting += [part for part in node.parts if isinstance(part, Node)]
    return [(len(nodes) * (len(written) - 1), nodes[0]) for written, nodes in found.items() if len(nodes) > 1]


def replaced(formula: Any, old: Node, new: Any) -> Any:
    """A formula with one of its parts, wherever it has it, exchanged for another."""
    if formula is old or (isinstance(formula, Node) and text(formula) == text(old)):
        return new
    if not isinstance(formula, Node):
        return formula
    return Node(formula.operation, *(replaced(part, old, new) for part in formula.parts))


def simplified(formula: Any) -> Any:
    """A formula with what comes to a number worked out, and without limits that do nothing."""
    return _bounded(formula)[0]


def _bounded(node: Any) -> tuple[Any, float, float]:
    """A node simplified, and between which numbers it lies."""
    if not isinstance(node, Node):
        return constant(float(node)), float(node), float(node)
    operation = node.operation
    if operation == "constant":
        return node, float(node.parts[0]), float(node.parts[0])
    if operation == "input":
        return node, -inf, inf
    parts, lows, highs = zip(*map(_bounded, node.parts), strict=True)
    if operation in _FOLDED and all(part.operation == "constant" for part in parts):
        number = float(_FOLDED[operation](*(part.parts[0] for part in parts)))
        return constant(number), number, number
    return _limited(operation, parts, lows, highs)


_FOLDED: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "neg": lambda a: -a,
    "sqrt": sqrt,
    "min": min,
    "max": max,
}


def _limited(operation: str, parts: Any, lows: Any, highs: Any) -> tuple[Any, float, float]:
    """`_bounded` of an operation whose parts are not all numbers."""
    if operation in ("min", "max"):
        is_less = highs[0] <= lows[1], highs[1] <= lows[0]
        if any(is_less):
            kept = 0 if is_less[0] == (operation == "min") else 1
            return parts[kept], lows[kept], highs[kept]
        pick = min if operation == "min" else max
        return Node(operation, *parts), pick(lows), pick(highs)
    if operation == "*" and any(low == high == 0.0 for low, high in zip(lows, highs, strict=True)):
        return constant(0.0), 0.0, 0.0
    if operation == "*" and 1.0 in (low if low == high else 0.0 for low, high in zip(lows, highs, strict=True)):
        kept = 1 if lows[0] == highs[0] == 1.0 else 0
        return parts[kept], lows[kept], highs[kept]
    if operation in ("+", "-") and lows[1] == highs[1]:
        operation, parts = _together(operation, parts)
        lows, highs = zip(*(_bounded(part)[1:] for part in parts), strict=True)
    if operation in ("+", "-") and lows[1] == highs[1] == 0.0:
        return parts[0], lows[0], highs[0]
    if operation == "+" and lows[0] == highs[0] == 0.0:
        return parts[1], lows[1], highs[1]
    if operation == "/" and lows[0] == highs[0] == 0.0:
        return constant(0.0), 0.0, 0.0
    return Node(operation, *parts), *_range(operation, parts, lows, highs)


def _together(operation: str, parts: Any) -> tuple[str, Any]:
    """A number added to or taken from what has another already, as one."""
    inner = parts[0]
    if inner.operation not in ("+", "-") or inner.parts[1].operation != "constant":
        return operation, parts
    numbers = [
        each.parts[0] if sign == "+" else -each.parts[0]
        for sign, each in ((inner.operation, inner.parts[1]), (operation, parts[1]))
    ]
    number = sum(numbers)
    return ("-" if number < 0.0 else "+"), (inner.parts[0], constant(abs(number)))


def _range(operation: str, parts: Any, lows: Any, highs: Any) -> tuple[float, float]:
    if operation == "+":
        return lows[0] + lows[1], highs[0] + highs[1]
    if operation == "-":
        return lows[0] - highs[1], highs[0] - lows[1]
    if operation == "sqrt" or (operation == "*" and (parts[0] is parts[1] or min(lows) >= 0.0)):
        return 0.0, inf
    return -inf, inf


def _under_root(node: Any) -> Any:
    """What a product is over, under its root; None without one."""
    if not isinstance(node, Node):
        return None
    if node.operation == "sqrt" and node.parts[0].operation == "/":
        return node.parts[0].parts[1]
    if node.operation in ("*", "neg"):
        return next((found for part in node.parts if (found := _under_root(part)) is not None), None)
    return None


def _without_divisor(node: Any, divisor: Node) -> Any:
    if not isinstance(node, Node):
        return node
    if node.operation == "sqrt" and node.parts[0].parts[1:] == (divisor,):
        return Node("sqrt", node.parts[0].parts[0])
    if node.operation in ("*", "neg"):
        return Node(node.operation, *(_without_divisor(part, divisor) for part in node.parts))
    return node


def _shorter(node: Any) -> Any:
    """An expression in which (c + d)(c - d), of which one factor may be kept from falling below 0, is a difference of
    squares.

    That loses what tells c and d apart in the last digits, but measures are in single precision and this is in double.
    """
    if not isinstance(node, Node):
        return node
    parts = [_shorter(part) for part in node.parts]
    if node.operation == "*":
        (plus, is_kept), (minus, is_kept_too) = map(_unkept, parts)
        if plus.operation == "+" and minus.operation == "-" and _same(plus.parts, minus.parts):
            difference = _squared(minus.parts[0]) - _squared(minus.parts[1])
            return Node("max", difference, Node("constant", 0.0)) if is_kept or is_kept_too else difference
    return Node(node.operation, *parts)


def _unkept(node: Any) -> tuple[Node, bool]:
    """What ``max(..., 0)`` keeps from falling below 0, and whether anything does."""
    node = _node(node)
    if node.operation == "max" and node.parts[1].operation == "constant" and node.parts[1].parts[0] == 0.0:
        return node.parts[0], True
    return node, False


def _same(plus: Any, minus: Any) -> bool:
    return sorted(map(text, plus)) == sorted(map(text, minus))


def _squared(node: Node) -> Any:
    if node.operation == "sqrt":
        return node.parts[0]
    return node.parts[0] ** 2 if node.operation == "constant" else node * node


def _written(node: Any) -> tuple[str, int]:
    """The text of a node, and how tightly it holds together."""
    if not isinstance(node, Node):
        return _number(float(node))
    operation, parts = node.operation, node.parts
    if operation == "input":
        return parts[0], _ATOM
    if operation == "constant":
        return _number(float(parts[0]))
    if operation in _INFIX:
        holds, *wanted = _INFIX[operation]
        left, right = (_within(part, level) for part, level in zip(parts, wanted, strict=True))
        return f"{left}{operation}{right}", holds
    if operation == "neg":
        return f"-{_within(parts[0], _SIGN)}", _SIGN
    if operation == "select":
        condition, if_true, if_false = (_within(part, level) for part, level in zip(parts, (1, 1, 0), strict=True))
        return f"{if_true} if {condition} else {if_false}", _CHOICE
    return f"{operation}({','.join(text(part) for part in parts)})", _ATOM


def _within(node: Any, level: int) -> str:
    written, holds = _written(node)
    return written if holds >= level else f"({written})"


def _number(value: float) -> tuple[str, int]:
    """Nine digits tell single precision apart, which is what Blender's lengths have."""
    written = f"{value:.9g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")
    if written.startswith("0."):
        written = written[1:]
    return written, _SIGN if value < 0.0 else _ATOM
