"""From a target in the frame F to the two bones' own rotations, with every setting of a chain.

Positions are in F, lengths in its unit. The chain is posed in two strokes: the target line is turned to the target
(``line``), and each bone is turned off that line by the half angles of the triangle (``turns``).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .limb import Limb, in_axes
from .ops import TINY, Ops
from .rotation import (
    IDENTITY,
    Quaternion,
    Vector,
    choose,
    choose_vector,
    combine,
    conjugate,
    cross,
    dot,
    flattened,
    from_axes,
    half_angle,
    multiply,
    normalised,
    rotate,
    scale,
    slerp,
    unit,
)
from .triangle import Settings, Turns, extend, extend_shaped, full_range, judge, limited_range, turns

IN_LINE = 1e-6
"""The sine between pole and target below which they do not span a plane; float32 poses are this noisy."""


class Features(NamedTuple):
    """Which parts of the formula are there at all; what is off costs nothing. With its setting at the default, a
    feature that is on gives the same pose as one that is off."""

    shaped: bool = False  # softness, stretch or knee limits
    swung: bool = False  # bend between -1 and 1
    blended: bool = False  # influence


class Own(NamedTuple):
    """The bones' own (FK) rotations, which influence blends from."""

    upper: Quaternion = IDENTITY
    lower: Quaternion = IDENTITY


OWN_AT_REST = Own()


class Hinge(NamedTuple):
    """A lower bone that does not inherit rotation: its orientation in F, unturned, at rest and as it stands now."""

    rest: Quaternion
    now: Quaternion


class Pole(NamedTuple):
    """Where the knee points, in F, and the normal of the plane to keep while the pole gives none."""

    position: Vector
    last_normal: Vector


class Solution(NamedTuple):
    """The two bones' own rotations and what they achieve."""

    upper: Quaternion
    lower: Quaternion
    stretch: Any  # factor on the length of both bones
    reach: Any
    normal: Vector  # of the bend plane, in F


def solve_chain(
    target: Vector,
    limb: Limb,
    settings: Settings,
    features: Features,
    m: Ops,
    pole: Pole | None = None,
    own: Own = OWN_AT_REST,
    hinge: Hinge | None = None,
    tolerance: Any = 1e-12,
) -> Solution:
    """Pose ``limb`` so that its tip goes to ``target``: in the plane through root, target and ``pole``, or, without a
    pole, in the limb's own plane.

    ``tolerance`` is the shortfall that still counts as reached, as a fraction of r1 + r2.
    """
    if pole is None:
        along, across, normal = limb.axes
        x, y = dot(target, along), dot(target, across)
        distance = m.sqrt(x * x + y * y + TINY * TINY)
        half_cosine, half_sine = half_angle(x / distance, y / distance, m)
        line: Quaternion = (half_cosine, 0.0, 0.0, half_sine)
    else:
        distance = m.sqrt(dot(target, target) + TINY * TINY)
        line, normal = _line_in_pole_plane(target, pole, limb, m)
    if features.shaped:
        within = limited_range(limb.bones, settings.min_cos2, settings.max_cos2, m)
        extension = extend_shaped(distance, limb.bones, within, settings, m)
    else:
        within = full_range(limb.bones, m)
        extension = extend(distance, 0.0, limb.bones, within, m)
    turned = turns(extension, limb.bones, m)
    if features.swung or pole is not None:
        upper, lower = _off_the_line(line, turned, limb, settings.bend, distance <= TINY, m)
    else:
        upper, lower = _off_the_line_in_plane(line, turned, limb, settings.bend, distance <= TINY, m)
    if hinge is not None:
        lower = _unhinged(upper, lower, limb, hinge)
    stretch = extension[3]
    if features.blended:
        upper = slerp(own.upper, upper, settings.influence, m)
        lower = slerp(own.lower, lower, settings.influence, m)
        stretch = 1.0 + settings.influence * (stretch - 1.0)
    reach = judge(extension, within, tolerance * limb.bones.total, m)
    return Solution(upper, lower, stretch, reach, normal)


def tip_position(own: Own, limb: Limb, stretch: Any = 1.0, hinge: Hinge | None = None) -> Vector:
    """Where two rotations put the tip, in F: forward kinematics."""
    upper, lower = own
    knee = rotate(upper, scale(limb.axes[0], limb.r1 * stretch))
    pointing = combine(*rotate(limb.rest_turn, (limb.r2 * stretch, 0.0, 0.0)), limb.axes)
    if hinge is None:
        turn = multiply(upper, _lower_in_frame(lower, limb))
    else:
        turn = multiply(multiply(hinge.now, lower), conjugate(hinge.rest))
    reached = rotate(turn, pointing)
    return (knee[0] + reached[0], knee[1] + reached[1], knee[2] + reached[2])


def _line_in_pole_plane(target: Vector, pole: Pole, limb: Limb, m: Ops) -> tuple[Quaternion, Vector]:
    """The turn, in components along the limb's axes, that takes them to those of the plane through the pole; and
    the plane's normal, in F."""
    along, across, hinge = limb.axes
    direction = unit(target, along, m)
    span = cross(direction, pole.position)
    spanned = dot(span, span) > IN_LINE * IN_LINE * dot(pole.position, pole.position)
    kept = flattened(pole.last_normal, direction)
    lost = dot(kept, kept) <= IN_LINE * IN_LINE
    kept = choose_vector(lost, cross(direction, across), kept, m)
    normal = unit(choose_vector(spanned, span, kept, m), hinge, m)
    x, y, z = (
        (dot(v, along), dot(v, across), dot(v, hinge)) for v in (direction, cross(normal, direction), normal)
    )
    return from_axes(x, y, z, m), normal


def _off_the_line_in_plane(
    line: Quaternion, turned: Turns, limb: Limb, bend: Any, at_root: Any, m: Ops
) -> tuple[Quaternion, Quaternion]:
    """The bones' own rotations: the line's turn, then each bone's off it, all about the plane's normal.

    A target at the root gives no line: the upper bone stays as at rest.
    """
    knee_cos, knee_sin, line_cos, line_sin = turned
    sine = bend * line_sin
    w, z = line[0] * line_cos - line[3] * sine, line[0] * sine + line[3] * line_cos
    factor = 1.0 / m.sqrt(w * w + z * z)
    w, z = m.select(at_root, 1.0, w * factor), m.select(at_root, 0.0, z * factor)
    x_axis, y_axis, z_axis = limb.axes[2]
    (aw, ax, ay, az), _, (bw, bx, by, bz) = limb.knee_turns
    turn = -bend * knee_sin
    lower = (
        knee_cos * aw + turn * bw,
        knee_cos * ax + turn * bx,
        knee_cos * ay + turn * by,
        knee_cos * az + turn * bz,
    )
    return (w, z * x_axis, z * y_axis, z * z_axis), lower


def _off_the_line(
    line: Quaternion, turned: Turns, limb: Limb, bend: Any, at_root: Any, m: Ops
) -> tuple[Quaternion, Quaternion]:
    """The same for a line turned any way, about a hinge axis that has swung about the line with the knee."""
    knee_cos, knee_sin, line_cos, line_sin = turned
    bend = m.minimum(m.maximum(bend, -1.0), 1.0)
    swing = m.sqrt((1.0 - bend) * (1.0 + bend))
    lw, lx, ly, lz = line
    y, z = -line_sin * swing, line_sin * bend
    off = (
        lw * line_cos - ly * y - lz * z,
        lx * line_cos + ly * z - lz * y,
        lw * y - lx * z + ly * line_cos,
        lw * z + lx * y + lz * line_cos,
    )
    upper = choose(at_root, IDENTITY, in_axes(normalised(off, m), limb.axes), m)
    y, z = knee_sin * swing, -knee_sin * bend
    (aw, ax, ay, az), (bw, bx, by, bz), (cw, cx, cy, cz) = limb.knee_turns
    lower = (
        knee_cos * aw + y * bw + z * cw,
        knee_cos * ax + y * bx + z * cx,
        knee_cos * ay + y * by + z * cy,
        knee_cos * az + y * bz + z * cz,
    )
    return upper, lower


def _lower_in_frame(lower: Quaternion, limb: Limb) -> Quaternion:
    """The lower bone's own rotation as a turn in F, before the upper bone's."""
    vector = lower[1:]
    along, across, hinge = limb.lower_axes
    return in_axes((lower[0], dot(vector, along), dot(vector, across), dot(vector, hinge)), limb.axes)


def _unhinged(upper: Quaternion, lower: Quaternion, limb: Limb, hinge: Hinge) -> Quaternion:
    """The lower bone's own rotation if it does not inherit the upper bone's."""
    turned = multiply(upper, _lower_in_frame(lower, limb))
    return multiply(conjugate(hinge.now), multiply(turned, hinge.rest))
