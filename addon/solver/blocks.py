"""Running a formula over arrays, in pieces that stay in the processor's cache."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .ops import Array
from .program import Program, compose
from .record import inputs

ROWS = 16384
"""Rows in a piece: enough to outweigh the cost of a NumPy call, few enough for a dozen numbers a row in a cache."""

np.empty(ROWS * 128)
# Made and dropped unused, so that glibc keeps freed memory of up to this size (M_MMAP_THRESHOLD in mallopt(3)).
# Otherwise it returns results to the system and clears their pages anew, which takes as long as half the formula.

LIMIT = 1e60
"""Numbers from here on count as not finite: their products would overflow."""

Index = tuple[Any, ...]
Group = Sequence[Any]
Formula = Callable[[Sequence[Any]], Sequence[Group]]


class _Source(NamedTuple):
    """An array that inputs come from: a number for each chain, or a vector along the last axis."""

    values: Array
    shape: tuple[int, ...]
    slot: int  # of the first input
    size: int | None = None  # of the vector

    def load(self, slots: list[Any], shape: tuple[int, ...], index: Index, is_suspect: bool) -> Array | None:
        """Put a piece of an array of chains of this shape into its slots; return which rows are not finite, if any."""
        inner = () if self.size is None else (self.size,)
        values = self.values if self.shape == shape else np.broadcast_to(self.values, shape + inner)
        rows = values[index].reshape(-1, *inner)
        if self.size is None:
            slots[self.slot] = rows
        else:
            slots[self.slot : self.slot + self.size] = np.ascontiguousarray(rows.T)
        if not is_suspect or _is_valid(rows):
            return None
        invalid: Array = ~(np.abs(rows) < LIMIT)
        return invalid if self.size is None else invalid.any(axis=-1)


class _Result(NamedTuple):
    """Where a program leaves a group of numbers: their slots, the kind of number, and which differ between chains."""

    slots: list[int]
    kind: type
    differ: list[bool]

    def room(self, shape: tuple[int, ...], slots: list[Any]) -> Array:
        """Each number in one run of memory: room for them all, or, if all chains share them, just these."""
        if any(self.differ):
            return np.empty((len(self.slots), *shape), self.kind)
        numbers: Array = np.array([slots[slot] for slot in self.slots], self.kind)
        shared: Array = np.ndarray(
            (len(numbers), *shape), self.kind, numbers, strides=(numbers.itemsize, *(0 for _ in shape))
        )
        shared.flags.writeable = False
        return shared

    def give_room(self, slots: list[Any], rows: Array) -> None:
        """Let a program leave its numbers in these rows."""
        for slot, differs, row in zip(self.slots, self.differ, rows, strict=True):
            if differs:
                slots[slot] = row
            else:
                row[:] = slots[slot]


def solve_rows(
    formula: Formula, vectors: Sequence[tuple[Any, int]], numbers: Sequence[Any], at_rest: Sequence[Group]
) -> list[Array]:
    """What ``formula`` makes of vectors, arrays ``(..., n)`` with their n, and numbers, arrays ``(...)`` or floats; all
    shapes broadcast to one, ``S``.

    ``formula`` takes everything as one sequence of numbers, the vectors' first, and returns groups of m numbers. It is
    recorded when it first comes: give the same function again, not one like it. Each group becomes an array
    ``S + (m,)``, int8 for a `Reach`; it is read-only if all chains share it. Chains with input that is not finite get
    the numbers ``at_rest``, group by group.
    """
    shared, sources = _sorted(vectors, numbers)
    shape = np.broadcast_shapes(*(source.shape for source in sources))
    program, results = _recorded(formula, tuple(number is None for number in shared))
    slots = program.begin(shared)
    arrays = [result.room(shape, slots) for result in results]
    if sources:
        differing = [each for each in zip(results, arrays, at_rest, strict=True) if any(each[0].differ)]
        with np.errstate(all="ignore"):
            _run(program, slots, sources, shape, differing)
    last = (*range(1, len(shape) + 1), 0)
    return [array.transpose(last) for array in arrays]


def _sorted(vectors: Sequence[tuple[Any, int]], numbers: Sequence[Any]) -> tuple[list[float | None], list[_Source]]:
    """The inputs that all chains share, with None for the others, and where those come from."""
    shared: list[float | None] = []
    sources: list[_Source] = []
    for vector, size in vectors:
        values = np.asarray(vector, float)
        if values.shape[-1:] != (size,):
            raise ValueError(
                f"vectors have {size} components, along the last axis; the array's shape is {values.shape}"
            )
        if values.ndim == 1 and _is_valid(values):
            shared += values.tolist()
        else:
            sources.append(_Source(values, values.shape[:-1], len(shared), size))
            shared += [None] * size
    for number in numbers:
        if type(number) is float and -LIMIT < number < LIMIT:
            shared.append(number)
            continue
        values = np.asarray(number, float)
        if values.ndim == 0 and _is_valid(values):
            shared.append(values.item())
        else:
            sources.append(_Source(values, values.shape, len(shared)))
            shared.append(None)
    return shared, sources


@lru_cache(maxsize=64)
def _recorded(formula: Formula, differ: tuple[bool, ...]) -> tuple[Program, list[_Result]]:
    """The program, and its results in groups."""
    given = inputs("given", len(differ))
    groups = formula(given)
    program = compose([number for group in groups for number in group], given, differ)
    placed = iter(program.results)
    results = []
    for group in groups:
        slots, kinds = zip(*(next(placed) for _ in group), strict=True)
        results.append(_Result(list(slots), kinds[0], [slot in program.outputs for slot in slots]))
    return program, results


def _run(
    program: Program,
    slots: list[Any],
    sources: list[_Source],
    shape: tuple[int, ...],
    results: list[tuple[_Result, Array, Group]],
) -> None:
    """Fill the results' arrays, piece by piece."""
    suspects = [source.shape == shape or not _is_valid(source.values) for source in sources]
    buffers = _buffers(program, slots, min(ROWS, math.prod(shape)))
    for index in _pieces(shape):
        wrong = [source.load(slots, shape, index, suspect) for source, suspect in zip(sources, suspects, strict=True)]
        count = len(slots[sources[0].slot])
        for slot, buffer in buffers:
            slots[slot] = buffer[:count]
        rooms = [array[(slice(None), *index)].reshape(len(array), count) for _, array, _ in results]
        for (result, _, _), room in zip(results, rooms, strict=True):
            result.give_room(slots, room)
        program.run(slots)
        for rows in wrong:
            for (_, _, at_rest), room in zip(results, rooms, strict=True) if rows is not None else ():
                room[:, rows] = np.reshape(at_rest, (-1, 1))


def _buffers(program: Program, slots: list[Any], rows: int) -> list[tuple[int, Array]]:
    """The program's buffers and their slots."""
    buffers: list[tuple[int, Array]] = [(slot, np.empty(rows, kind)) for slot, kind in program.buffers.items()]
    for slot, source in program.filled.items():
        full = np.empty(rows)
        full.fill(slots[source])
        buffers.append((slot, full))
    return buffers


def _is_valid(values: Array) -> bool:
    return not values.size or bool(values.min() > -LIMIT and values.max() < LIMIT)


def _pieces(shape: tuple[int, ...]) -> Iterator[Index]:
    """Indices that together cover an array of this shape, each of up to `ROWS` rows that lie one after the other."""
    axis, inner = len(shape), 1
    while axis and inner * shape[axis - 1] <= ROWS:
        axis -= 1
        inner *= shape[axis]
    if not axis:
        yield ()
        return
    step = max(1, ROWS // inner)
    for lead in np.ndindex(shape[: axis - 1]):
        for start in range(0, shape[axis - 1], step):
            yield (*lead, slice(start, start + step))
