"""From places to samples: all frames of all chains with the same features in one call of the solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..rig.chain import ROUNDING, Chain
from ..rig.rotation import ARRAYS, to_channels
from ..solver import Reach
from ..solver.chain import IN_LINE_SQUARE, Own, tip_position
from ..solver.chains import solve_chains
from ..solver.rotation import rotate, scale
from .gathering import Places, posing_of
from .samples import Joints, Sampled, Track, rotation_channel

IN_LINE = 1e3 * IN_LINE_SQUARE
"""The squared sine between pole and target below which the plane may hang on the frame before, as it does live."""


def solved(chains: list[Chain], places: list[Places]) -> list[Sampled] | None:
    """Pose the chains; None if in some frame a chain's pose depends on the frame before, or has no solution."""
    groups: dict[Any, list[int]] = {}
    for i, chain in enumerate(chains):
        groups.setdefault((posing_of(chain).features, chain.pole is not None), []).append(i)
    found: dict[int, Sampled] = {}
    for members in groups.values():
        samples = _solve([chains[i] for i in members], [places[i] for i in members])
        if samples is None:
            return None
        found.update(zip(members, samples, strict=True))
    return [found[i] for i in range(len(chains))]


def _solve(chains: list[Chain], places: list[Places]) -> list[Sampled] | None:
    """Chains with the same features; arrays are frames x chains."""
    spaces = {id(place.space): place.space for place in places}
    if any((np.abs(np.linalg.det(space[:, :3, :3])) < 1e-30).any() for space in spaces.values()):
        return None
    inverses = {key: np.linalg.inv(space) for key, space in spaces.items()}
    posings = [posing_of(chain) for chain in chains]
    in_parents: list[Any] = [posing.body.in_parent for posing in posings]  # which steady chains have

    def inside(goals: list[NDArray[Any]]) -> NDArray[Any]:
        moved = [_moved(inverses[id(place.space)], goal) for place, goal in zip(places, goals, strict=True)]
        into = [np.array(in_parent.inverted()) for in_parent in in_parents]
        return np.stack([_moved(matrix, goal) for matrix, goal in zip(into, moved, strict=True)], axis=1)

    target = inside([place.target for place in places])
    pole = inside([place.pole for place in places if place.pole is not None]) if chains[0].pole else None
    if pole is not None and _is_in_line(target, pole):
        return None
    limb, settings = _stacked([posing.body.limb for posing in posings]), _stacked([p.settings for p in posings])
    upper: Any = np.array([posing.own.upper for posing in posings])
    lower: Any = np.array([posing.own.lower for posing in posings])
    solution = solve_chains(target, limb, settings, posings[0].features, pole, Own(upper, lower), tolerance=ROUNDING)
    if (solution.reach == Reach.INVALID).any():
        return None
    turns = Own(*(tuple(np.moveaxis(q, -1, 0)) for q in (solution.upper, solution.lower)))
    knee = np.stack(rotate(turns.upper, scale(limb.axes[0], limb.r1)), axis=-1)
    tip = np.stack(tip_position(turns, limb), axis=-1)
    return [_sample(chain, places[i], solution, knee[:, i], tip[:, i], i) for i, chain in enumerate(chains)]


def _sample(chain: Chain, place: Places, solution: Any, knee: NDArray[Any], tip: NDArray[Any], i: int) -> Sampled:
    """The ``i``-th chain of a solution, with its joints given in F."""
    in_parent = np.array(posing_of(chain).body.in_parent)
    knee, tip = (_moved(place.space, _moved(in_parent, joint)).astype(np.float32) for joint in (knee, tip))
    residual = np.linalg.norm(tip - place.target, axis=-1).astype(np.float32)
    bones = chain.object.pose.bones
    tracks = [_track(bones[chain.upper], solution.upper[:, i]), _track(bones[chain.lower], solution.lower[:, i])]
    reach = np.array(solution.reach[:, i])
    return Sampled(chain.object, chain.lower, chain.upper, Joints(knee, tip), reach, residual, tracks)


def _track(bone: PoseBone, rotations: NDArray[Any]) -> Track:
    mode = bone.rotation_mode
    near = [np.full(len(rotations), number) for number in getattr(bone, rotation_channel(mode))]
    values = np.stack(to_channels(mode, (*rotations.T,), near, ARRAYS), axis=-1)
    return Track(bone.name, rotation_channel(mode), mode, values.astype(np.float32))


def _moved(matrices: NDArray[Any], places: NDArray[Any]) -> NDArray[Any]:
    moved: NDArray[Any] = (matrices[..., :3, :3] @ places[..., None])[..., 0] + matrices[..., :3, 3]
    return moved


def _is_in_line(target: NDArray[Any], pole: NDArray[Any]) -> bool:
    """Whether target and pole are in line with the root in any frame, or the target at it."""
    span = np.cross(target, pole)
    square = np.einsum("...i,...i->...", span, span)
    size = np.einsum("...i,...i->...", target, target) * np.einsum("...i,...i->...", pole, pole)
    return bool((square <= IN_LINE * size).any())


def _stacked(trees: list[Any]) -> Any:
    """Nested tuples of numbers, as nested tuples of arrays with a number for each chain."""
    first = trees[0]
    if not isinstance(first, tuple):
        return np.array(trees, float)
    branches = [_stacked(list(branch)) for branch in zip(*trees, strict=True)]
    return type(first)(*branches) if hasattr(first, "_fields") else tuple(branches)
