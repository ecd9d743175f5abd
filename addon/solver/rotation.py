"""Unit quaternions (w, x, y, z) as tuples of four numbers or four arrays, without angles."""

from __future__ import annotations

from typing import Any

from .ops import TINY, Ops

Vector = tuple[Any, Any, Any]
Quaternion = tuple[Any, Any, Any, Any]

IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)


def dot(a: Vector, b: Vector) -> Any:
    """The dot product of two vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """The cross product of two vectors."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def scale(a: Vector, factor: Any) -> Vector:
    """The vector times a number."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def length(a: Vector, m: Ops) -> Any:
    """The length of a vector."""
    return m.sqrt(dot(a, a))


def flattened(v: Vector, direction: Vector) -> Vector:
    """What of a vector is at right angles to a unit vector."""
    part = dot(v, direction)
    return (v[0] - part * direction[0], v[1] - part * direction[1], v[2] - part * direction[2])


def choose(condition: Any, if_true: Quaternion, if_false: Quaternion, m: Ops) -> Quaternion:
    """One quaternion or the other."""
    select = m.select
    return (
        select(condition, if_true[0], if_false[0]),
        select(condition, if_true[1], if_false[1]),
        select(condition, if_true[2], if_false[2]),
        select(condition, if_true[3], if_false[3]),
    )


def choose_vector(condition: Any, if_true: Vector, if_false: Vector, m: Ops) -> Vector:
    """One vector or the other."""
    select = m.select
    return (
        select(condition, if_true[0], if_false[0]),
        select(condition, if_true[1], if_false[1]),
        select(condition, if_true[2], if_false[2]),
    )


def combine(x: Any, y: Any, z: Any, axes: tuple[Vector, Vector, Vector]) -> Vector:
    """The vector with components x, y, z along three axes."""
    a, b, c = axes
    return (
        x * a[0] + y * b[0] + z * c[0],
        x * a[1] + y * b[1] + z * c[1],
        x * a[2] + y * b[2] + z * c[2],
    )


def normalised(q: Quaternion, m: Ops) -> Quaternion:
    """The quaternion at unit length."""
    w, x, y, z = q
    factor = 1.0 / m.sqrt(w * w + x * x + y * y + z * z)
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


def half_angle(cosine: Any, sine: Any, m: Ops) -> tuple[Any, Any]:
    """The half angle (cosine, sine; not normalised) of a turn given by its unit vector, exact up to 180 degrees.

    It is one of the two, half a turn apart, that double to the same turn. What does not cancel is chosen.
    """
    behind = cosine < 0.0
    return m.select(behind, sine, 1.0 + cosine), m.select(behind, 1.0 - cosine, sine)


def from_axes(x: Vector, y: Vector, z: Vector, m: Ops) -> Quaternion:
    """The rotation that takes the coordinate axes to three orthonormal ones (M. Day, *Converting a Rotation Matrix*).

    Of the four ways to write the quaternion, the one whose divisor is largest is chosen.
    """
    with_w = (1.0 + x[0] + y[1] + z[2], y[2] - z[1], z[0] - x[2], x[1] - y[0])
    with_x = (y[2] - z[1], 1.0 + x[0] - y[1] - z[2], x[1] + y[0], z[0] + x[2])
    with_y = (z[0] - x[2], x[1] + y[0], 1.0 - x[0] + y[1] - z[2], y[2] + z[1])
    with_z = (x[1] - y[0], z[0] + x[2], y[2] + z[1], 1.0 - x[0] - y[1] + z[2])
    flat = choose(x[0] > y[1], with_x, with_y, m)
    steep = choose(x[0] < -y[1], with_z, with_w, m)
    return normalised(choose(z[2] < 0.0, flat, steep, m), m)


_SERIES = tuple((1.0 / (i * (2 * i + 1)), i / (2 * i + 1)) for i in range(1, 12))


def _share(t: Any, below: Any) -> Any:
    """sin(t a) / sin a for cos a = 1 + ``below``, by the series of Eberly's *A Fast and Accurate Algorithm for SLERP*."""
    square = t * t
    total: Any = 1.0
    for rise, fall in reversed(_SERIES):
        total = 1.0 + (rise * square - fall) * below * total
    return t * total


def slerp(a: Quaternion, b: Quaternion, t: Any, m: Ops) -> Quaternion:
    """The rotation the fraction ``t`` of the way from ``a`` to ``b`` by the shortest turn, at constant speed.

    Two bisections, exact as sums, bring the arc below 22.5 degrees, where the series reaches double precision.
    """
    cosine = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    b = choose(cosine < 0.0, (-b[0], -b[1], -b[2], -b[3]), b, m)
    for _ in range(2):
        middle = normalised((a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]), m)
        late = t > 0.5
        a = choose(late, middle, a, m)
        b = choose(late, b, middle, m)
        t = m.select(late, 2.0 * t - 1.0, 2.0 * t)
    apart = (b[0] - a[0], b[1] - a[1], b[2] - a[2], b[3] - a[3])
    below = -0.5 * (apart[0] * apart[0] + apart[1] * apart[1] + apart[2] * apart[2] + apart[3] * apart[3])
    of_a = _share(1.0 - t, below)
    of_b = _share(t, below)
    return normalised(
        (
            a[0] * of_a + b[0] * of_b,
            a[1] * of_a + b[1] * of_b,
            a[2] * of_a + b[2] * of_b,
            a[3] * of_a + b[3] * of_b,
        ),
        m,
    )


def shortest(x: Any, y: Any, z: Any, m: Ops) -> Quaternion:
    """The rotation that takes the first axis to the unit vector (x, y, z): the shortest one ahead, exact up to 180
    degrees; behind, a half turn about the third axis and then the shortest one from there."""
    behind = x < 0.0
    ahead = (1.0 + x, 0.0 * x, -z, y)
    around = (y, z, 0.0 * x, 1.0 - x)
    return normalised(choose(behind, around, ahead, m), m)


def unit(v: Vector, fallback: Vector, m: Ops) -> Vector:
    """The direction of a vector, or ``fallback`` (a unit vector) where it has no length."""
    size = length(v, m)
    nothing = size <= TINY
    factor = 1.0 / m.select(nothing, 1.0, size)
    return choose_vector(nothing, fallback, scale(v, factor), m)
