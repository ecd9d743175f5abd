"""The formula for many limbs at once: to the last bit what the compiled function gives for each."""

import random
from itertools import product

import numpy as np
import pytest

from addon.solver import Reach
from addon.solver.chain import Features, Plane
from addon.solver.columns import columns
from addon.solver.compiled import bind, bind_rows, constants_of, record
from addon.solver.limb import limb
from addon.solver.ops import FLOATS
from addon.solver.record import RECORDER, Node, inputs
from addon.solver.simplify import part
from addon.solver.triangle import Settings
from tests.solver.shapes import rest_shape

FEATURES = [Features(*on, plane) for on in product((False, True), repeat=3) for plane in Plane]
TOLERANCE = 1e-6


def settings_for(rng, features):
    shaped = [rng.random() * 0.3, rng.random(), 1.5, 0.9, 0.1] if features.shaped else Settings()[1:6]
    bend = rng.uniform(-1.0, 1.0) if features.swung else rng.choice((-1.0, 1.0))
    return Settings(bend, *shaped, rng.random() if features.blended else 1.0, rng.choice((1.0, -1.0)))


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("is_one_shape", [False, True])
def test_rows_are_what_each_limb_gets_alone(features, is_one_shape):
    rng = random.Random(7)
    shapes = [rest_shape(rng).limb for _ in range(50)]
    if is_one_shape:
        shapes = shapes[:1] * 50
    set_to = [settings_for(rng, features) for _ in shapes]
    count = len(record(features).formula.given)
    given_to = [[rng.uniform(-2.0, 2.0) for _ in range(count)] for _ in shapes]
    alone = [
        bind(shape, each, features, TOLERANCE)(*numbers)
        for shape, each, numbers in zip(shapes, set_to, given_to, strict=True)
    ]
    constants = [constants_of(shape, each, TOLERANCE) for shape, each in zip(shapes, set_to, strict=True)]
    together = bind_rows(constants, features)(np.array(given_to).T)
    np.testing.assert_array_equal(together.T, np.array(alone))


def test_a_row_that_is_not_a_number_leaves_the_others_alone():
    shape = limb((0.0, 0.2, 1.0), (0.1, -0.2, 0.9), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), FLOATS)
    solve = bind_rows([constants_of(shape, Settings(), TOLERANCE)] * 2, Features())
    solved = solve(np.array([[float("nan"), 0.3], [0.1, 0.3], [0.2, 0.0]]))
    assert np.isnan(solved[:8, 0]).any()
    assert np.isfinite(solved[:, 1]).all()
    assert solved[9, 1] == Reach.REACHED


def test_parting_keeps_kinds_and_signs_apart():
    """Of numbers that are equal: what is worked out once for both would be one kind, and of one sign."""
    assert (Reach.TOO_FAR, -0.0) == (1.0, 0.0)
    (constant,) = inputs("constant", 1)
    (given_,) = inputs("given", 1)
    nodes = [given_ * Node("constant", value) for value in (1.0, Reach.TOO_FAR, 0.0, -0.0)]
    formula = part([*nodes, given_ + constant * constant, given_ - constant * constant], (given_,))
    assert formula.fixed == [formula.fixed[0]]
    assert [type(node.parts[1].parts[0]) for node in formula.results[:2]] == [float, Reach]
    assert len({id(node) for node in formula.results[:4]}) == 4


def test_numbers_that_are_needed_again_are_still_there():
    """Results that are used further, given twice, given as they came, the same for all; choices in place."""
    constant, x, y = inputs("number", 3)
    select = RECORDER.select
    square, size = x * x, abs(y)
    side = select(y < 0.0, -1.0, 1.0)
    chosen = select(x > y, square + y, side * size)
    reach = select(x > 0.0, select(y > 0.0, Reach.TOO_FAR, Reach.REACHED), Reach.LIMITED)
    results = [square, square, y, chosen * square + size, select(chosen > 1.0, chosen, square), constant * 2.0, reach]
    make, count = columns([constant], part(results, (x, y)))
    step, shared = make(np.float64(0.75))
    given_x, given_y = np.random.default_rng(3).uniform(-2.0, 2.0, (2, 500))
    rooms = np.full((len(results), 500), np.nan)
    step(given_x, given_y, np.full((count, 500), np.nan), rooms)
    assert shared == {5: 1.5}
    chosen = np.where(given_x > given_y, given_x * given_x + given_y, given_y)
    wanted = [given_x**2] * 2 + [
        given_y,
        chosen * given_x**2 + abs(given_y),
        np.where(chosen > 1.0, chosen, given_x**2),
    ]
    np.testing.assert_array_equal(rooms[:5], wanted)
    reaches = [
        Reach.LIMITED if a <= 0.0 else Reach.TOO_FAR if b > 0.0 else Reach.REACHED
        for a, b in zip(given_x, given_y, strict=True)
    ]
    np.testing.assert_array_equal(rooms[6], reaches)
