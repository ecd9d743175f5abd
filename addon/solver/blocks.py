"""Running a formula over arrays, in pieces that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np

from .ops import Array
from .program import Program, compose
from .record import RECORDER, inputs

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

    def over(self, shape: tuple[int, ...]) -> _Source:
        """The same for an array of chains of this shape."""
        if self.shape == shape:
            return self
        inner = () if self.size is None else (self.size,)
        return self._replace(values=np.broadcast_to(self.values, shape + inner), shape=shape)

    def load(self, slots: list[Any], index: Index) -> None:
        """Put a piece into its slots."""
        rows = self.values[index]
        if self.size is None:
            slots[self.slot] = rows.reshape(-1)
        else:
            slots[self.slot : self.slot + self.size] = np.ascontiguousarray(rows.reshape(-1, self.size).T)


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


class _Recorded(NamedTuple):
    """A formula's program, its results in groups, and the slot for the size of the largest of the inputs to check."""

    program: Program
    results: list[_Result]
    size: int | None

    def make_room(self, slots: list[Any], count: int) -> None:
        """Fresh memory for so many rows, wherever the program wants it for itself."""
        for slot, kind in self.program.buffers.items():
            slots[slot] = np.empty(count, kind)
        for slot, source in self.program.filled.items():
            slots[slot] = full = np.empty(count)
            full.fill(slots[source])
        if self.size is not None:
            slots[self.size] = np.empty(count)

    def invalid(self, slots: list[Any]) -> Array | None:
        """Which rows have input that is not finite, if any."""
        if self.size is None or np.maximum.reduce(slots[self.size]) < LIMIT:
            return None
        rows: Array = ~(slots[self.size] < LIMIT)
        return rows


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
    shapes = {source.shape for source in sources}
    shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    suspects = [source for source in sources if source.shape == shape or not _is_valid(source.values)]
    checked = [False] * len(shared)
    for source in suspects:
        checked[source.slot : source.slot + (source.size or 1)] = [True] * (source.size or 1)
    recorded, begun = _begun(formula, tuple(shared), tuple(checked))
    slots = begun.copy()
    arrays = [result.room(shape, slots) for result in recorded.results]
    if sources and 0 not in shape:
        filled = [each for each in zip(recorded.results, arrays, at_rest, strict=True) if any(each[0].differ)]
        with np.errstate(all="ignore"):
            _run(recorded, slots, [source.over(shape) for source in sources], shape, filled)
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
def _begun(
    formula: Formula, shared: tuple[float | None, ...], checked: tuple[bool, ...]
) -> tuple[_Recorded, list[Any]]:
    """The formula for these inputs, and its program's slots with what all chains share."""
    recorded = _recorded(formula, tuple(number is None for number in shared), checked)
    return recorded, recorded.program.begin(shared)


@lru_cache(maxsize=64)
def _recorded(formula: Formula, differ: tuple[bool, ...], checked: tuple[bool, ...]) -> _Recorded:
    """The formula for inputs of which these differ between chains, and these are to be checked."""
    given = inputs("given", len(differ))
    groups = formula(given)
    sizes = [RECORDER.maximum(-number, number) for number in compress(given, checked)]
    largest = [reduce(RECORDER.maximum, sizes)] if sizes else []
    program = compose([*chain.from_iterable(groups), *largest], given, differ)
    placed = iter(program.results)
    results = []
    for group in groups:
        slots, kinds = zip(*(next(placed) for _ in group), strict=True)
        results.append(_Result(list(slots), kinds[0], [slot in program.outputs for slot in slots]))
    return _Recorded(program, results, next(placed)[0] if sizes else None)


def _run(
    recorded: _Recorded,
    slots: list[Any],
    sources: list[_Source],
    shape: tuple[int, ...],
    results: list[tuple[_Result, Array, Group]],
) -> None:
    """Fill the results' arrays, piece by piece."""
    count = 0
    for index in _pieces(shape):
        for source in sources:
            source.load(slots, index)
        if len(slots[sources[0].slot]) != count:
            count = len(slots[sources[0].slot])
            recorded.make_room(slots, count)
        rooms = [array[(slice(None), *index)].reshape(len(array), count) for _, array, _ in results]
        for (result, _, _), room in zip(results, rooms, strict=True):
            result.give_room(slots, room)
        recorded.program.run(slots)
        invalid = recorded.invalid(slots)
        if invalid is not None:
            for (_, _, at_rest), room in zip(results, rooms, strict=True):
                room[:, invalid] = np.reshape(at_rest, (-1, 1))


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
