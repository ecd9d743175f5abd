"""A first bone that slides: the rod's foot is where its circle meets the line, on the side where it was."""

from __future__ import annotations

from math import atan2, cos, pi, sin

import numpy as np

from addon.solver import Plane, Reach, Settings, pose_limb, pose_limbs
from addon.solver.limb import joints_of
from addon.solver.ops import ARRAYS, FLOATS
from addon.solver.reference import reference

RNG = np.random.default_rng(7)
ROWS = 400


def limbs():
    """Random limbs in their reference: lengths, half angles, and the references as the solver takes them."""
    lengths = RNG.uniform(0.3, 1.5, (2, ROWS))
    first, bend = RNG.uniform(-pi, pi, ROWS), RNG.uniform(-pi, pi, ROWS)
    along = lengths[0] * np.exp(1j * first) + lengths[1] * np.exp(1j * (first - bend))
    first = first - np.angle(along)  # the line from root to tip lies along Y
    angles = (first, first - bend)
    halves = [(np.cos(angle / 2), np.sin(angle / 2)) for angle in angles]
    axes = tuple(tuple(float(i == k) for k in range(3)) for i in range(3))
    made = reference(
        lengths=tuple(lengths),
        half_angles=halves,
        first_axes=axes,
        normals=[(0.0, 0.0, 1.0)],
        reference_rotations=[(1.0, 0.0, 0.0, 0.0)] * 2,
        ops=ARRAYS,
        bone_directions=[(-np.sin(angles[1]), np.cos(angles[1]), 0.0)],
    )
    return lengths, angles, made


def test_circle_meets_line():
    lengths, (first, second), made = limbs()
    target = np.column_stack((RNG.uniform(-2, 2, (ROWS, 2)), np.zeros(ROWS)))
    side = RNG.choice([-1.0, 1.0], ROWS)
    poses = pose_limbs(target, made, Settings(side=side), Plane.SLIDE, tolerance=1e-9)
    knee, tip = (np.stack(np.broadcast_arrays(*joint), axis=-1) for joint in joints_of(
        [tuple(turn.T) for turn in poses.turns], made, poses.stretch, tuple(poses.root.T)
    ))  # fmt: skip
    line = np.column_stack((-np.sin(first), np.cos(first)))
    along = (target[:, :2] * line).sum(axis=1)
    off = target[:, 0] * line[:, 1] - target[:, 1] * line[:, 0]
    is_far = abs(off) > lengths[1]
    ahead = np.sign(np.cos(second - first)) * side * np.sqrt(np.where(is_far, 0.0, lengths[1] ** 2 - off**2))
    np.testing.assert_allclose(knee[:, :2], line * (along - ahead)[:, None], atol=1e-7)
    assert ((poses.reach == Reach.TOO_FAR) == is_far).all()
    assert 0 < is_far.sum() < ROWS
    miss = np.where(is_far, abs(off) - lengths[1], 0.0)
    np.testing.assert_allclose(np.linalg.norm(tip - target, axis=1), miss, atol=1e-12)
    np.testing.assert_allclose(poses.shortfall, miss, atol=1e-12)


def test_still_at_rest_and_alike_in_floats():
    _, _, made = limbs()
    for row in range(20):
        one = _row(made, row)
        tip = joints_of([(1.0, 0.0, 0.0, 0.0)] * 2, one)[-1]
        pose = pose_limb(tip, one, Settings(), Plane.SLIDE, FLOATS)
        np.testing.assert_allclose(
            [*pose.root, *pose.turns[0], *pose.turns[1]], [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], atol=1e-7
        )
        beside = (tip[0], tip[1], 0.5)
        assert pose_limb(beside, one, Settings(), Plane.SLIDE, FLOATS) == pose


def test_influence_blends_the_slide():
    _, _, made = limbs()
    one = _row(made, 3)
    x, y, _ = joints_of([(1.0, 0.0, 0.0, 0.0)] * 2, one)[-1]
    angle = 2.0 * atan2(one.half_angles[0][1], one.half_angles[0][0])
    target = (x - 0.4 * sin(angle), y + 0.4 * cos(angle), 0.0)
    own = ((1.0, 0.0, 0.0, 0.0),) * 2
    pose = pose_limb(target, one, Settings(influence=0.25), Plane.SLIDE, FLOATS, own=own)
    assert abs(np.linalg.norm(pose.root) - 0.1) < 1e-12


def _row(made, row):
    from addon.solver.ops import row_of

    return row_of(made, row)
