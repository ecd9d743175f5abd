"""Running a formula over arrays, in slabs that stay in the processor's cache, as `columns`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, reduce
from itertools import chain, compress
from typing import Any, NamedTuple

import numpy as np

from .columns import Columns, columns
from .ops import Array, Ops
from .reach import Reach
from .record import RECORDER, inputs
from .simplify import part

ROWS = 16384
"""Rows in a slab: enough to outweigh the cost of a NumPy call, few enough for a dozen numbers a row in a cache."""

LIMIT = 1e60
"""Numbers from here on count as not finite: their products would overflow."""

Index = tuple[Any, ...]
Group = Sequence[Any]
Formula = Callable[[Sequence[Any], Ops], Sequence[Group]]


class _Block(NamedTuple):
    """Numbers that are not the same for all rows: an array ``(n, ...)``, and where they belong among those that a
    formula takes."""

    values: Array
    place: slice


def solve_slabs(
    formula: Formula, vectors: Sequence[tuple[Any, int]], numbers: Sequence[Any], at_rest: Sequence[Group]
) -> list[Array]:
    """What ``formula`` makes of vectors, arrays ``(..., n)`` with their n, and numbers, arrays ``(...)`` or floats; all
    shapes broadcast to one, ``S``.

    ``formula`` takes everything as one sequence of numbers, the vectors' first, and returns groups of m numbers. Each
    group becomes an array ``S + (m,)``, int8 for a `Reach`; it is read-only if all chains share it. Chains with input
    that is not finite get the numbers ``at_rest``, group by group. It is recorded once for each way to share numbers.
    """
    _have_freed_memory_kept()
    given, blocks = _sorted_out(vectors, numbers)
    shapes = {block.values.shape[1:] for block in blocks}
    rows = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    if not rows:
        one_row = [(np.reshape(vector, (1, size)), size) for vector, size in vectors]
        return [array[0] for array in solve_slabs(formula, one_row, numbers, at_rest)]
    suspects = [block.values.shape[1:] == rows or not _is_valid(block.values) for block in blocks]
    (make, count), sizes = _recorded(formula, tuple(number is None for number in given))
    with np.errstate(all="ignore"):
        step, shared = make(*np.array([number for number in given if number is not None]))
        arrays, rooms = _rooms(shared, sizes, at_rest, rows)
        buffers = np.empty((count, 0))
        for index in _slabs(rows):
            slab = [_part(block.values, index, len(rows)) for block in blocks]
            places = [room[index] for room in rooms]
            shape = places[-1].shape
            if buffers.shape[1:] != shape:
                buffers = np.empty((count, *shape))
            step(*chain.from_iterable(slab), buffers, places)
            invalid = _invalid(compress(slab, suspects))
            if invalid is not None:
                for array, numbers_at_rest in zip(arrays, at_rest, strict=True):
                    _put_at_rest(array, index, invalid, numbers_at_rest)
    last = (*range(1, len(rows) + 1), 0)
    return [array.transpose(last) for array in arrays]


@cache
def _have_freed_memory_kept() -> None:
    """Once, make and drop an array of 16 MB, so that glibc keeps freed memory of up to this size for later arrays.

    Otherwise it returns that of results to the system and has it cleared anew, which takes as long as half the formula.
    See M_MMAP_THRESHOLD in mallopt(3).
    """
    np.empty(1 << 21)


@lru_cache(maxsize=64)
def _recorded(formula: Formula, are_rows: tuple[bool, ...]) -> tuple[Columns, tuple[int, ...]]:
    """A formula for numbers of which these are not the same for all rows, and how many it returns in each group."""
    numbers = inputs("number", len(are_rows))
    groups = formula(numbers, RECORDER)
    results = [result for group in groups for result in group]
    shared = [number for number, is_row in zip(numbers, are_rows, strict=True) if not is_row]
    return columns(shared, part(results, tuple(compress(numbers, are_rows)))), tuple(map(len, groups))


def _sorted_out(vectors: Sequence[tuple[Any, int]], numbers: Sequence[Any]) -> tuple[list[Any], list[_Block]]:
    """All numbers that a formula takes: floats where all rows share them, and room for what each slab has of others."""
    given: list[Any] = []
    blocks = []

    def add(values: Array) -> None:
        if values.ndim == 1 and _is_valid(values):
            given.extend(values.tolist())
        else:
            blocks.append(_Block(values, slice(len(given), len(given) + len(values))))
            given.extend([None] * len(values))

    for vector, size in vectors:
        add(_components(vector, size))
    for number in numbers:
        if type(number) is float and -LIMIT < number < LIMIT:
            given.append(number)
        else:
            add(np.asarray(number, float)[None])
    return given, blocks


def _components(vector: Any, size: int) -> Array:
    """The components of a vector, or of one a row, along the first axis."""
    values = np.asarray(vector, float)
    if values.shape[-1:] != (size,):
        raise ValueError(f"vectors have {size} components, along the last axis; the array's shape is {values.shape}")
    return values.transpose(-1, *range(values.ndim - 1))


def _part(values: Array, index: Index, axes: int) -> Array:
    """What of an array ``(n, ...)`` belongs to a slab of rows along so many axes, in one run of memory for each n."""
    missing = axes - values.ndim + 1
    own = (
        each if size > 1 else _FIRST[type(each)] for each, size in zip(index[missing:], values.shape[1:], strict=False)
    )
    return np.ascontiguousarray(values[(slice(None), *own)])


_FIRST: dict[type, Any] = {int: 0, slice: slice(None)}
"""In place of a slab's index along an axis that all its rows share."""


def _rooms(
    shared: Mapping[int, Any], sizes: Sequence[int], at_rest: Sequence[Group], rows: tuple[int, ...]
) -> tuple[list[Array], list[Array]]:
    """An array for each group, with each number's rows in one run of memory; and these, one after the other."""
    arrays: list[Array] = []
    rooms: list[Array] = []
    for size, numbers_at_rest in zip(sizes, at_rest, strict=True):
        kind = np.int8 if isinstance(numbers_at_rest[0], Reach) else float
        own = range(len(rooms), len(rooms) + size)
        if all(i in shared for i in own):
            same = np.array([shared[i] for i in own], kind).reshape(-1, *(1 for _ in rows))
            arrays.append(np.broadcast_to(same, (size, *rows)))
        else:
            arrays.append(np.empty((size, *rows), kind))
            for i in shared.keys() & {*own}:
                arrays[-1][i - own.start] = shared[i]
        rooms.extend(arrays[-1])
    return arrays, rooms


def _put_at_rest(array: Array, index: Index, invalid: Array, at_rest: Group) -> None:
    if array.flags.writeable:  # else it is what all rows share
        room = array[(slice(None), *index)]
        room[:, np.broadcast_to(invalid, room.shape[1:])] = np.reshape(at_rest, (-1, 1))


def _invalid(blocks: Iterable[Array]) -> Array | None:
    """Which rows of arrays ``(n, ...)`` have a number that is not finite, if any."""
    wrong = [~(np.abs(numbers) < LIMIT).all(axis=0) for numbers in blocks if not _is_valid(numbers)]
    return reduce(np.logical_or, wrong) if wrong else None


def _is_valid(values: Array) -> bool:
    return not values.size or bool(values.min() > -LIMIT and values.max() < LIMIT)


def _slabs(shape: tuple[int, ...]) -> Iterator[Index]:
    """Indices that together cover an array of this shape, each of up to `ROWS` rows that lie one after the other."""
    axis, inner = len(shape), 1
    while axis and inner * shape[axis - 1] <= ROWS:
        axis -= 1
        inner *= shape[axis]
    if not axis or 0 in shape:
        yield ()
        return
    count = -(-shape[axis - 1] * inner // ROWS)
    step = -(-shape[axis - 1] // count)  # all as large, or nearly
    for lead in np.ndindex(shape[: axis - 1]):
        for start in range(0, shape[axis - 1], step):
            yield (*lead, slice(start, start + step))
