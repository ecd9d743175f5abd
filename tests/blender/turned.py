"""Where bones are and how they are turned, whole matrices in the world at frames and between: what a skin hangs on.

before = turned.read(ob, names, turned.halves(1, 60))
...
moved = turned.compare(before, turned.read(ob, names, turned.halves(1, 60)))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import floor
from typing import Any, NamedTuple

import bpy
import numpy as np

Array = Any


class Moved(NamedTuple):
    """By how much bones differ at most: heads, in the world's unit; turns, in degrees; and how much more a bone turns
    from one of the frames to the next than it did, in degrees. ``bone`` and ``frame`` say where the turn is."""

    place: float
    turn: float
    step: float
    bone: str
    frame: float


class Reading(NamedTuple):
    """Bones in the world: ``matrices`` is (frames, bones, 4, 4)."""

    names: tuple[str, ...]
    frames: tuple[float, ...]
    matrices: Array


def halves(first: int, last: int) -> list[float]:
    """Every frame and half frame from the first to the last."""
    return [first + i / 2.0 for i in range(2 * (last - first) + 1)]


def read(ob: Any, names: Sequence[str], frames: Iterable[float]) -> Reading:
    """Bones of a rig in these frames; then the scene is in the frame that it was in."""
    scene, found = bpy.context.scene, []
    was, frames = scene.frame_current_final, tuple(frames)
    for frame in frames:
        _set(frame)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([np.array(evaluated.matrix_world @ evaluated.pose.bones[name].matrix) for name in names])
    _set(was)
    return Reading(tuple(names), frames, np.array(found, float))


def whole(reading: Reading) -> Reading:
    """The same without what is between frames."""
    rows = [i for i, frame in enumerate(reading.frames) if frame == floor(frame)]
    return Reading(reading.names, tuple(reading.frames[i] for i in rows), reading.matrices[rows])


def _set(frame: float) -> None:
    bpy.context.scene.frame_set(floor(frame), subframe=frame - floor(frame))


def compare(before: Reading, after: Reading) -> Moved:
    """By how much bones differ."""
    apart = np.linalg.norm(before.matrices[..., :3, 3] - after.matrices[..., :3, 3], axis=-1)
    turns = angles(before.matrices, after.matrices)
    worst = np.unravel_index(turns.argmax(), turns.shape)
    steps = [angles(each.matrices[1:], each.matrices[:-1]) for each in (after, before)]
    return Moved(
        float(apart.max()),
        float(turns.max()),
        float((steps[0] - steps[1]).max()),
        before.names[worst[1]],
        before.frames[worst[0]],
    )


def angles(a: Array, b: Array) -> Array:
    """The angles in degrees between the axes of matrices (..., 4, 4), whatever their scale."""
    turn = np.swapaxes(_axes(a), -1, -2) @ _axes(b)
    sines = np.stack([turn[..., 2, 1] - turn[..., 1, 2], turn[..., 0, 2] - turn[..., 2, 0]], axis=-1)
    sines = np.concatenate([sines, (turn[..., 1, 0] - turn[..., 0, 1])[..., None]], axis=-1)
    return np.degrees(np.arctan2(np.linalg.norm(sines, axis=-1), np.trace(turn, axis1=-2, axis2=-1) - 1.0))


def _axes(matrices: Array) -> Array:
    return matrices[..., :3, :3] / np.linalg.norm(matrices[..., :3, :3], axis=-2, keepdims=True)
