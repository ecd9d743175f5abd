"""The geometry of a limb in its reference pose: where its joints are, in which plane it bends, and to which side.

Joints are where bones begin; the tip is where the foot or hand below begins, or the last bone's tail. The reference is
the rest pose, or another pose of the limb's own bones (``reference_rotations``), always relative to the limb's parent.
Everything here is in the armature's rest space, and in double precision.

The frame G has its origin at the root, Y along the line from root to tip, Z along the normal of the bend plane, which
is that through the line that the joints lie nearest to. A hinge's plane is square to its axis: Y is the line as seen
along that, and joints may lie beside each other. The knee lies on the side of -X: where the first bone ends, or
that and those that keep together with it (`solver.groups`). Angles are counter-clockwise about Z, from Y."""

from __future__ import annotations

from cmath import phase
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import cos, pi, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Bone, PoseBone

from ..blender.types import ArmatureObject
from ..solver.groups import bends_in_zigzag, is_zigzag, members
from ..solver.limb import IN_ONE_PLANE
from ..solver.matrices import Matrix, cross_array, inverted, rotation, unit_array
from ..solver.ops import FLOATS
from . import storage, tips
from .settings import BonesPerSegment
from .tolerances import ON_TARGET, STRAIGHT, UNSEEN

Turn = tuple[float, float, float, float]


IDENTITY: Turn = (1.0, 0.0, 0.0, 0.0)

USUAL_AXIS = (1.0, 0.0, 0.0)
"""What a straight limb bends about if nothing else is known, in its last bone's own space."""


class RestGeometry(NamedTuple):
    """A limb of two to four segments in its reference pose. Tuples have an item for each segment, from the root down;
    lengths are in the armature's unit."""

    names: tuple[str, ...]  # of the segments' first bones
    rest: tuple[Matrix, ...]  # (4, 4) each: the rest matrices of these, in the armature
    reference: tuple[Matrix, ...]  # the same in the reference pose
    frame: Matrix  # (4, 4): G, in the armature
    lengths: tuple[float, ...]  # from joint to joint, along the bend plane
    plane_offsets: tuple[float, ...]  # how far each goes out of that plane; 0 of two, but of hinges
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


def is_straight(geometry: RestGeometry) -> bool:
    """Whether a limb is straight in its reference, and so does not say itself which way it bends."""
    return all(abs(sin(before - after)) <= STRAIGHT for before, after in pairwise(geometry.angles))


def rest_geometry_of(limb: PoseBone) -> RestGeometry:
    """The geometry of a limb, as its armature and its group say."""
    storage.check_complete(limb)
    axis, flat = storage.stored_axes(limb)
    reference_rotations: Any = tuple(tuple(flat[i : i + 4]) for i in range(0, len(flat), 4))
    choices = storage.choices_of(limb)
    return rest_geometry(limb, storage.segments_of(limb), reference_rotations, axis, choices["tip"], choices["plane"])


def rest_geometry(
    limb: PoseBone,
    segments: BonesPerSegment,
    reference_rotations: tuple[Turn, ...] = (),
    axis: Any = (),
    tip: str = "FOOT",
    plane: str = "FREE",
) -> RestGeometry:
    """The geometry of the limb of these ``segments`` whose bones stand as ``reference_rotations`` say, by their own
    rotations (at rest without any). ``axis`` is what it bends about where it is straight, in the last bone's own space,
    and what a hinge, as ``plane`` says it is, turns about in any case; ``tip`` is ``FOOT`` for where the bone below
    begins, or ``TAIL``."""
    storage.check_complete(limb, segments)
    chain: list[Any] = storage.chain_bones(limb, segments)
    rows = tuple(tuple(number for row in bone.bone.matrix_local for number in row) for bone in chain)
    names = tuple(bone.name for bone in chain)
    place, is_hinge = tuple(tips.tip_of(limb, tip).tolist()), bool(axis) and plane in IN_ONE_PLANE
    return _rest_geometry(names, segments, rows, reference_rotations, tuple(axis or USUAL_AXIS), is_hinge, place)


@lru_cache(1024)
def _rest_geometry(
    bones: tuple[str, ...],
    segments: BonesPerSegment,
    rows: tuple[tuple[float, ...], ...],
    reference_rotations: tuple[Turn, ...],
    axis: tuple[float, ...],
    is_hinge: bool,
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
    frame = _frame(joints, posed[-1][:3, :3] @ np.asarray(axis, float), is_hinge)
    segments_along = [end - start for start, end in pairwise(joints)]
    is_beside = is_hinge or len(segments_along) > 2
    plane_offsets = [float(along @ frame[:3, 2]) if is_beside else 0.0 for along in segments_along]
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


def hinge_axis(limb: PoseBone, loop: Sequence[Bone] = ()) -> tuple[float, float, float] | None:
    """What a limb turns about in the plane of a machine or a puppet, in its last bone's axes: the axis that IK locks
    leave its last two bones; or the normal of the plane that they lie along with the bones of their ``loop``; or else
    of that which the rig lies along. Bones lie along a plane in layers of any depth. None without such a plane."""
    normal = _normal_by_locks(limb)
    if normal is None and loop:
        chain = [*(bone.bone for bone in storage.hierarchy(limb, 2)), *loop]
        heads, tails = (np.array([getattr(bone, name) for bone in chain], float) for name in ENDS)
        normal = _normal_of_flat(tails - heads, np.concatenate((heads, tails)))
    normal = normal_of_rig(limb.id_data, limb.name) if normal is None else normal
    if normal is None or not all(_sine(bone, normal) < ALONG for bone in storage.hierarchy(limb, 2)):
        return None
    axes = tips.rest_matrix(limb.bone)[:3, :3]
    x, y, z = axes.T @ normal
    is_backwards = (x if abs(x) > abs(z) else z) < 0.0  # alike on every limb
    if (mirrored := _mirrored_normal(limb, normal)) is not None:
        is_backwards = float(mirrored @ normal) < 0.0
    return (float(-x), float(-y), float(-z)) if is_backwards else (float(x), float(y), float(z))


ENDS = ("head_local", "tail_local")

LAYERED = 0.02
"""How deep a bone may go from layer to layer of a flat rig, as a part of that; and at which depth left and right of a
body are no layers."""

ALONG, TILTED = 0.95, 0.2
"""Up to which sine a limb's bone goes out of the plane that its hinge turns it in; and a flat rig's out of that."""


def _sine(bone: PoseBone, normal: Matrix) -> float:
    """By how much a bone goes out of the plane square to a normal, as a sine."""
    along = np.array(bone.bone.tail_local) - np.array(bone.bone.head_local)
    return abs(float(unit_array(along, along) @ normal))


def unlocked_axis(bone: PoseBone) -> Matrix | None:
    """The axis, in the armature at rest, that IK locks leave a bone to turn about; None where they leave several."""
    turning = [place for place, axis in enumerate("xyz") if turns_about(bone, axis)]
    return tips.rest_matrix(bone.bone)[:3, turning[0]] if len(turning) == 1 else None


def turns_about(bone: PoseBone, axis: str) -> bool:
    """Whether IK may turn a bone about its axis ``x``, ``y`` or ``z``: that is neither locked nor limited to where it
    is."""
    low, high = getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")
    is_limited = getattr(bone, f"use_ik_limit_{axis}") and high - low < ON_TARGET
    return not (is_limited or getattr(bone, f"lock_ik_{axis}"))


def _normal_by_locks(limb: PoseBone) -> Matrix | None:
    """The axis that IK locks leave the last two bones of a limb, if it is the same."""
    axes = [unlocked_axis(bone) for bone in storage.hierarchy(limb, 2)]
    if len(axes) < 2 or any(axis is None for axis in axes):
        return None
    return axes[1] if abs(float(axes[0] @ axes[1])) >= 0.98 else None  # type: ignore[operator]


def normal_of_rig(ob: ArmatureObject, limb_name: str = "") -> Matrix | None:
    """The normal of the plane that the bones of a rig lie along, but roots that none goes on from, and controls that go
    on from none. None of a body, of which left and right are mirror images beside that plane."""
    heads, tails, parents, rows = _ends_of(ob)
    along = tails - heads
    sizes = np.linalg.norm(along, axis=1)
    to_tail = np.linalg.norm(heads - tails[parents], axis=1)
    goes_on = (to_tail <= sizes[parents]) & (to_tail < np.linalg.norm(heads - heads[parents], axis=1))
    is_own = parents != np.arange(len(parents))
    counts = is_own & np.isin(np.arange(len(parents)), parents[is_own]) | goes_on  # but roots, and what ends a line
    counts[parents[goes_on]] = True
    if not counts.any():
        counts[:] = True
    ends = np.concatenate((heads[counts], tails[counts]))
    normal = _normal_of_flat(along[counts], ends)
    has_ends = limb_name not in rows or goes_on[rows[limb_name]]
    if normal is not None and not has_ends:  # importers leave tails anywhere: they say nothing of layers
        return normal if np.ptp(heads @ normal) <= LAYERED * np.linalg.norm(np.ptp(heads, axis=0)) else None
    if normal is None or abs(normal[0]) < 0.9:
        return normal
    size = float(np.linalg.norm(np.ptp(ends, axis=0)))
    middles = (heads + tails) / 2.0
    is_beside = abs(middles[:, 0]) > LAYERED * size
    both = np.stack((heads, tails))
    return None if _is_mirrored(both[:, is_beside], both, UNSEEN * size) else normal


def _ends_of(ob: ArmatureObject) -> tuple[Matrix, Matrix, Matrix, dict[str, int]]:
    """Where the bones of a rig begin and end, (n, 3) each, but those of mechanisms; which each hangs on: one that hangs
    on nothing, on itself; and their rows by name."""
    ends = np.empty((2, len(ob.data.bones), 3), np.float32)
    for row, name in zip(ends, ENDS, strict=True):
        ob.data.bones.foreach_get(name, row.reshape(-1))
    bones = {row: bone for row, bone in enumerate(ob.data.bones) if not storage.is_mechanism_bone(bone)}
    heads, tails = ends[:, [*bones]].astype(float)
    rows = {bone.name: row for row, bone in enumerate(bones.values())}
    above = [bone.parent for bone in bones.values()]
    parents = [rows.get(bone.name, row) if bone else row for row, bone in enumerate(above)]
    return heads, tails, np.array(parents, int), rows


def _is_mirrored(ends: Matrix, others: Matrix, near: float) -> bool:
    """Whether any of some bones has a mirror image across X among others, by their ends (2, n, 3): of these, those are
    looked at that are beside it along a slant."""
    images = (ends * (-1.0, 1.0, 1.0)).swapaxes(0, 1)
    others = others[:, np.argsort(others[0] @ SLANT)]
    along, of_images = others[0] @ SLANT, images[:, 0] @ SLANT
    firsts, lasts = np.searchsorted(along, of_images - near), np.searchsorted(along, of_images + near, "right")
    return any(
        (((others[:, first:last] - image[:, None]) ** 2).sum(-1) <= near * near).all(0).any()
        for image, first, last in zip(images, firsts, lasts, strict=True)
    )


SLANT = np.array((0.48, 0.6, 0.64))
"""A direction along which hardly any two bones of a rig are at the same place."""


def _mirrored_normal(limb: PoseBone, normal: Matrix) -> Matrix | None:
    """A normal to the side on which it has knees of a rig that is seen from the front point outwards, and elbows down;
    None of a limb that has no mirror image on the other side."""
    if abs(normal[0]) > 0.9:
        return None
    seen: Matrix = np.eye(3) - np.outer(normal, normal)
    last, first = (
        np.array([getattr(bone.bone, name) for name in ENDS], float) @ seen for bone in storage.hierarchy(limb, 2)[::-1]
    )
    size = float(np.linalg.norm(last[1] - first[0]))
    heads, tails, *_ = _ends_of(limb.id_data)
    aside = float(first[0, 0] + last[1, 0])
    both = np.stack((heads, tails)) @ seen
    if abs(aside) <= UNSEEN * size or not _is_mirrored(last[:, None], both, UNSEEN * size):
        return None
    down = cross_array(normal, np.array((1.0, 0.0, 0.0)))
    down = -down if down[np.argmax(abs(down))] > 0.0 else down
    knee = cross_array(normal, unit_array(last[1] - first[0], normal))
    outwards = aside / abs(aside) * knee[0] + 0.5 * float(knee @ down)
    return normal if outwards >= 0.0 else -normal


def _normal_of_flat(along: Matrix, ends: Matrix) -> Matrix | None:
    """The normal of the plane that bones lie along, by their directions; of such as lie along one line, by their ends.
    None if some go out of it. Where they go from layer to layer, it is the axis of the armature that is nearest."""
    size, sizes = float(np.linalg.norm(np.ptp(ends, axis=0))), np.linalg.norm(along, axis=1)
    normal = _least(along)
    if normal is None and len(ends) > 2 and (normal := _least(ends - ends.mean(axis=0))) is not None:
        return normal if np.ptp(ends @ normal) <= LAYERED * size else None
    if normal is None:
        return None
    if (abs(along @ normal) <= UNSEEN * sizes).all():
        return normal
    upright = np.eye(3)[np.argmax(abs(normal))]
    is_upright = (abs(along @ upright) <= np.minimum(LAYERED * size, TILTED * sizes + 1e-12)).all()
    is_flat = (abs(along @ normal) <= 5e-3 * sizes).all()
    return upright if is_upright else normal if is_flat else None


def _least(vectors: Matrix) -> Matrix | None:
    """The direction in which vectors go the least way; None if they lie along one line."""
    _, sizes, axes = np.linalg.svd(vectors, full_matrices=False)
    if len(sizes) < 2 or sizes[1] <= 1e-3 * sizes[0]:
        return None
    normal: Matrix = axes[2] if len(axes) > 2 else cross_array(*axes)
    return normal


def _frame(joints: list[Matrix], axis: Matrix, is_hinge: bool) -> Matrix:
    """The frame G of joints; a straight limb bends about ``axis``, and so does any that ``is_hinge``."""
    root = joints[0]
    if is_hinge:
        axis = unit_array(axis, axis)
        joints = [joint - axis * float((joint - root) @ axis) for joint in joints]
    segments_along = [end - start for start, end in pairwise(joints)]
    size = sum(float(np.linalg.norm(along)) for along in segments_along) or 1.0
    first = next(
        (unit_array(along, along) for along in segments_along if np.linalg.norm(along) > 1e-12),
        np.array((0.0, 1.0, 0.0)),
    )
    units = [unit_array(along, first) for along in segments_along]
    y = unit_array(joints[-1] - root, first) if np.linalg.norm(joints[-1] - root) > STRAIGHT * size else first
    is_straight = all(np.linalg.norm(cross_array(*pair)) <= STRAIGHT for pair in pairwise(units))
    z = np.asarray(axis) if is_straight or is_hinge else _normal(joints, y)
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
    if angles[1] > angles[0] + STRAIGHT:
        angles[1] -= 2.0 * pi
    return angles
