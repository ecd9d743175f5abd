"""Running a solver over arrays, in pieces whose temporaries stay in the processor's cache."""

from __future__ import annotations

from typing import Any, Callable, Iterator, NamedTuple, Sequence

import numpy as np

ROWS = 16384
"""Rows in a piece: enough to outweigh the cost of a NumPy call, few enough for a dozen temporaries in a cache."""

LIMIT = 1e60
"""Numbers from here on count as not finite: their products would overflow."""

Index = tuple[Any, ...]
Group = Sequence[Any]


class Given(NamedTuple):
    """An input of a solver: a number for each chain, or a vector along the last axis."""

    values: np.ndarray
    is_vector: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an array with one item for each chain."""
        return self.values.shape[:-1] if self.is_vector else self.values.shape

    def rows(self, shape: tuple[int, ...], index: Index) -> np.ndarray:
        """The values in a piece of an array of chains of this shape, a row for each."""
        inner = self.values.shape[len(self.shape) :]
        return np.broadcast_to(self.values, shape + inner)[index].reshape(-1, *inner)

    def numbers(self, rows: np.ndarray) -> Any:
        """The same as the formulas take it: a number, or a vector as a tuple of numbers, for all rows or for each."""
        if rows.ndim == self.is_vector:
            return tuple(rows.tolist()) if self.is_vector else rows.item()
        return tuple(rows.T) if self.is_vector else rows

    def wrong(self, rows: np.ndarray) -> np.ndarray:
        """Which of these rows are not finite."""
        wrong = ~(np.abs(rows) < LIMIT)
        return wrong.any(axis=-1) if self.is_vector else wrong


def solve_rows(
    solve: Callable[..., Sequence[Group]], inputs: Sequence[Given], at_rest: Sequence[Group]
) -> list[np.ndarray]:
    """What ``solve`` makes of the inputs, whose shapes broadcast to one, ``S``.

    ``solve`` takes the inputs for some rows: numbers as arrays and vectors as tuples of arrays, or of single numbers
    where all chains share them. It returns groups of n arrays or numbers. Each becomes an array ``S + (n,)``, the last,
    which holds the `Reach`, of int8; one of nothing but numbers is read-only. Rows with input that is not finite get
    the numbers ``at_rest``, group by group.
    """
    broadcast = np.broadcast_shapes(*(given.shape for given in inputs))
    shape = broadcast or (1,)
    shared = [bool(broadcast) and not given.shape and _is_valid(given.values) for given in inputs]
    suspects = [i for i, given in enumerate(inputs) if given.shape == shape or not _is_valid(given.values)]
    results: list[np.ndarray] = []
    with np.errstate(all="ignore"):
        for index in _pieces(shape):
            rows = [g.values if alone else g.rows(shape, index) for g, alone in zip(inputs, shared)]
            groups = solve(*(g.numbers(values) for g, values in zip(inputs, rows)))
            if not results:
                kinds = [float] * (len(groups) - 1) + [np.int8]
                results = [_room(group, shape, kind) for group, kind in zip(groups, kinds)]
            wrong = [inputs[i].wrong(rows[i]) for i in suspects if not _is_valid(rows[i])]
            for result, group, rest in zip(results, groups, at_rest):
                if result.flags.writeable:
                    _fill(result[(slice(None), *index)].reshape(len(result), -1), group, rest, wrong)
    return [np.moveaxis(result, 0, -1).reshape(*broadcast, len(result)) for result in results]


def _pieces(shape: tuple[int, ...]) -> Iterator[Index]:
    """Indices that together cover an array of this shape, each of about `ROWS` rows that lie one after the other."""
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


def _is_valid(values: np.ndarray) -> bool:
    return not values.size or bool(-LIMIT < values.min() and values.max() < LIMIT)


def _room(group: Group, shape: tuple[int, ...], kind: type) -> np.ndarray:
    """Room for each of the group's numbers in one run of memory; if all are known for all rows, just these."""
    if any(isinstance(values, np.ndarray) for values in group):
        return np.empty((len(group), *shape), kind)
    return np.broadcast_to(np.reshape(group, (-1, *(1 for _ in shape))), (len(group), *shape))


def _fill(part: np.ndarray, group: Group, at_rest: Group, wrong: list[np.ndarray]) -> None:
    for into, values in zip(part, group):
        into[:] = values
    for rows in wrong:
        part[:, rows] = np.reshape(at_rest, (-1, 1))
