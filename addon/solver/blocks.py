"""Working through long arrays in pieces whose temporaries stay in the processor's cache."""

from __future__ import annotations

from typing import Any, Iterator, Sequence

import numpy as np

ROWS = 16384


def flat(values: Sequence[np.ndarray], shape: tuple[int, ...]) -> list[np.ndarray]:
    """The arrays in one row each, broadcast to ``shape``; single numbers stay single."""
    return [value if value.ndim == 0 else np.broadcast_to(value, shape).reshape(-1) for value in values]


def blocks(values: Sequence[np.ndarray], rows: int) -> Iterator[tuple[slice, list[Any]]]:
    """For each run of rows, where it is and what the flat arrays hold there."""
    for start in range(0, rows, ROWS):
        run = slice(start, min(start + ROWS, rows))
        yield run, [value if value.ndim == 0 else value[run] for value in values]
