"""From courses to solutions: all frames of all chains with the same features in one call of the solver.

Positions and quaternions are tuples of arrays ``(frames, chains)``, one for each number; what all frames share is
``(chains,)``.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...live.chain import ROUNDING
from ...rig.data.rotation import ARRAYS, to_quaternion
from ...rig.settings import BY_NAME, SWITCH
from ...rig.solver_settings import features_of, solver_settings
from ...solver import Reach
from ...solver.chain import Features, Own, Plane, Uninherited, tip_position
from ...solver.chains import solve_chains
from ...solver.rotation import Quaternion, Vector, dot, rotate, scale
from ...solver.triangle import Settings
from ..samples import is_off
from .courses.gathering import Course
from .courses.transforms import inverted, moved
from .shapes import bodies_of
from .subjects import VARIABLE, OwnBone, Subject


class Posed(NamedTuple):
    """Chains with the same features over the frames. Joints, target and pole are in the world; ``is_on`` says where the
    chain poses its bones, True for everywhere, and ``is_solved`` where arrays can tell what it does."""

    turns: Own
    stretch: NDArray[Any]
    reach: NDArray[Any]
    is_on: Any
    knee: Vector
    tip: Vector
    target: Vector
    pole: Vector | None
    is_solved: NDArray[Any]


def features_needed(subject: Subject, course: Course) -> Features:
    """What the chain needs in any frame."""
    if not course.settings:
        return _features_kept(subject.plane, *subject.settings.values())
    return features_of(_settings([subject], [course]), subject.plane, np.any)


@lru_cache
def _features_kept(plane: str, *values: float) -> Features:
    """What a chain needs whose `VARIABLE` settings keep these values."""
    settings = solver_settings(dict(zip(VARIABLE, values, strict=True)), 1.0, cos)
    return features_of(settings, plane)


def solve(subjects: list[Subject], courses: list[Course], features: Features, count: int) -> Posed:
    """Pose chains with the same features over so many frames. Their lower bones all inherit rotation, or none does."""
    spaces = _Spaces([course.space for course in courses])
    to_space = np.array([course.in_space for course in courses])
    from_space = inverted(to_space)
    places = _columns([course.target for course in courses], count)
    target = moved(from_space, spaces.inside(places))
    pole = pole_place = None
    if features.plane is Plane.POLE:
        pole_place = _columns([course.pole for course in courses], count)
        pole = moved(from_space, spaces.inside(pole_place))
        pole = _rows(_where_towards_it(pole, courses))
    body, uninherited, are_limbs = bodies_of([course.shapes for course in courses])
    settings = _settings(subjects, courses)
    is_on = _over_frames(SWITCH, subjects, courses) > 0.0
    is_own_seen = features.blended or not is_on.all()
    own = Own(_own(subjects, courses, 0), _own(subjects, courses, 1)) if is_own_seen else Own()
    blended_from = Own(*map(_rows, own)) if features.blended else Own()
    turned_apart = None if uninherited is None else Uninherited(*map(_rows, uninherited))
    solution = solve_chains(
        _rows(target), body, settings, features, pole, blended_from, turned_apart, tolerance=ROUNDING
    )
    turns, stretch = Own(*(_parts(q) for q in (solution.upper, solution.lower))), solution.stretch
    is_known = are_limbs & (_plane(courses) != _number("REST") if features.plane is Plane.POLE else True)
    is_solved = np.broadcast_to((solution.reach != Reach.INVALID) & is_known, solution.reach.shape)
    if not is_on.all():
        turns = Own(*(_chosen(is_on, *each) for each in zip(turns, own, strict=True)))
        stretch = np.where(is_on, stretch, 1.0)
    joints = (
        rotate(turns.upper, scale(body.axes[0], body.r1 * stretch)),
        tip_position(turns, body, stretch, uninherited),
    )
    knee, tip = (spaces.outside(moved(to_space, joint)) for joint in joints)
    reach = solution.reach
    if features.blended:
        root = spaces.outside(moved(to_space, scale(joints[0], 0.0)))
        is_kept_off = (settings.influence < 1.0) & is_off(root, knee, tip, places, np.sqrt(dot(tip, tip)))
        reach = np.where((reach == Reach.REACHED) & is_kept_off, Reach.LIMITED, reach)
    return Posed(turns, stretch, reach, is_on, knee, tip, places, pole_place, is_solved)


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


def _settings(subjects: list[Subject], courses: list[Course]) -> Settings:
    values = {name: _over_frames(name, subjects, courses) for name in VARIABLE}
    sides = np.array([subject.swing_side for subject in subjects])
    return solver_settings(values, sides, np.cos)


def _over_frames(name: str, subjects: list[Subject], courses: list[Course]) -> NDArray[Any]:
    """A setting of all chains; over the frames if it moves on any of them."""
    columns = [
        course.settings.get(name, subject.settings[name]) for subject, course in zip(subjects, courses, strict=True)
    ]
    if not any(name in course.settings for course in courses):
        return np.array(columns)
    return np.stack(np.broadcast_arrays(*columns), axis=-1)


def _plane(courses: list[Course]) -> NDArray[Any]:
    """The numbers of the planes of chains that have a pole: in frames in which that is not theirs, another."""
    return np.stack(
        np.broadcast_arrays(*(course.settings.get("plane", _number("POLE")) for course in courses)), axis=-1
    )


def _where_towards_it(pole: Vector, courses: list[Course]) -> Vector:
    """The poles of chains in their limbs' own spaces, at the root where the plane is another: one that is in line with
    root and target leaves the limb in the plane of `SWING`."""
    is_towards = _plane(courses) == _number("POLE")
    return (pole[0] * is_towards, pole[1] * is_towards, pole[2] * is_towards)


def _number(plane: str) -> int:
    return int(BY_NAME["plane"].number_of(plane))


def _own(subjects: list[Subject], courses: list[Course], which: int) -> Quaternion:
    """The upper bones' own rotations, or the lower ones'."""
    bones: list[OwnBone] = [(subject.upper, subject.lower)[which] for subject in subjects]
    rows = [(course.upper, course.lower)[which] for course in courses]
    turned = [to_quaternion(bone.mode, [*numbers.T], ARRAYS) for bone, numbers in zip(bones, rows, strict=True)]
    count = max(map(len, rows))
    parts = [np.stack([np.broadcast_to(part, count) for part in parts], axis=-1) for parts in zip(*turned, strict=True)]
    return (parts[0], parts[1], parts[2], parts[3])


def _chosen(is_on: NDArray[Any], solved: Quaternion, own: Quaternion) -> Any:
    return tuple(np.where(is_on, a, b) for a, b in zip(solved, own, strict=True))


def _columns(places: list[Any], count: int) -> Vector:
    """Places ``(frames, 3)`` of each chain; each may be one for all frames."""
    rows = np.empty((3, count, len(places)))
    for i, place in enumerate(places):
        rows[:, :, i] = place.T
    x, y, z = rows
    return (x, y, z)


def _rows(parts: Any) -> Any:
    """A tuple's arrays as one, with the numbers along the last axis; in memory they stay apart, as the solver likes."""
    return np.moveaxis(np.array(parts), 0, -1)


def _parts(rows: NDArray[Any]) -> Any:
    return tuple(np.moveaxis(rows, -1, 0))
