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
    choose_vector,
    combine,
    components,
    conjugate,
    cross,
    dot,
    flattened,
    from_plane,
    half_angle,
    length,
    multiply,
    normalised,
    rotate,
    scale,
    slerp,
    square_to,
)
from .triangle import (
    TOO_FAR,
    TOO_NEAR,
    Bones,
    Settings,
    Turns,
    extend,
    extend_shaped,
    judge,
    limited_range,
    turns,
)

IN_LINE_SQUARE = 1e-12
"""The squared sine between pole and target below which they span no plane; float32 poses are this noisy."""


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

    A target at the root counts as lying along the unturned upper bone. ``tolerance`` is the shortfall that still
    counts as reached, as a fraction of r1 + r2. Numbers that are not finite are the caller's to refuse.
    """
    shaped, swung, blended = features
    bend = settings.bend
    tx, ty, tz = target
    (ax, ay, az), (bx, by, bz), normal = limb.axes
    if pole is None:
        x, y = tx * ax + ty * ay + tz * az, tx * bx + ty * by + tz * bz
        distance = m.sqrt(x * x + y * y)
    else:
        distance = m.sqrt(tx * tx + ty * ty + tz * tz)
    turned, stretch, reach = _triangle(distance, limb.bones, settings, shaped, 1.0 if swung else bend, tolerance, m)
    if pole is None:
        cosine, sine = half_angle(x, y, distance, m)
        if swung:
            upper, lower = _swung((cosine, 0.0, 0.0, sine), turned, limb, settings, m)
        else:
            upper, lower = _in_plane(cosine, sine, turned, limb, m)
    else:
        line, normal = _line_in_pole_plane(target, distance, pole, limb, m)
        if swung:
            upper, lower = _swung(line, turned, limb, settings, m)
        else:
            upper, lower = _off_the_line(line, turned, limb, m)
    if hinge is not None:
        lower = _unhinged(upper, lower, limb, hinge)
    if blended:
        influence = settings.influence
        upper = slerp(own.upper, upper, influence, m)
        lower = slerp(own.lower, lower, influence, m)
        stretch = 1.0 + influence * (stretch - 1.0)
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


def _triangle(
    distance: Any, of: Bones, settings: Settings, shaped: bool, side: Any, tolerance: Any, m: Ops
) -> tuple[Turns, Any, Any]:
    """The turns that take the chain this far or as far as it goes, how much it stretches, and the `Reach`."""
    total, _, difference, _, nearest = of
    slack = tolerance * total
    if shaped:
        within = limited_range(of, settings.min_cos2, settings.max_cos2, m)
        gone, far, stretch, shortfall = extend_shaped(distance, of, within, settings, m)
        reach = judge(shortfall, -slack, slack, within[2], within[3], m)
    else:
        gone, far = extend(distance, of, m)
        stretch, reach = 1.0, judge(distance, nearest - slack, total + slack, TOO_NEAR, TOO_FAR, m)
    return turns(total + gone, far, gone + difference, gone - difference, side, m), stretch, reach


def _line_in_pole_plane(target: Vector, distance: Any, pole: Pole, limb: Limb, m: Ops) -> tuple[Quaternion, Vector]:
    """The turn (of any length), in components along the limb's axes, that takes them to those of the plane through
    the pole; and the plane's normal, in F."""
    along, position = limb.axes[0], pole.position
    size = distance + TINY
    direction = (
        (target[0] + TINY * along[0]) / size,
        (target[1] + TINY * along[1]) / size,
        (target[2] + TINY * along[2]) / size,
    )
    span = cross(direction, position)
    spanned = dot(span, span) > IN_LINE_SQUARE * dot(position, position)
    kept = flattened(pole.last_normal, direction)
    lost = dot(kept, kept) <= IN_LINE_SQUARE
    kept = choose_vector(lost, square_to(direction, m), kept, m)
    normal = choose_vector(spanned, span, kept, m)
    normal = scale(normal, 1.0 / length(normal, m))
    return from_plane(components(direction, limb.axes), components(normal, limb.axes), m), normal


def _in_plane(cosine: Any, sine: Any, turned: Turns, limb: Limb, m: Ops) -> tuple[Quaternion, Quaternion]:
    """The bones' own rotations, all about the normal of the limb's plane: the line's turn, given as a half angle of
    any length, and each bone's off the line."""
    knee_cos, knee_sin, line_cos, line_sin = turned
    w, z = cosine * line_cos - sine * line_sin, sine * line_cos + cosine * line_sin
    size = m.sqrt(w * w + z * z)
    w, z = w / size, z / size
    nx, ny, nz = limb.axes[2]
    return (w, z * nx, z * ny, z * nz), _bent(knee_cos, knee_sin, limb)


def _off_the_line(line: Quaternion, turned: Turns, limb: Limb, m: Ops) -> tuple[Quaternion, Quaternion]:
    """The same for a line turned any way, of any length."""
    knee_cos, knee_sin, line_cos, line_sin = turned
    w, x, y, z = line
    turn = (
        w * line_cos - z * line_sin,
        x * line_cos + y * line_sin,
        y * line_cos - x * line_sin,
        z * line_cos + w * line_sin,
    )
    return in_axes(normalised(turn, m), limb.axes), _bent(knee_cos, knee_sin, limb)


def _bent(knee_cos: Any, knee_sin: Any, limb: Limb) -> Quaternion:
    """The lower bone's own rotation for a knee turned against the normal."""
    (aw, ax, ay, az), _, (bw, bx, by, bz) = limb.knee_turns
    return (
        knee_cos * aw - knee_sin * bw,
        knee_cos * ax - knee_sin * bx,
        knee_cos * ay - knee_sin * by,
        knee_cos * az - knee_sin * bz,
    )


def _swung(line: Quaternion, turned: Turns, limb: Limb, settings: Settings, m: Ops) -> tuple[Quaternion, Quaternion]:
    """The same about a hinge axis that has swung about the line with the knee, by the angle whose cosine is the
    bend."""
    knee_cos, knee_sin, line_cos, line_sin = turned
    bend = m.minimum(m.maximum(settings.bend, -1.0), 1.0)
    swing = settings.swing_side * m.sqrt((1.0 - bend) * (1.0 + bend))
    w, x, y, z = line
    aside, off = line_sin * swing, line_sin * bend
    turn = (
        w * line_cos + y * aside - z * off,
        x * line_cos + y * off + z * aside,
        y * line_cos - w * aside - x * off,
        z * line_cos - x * aside + w * off,
    )
    aside, off = knee_sin * swing, knee_sin * bend
    (aw, ax, ay, az), (bw, bx, by, bz), (cw, cx, cy, cz) = limb.knee_turns
    lower = (
        knee_cos * aw + aside * bw - off * cw,
        knee_cos * ax + aside * bx - off * cx,
        knee_cos * ay + aside * by - off * cy,
        knee_cos * az + aside * bz - off * cz,
    )
    return in_axes(normalised(turn, m), limb.axes), lower


def _lower_in_frame(lower: Quaternion, limb: Limb) -> Quaternion:
    """The lower bone's own rotation as a turn in F, before the upper bone's."""
    return in_axes((lower[0], *components(lower[1:], limb.lower_axes)), limb.axes)


def _unhinged(upper: Quaternion, lower: Quaternion, limb: Limb, hinge: Hinge) -> Quaternion:
    """The lower bone's own rotation if it does not inherit the upper bone's."""
    turned = multiply(upper, _lower_in_frame(lower, limb))
    return multiply(conjugate(hinge.now), multiply(turned, hinge.rest))
