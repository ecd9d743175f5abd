"""`solve_chains` is `solve_chain` on every row, whatever varies and whatever is shared."""

import math
import random
import weakref

import numpy as np
import pytest

from addon.solver import Reach
from addon.solver.chain import OWN_AT_REST, Features, Own, Plane, Uninherited, solve_chain
from addon.solver.chains import solve_chains
from addon.solver.limb import Limb, limb
from addon.solver.ops import ARRAYS, FLOATS
from addon.solver.triangle import Settings
from tests.solver.shapes import pole_for, quaternion, rest_shape, target_for

FRAMES, CHAINS = 7, 5
FEATURES = [Features(*(bool(bits & bit) for bit in (1, 2, 4)), plane) for bits in range(8) for plane in Plane]


def settings_for(rng: random.Random) -> Settings:
    smallest, largest = sorted((rng.uniform(0, math.pi), rng.uniform(0, math.pi)))
    return Settings(
        bend=rng.uniform(-1, 1),
        softness=rng.random(),
        stretch=rng.random(),
        stretch_max=1 + rng.random(),
        min_cos2=math.cos(smallest / 2) ** 2,
        max_cos2=math.cos(largest / 2) ** 2,
        influence=rng.random(),
        swing_side=rng.choice((1.0, -1.0)),
    )


def stacked(trees):
    """Nested tuples of arrays from as many of numbers."""
    if isinstance(trees[0], tuple):
        branches = [stacked(branch) for branch in zip(*trees, strict=True)]
        return type(trees[0])(*branches) if hasattr(trees[0], "_fields") else tuple(branches)
    return np.array(trees)


def assert_same(solution, shape, one_at):
    """Every row has the bits that floats give, up to the sign of a nought, and an array's shape."""
    assert [values.shape for values in solution] == [(*shape, 4), (*shape, 4), shape, shape]
    assert solution.reach.dtype == np.int8
    for index in np.ndindex(shape):
        one = one_at(*index)
        for values, value in zip(solution, one, strict=True):
            assert np.array_equal(values[index], value), (index, values[index], value)


@pytest.mark.parametrize(
    "features", FEATURES, ids=lambda f: "+".join((*(n for n in f._fields[:3] if getattr(f, n)), f.plane))
)
@pytest.mark.parametrize("is_uninherited", [False, True])
def test_frames_by_chains(features, is_uninherited):
    rng = random.Random(1)
    rests = [rest_shape(rng) for _ in range(CHAINS)]
    limbs = [rest.limb for rest in rests]
    settings = [settings_for(rng) for _ in range(CHAINS)]
    if not features.swung:
        settings = [each._replace(bend=rng.choice([-1.0, 1.0])) for each in settings]
    targets = np.array([[target_for(rest, rng) for rest in rests] for _ in range(FRAMES)])
    poles = np.array([[pole_for(rest, rng) for rest in rests] for _ in range(FRAMES)])
    own = np.array([[[quaternion(rng), quaternion(rng)] for _ in rests] for _ in range(FRAMES)])
    apart = [Uninherited(quaternion(rng), quaternion(rng)) for _ in rests]

    def one_at(frame, chain):
        return solve_chain(
            tuple(targets[frame, chain].tolist()),
            limbs[chain],
            settings[chain],
            features,
            FLOATS,
            tuple(poles[frame, chain].tolist()),
            Own(*map(tuple, own[frame, chain].tolist())),
            apart[chain] if is_uninherited else None,
        )

    solution = solve_chains(
        targets,
        stacked(limbs),
        stacked(settings),
        features,
        poles,
        Own(own[:, :, 0], own[:, :, 1]),
        Uninherited(*(np.array([each[i] for each in apart]) for i in (0, 1))) if is_uninherited else None,
    )
    assert_same(solution, (FRAMES, CHAINS), one_at)


@pytest.mark.parametrize("plane", Plane)
def test_one_limb_for_all_rows(plane):
    rng = random.Random(2)
    rest = rest_shape(rng, "bent")
    targets = np.array([target_for(rest, rng) for _ in range(50)])
    pole = np.array(pole_for(rest, rng))
    features = Features(plane=plane)
    solution = solve_chains(targets, rest.limb, features=features, pole=pole)
    assert_same(
        solution,
        (50,),
        lambda i: solve_chain(
            tuple(targets[i].tolist()), rest.limb, Settings(), features, FLOATS, tuple(pole.tolist())
        ),
    )
    assert not solution.stretch.flags.writeable


def test_rows_of_more_than_one_piece():
    rng = np.random.default_rng(3)
    rest = rest_shape(random.Random(3), "bent")
    for shape in [(40000,), (2, 20000), (20000, 2), (3, 2, 9000)]:
        targets = rng.normal(size=(*shape, 3)) * rest.total
        influence = rng.random(shape[-1])
        own = Own((0.6, 0.8, 0.0, 0.0), (0.8, 0.0, 0.6, 0.0))
        solution = solve_chains(targets, rest.limb, Settings(influence=influence), Features(blended=True), own=own)
        assert solution.upper.shape == (*shape, 4)
        for _ in range(40):
            index = tuple(int(rng.integers(size)) for size in shape)
            one = solve_chain(
                tuple(targets[index].tolist()),
                rest.limb,
                Settings(influence=float(influence[index[-1]])),
                Features(blended=True),
                FLOATS,
                own=own,
            )
            for values, value in zip(solution, one, strict=True):
                assert np.array_equal(values[index], value)


def test_limb_on_arrays():
    rng = random.Random(4)
    rests = [rest_shape(rng) for _ in range(20)]
    knees, lowers = (tuple(np.array([getattr(rest, name) for rest in rests]).T) for name in ("knee", "lower"))
    frames = np.array([rest.frame for rest in rests])
    on_arrays = limb(knees, lowers, tuple(tuple(frames[:, :, axis].T) for axis in range(3)), ARRAYS)
    one_by_one = stacked([rest.limb for rest in rests])
    for part, same in zip(leaves(on_arrays), leaves(one_by_one), strict=True):
        assert np.array_equal(np.broadcast_to(part, same.shape), same)


def leaves(tree):
    return [leaf for branch in tree for leaf in leaves(branch)] if isinstance(tree, tuple) else [tree]


def test_a_single_chain_and_none():
    rest = rest_shape(random.Random(5), "bent")
    target = rest.knee * 0.9
    one = solve_chain(tuple(target.tolist()), rest.limb, Settings(), Features(), FLOATS)
    assert_same(solve_chains(target, rest.limb), (), lambda: one)
    assert_same(solve_chains(tuple(target), rest.limb), (), lambda: one)
    assert [values.shape for values in solve_chains(np.empty((0, 3)), rest.limb)] == [
        (0, 4),
        (0, 4),
        (0,),
        (0,),
    ]


def wrong_in(what, rest, wrong, rng):
    """Arguments of five chains, of which the third has one number that is not finite."""
    numbers = {"target": np.array([target_for(rest, rng) for _ in range(5)]), "pole": np.ones((5, 3))}
    upper, lower = (np.array([quaternion(rng) for _ in range(5)]) for _ in range(2))
    settings, shape = Settings(influence=0.5), rest.limb
    if what in numbers:
        numbers[what][2, 1] = wrong
    elif what == "own":
        lower[2, 3] = wrong
    elif what == "limb":
        total = np.full(5, shape.bones.total)
        total[2] = wrong
        shape = shape._replace(bones=shape.bones._replace(total=total))
    else:
        values = np.full(5, getattr(settings, what))
        values[2] = wrong
        settings = settings._replace(**{what: values})
    return numbers["target"], shape, settings, numbers["pole"], Own(upper, lower)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf, 1e100, 1e300])
@pytest.mark.parametrize("what", ["target", "pole", "own", "limb", *Settings._fields])
def test_rows_that_are_not_finite_are_flagged(what, wrong):
    rest = rest_shape(random.Random(6), "bent")
    target, shape, settings, pole, own = wrong_in(what, rest, wrong, random.Random(7))
    every = Features(True, True, True, Plane.POLE)
    solution = solve_chains(target, shape, settings, every, pole, own)
    right = solve_chains(*wrong_in("target", rest, 0.3, random.Random(7))[:3], every, pole=np.ones((5, 3)), own=own)
    assert solution.reach.tolist()[2] == Reach.INVALID
    assert (np.delete(solution.reach, 2) != Reach.INVALID).all()
    for values in solution:
        assert np.isfinite(values).all()
    assert solution.upper[2].tolist() == solution.lower[2].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert solution.stretch[2] == 1.0
    if what != "own":
        assert np.array_equal(np.delete(solution.upper, 2, axis=0), np.delete(right.upper, 2, axis=0))


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_what_all_rows_share_and_is_not_finite_flags_them_all(wrong):
    rest = rest_shape(random.Random(8), "bent")
    targets = np.array([rest.knee, rest.lower])
    axes = ((wrong, 0.0, 0.0), *rest.limb.axes[1:])
    for shape, settings in [
        (rest.limb, Settings(bend=wrong)),
        (rest.limb._replace(axes=axes), Settings()),
    ]:
        solution = solve_chains(targets, shape, settings)
        assert (solution.reach == Reach.INVALID).all()
        assert all(np.isfinite(values).all() for values in solution)
    assert solve_chains(np.full(3, wrong), rest.limb).reach == Reach.INVALID


def test_vectors_have_their_components_last():
    rest = rest_shape(random.Random(9), "bent")
    with pytest.raises(ValueError, match="3 components"):
        solve_chains(np.zeros((3, 2)), rest.limb)
    with pytest.raises(ValueError, match="4 components"):
        solve_chains(np.zeros(3), rest.limb, features=Features(blended=True), own=Own(np.zeros(3), np.zeros(4)))


def test_input_stays_as_it_was():
    rng = np.random.default_rng(10)
    rest = rest_shape(random.Random(10), "bent")
    targets, poles, softness = rng.normal(size=(30, 3)), rng.normal(size=(30, 3)), rng.random(30)
    before = [values.copy() for values in (targets, poles, softness)]
    solve_chains(targets, rest.limb, Settings(softness=softness), Features(shaped=True, plane=Plane.POLE), poles)
    for values, copy in zip((targets, poles, softness), before, strict=True):
        assert np.array_equal(values, copy)


def test_results_are_the_callers_alone():
    rest = rest_shape(random.Random(10), "bent")
    solution = solve_chains(np.array([rest.knee, rest.lower]), rest.limb)
    room = weakref.ref(solution.upper.base)
    del solution
    assert room() is None


def test_own_at_rest_is_the_default():
    rest = rest_shape(random.Random(11), "bent")
    targets = np.array([rest.knee, rest.lower])
    half, features = Settings(influence=0.5), Features(blended=True)
    assert np.array_equal(
        solve_chains(targets, rest.limb, half, features).upper,
        solve_chains(targets, rest.limb, half, features, own=OWN_AT_REST).upper,
    )


def test_a_limb_is_a_limb():
    assert isinstance(stacked([rest_shape(random.Random(12)).limb] * 2), Limb)
