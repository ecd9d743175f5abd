"""From a target in the frame F to the two bones' own rotations, with every setting of a chain.

Positions are in F, lengths in its unit. The chain is posed in two strokes: the target line is turned to the target
(``line``), and each bone is turned off that line by the half angles of the triangle (``turns``).
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from .limb import Axes, HalfAngle, Limb, in_axes
from .ops import Ops
from .reach import Reach
from .rotation import (
    IDENTITY,
    Quaternion,
    Vector,
    combine,
    components,
    conjugate,
    half_angle,
    multiply,
    normalised,
    rotate,
    scale,
    slerp,
)
from .triangle import Bones, Settings, Turns, extend, extend_shaped, judge, limited_range, turns

IN_LINE_SQUARE = 1e-12
"""The squared sine between two directions below which they are in line and span no plane; float32 poses are this
noisy."""


class Plane(StrEnum):
    """The plane that a limb bends in."""

    REST = "REST"
    """The limb's own; the target is projected onto it."""
    SWING = "SWING"
    """The limb's own, turned with the rest line from root to tip the shortest way to the target; straight opposite,
    half a turn about its normal."""
    POLE = "POLE"
    """That through root, target and pole; while these are in line, that of `SWING`."""


class Features(NamedTuple):
    """Which parts of the formula are there at all; what is off costs nothing. With its setting at the default, a
    feature that is on gives the same pose as one that is off."""

    shaped: bool = False  # softness, stretch or knee limits
    swung: bool = False  # bend between -1 and 1
    blended: bool = False  # influence
    plane: Plane = Plane.REST


class Own(NamedTuple):
    """The bones' own (FK) rotations, which influence blends from."""

    upper: Quaternion = IDENTITY
    lower: Quaternion = IDENTITY


OWN_AT_REST = Own()


class Uninherited(NamedTuple):
    """The orientation in F of an unturned lower bone that does not inherit rotation: at rest and as it stands now."""

    rest: Quaternion
    now: Quaternion


class Solution(NamedTuple):
    """The two bones' own rotations and what they achieve."""

    upper: Quaternion
    lower: Quaternion
    stretch: Any  # factor on the length of both bones
    reach: Any


def solve_chain(
    target: Vector,
    limb: Limb,
    settings: Settings,
    features: Features,
    m: Ops,
    pole: Vector | None = None,
    own: Own = OWN_AT_REST,
    uninherited: Uninherited | None = None,
    tolerance: Any = 1e-12,
) -> Solution:
    """Pose ``limb`` so that its tip goes to ``target``, in the plane that ``features`` name; ``pole``, for that of the
    pole, is where the knee points, but for the limb's ``pole_turn``.

    A target at the root counts as lying along the unturned upper bone. ``tolerance`` is the shortfall that still
    counts as reached, and how far off its plane a target still counts as in it, as a fraction of r1 + r2. Numbers that
    are not finite are the caller's to refuse.
    """
    axes = axes_for(limb, features.plane)
    place = components(target, axes)
    pole = components(pole, axes) if pole and features.plane is Plane.POLE else None
    return solve_in_axes(place, limb, settings, features, m, pole, own, uninherited, tolerance)


def axes_for(limb: Limb, plane: Plane) -> Axes:
    """The axes that `solve_in_axes` takes places in: unit vectors in F."""
    return limb.axes if plane is Plane.REST else limb.line_axes


def solve_in_axes(
    target: Vector,
    limb: Limb,
    settings: Settings,
    features: Features,
    m: Ops,
    pole: Vector | None,
    own: Own,
    uninherited: Uninherited | None,
    tolerance: Any,
) -> Solution:
    """`solve_chain` with target and pole in components along `axes_for` the plane."""
    shaped, swung, blended, plane = features
    x, y, z = target
    in_rest_plane = x * x + y * y
    distance = m.sqrt(in_rest_plane if plane is Plane.REST else in_rest_plane + z * z)
    side = 1.0 if swung else settings.bend
    turned, stretch, reach = _triangle(distance, limb.bones, settings, shaped, side, tolerance, m)
    if plane is Plane.REST:
        beside = m.select(abs(z) > tolerance * limb.bones.total, Reach.OFF_PLANE, Reach.REACHED)
        reach = m.select(reach > Reach.REACHED, reach, beside)
        cosine, sine = half_angle(x, y, distance, m)
        if swung:
            upper, lower = _swung((cosine, 0.0, 0.0, sine), turned, limb, settings, m)
        else:
            upper, lower = _in_plane(cosine, sine, turned, limb, m)
    else:
        line = _line(target, distance, limb, pole if plane is Plane.POLE else None, m)
        if swung:
            upper, lower = _swung(line, turned, limb, settings, m)
        else:
            upper, lower = _off_the_line(line, turned, limb, m)
    if uninherited is not None:
        lower = _without_inheriting(upper, lower, limb, uninherited)
    if blended:
        influence = settings.influence
        upper = slerp(own.upper, upper, influence, m)
        lower = slerp(own.lower, lower, influence, m)
        stretch = 1.0 + influence * (stretch - 1.0)
    return Solution(upper, lower, stretch, reach)


def tip_position(own: Own, limb: Limb, stretch: Any = 1.0, uninherited: Uninherited | None = None) -> Vector:
    """Where two rotations put the tip, in F: forward kinematics."""
    upper, lower = own
    knee = rotate(upper, scale(limb.axes[0], limb.r1 * stretch))
    pointing = combine(*rotate(limb.rest_turn, (limb.r2 * stretch, 0.0, 0.0)), limb.axes)
    if uninherited is None:
        turn = multiply(upper, _lower_in_frame(lower, limb))
    else:
        turn = multiply(multiply(uninherited.now, lower), conjugate(uninherited.rest))
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
        stretch = 1.0
        reach = judge(distance, nearest - slack, total + slack, Reach.TOO_NEAR, Reach.TOO_FAR, m)
    return turns(total + gone, far, gone + difference, gone - difference, side, m), stretch, reach


def _line(target: Vector, distance: Any, limb: Limb, pole: Vector | None, m: Ops) -> Quaternion:
    """The turn (of any length), in components along the limb's axes, that takes them to those of the bend plane, the
    target line first: a turn about the rest line, and then the shortest one to the target.

    The shortest turn to the unit vector (x, y, z) is (1 + x, 0, -z, y), where 1 + x does not cancel. Opposite the rest
    line, a half angle of (y, z) before it makes it half a turn about the normal, but for how far off it the target is.
    """
    tiny, size = m.tiny, 1.0 / (distance + m.tiny)
    x, y, z = ((part + tiny * start) * size for part, start in zip(target, limb.start, strict=True))
    ahead, off = 1.0 + abs(x), y * y + z * z
    w = m.select(x < 0.0, off / ahead, ahead)
    y = y + m.select(y < 0.0, -tiny, tiny)
    opposite = w < 0.5 * IN_LINE_SQUARE
    cosine, sine = m.select(opposite, y, 1.0), m.select(opposite, z, 0.0)
    if pole is not None:
        cosine, sine = _to_pole((w, y, z), pole, limb.pole_turn, (cosine, sine), m)
    return multiply(limb.line_turn, (w * cosine, w * sine, y * sine - z * cosine, z * sine + y * cosine))


def _to_pole(shortest: Vector, pole: Vector, beside: HalfAngle, in_line: HalfAngle, m: Ops) -> HalfAngle:
    """The half angle (of any length) about the rest line that puts the knee on the pole's side after the shortest turn
    (w, 0, -z, y), and on by ``beside``; ``in_line`` where the pole is in line with root and target."""
    w, y, z = shortest
    pole_x, pole_y, pole_z = pole
    share = 2.0 * (w * pole_x + y * pole_y + z * pole_z) / (w * w + y * y + z * z)
    across, up = pole_y - share * y, pole_z - share * z  # of the pole, turned back to the rest line
    square = across * across + up * up
    cosine, sine = half_angle(across, up, m.sqrt(square), m)
    cosine, sine = cosine * beside[0] - sine * beside[1], sine * beside[0] + cosine * beside[1]
    spanned = square > IN_LINE_SQUARE * (pole_x * pole_x + pole_y * pole_y + pole_z * pole_z) + m.tiny * m.tiny
    return m.select(spanned, cosine, in_line[0]), m.select(spanned, sine, in_line[1])


def _in_plane(cosine: Any, sine: Any, turned: Turns, limb: Limb, m: Ops) -> tuple[Quaternion, Quaternion]:
    """The bones' own rotations, all about the normal of the limb's plane: the line's turn, given as a half angle of
    any length, and each bone's off the line."""
    knee_cos, knee_sin, line_cos, line_sin = turned
    w, z = cosine * line_cos - sine * line_sin, sine * line_cos + cosine * line_sin
    factor = 1.0 / m.sqrt(w * w + z * z)
    w, z = w * factor, z * factor
    nx, ny, nz = limb.axes[2]
    return (w, z * nx, z * ny, z * nz), _bent(knee_cos, knee_sin, limb)


def _off_the_line(line: Quaternion, turned: Turns, limb: Limb, m: Ops) -> tuple[Quaternion, Quaternion]:
    """The rotations of both bones for a target line turned any way, by a quaternion of any length."""
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


def _without_inheriting(upper: Quaternion, lower: Quaternion, limb: Limb, uninherited: Uninherited) -> Quaternion:
    """The lower bone's own rotation if it does not inherit the upper bone's."""
    turned = multiply(upper, _lower_in_frame(lower, limb))
    return multiply(conjugate(uninherited.now), multiply(turned, uninherited.rest))
