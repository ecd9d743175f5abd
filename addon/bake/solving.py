"""From places to samples: all frames of all chains with the same features in one call of the solver."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import PoseBone

from ..rig.chain import ROUNDING, Chain
from ..rig.rotation import to_channels
from ..solver import Reach
from ..solver.chain import IN_LINE_SQUARE, Own, tip_position
from ..solver.chains import solve_chains
from ..solver.rotation import rotate, scale
from .gathering import Places
from .samples import Joints, Sampled, Track, rotation_channel

IN_LINE = 1e3 * IN_LINE_SQUARE
"""The squared sine between pole and target below which the plane may hang on the frame before, as it does live."""


def solved(chains: list[Chain], places: list[Places]) -> list[Sampled] | None:
    """Pose the chains; None if in some frame a chain's pose depends on the frame before, or has no solution."""
    groups: dict[Any, list[int]] = {}
    for i, chain in enumerate(chains):
        groups.setdefault((chain.posing.features, chain.pole is not None), []).append(i)
    found: dict[int, Sampled] = {}
    for members in groups.values():
        samples = _solve([chains[i] for i in members], [places[i] for i in members])
        if samples is None:
            return None
        found.update(zip(members, samples, strict=True))
    return [found[i] for i in range(len(chains))]


def _solve(chains: list[Chain], places: list[Places]) -> list[Sampled] | None:
    """Chains with the same features; arrays are frames x chains."""
    posings = [chain.posing for chain in chains]
    frames_of = [place.space @ np.array(posing.body.in_parent) for place, posing in zip(places, posings, strict=True)]
    frames = np.stack(frames_of, axis=1)
    if (np.abs(np.linalg.det(frames[..., :3, :3])) < 1e-30).any():
        return None
    inverse = np.linalg.inv(frames)
    goal = np.stack([place.target for place in places], axis=1)
    target = _moved(inverse, goal)
    pole = None
    if chains[0].pole:
        pole = _moved(inverse, np.stack([place.pole for place in places], axis=1))
        if _is_in_line(target, pole):
            return None
    limb, settings = _stacked([posing.body.limb for posing in posings]), _stacked([p.settings for p in posings])
    own = Own(np.array([posing.own.upper for posing in posings]), np.array([posing.own.lower for posing in posings]))
    solution = solve_chains(target, limb, settings, posings[0].features, pole, own, tolerance=ROUNDING)
    if (solution.reach == Reach.INVALID).any():
        return None
    turns = Own(*(tuple(np.moveaxis(q, -1, 0)) for q in (solution.upper, solution.lower)))
    knee = np.stack(rotate(turns.upper, scale(limb.axes[0], limb.r1)), axis=-1)
    tip = np.stack(tip_position(turns, limb), axis=-1)
    knee, tip = (_moved(frames, place).astype(np.float32) for place in (knee, tip))
    residual = np.linalg.norm(tip - goal, axis=-1)
    return [
        Sampled(
            chain.object, chain.lower, chain.upper, Joints(knee[:, i], tip[:, i]), solution.reach[:, i], residual[:, i],
            _tracks(chain, solution.upper[:, i], solution.lower[:, i]),
        )
        for i, chain in enumerate(chains)
    ]  # fmt: skip


def _tracks(chain: Chain, upper: np.ndarray, lower: np.ndarray) -> list[Track]:
    bones = chain.object.pose.bones
    return [_track(bones[chain.upper], upper), _track(bones[chain.lower], lower)]


def _track(bone: PoseBone, rotations: np.ndarray) -> Track:
    mode = bone.rotation_mode
    if mode == "QUATERNION":
        return Track(bone.name, rotation_channel(mode), mode, rotations.astype(np.float32))
    values = np.empty((len(rotations), 4 if mode == "AXIS_ANGLE" else 3), np.float32)
    near = tuple(getattr(bone, rotation_channel(mode)))
    for i, rotation in enumerate(rotations.tolist()):
        near = values[i] = to_channels(mode, tuple(rotation), near)
    return Track(bone.name, rotation_channel(mode), mode, values)


def _moved(matrices: np.ndarray, places: np.ndarray) -> np.ndarray:
    return (matrices[..., :3, :3] @ places[..., None])[..., 0] + matrices[..., :3, 3]


def _is_in_line(target: np.ndarray, pole: np.ndarray) -> bool:
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
