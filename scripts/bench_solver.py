"""How long the solver takes, beside the trigonometric form in the same run: python -m scripts.bench_solver.

The trigonometric form returns the same arrays from the same input, which is tried before anything is timed. It runs as
NumPy code is mostly written, over the whole arrays, and also in the solver's own pieces and memory layout, which makes
it faster. `numpy.hypot` would take up to 20 ns a row more. Rows that are not finite it does not look for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from addon.solver import Reach, chains, solve_two_bone
from addon.solver.chain import Features, Plane
from addon.solver.compiled import bind
from addon.solver.limb import Limb, limb
from addon.solver.ops import FLOATS
from addon.solver.slabs import ROWS
from addon.solver.triangle import Settings

R1, R2 = 1.0, 1.2
POLE = (0.1, 1.0, 0.2)
SIZES = 1_000, 10_000, 100_000, 1_000_000
ROUNDS = 7
SHAPE = limb((0.0, 0.0, R1), (0.0, 0.72, 0.96), ((1.0, 0.0, 0.0), (0.0, 0.6, 0.8), (0.0, -0.8, 0.6)), FLOATS)


def main() -> None:
    """Print every measurement, one a line."""
    print(f"NumPy {np.__version__}; ns per row, best of {ROUNDS} rounds taken in turns")
    rng = np.random.default_rng(1)
    try_by_angles(rng.uniform(-1.5, 1.5, (1000, 3)))
    for rows in SIZES:
        points = rng.uniform(-1.5, 1.5, (rows, 3))
        flat = np.ascontiguousarray(points[:, :2])
        compare(
            f"in the plane, {rows:,} rows",
            rows,
            lambda flat=flat: solve_two_bone(flat, R1, R2),
            lambda flat=flat: whole(plane_by_angles, flat),
            lambda flat=flat: in_pieces(plane_by_angles, flat),
        )
        compare(
            f"chain with quaternions, {rows:,} rows",
            rows,
            lambda points=points: chains.solve_chains(points, SHAPE),
            lambda points=points: whole(chain_by_angles, points),
            lambda points=points: in_pieces(chain_by_angles, points),
        )
    print("one chain on floats, us")
    for name, settings, features in feature_sets():
        print(f"  {name:28}{1e6 * on_floats(settings, features):8.2f}")


def try_by_angles(points: np.ndarray) -> None:
    """Raise `AssertionError` if the trigonometric forms do not give what the solver gives."""
    flat = np.ascontiguousarray(points[:, :2])
    in_plane = solve_two_bone(flat, R1, R2)
    for ours, form, given in (
        ((*in_plane[:3], in_plane.residual, in_plane.reach), plane_by_angles, flat),
        (chains.solve_chains(points, SHAPE), chain_by_angles, points),
    ):
        for theirs in (whole(form, given), in_pieces(form, given)):
            for one, other in zip(ours, theirs, strict=True):
                # A rotation is also its opposite.
                signs = np.sign(np.sum(one * other, axis=-1, keepdims=True)) if other.shape[-1] == 4 else 1.0
                np.testing.assert_allclose(one, np.squeeze(signs * other), atol=1e-7)


def compare(name: str, rows: int, *forms: Callable[[], object]) -> None:
    """Time the solver and the two trigonometric forms in turns, so that all get the machine at its best."""
    best = [float("inf")] * len(forms)
    for _ in range(ROUNDS):
        for i, form in enumerate(forms):
            best[i] = min(best[i], seconds(form, max(1, 200_000 // rows)))
    ours, whole_arrays, in_pieces = (1e9 * each / rows for each in best)
    print(
        f"{name:40} solver{ours:7.1f}   by angles{whole_arrays:7.1f} ({whole_arrays / ours:.1f} x)"
        f"   by angles, in pieces{in_pieces:7.1f} ({in_pieces / ours:.1f} x)"
    )


def seconds(form: Callable[[], object], times: int) -> float:
    """How long one call takes, on average over some."""
    start = time.perf_counter()
    for _ in range(times):
        form()
    return (time.perf_counter() - start) / times


def feature_sets() -> list[tuple[str, Settings, Features]]:
    """What `on_floats` times."""
    every = Settings(0.5, 0.1, 1.0, 1.5, 0.9, 0.01, 0.5)
    return [
        ("rest plane", Settings(), Features()),
        ("softness, stretch, limits", every, Features(shaped=True)),
        ("bend between the sides", every, Features(swung=True)),
        ("influence", every, Features(blended=True)),
        ("swing", Settings(), Features(plane=Plane.SWING)),
        ("pole", Settings(), Features(plane=Plane.POLE)),
        ("everything", every, Features(True, True, True, Plane.POLE)),
    ]


def on_floats(settings: Settings, features: Features) -> float:
    """Seconds for one chain, as it is posed live."""
    places, own = (0.1, 0.7, 0.8), (0.8, 0.6, 0.0, 0.0, 0.8, 0.0, 0.6, 0.0)
    given = [*places, *(POLE if features.plane is Plane.POLE else ()), *(own if features.blended else ())]
    solve = bind(SHAPE, settings, features, 1e-6)
    return min(seconds(lambda: solve(*given), 20_000) for _ in range(ROUNDS))


def whole(form: Callable[[Any], Any], vectors: np.ndarray) -> list[np.ndarray]:
    """A form run over whole arrays."""
    return [np.stack(np.broadcast_arrays(*group), axis=-1) for group in form(vectors.T)]


def in_pieces(form: Callable[[Any], Any], vectors: np.ndarray) -> list[np.ndarray]:
    """A form run over pieces as the solver's, its results in the same layout."""
    results: list[np.ndarray] = []
    for start in range(0, len(vectors), ROWS):
        groups = form(np.ascontiguousarray(vectors[start : start + ROWS].T))
        if not results:
            kinds = [float] * (len(groups) - 1) + [np.int8]
            results = [np.empty((len(group), len(vectors)), kind) for group, kind in zip(groups, kinds, strict=True)]
        for result, group in zip(results, groups, strict=True):
            for room, values in zip(result, group, strict=True):
                room[start : start + ROWS] = values
    return [result.T for result in results]


def plane_by_angles(target: Any) -> tuple[Any, ...]:
    """Knee, unit directions, residual and reach, by the law of cosines."""
    upper, knee, residual, reach = by_angles(*target)
    lower = upper + knee
    upper_x, upper_y = np.cos(upper), np.sin(upper)
    directions = (upper_x, upper_y), (np.cos(lower), np.sin(lower))
    return (R1 * upper_x, R1 * upper_y), *directions, (np.abs(residual),), (reach,)


def chain_by_angles(target: Any, shape: Limb = SHAPE) -> tuple[Any, ...]:
    """Both bones' own rotations, stretch and reach, by the law of cosines."""
    tx, ty, tz = target
    x, y, z = (tx * ax + ty * ay + tz * az for ax, ay, az in shape.axes)
    upper, knee, _, reach = by_angles(x, y)
    reach[(reach == Reach.REACHED) & (np.abs(z) > 1e-12 * (R1 + R2))] = Reach.OFF_PLANE
    normal = shape.axes[2]
    w, z = np.cos(0.5 * upper), np.sin(0.5 * upper)
    cosine, sine = np.cos(0.5 * knee), np.sin(0.5 * knee)
    lower = tuple(cosine * a + sine * b for a, b in zip(shape.knee_turns[0], shape.knee_turns[2], strict=True))
    return (w, *(z * component for component in normal)), lower, (1.0,), (reach,)


def by_angles(x: Any, y: Any) -> tuple[Any, ...]:
    """The upper bone's angle, the knee's turn from it, the residual and the reach."""
    distance = np.sqrt(x * x + y * y)
    gone = np.clip(distance, abs(R1 - R2), R1 + R2)
    square = gone * gone
    at_root = np.arccos(np.clip((square + (R1 * R1 - R2 * R2)) / (2.0 * R1 * gone), -1.0, 1.0))
    at_knee = np.arccos(np.clip((R1 * R1 + R2 * R2 - square) / (2.0 * R1 * R2), -1.0, 1.0))
    residual = distance - gone
    reach = np.where(residual > 1e-12, Reach.TOO_FAR, np.where(residual < -1e-12, Reach.TOO_NEAR, Reach.REACHED))
    return np.arctan2(y, x) + at_root, at_knee - np.pi, residual, reach


if __name__ == "__main__":
    main()
