"""Running a formula over arrays, in slabs that stay in the processor's cache."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import compress
from typing import Any

import numpy as np

from .ops import Array
from .reach import Reach

ROWS = 16384
"""Rows in a slab: enough to outweigh the cost of a NumPy call, few enough for a dozen numbers a row in a cache."""

np.empty(1 << 21)
# Made and dropped unused, so that glibc keeps freed memory of up to this size (M_MMAP_THRESHOLD in mallopt(3)).
# Otherwise it returns results to the system and clears their pages anew, which takes as long as half the formula.

LIMIT = 1e60
"""Numbers from here on count as not finite: their products would overflow."""

Index = tuple[Any, ...]
Group = Sequence[Any]
Formula = Callable[[Sequence[Any]], Sequence[Group]]


def solve_slabs(
    formula: Formula, vectors: Sequence[tuple[Any, int]], numbers: Sequence[Any], at_rest: Sequence[Group]
) -> list[Array]:
    """What ``formula`` makes of vectors, arrays ``(..., n)`` with their n, and numbers, arrays ``(...)`` or floats; all
    shapes broadcast to one, ``S``.

    ``formula`` takes everything as one sequence of numbers, the vectors' first, and returns groups of m numbers. Each
    group becomes an array ``S + (m,)``, int8 for a `Reach`; it is read-only if all chains share it. Chains with input
    that is not finite get the numbers ``at_rest``, group by group.
    """
    given = [column for vector, size in vectors for column in _columns(vector, size)]
    given += map(_number, numbers)
    shape = np.broadcast_shapes(*(number.shape for number in given if isinstance(number, np.ndarray)))
    if not shape:  # arrays all the same: dividing floats by 0 is an error
        given = [np.full(1, number) for number in given]
    rows = shape or (1,)
    suspects = [isinstance(each, np.ndarray) and (each.shape == rows or not _is_valid(each)) for each in given]
    arrays: list[Array] = []
    with np.errstate(all="ignore"):
        for index in _slabs(rows):
            slab = [_part(number, index, len(rows)) for number in given]
            groups = formula(slab)
            arrays = arrays or [_room(*each, rows) for each in zip(groups, at_rest, strict=True)]
            invalid = _invalid(list(compress(slab, suspects)))
            for array, group, numbers_at_rest in zip(arrays, groups, at_rest, strict=True):
                if array.flags.writeable:
                    _fill(array[(slice(None), *index)], group, invalid, numbers_at_rest)
    last = (*range(1, len(shape) + 1), 0)
    return [array.reshape(len(array), *shape).transpose(last) for array in arrays]


def _columns(vector: Any, size: int) -> list[Any]:
    values = np.asarray(vector, float)
    if values.shape[-1:] != (size,):
        raise ValueError(f"vectors have {size} components, along the last axis; the array's shape is {values.shape}")
    return [_number(values[..., i]) for i in range(size)]


def _number(number: Any) -> Any:
    """A float where all chains share it and it is finite, else an array."""
    if type(number) is float and -LIMIT < number < LIMIT:
        return number
    values = np.asarray(number, float)
    return values.item() if values.ndim == 0 and _is_valid(values) else values


def _part(number: Any, index: Index, axes: int) -> Any:
    """What of a number belongs to a slab of an array with so many axes."""
    if not isinstance(number, np.ndarray):
        return number
    missing = axes - number.ndim
    own = zip(index[missing:], number.shape, strict=False)
    return np.ascontiguousarray(number[tuple(each if size > 1 else _FIRST[type(each)] for each, size in own)])


_FIRST: dict[type, Any] = {int: 0, slice: slice(None)}
"""In place of a slab's index along an axis that all its rows share."""


def _room(group: Group, at_rest: Group, rows: tuple[int, ...]) -> Array:
    """Room for each number of a group in one run of memory; if all chains share them, just these."""
    kind = np.int8 if isinstance(at_rest[0], Reach) else float
    if any(isinstance(number, np.ndarray) for number in group):
        return np.empty((len(group), *rows), kind)
    shared: Array = np.array(group, kind).reshape(-1, *(1 for _ in rows))
    return np.broadcast_to(shared, (len(group), *rows))


def _fill(room: Array, group: Group, invalid: Array | None, at_rest: Group) -> None:
    for row, number in zip(room, group, strict=True):
        row[...] = number
    if invalid is not None:
        room[:, np.broadcast_to(invalid, room.shape[1:])] = np.reshape(at_rest, (-1, 1))


def _invalid(numbers: list[Array]) -> Array | None:
    """Which rows have a number that is not finite, if any."""
    wrong = [~(np.abs(number) < LIMIT) for number in numbers if not _is_valid(number)]
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
