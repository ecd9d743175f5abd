"""What the solver is measured against, written from other sources: rotation matrices, angles, 50 digits."""

import math
from typing import NamedTuple

import mpmath
import numpy as np

from addon.solver.limb import Limb, limb
from addon.solver.ops import FLOATS

mpmath.mp.dps = 50

ROUNDING = 1e-14
"""How far apart two ways to one number near 1 may be, some dozen operations each. On the machine where this was
measured the worst of 10,000 random cases of each test is a fifth of it or less. The rest is room for other processors,
by which NumPy, BLAS and the C library choose the order of their sums."""


class Rest(NamedTuple):
    """A limb at rest in the frame F: knee, lower bone as a vector, and the lower bone's axes as columns."""

    knee: np.ndarray
    lower: np.ndarray
    frame: np.ndarray

    @property
    def limb(self) -> Limb:
        return limb(
            tuple(self.knee.tolist()), tuple(self.lower.tolist()), tuple(map(tuple, self.frame.T.tolist())), FLOATS
        )

    @property
    def lengths(self) -> tuple[float, float]:
        return float(np.linalg.norm(self.knee)), float(np.linalg.norm(self.lower))

    @property
    def total(self) -> float:
        return sum(self.lengths)

    @property
    def line(self) -> np.ndarray:
        """The direction from root to tip; of the upper bone if the tip is at the root."""
        tip = self.knee + self.lower
        return unit(tip if np.linalg.norm(tip) > 1e-4 * self.total else self.knee)

    @property
    def normal(self) -> np.ndarray:
        """The normal of the limb's plane, (c - a) x (b - a), or the lower bone's x axis if straight."""
        across = np.cross(unit(self.lower), unit(self.knee))
        return unit(across if np.linalg.norm(across) > 1e-4 else self.frame[:, 0])


def unit(v) -> np.ndarray:
    v = np.asarray(v, float)
    return v / np.linalg.norm(v)


def matrix(q) -> np.ndarray:
    """The rotation matrix of a quaternion (w, x, y, z), taken to be of unit length."""
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turn(axis, angle: float) -> np.ndarray:
    """The rotation matrix about an axis (Rodrigues' formula)."""
    x, y, z = unit(axis)
    across = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * across + (1 - math.cos(angle)) * across @ across


def joints(rest: Rest, upper, lower, stretch: float = 1.0, uninherited=None) -> tuple[np.ndarray, np.ndarray]:
    """Knee and tip of a posed limb, in F, by matrices; ``uninherited`` as in the solver."""
    of_upper = matrix(upper)
    knee = of_upper @ rest.knee * stretch
    if uninherited is None:
        turned = of_upper @ rest.frame @ matrix(lower) @ rest.frame.T
    else:
        turned = matrix(uninherited.now) @ matrix(lower) @ matrix(uninherited.rest).T
    return knee, knee + turned @ rest.lower * stretch


def triangle(distance: float, r1: float, r2: float) -> tuple[float, float]:
    """By the law of cosines: the upper bone's angle off the target line, and the knee's turn off straight."""
    d = min(max(distance, abs(r1 - r2)), r1 + r2)
    at_root = (d * d + r1 * r1 - r2 * r2) / (2 * d * r1) if d and r1 else 1.0
    at_knee = (r1 * r1 + r2 * r2 - d * d) / (2 * r1 * r2) if r1 and r2 else -1.0
    return math.acos(min(max(at_root, -1.0), 1.0)), math.pi - math.acos(min(max(at_knee, -1.0), 1.0))


def acos_error(distance: float, r1: float, r2: float) -> float:
    """How far the angles of `triangle` may be off, in radians: arc-cosines are poor near straight and folded."""
    _, knee = triangle(distance, r1, r2)
    ratio = max(r1, r2) / min(r1, r2)
    size = (r1 + r2) / min(max(distance, abs(r1 - r2)), r1 + r2)
    return 1e-15 * ratio * ratio * size / max(math.sin(knee), 1e-7)


def exact(x, y, r1, r2, bend) -> tuple[tuple, tuple]:
    """Knee and tip of the chain in the plane, to 50 digits, by the article's formula."""
    x, y, r1, r2 = (mpmath.mpf(number) for number in (x, y, r1, r2))
    distance = mpmath.sqrt(x * x + y * y)
    ux, uy = (x / distance, y / distance) if distance else (mpmath.mpf(1), mpmath.mpf(0))
    d = min(max(distance, abs(r1 - r2)), r1 + r2)
    if not d:
        return (-bend * uy * r1, bend * ux * r1), (d, d)
    along = (d * d + r1 * r1 - r2 * r2) / (2 * d)
    aside = bend * mpmath.sqrt(max(r1 * r1 - along * along, 0))
    return (along * ux - aside * uy, along * uy + aside * ux), (d * ux, d * uy)
