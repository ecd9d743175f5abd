"""Lengthening the bones of a posed limb by their scale, where that moves the knee aside or shears the lower bone.

An upper bone that does not point at its knee moves it off the line when it lengthens, and a lower bone that takes over
its whole scale is lengthened across too while the knee is bent. Both are made up for by turning and scaling the bones a
little differently: the joints come where a limb of longer bones would have them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .ops import Ops
from .rotation import (
    Quaternion,
    Vector,
    combine,
    components,
    conjugate,
    cross,
    dot,
    length,
    multiply,
    normalised,
    rotate,
)

STEPS = 8
"""Newton's method from the factor itself: three suffice for twice the length, so many for any."""

MOST_ASIDE = 0.5
"""The squared cosine, between an upper bone and the way to its knee, below which no bone is made longer to move it."""

UNIT_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

Sizes = tuple[Any, Any, Any]
"""Factors on the x, y and z scale of a bone."""


class Lengthening(NamedTuple):
    """How a limb's bones hang together: the way to the knee as a unit vector in F, and the lower bone's x, y and z axes
    in F, unturned. ``turns_along`` says that the lower bone turns with the upper one, ``is_passed_on`` that it takes
    over its whole scale. ``own`` are the upper bone's own sizes if they are uneven, as which, axis by axis, the lower
    bone counts then; ``volume`` is the setting ``stretch_volume``."""

    along: Vector
    lower_axes: tuple[Vector, Vector, Vector]
    turns_along: bool
    is_passed_on: bool
    volume: str
    own: Sizes = (1.0, 1.0, 1.0)


def lengthened(
    upper: Quaternion, lower: Quaternion, factor: Any, how: Lengthening, m: Ops
) -> tuple[Quaternion, Quaternion, Sizes, Sizes]:
    """The bones' own rotations, and the factors on their scales, that put the joints where bones so many times as long
    would have them, turned as given. ``factor`` is at least 1."""
    wanted = _sizes(factor, how.volume, m)
    sizes = _sizes(_grown(factor, how, m), how.volume, m)
    back = _turn(_scaled(how.along, sizes), how.along, m)
    upper = multiply(upper, back)
    if how.turns_along:
        lower = multiply(_in_lower(conjugate(back), how), lower)
    if not how.is_passed_on:
        return upper, lower, sizes, wanted
    given, wanted = _scaled(sizes, how.own), _scaled(wanted, how.own)
    direction = combine(*rotate(lower, UNIT_AXES[1]), how.lower_axes)
    before = (direction[0] / given[0], direction[1] / given[1], direction[2] / given[2])
    lower = multiply(_in_lower(_turn(direction, before, m), how), lower)
    x, z = (length(_scaled(combine(*rotate(lower, UNIT_AXES[i]), how.lower_axes), given), m) for i in (0, 2))
    return upper, lower, sizes, (wanted[0] / x, wanted[1] * length(before, m), wanted[2] / z)


def _grown(factor: Any, how: Lengthening, m: Ops) -> Any:
    """How many times as long the upper bone must be for its knee to be ``factor`` times as far."""
    straight = how.along[1] * how.along[1]
    aside, square = 1.0 - straight, factor * factor
    if how.volume == "UNIFORM":
        return factor
    if how.volume == "LENGTH":
        return m.sqrt((square - aside) / straight)
    grown = factor
    for _ in range(STEPS):
        excess = (straight * grown * grown - square) * grown + aside
        grown = grown - excess / (3.0 * straight * grown * grown - square)
    return grown


def _sizes(factor: Any, volume: str, m: Ops) -> Sizes:
    """The sizes of a bone that got so many times as long."""
    if volume == "UNIFORM":
        return (factor, factor, factor)
    width = 1.0 / m.sqrt(factor) if volume == "VOLUME" else 1.0
    return (width, factor, width)


def _scaled(v: Vector, sizes: Sizes) -> Vector:
    return (v[0] * sizes[0], v[1] * sizes[1], v[2] * sizes[2])


def _turn(start: Vector, end: Vector, m: Ops) -> Quaternion:
    """The shortest rotation between two directions less than a right angle apart."""
    return normalised((length(start, m) * length(end, m) + dot(start, end), *cross(start, end)), m)


def _in_lower(turn: Quaternion, how: Lengthening) -> Quaternion:
    """A rotation of F in the axes of the unturned lower bone, which reverse it if they are mirrored."""
    x, y, z = how.lower_axes
    side = dot(cross(x, y), z)
    a, b, c = components(turn[1:], how.lower_axes)
    return (turn[0], a * side, b * side, c * side)
