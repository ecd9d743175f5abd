"""The limbs of chains over the frames: measured once where they keep their shape, else once for each shape."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from bpy.types import Bone, PoseBone
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ...rig.anatomy import Anatomy, Unposable, anatomy
from ...solver.chain import Uninherited
from ...solver.chains import mapped, stacked
from ...solver.limb import Limb, limb
from ...solver.ops import FLOATS
from .courses.transforms import axes_of

NO_LIMB = limb((0.0, 1.0, 0.0), (0.0, 1.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), FLOATS)
"""What stands for a limb that can't be posed."""

SAME = 1e-6
"""How much the numbers of a shape may differ, next to their size, and still count as unchanged."""


Bones = tuple[PoseBone, PoseBone]
"""The upper and the lower bone of a limb."""


class Shapes(NamedTuple):
    """The bodies of a chain, None for one that can't be posed, and which of them it has in each frame ``(frames,)``;
    ``which`` is None for one body in all frames."""

    bodies: list[Anatomy | None]
    which: NDArray[Any] | None


class _Still(NamedTuple):
    """A pose bone as it stands in one frame, as far as `anatomy` looks at it."""

    name: str
    bone: Bone
    parent: Any
    location: Vector
    matrix: Matrix


def shapes_of(
    bones: Bones,
    parent: NDArray[Any] | None,
    frame: NDArray[Any],
    location: NDArray[Any],
    scales: list[NDArray[Any]],
    angles: NDArray[Any],
) -> Shapes:
    """The limb of two bones under its parent's poses, with the frame F in the armature ``(frames, 4, 4)``, the lower
    bone's location and both bones' scales ``(frames, 3)``, and the settings `IN_SHAPE` ``(frames, 3)``; each may be one
    row for all frames."""
    upper, lower = (bone.bone for bone in bones)
    numbers = [*scales, angles]
    if not lower.use_connect:
        numbers.append(location)
    if upper.inherit_scale == "ALIGNED" and parent is not None:
        numbers.append(axes_of(parent))
    if not lower.use_inherit_rotation:
        numbers.append(frame[:, :3, :3].reshape(-1, 9))
    elif lower.inherit_scale != "FULL":
        axes = frame[:, :3, :3]
        numbers.append((axes.transpose(0, 2, 1) @ axes).reshape(-1, 9))
    firsts, which = _distinct(numbers)
    poses = [np.eye(4)[None] if parent is None else parent, location, *scales, angles]
    bodies = [_body(bones, *(each[min(i, len(each) - 1)].tolist() for each in poses)) for i in firsts]
    return Shapes(bodies, which)


def _distinct(numbers: list[NDArray[Any]]) -> tuple[list[int], NDArray[Any] | None]:
    """The first frame of each distinct shape, and the number of the shape in each frame, None if there is only one."""
    count = max(map(len, numbers))
    if count == 1:
        return [0], None
    rows = np.concatenate([np.broadcast_to(each, (count, each.shape[1])) for each in numbers], axis=1)
    size = np.maximum(np.abs(rows[0]), np.finfo(np.float32).tiny + np.abs(rows[0]).max())
    if (np.abs(rows - rows[0]) <= SAME * size).all():
        return [0], None
    _, firsts, which = np.unique(np.round(rows / (SAME * size)), axis=0, return_index=True, return_inverse=True)
    return firsts.tolist(), which.reshape(-1)


def _body(bones: Bones, parent: Any, location: Any, upper_scale: Any, lower_scale: Any, angles: Any) -> Anatomy | None:
    """The limb in one frame."""
    upper, lower = bones
    above = upper.parent and _Still(upper.parent.name, upper.parent.bone, None, Vector(), Matrix(parent))
    stilled: Any = _Still(upper.name, upper.bone, above, Vector(), Matrix())
    try:
        return anatomy(
            stilled,
            _Still(lower.name, lower.bone, stilled, Vector(location), Matrix()),  # type: ignore[arg-type]
            upper_scale,
            lower_scale,
            angles,
        )
    except Unposable:
        return None


def bodies_of(shapes: list[Shapes]) -> tuple[Limb, Uninherited | None, Any]:
    """The chains' limbs, how their lower bones stand that do not inherit rotation, both over the frames if a limb
    changes its shape, and where they can be posed."""
    limbs, apart, are_limbs = [], [], []
    for bodies, which in shapes:
        known = next(filter(None, bodies), None)
        some_limb, some_apart = (known.limb, known.uninherited or ()) if known else (NO_LIMB, ())
        limbs.append(_picked([body.limb if body else some_limb for body in bodies], which))
        apart.append(_picked([body.uninherited or () if body else some_apart for body in bodies], which))
        are_limbs.append(_picked([body is not None for body in bodies], which))
    return stacked(limbs), stacked(apart) or None, stacked(are_limbs) > 0.0


def _picked(trees: list[Any], which: NDArray[Any] | None) -> Any:
    """Trees of numbers as one, of what each frame has."""
    return trees[0] if which is None else mapped(lambda numbers: numbers[which], stacked(trees))
