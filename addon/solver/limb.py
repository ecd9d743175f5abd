"""From a target to the rotations of a limb's bones, in its bend plane, with every setting of a limb.

Places are in the limb's frame G: the origin at the root, Y along the reference line from root to tip, Z the normal of
the bend plane, the knee on the side of -X. Turns about Z are counter-clockwise from Y. The limb is posed in two
strokes: the reference line is turned to the target and about itself, by pole and swivel; and each bone is turned off
that line by the half angles of the triangle.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from .arrays import in_slabs, split
from .ops import ARRAYS, Array, Ops
from .reach import Reach
from .rotation import (
    IDENTITY,
    HalfAngle,
    Quaternion,
    Vector,
    combine,
    components,
    conjugate,
    cross,
    dot,
    half_angle,
    multiply,
    rotate,
    scale,
    shortest,
    slerp,
    unit,
)
from .triangle import Bones, bones, extend, extend_shaped, judge, limited_range, turns
from .triangle import Settings as Settings  # noqa: PLC0414 what a limb is posed with is all found here

IN_LINE_SQUARE = 1e-12
"""The squared sine between two directions below which they are in line and span no plane."""

Axes = tuple[Vector, Vector, Vector]


class Plane(StrEnum):
    """The plane that a limb bends in."""

    HINGE = "HINGE"
    """The limb's own; the target is projected onto it."""
    FREE = "FREE"
    """The limb's own, turned with the line from root to tip the shortest way to the target; straight opposite, half a
    turn about its normal."""
    POLE = "POLE"
    """That through root, target and pole; while these are in line, that of `FREE`."""


class Reference(NamedTuple):
    """The limb's shape in its reference pose; every number is a float, or an array with a row for each limb."""

    lengths: tuple[Any, Any]
    bones: Bones
    alpha: HalfAngle  # of the first bone off the line
    kappa: HalfAngle  # of the knee's turn off straight
    first_axes: Axes  # the first bone's x, y and z axes, unit vectors in G
    normal: Vector  # the bend plane's, in the second bone's axes
    stills: tuple[Quaternion, Quaternion]  # the bones' own local rotations
    along: Vector  # from knee to tip, a unit vector in the second bone's axes; what forward kinematics needs


class Pose(NamedTuple):
    """The bones' local rotations and what they achieve at an influence of 1."""

    turns: tuple[Quaternion, Quaternion]
    stretch: Any  # factor on the length of the bones, blended by influence
    reach: Any
    shortfall: Any  # distance from tip to target


class Poses(NamedTuple):
    """`Pose` for rows of shape S."""

    turns: tuple[Array, Array]  # S + (4,), w first
    stretch: Array  # S
    reach: Array  # S, Reach values as int8
    shortfall: Array  # S


AS_IT_IS = Settings()


def reference(
    lengths: tuple[Any, Any],
    alpha: HalfAngle,
    kappa: HalfAngle,
    first_axes: Axes,
    normal: Vector,
    stills: tuple[Quaternion, Quaternion],
    m: Ops,
    along: Vector = (0.0, 1.0, 0.0),
) -> Reference:
    """A limb's shape, from what is measured; half angles, normal and ``along`` are of any length.

    ``along`` is made square to the normal; a second bone that points at the tip has it along its y axis.
    """
    normal = unit(normal, (0.0, 0.0, 1.0), m)
    across = unit(cross(normal, along), (1.0, 0.0, 0.0), m)
    alpha, kappa = (_unit(half, m) for half in (alpha, kappa))
    return Reference(
        (lengths[0], lengths[1]), bones(*lengths, m), alpha, kappa, first_axes, normal, stills, cross(across, normal)
    )


def pose_limb(
    target: Vector,
    reference: Reference,
    settings: Settings,
    plane: Plane,
    m: Ops,
    pole: Vector | None = None,
    own: tuple[Quaternion, Quaternion] | None = None,
    tolerance: Any = 1e-12,
) -> Pose:
    """Pose a limb so that its tip goes to ``target``, in the plane named; ``pole`` is where the knee points, for that
    of the pole.

    ``own`` are the bones' own (FK) local rotations, from which the settings' influence leads to the solution; without
    them it is 1. A target at the root counts as on the reference line. ``tolerance`` is the shortfall that still counts
    as reached, and how far off a hinge's plane a target still counts as in it, as a fraction of the limb's length; None
    if nobody asks for the reach.
    Numbers that are not finite are the caller's to refuse.
    """
    x, y, z = target
    square = x * x + y * y
    distance = m.sqrt(square if plane == Plane.HINGE else square + z * z)
    knee, off_line, stretch, reach, shortfall = _bend(distance, reference, settings, tolerance, m)
    if plane == Plane.HINGE:
        cosine, sine = _unit(_sum(half_angle(y, -x, distance, m), off_line), m)
        turn = (cosine, 0.0, 0.0, sine)
        if tolerance is not None:
            beside = m.select(abs(z) > tolerance * reference.bones.total, Reach.OFF_PLANE, Reach.REACHED)
            reach = m.select(reach > Reach.REACHED, reach, beside)
        shortfall = m.sqrt(shortfall * shortfall + z * z)
    else:
        line = line_to(target, distance, m)
        cosine, sine = settings.swivel
        if plane == Plane.POLE and pole is not None:
            cosine, sine = _unit(_sum(roll_to(line, pole, m), settings.swivel), m)
        off_line = _unit(off_line, m)
        about_line = (cosine * off_line[0], sine * off_line[1], sine * off_line[0], cosine * off_line[1])
        turn = multiply(line, about_line)
        shortfall = abs(shortfall)
    w, x, y, z = turn
    first = _onto(reference.stills[0], (w, *components((x, y, z), reference.first_axes)))
    nx, ny, nz = reference.normal
    second = _onto(reference.stills[1], (knee[0], knee[1] * nx, knee[1] * ny, knee[1] * nz))
    if own is not None:
        first, second = (slerp(a, b, settings.influence, m) for a, b in zip(own, (first, second), strict=True))
        stretch = 1.0 + settings.influence * (stretch - 1.0)
    return Pose((first, second), stretch, reach, shortfall)


def pose_limbs(
    target: Any,
    reference: Reference,
    settings: Settings = AS_IT_IS,
    plane: Plane = Plane.FREE,
    pole: Any = None,
    own: tuple[Any, Any] | None = None,
    tolerance: Any = 1e-12,
) -> Poses:
    """Pose many limbs, as `pose_limb` does one; all that is given broadcasts, so that frames x limbs is one call.

    ``target`` and ``pole`` are (..., 3), ``own`` two arrays (..., 4), w first; each number of ``reference`` (made with
    `ARRAYS` from arrays, or with `FLOATS`) and ``settings`` may be an array. Rows with input that is not finite are
    `Reach.INVALID` and stand as in the reference.
    """
    if own is not None and np.all(settings.influence == 1.0):
        own = None
    given = (
        split(target, 3),
        reference,
        settings,
        split(pole, 3) if plane == Plane.POLE and pole is not None else None,
        None if own is None else tuple(split(turn, 4) for turn in own),
        tolerance,
    )

    def formula(given: Any) -> list[Any]:
        target, reference, settings, pole, own, tolerance = given
        pose = pose_limb(target, reference, settings, plane, ARRAYS, pole, own, tolerance)
        return [*pose.turns[0], *pose.turns[1], pose.stretch, pose.shortfall, pose.reach]

    results = in_slabs(formula, given, 11)
    turns = results[..., :4], results[..., 4:8]
    pairs = results[..., :8].reshape(*results.shape[:-1], 2, 4)
    sizes = np.einsum("...i,...i", pairs, pairs)  # 1, unless it is a number too large, or none
    is_sound = (abs(sizes - 1.0) < 0.1).all(axis=-1) & np.isfinite(results[..., 8] + results[..., 9])
    if not is_sound.all():
        numbers = (*_sound(reference.stills[0]), *_sound(reference.stills[1]), 1.0, 0.0, Reach.INVALID)
        for i, number in enumerate(numbers):
            np.copyto(results[..., i], number, where=~is_sound)
    return Poses(turns, results[..., 8], results[..., 10].astype(np.int8), results[..., 9])


def joints_of(turns: tuple[Quaternion, Quaternion], reference: Reference, stretch: Any = 1.0) -> tuple[Vector, Vector]:
    """Where two local rotations put knee and tip, in G: forward kinematics."""
    first, second = (multiply(conjugate(still), turn) for still, turn in zip(reference.stills, turns, strict=True))
    knee_cos, knee_sin = reference.kappa
    cosine, sine = reference.alpha
    upper = (first[0], *combine(*first[1:], reference.first_axes))
    knee = rotate(upper, scale(_direction(cosine, sine), reference.lengths[0] * stretch))
    # Of the second bone's way: along the reference's, across it in the bend plane, and along the normal.
    axes = (reference.along, cross(reference.normal, reference.along), reference.normal)
    along, across, off = components(rotate(second, reference.along), axes)
    cosine, sine = cosine * knee_cos + sine * knee_sin, sine * knee_cos - cosine * knee_sin
    x, y, _ = _direction(cosine, sine)
    way = rotate(upper, (along * x - across * y, along * y + across * x, off))
    tip = tuple(a + reference.lengths[1] * stretch * b for a, b in zip(knee, way, strict=True))
    return knee, (tip[0], tip[1], tip[2])


def line_to(target: Vector, distance: Any, m: Ops) -> Quaternion:
    """The turn that takes the y axis to a target at this distance, as `FREE` says; none for a target at the root."""
    size = 1.0 / (distance + m.tiny)
    x, y, z = target
    return shortest(x * size, y * size, z * size, m)


def roll_to(line: Quaternion, point: Vector, m: Ops) -> HalfAngle:
    """The half angle (of any length) about the line that `line_to` turned there, which brings the knee to the side that
    a point is on; no turn where the point is in line. With the knee of a posed limb, it says how that swivels."""
    x, _, z = rotate(conjugate(line), point)
    square = x * x + z * z
    cosine, sine = half_angle(-x, z, m.sqrt(square), m)
    in_line = square <= IN_LINE_SQUARE * dot(point, point) + m.tiny * m.tiny
    return m.select(in_line, 1.0, cosine), m.select(in_line, 0.0, sine)


def _bend(
    distance: Any, reference: Reference, settings: Settings, tolerance: Any, m: Ops
) -> tuple[HalfAngle, HalfAngle, Any, Any, Any]:
    """How the limb bends for a target at this distance: the turns (half angles about Z, from the reference) of the
    second bone against the first and of the first against the line, the latter of any length; the stretch, the `Reach`,
    and how far the target is past where the tip goes."""
    of = reference.bones
    if settings.softness is None:
        gone, far = extend(distance, of, m)
        stretch, shortfall, ends = 1.0, distance - gone, (Reach.TOO_NEAR, Reach.TOO_FAR)
    else:
        within = limited_range(of, settings.min_cos2, settings.max_cos2, m)
        gone, far, stretch, shortfall = extend_shaped(distance, of, within, settings, m)
        ends = within[2:]
    plus, minus = gone + of.difference, gone - of.difference
    knee_cos, knee_sin, cosine, sine = turns(of.total + gone, far, plus, minus, settings.side, m)
    slack = 0.0 if tolerance is None else tolerance * of.total
    reach = Reach.REACHED if tolerance is None else judge(shortfall, -slack, slack, *ends, m)
    knee, off_line = (knee_cos, -knee_sin), (cosine, sine)
    back = (reference.alpha[0], -reference.alpha[1])
    return _sum(knee, reference.kappa), _sum(off_line, back), stretch, reach, shortfall


def _onto(still: Quaternion, turn: Quaternion) -> Quaternion:
    """A turn after that of the reference pose, which for most limbs is none."""
    return turn if isinstance(still[0], float) and still == IDENTITY else multiply(still, turn)


def _sum(a: HalfAngle, b: HalfAngle) -> HalfAngle:
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]


def _unit(half: HalfAngle, m: Ops) -> HalfAngle:
    factor = 1.0 / m.sqrt(half[0] * half[0] + half[1] * half[1])
    return half[0] * factor, half[1] * factor


def _direction(cosine: Any, sine: Any) -> Vector:
    """The y axis turned about Z by a half angle."""
    return -2.0 * cosine * sine, cosine * cosine - sine * sine, 0.0


def _sound(turn: Quaternion) -> Quaternion:
    """A quaternion, or identity where it is none."""
    with np.errstate(all="ignore"):
        is_sound = abs(sum(part * part for part in turn) - 1.0) < 0.1
    w, x, y, z = (np.where(is_sound, part, at_rest) for part, at_rest in zip(turn, IDENTITY, strict=True))
    return (w, x, y, z)
