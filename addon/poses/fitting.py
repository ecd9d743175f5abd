"""The settings with which a limb stays where it is: those with which the solver gives the pose that is evaluated
now."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import atan2, cos, pi, remainder, sin, tau
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Matrix as BlenderMatrix
from numpy.typing import NDArray

from ..blender.types import ArmatureObject, own_matrix
from ..limb.follow import Follow, place_of
from ..limb.measuring import joints_shown
from ..limb.rest_geometry import RestGeometry, Turn, hinge_axis, rest_geometry
from ..limb.sides import outwards
from ..limb.solving import frame_now
from ..limb.storage import bones_of_limb, chain_bones
from ..limb.table import half_of, reference_of
from ..limb.words import SIZELESS, Refused
from ..rigging.description import Description
from ..solver.ankles import ankles_of
from ..solver.arrays import row_of
from ..solver.groups import members
from ..solver.limb import Plane, Settings, joints_of, line_to, pose_limb, roll_to
from ..solver.matrices import unit
from ..solver.ops import FLOATS
from ..solver.reference import Reference
from ..solver.rotation import conjugate, half_angle, multiply, rotate

Array = NDArray[Any]

MOVED = 1e-4
"""How far joints may be off, in lengths of the limb, and still count as where they were."""

TURNED = 2e-3
"""How much a bone may be turned in radians, and still count as it was."""

ALIKE = 1e-5
"""How far joints may be off, in lengths of the limb, for how bones are turned to decide."""

NOTHING, ENDLESS = 1e-24, 1e15
"""The volume that the axes of a bone span below which it is scaled to nothing, and from where on it is nowhere."""

EXACT = 0.1
"""The `InverseFit.error` from which down no better ankle or side is looked for."""

USUAL_AXIS = (1.0, 0.0, 0.0)
"""What a straight limb bends about if nothing else is kept."""

BESIDE_HINGE = 20.0
"""The `InverseFit.error` up to which a hinge is that of the rest pose all the same: so far Blender's IK, which knows of
none, leaves its plane."""

PAST_STRAIGHT = 4e-6
"""How far past the tip of a straight limb, in its lengths, its target is put, which still counts as reached: short of
it by no more than rounding, it would bend the limb by the root of that, some 1e-3 radians."""

STRETCHED = 4e-4
"""The sine of the knee's turn below which a limb counts as straight for that."""


class Fit(NamedTuple):
    """The settings with which a limb stays where it is, and where that is in the armature. Angles are in radians."""

    plane: str
    reference_rotations: tuple[Turn, ...]  # of its bones; none where the rest pose is the reference
    bend_axis: tuple[float, float, float]  # in the last bone's axes
    flip: bool
    swivel: float  # right-handed about the line from root to tip, on both sides
    ankle: float
    frame: Array  # (4, 4): G, in the armature
    tip: Array  # (3), as all below
    knee: Array
    pole: Array  # where a new one would keep the limb with no swivel


class Posture(NamedTuple):
    """How a limb stands: the rotations of its bones by their own channels, and in a frame G its joints and its pole."""

    turns: tuple[Turn, ...]
    joints: Any  # knees and tip
    pole: Any

    @property
    def tip(self) -> Any:
        """Where the tip is."""
        return self.joints[-1]


def _end_of_first_group(geometry: RestGeometry, joints: Any) -> Any:
    """Where the first bone leads in G together with those that keep to it (see `solver.groups`): of two bones, the
    knee."""
    segments_along = np.diff(np.array([(0.0, 0.0, 0.0), *joints], float), axis=0)
    return segments_along[members(len(segments_along), geometry.is_zigzag)[0]].sum(axis=0)


class InverseFit(NamedTuple):
    """How near the solver comes to a pose."""

    side: float  # -1: flipped
    swivel: float  # in radians, as is the ankle
    ankle: float
    turn: Turn  # of the reference to the target and about the line there
    off: float  # how far joints are off at most, in lengths of the limb
    off_turn: float  # by how much bones are turned off at most, in radians

    @property
    def error(self) -> float:
        """By how much it is off, as a part of what is allowed."""
        return max(self.off / MOVED, self.off_turn / TURNED)


def rank(inverse: InverseFit) -> tuple[float, float]:
    """What is less where a pose is held better: joints count, and where these are there, how bones are turned."""
    return max(inverse.off, ALIKE), inverse.off_turn


def fit(
    context: Context,
    last: PoseBone,
    segments: tuple[int, ...],
    follow: Follow | None = None,
    plane: str = "AUTO",
    tip: str = "FOOT",
    tolerance: float = 1.0,
    axis: Any = None,
) -> Fit:
    """The settings with which a limb stays as it is evaluated now, whatever poses it, with the pole of ``follow``;
    raises `Refused`.

    ``plane`` may be left to what fits (``AUTO``). ``tip`` says where the tip is: where the ``FOOT`` begins, or the last
    bone's ``TAIL``. ``tolerance`` is how many times as far off as usual (`MOVED`, `TURNED`) the fit may be. ``axis`` is
    what a straight limb is to bend about, in its last bone's axes.
    """
    follow = follow or Follow()
    depsgraph = context.evaluated_depsgraph_get()
    evaluated: Any = last.id_data.evaluated_get(depsgraph)
    hinge = hinge_axis(last)
    if plane == "AUTO":
        plane = "POLE" if follow.pole else "HINGE" if hinge else "FREE"
    axis = axis or hinge or (1.0, 0.0, 0.0)
    _check_sized(evaluated, last, segments)
    turns = turns_now(evaluated, last, segments)
    candidates: list[tuple[float, Fit]] = []
    for reference_rotations in ((), turns):
        geometry = rest_geometry(last, segments, reference_rotations, axis, tip)
        frame = frame_now(evaluated, geometry)
        pole = _pole_of(follow, evaluated, depsgraph)
        posture = _posture(evaluated, last, segments, geometry, frame, turns, pole)
        inverse = _exact_fit(geometry, posture, plane)
        candidates.append((inverse.error, _fit_of(geometry, frame, posture, inverse, plane, reference_rotations, axis)))
        if inverse.error <= (min(tolerance, BESIDE_HINGE) if plane == "HINGE" else 1.0):
            candidates = candidates[-1:]
            break
    error, best = min(candidates, key=lambda pair: pair[0])
    if error <= tolerance:
        return best
    raise Refused(
        "'{bone}' is scaled differently from its parent: set its Inherit Scale to Full", "inherit_scale", bone=last.name
    )


def _check_sized(evaluated: ArmatureObject, last: PoseBone, segments: tuple[int, ...]) -> None:
    """Refuse a limb of which something is scaled to nothing, or is not a number."""
    chain: list[Any] = chain_bones(evaluated.pose.bones[last.name], segments)
    axes = [bone.matrix for bone in (*chain, chain[0].parent) if bone] + [evaluated.matrix_world]
    for matrix in axes:
        rows = np.array(matrix, float)
        if not (np.abs(rows).max() < ENDLESS and abs(np.linalg.det(rows[:3, :3])) > NOTHING):
            raise Refused(SIZELESS, bone=last.name)


def with_fit(limb: Description, last: PoseBone, fit: Fit) -> Description:
    """A limb with the settings of a fit."""
    axis = () if fit.bend_axis == USUAL_AXIS else tuple(map(float, fit.bend_axis))
    limb = limb.with_choice("plane", fit.plane)._replace(bend_axis=axis, reference_rotations=fit.reference_rotations)
    limb = limb.with_slider("flip", fit.flip).with_slider("swivel", outwards(last.name) * fit.swivel)
    return limb.with_slider("ankle", fit.ankle) if "ankle" in limb.sliders else limb


def turns_now(evaluated: ArmatureObject, last: PoseBone, segments: tuple[int, ...]) -> tuple[Turn, ...]:
    """The rotations that the first bones of a limb's segments would need by their own channels for the pose they are
    evaluated in."""
    return tuple(_turn_of(own_matrix(bone)) for bone in bones_of_limb(evaluated.pose.bones[last.name], segments))


def _turn_of(matrix: BlenderMatrix) -> Turn:
    """The rotation nearest to a matrix that hardly differs from one, as a quaternion."""
    to_left, _, right = np.linalg.svd(np.array(matrix, float)[:3, :3])
    turn = BlenderMatrix((to_left @ right).tolist()).to_quaternion()
    return _unit((turn.w, turn.x, turn.y, turn.z))


def _unit(turn: Any) -> Turn:
    """A quaternion at unit length."""
    size = float(np.linalg.norm(turn))
    w, x, y, z = (float(number) / size for number in turn)
    return (w, x, y, z)


def _pole_of(follow: Follow, evaluated: ArmatureObject, depsgraph: Depsgraph) -> Any:
    """Where the pole is in the armature, or None."""
    place = place_of(follow.pole, follow.pole_subtarget, depsgraph) if follow.pole else None
    return None if place is None else evaluated.matrix_world.inverted_safe() @ place


def _posture(
    evaluated: ArmatureObject,
    last: PoseBone,
    segments: tuple[int, ...],
    geometry: RestGeometry,
    frame: Array,
    turns: tuple[Turn, ...],
    pole: Any,
) -> Posture:
    """How a limb stands in its frame G, which is ``frame`` in the armature; ``pole`` is where that is there, or
    None."""
    to_frame, size = np.linalg.pinv(frame), sum(geometry.lengths)
    places = joints_shown(evaluated, last.name, segments, geometry.tip)
    joints = [(to_frame @ [*place, 1.0])[:3] for place in places]
    tip = np.array(joints_of(turns, row_of(reference_of([geometry]), 0))[-1], float)
    if np.linalg.norm(tip - joints[-1]) < MOVED * size:  # without the tiny locations that importers leave: of a limb
        joints[-1] = tip  # that is nearly straight, they would move the knee by a multiple of them
    if _is_straight(joints):
        joints[-1] = joints[-1] * max(1.0, (1.0 + PAST_STRAIGHT) * size / float(np.linalg.norm(joints[-1])))
    return Posture(turns, joints, None if pole is None else (to_frame @ [*pole, 1.0])[:3])


def _exact_fit(geometry: RestGeometry, posture: Posture, plane: str) -> InverseFit:
    """How the solver comes nearest to a pose from a reference, in a plane, on either side; of a limb with a pole, the
    knee is on the side of that."""
    first = inverse_fit(geometry, posture, plane)
    if first.error <= 1.0 or plane == "POLE":
        return first
    return min(first, inverse_fit(geometry, posture, plane, -1.0), key=rank)


def inverse_fit(geometry: RestGeometry, posture: Posture, plane: str, side: float = 1.0) -> InverseFit:
    """How the solver comes nearest to a pose from a reference, in a plane and with the knee on one side (-1:
    flipped)."""
    reference: Reference = row_of(reference_of([geometry]), 0)
    inverses: list[InverseFit] = []
    for ankle in ankles_of(reference, posture.turns, float(np.linalg.norm(posture.tip)), side):
        inverses.append(_inverse_fit_at_ankle(reference, geometry, posture, plane, side, ankle))
        if inverses[-1].error <= EXACT:
            break
    return min(inverses, key=rank)


def _inverse_fit_at_ankle(
    reference: Reference, geometry: RestGeometry, posture: Posture, plane: str, side: float, ankle: float
) -> InverseFit:
    """`inverse_fit` with this ankle: the swivel is that by which the first bone turns as in the pose, or that by which
    the knee lies as there, whichever is nearer."""
    tip, pole = tuple(posture.tip), posture.pole if plane == "POLE" else None
    if plane == "HINGE":
        line = _turn_about((0.0, 0.0, 1.0), *half_angle(tip[1], -tip[0], float(np.hypot(tip[0], tip[1])), FLOATS))
        rolls = [0.0]
    else:
        line = line_to(tip, float(np.linalg.norm(tip)), FLOATS)
        solved = _solved_turns(tip, reference, Settings(side, ankle=half_of(ankle)), "FREE")
        own_turn, solved_turn = (_turn_in_frame(geometry, turn) for turn in (posture.turns[0], solved[0]))
        about = multiply(conjugate(line), multiply(multiply(own_turn, conjugate(solved_turn)), line))
        knees = (
            tuple(_end_of_first_group(geometry, joints)) for joints in (posture.joints, joints_of(solved, reference))
        )
        by_knee, before = (angle_of(roll_to(line, knee, FLOATS)) for knee in knees)
        rolls = [angle_of((about[0], about[2])), by_knee - before]  # as the first bone is turned, and as the knee lies
    of_pole = 0.0 if pole is None else angle_of(roll_to(line, tuple(pole), FLOATS))
    candidates = []
    for roll in rolls:
        swivel = roll - of_pole
        settings = Settings(side, half_of(swivel), ankle=half_of(ankle))
        off, off_turn = _errors_of(reference, posture, _solved_turns(tip, reference, settings, plane, pole))
        candidates.append(
            InverseFit(
                side=side,
                swivel=clean(swivel),
                ankle=ankle,
                turn=_unit(multiply(line, _turn_about((0.0, 1.0, 0.0), cos(roll / 2.0), sin(roll / 2.0)))),
                off=off,
                off_turn=off_turn,
            )
        )
    return min(candidates, key=rank)


def _solved_turns(tip: Any, reference: Reference, settings: Settings, plane: str, pole: Any = None) -> list[Turn]:
    """The rotations that the solver gives the bones."""
    return [_unit(turn) for turn in pose_limb(tip, reference, settings, Plane(plane), FLOATS, pole).turns]


def _errors_of(reference: Reference, posture: Posture, turns: Sequence[Turn]) -> tuple[float, float]:
    """How far joints of a limb turned so are off a pose at most, in its lengths, and by how much bones are turned."""
    places = zip(joints_of(turns, reference), posture.joints, strict=True)
    joints = [float(np.linalg.norm(np.subtract(a, b))) / reference.bones.total for a, b in places]
    return max(joints), max(_angle_between(a, b) for a, b in zip(turns, posture.turns, strict=True))


def _turn_in_frame(geometry: RestGeometry, turn: Turn) -> Turn:
    """The turn of the first bone off the reference, in the axes of G."""
    axes = geometry.frame[:3, :3].T @ geometry.reference[0][:3, :3]
    w, *vector = multiply(conjugate(geometry.reference_rotations[0]), turn)
    x, y, z = axes @ vector
    return (w, float(x), float(y), float(z))


def _fit_of(
    geometry: RestGeometry,
    frame: Array,
    posture: Posture,
    inverse: InverseFit,
    plane: str,
    reference_rotations: tuple[Turn, ...],
    axis: Any,
) -> Fit:
    """The settings that an inverse stands for."""
    away, normal = (np.array(rotate(inverse.turn, axis)) for axis in ((-inverse.side, 0.0, 0.0), (0.0, 0.0, 1.0)))
    knees = _end_of_first_group(geometry, posture.joints)
    pole = knees - normal * (normal @ knees) + sum(geometry.lengths) * away  # in the plane
    tip, knee, pole = ((frame @ [*place, 1.0])[:3] for place in (posture.tip, posture.joints[0], pole))
    swivel = 0.0 if plane == "POLE" and posture.pole is None else inverse.swivel
    return Fit(
        plane=plane,
        reference_rotations=reference_rotations,
        bend_axis=axis,
        flip=inverse.side < 0.0,
        swivel=swivel,
        ankle=inverse.ankle,
        frame=frame,
        tip=tip,
        knee=knee,
        pole=pole,
    )


def _is_straight(joints: Any) -> bool:
    """Whether joints, from the first knee to the tip, lie in line with the root at the origin, one behind the other."""
    segments_along = np.diff(np.array([(0.0, 0.0, 0.0), *joints]), axis=0)
    units = [unit(along, joints[-1]) for along in segments_along]
    return all(a @ b > 0.0 and np.linalg.norm(np.cross(a, b)) < STRETCHED for a, b in pairwise(units))


def _turn_about(axis: tuple[float, float, float], cosine: float, sine: float) -> Turn:
    """The turn about an axis by a half angle of any length."""
    x, y, z = axis
    return _unit((cosine, sine * x, sine * y, sine * z))


def angle_of(half: Any) -> float:
    """The angle of a half angle of any length."""
    return 2.0 * atan2(half[1], half[0])


def _angle_between(a: Turn, b: Turn) -> float:
    """The angle between two rotations."""
    w, *vector = multiply(conjugate(a), b)
    return 2.0 * atan2(float(np.linalg.norm(vector)), abs(w))


def clean(angle: float) -> float:
    """An angle within half a turn, without what is mere rounding of a pose in single precision."""
    within = remainder(angle, tau)
    return 0.0 if abs(within) < 1e-6 else within


def turned_around(fit: Fit, turn: float, has_pole: bool) -> Fit:
    """A fit with its knee turned around the limb; in a hinge, and where there is a pole already, to the other side."""
    if fit.plane == "HINGE" or has_pole:
        return fit._replace(flip=fit.flip != (abs(turn) > pi / 2.0 + 1e-3))
    if fit.plane == "FREE":
        return fit._replace(swivel=clean(fit.swivel + turn))
    root = fit.frame[:3, 3]
    about = BlenderMatrix.Rotation(turn, 3, (fit.tip - root).tolist())
    return fit._replace(pole=root + np.array(about) @ (fit.pole - root))
