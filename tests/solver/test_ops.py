"""The same operations on floats and on arrays."""

import numpy as np
import pytest

from addon.solver import Reach
from addon.solver.ops import ARRAYS, FLOATS

PAIRS = [(0.0, 1.0), (-2.0, -3.0), (1e-60, 0.0), (5.0, 5.0), (1e300, -1e300)]


@pytest.mark.parametrize("name", ["minimum", "maximum"])
def test_smaller_and_larger(name):
    found = getattr(ARRAYS, name)(*np.array(PAIRS).T)
    assert found.tolist() == [getattr(FLOATS, name)(a, b) for a, b in PAIRS]


def test_choices():
    conditions = np.array([True, False])
    for operations, wanted in ((FLOATS, [3.0, 4.0]), (ARRAYS, [3.0, 4.0])):
        assert [operations.select(condition, 3.0, 4.0) for condition in conditions.tolist()] == wanted
    assert ARRAYS.select(conditions, np.array([3.0, 0.0]), 4.0).tolist() == [3.0, 4.0]
    assert ARRAYS.select(conditions, Reach.TOO_FAR, Reach.REACHED).tolist() == [Reach.TOO_FAR, Reach.REACHED]
    assert ARRAYS.select(conditions[:, None], np.zeros(3), 1.0).shape == (2, 3)
