"""What the solver is measured against, written from other sources: rotation matrices, angles, 50 digits."""

import math
from typing import NamedTuple

import mpmath
import numpy as np

mpmath.mp.dps = 50

ROUNDING = 1e-14
"""How far apart two ways to one number near 1 may be, some dozen operations each. On the machine where this was
measured the worst of 10,000 random cases of each test is a fifth of it or less. The rest is room for other processors,
by which NumPy, BLAS and the C library choose the order of their sums."""

X, Y, Z = np.eye(3)


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


def slerp(a, b, t):
    """Shoemake's slerp, its angle from a form that does not cancel."""
    a, b = np.asarray(a), np.asarray(b)
    arc = 2.0 * math.atan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    if arc < 1e-7:
        return unit(a + t * (b - a))
    return (math.sin((1.0 - t) * arc) * a + math.sin(t * arc) * b) / math.sin(arc)


def is_slerp(found, a, b, t):
    """Whether a rotation is the fraction t of the way from a to the nearer of b and -b, which are the same rotation; to
    either of them after half a turn, where rounding decides which is nearer."""
    ends = [end for end in (np.asarray(b), -np.asarray(b)) if np.dot(a, end) > -ROUNDING]
    return any(np.allclose(found, slerp(a, end, t), rtol=0.0, atol=ROUNDING) for end in ends)


class Frame(NamedTuple):
    """Where a limb's line goes and to which side the knee, as unit vectors in G."""

    line: np.ndarray
    side: np.ndarray

    @property
    def normal(self) -> np.ndarray:
        return np.cross(self.line, self.side)


def frame_of(target, plane: str, pole, swivel: float) -> Frame:
    """The bend plane, by Rodrigues' formula and cross products; the knee's side is that without flip."""
    if plane == "HINGE":
        line = np.array([target[0], target[1], 0.0])
        line = unit(line) if line.any() else Y
        return Frame(line, np.cross(Z, line))
    line = unit(target) if np.any(target) else Y
    beside = pole - np.dot(pole, line) * line
    if plane == "POLE" and np.linalg.norm(beside) > 1e-6 * np.linalg.norm(pole):
        side = unit(beside)
    else:
        axis = np.cross(Y, line)
        axis, size = (axis, np.linalg.norm(axis)) if axis.any() else (Z, 0.0)
        side = turn(axis, math.atan2(size, line[1])) @ -X
    return Frame(line, turn(line, swivel) @ side)


def reached(distance: float, lengths, softness=0.0, stretch=0.0, stretch_max=1.0, limits=(0.0, math.pi)):
    """How far a limb goes for a target, before it stretches, and the factor by which it then does: softness as
    vectors.json says, limits by the law of cosines."""
    r1, r2 = lengths
    nearest, farthest = (math.hypot(r1 - r2, 2.0 * math.sqrt(r1 * r2) * math.sin(angle / 2.0)) for angle in limits)
    if limits[1] == math.pi:
        farthest = r1 + r2
    s = softness * (r1 + r2)
    gone = min(distance, farthest)
    if farthest - s < distance < farthest + s:
        gone = distance - (distance - farthest + s) ** 2 / (4 * s)
    gone = min(max(gone, nearest), farthest)
    factor = min(1.0 + stretch * max(distance / max(gone, 1e-60) - 1.0, 0.0), stretch_max)
    return gone, factor


def knee_in_plane(distance, r1, r2) -> tuple:
    """The knee along the line to the tip and beside it, to 50 digits, by the article's formula."""
    d, r1, r2 = (mpmath.mpf(number) for number in (distance, r1, r2))
    d = min(max(d, abs(r1 - r2)), r1 + r2)
    if not d:
        return r1, d  # folded onto the line
    along = (d * d + r1 * r1 - r2 * r2) / (2 * d)
    return along, mpmath.sqrt(max(r1 * r1 - along * along, 0))


def exact(x, y, r1, r2, bend) -> tuple[tuple, tuple]:
    """Knee and tip of the limb in the plane, to 50 digits."""
    x, y, r1, r2 = (mpmath.mpf(number) for number in (x, y, r1, r2))
    distance = mpmath.sqrt(x * x + y * y)
    ux, uy = (x / distance, y / distance) if distance else (mpmath.mpf(1), mpmath.mpf(0))
    d = min(max(distance, abs(r1 - r2)), r1 + r2)
    along, aside = knee_in_plane(d, r1, r2)
    aside *= bend
    return (along * ux - aside * uy, along * uy + aside * ux), (d * ux, d * uy)
