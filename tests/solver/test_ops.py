"""The choice on arrays: what `np.where` gives, bit by bit, whatever is a number and whatever an array."""

from itertools import product

import numpy as np
import pytest

from addon.solver import Reach
from addon.solver.ops import ARRAYS

CONDITIONS = [np.array([[True], [False], [True]]), np.array([True, False]), np.array([[True, False]] * 3)]
NUMBERS = [0.0, -0.0, 1e-60, -1.0, np.array([3.0, -0.0]), np.array([[1.0], [np.inf], [1e300]]), np.ones((3, 2))]


@pytest.mark.parametrize(("if_true", "if_false"), list(product(NUMBERS, repeat=2)))
def test_numbers(if_true, if_false):
    for condition in CONDITIONS:
        chosen, wanted = ARRAYS.select(condition, if_true, if_false), np.where(condition, if_true, if_false)
        assert np.array_equal(chosen, wanted)
        are_floats = isinstance(if_true, float) and isinstance(if_false, float)  # may lose the sign of a nought
        assert are_floats or np.array_equal(np.signbit(chosen), np.signbit(wanted))


@pytest.mark.parametrize("if_true", [Reach.TOO_FAR, np.array([1, 3], np.int8)])
@pytest.mark.parametrize("if_false", [0, Reach.LIMITED, np.array([[0], [2], [4]], np.int8)])
def test_reaches(if_true, if_false):
    for condition in CONDITIONS:
        chosen = ARRAYS.select(condition, if_true, if_false)
        assert chosen.dtype == np.int8
        assert np.array_equal(chosen, np.where(condition, if_true, if_false))


def test_what_is_the_same_for_all():
    assert ARRAYS.select(True, 1.0, 2.0) == 1.0
    assert ARRAYS.select(np.float64(1.0) > 2.0, 1.0, 2.0) == 2.0
