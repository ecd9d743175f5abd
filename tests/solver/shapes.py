"""Limbs, targets and settings at random."""

import math
import random
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from addon.solver import Plane, Reference, Settings, reference
from addon.solver.ops import FLOATS
from addon.solver.triangle import range_of_bones
from tests.solver.oracles import X, Y, Z, matrix, turn, unit

seeds = st.integers(0, 2**32 - 1)
TURNING = (Plane.HINGE, Plane.FREE, Plane.POLE)
"""The planes in which the first bone turns."""

planes = st.sampled_from(TURNING)
fractions = st.floats(0.0, 1.0)


def vector(rng: random.Random) -> np.ndarray:
    return np.array([rng.gauss(0, 1) for _ in range(3)])


def quaternion(rng: random.Random) -> tuple:
    return tuple(unit([rng.gauss(0, 1) for _ in range(4)]).tolist())


def half(angle: float) -> tuple[float, float]:
    return math.cos(angle / 2), math.sin(angle / 2)


class RestGeometry(NamedTuple):
    """A limb in its reference pose, in G: the knee turned by ``kappa`` off straight, the bones' axes as columns."""

    lengths: tuple[float, float]
    kappa: float
    axes: tuple[np.ndarray, np.ndarray]
    reference_rotations: tuple[tuple, tuple]

    @property
    def alpha(self) -> float:
        r1, r2 = self.lengths
        return math.atan2(r2 * math.sin(self.kappa), r1 + r2 * math.cos(self.kappa))

    @property
    def distance(self) -> float:
        r1, r2 = self.lengths
        return math.hypot(r1 + r2 * math.cos(self.kappa), r2 * math.sin(self.kappa))

    @property
    def total(self) -> float:
        return sum(self.lengths)

    @property
    def ways(self) -> tuple[np.ndarray, np.ndarray]:
        return turn(Z, self.alpha) @ Y, turn(Z, self.alpha - self.kappa) @ Y

    @property
    def reference(self) -> Reference:
        first, second = self.axes
        return reference(
            self.lengths,
            (half(self.alpha), half(self.alpha - self.kappa)),
            tuple(map(tuple, first.T.tolist())),
            [tuple((second.T @ Z).tolist())],
            self.reference_rotations,
            FLOATS,
            [tuple((second.T @ self.ways[1]).tolist())],
        )

    def turned(self, turns) -> list[np.ndarray]:
        """What two local rotations turn the bones by, from the reference, in G and in the first bone's."""
        return [
            axes @ matrix(still).T @ matrix(own) @ axes.T
            for axes, still, own in zip(self.axes, self.reference_rotations, turns, strict=True)
        ]

    def joints(self, turns, stretch: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
        """Knee and tip by matrices."""
        first, second = self.turned(turns)
        knee = first @ self.ways[0] * self.lengths[0] * stretch
        return knee, knee + first @ second @ self.ways[1] * self.lengths[1] * stretch


@st.composite
def shapes(draw, spread: float = 1.5) -> RestGeometry:
    """A limb of any lengths and roll, with the second bone up to 10 to the ``spread`` times longer or shorter."""
    r1 = 10.0 ** draw(st.floats(-2, 2))
    lengths = draw(st.floats(-spread, spread).map(lambda e: (r1, r1 * 10.0**e)) | st.just((r1, r1)))
    kappa = draw(st.floats(0.01, 3.0) | st.sampled_from([0.0, 2e-4, math.pi]))
    rng = random.Random(draw(seeds))
    axes = matrix(quaternion(rng)), matrix(quaternion(rng))
    reference_rotations = (quaternion(rng), quaternion(rng)) if draw(st.booleans()) else ((1.0, 0.0, 0.0, 0.0),) * 2
    return RestGeometry(lengths, kappa, axes, reference_rotations)


class Case(NamedTuple):
    """A limb, what it follows and how, with the knee's limits and the swivel as angles."""

    shape: RestGeometry
    target: np.ndarray
    pole: np.ndarray
    plane: Plane
    side: float
    swivel: float
    features: dict
    limits: tuple[float, float]

    @property
    def settings(self) -> Settings:
        low, high = self.limits
        of = self.shape.reference.bones
        near, far = range_of_bones(of, math.cos(low / 2) ** 2, math.cos(high / 2) ** 2, FLOATS)
        limited = {"nearest": near if low > 0.0 else 0.0, "farthest": far if high < math.pi else math.inf}
        return Settings(side=self.side, swivel=half(self.swivel), **self.features, **limited)


@st.composite
def cases(draw, spread: float = 1.5) -> Case:
    shape = draw(shapes(spread))
    rng = random.Random(draw(seeds))
    way = draw(st.sampled_from([None, None, None, X, -X, Y, -Y, Z, -Z, unit(-Y + 1e-3 * Z)]))
    distance = draw(st.floats(1e-30, 1.5) | st.sampled_from([0.0, 1.0, 1.0 - 1e-9, 1.0 + 1e-9])) * shape.total
    target = (unit(vector(rng)) if way is None else way) * distance
    soft = draw(st.just(0.0) | st.floats(0.01, 1.0))
    stretch = draw(st.just(0.0) | st.just(1.0) | fractions)
    features = {"softness": soft, "stretch": stretch, "stretch_max": draw(st.floats(1.0, 3.0))}
    low, high = sorted((draw(st.floats(0.2, 3.1)), draw(st.floats(0.2, 3.1))))
    limits = draw(st.sampled_from([(0.0, math.pi), (low, math.pi), (0.0, high), (low, high)]))
    return Case(
        shape,
        target,
        vector(rng) * shape.total,
        draw(planes),
        draw(st.sampled_from([1.0, -1.0])),
        draw(st.just(0.0) | st.floats(-7.0, 7.0)),
        features,
        limits,
    )
