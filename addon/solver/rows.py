"""The chain's formula for many limbs at once, each with its own shape and settings, for the per-frame driver.

From some dozens of limbs on, NumPy's calls cost less than `compiled`'s function for each. What can be made ready
before is: a frame costs the calls themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from .chain import Features
from .compiled import record
from .ops import Array
from .program import Program, compose

SolveRows = Callable[[Array], Array]
"""`compiled.Solve` by columns: takes numbers ``(given, limbs)`` and returns ``(results, limbs)``, good until it is
called again. Where what is given is not finite, a limb's rotations are not numbers."""


def bind_rows(constants: Sequence[Sequence[float]], features: Features, has_pole: bool) -> SolveRows:
    """The function that poses limbs with these features; ``constants`` holds `compiled.constants_of` for each."""
    held = _fixed(np.array(constants).T, features, has_pole)
    differ = (held != held[:, :1]).any(axis=1)
    program = _solving(features, has_pole, tuple(differ.tolist()))
    numbers = [row if differs else row[0].item() for row, differs in zip(held, differ, strict=True)]
    slots, results, columns = _ready(program, numbers, held.shape[1])

    def solve(given: Array) -> Array:
        slots[len(numbers) : len(numbers) + len(given)] = given
        with np.errstate(all="ignore"):
            program.run(slots)
        for room, column in columns:
            room[:] = column
        return results

    return solve


def _fixed(constants: Array, features: Features, has_pole: bool) -> Array:
    """What the formula makes of limbs' constants ``(constants, limbs)`` alone, to be worked out once."""
    inputs, formula = record(features, has_pole)
    program = compose(formula.fixed, inputs, (True,) * len(inputs))
    slots, results, columns = _ready(program, list(constants), constants.shape[1])
    with np.errstate(all="ignore"):
        program.run(slots)
    for room, column in columns:
        room[:] = column
    return results


@lru_cache(maxsize=64)
def _solving(features: Features, has_pole: bool, differ: tuple[bool, ...]) -> Program:
    formula = record(features, has_pole).formula
    given = (True,) * len(formula.given)
    return compose(formula.results, (*formula.held, *formula.given), (*differ, *given))


def _ready(program: Program, numbers: list[Any], count: int) -> tuple[list[Any], Array, list[tuple[Array, Array]]]:
    """A program's slots for so many limbs, its results ``(results, limbs)``, and rows of these with where to copy them
    from."""
    slots = program.begin(numbers)
    for slot, kind in program.buffers.items():
        slots[slot] = np.empty(count, kind)
    for slot, source in program.filled.items():
        slots[slot] = np.full(count, slots[source])
    results = np.empty((len(program.results), count))
    columns = []
    for room, (slot, kind) in zip(results, program.results, strict=True):
        if slot not in program.outputs:
            room[:] = slots[slot]
        elif kind is float:
            slots[slot] = room
        else:
            slots[slot] = np.empty(count, kind)
            columns.append((room, slots[slot]))
    return slots, results, columns
