"""What a limb's mechanism is made of: one small plain value, from which all its parts follow; and how its helper bones
rest: along what their axes lie, and where in these the limb's own lines are. What is made of it is plain data before
Blender has it: helper bones, constraints and drivers, which refer to bones by the roles that they have for the limb."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import asin, atan2, cos, isclose, pi, sin
from typing import Any, NamedTuple

import numpy as np

from ..solver import groups, limb
from ..solver.matrices import rotation, unit_array
from .tolerances import ON_TARGET

Numbers = tuple[float, ...]


class Spec(NamedTuple):
    """Everything that a mechanism is a function of. Bones are the first of each segment of the limb, from the root
    down; ``last_bone`` is the limb's last, ``parent`` what the limb hangs on ("" for nothing).

    In the armature's rest space: ``frame`` is G (rows of a 4x4 matrix), ``axes`` are those of each bone at rest (rows
    of a 3x3 matrix), ``heads`` where each begins. ``angles`` are those of the bones off the line in the reference; in
    the axes of each bone there, ``normals`` is the bend plane's normal and ``directions`` that to the next joint;
    ``reference_rotations`` are the bones' own rotations there. ``axis_shift`` says along which axis of G the helper
    bones point: Y, Z or X; with ``copies_rest`` their root rests as the first bone does, whose axes are not square to
    each other; ``outwards`` is the sign of swivel and twist; ``is_moved`` says that the first bone's own location
    moves the root. ``lines`` are the directions from each bone's joint to the next, out of the plane too, where bones
    turn about these. ``features`` are the names of those that the limb has, ``choices`` what it and these are set
    to."""

    bones: tuple[str, ...]
    last_bone: str
    parent: str
    frame: Numbers
    axes: tuple[Numbers, ...]
    heads: tuple[Numbers, ...]
    lengths: Numbers
    angles: Numbers
    normals: tuple[Numbers, ...]
    directions: tuple[Numbers, ...]
    reference_rotations: tuple[Numbers, ...]
    plane: str = "FREE"
    features: tuple[str, ...] = ()
    choices: tuple[tuple[str, Any], ...] = ()
    pole_switch: bool = False
    axis_shift: int = 0
    outwards: float = 1.0
    copies_rest: bool = False
    lines: tuple[Numbers, ...] = ()
    is_moved: bool = False

    def has(self, feature: str) -> bool:
        """Whether the limb has a feature."""
        return feature in self.features

    def choice(self, name: str) -> Any:
        """What a setting that does not animate is set to, of the limb or of a feature that it has."""
        return dict(self.choices)[name]

    @property
    def is_limited(self) -> bool:
        """Whether the knee has a smallest or largest angle."""
        return bool(self.choice("min_angle") > ON_TARGET or self.choice("max_angle") < pi - ON_TARGET)

    @property
    def is_shaped(self) -> bool:
        """Whether the limb may go less far than the target is, though that is in reach."""
        return self.is_limited or self.has("softness") or self.has("root_limits")

    @property
    def aims(self) -> bool:
        """Whether the last bone is turned by aiming at the target: where the tip is to be there, or, too near, on the
        line to it. That costs less than a driver."""
        return not (self.is_shaped or self.has("ankle") or self.has("twist"))

    @property
    def is_flat(self) -> bool:
        """Whether the limb stays in its plane."""
        return self.plane in limb.IN_ONE_PLANE

    @property
    def is_zigzag(self) -> bool:
        """Which bones of more than two keep together, see `limb.geometry`."""
        return groups.is_zigzag(self.angles)

    @property
    def is_still(self) -> tuple[bool, ...]:
        """For each bone, whether its own rotation in the reference is none."""
        return tuple(max(map(abs, rotation[1:])) < 1e-9 for rotation in self.reference_rotations)


def to_json(spec: Spec) -> str:
    """A spec as text."""
    return json.dumps(spec._asdict(), separators=(",", ":"))


@lru_cache(4096)
def from_json(text: str) -> Spec | None:
    """The spec that a text says, or None. What is not known of it is left out: it may be of another version of the
    extension."""
    try:
        kept = json.loads(text).items()
        return Spec(**{name: _frozen(value) for name, value in kept if name in Spec._fields})
    except (TypeError, ValueError, AttributeError):
        return None


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def differs(a: Spec, b: Spec) -> bool:
    """Whether a mechanism made of one spec does not fit another. Blender itself follows renames, so that names do not
    count, nor does ``axis_shift``."""
    if a[3:] == b[3:]:
        return False
    numbers, kinds = zip(*map(_compared, (a, b)), strict=True)
    if kinds[0] != kinds[1]:
        return True
    return not all(isclose(*pair, rel_tol=ON_TARGET, abs_tol=ON_TARGET) for pair in zip(*numbers, strict=True))


def _compared(spec: Spec) -> tuple[list[float], tuple[Any, ...]]:
    """What of a spec may differ by `CLOSE`, lengths as parts of the limb's, and what has to be the same exactly."""
    size = max(sum(spec.lengths), 1e-30)
    places = [place / size for place in (*spec.frame[3:12:4], *chain(*spec.heads), *spec.lengths, size * size)]
    directions = chain(*spec.axes, *spec.normals, *spec.directions, *spec.reference_rotations, *spec.lines)
    rows = (number for i, number in enumerate(spec.frame[:12]) if i % 4 != 3)
    numbers = (value for _, value in spec.choices if not isinstance(value, str))
    words = tuple((name, value if isinstance(value, str) else "") for name, value in spec.choices)
    kind = (len(spec.bones), spec.is_zigzag, spec.plane, spec.features, spec.pole_switch, spec.is_limited, words)
    return [*places, *directions, *spec.angles, *rows, spec.outwards, *numbers], kind


ROUGH = -0.9
"""From which component along Y of an armature's or parent's axes on Blender keeps the axes of a bone exactly. Those of
a bone that points along -Y there are off by up to 3e-4."""


def axis_shift_in(frame: Any, parent: Any) -> int:
    """The axis of G, counted on from Y, along which bones keep their axes exactly, also below a parent."""
    for axis_shift in range(3):
        direction = np.asarray(frame)[:3, (1 + axis_shift) % 3]
        if direction[1] > ROUGH and np.linalg.solve(np.asarray(parent)[:3, :3], direction)[1] > ROUGH:
            return axis_shift
    return 0


class Axes(NamedTuple):
    """The rest pose of helper bones (4x4), and which of their axes lies along which of the frame that they rest in."""

    frame: Any
    axis_shift: int

    def at(self, axis: str) -> int:
        """Of a bone, the axis that lies along this one of the frame: X, Y or Z as 0, 1 or 2."""
        return ("XYZ".index(axis) - self.axis_shift) % 3

    def name(self, axis: str) -> str:
        """The same as a letter."""
        return "XYZ"[self.at(axis)]

    @property
    def order(self) -> str:
        """The order of rotations in which a turn about the frame's Z comes before one about its Y."""
        return "".join(map(self.name, "ZXY"))

    @property
    def rest(self) -> Any:
        """The rest pose of the bones, as a 4x4 matrix."""
        matrix = self.frame.copy()
        matrix[:3, :3] = matrix[:3, [(i + self.axis_shift) % 3 for i in range(3)]]
        return matrix


def axes_of(spec: Spec) -> Axes:
    """The axes of the helper bones that rest in G; where the first bone slides, with Y along its line."""
    frame = np.array(spec.frame).reshape(4, 4)
    if spec.plane in limb.MOVES_ROOT:
        half = spec.angles[0] / 2.0
        frame = frame @ rotation((cos(half), 0.0, 0.0, sin(half)))
    return Axes(frame, spec.axis_shift)


def axes_of_turn(spec: Spec, k: int) -> Axes:
    """The axes of the helper bone that turns as the ``k``-th bone does: its Z is what that turns about. The last
    one's Y, if it aims, is the direction to the tip. If bones turn by themselves in the reference, a driver turns
    them before that, and an aim after."""
    if k == 1:
        return axes_of(spec)
    if spec.has("twist"):
        return _axes_below_twist(spec, k)
    is_aimed = k == len(spec.bones) and spec.aims
    to_rest = np.array(spec.axes[k - 1]).reshape(3, 3)
    if not is_aimed:
        to_rest = to_rest @ rotation(spec.reference_rotations[k - 1])[:3, :3]
    frame = np.eye(4)
    frame[:3, 3] = spec.heads[k - 1]
    z = to_rest @ np.array(spec.normals[k - 1])
    x = unit_array(np.cross(to_rest @ np.array(spec.directions[k - 1]), z), frame[:3, 0])
    frame[:3, :3] = np.column_stack((x, np.cross(z, x), z))
    return Axes(frame, axis_shift_in(frame, axes_of_turn(spec, k - 1).rest))


def _axes_below_twist(spec: Spec, k: int) -> Axes:
    """The same where bones have twist: Y is the line of the bone above, about which this one is turned back, and Z what
    it turns about, but for what of that lies along the line."""
    frame = np.eye(4)
    frame[:3, 3] = spec.heads[k - 1]
    y = np.array(spec.axes[k - 2]).reshape(3, 3) @ np.array(spec.lines[k - 2])
    x = unit_array(np.cross(y, _in_reference(spec, k) @ np.array(spec.normals[k - 1])), frame[:3, 0])
    frame[:3, :3] = np.column_stack((x, y, np.cross(x, y)))
    return Axes(frame, axis_shift_in(frame, axes_of_turn(spec, k - 1).rest))


def _in_reference(spec: Spec, k: int) -> Any:
    """The axes of the ``k``-th bone as they are in the reference, where the bones above are at rest (3x3)."""
    return np.array(spec.axes[k - 1]).reshape(3, 3) @ rotation(spec.reference_rotations[k - 1])[:3, :3]


class TwistedLine(NamedTuple):
    """Where the line of a bone is in the frame that its helper bone rests in, as angles in radians: ``about`` the bend
    plane's normal, off Y; ``out`` of that plane; and how far the normal is ``tilted`` about X from Z."""

    about: float
    out: float
    tilted: float


def twisted_line(spec: Spec, k: int) -> TwistedLine:
    """Where the line of the ``k``-th bone is."""
    axes, frame = _in_reference(spec, k), axes_of_turn(spec, k).frame[:3, :3]
    line, normal = (frame.T @ axes @ np.array(own) for own in (spec.lines[k - 1], spec.normals[k - 1]))
    tilted = atan2(normal[1], normal[2])
    x, y, z = rotation((cos(tilted / 2.0), sin(tilted / 2.0), 0.0, 0.0))[:3, :3] @ line
    return TwistedLine(atan2(-x, y), asin(min(max(z, -1.0), 1.0)), tilted)


MADE_BY_US = "Planar IK "
"""What the names of all constraints begin with that are made for limbs."""

ALL = -1
"""The place of a slider that is set for all bones of a limb at once."""

PLACE, DISTANCE, PROPERTY = "TRANSFORMS", "LOC_DIFF", "SINGLE_PROP"


BELOW_PARENT, AS_SET, CHANNEL = "LOCAL_SPACE", "TRANSFORM_SPACE", "CHANNEL"
"""Where a bone is, with its constraints, seen from its parent; its channels themselves, without rounding; and what a
channel is set to, whatever poses the bone."""


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


LOCAL = (("owner_space", "LOCAL"), ("target_space", "LOCAL"))


IN_SPACE = (("owner_space", "CUSTOM"), ("target_space", "CUSTOM"))


class Share(NamedTuple):
    """What a feature adds to a mechanism: helper bones that hold numbers, by role; constraints of those that turn, and
    of the limb's own bones, which copy these; and drivers by role, path, channel and expression."""

    roles: tuple[str, ...] = ()
    turns: tuple[ConstraintSpec, ...] = ()
    copies: tuple[ConstraintSpec, ...] = ()
    drivers: tuple[tuple[str, str, int, str], ...] = ()


def holding(numbers: Mapping[str, Sequence[str]]) -> Share:
    """The parts that hold numbers: helper bones, by role, with an expression for each axis of their place."""
    drivers = (
        (role, "location", axis, text) for role, expressions in numbers.items() for axis, text in enumerate(expressions)
    )
    return Share(roles=tuple(numbers), drivers=tuple(drivers))


def driven(bone: str, path: str, channel: int, expression: str, letter: str, key: str) -> DriverSpec:
    """A driver, by a slider's custom property ``key``, of what the ``bone`` of this role has at a path."""
    variable = DriverVariable(letter, PROPERTY, (DriverRead("last", key),))
    return DriverSpec(bone, path, channel, expression, (variable,))


def spaces(is_near: bool) -> tuple[tuple[str, Any], ...]:
    """The spaces of a constraint: those of the rig for a bone of it (``is_near``), else the world."""
    space = "POSE" if is_near else "WORLD"
    return ("owner_space", space), ("target_space", space)
