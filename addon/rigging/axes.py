"""How the helper bones of a mechanism rest: along what their axes lie, and where in these the limb's own lines are."""

from __future__ import annotations

from math import asin, atan2, cos, sin
from typing import Any, NamedTuple

import numpy as np

from ..solver.matrices import rotation, unit_array
from . import formulas
from .spec import Spec, axis_shift_in


class Axes(NamedTuple):
    """The rest pose of helper bones (4x4), and which of their axes lies along which of the frame that they rest in."""

    frame: Any
    axis_shift: int

    def at(self, axis: str) -> int:
        """Of a bone, the axis that lies along this one of the frame: X, Y or Z as 0, 1 or 2."""
        return ("XYZ".index(axis) - self.axis_shift) % 3

    def name(self, axis: str) -> str:
        """The same as a letter."""
        return "XYZ"[self.at(axis)]

    @property
    def order(self) -> str:
        """The order of rotations in which a turn about the frame's Z comes before one about its Y."""
        return "".join(map(self.name, "ZXY"))

    @property
    def rest(self) -> Any:
        """The rest pose of the bones, as a 4x4 matrix."""
        matrix = self.frame.copy()
        matrix[:3, :3] = matrix[:3, [(i + self.axis_shift) % 3 for i in range(3)]]
        return matrix


def axes_of(spec: Spec) -> Axes:
    """Of the helper bones that rest in G; where the first bone slides, with Y along its line."""
    frame = np.array(spec.frame).reshape(4, 4)
    if spec.slides:
        half = spec.angles[0] / 2.0
        frame = frame @ rotation((cos(half), 0.0, 0.0, sin(half)))
    return Axes(frame, spec.axis_shift)


def axes_of_turn(spec: Spec, k: int) -> Axes:
    """Of the one that turns as the ``k``-th bone does. Its Z is what that turns about; the last one's Y, if it aims,
    the direction to the tip. If bones turn by themselves in the reference, a driver turns them before that, and an aim
    after."""
    if k == 1:
        return axes_of(spec)
    if spec.twist:
        return _axes_below_twist(spec, k)
    aims = k == len(spec.bones) and formulas.aims(spec)
    to_rest = np.array(spec.axes[k - 1]).reshape(3, 3)
    if not aims:
        to_rest = to_rest @ rotation(spec.reference_rotations[k - 1])[:3, :3]
    frame = np.eye(4)
    frame[:3, 3] = spec.heads[k - 1]
    z = to_rest @ np.array(spec.normals[k - 1])
    x = unit_array(np.cross(to_rest @ np.array(spec.directions[k - 1]), z), frame[:3, 0])
    frame[:3, :3] = np.column_stack((x, np.cross(z, x), z))
    return Axes(frame, axis_shift_in(frame, axes_of_turn(spec, k - 1).rest))


def _axes_below_twist(spec: Spec, k: int) -> Axes:
    """The same where bones have twist: Y is the line of the bone above, about which this one is turned back, and Z what
    it turns about, but for what of that lies along the line."""
    frame = np.eye(4)
    frame[:3, 3] = spec.heads[k - 1]
    y = np.array(spec.axes[k - 2]).reshape(3, 3) @ np.array(spec.lines[k - 2])
    x = unit_array(np.cross(y, _in_reference(spec, k) @ np.array(spec.normals[k - 1])), frame[:3, 0])
    frame[:3, :3] = np.column_stack((x, y, np.cross(x, y)))
    return Axes(frame, axis_shift_in(frame, axes_of_turn(spec, k - 1).rest))


def _in_reference(spec: Spec, k: int) -> Any:
    """The axes of the ``k``-th bone as they are in the reference, where the bones above are at rest (3x3)."""
    return np.array(spec.axes[k - 1]).reshape(3, 3) @ rotation(spec.reference_rotations[k - 1])[:3, :3]


class TwistedLine(NamedTuple):
    """Where the line of a bone is in the frame that its helper bone rests in, as angles in radians: ``about`` the bend
    plane's normal, off Y; ``out`` of that plane; and how far the normal is ``tilted`` about X from Z."""

    about: float
    out: float
    tilted: float


def twisted_line(spec: Spec, k: int) -> TwistedLine:
    """Where the line of the ``k``-th bone is."""
    axes, frame = _in_reference(spec, k), axes_of_turn(spec, k).frame[:3, :3]
    line, normal = (frame.T @ axes @ np.array(own) for own in (spec.lines[k - 1], spec.normals[k - 1]))
    tilted = atan2(normal[1], normal[2])
    x, y, z = rotation((cos(tilted / 2.0), sin(tilted / 2.0), 0.0, 0.0))[:3, :3] @ line
    return TwistedLine(atan2(-x, y), asin(min(max(z, -1.0), 1.0)), tilted)
