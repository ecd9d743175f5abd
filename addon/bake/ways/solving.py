"""From courses to solutions: all frames of all chains with the same features in one call of the solver.

Positions and quaternions are tuples of arrays ``(frames, chains)``, one for each number; what all frames share is
``(chains,)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...live.chain import ROUNDING
from ...rig import settings as rig_settings
from ...rig.rotation import ARRAYS, to_quaternion
from ...rig.settings import SWITCH
from ...solver import Reach
from ...solver.chain import IN_LINE_SQUARE, Features, tip_position
from ...solver.chain import Own as Turns
from ...solver.chains import solve_chains
from ...solver.limb import Limb
from ...solver.rotation import Quaternion, Vector, cross, dot, rotate, scale
from ...solver.triangle import Settings
from .gathering import Course
from .steady import VARIABLE, Own, Steady
from .transforms import inverted, moved

IN_LINE = 1e3 * IN_LINE_SQUARE
"""The squared sine between pole and target below which the plane may hang on the frame before, as it does live."""


class Posed(NamedTuple):
    """Chains with the same features over the frames. Joints are in the world; ``is_on`` says where the chain poses its
    bones, True for everywhere."""

    turns: Turns
    stretch: NDArray[Any]
    reach: NDArray[Any]
    is_on: Any
    knee: Vector
    tip: Vector
    target: Vector


def features_of(steady: Steady, course: Course) -> Features:
    """What the chain needs in any frame."""
    if steady.chain.posing and not steady.animated:
        return steady.chain.posing.features
    return rig_settings.features_of(_settings([steady], [course]), np.any)


def solve(chains: list[Steady], courses: list[Course], features: Features) -> Posed | None:
    """Pose chains with the same features, all with a pole or all without; None if in some frame a chain's pose depends
    on the frame before, or has no solution."""
    spaces = _Spaces([course.space for course in courses])
    if spaces.is_flat:
        return None
    # A matrix's rows as tuples, for NumPy 1 takes ten times as long to read the matrix itself.
    to_parent: NDArray[Any] = np.array([[row[:] for row in steady.in_parent] for steady in chains])
    from_parent: Any = inverted(to_parent)
    places = _columns([course.target for course in courses])
    target = moved(from_parent, spaces.inside(places))
    pole = None
    if courses[0].pole is not None:
        pole = moved(from_parent, spaces.inside(_columns([course.pole for course in courses])))
        if _is_in_line(target, pole):
            return None
    limb: Limb = _stacked([steady.body.limb for steady in chains])
    settings = _settings(chains, courses)
    is_on = _over_frames(SWITCH, chains, courses) > 0.0
    own = Turns(_own(chains, courses, 0), _own(chains, courses, 1)) if features.blended or not is_on.all() else Turns()
    blended_from = Turns(*map(_rows, own)) if features.blended else Turns()
    solution = solve_chains(
        _rows(target), limb, settings, features, None if pole is None else _rows(pole), blended_from, tolerance=ROUNDING
    )
    if (solution.reach == Reach.INVALID).any():
        return None
    turns, stretch = Turns(*(_parts(q) for q in (solution.upper, solution.lower))), solution.stretch
    if not is_on.all():
        turns = Turns(*(_chosen(is_on, *each) for each in zip(turns, own, strict=True)))
        stretch = np.where(is_on, stretch, 1.0)
    joints = rotate(turns.upper, scale(limb.axes[0], limb.r1 * stretch)), tip_position(turns, limb, stretch)
    knee, tip = (spaces.outside(moved(to_parent, joint)) for joint in joints)
    return Posed(turns, stretch, solution.reach, is_on, knee, tip, places)


class _Spaces:
    """What takes the chains' parents to the world, and back. Chains of the same parent share theirs, so that it is
    inverted and applied once."""

    def __init__(self, spaces: list[NDArray[Any]]) -> None:
        members: dict[int, list[int]] = {}
        for i, space in enumerate(spaces):
            members.setdefault(id(space), []).append(i)
        self._members = list(members.values())
        self._outwards = [spaces[columns[0]][:, None] for columns in self._members]
        self._inwards = [inverted(space) for space in self._outwards]
        self.is_flat = any(space is None for space in self._inwards)

    def inside(self, places: Vector) -> Vector:
        """Places of the world in the parents."""
        return self._through(self._inwards, places)

    def outside(self, places: Vector) -> Vector:
        """Places in the parents in the world."""
        return self._through(self._outwards, places)

    def _through(self, spaces: list[Any], places: Vector) -> Vector:
        if len(spaces) == 1:
            return moved(spaces[0], places)
        x, y, z = (np.empty_like(part) for part in places)
        for space, columns in zip(spaces, self._members, strict=True):
            own = places[0][:, columns], places[1][:, columns], places[2][:, columns]
            x[:, columns], y[:, columns], z[:, columns] = moved(space, own)
        return (x, y, z)


def _settings(chains: list[Steady], courses: list[Course]) -> Settings:
    values = {name: _over_frames(name, chains, courses) for name in VARIABLE}
    sides = np.array([steady.chain.swing_side for steady in chains])
    return rig_settings.solver_settings(values, sides, np.cos)


def _over_frames(name: str, chains: list[Steady], courses: list[Course]) -> NDArray[Any]:
    """A setting of all chains; over the frames if it is animated on any of them."""
    columns = [course.settings.get(name, steady.settings[name]) for steady, course in zip(chains, courses, strict=True)]
    if not any(name in course.settings for course in courses):
        return np.array(columns)
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def _own(chains: list[Steady], courses: list[Course], which: int) -> Quaternion:
    """The upper bones' own rotations, or the lower ones'."""
    bones: list[Own] = [(steady.upper, steady.lower)[which] for steady in chains]
    rows = [(course.upper, course.lower)[which] for course in courses]
    turned = [to_quaternion(bone.mode, [*numbers.T], ARRAYS) for bone, numbers in zip(bones, rows, strict=True)]
    count = max(map(len, rows))
    parts = [np.stack([np.broadcast_to(part, count) for part in parts], axis=-1) for parts in zip(*turned, strict=True)]
    return (parts[0], parts[1], parts[2], parts[3])


def _chosen(is_on: NDArray[Any], solved: Quaternion, own: Quaternion) -> Any:
    return tuple(np.where(is_on, a, b) for a, b in zip(solved, own, strict=True))


def _columns(places: list[Any]) -> Vector:
    """Places ``(frames, 3)`` of each chain."""
    x, y, z = np.ascontiguousarray(np.stack(places, axis=-1).transpose(1, 0, 2))
    return (x, y, z)


def _rows(parts: Any) -> Any:
    """A tuple's arrays as one, with the numbers along the last axis; in memory they stay apart, as the solver likes."""
    return np.moveaxis(np.array(parts), 0, -1)


def _parts(rows: NDArray[Any]) -> Any:
    return tuple(np.moveaxis(rows, -1, 0))


def _is_in_line(target: Vector, pole: Vector) -> bool:
    """Whether target and pole are in line with the root in any frame, or the target at it."""
    span = cross(target, pole)
    return bool((dot(span, span) <= IN_LINE * dot(target, target) * dot(pole, pole)).any())


def _stacked(trees: list[Any]) -> Any:
    """Nested tuples of numbers, as nested tuples of arrays with a number for each chain."""
    first = trees[0]
    if not isinstance(first, tuple):
        return np.array(trees, float)
    branches = [_stacked(list(branch)) for branch in zip(*trees, strict=True)]
    return type(first)(*branches) if hasattr(first, "_fields") else tuple(branches)
