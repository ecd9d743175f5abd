"""Limbs, targets and settings at random, from a seed."""

import math
import random

import numpy as np

from addon.solver.chain import Own, Plane
from addon.solver.ops import FLOATS
from addon.solver.rotation import Quaternion, normalised
from tests.solver.oracles import Rest, matrix, turn, unit

SHAPES = ["bent", "slightly bent", "straight", "folded", "mirrored", "mirrored and straight"]


def vector(rng: random.Random) -> np.ndarray:
    return np.array([rng.gauss(0, 1) for _ in range(3)])


def quaternion(rng: random.Random) -> Quaternion:
    return normalised(tuple(rng.gauss(0, 1) for _ in range(4)), FLOATS)


def rest_shape(rng: random.Random, shape: str | None = None, is_alike: bool = False) -> Rest:
    """A limb of any orientation, roll and lengths; the lengths alike if asked for."""
    shape = shape or rng.choice(SHAPES)
    along, axis = unit(vector(rng)), vector(rng)
    axis = unit(np.cross(along, axis))
    bend = rng.uniform(0.05, 3.0)
    if "straight" in shape:
        bend = 0.0
    elif shape == "slightly bent":
        bend = 2e-4
    elif shape == "folded":
        bend = math.pi
    lower = turn(axis, bend) @ along
    side = turn(lower, rng.uniform(-math.pi, math.pi)) @ unit(np.cross(lower, axis))
    frame = np.column_stack([side, lower, np.cross(side, lower)])
    if "mirrored" in shape:
        frame[:, 0] = -frame[:, 0]
    spread = 0.3 if is_alike else 2.0
    r1 = 10 ** rng.uniform(-2, 2)
    r2 = r1 * 10 ** rng.uniform(-spread, spread)
    return Rest(along * r1, lower * r2, frame)


def seeded(seed: int, shape: str | None = None, is_alike: bool = False) -> tuple[random.Random, Rest]:
    """Random numbers of their own for a seed, and `rest_shape` by the first of them."""
    rng = random.Random(seed)
    return rng, rest_shape(rng, shape, is_alike)


def target_for(rest: Rest, rng: random.Random, low: float = 0.0, high: float = 1.3) -> np.ndarray:
    """A position somewhere around the root, between two fractions of the limb's length."""
    return unit(vector(rng)) * rng.uniform(low, high) * rest.total


def in_reach(rest: Rest, rng: random.Random) -> np.ndarray:
    """A position that both bones can reach with the knee well off both its limits."""
    r1, r2 = rest.lengths
    low, high = abs(r1 - r2), r1 + r2
    return unit(vector(rng)) * (low + (high - low) * rng.uniform(0.1, 0.9))


def pole_for(rest: Rest, rng: random.Random) -> tuple[float, float, float]:
    return tuple((vector(rng) * rest.total).tolist())


def own_pose(rng: random.Random) -> Own:
    return Own(quaternion(rng), quaternion(rng))


def flat(rest: Rest, target: np.ndarray) -> np.ndarray:
    """The target in the limb's own plane."""
    return target - np.dot(target, rest.normal) * rest.normal


def goal(rest: Rest, target: np.ndarray, plane: Plane) -> np.ndarray:
    """What of the target the limb goes for."""
    return flat(rest, target) if plane is Plane.REST else target


def bend_normal(rest: Rest, target: np.ndarray, plane: Plane, pole) -> np.ndarray:
    """The normal of the bend plane, by Rodrigues' formula."""
    if plane is Plane.REST:
        return rest.normal
    if plane is Plane.POLE:
        return unit(np.cross(target, pole))
    line, way = rest.line, unit(target)
    axis = np.cross(line, way)
    if np.linalg.norm(axis) < 1e-15:
        return rest.normal
    return turn(axis, math.atan2(np.linalg.norm(axis), np.dot(line, way))) @ rest.normal


def rest_turn(rest: Rest) -> np.ndarray:
    """The rotation about the limb's normal that makes the limb straight, applied to the lower bone."""
    along, lower, normal = unit(rest.knee), unit(rest.lower), rest.normal
    return turn(normal, math.atan2(np.dot(np.cross(lower, along), normal), np.dot(lower, along)))


def lower_turn(rest: Rest, upper, lower) -> np.ndarray:
    """The lower bone's whole rotation in F, from rest."""
    return matrix(upper) @ rest.frame @ matrix(lower) @ rest.frame.T
