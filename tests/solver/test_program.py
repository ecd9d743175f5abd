"""A recorded formula on rows gives what its operations give on floats, whichever of its inputs differ."""

from itertools import product

import numpy as np
import pytest

from addon.solver.ops import FLOATS
from addon.solver.program import _merged, compose
from addon.solver.reach import Reach
from addon.solver.record import RECORDER, inputs

VALUES = [-2.0, -1e-70, -0.0, 0.0, 0.5, 3.0]
ROWS = np.array(list(product(VALUES, repeat=3))).T

FORMULAS = {
    "size": lambda m, x, y, z: [m.maximum(-x, x) + y],
    "size and the opposite": lambda m, x, y, z: [m.maximum(-x, x), -x * y],
    "sign of another": lambda m, x, y, z: [m.select(x < 0.0, -y, y) * z],
    "sign of its own": lambda m, x, y, z: [m.select(x < 0.0, -x, x)],
    "sign, and its parts": lambda m, x, y, z: [m.select(x < y, -z, z), m.select(x < 0.0, -z, z), -z, x * x],
    "not a sign": lambda m, x, y, z: [m.select(x > 0.0, -y, y), m.select(x < 1.0, -y, y), m.select(x < 0.0, -y, z)],
    "one of two numbers": lambda m, x, y, z: [m.select(x < y, -1.0, 1.0), m.select(x <= y, 1.0, 0.0) * z],
    "one of two that are far apart": lambda m, x, y, z: [m.select(x < y, 1e-60, 1.0)],
    "one of two inputs": lambda m, x, y, z: [m.select(x >= 0.0, y, z), m.select(y > x, z, 1.0)],
    "reach": lambda m, x, y, z: [m.maximum(m.select(x > y, Reach.TOO_FAR, 0), m.select(x < z, Reach.TOO_NEAR, 0))],
    "reach of two": lambda m, x, y, z: [m.select(x > y, m.select(z > 0.0, Reach.LIMITED, Reach.TOO_FAR), 0)],
    "between limits": lambda m, x, y, z: [m.minimum(m.maximum(x, -1.0), 1.0) - m.sqrt(y * y + z * z)],
    "an input, twice": lambda m, x, y, z: [x, x, x * y + z, y * x + z],
    "a number": lambda m, x, y, z: [2.0, Reach.LIMITED, x],
}


@pytest.mark.parametrize("formula", FORMULAS.values(), ids=FORMULAS.keys())
@pytest.mark.parametrize("differ", [differ for differ in product([True, False], repeat=3) if any(differ)])
def test_rows_equal_floats(formula, differ):
    given = inputs("given", 3)
    program = compose(formula(RECORDER, *given), given, differ)
    for shared in product(VALUES, repeat=3 - sum(differ)):
        number = iter(shared)
        rows = [row if varies else next(number) for row, varies in zip(ROWS, differ, strict=True)]
        results = run(program, rows)
        for i, case in enumerate(zip(*np.broadcast_arrays(*rows), strict=True)):
            one = formula(FLOATS, *map(float, case))
            assert [result[i] for result in results] == one


def run(program, rows):
    slots = program.begin(rows)
    count = ROWS.shape[1]
    for slot, kind in program.buffers.items():
        slots[slot] = np.empty(count, kind)
    for slot, source in program.filled.items():
        slots[slot] = np.full(count, slots[source])
    for slot, kind in program.results:
        if slot in program.outputs:
            slots[slot] = np.empty(count, kind)
    program.run(slots)
    return [np.broadcast_to(slots[slot], count) for slot, _ in program.results]


def test_nothing_is_worked_out_twice():
    x, y = inputs("given", 2)
    once, twice, whole, positive, negative = _merged(
        [x * y + 1.0, x * y + 1.0, x * y + 1, RECORDER.maximum(x * y, 0.0), RECORDER.maximum(x * y, -0.0)]
    )
    assert once is twice
    assert once is not whole
    assert positive is not negative
    assert all(node.parts[0] is once.parts[0] for node in (whole, positive, negative))
