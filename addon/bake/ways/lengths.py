"""Limbs that get longer over the frames: by the scales of their bones, and by turns that make up for where these move a
joint aside."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...rig.anatomy import Unposable
from ...rig.solver_settings import solver_settings
from ...rig.stretching import Stretching, besides_inherited, stretching_of
from ...solver.chain import Own
from ...solver.lengthening import lengthened
from ...solver.ops import ARRAYS
from ...solver.triangle import Settings
from .courses.gathering import Course
from .solving import Posed
from .subjects import Subject

MOST = {"stretch": np.max, "softness": np.max, "max_angle": np.min, "influence": np.min}
"""Which of a setting's values over the frames bends and lengthens a limb the most."""

UNSCALED = np.ones((3, 1))


class Grown(NamedTuple):
    """The factors on the scales of a limb's upper and lower bone, ``(3, frames)``."""

    upper: NDArray[Any]
    lower: NDArray[Any]


def lengthen(subjects: list[Subject], courses: list[Course], posed: Posed) -> tuple[Posed, list[Grown | None]]:
    """The limbs with turns that put the joints of lengthened bones in place, and how their bones grow, None for limbs
    that do not. In frames in which a limb can't lengthen it counts as not solved."""
    lengthen = [*map(_lengthens, subjects, courses)]
    if not any(lengthen):
        return posed, [None] * len(subjects)
    shape = posed.stretch.shape
    turns = [np.array([np.broadcast_to(part, shape) for part in turn]) for turn in posed.turns]
    sizes = [np.ones((3, *shape)) for _ in turns]
    is_solved = posed.is_solved.copy()
    for i in np.flatnonzero(lengthen).tolist():
        for rows, stretching in _stretchings(subjects[i], courses[i]):
            if stretching is None:
                is_solved[rows, i] = False
                continue
            grown = _grown(stretching, [turn[:, rows, i] for turn in turns], posed.stretch[rows, i])
            for numbers, found in zip((*turns, *sizes), grown, strict=True):
                numbers[:, rows, i] = found
    posed = posed._replace(turns=Own(*map(tuple, turns)), is_solved=is_solved)
    return posed, [Grown(*(size[:, :, i] for size in sizes)) if each else None for i, each in enumerate(lengthen)]


def _lengthens(subject: Subject, course: Course) -> bool:
    """Whether a limb may get longer in some frame, be it not one of these."""
    return "stretch" in course.settings or subject.settings["stretch"] > 0.0


def _stretchings(subject: Subject, course: Course) -> Iterator[tuple[Any, Stretching | None]]:
    """The frames in which a limb has each of its shapes, and how it stretches then, None if it can't."""
    settings = _most(subject, course)
    for i, body in enumerate(course.shapes.bodies):
        rows = slice(None) if course.shapes.which is None else course.shapes.which == i
        try:
            yield rows, body and stretching_of(subject.bones[1], body, settings, subject.volume)
        except Unposable:
            yield rows, None


def _most(subject: Subject, course: Course) -> Settings:
    """A chain's settings, of those that move the values that bend and lengthen the limb the most."""
    moving = {name: float(most(course.settings[name])) for name, most in MOST.items() if name in course.settings}
    return solver_settings(subject.settings | moving, subject.swing_side, np.cos)


def _grown(stretching: Stretching, turns: list[NDArray[Any]], factor: NDArray[Any]) -> list[NDArray[Any]]:
    """`Stretching.turn_and_scale` over the frames: the bones' turns ``(4, frames)``, and how they grow."""
    if stretching.how is None:
        sizes = [np.array([factor**power for power in powers]) for powers in (stretching.upper, stretching.lower)]
        return [*turns, *sizes]
    upper, lower = map(tuple, turns)
    upper, lower, grown, wanted = lengthened(upper, lower, factor, stretching.how, ARRAYS)
    found = upper, lower, grown, besides_inherited(wanted, grown, stretching.inherited)
    whole = [np.array(np.broadcast_arrays(*each)) for each in found]
    return [
        np.where(factor != 1.0, each, still) for each, still in zip(whole, (*turns, UNSCALED, UNSCALED), strict=True)
    ]
