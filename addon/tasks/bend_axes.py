"""About which axes limbs bend that are straight at rest: as they do in the frames that are read, the more they are bent
there the more that counts; and which limbs of flat rigs are a body's rather than a puppet's."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians, sin
from typing import Any

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..finding.branches import BranchLimbs
from ..limb.rest_geometry import hinge_axis, is_straight, rest_geometry, unlocked_axis
from ..limb.storage import bones_of_limb
from ..limb.tips import rest_matrix, tip_of
from ..motion.reading import Recording, poses_of
from ..rigging.control_shapes import points_of
from ..solver.matrices import applied

Array = NDArray[Any]
Axis = tuple[float, float, float]

LEAST_BEND = sin(radians(2.0))
"""The sine of the knee's turn below which a limb does not say about which axis it bends."""

TO_ONE_SIDE = 0.2
"""What part of all bends has to be left once those to one side are set off against those to the other."""


def bend_axes_seen(
    recording: Recording, limbs: Sequence[tuple[PoseBone, tuple[int, ...]]], tip: str
) -> dict[tuple[Any, str], Axis]:
    """The bend axes of limbs of two segments that are straight at rest and bend in the recording, in their last bones'
    own space, by rig and name. A limb is given by its last bone and segments."""
    axes = {
        (limb.id_data, limb.name): _axis_of(recording, limb, segments, tip)
        for limb, segments in limbs
        if len(segments) == 2 and is_straight(rest_geometry(limb, segments, tip=tip))
    }
    return {ref: axis for ref, axis in axes.items() if axis is not None}


def _axis_of(recording: Recording, limb: PoseBone, segments: tuple[int, ...], tip: str) -> Axis | None:
    first, second = bones_of_limb(limb, segments)
    root, knee, end = (poses_of(recording, limb.id_data, bone.name) for bone in (first, second, limb))
    tips = applied(end, np.broadcast_to(tip_of(limb, tip), (recording.frames, 3)))
    bends = np.cross(_units(tips - knee[:, :3, 3]), _units(knee[:, :3, 3] - root[:, :3, 3]))
    axes = np.einsum("fji,fj->fi", _units(end[:, :3, :3], axis=1), bends)
    total, sizes = axes.sum(axis=0), np.linalg.norm(axes, axis=1)
    if sizes.max() < LEAST_BEND or np.linalg.norm(total) < TO_ONE_SIDE * sizes.sum():
        return None
    x, y, z = map(float, total / np.linalg.norm(total))
    return x, y, z


DEEP = 0.5
"""From which depth on, as a part of its width, what a bone carries is no flat piece of a puppet."""

OUT_OF_PLANE = sin(radians(5.0))
"""The sine from which on a bone turns out of the plane of a puppet."""


def is_of_body(recording: Recording, limb: PoseBone, segments: tuple[int, ...]) -> bool:
    """Whether a limb that rests in the plane of its rig is a body's: its keys leave that plane; or it is there on both
    sides, and the meshes on its bones are about as deep as they are wide. Not where IK locks say its axis."""
    hinge, bones = hinge_axis(limb), bones_of_limb(limb, segments)
    if hinge is None or unlocked_axis(limb) is not None:
        return False
    normal = rest_matrix(limb.bone)[:3, :3] @ hinge
    if _leaves_plane(recording, bones, normal):
        return True
    points_of_bones = points_of(limb.id_data, {bone.name: bone.name for bone in bones}).items()
    axes = {name: rest_matrix(limb.id_data.data.bones[name])[:3, 1] for name, _ in points_of_bones}
    if not any(_is_deep(points, normal, axes[name]) for name, points in points_of_bones):
        return False
    branch = BranchLimbs(limb.id_data).at(limb)
    return branch is not None and branch.is_twin


def _leaves_plane(recording: Recording, bones: Sequence[PoseBone], normal: Array) -> bool:
    """Whether bones turn against what carries them in another way than about a normal, (3) in the armature at rest."""
    carrier = bones[0].parent
    carried = [*([carrier] if carrier else []), *bones]
    poses = [
        poses_of(recording, bone.id_data, bone.name)[:, :3, :3] @ rest_matrix(bone.bone)[:3, :3].T @ normal
        for bone in carried
    ]
    if carrier is None:
        poses.insert(0, np.broadcast_to(normal, poses[0].shape))
    normals = [_units(pose) for pose in poses]
    return any(float(np.linalg.norm(np.cross(normals[0], one), axis=1).max()) > OUT_OF_PLANE for one in normals[1:])


def _is_deep(points: Array, normal: Array, along: Array) -> bool:
    """Whether points are about as deep, along a normal, as they are wide across a bone."""
    return bool(np.ptp(points @ normal) > DEEP * np.ptp(points @ np.cross(normal, along)))


def _units(vectors: Array, axis: int = -1) -> Array:
    units: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=axis, keepdims=True), 1e-30)
    return units
