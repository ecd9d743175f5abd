"""A bone's rotation as its mode stores it, from and to quaternions in double precision; and channels of all bones of a
pose, read and written at once, and given back without Blender taking notice.

mathutils works in single precision, which near the middle angle's 90 degrees costs a limb up to a hundredth of its
length; here are the same conversions, written once for floats and for arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import bpy
import numpy as np
from bpy.types import Object, PoseBone
from numpy.typing import NDArray

from .types import bones_of

Quaternion = tuple[Any, Any, Any, Any]
"""w, x, y, z: floats, or arrays of one shape."""

ROTATION_SIZES = {"rotation_quaternion": 4, "rotation_axis_angle": 4, "rotation_euler": 3}
"""The properties that hold rotations, and how many numbers each has."""

_EVEN_ORDERS = {"XYZ", "YZX", "ZXY"}

_SHORT = 1e-3
"""The length below which an axis says no direction that numbers of Blender hold well."""

_TURNLESS = 1e-12
"""The sine of half the turn below which a rotation has no axis of its own."""


def rotation_channel(mode: str) -> str:
    """The property in which a bone of this rotation mode keeps its rotation."""
    return f"rotation_{mode.lower()}" if mode in {"QUATERNION", "AXIS_ANGLE"} else "rotation_euler"


class Angles(NamedTuple):
    """What conversions with angles need beyond ``+ - * /``, for floats or for arrays."""

    sqrt: Callable[[Any], Any]
    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]
    atan2: Callable[[Any, Any], Any]
    nearest: Callable[[Any], Any]  # whole number
    select: Callable[[Any, Any, Any], Any]  # condition, if true, if false


FLOAT_ANGLES = Angles(
    sqrt=math.sqrt,
    sin=math.sin,
    cos=math.cos,
    atan2=math.atan2,
    nearest=round,
    select=lambda condition, yes, no: yes if condition else no,
)
ARRAY_ANGLES = Angles(sqrt=np.sqrt, sin=np.sin, cos=np.cos, atan2=np.arctan2, nearest=np.round, select=np.where)


def get_turn(bone: PoseBone) -> Quaternion:
    """The rotation that a bone has of its own."""
    return to_quaternion(bone.rotation_mode, getattr(bone, rotation_channel(bone.rotation_mode))[:])


def set_turn(bone: PoseBone, rotation: Quaternion) -> None:
    """Give a bone a rotation of its own, written the way that is closest to what it had."""
    channel = rotation_channel(bone.rotation_mode)
    setattr(bone, channel, to_channels(bone.rotation_mode, rotation, getattr(bone, channel)[:]))


def to_channels(mode: str, rotation: Quaternion, near: Sequence[Any], ops: Angles = FLOAT_ANGLES) -> tuple[Any, ...]:
    """The rotation in a bone's rotation mode, of all ways to write it the one closest to ``near``."""
    if mode == "QUATERNION":
        w, x, y, z = rotation
        near_w, near_x, near_y, near_z = near
        sign = ops.select(w * near_w + x * near_x + y * near_y + z * near_z < 0.0, -1.0, 1.0)
        return (w * sign, x * sign, y * sign, z * sign)
    if mode == "AXIS_ANGLE":
        return _axis_angle(rotation, near, ops)
    return _euler(mode, rotation, near, ops)


def to_quaternion(mode: str, channels: Sequence[Any], ops: Angles = FLOAT_ANGLES) -> Quaternion:
    """The unit quaternion of a bone's rotation as its mode stores it."""
    if mode == "QUATERNION":
        w, x, y, z = channels
        size = ops.sqrt(w * w + x * x + y * y + z * z)
        is_none = size == 0.0  # which Blender takes for half a turn about X
        size = ops.select(is_none, 1.0, size)
        return (w / size, ops.select(is_none, 1.0, x / size), y / size, z / size)
    if mode == "AXIS_ANGLE":
        angle, x, y, z = channels
        size = ops.sqrt(x * x + y * y + z * z)
        is_none = size == 0.0
        factor = ops.sin(angle / 2.0) / ops.select(is_none, 1.0, size)
        return (ops.select(is_none, 1.0, ops.cos(angle / 2.0)), x * factor, y * factor, z * factor)
    return _of_angles(mode, channels, ops)


def continuous(mode: str, values: NDArray[Any]) -> NDArray[Any]:
    """Rotations ``(frames, numbers)`` in a bone's rotation mode, with the least jumps between frames. The first
    frame stays as it is."""
    rows: NDArray[Any] = np.array(values, float)
    if mode == "QUATERNION":
        rows *= _same_side(rows)
        return rows
    angles = rows
    if mode == "AXIS_ANGLE":
        angles = rows[:, :1]
        turns = np.abs(np.sin(angles[:, 0] / 2.0)) > 1e-6  # without a turn, the axis of the frame before
        rows[:, 1:] = rows[np.maximum.accumulate(np.where(turns, np.arange(len(rows)), 0)), 1:]
        rows *= _steady_signs(rows)
    else:
        other, middle = rows + np.pi, "XYZ".index(mode[1])  # the other triple of the same rotation
        other[:, middle] = np.pi - rows[:, middle]
        # From one frame to the next it is as far between two triples as between their others.
        is_closer = _distances(other[1:] - rows[:-1]) < _distances(np.diff(rows, axis=0))
        is_other = np.append(False, np.cumsum(is_closer) % 2 == 1)
        rows[is_other] = other[is_other]
    angles[1:] += np.cumsum(_whole_turns(angles[:-1] - angles[1:], ARRAY_ANGLES), axis=0)
    return rows


def _of_angles(order: str, angles: Sequence[Any], ops: Angles) -> Quaternion:
    """Three turns one after the other, multiplied out."""
    i, j, k = map("XYZ".index, order)
    sign = 1.0 if order in _EVEN_ORDERS else -1.0
    halves = angles[i] / 2.0, angles[j] / 2.0 * sign, angles[k] / 2.0
    (ci, cj, ck), (si, sj, sk) = map(ops.cos, halves), map(ops.sin, halves)
    cc, cs, sc, ss = ci * ck, ci * sk, si * ck, si * sk
    vector = [ci, ci, ci]
    vector[i] = cj * sc - sj * cs
    vector[j] = (cj * ss + sj * cc) * sign
    vector[k] = cj * cs - sj * sc
    return (cj * cc + sj * ss, vector[0], vector[1], vector[2])


def _axis_angle(rotation: Quaternion, near: Sequence[Any], ops: Angles) -> tuple[Any, ...]:
    w, x, y, z = rotation
    last, ax, ay, az = near
    size = ops.sqrt(x * x + y * y + z * z)
    is_turnless = size < _TURNLESS
    divisor = ops.select(is_turnless, 1.0, size)
    # Without a turn, the axis that was.
    x, y, z = (ops.select(is_turnless, was, now / divisor) for was, now in ((ax, x), (ay, y), (az, z)))
    sign = ops.select(x * ax + y * ay + z * az < 0.0, -1.0, 1.0)
    angle = 2.0 * ops.atan2(size * sign, w)
    # As long as it was: between keys axes are shorter, and where one is keyed curves are to go on as they do.
    length = ops.sqrt(ax * ax + ay * ay + az * az)
    factor = sign * ops.select(is_turnless | (length < _SHORT), 1.0, length)
    return (angle + _whole_turns(last - angle, ops), x * factor, y * factor, z * factor)


def _euler(order: str, rotation: Quaternion, near: Sequence[Any], ops: Angles) -> tuple[Any, ...]:
    """Half sum and half difference of the outer angles come straight from the quaternion, so that nothing is lost near
    gimbal lock (Bernardes and Viollet, *Quaternion to Euler angles conversion*, 2022)."""
    i, j, k = map("XYZ".index, order)
    sign = 1.0 if order in _EVEN_ORDERS else -1.0
    w, *vector = rotation
    # Blender turns about the order's first axis first, fixed in space: the formula's third.
    first, middle, third = vector[i], vector[j], vector[k] * sign
    a, b, c, d = w - middle, first + third, middle + w, third - first
    half_sum, half_difference = ops.atan2(b, a), ops.atan2(d, c)
    tilt = 2.0 * ops.atan2(ops.sqrt(c * c + d * d), ops.sqrt(a * a + b * b)) - math.pi / 2.0
    p, q, r = half_sum - half_difference, tilt, (half_sum + half_difference) * sign
    s, t, u = near[i] - p, near[j] - q, near[k] - r
    half, flip = math.pi, math.pi - 2.0 * q
    # What to add: whole turns, or what makes the other triple of the same rotation.
    one = (_whole_turns(s, ops), _whole_turns(t, ops), _whole_turns(u, ops))
    other = (half + _whole_turns(s - half, ops), flip + _whole_turns(t - flip, ops), half + _whole_turns(u - half, ops))
    off = abs(s - one[0]) + abs(t - one[1]) + abs(u - one[2])
    is_other = abs(s - other[0]) + abs(t - other[1]) + abs(u - other[2]) < off
    angles = [p, p, p]
    angles[i] = p + ops.select(is_other, other[0], one[0])
    angles[j] = q + ops.select(is_other, other[1], one[1])
    angles[k] = r + ops.select(is_other, other[2], one[2])
    return tuple(angles)


def _whole_turns(angle: Any, ops: Angles) -> Any:
    """The whole turns closest to an angle."""
    return math.tau * ops.nearest(angle / math.tau)


def _same_side(vectors: NDArray[Any]) -> NDArray[Any]:
    """A sign for each row, so that none points away from the one before."""
    against = np.einsum("ij,ij->i", vectors[1:], vectors[:-1]) < 0.0
    signs: NDArray[Any] = np.append(1.0, np.cumprod(np.where(against, -1.0, 1.0)))[:, None]
    return signs


def _steady_signs(rows: NDArray[Any]) -> NDArray[Any]:
    """A sign for each row of an axis and an angle, with which these are halfway nearest to halfway between the
    turns."""
    turns = np.stack(to_quaternion("AXIS_ANGLE", [*rows.T], ARRAY_ANGLES), axis=-1)
    between, nearness = turns[:-1] + turns[1:] * np.sign((turns[:-1] * turns[1:]).sum(axis=1, keepdims=True)), []
    for sign in (1.0, -1.0):
        after = rows[1:] * sign
        after[:, 0] += _whole_turns(rows[:-1, 0] - after[:, 0], ARRAY_ANGLES)
        halves = to_quaternion("AXIS_ANGLE", [*((rows[:-1] + after) / 2.0).T], ARRAY_ANGLES)
        nearness.append(abs((np.stack(halves, axis=-1) * between).sum(axis=1)))
    signs: NDArray[Any] = np.append(1.0, np.cumprod(np.where(nearness[1] > nearness[0] + 1e-12, -1.0, 1.0)))[:, None]
    return signs


def _distances(steps: NDArray[Any]) -> NDArray[Any]:
    """How far triples are apart, but for whole turns."""
    distances: NDArray[Any] = np.abs(steps - _whole_turns(steps, ARRAY_ANGLES)).sum(axis=1)
    return distances


CHANNELS = {**ROTATION_SIZES, "location": 3, "scale": 3}
"""The channels of a bone, and how many numbers each has."""

SIZES = {**CHANNELS, "tail": 3, "matrix": 16}
"""What is read of all bones at once."""


_RESOLVE: Any = bpy.types.bpy_struct.path_resolve

Rows = NDArray[np.float32]


def read_rows(rigs: Sequence[Any], ends: Sequence[int], name: str) -> Rows:
    """A property of all bones of several rigs, (bones, numbers), in single precision as Blender keeps it. ``ends``
    says how many bones a rig and those before have. One that is None has zeros."""
    rows = np.zeros((ends[-1], SIZES[name]), np.float32)
    flat, size = rows.reshape(-1), SIZES[name]
    for ob, first, end in zip(rigs, (0, *ends), ends, strict=False):
        if ob is not None:
            ob.pose.bones.foreach_get(name, flat[first * size : end * size])
    return rows


def read_matrices(rigs: Sequence[Object], ends: Sequence[int]) -> Rows:
    """The pose matrices of all bones of several rigs, (bones, 4, 4), as `read_rows` counts them; of evaluated ones,
    as shown."""
    return read_rows(rigs, ends, "matrix").reshape(-1, 4, 4).swapaxes(1, 2)  # Blender's own are by columns


def write_rows(ob: Object, channel: str, rows: Rows, which: Sequence[int]) -> None:
    """Write a channel of all bones (bones, numbers) to a rig. ``which`` are those with other numbers than the rig
    has. The evaluated pose stays as it is until ``ob.update_tag(refresh={"DATA"})``; with ``OBJECT`` Blender also
    evaluates what hangs on the object's transform."""
    bones = bones_of(ob)
    if ob.library is None:
        bones.foreach_set(channel, rows.reshape(-1))
        return
    for index in which:  # of linked objects, Blender lets bones be set only one by one
        setattr(bones[index], channel, rows[index])


def restore_rows(ob: Object, channel: str, rows: Rows, which: Sequence[int]) -> None:
    """Put back a channel of some bones, and leave the evaluated pose as it is: Blender is not told."""
    # For a bone by its number, Blender goes through all before it.
    bones: Any = bones_of(ob).values() if len(which) > len(rows) // 4 else bones_of(ob)
    for index in which:  # setting all at once, Blender would be told
        _RESOLVE(bones[index], channel, False).foreach_set(rows[index])
