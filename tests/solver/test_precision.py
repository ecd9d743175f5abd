"""Errors to 50 digits, relative to r1 + r2: ratios of lengths to 1e6, scales 1e-12 to 1e12, targets at the limits."""

import math
import random

import mpmath
import pytest

from addon.solver import solve_two_bone
from tests.solver.oracles import exact

CASES = 3000
TOLERANCE = 1e-15
"""The worst of 60,000 cases is 6e-16; which cases these are hangs on the C library's sines."""


def targets(rng, kind):
    """Lengths, target and side of one case."""
    r1 = 10 ** rng.uniform(-12, 12)
    r2 = r1 * 10 ** rng.uniform(-6, 6)
    limit = {"anywhere": None, "straight": r1 + r2, "folded": abs(r1 - r2)}[kind]
    if limit is None:
        distance = rng.uniform(0, 1.2) * (r1 + r2)
    else:
        distance = limit * (1 + rng.choice([-1, 1]) * 10 ** rng.uniform(-16, -1))
    angle = rng.uniform(-math.pi, math.pi)
    if rng.random() < 0.2:
        angle = rng.choice([0, math.pi, math.pi / 2, -math.pi / 2]) + rng.choice([0, 1e-12, -1e-9])
    return r1, r2, distance * math.cos(angle), distance * math.sin(angle), rng.choice([-1, 1])


@pytest.mark.parametrize("kind", ["anywhere", "straight", "folded"])
def test_errors(kind):
    rng = random.Random(kind)
    for _ in range(CASES):
        r1, r2, x, y, bend = targets(rng, kind)
        total = mpmath.mpf(r1) + mpmath.mpf(r2)
        solved = solve_two_bone((x, y), r1, r2, bend)
        knee, tip = exact(x, y, r1, r2, bend)
        solved_tip = [
            mpmath.mpf(k) + mpmath.mpf(r2) * mpmath.mpf(u) for k, u in zip(solved.knee, solved.lower, strict=True)
        ]
        assert gap(solved_tip, tip) <= TOLERANCE * total, (r1, r2, x, y, bend)
        knee_error = gap(solved.knee, knee)
        if knee_error > TOLERANCE * total:
            moved = max(
                gap(
                    exact(mpmath.mpf(x) + i * 4 * math.ulp(x), mpmath.mpf(y) + j * 4 * math.ulp(y), r1, r2, bend)[0],
                    knee,
                )
                for i in (-1, 1)
                for j in (-1, 1)
            )
            assert knee_error <= TOLERANCE * total + moved, (r1, r2, x, y, bend)


def test_residual_and_directions():
    rng = random.Random(3)
    for _ in range(CASES):
        r1, r2, x, y, bend = targets(rng, rng.choice(["anywhere", "straight", "folded"]))
        solved = solve_two_bone((x, y), r1, r2, bend)
        _, tip = exact(x, y, r1, r2, bend)
        assert abs(solved.residual - gap((x, y), tip)) <= TOLERANCE * (r1 + r2)
        for direction in (solved.upper, solved.lower):
            assert abs(mpmath.hypot(*direction) - 1) <= TOLERANCE
        assert solved.knee == (r1 * solved.upper[0], r1 * solved.upper[1])


def gap(a, b):
    return mpmath.hypot(mpmath.mpf(a[0]) - mpmath.mpf(b[0]), mpmath.mpf(a[1]) - mpmath.mpf(b[1]))
