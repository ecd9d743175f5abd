"""Maps of poses are plain arithmetic of matrices: no Blender."""

import random

import numpy as np

from addon.motion import maps
from tests.solver.oracles import matrix
from tests.solver.shapes import quaternion

SIZES, LENGTHS = np.array([2.0, 2.0, 4.0]), np.array([0.5, 0.1])


def poses(rng):
    """Matrices of two bones in three frames (2, 3, 4, 4)."""
    found = np.tile(np.eye(4), (2, 3, 1, 1))
    for place in np.ndindex(2, 3):
        found[(*place, slice(3), slice(3))] = matrix(quaternion(rng))
        found[(*place, slice(3), 3)] = [rng.uniform(-1, 1) for _ in range(3)]
    return found


def test_differences_are_those_of_what_was_moved_turned_or_sized():
    was = poses(random.Random(1))
    assert np.abs(maps.differences(was, was, LENGTHS, SIZES)).max() == 0.0
    moved = was.copy()
    moved[1, 2, :3, 3] += (0.0, 0.3, 0.4)
    assert np.allclose(maps.differences(was, moved, LENGTHS, SIZES)[0], [[0, 0, 0], [0, 0, 0.5 / 4.0]])
    turned, angle = was.copy(), 0.02
    turned[0, 1, :3, :3] = was[0, 1, :3, :3] @ matrix((np.cos(angle / 2.0), np.sin(angle / 2.0), 0.0, 0.0))
    off = maps.differences(was, turned, LENGTHS, SIZES)
    assert np.allclose(off[1], [[0, angle, 0], [0, 0, 0]])
    assert np.allclose(off[0, 0, 1], 2.0 * np.sin(angle / 2.0) * 0.5 / 2.0)  # its tail
    sized = was.copy()
    sized[1, 0, :3, 0] *= 1.25
    assert np.allclose(maps.differences(was, sized, LENGTHS, SIZES)[2], [[0, 0, 0], [0.25, 0, 0]])


def test_an_image_is_as_far_off_its_rest_across():
    """Of a body that is symmetrical; twice, it is what it was; a point that goes along has its image beside it."""
    rng = random.Random(2)
    across, was = np.diag([-1.0, 1.0, 1.0, 1.0]), poses(rng)
    rest, its_rest = poses(rng)[:, 0]
    assert np.allclose(maps.mirrored(rest, across, rest, its_rest), its_rest)
    image = maps.mirrored(was, across, rest, its_rest)
    assert np.allclose(np.linalg.det(image), 1.0)
    assert np.allclose(maps.mirrored(image, across, its_rest, rest), was)
    point = np.array([0.1, 0.2, 0.3, 1.0])  # where all rests, in the armature
    moved, its = was @ np.linalg.inv(rest) @ point, image @ np.linalg.inv(its_rest) @ across @ point
    assert np.allclose(moved @ across, its)
    assert np.allclose(maps.mirrored(was, across)[..., 1], was[..., 1] @ across)


def test_own_channels_are_turned_over_with_the_axes():
    axes = matrix(quaternion(random.Random(3))) @ np.diag([-1.0, 1.0, 1.0])
    location, scale = maps.turned_over(np.eye(3), np.ones((3, 3)), axes)
    assert np.allclose(location, axes.T)
    assert np.allclose(scale, 1.0)
    swapped = np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
    assert np.allclose(maps.turned_over(np.eye(3), np.array([[2.0, 3.0, 4.0]]), swapped)[1], [[3.0, 2.0, 4.0]])
