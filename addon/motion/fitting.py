"""The settings with which a limb stays where it is: those with which the solver gives the pose that is evaluated
now."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import cos, pi, radians, sin
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Matrix as BlenderMatrix

from ..blender.types import ArmatureObject, Refused, own_matrix
from ..finding.branches import BranchLimbs
from ..limb import solving, table, transforms
from ..limb.features import FEATURES, slide
from ..limb.follow import Follow, place_of
from ..limb.rest_geometry import IDENTITY, RestGeometry, Turn, hinge_axis, is_straight, rest_geometry, unlocked_axis
from ..limb.settings import BonesPerSegment
from ..limb.storage import bones_of_limb, chain_bones, outward_sign
from ..limb.tips import rest_matrix, tip_of
from ..limb.tolerances import UNSEEN
from ..rigging.control_shapes import points_of
from ..rigging.description import Description
from ..solver.limb import IN_ONE_PLANE, joints_of
from ..solver.matrices import applied, unit_array
from ..solver.ops import Array, Points, row_of
from ..solver.rotation import rotate
from .inverse import Inverse, SolverPose, end_of_first_group, nearest_inverse, solver_pose_of_rows, without_rounding
from .reading import Recording, poses_of

NO_VOLUME, ENDLESS = 1e-24, 1e15
"""The volume that the axes of a bone span below which it is scaled to nothing, and from where on it is nowhere."""

BESIDE_HINGE = 20.0
"""The `Inverse.error` up to which a hinge is that of the rest pose all the same: so far Blender's IK, which knows of
none, leaves its plane."""

PAST_STRAIGHT = 4e-6
"""How far past the tip of a straight limb, in its lengths, its target is put, which still counts as reached: short of
it by no more than rounding, it would bend the limb by the root of that, some 1e-3 radians."""

ALIKE = 0.9
"""The cosine between two axes above which a limb is bent about either."""

STRETCHED = 4e-4
"""The sine of the knee's turn below which a limb counts as straight for that."""


class Fit(NamedTuple):
    """The settings with which IK shows the pose that a limb has now, and where that is in the armature. Angles are in
    radians."""

    plane: str
    reference_rotations: tuple[Turn, ...]  # of its bones; none where the rest pose is the reference
    bend_axis: tuple[float, ...]  # in the last bone's axes; none where the joints say it
    flip: bool
    swivel: float  # right-handed about the line from root to tip, on both sides
    ankle: float
    twist: tuple[float, ...]  # right-handed about the lines from joint to joint, on both sides
    frame: Array  # (4, 4): G, in the armature
    tip: Array  # (3), as all below
    knee: Array
    pole: Array  # where a new one would keep the limb with no swivel


class Wish(NamedTuple):
    """What of a limb is chosen: its ``plane``, or ``AUTO`` for what fits; whether its tip is where the ``FOOT`` begins
    or at the last bone's ``TAIL``; what it bends about if it is straight or a hinge, in its last bone's axes; and the
    ``reference_rotations`` to begin with, if that is not the rest pose."""

    plane: str = "AUTO"
    tip: str = "FOOT"
    axis: Any = None
    reference_rotations: tuple[Turn, ...] = ()


AS_FITS = Wish()


def fit(
    context: Context,
    limb: PoseBone,
    segments: BonesPerSegment,
    follow: Follow | None = None,
    wish: Wish = AS_FITS,
    tolerance: float = 1.0,
) -> Fit:
    """The settings with which a limb stays as it is evaluated now, whatever poses it, with the pole of ``follow``
    (None: without one), and with the plane, tip and axis that one may ``wish``; raises `Refused`. ``tolerance`` is how
    many times as far off as usual (`MOVED`, `TURNED`) the fit may be."""
    plane, tip, axis, reference = wish
    slide.check_two_bones(plane, limb.name, segments)
    follow = follow or Follow()
    depsgraph = context.evaluated_depsgraph_get()
    evaluated: Any = limb.id_data.evaluated_get(depsgraph)
    hinge = hinge_axis(limb)
    if plane == "AUTO":
        plane = "POLE" if follow.pole else "HINGE" if hinge else "FREE"
    axis = tuple(map(float, axis or hinge or ()))
    _check_sized(evaluated, limb, segments)
    bones = bones_of_limb(evaluated.pose.bones[limb.name], segments)
    turns = tuple(tuple(transforms.rigid_turns(np.array(own_matrix(bone), float)).tolist()) for bone in bones)
    place = place_of(follow.pole, follow.pole_subtarget, depsgraph) if follow.pole else None
    pole = None if place is None else evaluated.matrix_world.inverted_safe() @ place
    sides = [np.ones(1)] if plane == "POLE" else [np.ones(1), -np.ones(1)]  # with a pole, the knee is on its side
    candidates: list[tuple[Any, Fit]] = []
    for reference_rotations in (reference, turns):
        geometry = rest_geometry(limb, segments, reference_rotations, axis, tip, plane)
        kept_axis = axis if plane in IN_ONE_PLANE or is_straight(geometry) else ()
        frame = solving.frame_now(evaluated, geometry)
        pose = _solver_pose(evaluated.pose.bones[limb.name], segments, geometry, frame, turns, pole, plane)
        inverse = row_of(nearest_inverse(geometry, pose, plane, sides, enough=1.0), 0)
        error = inverse.off / UNSEEN  # what bones are turned off, twist makes up for
        candidates.append((error, _fit_of(geometry, frame, pose, inverse, plane, reference_rotations, kept_axis)))
        if error <= (min(tolerance, BESIDE_HINGE) if plane == "HINGE" else 1.0):
            return candidates[-1][1]
    error, best = min(candidates, key=lambda pair: pair[0])
    if error <= tolerance:
        return best
    raise Refused(solving.SCALED_APART, bone=limb.name)


def _check_sized(evaluated: ArmatureObject, limb: PoseBone, segments: BonesPerSegment) -> None:
    """Refuse a limb of which something is scaled to nothing, or is not a number."""
    chain: list[Any] = chain_bones(evaluated.pose.bones[limb.name], segments)
    axes = [bone.matrix for bone in (*chain, chain[0].parent) if bone] + [evaluated.matrix_world]
    for matrix in axes:
        rows = np.array(matrix, float)
        if not (np.abs(rows).max() < ENDLESS and abs(np.linalg.det(rows[:3, :3])) > NO_VOLUME):
            raise Refused(solving.SIZELESS, bone=limb.name)


def with_fit(description: Description, limb: PoseBone, fit: Fit) -> Description:
    """A description with the settings of a fit."""
    description = description.with_choice("plane", fit.plane)._replace(
        bend_axis=fit.bend_axis, reference_rotations=fit.reference_rotations
    )
    description = description.with_slider("flip", fit.flip).with_slider("swivel", outward_sign(limb) * fit.swivel)
    for feature in FEATURES:
        numbers = {name: float(angle) for name, angle in feature.shown(fit, outward_sign(limb)).items()}
        if any(numbers.values()) or feature.of(description):
            description = description.with_sliders_of(feature.name, **numbers)
    return description


def _solver_pose(
    evaluated: PoseBone,
    segments: BonesPerSegment,
    geometry: RestGeometry,
    frame: Array,
    turns: tuple[Turn, ...],
    pole: Any,
    plane: str,
) -> SolverPose:
    """How a limb, by its last bone as it is evaluated, stands in its frame G, which is ``frame`` in the armature, as
    one row; ``pole`` is where that is there, or None."""
    to_frame, size = np.linalg.pinv(frame), sum(geometry.lengths)
    places = solving.evaluated_joints(evaluated.id_data, evaluated.name, segments, geometry.tip)
    joints = [(to_frame @ [*place, 1.0])[:3] for place in places]
    tip = np.array(joints_of(turns, row_of(table.reference_of([geometry]), 0))[-1], float)
    if np.linalg.norm(tip - joints[-1]) < UNSEEN * size:  # without the tiny locations that importers leave: of a limb
        joints[-1] = tip  # that is nearly straight, they would move the knee by a multiple of them
    along = np.array((1.0, 1.0, 0.0 if plane in IN_ONE_PLANE else 1.0))
    if _is_straight(flat := [joint * along for joint in joints]):
        past = max(1.0, (1.0 + PAST_STRAIGHT) * size / float(np.linalg.norm(flat[-1])))
        joints[-1] = np.where(along, past, 1.0) * joints[-1]
    in_frame = None if pole is None else (to_frame @ [*pole, 1.0])[None, :3]
    return solver_pose_of_rows(np.array([turns]), np.array([joints]), in_frame)


def _fit_of(
    geometry: RestGeometry,
    frame: Array,
    pose: SolverPose,
    inverse: Inverse,
    plane: str,
    reference_rotations: tuple[Turn, ...],
    axis: tuple[float, ...],
) -> Fit:
    """The settings that an inverse stands for."""
    away, normal = (np.array(rotate(inverse.turn, axis)) for axis in ((-inverse.side, 0.0, 0.0), (0.0, 0.0, 1.0)))
    pose = row_of(pose, 0)
    knees = np.array(end_of_first_group(geometry, pose.joints), float)
    pole = knees - normal * (normal @ knees) + sum(geometry.lengths) * away  # in the plane
    tip, knee, pole = ((frame @ [*place, 1.0])[:3] for place in (pose.tip, pose.joints[0], pole))
    swivel = 0.0 if plane == "POLE" and pose.pole is None else inverse.swivel
    return Fit(
        plane=plane,
        reference_rotations=reference_rotations,
        bend_axis=axis,
        flip=inverse.side < 0.0,
        swivel=swivel,
        ankle=inverse.ankle,
        twist=tuple(map(float, inverse.twist)),
        frame=frame,
        tip=tip,
        knee=knee,
        pole=pole,
    )


def _is_straight(joints: Any) -> bool:
    """Whether joints, from the first knee to the tip, lie in line with the root at the origin, one behind the other."""
    segments_along = np.diff(np.array([(0.0, 0.0, 0.0), *joints]), axis=0)
    units = [unit_array(along, joints[-1]) for along in segments_along]
    return all(a @ b > 0.0 and np.linalg.norm(np.cross(a, b)) < STRETCHED for a, b in pairwise(units))


def turned_around(fit: Fit, turn: float, has_pole: bool) -> Fit:
    """A fit with its knee turned around the limb by an angle; in a hinge, or with a pole, flipped to the other side."""
    if fit.plane == "HINGE" or has_pole:
        return fit._replace(flip=fit.flip != (abs(turn) > pi / 2.0 + 1e-3))
    if fit.plane == "FREE":
        return fit._replace(swivel=float(without_rounding(fit.swivel + turn)))
    root = fit.frame[:3, 3]
    about = BlenderMatrix.Rotation(turn, 3, (fit.tip - root).tolist())
    return fit._replace(pole=root + np.array(about) @ (fit.pole - root))


# about which axes limbs bend

Axis = tuple[float, float, float]

LEAST_BEND = sin(radians(2.0))
"""The sine of the knee's turn below which a limb does not say about which axis it bends."""

TO_ONE_SIDE = 0.2
"""What part of all bends has to be left once those to one side are set off against those to the other."""


def bend_seen(
    recording: Recording, limb: PoseBone, segments: BonesPerSegment, tip: str, may_rest_bent: bool
) -> tuple[Axis | None, tuple[Turn, ...]]:
    """The axis about which a straight limb of two segments bends in a recording, in its last bone's space. If it
    ``may_rest_bent``, also where that is to the other side, as legs of captures rest: then with how its bones are
    turned where it is straight, by their own channels."""
    geometry = rest_geometry(limb, segments, tip=tip)
    axis = _axis_of(recording, limb, segments, tip) if len(segments) == 2 else None
    if axis is None or is_straight(geometry):
        return axis, ()
    if not (may_rest_bent and geometry.frame[:3, 2] @ rest_matrix(limb.bone)[:3, :3] @ axis < -ALIKE):
        return None, ()
    half_bend = (geometry.angles[0] - geometry.angles[1]) / 2.0
    x, y, z = map(float, sin(half_bend) * geometry.normals[1])
    return axis, (IDENTITY, (cos(half_bend), x, y, z))


def _axis_of(recording: Recording, limb: PoseBone, segments: BonesPerSegment, tip: str) -> Axis | None:
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


def is_of_body(recording: Recording, limb: PoseBone, segments: BonesPerSegment) -> bool:
    """Whether a limb that rests in the plane of its rig is a body's arm or leg. Its keys leave that plane; or it is
    there on both sides, and the meshes on its bones are about as deep as they are wide. Not where IK locks say its
    axis."""
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


def _leaves_plane(recording: Recording, bones: Sequence[PoseBone], normal: Points) -> bool:
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


def _is_deep(points: Points, normal: Points, along: Points) -> bool:
    """Whether points are about as deep, along a normal, as they are wide across a bone."""
    return bool(np.ptp(points @ normal) > DEEP * np.ptp(points @ np.cross(normal, along)))


def _units(vectors: Points, axis: int = -1) -> Array:
    """Vectors of length 1 along an axis; one without a length stays."""
    units: Array = vectors / np.maximum(np.linalg.norm(vectors, axis=axis, keepdims=True), 1e-30)
    return units
