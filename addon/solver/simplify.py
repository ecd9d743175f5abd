"""Taking apart a recorded formula: what is the same each time, to be worked out once, and what is left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from .record import Node, in_order, inputs


class Parted(NamedTuple):
    """A formula in two strokes: ``fixed`` are made of the first inputs alone; ``results`` are made of ``held``, inputs
    that stand for what came of ``fixed``, and of ``given``."""

    fixed: list[Node]
    held: tuple[Node, ...]
    given: tuple[Node, ...]
    results: list[Any]


def part(results: Sequence[Any], given: tuple[Node, ...]) -> Parted:
    """Part what depends on ``given`` from what does not; numbers worked out twice are worked out once."""
    alike: dict[Any, Node] = {}
    known: dict[Node, Node] = {}
    varying = set(given)
    for node in in_order([result for result in results if isinstance(result, Node)]):
        parts = [known.get(each, each) for each in node.parts]
        same = node if parts == list(node.parts) else Node(node.operation, *parts)
        # Constants by kind and sign too: a `Reach` is not the number that it equals, nor is 0 the same as -0.
        key = repr(parts) if node.operation == "constant" else tuple(parts)
        known[node] = same = alike.setdefault((node.operation, key), same)
        if not varying.isdisjoint(parts):
            varying.add(same)
    shared = [known.get(result, result) for result in results]
    order = list(in_order([node for node in shared if isinstance(node, Node)]))
    wanted = [each for node in order if node in varying for each in node.parts if isinstance(each, Node)]
    wanted += [result for result in shared if isinstance(result, Node)]
    fixed = list(dict.fromkeys(each for each in wanted if each not in varying and each.operation != "constant"))
    held = inputs("held", len(fixed))
    placed: dict[Any, Any] = dict(zip(fixed, held, strict=True))
    for node in order:
        if node in varying and node.operation != "input":
            placed[node] = Node(node.operation, *(placed.get(each, each) for each in node.parts))
    return Parted(fixed, held, given, [placed.get(result, result) for result in shared])
