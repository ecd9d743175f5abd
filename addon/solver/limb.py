"""The shape of a limb with both bones unturned: lengths, bend plane, and the lower bone's own axes.

All vectors are in the frame F of the upper bone: its pose with its own channels at identity, its head at the origin.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .ops import Ops
from .rotation import (
    Quaternion,
    Vector,
    choose,
    combine,
    components,
    conjugate,
    cross,
    dot,
    flattened,
    from_plane,
    length,
    multiply,
    normalised,
    rotate,
    scale,
    shortest,
    unit,
)
from .triangle import Bones, bones

STRAIGHT = 1e-4
"""The sine of the knee's turn below which a limb counts as straight at rest. Float32 bones far from their object's
origin are this noisy; no one models a bend this small."""

Axes = tuple[Vector, Vector, Vector]

HalfAngle = tuple[Any, Any]
"""A turn as the cosine and sine of half of it."""

NO_TURN: HalfAngle = (1.0, 0.0)
FIRST, THIRD = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


class Limb(NamedTuple):
    """What of a limb does not change while it moves.

    ``axes`` are the bend plane's: along the upper bone, across it (the cross product of the other two), and the
    normal, about which the limb bends; each a unit vector in F. ``lower_axes`` are the same three in the axes of the
    unturned lower bone, reversed if that is mirrored, so that rotation vectors carry over. ``rest_turn`` takes the
    upper bone's direction to the lower bone's, in components along ``axes``.

    ``knee_turns`` are three quaternions that add up to the lower bone's own rotation when weighted with the cosine of
    half the knee's turn off straight, and with its sine times the components of the turn's axis across the limb and
    along the normal.

    ``line_axes`` are the axes again as the rest line has them, from root to tip: along it, across it, and the normal
    made square to it; each a unit vector in F. ``line_turn`` takes ``axes`` to them, in components along ``axes``.
    ``start`` is the upper bone's direction in components along ``line_axes``.

    ``pole_turn`` is by how much the knee is off the plane of a pole, about the line from root to target.
    """

    r1: Any
    r2: Any
    bones: Bones
    axes: Axes
    lower_axes: Axes
    rest_turn: Quaternion
    knee_turns: tuple[Quaternion, Quaternion, Quaternion]
    line_axes: Axes
    line_turn: Quaternion
    start: Vector
    pole_turn: HalfAngle = NO_TURN


def limb(knee: Vector, lower: Vector, lower_frame: Axes, m: Ops) -> Limb:
    """The limb with its knee at ``knee`` and its tip at ``knee + lower``.

    ``lower_frame`` holds the x, y and z axes of the unturned lower bone as unit vectors in F; its y axis is along the
    bone. The normal is ``lower x knee``, so that bend +1 is the shape itself; a straight limb takes the x axis.
    Bones of no length take the other bone's direction, or the y axis.
    """
    r1 = length(knee, m)
    r2 = length(lower, m)
    along_lower = unit(lower, lower_frame[1], m)
    along = unit(knee, along_lower, m)
    across = cross(along_lower, along)
    straight = length(across, m) <= STRAIGHT
    hinge = choose(straight, lower_frame[0], across, m)
    hinge = _upright(hinge, along, lower_frame[2], m)
    axes = (along, cross(hinge, along), hinge)
    mirrored = dot(cross(lower_frame[0], lower_frame[1]), lower_frame[2]) < 0.0
    sign = m.select(mirrored, -1.0, 1.0)
    along_in_lower, across_in_lower, hinge_in_lower = (scale(components(axis, lower_frame), sign) for axis in axes)
    lower_axes = (along_in_lower, across_in_lower, hinge_in_lower)
    rest_turn = shortest(*components(along_lower, axes), m)
    knee_turns = _knee_turns(rest_turn, lower_axes, NO_TURN)
    return Limb(
        r1, r2, bones(r1, r2, m), axes, lower_axes, rest_turn, knee_turns, *_rest_line(r1, r2, axes, rest_turn, m)
    )


def turned(limb: Limb, hinge: HalfAngle, twist: HalfAngle, m: Ops, pole_turn: HalfAngle = NO_TURN) -> Limb:
    """What `limb` made, with its hinge axis, the normal, turned about the upper bone, and its lower bone about its own
    length: made straight by the shortest turn, the lower bone is twisted, and then bends about the turned axis. With a
    pole, its knee lies beside that by a turn about the line from root to target.

    The three are the settings ``hinge_angle``, ``lower_twist`` and ``pole_angle``, as half angles of unit length;
    `fitting.fit_hinge` finds the first two for a pose.
    """
    cosine, sine = hinge
    cosine, sine = cosine * cosine - sine * sine, 2.0 * cosine * sine
    axes, lower_axes = (_turned_about_first(of, cosine, sine) for of in (limb.axes, limb.lower_axes))
    w, x, y, z = limb.rest_turn
    rest_turn = (w, x, y * cosine + z * sine, z * cosine - y * sine)
    knee_turns = _knee_turns(rest_turn, lower_axes, twist)
    rest_line = _rest_line(limb.r1, limb.r2, axes, rest_turn, m)
    return Limb(limb.r1, limb.r2, limb.bones, axes, lower_axes, rest_turn, knee_turns, *rest_line, pole_turn)


def _turned_about_first(axes: Axes, cosine: Any, sine: Any) -> Axes:
    return (axes[0], combine(0.0, cosine, sine, axes), combine(0.0, -sine, cosine, axes))


def _knee_turns(rest_turn: Quaternion, lower_axes: Axes, twist: HalfAngle) -> tuple[Quaternion, Quaternion, Quaternion]:
    straighten = multiply((*twist, 0.0, 0.0), conjugate(rest_turn))
    bases = ((1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    straight_on, aside, bent = (in_axes(multiply(base, straighten), lower_axes) for base in bases)
    return (straight_on, aside, bent)


def _rest_line(r1: Any, r2: Any, axes: Axes, rest_turn: Quaternion, m: Ops) -> tuple[Axes, Quaternion, Vector]:
    """``line_axes``, ``line_turn`` and ``start``; a limb with its tip at its root takes the upper bone's line."""
    x, y, z = rotate(rest_turn, (r2, 0.0, 0.0))
    tip = (x + r1, y, z)
    is_line = length(tip, m) > STRAIGHT * (r1 + r2)
    line = unit(choose(is_line, tip, FIRST, m), FIRST, m)
    normal = _upright(THIRD, line, FIRST, m)
    across = cross(normal, line)
    line_axes = (combine(*line, axes), combine(*across, axes), combine(*normal, axes))
    return line_axes, normalised(from_plane(line, normal, m), m), (line[0], across[0], normal[0])


def in_axes(turn: Quaternion, axes: Axes) -> Quaternion:
    """The rotation whose vector's components along ``axes`` are those of ``turn``."""
    return (turn[0], *combine(turn[1], turn[2], turn[3], axes))


def _upright(v: Vector, along: Vector, other: Vector, m: Ops) -> Vector:
    """The direction of ``v`` at right angles to ``along``; that of ``other`` if ``v`` lies along it."""
    flat = flattened(v, along)
    lost = dot(flat, flat) < 1e-12 * dot(v, v)
    return unit(choose(lost, flattened(other, along), flat, m), other, m)
