"""A bone's rotation as its mode stores it, from and to quaternions in double precision.

mathutils works in single precision, which near the middle angle's 90 degrees costs a limb up to a hundredth of its
length; here are the same conversions on Python floats.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2, cos, hypot, pi, sin
from operator import mul, sub

from ..solver.rotation import Quaternion, multiply

CHANNELS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
"""The property that holds the rotation, and how many numbers it has; every other mode is an Euler order."""

EULER = ("rotation_euler", 3)


def to_channels(mode: str, rotation: Quaternion, near: Sequence[float]) -> tuple[float, ...]:
    """The rotation in a bone's rotation mode, of all ways to write it the one closest to ``near``."""
    if mode == "QUATERNION":
        aligned = sum(map(mul, rotation, near))
        return rotation if aligned >= 0.0 else tuple(-part for part in rotation)
    if mode == "AXIS_ANGLE":
        return _axis_angle(rotation, near)
    return _euler(mode, rotation, near)


def to_quaternion(mode: str, channels: Sequence[float]) -> Quaternion:
    """The unit quaternion of a bone's rotation as its mode stores it."""
    if mode == "QUATERNION":
        w, x, y, z = channels
        size = hypot(w, x, y, z)
        return (w / size, x / size, y / size, z / size) if size else (1.0, 0.0, 0.0, 0.0)
    if mode == "AXIS_ANGLE":
        angle, x, y, z = channels
        size = hypot(x, y, z)
        factor = sin(angle / 2) / size if size else 0.0
        return (cos(angle / 2), x * factor, y * factor, z * factor)
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    for axis in ("XYZ".index(letter) for letter in mode):
        turn = [cos(channels[axis] / 2), 0.0, 0.0, 0.0]
        turn[1 + axis] = sin(channels[axis] / 2)
        rotation = multiply((turn[0], turn[1], turn[2], turn[3]), rotation)
    return rotation


def _axis_angle(rotation: Quaternion, near: Sequence[float]) -> tuple[float, ...]:
    w, *vector = rotation
    size = hypot(*vector)
    if size < 1e-12:
        axis = list(near[1:]) if any(near[1:]) else [0.0, 1.0, 0.0]
    else:
        axis = [part / size for part in vector]
        if sum(map(mul, axis, near[1:])) < 0.0:
            axis, size = [-part for part in axis], -size
    return (_whole_turns(2.0 * atan2(size, w), near[0]), *axis)


def _euler(order: str, rotation: Quaternion, near: Sequence[float]) -> tuple[float, ...]:
    """Half sum and half difference of the outer angles come straight from the quaternion, so that nothing is lost near
    gimbal lock (Bernardes and Viollet, *Quaternion to Euler angles conversion*, 2022)."""
    i, j, k = ("XYZ".index(letter) for letter in order)
    sign = 1.0 if (i, j, k) in {(0, 1, 2), (1, 2, 0), (2, 0, 1)} else -1.0
    w, *vector = rotation
    # Blender turns about the order's first axis first, fixed in space: the formula's third.
    first, middle, third = vector[i], vector[j], vector[k] * sign
    a, b, c, d = w - middle, first + third, middle + w, third - first
    half_sum, half_difference = atan2(b, a), atan2(d, c)
    outer_third = half_sum + half_difference
    outer_first = half_sum - half_difference
    tilt = 2.0 * atan2(hypot(c, d), hypot(a, b)) - pi / 2
    one = [0.0, 0.0, 0.0]
    one[i], one[j], one[k] = outer_first, tilt, outer_third * sign
    other = list(one)
    other[i], other[j], other[k] = one[i] + pi, pi - one[j], one[k] + pi
    candidates = [tuple(map(_whole_turns, way, near)) for way in (one, other)]
    return min(candidates, key=lambda way: sum(map(abs, map(sub, way, near))))


def _whole_turns(angle: float, near: float) -> float:
    """The angle, by whole turns as close to ``near`` as it comes."""
    return angle + 2.0 * pi * round((near - angle) / (2.0 * pi))
