"""A recorded formula as lines of source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from .record import Node, in_order

EITHER = {"+": "({} + {})", "-": "({} - {})", "*": "({} * {})", "/": "({} / {})", "neg": "(-{})", "sqrt": "sqrt({})"}
EITHER |= {sign: "({} " + sign + " {})" for sign in ("<", "<=", ">", ">=")}
"""How the operations are written, for floats as for arrays."""

_REPEATS_PARTS = ("min", "max")


def names(nodes: Sequence[Node]) -> list[str]:
    """What inputs are called."""
    return [node.parts[0] for node in nodes]


def lines(
    results: Sequence[Any], prefix: str, indent: str, operations: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Lines that work out results, and the results' texts; nodes used once are written in place."""
    nodes = list(in_order([node for node in results if isinstance(node, Node)]))
    uses = Counter(id(node) for node in results)
    for node in nodes:
        weight = 2 if node.operation in _REPEATS_PARTS else 1
        for each in node.parts:
            if isinstance(each, Node):
                uses[id(each)] += weight
    written: dict[int, str] = {}
    found: list[str] = []
    for node in nodes:
        if node.operation == "input":
            text = node.parts[0]
        elif node.operation == "constant":
            text = repr(float(node.parts[0]))
        else:
            text = operations[node.operation].format(*(written[id(each)] for each in node.parts))
            if uses[id(node)] > 1:
                found.append(f"{indent}{prefix}{len(found)} = {text}")
                text = f"{prefix}{len(found) - 1}"
        written[id(node)] = text
    return found, [written[id(node)] if isinstance(node, Node) else repr(float(node)) for node in results]
