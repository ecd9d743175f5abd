"""From a pose to the turns of hinge axis and lower bone that reproduce it: `solve_chain` the other way round."""

from __future__ import annotations

from typing import Any, NamedTuple

from .chain import Own, Uninherited
from .limb import STRAIGHT, HalfAngle, Limb
from .ops import Ops
from .rotation import Vector, combine, components, conjugate, half_angle, multiply, rotate


class Fit(NamedTuple):
    """What `limb.turned` wants for a pose, and the pose's bend plane.

    ``hinge`` and ``twist`` are half angles of unit length: the settings ``hinge_angle`` and ``lower_twist`` are twice
    the angle of their (cosine, sine). ``normal`` is that of the plane the limb is bent in, a unit vector in F. In that
    plane, ``normal x tip`` points from the line root-tip to the side that bend 1 puts the knee on, which is where a
    pole belongs.
    """

    hinge: HalfAngle
    twist: HalfAngle
    normal: Vector


def fit_hinge(pose: Own, limb: Limb, m: Ops, uninherited: Uninherited | None = None, bend: Any = 1.0) -> Fit:
    """The turns of hinge axis and lower bone with which ``limb``, posed in the plane of ``pose`` with this ``bend`` (1
    or -1), has the rotations of ``pose``, both bones to rounding. ``limb`` is not `turned`; ``uninherited`` is for a
    lower bone that does not inherit rotation.

    Every turn of the lower bone against the upper one is one about an axis across the limb and then, first in order,
    one about the limb's length: the hinge axis and the twist. A pose that is straight to `STRAIGHT`, or as near
    to folded right over, has no axis; it keeps the limb's own, so that it goes on to bend as the limb does at rest.
    """
    upper, lower = pose
    if uninherited is None:
        knee = (lower[0], *components(lower[1:], limb.lower_axes))
    else:
        in_frame = multiply(conjugate(upper), multiply(multiply(uninherited.now, lower), conjugate(uninherited.rest)))
        knee = (in_frame[0], *components(in_frame[1:], limb.axes))
    w, x, y, z = multiply(knee, limb.rest_turn)  # off straight
    open_, bent = m.sqrt(w * w + x * x), m.sqrt(y * y + z * z)  # cosine and sine of half the knee's turn
    has_axis = open_ * bent > 0.5 * STRAIGHT
    twist_cos, twist_sin = (m.select(has_axis, a, m.select(open_ < bent, -b, a)) for a, b in ((w, z), (x, y)))
    size = m.select(twist_cos < 0.0, -1.0, 1.0) * m.sqrt(twist_cos * twist_cos + twist_sin * twist_sin)
    twist_cos, twist_sin = twist_cos / size, twist_sin / size
    # The axis across the limb and along the normal, times the sine of half the knee's turn.
    sign = m.select(w * twist_cos + x * twist_sin < 0.0, -1.0, 1.0)
    across, along = sign * (y * twist_cos - z * twist_sin), sign * (y * twist_sin + z * twist_cos)
    side = m.select(bend < 0.0, -1.0, 1.0)
    across, along = (
        m.select(has_axis, number, at_rest) for number, at_rest in ((side * across, 0.0), (-side * along, 1.0))
    )
    size = m.sqrt(across * across + along * along)
    axis_cos, axis_sin = half_angle(along, across, size, m)
    normal = combine(0.0, -across / size, along / size, limb.axes)
    size = m.sqrt(axis_cos * axis_cos + axis_sin * axis_sin)
    return Fit((axis_cos / size, axis_sin / size), (twist_cos, twist_sin), rotate(upper, normal))
