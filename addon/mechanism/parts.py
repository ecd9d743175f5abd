"""The parts of a mechanism as plain data, before Blender has them: bones, constraints and drivers.

Parts refer to each other by role, and to the limb's own bones as "bone 1", "bone 2", "last" and "parent". The roles:

    root     hangs on the limb's parent as the first bone does, and does nothing; all others hang below it
    measure  goes to the target: its place is that of the target in the frame G, below whatever parents
    line     (FREE, POLE) turns with the line from root to target
    side     (POLE) hangs on the line and goes to the pole: its place says where that is aside of the line
    gone     (softness, knee limits) holds by how much the limb goes less far than straight, as its place along X
    turn 1   turns as the limb's first bone does from the reference: about the normal, about the line, with the line
    turn 2   turns as the second does against the first: about the normal
    length   (stretch) has the scale of the limb's bones
    group 1  (three and four bones) holds how far bones that keep together are bent; and group 2
    fold     (neighbours that keep together, with an ankle) holds how far they are bent at rest
    most     (these) holds the largest share of that, along X
    still 1  (where the reference is a pose) is turned as the bone itself is in the reference; and still 2

All of them rest in the axes of G, in the order that the spec's seat says, at the limb's root. The limb's bones take
over the local transforms of their turns, each in its own axes.
"""

from __future__ import annotations

from functools import lru_cache
from math import cos
from typing import Any, NamedTuple

import numpy as np

from ..limb.settings import MADE_BY_US, SLIDER
from ..solver.matrices import rotation, unit
from . import formulas
from .spec import Spec, seat_in

PLACE, DISTANCE, PROPERTY = "TRANSFORMS", "LOC_DIFF", "SINGLE_PROP"
BELOW_PARENT, AS_SET = "LOCAL_SPACE", "TRANSFORM_SPACE"
"""Where a bone is, with its constraints, seen from its parent; and its channels themselves, without rounding."""

POSE, LINE, STRETCH = (MADE_BY_US + name for name in ("Pose", "Line", "Stretch"))
"""The names of constraints."""


class Bone(NamedTuple):
    """A bone by its role, what it hangs on, its rest pose in the armature's space (rows of a 4x4 matrix), and its
    rotation mode."""

    role: str
    parent: str
    rest: tuple[float, ...]
    order: str


class Constraint(NamedTuple):
    """A constraint of a bone. ``target`` is the role of a bone of the rig, or ``follow target``, ``follow pole``."""

    bone: str
    name: str
    type: str
    target: str
    settings: tuple[tuple[str, Any], ...] = ()


class Read(NamedTuple):
    """What a variable reads of a bone: a channel of its place in a space, or a custom property (without a space)."""

    bone: str
    what: str
    space: str = ""


class Variable(NamedTuple):
    """What a letter of an expression stands for: one thing read, or how far two bones are from each other."""

    letter: str
    type: str
    reads: tuple[Read, ...]


class Driver(NamedTuple):
    """A driver of a property of a bone, at a path from the bone; of one of its numbers, or of all of it (-1)."""

    bone: str
    path: str
    channel: int
    expression: str
    variables: tuple[Variable, ...]


class Parts(NamedTuple):
    """All that one limb needs; bones come after their parents. ``rests`` is where they rest, column by column."""

    bones: tuple[Bone, ...]
    constraints: tuple[Constraint, ...]
    drivers: tuple[Driver, ...]
    rests: Any


ROLES = {"root", "measure", "line", "side", "gone", "length", "group 1", "group 2", "fold", "most"}
ROLES |= {f"{kind} {k}" for kind in ("turn", "still") for k in range(1, 5)}

SLIDERS = {"f": "flip", "s": "swivel", "k": "pole", "u": "softness", "e": "stretch", "t": "influence", "n": "ankle"}
"""The letters of the settings that animate."""

OF_GROUPS = {
    "j": ("group 1", "X"),
    "a": ("group 1", "Y"),
    "c": ("group 1", "Z"),
    "h": ("group 2", "X"),
    "b": ("group 2", "Y"),
    "v": ("fold", "X"),
    "w": ("fold", "Y"),
    "o": ("most", "X"),
}
"""The letters of what the bones of groups and folds say, along their own axes."""

LOCAL = (("owner_space", "LOCAL"), ("target_space", "LOCAL"))
OWN = (("owner_space", "LOCAL"), ("target_space", "LOCAL_OWNER_ORIENT"), ("mix_mode", "REPLACE"))


def parts_of(spec: Spec) -> Parts:
    """The parts that a spec asks for."""
    return _parts_of(spec._replace(bones=("",) * len(spec.bones), last="", parent=""))


@lru_cache(4096)
def _parts_of(spec: Spec) -> Parts:
    bones = tuple(_bones(spec))
    rests = np.array([bone.rest for bone in bones]).reshape(-1, 4, 4).transpose(0, 2, 1).reshape(-1, 16)
    return Parts(bones, tuple(_constraints(spec)), tuple(_drivers(spec)), rests)


class Axes(NamedTuple):
    """The rest pose of bones (4x4), and which of their axes lies along which of the frame that they rest in."""

    frame: Any
    seat: int

    def at(self, axis: str) -> int:
        """Of a bone, the axis that lies along this one of the frame: X, Y or Z as 0, 1 or 2."""
        return ("XYZ".index(axis) - self.seat) % 3

    @property
    def order(self) -> str:
        """The order of rotations in which a turn about the frame's Z comes before one about its Y."""
        return "".join("XYZ"[self.at(axis)] for axis in "ZXY")

    @property
    def rest(self) -> Any:
        """The rest pose of the bones, as a 4x4 matrix."""
        matrix = self.frame.copy()
        matrix[:3, :3] = matrix[:3, [(i + self.seat) % 3 for i in range(3)]]
        return matrix


def _axes(spec: Spec, role: str = "") -> Axes:
    """The axes of a part. Z is the axis that a bone turns about: of the second that is not G's, if the first bone
    turned by itself in the reference, since turns are from rest."""
    base = Axes(np.array(spec.frame).reshape(4, 4), spec.seat)
    if all(spec.is_still) or role in ("", "turn 1", "still 1"):
        return base
    k = int(role[-1]) - 1
    about = (
        np.array(spec.axes[k]).reshape(3, 3) @ rotation(spec.reference_rotations[k])[:3, :3] @ np.array(spec.normals[k])
    )
    frame = base.frame.copy()
    frame[:3, 0] = unit(np.cross(frame[:3, 1], about), frame[:3, 2])
    frame[:3, 1], frame[:3, 2] = np.cross(about, frame[:3, 0]), about
    return Axes(frame, seat_in(frame, base.rest))


def _bones(spec: Spec) -> list[Bone]:
    roles = [("root", "parent"), ("measure", "root")]
    if spec.plane != "HINGE":
        roles.append(("line", "root"))
    if spec.plane == "POLE":
        roles.append(("side", "line"))
    if formulas.is_shaped(spec):
        roles.append(("gone", "root"))
    if spec.stretch:
        roles.append(("length", "root"))
    roles += [(role, "root") for role in (*formulas.folds(spec), *formulas.groups(spec))]
    bones = [Bone(role, parent, _flat(_axes(spec).rest), "QUATERNION") for role, parent in roles]
    for k, is_still in enumerate(spec.is_still, 1):
        axes = _axes(spec, f"turn {k}")
        bones.append(Bone(f"turn {k}", "root", _flat(axes.rest), axes.order))
        if not is_still:
            bones.append(Bone(f"still {k}", "root", _flat(axes.rest), "QUATERNION"))
    return bones


def _flat(matrix: Any) -> tuple[float, ...]:
    return tuple(map(float, matrix.ravel()))


def _constraints(spec: Spec) -> list[Constraint]:
    made = [Constraint("measure", POSE, "COPY_LOCATION", "follow target")]
    if spec.plane == "POLE":
        made.append(Constraint("side", POSE, "COPY_LOCATION", "follow pole"))
    for k, is_still in enumerate(spec.is_still, 1):
        if not is_still:
            after = (*LOCAL, ("mix_mode", "AFTER_FULL"))
            made.append(Constraint(f"turn {k}", POSE, "COPY_TRANSFORMS", f"still {k}", after))
    if spec.plane != "HINGE":
        made.append(Constraint("turn 1", LINE, "COPY_TRANSFORMS", "line", (*LOCAL, ("mix_mode", "BEFORE_FULL"))))
    made += [Constraint(f"bone {k}", POSE, "COPY_TRANSFORMS", f"turn {k}", OWN) for k in range(1, len(spec.bones) + 1)]
    if spec.stretch:
        made.append(Constraint("bone 1", STRETCH, "COPY_SCALE", "length", (*LOCAL, ("use_offset", True))))
    return made


def _drivers(spec: Spec) -> list[Driver]:
    made: list[tuple[str, str, int, str]] = []
    axes = _axes(spec)
    tip = sum(length * cos(angle) for length, angle in zip(spec.lengths, spec.angles, strict=True))
    made.append(("measure", "location", axes.at("Y"), formulas.number(tip)))  # where nothing is followed
    if spec.plane != "HINGE":
        for part, expression in formulas.line_turn(spec).items():
            made.append(("line", "rotation_quaternion", part and 1 + axes.at("XYZ"[part - 1]), expression))
        made.append(("turn 1", "rotation_euler", axes.at("Y"), formulas.roll(spec)))
    if formulas.is_shaped(spec):
        made.append(("gone", "location", 0, formulas.gap(spec)))
    for index, expression in formulas.lengthening(spec).items() if spec.stretch else ():
        made.append(("length", "scale", index, expression))
    for role, expressions in (formulas.folds(spec) | formulas.groups(spec)).items():
        made += [(role, "location", *part) for part in enumerate(expressions)]
    for k, turn in enumerate(formulas.turns(spec), 1):
        made.append((f"turn {k}", "rotation_euler", _axes(spec, f"turn {k}").at("Z"), turn))
        if not spec.is_still[k - 1]:
            made += [(f"still {k}", "rotation_quaternion", *part) for part in enumerate(_still(spec, k))]
        made.append((f"bone {k}", f'constraints["{POSE}"].influence', -1, "t"))
    return [Driver(*driver, _variables(driver[3], axes)) for driver in made]


def _still(spec: Spec, k: int) -> list[str]:
    """The own rotation of a bone in the reference, as a quaternion in the axes of the mechanism's."""
    w, *about = spec.reference_rotations[k - 1]
    turned = _axes(spec, f"still {k}").rest[:3, :3].T @ np.array(spec.axes[k - 1]).reshape(3, 3) @ np.array(about)
    return [formulas.number(part) for part in (w, *turned)]


def _variables(expression: str, axes: Axes) -> tuple[Variable, ...]:
    return tuple(_variable(letter, axes) for letter in formulas.letters_of(expression))


def _variable(letter: str, axes: Axes) -> Variable:
    if letter in SLIDERS:
        return Variable(letter, PROPERTY, (Read("last", SLIDER[SLIDERS[letter]].key),))
    if letter in "dm":  # how far from where it rests: the root does not move in its own space
        bone = "measure" if letter == "d" else "side"
        return Variable(letter, DISTANCE, (Read(bone, "", BELOW_PARENT), Read("root", "", AS_SET)))
    if letter == "g":
        return Variable(letter, PLACE, (Read("gone", "LOC_X", AS_SET),))
    if letter in OF_GROUPS:
        bone, axis = OF_GROUPS[letter]
        return Variable(letter, PLACE, (Read(bone, f"LOC_{axis}", AS_SET),))
    bone, axis = ("side", {"p": "X", "q": "Z"}[letter]) if letter in "pq" else ("measure", letter.upper())
    return Variable(letter, PLACE, (Read(bone, "LOC_" + "XYZ"[axes.at(axis)], BELOW_PARENT),))
