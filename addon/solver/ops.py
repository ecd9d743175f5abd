"""The few operations beyond ``+ - * /`` and ``abs`` that the geometry is written in, for floats and for arrays.

The formulas take one of these as their argument ``ops`` and never branch on a value, so the same lines run on
Python floats, and on NumPy arrays. Many rows at once, frames x limbs in one call, go in slabs that stay in the
processor's cache, and come out as floats do, to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
"""Numbers, in as many rows and columns as is said where they are."""

Points = Array
"""Places, or directions: (..., 3)."""

Quaternions = Array
"""Turns, w first: (..., 4)."""

Rotations = Array
"""Turns as matrices: (..., 3, 3)."""

Matrices = Array
"""Transforms of points: (..., 4, 4)."""

Column = Array
"""A number for each row: (rows)."""

Indices = Array
"""Some rows, by their numbers."""

Mask = Array
"""Whether something is so, for each row: (..., rows), of bool."""

Number = Any
"""A float, or an array of them, one for each row."""


class Ops(NamedTuple):
    """Square root, smaller, larger and choice (``select(condition, if_true, if_false)``), and two numbers next to
    nothing, by which a formula keeps clear of undefined divisions: as small as the arithmetic's precision lets them be.
    """

    sqrt: Callable[[Any], Any]
    minimum: Callable[[Any, Any], Any]
    maximum: Callable[[Any, Any], Any]
    select: Callable[[Any, Any, Any], Any]
    tiny: float = 1e-60
    """Stands in for a distance of nothing, so that no division or root is undefined; its fourth power is a number."""
    folded: float = 1e-90
    """Added to the square of a distance, so that a knee without one is folded, not undefined. Its root is far above
    ``tiny``: two equal bones with the target at their root fold onto the target line."""


# Plain functions: in Python 3.11 the built-in min and max cost twice as much.
FLOATS = Ops(
    math.sqrt,
    lambda a, b: a if a < b else b,
    lambda a, b: a if a > b else b,
    lambda condition, if_true, if_false: if_true if condition else if_false,
)


def _select(condition: Any, if_true: Any, if_false: Any) -> Any:
    if isinstance(condition, np.ndarray):
        return np.where(condition, if_true, if_false)
    return if_true if condition else if_false


ARRAYS = Ops(np.sqrt, np.minimum, np.maximum, _select)


ROWS = 32768
"""Rows in a slab: enough to outweigh the cost of a NumPy call, few enough for the numbers in use to stay in a cache."""

MANY = 1000
"""From so many rows on, it pays to have each number's rows one after the other in memory."""

LIMIT = 1e60
"""Numbers from here on count as not finite: their products would overflow."""

Formula = Callable[[Any], Sequence[Any]]


def in_slabs(formula: Formula, arguments: Any, count: int) -> Array:
    """The ``count`` numbers that ``formula(arguments)`` lists, as an array (..., count), reckoned for some thousand
    rows of the first axis at a time.

    ``arguments`` is nested tuples of floats and arrays, which all broadcast to the shape that the rows have. What is
    not defined comes out as a number that is not finite.
    """
    _have_freed_memory_kept()
    shapes: set[tuple[int, ...]] = set()
    _collect_shapes(arguments, shapes)
    shape = shapes.pop() if len(shapes) == 1 else np.broadcast_shapes(*shapes)
    results = np.empty((count, *shape))
    with np.errstate(all="ignore"):
        _fill(formula, arguments, results)
    return results.transpose((*range(1, results.ndim), 0))


def _collect_shapes(tree: Any, shapes: set[tuple[int, ...]]) -> None:
    for branch in tree:
        if isinstance(branch, np.ndarray):
            shapes.add(branch.shape)
        elif isinstance(branch, tuple):
            _collect_shapes(branch, shapes)


def _fill(formula: Formula, arguments: Any, results: Array) -> None:
    """Each number's rows lie one after the other in memory."""
    rows = results.shape[1:]
    size = math.prod(rows)
    if size <= ROWS:
        arguments = mapped(_in_one_run, arguments) if size > MANY else arguments
        for i, result in enumerate(formula(arguments)):
            results[i, ...] = result
        return
    inner = size // rows[0]
    step = max(rows[0] * ROWS // size, 1)
    for start in range(0, rows[0], step):
        index: Any = slice(start, start + step) if inner <= ROWS else start
        _fill(formula, mapped(partial(_slice, index=index, axes=len(rows)), arguments), results[:, index])


def _slice(number: Number, index: Any, axes: int) -> Any:
    """The rows ``index`` of a number's first axis, if it has all ``axes`` that the rows have; else what broadcasts to
    them."""
    if np.ndim(number) < axes:
        return number
    if len(number) > 1:
        return number[index]
    return number if isinstance(index, slice) else number[0]


def _in_one_run(number: Number) -> Any:
    """The same, its rows one after the other in memory."""
    return number.copy() if isinstance(number, np.ndarray) and not number.flags.c_contiguous else number


@cache
def _have_freed_memory_kept() -> None:
    """Once, make and drop an array of 16 MB, so that glibc keeps freed memory of up to this size for later arrays,
    instead of returning it to the system and having it cleared anew. See M_MMAP_THRESHOLD in mallopt(3)."""
    np.empty(1 << 21)


def split(vector: Any, size: int) -> tuple[Any, ...]:
    """The components of vectors (..., size)."""
    values = np.asarray(vector, float)
    if values.shape[-1:] != (size,):
        raise ValueError(f"vectors have {size} components, along the last axis; the array's shape is {values.shape}")
    return tuple(values[..., i] for i in range(size))


def mapped(change: Callable[[Any], Any], tree: Any) -> Any:
    """Nested tuples with each number changed; None stays."""
    changed = [
        mapped(change, branch) if isinstance(branch, tuple) else None if branch is None else change(branch)
        for branch in tree
    ]
    return type(tree)(*changed) if hasattr(tree, "_fields") else tuple(changed)


def row_of(tree: Any, row: int) -> Any:
    """One row of nested tuples of arrays, in floats; what is the same for all rows stays as it is."""
    return mapped(lambda number: float(number[row]) if isinstance(number, np.ndarray) else number, tree)
