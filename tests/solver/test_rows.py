"""`pose_limbs`: each row to the last bit what `pose_limb` gives for it alone, and rows without numbers flagged."""

import random

import numpy as np
import pytest

from addon.solver import Plane, Reach, Settings, ops, pose_limb, pose_limbs
from addon.solver.ops import FLOATS
from tests.solver.oracles import matrix
from tests.solver.shapes import RestGeometry, half, quaternion


def stacked(trees):
    """Nested tuples of numbers, alike, as nested tuples of arrays with a row for each."""
    if trees[0] is None:
        return None
    if not isinstance(trees[0], tuple):
        return np.array(trees, float)
    parts = [stacked(branch) for branch in zip(*trees, strict=True)]
    return type(trees[0])(*parts) if hasattr(trees[0], "_fields") else tuple(parts)


def limb(rng) -> RestGeometry:
    axes = matrix(quaternion(rng)), matrix(quaternion(rng))
    lengths = rng.uniform(0.5, 2.0), rng.uniform(0.5, 2.0)
    return RestGeometry(lengths, rng.uniform(0.1, 2.0), axes, (quaternion(rng), quaternion(rng)))


def settings_for(rng) -> Settings:
    swivel = half(rng.uniform(-7.0, 7.0))
    return Settings(rng.choice([1.0, -1.0]), swivel, rng.random(), rng.random(), 1.5, 0.6, 1.2, rng.random())


def given_for(rng, shape):
    """Targets, poles and own rotations for rows of this shape, as arrays."""
    random_ = np.random.default_rng(rng.randrange(1 << 30))
    own = [random_.normal(size=(*shape, 4)) for _ in range(2)]
    own = tuple(turn / np.linalg.norm(turn, axis=-1, keepdims=True) for turn in own)
    return random_.uniform(-2, 2, (*shape, 3)), random_.uniform(-2, 2, (*shape, 3)), own


@pytest.mark.parametrize("plane", Plane)
@pytest.mark.parametrize("is_blended", [False, True])
@pytest.mark.parametrize("frames", [(), (1,), (3,), (2000,), (40, 300)])
@pytest.mark.parametrize("count", [1, 5])
def test_rows_equal_floats(plane, is_blended, frames, count, monkeypatch):
    monkeypatch.setattr(ops, "ROWS", 500)
    rng = random.Random(5)
    shapes, to = [limb(rng).reference for _ in range(count)], [settings_for(rng) for _ in range(count)]
    target, pole, own = given_for(rng, (*frames, count))
    poses = pose_limbs(target, stacked(shapes), stacked(to), plane, pole, own if is_blended else None)
    assert [turn.shape for turn in poses.turns] == [(*frames, count, 4)] * 2
    assert [numbers.shape for numbers in poses[1:4]] == [(*frames, count)] * 3
    assert poses.reach.dtype == np.int8
    for index in rng.sample(list(np.ndindex(*frames, count)), min(40, target.size // 3)):
        row = index[-1]
        single = tuple(tuple(turn[index].tolist()) for turn in own) if is_blended else None
        given = tuple(target[index].tolist()), shapes[row], to[row], plane, FLOATS, tuple(pole[index].tolist()), single
        one = pose_limb(*given)
        # To rounding: a processor may take a product and a sum of arrays in one step, which rounds once.
        assert np.array([turn[index] for turn in poses.turns]) == pytest.approx(np.array(one.turns), rel=0.0, abs=4e-15)
        numbers = (poses.stretch[index], poses.reach[index], poses.shortfall[index])
        assert numbers == pytest.approx(one[1:4], rel=0.0, abs=4e-15)


def test_what_all_rows_share_may_be_floats(monkeypatch):
    monkeypatch.setattr(ops, "ROWS", 50)
    rng = random.Random(2)
    shape, to = limb(rng).reference, settings_for(rng)
    target, pole, own = given_for(rng, (30, 4))
    pole, own = pole[:1], (own[0][:1], own[1][0])
    whole = pose_limbs(target, stacked([shape] * 4), stacked([to] * 4), Plane.POLE, np.repeat(pole, 30, axis=0), own)
    shared = pose_limbs(target, shape, to, Plane.POLE, pole, own)
    for a, b in zip((*whole.turns, *whole[1:]), (*shared.turns, *shared[1:]), strict=True):
        assert a == pytest.approx(b, rel=0.0, abs=4e-15)


def test_full_influence_is_the_solution_itself():
    rng = random.Random(4)
    shape, (target, _, own) = limb(rng).reference, given_for(rng, (50,))
    plain, full = (pose_limbs(target, shape, own=each) for each in (None, own))
    assert np.array_equal(plain.turns, full.turns)


HOSTILE = [np.nan, np.inf, -np.inf, 1e300, -1e200]


@pytest.mark.parametrize("wrong", HOSTILE)
@pytest.mark.parametrize("count", [3, 30])
@pytest.mark.parametrize("plane", Plane)
@pytest.mark.parametrize(
    "place", ["target", "pole", "own", "lengths", "half_angles", "first_axes", "reference_rotations", "softness"]
)
def test_no_row_is_not_a_number(wrong, count, plane, place):
    """What can't be posed is flagged, and leaves the others alone."""
    rng = random.Random(3)
    shapes, to = [limb(rng).reference for _ in range(count)], [settings_for(rng) for _ in range(count)]
    target, pole, own = given_for(rng, (count,))
    sound = pose_limbs(target, stacked(shapes), stacked(to), plane, pole, own)
    if place in ("target", "pole"):
        (target if place == "target" else pole)[1, 1] = wrong
    elif place == "own":
        own[count > 10][1, 2] = wrong  # the first bone's, or the second's
    elif place == "softness":
        to[1] = to[1]._replace(softness=wrong)
    else:
        first, *rest = getattr(shapes[1], place)
        first = (wrong, *first[1:]) if isinstance(first, tuple) else wrong
        shapes[1] = shapes[1]._replace(**{place: (first, *rest)})
    poses = pose_limbs(target, stacked(shapes), stacked(to), plane, pole, own)
    for found, wanted in zip((*poses.turns, *poses[1:4]), (*sound.turns, *sound[1:4]), strict=True):
        assert np.isfinite(found).all()
        assert np.array_equal(np.delete(found, 1, axis=0), np.delete(wanted, 1, axis=0))
    is_flagged = poses.reach[1] == Reach.INVALID
    assert is_flagged or abs(wrong) > 1e100 or place in ("pole", "softness", "lengths"), "said to be posed"
    if is_flagged:
        reference_rotations = (
            [(1.0, 0.0, 0.0, 0.0), shapes[1].reference_rotations[1]]
            if place == "reference_rotations"
            else shapes[1].reference_rotations
        )
        assert [tuple(turn[1].tolist()) for turn in poses.turns] == list(reference_rotations)
        assert (poses.stretch[1], poses.shortfall[1]) == (1.0, 0.0)
    for turn in poses.turns:
        assert np.linalg.norm(turn, axis=-1) == pytest.approx(np.ones(count), abs=1e-12)


def test_vectors_of_another_size_are_refused():
    with pytest.raises(ValueError, match="vectors have 3 components"):
        pose_limbs(np.zeros((5, 2)), limb(random.Random(1)).reference)


def test_no_rows():
    poses = pose_limbs(np.zeros((0, 3)), limb(random.Random(1)).reference)
    assert poses.turns[0].shape == (0, 4)
    assert poses.reach.shape == (0,)
