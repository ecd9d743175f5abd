"""Unit quaternions (w, x, y, z) as tuples of four numbers or four arrays, without angles."""

from __future__ import annotations

from math import cos, sin
from typing import Any

from .ops import Number, Ops

Vector = tuple[Any, Any, Any]
Quaternion = tuple[Any, Any, Any, Any]

HalfAngle = tuple[Any, Any]
"""A turn as the cosine and sine of half of it."""

IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)


def dot(a: Vector, b: Vector) -> Any:
    """The dot product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """The cross product of two vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def scale(a: Vector, factor: Number) -> Vector:
    """The vector times a number."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def length(a: Vector, ops: Ops) -> Any:
    """The length of a vector."""
    return ops.sqrt(dot(a, a))


def choose(condition: Any, if_true: Any, if_false: Any, ops: Ops) -> Any:
    """One vector or quaternion where a condition holds, another one elsewhere."""
    return tuple(ops.select(condition, a, b) for a, b in zip(if_true, if_false, strict=True))


def components(v: Vector, axes: tuple[Vector, Vector, Vector]) -> Vector:
    """The components of a vector along three orthonormal axes."""
    x, y, z = v
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = axes
    return (x * ax + y * ay + z * az, x * bx + y * by + z * bz, x * cx + y * cy + z * cz)


def combine(x: Number, y: Number, z: Number, axes: tuple[Vector, Vector, Vector]) -> Vector:
    """The vector with components x, y, z along three axes."""
    a, b, c = axes
    return (x * a[0] + y * b[0] + z * c[0], x * a[1] + y * b[1] + z * c[1], x * a[2] + y * b[2] + z * c[2])


def normalised(q: Quaternion, ops: Ops) -> Quaternion:
    """The quaternion at unit length."""
    w, x, y, z = q
    factor = 1.0 / ops.sqrt(w * w + x * x + y * y + z * z)
    return (w * factor, x * factor, y * factor, z * factor)


def conjugate(q: Quaternion) -> Quaternion:
    """The inverse rotation of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """The rotation ``b`` followed by ``a``."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def rotate(q: Quaternion, v: Vector) -> Vector:
    """The vector turned by a unit quaternion."""
    w = q[0]
    u = q[1:]
    twice = scale(cross(u, v), 2.0)
    swung = cross(u, twice)
    return (v[0] + w * twice[0] + swung[0], v[1] + w * twice[1] + swung[1], v[2] + w * twice[2] + swung[2])


def half_angle(x: Number, y: Number, size: Number, ops: Ops) -> HalfAngle:
    """The half angle (cosine, sine; of any length) of the direction (x, y), whose length is ``size``.

    (size + x, y) and (y, size - x) both point there, or away; each cancels on one side. Their sum, once both point
    the same way, cancels nowhere, up to and at 180 degrees. A direction of no length counts as the first axis.
    """
    both = size + abs(y)
    return both + x + ops.tiny, ops.select(y < 0.0, -1.0, 1.0) * (both - x)


def plus(a: HalfAngle, b: HalfAngle) -> HalfAngle:
    """One turn after another, as half angles or as unit vectors: the product of complex numbers."""
    return a[0] * b[0] - a[1] * b[1], a[1] * b[0] + a[0] * b[1]


def minus(a: HalfAngle, b: HalfAngle) -> HalfAngle:
    """The turn from the second to the first."""
    return a[0] * b[0] + a[1] * b[1], a[1] * b[0] - a[0] * b[1]


def slerp(a: Quaternion, b: Quaternion, t: Number, ops: Ops) -> Quaternion:
    """The rotation the fraction ``t`` of the way from ``a`` to ``b`` by the shortest turn, at constant speed.

    From their middle it is the share tan(s h) / tan h of the way to either end: s = 2 t - 1, h half the arc.
    """
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    cosine = aw * bw + ax * bx + ay * by + az * bz
    side = ops.select(cosine < 0.0, -1.0, 1.0)
    cosine = side * cosine
    share = _share_of_tangent(2.0 * t - 1.0, (1.0 - cosine) / (1.0 + cosine), ops)
    of_a, of_b = 1.0 - share, side * (1.0 + share)
    return normalised((aw * of_a + bw * of_b, ax * of_a + bx * of_b, ay * of_a + by * of_b, az * of_a + bz * of_b), ops)


def _share_of_tangent(s: Any, square: Any, ops: Ops) -> Any:
    """tan(s h) / tan h from the square of tan h, for s from -1 to 1 and h up to 45 degrees; exact at -1, 0 and 1.

    By the continued fraction of tan(s x) in tan x (DLMF 4.25.2) at x = h / 4, where seven levels reach 4e-17, and the
    tangent of the double angle, twice.
    """
    root = 1.0 + ops.sqrt(1.0 + square)
    half = square / (root * root)
    root = 1.0 + ops.sqrt(1.0 + half)
    q = half / (root * root)
    k = s * s
    level = 9.0 + (25.0 - k) * q / (11.0 + (36.0 - k) * q / (13.0 + (49.0 - k) * q / 15.0))
    level = 3.0 + (4.0 - k) * q / (5.0 + (9.0 - k) * q / (7.0 + (16.0 - k) * q / level))
    share = s / (1.0 + (1.0 - k) * q / level)
    share = share * (1.0 - q) / (1.0 - q * share * share)
    return share * (1.0 - half) / (1.0 - half * share * share)


IN_LINE = 1e-6
"""The sine between two directions below which they count as opposite."""


def shortest(x: Number, y: Number, z: Number, ops: Ops) -> Quaternion:
    """The shortest rotation that takes the second axis to the unit vector (x, y, z). Exact up to 180 degrees;
    straight opposite, half a turn about the third axis and then the shortest one from there."""
    off = x * x + z * z
    ahead = ops.select(y < 0.0, off / (1.0 + abs(y)), 1.0 + y)  # 1 + y, without cancellation
    opposite = ahead < 0.5 * IN_LINE * IN_LINE
    lead = ops.select(opposite, 1.0 - y, ahead)
    factor = 1.0 / ops.sqrt(lead * lead + off)
    w, x, y, z = choose(opposite, (-x, 0.0, z, lead), (lead, z, 0.0, -x), ops)
    return (w * factor, x * factor, y * factor, z * factor)


def unit(v: Vector, fallback: Vector, ops: Ops) -> Vector:
    """The direction of a vector, or ``fallback`` (a unit vector) where it has no length."""
    size = length(v, ops)
    has_none = size <= ops.tiny
    factor = 1.0 / ops.select(has_none, 1.0, size)
    direction: Vector = choose(has_none, fallback, scale(v, factor), ops)
    return direction


def half_of(angle: float) -> tuple[float, float]:
    """An angle as a half angle: cosine and sine of half of it."""
    return cos(angle / 2.0), sin(angle / 2.0)
