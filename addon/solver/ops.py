"""The few operations beyond ``+ - * /`` and ``abs`` that the geometry is written in, for floats and for arrays.

The formulas take one of these as their argument ``ops`` and never branch on a value, so the same lines run on
Python floats, and on NumPy arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


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
