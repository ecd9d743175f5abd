"""A mechanism as plain data, before Blender has it: helper bones, constraints and drivers.

They refer to each other by role, and to the limb's own bones as "bone 1", "bone 2", "last" and "parent". The roles:

    root             hangs on the limb's parent as the first bone does, and does nothing; all others hang below it
    origin           (where the first bone's own location moves it) has that location; where the root is now
    target_in_frame  goes to the target: its place is that of the target in the frame G, below whatever parents; in the
                     planes FREE and POLE it points along the line from the root, and faces the pole
    turn 1           turns as the limb's first bone does from the reference: about the normal, and about the line; in
                     FREE and POLE with the line. One that slides does not turn: it has its place along the line
    turn 2           hangs on that where the second bone begins, and turns as this does: about the normal; and so on.
                     The last aims at the target, if the tip is to be there. With twist, each is turned about the bone's
                     line last, and first back about that of the bone above
    span             (softness, knee limits) holds by how much the limb spans less than straight, as its place along X
    scale            (stretch) has the scale of the limb's bones
    group 1          (three and four bones) holds how far bones that keep together are bent; and group 2
    fold             (neighbours that keep together, with an ankle) holds how far they are bent at rest
    largest share    (these) holds the largest share of that, along X
    free             (limits of the first joint) holds how the bones would be turned without limits
    ends             (these) holds how the second bone is turned with the first at either end
    misses           (these) holds how far the tip is off then, squared
    reference 1      (where the reference is a pose) is turned as the bone itself is in the reference; and reference 2

They rest in the axes of G, in the order that the spec's ``axis_shift`` says. Helper bones point along none of those
directions in which Blender is not exact. The limb's bones take over the local transforms of their turns, each in its
own axes.

What costs is what Blender evaluates in each frame: a driver, which looks up two paths each time, costs as much as two
or three constraints, a helper bone as much as two. So where bones point is left to constraints, which do it exactly.
"""

from __future__ import annotations

from cmath import exp
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..limb.settings import ALL, MADE_BY_US, slider_of
from ..limb.tolerances import ROUNDING
from . import formulas
from .axes import Axes, TwistedLine, axes_of, axes_of_turn, twisted_line
from .formulas import LETTERS, LocationLetter, NumberLetter, SliderLetter, TargetLetter, letters_of
from .spec import Spec

PLACE, DISTANCE, PROPERTY = "TRANSFORMS", "LOC_DIFF", "SINGLE_PROP"
BELOW_PARENT, AS_SET, CHANNEL = "LOCAL_SPACE", "TRANSFORM_SPACE", "CHANNEL"
"""Where a bone is, with its constraints, seen from its parent; its channels themselves, without rounding; and what a
channel is set to, whatever poses the bone."""

POSE, LINE, STRETCH, ROOT, TWIST = (MADE_BY_US + name for name in ("Pose", "Line", "Stretch", "Root", "Twist"))
SWING, IN_PLANE, ACROSS, FACING, NOT_NEARER = (
    MADE_BY_US + name for name in ("Swing", "In Plane", "Across", "Facing", "Not Nearer")
)
"""The names of constraints."""

TARGET, POLE, CONTROL = "follow target", "follow pole", "follow control"
"""What a constraint follows that follows what the limb does: `CONTROL` is the target itself, also of a foot that rolls,
where `TARGET` is the helper that does."""

COLLECTION = "MCH Planar IK"
"""The bone collection of all helper bones but pivots."""


class HelperBone(NamedTuple):
    """A helper bone by its role, what it hangs on, its rest pose in the armature's space (rows of a 4x4 matrix), its
    rotation mode, the location that its channels say, how long it is, and its bone collection. It inherits rotation and
    scale as the bone ``like`` does, and rests just as that one if it ``copies_rest``."""

    role: str
    parent: str
    rest: tuple[float, ...]
    order: str
    location: tuple[float, ...] = (0.0, 0.0, 0.0)
    length: float = 0.0
    collection: str = COLLECTION
    like: str = ""
    copies_rest: bool = False


class ConstraintSpec(NamedTuple):
    """A constraint of a bone. ``target`` is the role of a bone of the rig, or `TARGET`, `POLE` or `CONTROL`; ``space``
    the role of the bone in whose space it works, where that is custom; ``targets`` are the roles of bones where it has
    several, and comes first on its bone."""

    bone: str
    name: str
    type: str
    target: str
    settings: tuple[tuple[str, Any], ...] = ()
    space: str = ""
    targets: tuple[str, ...] = ()


class DriverRead(NamedTuple):
    """What a variable reads of a bone: a channel of its place in a space, a property of it (`CHANNEL`), or a custom
    property (without a space), of one with several numbers that at ``item``."""

    bone: str
    what: str
    space: str = ""
    item: int = ALL


class DriverVariable(NamedTuple):
    """What a letter of an expression stands for: one thing read, or how far two bones are from each other."""

    letter: str
    type: str
    reads: tuple[DriverRead, ...]


class DriverSpec(NamedTuple):
    """A driver of a property of a bone, at a path from the bone; of one of its numbers, or of all of it (-1)."""

    bone: str
    path: str
    channel: int
    expression: str
    variables: tuple[DriverVariable, ...]


class Parts(NamedTuple):
    """All that one limb needs, or a part of that; bones come after their parents. ``free`` are the roles of bones that
    hang on nothing meanwhile."""

    bones: tuple[HelperBone, ...] = ()
    constraints: tuple[ConstraintSpec, ...] = ()
    drivers: tuple[DriverSpec, ...] = ()
    free: tuple[str, ...] = ()


MECHANISM_ROLES = {"root", "origin", "target_in_frame", "span", "scale", "group 1", "group 2", "fold", "largest share"}
MECHANISM_ROLES |= {"free", "ends", "misses"}
MECHANISM_ROLES |= {f"{kind} {k}" for kind in ("turn", "reference") for k in range(1, 5)}

LOCAL = (("owner_space", "LOCAL"), ("target_space", "LOCAL"))
OWN = (("owner_space", "LOCAL"), ("target_space", "LOCAL_OWNER_ORIENT"), ("mix_mode", "REPLACE"))
IN_SPACE = (("owner_space", "CUSTOM"), ("target_space", "CUSTOM"))


def parts_of(spec: Spec) -> Parts:
    """The parts that a spec asks for."""
    return _parts_of(spec._replace(bones=("",) * len(spec.bones), last_bone="", parent=""))


@lru_cache(4096)
def _parts_of(spec: Spec) -> Parts:
    length = 0.2 * sum(spec.lengths)
    bones = (bone._replace(length=length) for bone in _bones(spec))
    return Parts(tuple(bones), tuple(_constraints(spec)), tuple(_drivers(spec)))


def _bones(spec: Spec) -> list[HelperBone]:
    roles = []
    if formulas.is_shaped(spec):
        roles.append("span")
    if spec.stretch:
        roles.append("scale")
    roles += [*formulas.folds(spec), *formulas.groups(spec), *formulas.limits(spec)]
    base = axes_of(spec)
    rest = _flat(base.rest)
    at_rest = [0.0, 0.0, 0.0]  # where nothing is followed
    off = spec.angles[0] if spec.slides else 0.0
    tip = sum(length * exp(1j * (angle - off)) for length, angle in zip(spec.lengths, spec.angles, strict=True))
    at_rest[base.at("X")], at_rest[base.at("Y")] = -tip.imag, tip.real
    bones = [
        HelperBone("root", "parent", rest, "QUATERNION", like="bone 1", copies_rest=spec.copies_rest),
        *([HelperBone("origin", "root", _flat(_rest_of_first(spec)), "QUATERNION")] if spec.is_moved else ()),
        HelperBone("target_in_frame", _origin(spec), rest, "QUATERNION", tuple(at_rest)),
        *(HelperBone(role, "root", rest, "QUATERNION") for role in roles),
    ]
    above = "root"
    for k, is_still in enumerate(spec.is_still, 1):
        axes = axes_of_turn(spec, k)
        if not is_still:
            bones.append(HelperBone(f"reference {k}", above, _flat(axes.rest), "QUATERNION"))
        bones.append(HelperBone(f"turn {k}", above, _flat(axes.rest), axes.order))
        above = f"turn {k}"
    return bones


def _origin(spec: Spec) -> str:
    """The role of the helper that is where the limb's root is."""
    return "origin" if spec.is_moved else "root"


def _rest_of_first(spec: Spec) -> Any:
    """The rest pose of the first bone (4x4)."""
    rest = np.eye(4)
    rest[:3, :3], rest[:3, 3] = np.array(spec.axes[0]).reshape(3, 3), spec.heads[0]
    return rest


def _flat(matrix: Any) -> tuple[float, ...]:
    return tuple(map(float, matrix.ravel()))


def _constraints(spec: Spec) -> list[ConstraintSpec]:
    constraints = _constraints_of_line(spec)
    if spec.is_moved:
        along = (("owner_space", "LOCAL"), ("target_space", "LOCAL_OWNER_ORIENT"), ("use_offset", True))
        constraints.append(ConstraintSpec("turn 1", ROOT, "COPY_LOCATION", "origin", along))
    for k in range(1, len(spec.bones) + 1) if spec.twist else ():
        constraints += _constraints_of_twist(spec, k)
    for k, is_still in enumerate(spec.is_still, 1):
        if not is_still:
            after = (*LOCAL, ("mix_mode", "AFTER_FULL"))
            constraints.append(ConstraintSpec(f"turn {k}", POSE, "COPY_TRANSFORMS", f"reference {k}", after))
    if not spec.is_flat:
        before = (*LOCAL, ("mix_mode", "BEFORE"))
        constraints.append(ConstraintSpec("turn 1", LINE, "COPY_ROTATION", "target_in_frame", before))
    count = len(spec.bones)
    if formulas.aims(spec):
        axes = axes_of_turn(spec, count)
        constraints.append(_locked(f"turn {count}", IN_PLANE, "target_in_frame", axes, track="Y", about="Z"))
    for k in range(1, count + 1):
        constraints.append(ConstraintSpec(f"bone {k}", POSE, "COPY_TRANSFORMS", f"turn {k}", OWN))
    if spec.stretch:
        constraints.append(ConstraintSpec("bone 1", STRETCH, "COPY_SCALE", "scale", (*LOCAL, ("use_offset", True))))
    return constraints


def _constraints_of_line(spec: Spec) -> list[ConstraintSpec]:
    """What takes the bone for the target there, and has it point away from the root. It swings the shortest way first,
    as far as Blender's arc cosine has that (3e-4), then exactly."""
    bone, axes = "target_in_frame", axes_of(spec)
    is_kept_off = formulas.aims(spec) and formulas.nearest(spec) > 0.0
    in_plane = (*IN_SPACE, (f"use_{axes.name('Z').lower()}", False)) if spec.is_flat and is_kept_off else ()
    constraints = [ConstraintSpec(bone, POSE, "COPY_LOCATION", TARGET, in_plane, space="root" if in_plane else "")]
    if is_kept_off:
        outside = (*IN_SPACE, ("limit_mode", "LIMITDIST_OUTSIDE"), ("distance", formulas.nearest(spec)))
        constraints.append(ConstraintSpec(bone, NOT_NEARER, "LIMIT_DISTANCE", _origin(spec), outside, space="root"))
    if not spec.is_flat:
        swing = (*IN_SPACE, ("track_axis", f"TRACK_NEGATIVE_{axes.name('Y')}"))
        constraints += [
            ConstraintSpec(bone, SWING, "DAMPED_TRACK", _origin(spec), swing, space="root"),
            _locked(bone, IN_PLANE, _origin(spec), axes, track="-Y", about="Z"),
            _locked(bone, ACROSS, _origin(spec), axes, track="-Y", about="X"),
        ]
    if spec.plane == "POLE":
        constraints.append(_locked(bone, FACING, POLE, axes, track="-X", about="Y"))
    return constraints


def _constraints_of_twist(spec: Spec, k: int) -> list[ConstraintSpec]:
    """What turns a bone about its line after its own turn, which has it turned as if the line was Y: about Y, and back
    to where the line is."""
    about, out, tilted = twisted_line(spec, k)
    axes = axes_of_turn(spec, k)
    turns: list[tuple[str, dict[str, float]]] = [("ZXY", {"Z": -about})]
    if abs(out) > ROUNDING or abs(tilted) > ROUNDING:
        turns = [("YXZ", {"X": out}), ("ZXY", {"X": -out, "Z": -about}), ("ZXY", {"X": tilted})]
    constraints = []
    for i, (order, angles) in enumerate(turns):
        fixed = tuple((f"to_min_{axes.name(axis).lower()}_rot", angle) for axis, angle in angles.items())
        in_order = ("to_euler_order", "".join(map(axes.name, order)))
        settings = (*LOCAL, ("map_to", "ROTATION"), ("mix_mode_rot", "AFTER"), in_order, *fixed)
        constraints.append(
            ConstraintSpec(f"turn {k}", TWIST + (f" {i + 1}" if i else ""), "TRANSFORM", "root", settings)
        )
    return constraints


def _locked(bone: str, name: str, target: str, axes: Axes, track: str, about: str) -> ConstraintSpec:
    """A constraint that points one axis of the frame of a bone at a target, turning about another."""
    sign = "NEGATIVE_" if track[0] == "-" else ""
    tracked = ("track_axis", f"TRACK_{sign}{axes.name(track[-1])}")
    locked = ("lock_axis", f"LOCK_{axes.name(about)}")
    return ConstraintSpec(bone, name, "LOCKED_TRACK", target, (*IN_SPACE, tracked, locked), space="root")


def _drivers(spec: Spec) -> list[DriverSpec]:
    drivers: list[tuple[str, str, int, str]] = []
    axes = axes_of(spec)
    if spec.is_moved:
        drivers += [("origin", "location", axis, letter) for axis, letter in enumerate("pqr")]
    if not spec.is_flat:
        drivers.append(("turn 1", "rotation_euler", axes.at("Y"), formulas.swivel(spec)))
    if spec.pole_switch:
        drivers.append(("target_in_frame", f'constraints["{FACING}"].influence', -1, "k"))
    if formulas.is_shaped(spec):
        drivers.append(("span", "location", 0, formulas.to_straight_of(spec)))
    for index, expression in formulas.lengthening(spec).items() if spec.stretch else ():
        drivers.append(("scale", "scale", index, expression))
    for role, expressions in (formulas.folds(spec) | formulas.groups(spec) | formulas.limits(spec)).items():
        drivers += [(role, "location", *numbered) for numbered in enumerate(expressions)]
    if spec.slides:
        drivers.append(("turn 1", "location", axes.at("Y"), formulas.slide(spec)))
    drivers += _drivers_of_turns(spec)
    for k, is_still in enumerate(spec.is_still, 1):
        if not is_still:
            parts = enumerate(_reference_rotation(spec, k))
            drivers += [(f"reference {k}", "rotation_quaternion", *numbered) for numbered in parts]
        drivers.append((f"bone {k}", f'constraints["{POSE}"].influence', -1, "t"))
    return [DriverSpec(*driver, _variables(driver[3], axes)) for driver in drivers]


def _drivers_of_turns(spec: Spec) -> list[tuple[str, str, int, str]]:
    """What turns the bones in the bend plane, and about their lines."""
    lines = [twisted_line(spec, k) for k in range(1, len(spec.bones) + 1)] if spec.twist else []
    drivers = [driver for k, line in enumerate(lines, 1) for driver in _drivers_of_twist(spec, k, line)]
    for k, turn in enumerate(formulas.turn_expressions(spec, [line.about for line in lines]), 1):
        if turn == formulas.NONE:
            continue
        drivers.append((f"turn {k}", "rotation_euler", axes_of_turn(spec, k).at("Z"), turn))
    return drivers


def _drivers_of_twist(spec: Spec, k: int, line: TwistedLine) -> list[tuple[str, str, int, str]]:
    """What turns a bone about its line, and first back about that of the bone above."""
    role, axes = f"turn {k}", axes_of_turn(spec, k)
    path = f'constraints["{TWIST}"].to_min_{axes.name("Y").lower()}_rot'
    drivers = [(role, path, -1, formulas.twist(spec, k))]
    if k > 1:
        drivers.append((role, "rotation_euler", axes.at("Y"), formulas.untwist(spec, k - 1)))
    if abs(line.tilted) > ROUNDING:
        drivers.append((role, "rotation_euler", axes.at("X"), formulas.number(-line.tilted)))
    return drivers


def _reference_rotation(spec: Spec, k: int) -> list[str]:
    """The own rotation of a bone in the reference, as a quaternion in the axes of the helper bone."""
    w, *about = spec.reference_rotations[k - 1]
    about_in_bone = axes_of_turn(spec, k).rest[:3, :3].T @ np.array(spec.axes[k - 1]).reshape(3, 3) @ np.array(about)
    return [formulas.number(component) for component in (w, *about_in_bone)]


def _variables(expression: str, axes: Axes) -> tuple[DriverVariable, ...]:
    return tuple(_variable(letter, axes) for letter in letters_of(expression))


def _variable(letter: str, axes: Axes) -> DriverVariable:
    match LETTERS[letter]:
        case SliderLetter(slider=slider):
            return DriverVariable(
                letter, PROPERTY, (DriverRead("last", slider_of(slider).key, item=slider_of(slider).bone),)
            )
        case LocationLetter(axis=axis):
            return DriverVariable(letter, PROPERTY, (DriverRead("bone 1", f"location[{axis}]", CHANNEL),))
        case NumberLetter(role=role, axis=axis):
            return DriverVariable(letter, PLACE, (DriverRead(role, f"LOC_{axis}", AS_SET),))
        case TargetLetter(axis=""):  # how far from where it rests: the root does not move in its own space
            return DriverVariable(
                letter, DISTANCE, (DriverRead("target_in_frame", "", BELOW_PARENT), DriverRead("root", "", AS_SET))
            )
        case TargetLetter(axis=axis):
            return DriverVariable(
                letter, PLACE, (DriverRead("target_in_frame", f"LOC_{axes.name(axis)}", BELOW_PARENT),)
            )
