"""The geometry of a limb in its reference pose: where its joints are, in which plane it bends, and to which side.

Joints are where bones begin; the tip is where the foot or hand below begins, or the last bone's tail. The reference is
the rest pose, or another pose of the limb's own bones (``reference_rotations``), always relative to the limb's parent.
Everything here is in the armature's rest space, and in double precision.

The frame G has its origin at the root, Y along the line from root to tip, Z along the normal of the bend plane, which
is that through the line that the joints lie nearest to. The knee lies on the side of -X: where the first bone ends, or
that and those that keep together with it (`solver.groups`). Angles are counter-clockwise about Z, from Y."""

from __future__ import annotations

from cmath import phase
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone

from ..solver.groups import bends_in_zigzag, members
from ..solver.matrices import Matrix, cross_array, inverted, rotation, unit_array
from ..solver.ops import FLOATS
from .sides import stored_axes
from .storage import chain_bones, check_complete, group_of, hierarchy, is_mechanism_bone, segments_of
from .tips import rest_matrix, tip_of
from .tolerances import STRAIGHT

Turn = tuple[float, float, float, float]


IDENTITY: Turn = (1.0, 0.0, 0.0, 0.0)


class RestGeometry(NamedTuple):
    """A limb of two to four segments in its reference pose. Tuples have an item for each segment, from the root down;
    lengths are in the armature's unit."""

    names: tuple[str, ...]  # of the segments' first bones
    rest: tuple[Matrix, ...]  # (4, 4) each: the rest matrices of these, in the armature
    reference: tuple[Matrix, ...]  # the same in the reference pose
    frame: Matrix  # (4, 4): G, in the armature
    lengths: tuple[float, ...]  # from joint to joint, along the bend plane
    plane_offsets: tuple[float, ...]  # how far each goes out of that plane; 0 of two, which span it
    angles: tuple[float, ...]  # off G's Y axis in the plane, in radians
    normals: tuple[Matrix, ...]  # (3): the plane's normal, in the axes of the first bone in the reference pose
    reference_rotations: tuple[Turn, ...]  # of the first bones, by their own channels
    tip: Matrix  # (3), in the last bone's own space
    bone_directions: tuple[Matrix, ...]  # (3): to the next joint along the plane, in the axes of ``normals``
    points: tuple[bool, ...]  # whether the first bone points at the next joint

    @property
    def is_zigzag(self) -> bool:
        """Which bones keep together, see `is_zigzag`."""
        return is_zigzag(self.angles)


def is_zigzag(angles: Sequence[float]) -> bool:
    """Whether bones of these directions bend to one side and the other in turn: every other one keeps together then,
    neighbours otherwise."""
    return bool(bends_in_zigzag([sin(after - before) for before, after in pairwise(angles)], FLOATS))


def is_straight(geometry: RestGeometry) -> bool:
    """Whether a limb is straight in its reference, and so does not say itself which way it bends."""
    return all(abs(sin(before - after)) <= STRAIGHT for before, after in pairwise(geometry.angles))


def rest_geometry_of(limb: PoseBone) -> RestGeometry:
    """The geometry of a limb, as its armature and its group say."""
    check_complete(limb)
    axis, flat = stored_axes(limb)
    reference_rotations: Any = tuple(tuple(flat[i : i + 4]) for i in range(0, len(flat), 4))
    return rest_geometry(limb, segments_of(limb), reference_rotations, axis, (group_of(limb) or {}).get("tip", "FOOT"))


def rest_geometry(
    limb: PoseBone,
    segments: tuple[int, ...],
    reference_rotations: tuple[Turn, ...] = (),
    axis: Any = (1.0, 0.0, 0.0),
    tip: str = "FOOT",
) -> RestGeometry:
    """The geometry of the limb of these ``segments`` whose bones stand as ``reference_rotations`` say, by their own
    rotations (at rest without any). ``axis`` is what it bends about where it is straight, in the last bone's own space;
    ``tip`` is ``FOOT`` for where the bone below begins, or ``TAIL``."""
    check_complete(limb, segments)
    chain: list[Any] = chain_bones(limb, segments)
    rows = tuple(tuple(number for row in bone.bone.matrix_local for number in row) for bone in chain)
    names = tuple(bone.name for bone in chain)
    return _rest_geometry(names, segments, rows, reference_rotations, tuple(axis), tuple(tip_of(limb, tip).tolist()))


@lru_cache(1024)
def _rest_geometry(
    bones: tuple[str, ...],
    segments: tuple[int, ...],
    rows: tuple[tuple[float, ...], ...],
    reference_rotations: tuple[Turn, ...],
    axis: tuple[float, ...],
    tip: tuple[float, ...],
) -> RestGeometry:
    """The same of numbers alone: of ``bones`` whose rest matrices are these, in ``rows``, with this ``tip``."""
    starts = [sum(segments[:i]) for i in range(len(segments))]
    reference_rotations = reference_rotations or (IDENTITY,) * len(starts)
    rest = _squared([np.array(numbers).reshape(4, 4) for numbers in rows])
    posed = _posed(rest, dict(zip(starts, reference_rotations, strict=True)))
    place = np.array(tip)
    joints = [*(posed[start][:3, 3] for start in starts), (posed[-1] @ [*place, 1.0])[:3]]
    reference = [posed[start] for start in starts]
    frame = _frame(joints, posed[-1][:3, :3] @ np.asarray(axis, float))
    segments_along = [end - start for start, end in pairwise(joints)]
    plane_offsets = [float(along @ frame[:3, 2]) if len(segments_along) > 2 else 0.0 for along in segments_along]
    flat = [along - off * frame[:3, 2] for along, off in zip(segments_along, plane_offsets, strict=True)]
    for shared in (*rest, *reference, frame, place):
        shared.flags.writeable = False
    return RestGeometry(
        names=tuple(bones[start] for start in starts),
        rest=tuple(rest[start] for start in starts),
        reference=tuple(reference),
        frame=frame,
        lengths=tuple(float(np.linalg.norm(along)) for along in flat),
        plane_offsets=tuple(plane_offsets),
        angles=tuple(_angles(segments_along, frame)),
        normals=tuple(matrix[:3, :3].T @ frame[:3, 2] for matrix in reference),
        reference_rotations=reference_rotations,
        tip=place,
        bone_directions=tuple(
            matrix[:3, :3].T @ unit_array(along, matrix[:3, 1]) for matrix, along in zip(reference, flat, strict=True)
        ),
        points=tuple(
            bool(np.linalg.norm(unit_array(along, matrix[:3, 1]) - matrix[:3, 1]) < 1e-4)
            for matrix, along in zip(reference, segments_along, strict=True)
        ),
    )


def lines_of(geometry: RestGeometry) -> list[Matrix]:
    """The directions from each joint to the next, in the axes of the bone there, which they keep in any pose."""
    parts = zip(geometry.bone_directions, geometry.lengths, geometry.normals, geometry.plane_offsets, strict=True)
    return [unit_array(along * length + normal * off, along) for along, length, normal, off in parts]


def _posed(rest: list[Matrix], rotations: dict[int, Turn]) -> list[Matrix]:
    """The matrices in the armature of bones that hang on each other, by their rest matrices and those of their own
    rotations that there are, by their places among them."""
    if {*rotations.values()} == {IDENTITY}:
        return rest
    in_parents = [rest[0], *(inverted(above) @ below for above, below in pairwise(rest))]
    posed: list[Matrix] = []
    above = np.eye(4)
    for i, in_parent in enumerate(in_parents):
        above = above @ in_parent @ rotation(rotations.get(i, IDENTITY))
        posed.append(above)
    return posed


def _squared(rest: list[Matrix]) -> list[Matrix]:
    """The rest matrices of a limb's bones as they would be if the axes of the first were square to each other.

    Those of a bone that points along -Y of its parent, or is below one, are off by up to 4e-5. Turns come before
    that: the limb is exact in the space that it takes to the armature's, and in no other."""
    if not rest:
        return rest
    square = squared(rest[0])
    to_square = square @ inverted(rest[0])
    return [square, *(to_square @ matrix for matrix in rest[1:])]


def squared(rest: Matrix) -> Matrix:
    """A rest matrix whose axes are square to each other, which those of bones near -Y are not quite."""
    axes, square = rest[:3, :3], rest.copy()
    square[:3, :3] = 1.5 * axes - 0.5 * axes @ axes.T @ axes
    return square


def hinge_axis(limb: PoseBone) -> tuple[float, float, float] | None:
    """The normal, in the axes of a limb's last bone, of the plane that all bones of its rig lie along, but those of
    mechanisms, as those of a cut-out puppet or a robot's arm do, maybe at other depths; or else about which IK locks
    let its last two bones turn. None if there is neither, or if the limb bends out of it."""
    bones = limb.id_data.data.bones
    ends = np.empty((2, len(bones), 3), np.float32)
    for row, name in zip(ends, ("head_local", "tail_local"), strict=True):
        bones.foreach_get(name, row.reshape(-1))
    ends = ends[:, [not is_mechanism_bone(bone) for bone in bones]].astype(float)
    normal = _normal_of_flat(ends[1] - ends[0], np.asarray(ends.reshape(-1, 3), np.float64))
    normal = _normal_by_locks(limb) if normal is None else normal
    if normal is None or not _bends_along(limb, normal):
        return None
    x, y, z = rest_matrix(limb.bone)[:3, :3].T @ normal
    side = 1.0 if (abs(x) > abs(z) and x > 0.0) or (abs(x) <= abs(z) and z > 0.0) else -1.0  # alike on every limb
    return float(side * x), float(side * y), float(side * z)


def unlocked_axis(bone: PoseBone) -> Matrix | None:
    """The axis, in the armature at rest, that IK locks leave a bone to turn about; None where they leave several."""
    locks = (bone.lock_ik_x, bone.lock_ik_y, bone.lock_ik_z)
    return rest_matrix(bone.bone)[:3, locks.index(False)] if sum(locks) == 2 else None


def _normal_by_locks(limb: PoseBone) -> Matrix | None:
    """The axis that IK locks leave the last two bones of a limb, if it is the same."""
    axes = [unlocked_axis(bone) for bone in hierarchy(limb, 2)]
    if len(axes) < 2 or any(axis is None for axis in axes):
        return None
    return axes[1] if abs(float(axes[0] @ axes[1])) >= ALONG[1] else None  # type: ignore[operator]


LAYERED = 0.02
"""Within which depth a rig counts as flat, as a part of its size: parts of puppets lie in layers."""

ALONG = 5e-3, 0.98
"""Up to which sine a straight limb counts as along such a plane, and from which cosine on the normal of a bent one."""


def _normal_of_flat(along: Matrix, ends: Matrix) -> Matrix | None:
    """The normal of the plane that bones lie along, by their directions, or by their ends where they are in line; None
    if some are out of it."""
    if len(ends) < 3:
        return None
    for points in (along, ends - ends.mean(axis=0)):
        _, sizes, axes = np.linalg.svd(points, full_matrices=False)
        if len(sizes) > 1 and sizes[1] > 1e-3 * sizes[0]:
            normal: Matrix = axes[2] if len(axes) > 2 else cross_array(*axes)
            size = float(np.linalg.norm(np.ptp(ends, axis=0)))
            return normal if np.ptp(ends @ normal) <= LAYERED * size else None
    return None


def _bends_along(limb: PoseBone, normal: Matrix) -> bool:
    """Whether the last two bones of a limb bend about a normal, or are straight and square to it."""
    bones = hierarchy(limb, 2)
    along = [np.array(bone.bone.tail_local) - np.array(bone.bone.head_local) for bone in bones]
    units = [unit_array(segment, normal) for segment in along]
    if max(abs(float(direction @ normal)) for direction in units) <= ALONG[0]:
        return True
    about = cross_array(units[0], units[-1])
    return bool(np.linalg.norm(about) > 1e-2 and abs(float(unit_array(about, normal) @ normal)) >= ALONG[1])


def _frame(joints: list[Matrix], axis: Matrix) -> Matrix:
    """The frame G of joints; a straight limb bends about ``axis``."""
    root, segments_along = joints[0], [end - start for start, end in pairwise(joints)]
    size = sum(float(np.linalg.norm(along)) for along in segments_along) or 1.0
    first = next(
        (unit_array(along, along) for along in segments_along if np.linalg.norm(along) > 1e-12),
        np.array((0.0, 1.0, 0.0)),
    )
    units = [unit_array(along, first) for along in segments_along]
    y = unit_array(joints[-1] - root, first) if np.linalg.norm(joints[-1] - root) > STRAIGHT * size else first
    is_straight = all(np.linalg.norm(cross_array(*pair)) <= STRAIGHT for pair in pairwise(units))
    z = np.asarray(axis) if is_straight else _normal(joints, y)
    z = z - y * (z @ y)
    if np.linalg.norm(z) < 1e-6:  # the axis lies along the limb
        z = _square_to(y)
    z = unit_array(z, y)
    x = cross_array(y, z)
    if not is_straight:
        zigzag = bool(bends_in_zigzag([float(cross_array(*pair) @ z) for pair in pairwise(units)], FLOATS))
        aside = sum(float(segments_along[k] @ x) for k in members(len(segments_along), zigzag)[0])
        if abs(aside) <= STRAIGHT * size:  # it is in line: to the same side as most
            aside = max((float((joint - root) @ x) for joint in joints[1:-1]), key=abs)
        x, z = (-x, -z) if aside > 0.0 else (x, z)
    frame = np.eye(4)
    frame[:3, 0], frame[:3, 1], frame[:3, 2], frame[:3, 3] = x, y, z, root
    return frame


def _square_to(y: Matrix) -> Matrix:
    """A direction square to another."""
    x = np.eye(3)[np.argmin(abs(y))]
    return unit_array(x - y * (x @ y), y)


def _normal(joints: list[Matrix], y: Matrix) -> Matrix:
    """The normal of the plane through the root along ``y`` that the joints lie nearest to: as complex numbers in the
    plane square to that, the root of the sum of their squares."""
    x = _square_to(y)
    z = cross_array(x, y)
    places = [complex((joint - joints[0]) @ x, (joint - joints[0]) @ z) for joint in joints[1:-1]]
    angle = 0.5 * phase(sum(place * place for place in places))
    return cross_array(cos(angle) * x + sin(angle) * z, y)


def _angles(segments_along: list[Matrix], frame: Matrix) -> list[float]:
    """The angles of segments off the Y axis of a frame, in its plane; the second is at most a turn below the first. One
    without a length has that of its neighbour."""
    x, y = frame[:3, 0], frame[:3, 1]
    angles = [float(np.arctan2(-(along @ x), along @ y)) if along.any() else 0.0 for along in segments_along]
    if not segments_along[0].any():
        angles[0] = angles[1]
    if not segments_along[1].any():
        angles[1] = angles[0]
    if angles[1] > angles[0] + 1e-9:
        angles[1] -= 2.0 * pi
    return angles
