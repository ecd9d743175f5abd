"""From a target to the rotations of a limb's bones, in its bend plane, with every setting of a limb.

Places are in the limb's frame G: the origin at the root, Y along the reference line from root to tip, Z the normal of
the bend plane, the knee on the side of -X. Turns about Z are counter-clockwise from Y. The limb is posed in two
strokes: the reference line is turned to the target and about itself, by pole and swivel; and each bone is turned off
that line by the half angles of the triangle, or of its groups. Twist, last, turns bones about their own lines, from
each joint to the next, and leaves the joints where they are."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from . import rotation
from .groups import bend, nearest_of, unit_half, with_ankle
from .limits import PoseWithinLimits, pose_within_limits
from .ops import ARRAYS, Array, Number, Ops, in_slabs, split
from .reference import Reference, reference_direction
from .triangle import Reach, extend, extend_shaped, reach_of
from .triangle import Settings as Settings  # noqa: PLC0414 what a limb is posed with is all found here

ORIGIN: rotation.Vector = (0.0, 0.0, 0.0)

IN_LINE_SQUARE = 1e-12
"""The squared sine between two directions below which they are in line and span no plane."""


class Plane(StrEnum):
    """The plane that a limb bends in."""

    HINGE = "HINGE"
    """The limb's own, square to its hinge's axis; of the target only its place in the plane counts."""
    FREE = "FREE"
    """The limb's own, turned with the line from root to tip the shortest way to the target; straight opposite, half a
    turn about its normal."""
    POLE = "POLE"
    """That through root, target and pole; while these are in line, that of `FREE`."""
    SLIDE = "SLIDE"
    """As `HINGE`, but the first of two bones slides along its own line rather than turns, see `slide`."""


IN_ONE_PLANE = (Plane.HINGE, Plane.SLIDE)
"""The planes that the limb itself stays in: nothing swivels there."""

MOVES_ROOT = (Plane.SLIDE,)
"""Those in which IK moves the limb's first joint."""


class Pose(NamedTuple):
    """The bones' local rotations and what they achieve at an influence of 1."""

    turns: tuple[rotation.Quaternion, ...]
    stretch: Any  # factor on the length of the bones, blended by influence
    reach: Any
    shortfall: Any  # distance from tip to target; of hinges, in their plane
    root: rotation.Vector = ORIGIN  # where the first joint goes in G, blended by influence


class Poses(NamedTuple):
    """`Pose` for rows of shape S."""

    turns: tuple[Array, ...]  # S + (4,) for each bone, w first
    stretch: Array  # S
    reach: Array  # S, Reach values as int8
    shortfall: Array  # S
    root: Any = 0.0  # S + (3,), where the plane moves it


AS_IT_IS = Settings()


def pose_limb(
    target: rotation.Vector,
    reference: Reference,
    settings: Settings,
    plane: Plane,
    ops: Ops,
    pole: rotation.Vector | None = None,
    own: tuple[rotation.Quaternion, ...] | None = None,
    tolerance: Any = 1e-12,
) -> Pose:
    """Pose a limb so that its tip goes to ``target``, in a bend plane; with that of a pole, the knee points at
    ``pole``: places in the limb's frame G, in the unit of its lengths.

    ``own`` are the bones' own (FK) local rotations, from which the settings' influence leads to the solution; without
    them it is 1. A target at the root counts as on the reference line. ``tolerance`` is the shortfall that still counts
    as reached, as a fraction of the limb's length; None if nobody asks for the reach.
    Numbers that are not finite are the caller's to refuse.
    """
    root, stretch = ORIGIN, 1.0  # type: Any, Any
    if plane == Plane.SLIDE:
        turn, joints, root, reach, shortfall = _sliding(target, reference, settings, tolerance, ops)
    else:
        turn, joints, stretch, reach, shortfall = _turning(target, reference, settings, plane, ops, pole, tolerance)
    w, x, y, z = turn
    turns = [(w, *rotation.components((x, y, z), reference.first_axes))]
    for (cosine, sine), (nx, ny, nz) in zip(joints, reference.normals, strict=True):
        turns.append((cosine, sine * nx, sine * ny, sine * nz))
    if settings.twist is not None:
        turns = twisted(turns, settings.twist, reference)
    turns = [_onto(*pair) for pair in zip(reference.reference_rotations, turns, strict=True)]
    if own is not None:
        turns = [rotation.slerp(*pair, settings.influence, ops) for pair in zip(own, turns, strict=True)]
        stretch = 1.0 + settings.influence * (stretch - 1.0)
        root = rotation.scale(root, settings.influence)
    return Pose(tuple(turns), stretch, reach, shortfall, root)


Bent = tuple[rotation.Quaternion, Sequence[rotation.HalfAngle], Any, Any, Any]
"""The first bone's turn in G off the reference, the turns of the others, each against the one before, how much longer
the bones are or where the first one begins, the `Reach`, and how far the tip is from the target."""


def _turning(
    target: rotation.Vector,
    reference: Reference,
    settings: Settings,
    plane: Plane,
    ops: Ops,
    pole: rotation.Vector | None,
    tolerance: Any,
) -> Bent:
    """How a limb bends in every plane but those in which its first bone moves: see `Bent`."""
    x, y, z = target
    square = x * x + y * y
    distance = ops.sqrt(square if plane == Plane.HINGE else square + z * z)
    joints, off_line, stretch, reach, shortfall = _bend(distance, reference, settings, tolerance, ops)
    if plane == Plane.HINGE:
        cosine, sine = unit_half(rotation.plus(rotation.half_angle(y, -x, distance, ops), off_line), ops)
        if settings.limits is not None:
            limited = _within_limits((cosine, sine), joints[0], (x, y), reference, settings, ops)
            (cosine, sine), joints = limited.first, [_joint_of(limited.knee, reference, settings)]
            shortfall = ops.select(limited.is_free, shortfall, limited.distance)
            if tolerance is not None:
                is_off = limited.distance > tolerance * reference.bones.total
                at_limit = ops.select(is_off, Reach.LIMITED, Reach.REACHED)
                reach = ops.select(limited.is_free, reach, at_limit)
        turn = (cosine, 0.0, 0.0, sine)
    else:
        line = line_to(target, distance, ops)
        cosine, sine = settings.swivel
        if plane == Plane.POLE and pole is not None:
            cosine, sine = unit_half(rotation.plus(turn_about_line(line, pole, ops), settings.swivel), ops)
        off_line = unit_half(off_line, ops)
        about_line = (cosine * off_line[0], sine * off_line[1], sine * off_line[0], cosine * off_line[1])
        turn = rotation.multiply(line, about_line)
    return turn, joints, stretch, reach, abs(shortfall)


def _sliding(target: rotation.Vector, reference: Reference, settings: Settings, tolerance: Any, ops: Ops) -> Bent:
    """How a limb bends whose first bone slides."""
    x, y, _ = target
    slide, rod, shortfall = slid((x, y), reference.lengths, reference.half_angles, settings.side, ops)
    slack = 0.0 if tolerance is None else tolerance * reference.bones.total
    reach = ops.select(shortfall > slack, Reach.TOO_FAR, Reach.REACHED)
    joint = rotation.plus(unit_half(rod, ops), reference.axis_corrections[0])
    root = rotation.scale(reference_direction(*reference.half_angles[0]), slide)
    return rotation.IDENTITY, [joint], root, reach, ops.maximum(shortfall, 0.0)


def pose_limbs(
    target: Any,
    reference: Reference,
    settings: Settings = AS_IT_IS,
    plane: Plane = Plane.FREE,
    pole: Any = None,
    own: tuple[Any, ...] | None = None,
    tolerance: Any = 1e-12,
) -> Poses:
    """Pose many limbs, each in its frame G, as `pose_limb` does one; all that is given broadcasts, so that frames x
    limbs is one call.

    ``target`` and ``pole`` are (..., 3), ``own`` an array (..., 4) for each bone, w first; each number of
    ``reference`` (made with `ARRAYS` from arrays, or with `FLOATS`) and ``settings`` may be an array. Rows with input
    that is not finite are `Reach.INVALID` and stand as in the reference.
    """
    if own is not None and np.all(settings.influence == 1.0):
        own = None
    arguments = (
        split(target, 3),
        reference,
        settings,
        split(pole, 3) if plane == Plane.POLE and pole is not None else None,
        None if own is None else tuple(split(turn, 4) for turn in own),
        tolerance,
    )

    def formula(arguments: Any) -> list[Any]:
        target, reference, settings, pole, own, tolerance = arguments
        pose = pose_limb(target, reference, settings, plane, ARRAYS, pole, own, tolerance)
        root = pose.root if moves_root else ()
        return [*chain(*pose.turns), *root, pose.stretch, pose.shortfall, pose.reach]

    count, moves_root = len(reference.lengths), plane == Plane.SLIDE
    results = in_slabs(formula, arguments, 4 * count + 3 + 3 * moves_root)
    turns = tuple(results[..., 4 * k : 4 * k + 4] for k in range(count))
    quaternions = results[..., : 4 * count].reshape(*results.shape[:-1], count, 4)
    sizes = np.einsum("...i,...i", quaternions, quaternions)  # 1, unless it is a number too large, or none
    is_sound = (abs(sizes - 1.0) < 0.1).all(axis=-1) & np.isfinite(results[..., -3] + results[..., -2])
    if not is_sound.all():
        still = (*chain(*map(_sound, reference.reference_rotations)), *ORIGIN * moves_root, 1.0, 0.0, Reach.INVALID)
        for i, number in enumerate(still):
            np.copyto(results[..., i], number, where=~is_sound)
    root = results[..., 4 * count : 4 * count + 3] if moves_root else 0.0
    return Poses(turns, results[..., -3], results[..., -1].astype(np.int8), results[..., -2], root)


def joints_of(
    turns: Sequence[rotation.Quaternion], reference: Reference, stretch: Number = 1.0, root: rotation.Vector = ORIGIN
) -> tuple[rotation.Vector, ...]:
    """Where the bones' local rotations, and where the first begins, put knees and tip, in G: forward kinematics."""
    return _joints(_carried(turns, reference), reference, stretch, root)


def joints_and_normals(
    turns: Sequence[rotation.Quaternion], reference: Reference, stretch: Number = 1.0, root: rotation.Vector = ORIGIN
) -> tuple[tuple[rotation.Vector, ...], tuple[rotation.Vector, ...]]:
    """The joints of a limb, and for each bone its normal of the bend plane, in G: how it is turned about its line.
    The normal is that of the reference pose."""
    poses = _carried(turns, reference)
    return _joints(poses, reference, stretch, root), tuple(rotation.rotate(pose, (0.0, 0.0, 1.0)) for pose in poses)


def _joints(
    poses: Sequence[rotation.Quaternion], reference: Reference, stretch: Number, root: rotation.Vector
) -> tuple[rotation.Vector, ...]:
    joint, joints = root, []
    parts = zip(poses, reference.half_angles, reference.lengths, strict=True)
    for k, (pose, half, length) in enumerate(parts):
        x, y, _ = reference_direction(*half)
        bone = rotation.scale(rotation.rotate(pose, (x * length, y * length, reference.plane_offsets[k])), stretch)
        joint = (joint[0] + bone[0], joint[1] + bone[1], joint[2] + bone[2])
        joints.append(joint)
    return tuple(joints)


def _carried(turns: Sequence[rotation.Quaternion], reference: Reference) -> list[rotation.Quaternion]:
    """How the bones' local rotations turn each off the reference pose, in G."""
    pose: rotation.Quaternion = rotation.IDENTITY
    poses = []
    for k, half in enumerate(reference.half_angles):
        w, *about = rotation.multiply(rotation.conjugate(reference.reference_rotations[k]), turns[k])
        u, v, t = about
        x, y, _ = reference_direction(*half)
        if k:  # the bone's direction, across it in the bend plane, and the normal: in its own axes, and in G
            along, normal = reference.bone_directions[k - 1], reference.normals[k - 1]
            a, b, c = rotation.components((u, v, t), (along, rotation.cross(normal, along), normal))
            turn = (w, a * x - b * y, a * y + b * x, c)
        else:
            turn = (w, *rotation.combine(u, v, t, reference.first_axes))
        pose = rotation.multiply(pose, turn)
        poses.append(pose)
    return poses


def line_to(target: rotation.Vector, distance: Number, ops: Ops) -> rotation.Quaternion:
    """The shortest turn that takes the y axis to a target at this distance, a unit quaternion; straight opposite, half
    a turn about Z. None for a target at the root."""
    size = 1.0 / (distance + ops.tiny)
    x, y, z = target
    return rotation.shortest(x * size, y * size, z * size, ops)


def turn_about_line(line: rotation.Quaternion, point: rotation.Vector, ops: Ops) -> rotation.HalfAngle:
    """The half angle about the line from `line_to` that brings the knee to the side that a point is on. Of any
    length; no turn where the point is in line. With the knee of a posed limb, it says how that swivels."""
    x, _, z = rotation.rotate(rotation.conjugate(line), point)
    square = x * x + z * z
    cosine, sine = rotation.half_angle(-x, z, ops.sqrt(square), ops)
    in_line = square <= IN_LINE_SQUARE * rotation.dot(point, point) + ops.tiny * ops.tiny
    return ops.select(in_line, 1.0, cosine), ops.select(in_line, 0.0, sine)


def _bend(
    distance: Number, reference: Reference, settings: Settings, tolerance: Any, ops: Ops
) -> tuple[Sequence[rotation.HalfAngle], rotation.HalfAngle, Any, Any, Any]:
    """How the limb bends for a target at this distance: the turns (half angles about Z, from the reference) of each
    bone against the one before it and of the first against the line, the latter of any length; the stretch, the
    `Reach`, and how far the target is past where the tip goes."""
    bones, groups = reference.bones, reference.groups
    if groups is not None and settings.ankle is not None:
        groups = with_ankle(groups, settings.ankle, len(reference.lengths), ops)
        bones = bones._replace(nearest=nearest_of(groups, ops))
    if settings.softness is None:
        span, to_straight = extend(distance, bones, ops)
        stretch, shortfall, ends = 1.0, distance - span, (Reach.TOO_NEAR, Reach.TOO_FAR)
        past = shortfall
    else:
        span, to_straight, stretch, shortfall = extend_shaped(distance, bones, settings, ops)
        ends = (
            ops.select(settings.nearest > bones.nearest, Reach.LIMITED, Reach.TOO_NEAR),
            ops.select(settings.farthest < bones.total, Reach.LIMITED, Reach.TOO_FAR),
        )
        past = ops.maximum(distance - ops.minimum(settings.farthest, bones.total), 0.0)  # softness is meant
        past = ops.minimum(shortfall, past)
    slack = 0.0 if tolerance is None else tolerance * bones.total
    reach = Reach.REACHED if tolerance is None else reach_of(past, -slack, slack, *ends, ops)
    off_line, halves = bend(span, to_straight, bones, groups, settings.side, len(reference.lengths), ops)
    if groups is not None:
        off_line = rotation.plus(off_line, halves[0])
    joints = [rotation.minus(after, before) for before, after in pairwise(halves)] if groups is not None else halves[1:]
    joints = [rotation.plus(*pair) for pair in zip(joints, reference.axis_corrections, strict=True)]
    return joints, rotation.minus(off_line, reference.half_angles[0]), stretch, reach, shortfall


def _within_limits(
    first: rotation.HalfAngle,
    joint: rotation.HalfAngle,
    target: tuple[Any, Any],
    reference: Reference,
    settings: Settings,
    ops: Ops,
) -> PoseWithinLimits:
    """The nearest pose of two bones, the second of which would be turned off the first by ``joint``."""
    cosine, sine = rotation.minus(joint, reference.axis_corrections[0])
    knee = (cosine, -settings.side * sine)
    limits: Any = settings.limits
    return pose_within_limits(
        first, knee, target, reference.lengths, reference.half_angles[0], settings.side, limits, ops
    )


def _joint_of(knee: rotation.HalfAngle, reference: Reference, settings: Settings) -> rotation.HalfAngle:
    """The knee's turn off straight as that of the second bone off the first, from the reference."""
    return rotation.plus((knee[0], -settings.side * knee[1]), reference.axis_corrections[0])


def _onto(at_rest: rotation.Quaternion, turn: rotation.Quaternion) -> rotation.Quaternion:
    """A turn after that of the reference pose, which for most limbs is none."""
    return turn if isinstance(at_rest[0], float) and at_rest == rotation.IDENTITY else rotation.multiply(at_rest, turn)


def _sound(turn: rotation.Quaternion) -> rotation.Quaternion:
    """A quaternion, or identity where it is none."""
    with np.errstate(all="ignore"):
        is_sound = abs(sum(number * number for number in turn) - 1.0) < 0.1
    w, x, y, z = (
        np.where(is_sound, number, otherwise) for number, otherwise in zip(turn, rotation.IDENTITY, strict=True)
    )
    return (w, x, y, z)


class Slid(NamedTuple):
    """How far the first bone slides from the reference; the rod's turn off its line, against the clock, a half angle of
    any length; and how far the target is past where the rod reaches, below 0 in reach."""

    slide: Any
    rod: rotation.HalfAngle
    shortfall: Any


def slid(
    target: tuple[Any, Any], lengths: tuple[Any, ...], halves: tuple[rotation.HalfAngle, ...], side: Number, ops: Ops
) -> Slid:
    """The slide and the rod for a target at (x, y) of G; ``halves`` are both bones' half angles in the reference, and
    ``side`` is -1 for the other side: where a circle meets a line. With the target's place along the line and beside
    it, and r the length of the rod, this begins at ``along ± sqrt((r + beside)(r - beside))``, on the side on which it
    is in the reference; farther from the line than it is long, it is square to that."""
    first, rod = lengths
    (cosine, sine), (x, y) = halves[0], target
    u, v = -2.0 * cosine * sine, cosine * cosine - sine * sine
    along, off = x * u + y * v, x * v - y * u
    beside = ops.minimum(ops.maximum(off, -rod), rod)
    cosine, sine = rotation.minus(halves[1], halves[0])
    ahead = side * ops.select(abs(cosine) >= abs(sine), 1.0, -1.0) * ops.sqrt((rod + beside) * (rod - beside))
    return Slid(along - ahead - first, rotation.half_angle(ahead, -beside, rod, ops), abs(off) - rod)


def twisted(
    turns: Sequence[rotation.Quaternion], twist: Sequence[rotation.HalfAngle], reference: Reference
) -> list[rotation.Quaternion]:
    """Turns with each bone turned about its own line as well; the joints stay. What hangs on it is turned back
    before its own turn."""
    first, *others = [
        rotation.multiply(turn, _about(line, half))
        for turn, line, half in zip(turns, reference.lines, twist, strict=True)
    ]
    backs = [rotation.conjugate(_about(*above)) for above in zip(reference.lines_above, twist[:-1], strict=True)]
    return [first, *(rotation.multiply(*pair) for pair in zip(backs, others, strict=True))]


def twists_between(
    untwisted: Sequence[rotation.Quaternion], turns: Sequence[rotation.Quaternion], reference: Reference, ops: Ops
) -> list[rotation.HalfAngle]:
    """The half angles by which bones are turned about their lines from one pose to another with the same joints. Of
    any length; both are the bones' own local rotations. Of poses with other joints, those that come nearest."""
    halves: list[rotation.HalfAngle] = []
    for k, (before, after) in enumerate(zip(untwisted, turns, strict=True)):
        turn = after
        if k:
            line_above = rotation.rotate(reference.reference_rotations[k], reference.lines_above[k - 1])
            turn = rotation.multiply(_about(line_above, unit_half(halves[-1], ops)), after)
        w, x, y, z = rotation.multiply(rotation.conjugate(before), turn)
        along = rotation.dot((x, y, z), reference.lines[k])
        is_none = w * w + along * along < 1e-12  # half a turn about another axis
        halves.append((ops.select(is_none, 1.0, w), ops.select(is_none, 0.0, along)))
    return halves


def _about(axis: rotation.Vector, half: rotation.HalfAngle) -> rotation.Quaternion:
    """The turn about an axis by a half angle of unit length."""
    cosine, sine = half
    return (cosine, *rotation.scale(axis, sine))
