"""What a limb needs to run on the rig itself, as plain data: bones, constraints, drivers and properties.

Two bones of the mechanism hold the solution: the own rotation of the upper and of the lower bone, as their rotation in
the armature's space, so that they need no parent and nothing that carries the limb matters to them. The visible bones
copy it in their local space, by as much as the influence. What they are turned by is measured in the frame F by a bone
that copies the target's place (``MCH-target``): its own location is in F's axes, however F is scaled or mirrored.
"""

from __future__ import annotations

from math import cos
from typing import Any, NamedTuple

from bpy.types import PoseBone
from mathutils import Matrix, Quaternion, Vector

from ..rig.access import ArmatureObject, path_to_bone, upper_of
from ..rig.settings import CONSTRAINT, FLAT, ON_RIG
from ..rig.targets import Target
from ..solver.chain import Features
from ..solver.limb import Limb
from ..solver.record import Node
from ..solver.triangle import Settings
from . import formulas
from .expressions import call, cut, text, variables_of
from .formulas import NATIVE

COLLECTION = "Planar IK"
"""The bone collection of all mechanisms."""

ALWAYS = frozenset(("bend", "influence"))
"""The settings that are custom properties whether or not they are animated."""


class Inherit(NamedTuple):
    """What a bone takes over from its parent."""

    rotation: bool = True
    scale: Any = "FULL"
    local_location: bool = True


FULLY = Inherit()


class Bone(NamedTuple):
    """A bone of the mechanism, with its rest pose in the armature's space and what is set in its channels for good."""

    role: str
    name: str
    matrix: Matrix
    length: float
    parent: str = ""
    inherit: Inherit = Inherit()
    rotation_mode: Any = "QUATERNION"
    channels: dict[str, Any] = {}  # noqa: RUF012 (never changed)


class Constraint(NamedTuple):
    """A constraint on a bone, by its type, with what is set on it."""

    bone: str
    name: str
    type: str
    settings: dict[str, Any]


class Variable(NamedTuple):
    """What a driver reads: of a bone a channel of its place (``LOC_X``), or the property at a path from the object."""

    name: str
    bone: str
    path: str


class Driver(NamedTuple):
    """A driver of a property of a bone, at a path from the bone; of the whole property, or of one of its numbers."""

    bone: str
    path: str
    channel: int
    expression: str
    variables: tuple[Variable, ...]


class Property(NamedTuple):
    """A custom property of a bone that animators see."""

    bone: str
    setting: str
    value: float


class Mechanism(NamedTuple):
    """All that one limb needs; bones come after their parents."""

    bones: tuple[Bone, ...]
    constraints: tuple[Constraint, ...]
    drivers: tuple[Driver, ...]
    properties: tuple[Property, ...]


class Wanted(NamedTuple):
    """What a chain is to do: its targets, its settings, and which of these are custom properties."""

    target: Target
    pole: Target | None
    settings: dict[str, Any]
    exposed: frozenset[str]
    animated: frozenset[str] = frozenset()
    swing_side: float = 1.0
    moving: tuple[int, ...] = ()
    """Along which of its axes the upper bone has a location of its own."""


def design(lower: PoseBone, limb: Limb, wanted: Wanted, taken: set[str]) -> Mechanism:
    """The mechanism for a limb; ``taken`` are names of bones that it can't have, to which its own are added."""
    return Designer(lower, limb, wanted, taken, lower.id_data).design()


class Designer:
    """Writes down one mechanism, part by part."""

    def __init__(self, lower: PoseBone, limb: Limb, wanted: Wanted, taken: set[str], host: ArmatureObject) -> None:
        self.lower, self.upper = lower, upper_of(lower)
        self.limb, self.wanted, self.taken, self.host = limb, wanted, taken, host
        self.bones: list[Bone] = []
        self.constraints: list[Constraint] = []
        self.drivers: list[Driver] = []
        self.holder = self.add_holder()
        self.sources: dict[str, tuple[str, str]] = {
            formulas.SETTINGS[name].parts[0]: (self.holder, f'["{ON_RIG}{name}"]')
            for name in wanted.exposed & formulas.SETTINGS.keys()
        }
        self.letters = iter("acghijlow")
        """For pieces of formulas that are too long for one driver."""
        self.is_flat = wanted.settings["plane"] == "REST"
        self.values = solver_values(wanted)
        self.features = features(wanted)

    def design(self) -> Mechanism:
        """The whole mechanism."""
        axes = _matrix(*self.limb.axes)
        frame = axes if self.is_flat else _line_axes(self.limb)
        root, inherit = self.add_frame()
        self.measure("target", self.wanted.target, frame, root, inherit, "xyz")
        if self.wanted.pole:
            self.measure("pole", self.wanted.pole, frame, root, inherit, "pqr")
        self.add_turns(axes, frame)
        self.copy_rotations(root, inherit)
        properties = tuple(
            Property(self.holder, name, self.wanted.settings[name]) for name in sorted(self.wanted.exposed)
        )
        return Mechanism(tuple(self.bones), tuple(self.constraints), tuple(self.drivers), properties)

    def add_holder(self) -> str:
        """The bone that has the custom properties."""
        return self.lower.name

    def add_parent(self) -> str:
        """The upper bone's parent, if it has one."""
        return self.upper.parent.name if self.upper.parent else ""

    def add_frame(self) -> tuple[str, Inherit]:
        """What measures hang on, and how: the upper bone's parent, if F stands still in it, else a bone of its own that
        is where the upper bone would be, unturned and unscaled."""
        parent, inherit = self.add_parent(), _inherit(self.upper)
        if not self.wanted.moving and (not parent or inherit == Inherit()):
            return parent, Inherit()
        name = self.add("frame", self.upper.bone.matrix_local, parent, inherit)
        for axis in self.wanted.moving:
            self.sources["l"] = (self.upper.name, f"location[{axis}]")
            self.drive(name, "location", axis, Node("input", "l"))
        return name, Inherit()

    def measure(self, role: str, target: Target, frame: Matrix, parent: str, inherit: Inherit, letters: str) -> None:
        """Add a bone that measures where a target is in F, in axes given in F."""
        bone = self.add(role, self.upper.bone.matrix_local @ frame.to_4x4(), parent, inherit)
        at = {"target": target.object, "subtarget": target.bone}
        self.constrain(bone, role, "COPY_LOCATION", at | self.measuring())
        # It poses nothing. Without an IK solver that depends on what moves, Blender evaluates every bone of the
        # armature again whenever one bone's target moves; with it, only what hangs on the target.
        self.constrain(bone, f"{role} (evaluates less)", "IK", at | {"chain_count": 1, "mute": True})
        for letter, axis in zip(letters, "XYZ", strict=True):
            self.sources[letter] = (bone, f"LOC_{axis}")

    def measuring(self) -> dict[str, Any]:
        """In which space a target's place is copied, if not in the world's."""
        return {}

    def add_turns(self, axes: Matrix, frame: Matrix) -> None:
        """Add the bones that hold the solution."""
        limb, swung = self.limb, self.features.swung
        side = 1.0 if swung else self.values.bend
        line = self.add_line(frame)
        turned = self.add_shape(side) if self.features.shaped else formulas.turned(limb.bones, self.is_flat, side)
        straight, aside, bent = (Quaternion(turn) for turn in limb.knee_turns)
        upper = self.add_turning(
            "upper", frame @ axes.inverted() if line else Matrix.Identity(3), limb.axes[2], limb.axes[1], line
        )
        self.drive(upper, "rotation_axis_angle", 0, turned.line if line else formulas.line_in_plane() + turned.line)
        normal, across = (_vector(straight.conjugated() @ each) for each in (bent, aside))
        lower = self.add_turning("lower", straight.to_matrix(), normal, across, "")
        self.drive(lower, "rotation_axis_angle", 0, -turned.knee)
        if isinstance(self.values.stretch, Node) or self.values.stretch > 0.0:
            self.stretch(upper, lower)

    def add_line(self, frame: Matrix) -> str:
        """Add the bone that turns into the plane, with its y axis on the target line; none where that is fixed."""
        if self.is_flat and not self.features.swung:
            return ""
        line = self.add("line", self.placed(frame), rotation_mode="YXZ")
        if self.is_flat:
            self.drive(line, "rotation_euler", 2, formulas.line_in_plane())
            return line
        turns = formulas.line_in_space(bool(self.wanted.pole))
        for index, turn in ((2, turns.about_z), (0, turns.about_x), (1, turns.about_y)):
            self.drive(line, "rotation_euler", index, turn)
        return line

    def add_shape(self, side: Any) -> formulas.Turned:
        """Add the pieces that softness, stretch and limits need."""
        shape = formulas.shape(self.limb.bones, self.is_flat, self.values)
        self.piece("f", shape.far)
        self.factor = shape.stretch
        return formulas.turned_shaped(self.limb.bones, side)

    def add_turning(self, role: str, rest: Matrix, normal: Any, across: Any, parent: str) -> str:
        """Add a bone that turns about an axis of its own: the plane's normal, or where the bend swings it."""
        axis = formulas.swung_axis(normal, across, self.values.bend, self.wanted.swing_side)
        if not self.features.swung:
            axis = list(normal)
        constants = [0.0 if variables_of(each) else float(text(each)) for each in axis]
        channels = {"rotation_axis_angle": (0.0, *constants)}
        name = self.add(role, self.placed(rest), parent, rotation_mode="AXIS_ANGLE", channels=channels)
        for index, each in enumerate(axis, 1):
            if variables_of(each):
                self.drive(name, "rotation_axis_angle", index, each)
        return name

    def stretch(self, upper: str, lower: str) -> None:
        """Lengthen the bones by a factor."""
        factor = self.factor
        if self.wanted.settings["stretch_volume"] == "VOLUME":
            factor = self.piece("k", factor)
            self.drive(upper, "scale", 0, 1.0 / NATIVE.sqrt(NATIVE.maximum(factor, 1e-9)))
            self.drive(upper, "scale", 2, 1.0 / NATIVE.sqrt(NATIVE.maximum(factor, 1e-9)))
        self.drive(upper, "scale", 1, factor)
        is_even = self.wanted.settings["stretch_volume"] == "UNIFORM"
        power = {"use_make_uniform": True, "power": 3.0} if is_even else {}
        inherited = self.lower.bone.inherit_scale
        inherits = inherited == "ALIGNED" or (is_even and not inherited.startswith("NONE"))
        for bone in (self.upper,) if inherits else (self.upper, self.lower):
            self.copy(bone.name, upper, "COPY_SCALE", {"use_offset": True, **power})

    def copy_rotations(self, root: str, inherit: Inherit) -> None:
        """Let the visible bones copy the solution, by as much as the influence."""
        upper, lower = self.name("upper"), self.name("lower")
        self.copy(self.upper.name, upper, "COPY_ROTATION", self.influence(self.upper.name))
        if self.lower.bone.use_inherit_rotation:
            self.copy(self.lower.name, lower, "COPY_ROTATION", self.influence(self.lower.name))
            return
        # It is not turned with the upper bone: what it would be if it were, two more bones say.
        turned = self.add("carry", self.upper.bone.matrix_local, root, inherit)
        self.copy(turned, upper, "COPY_ROTATION", {})
        bent = self.add("shin", self.lower.bone.matrix_local, turned)
        self.copy(bent, lower, "COPY_ROTATION", {})
        self.copy(self.lower.name, bent, "COPY_ROTATION", self.influence(self.lower.name) | {"owner_space": "POSE"})

    def influence(self, bone: str) -> dict[str, Any]:
        """How much of the solution a visible bone takes over: a setting for its constraint, or a driver."""
        if "influence" not in self.wanted.exposed:
            return {"influence": self.wanted.settings["influence"]}
        share = formulas.SETTINGS["influence"]
        if "enabled" in self.wanted.exposed:
            share = formulas.guarded(share * formulas.SETTINGS["enabled"])
        self.drive(bone, f'constraints["{CONSTRAINT}"].influence', -1, share)
        return {}

    def copy(self, bone: str, source: str, kind: str, settings: dict[str, Any]) -> None:
        """Let a bone copy in its own space what a bone of the mechanism has in the armature's."""
        at = {"target": self.host, "subtarget": source, "owner_space": "LOCAL", "target_space": "POSE"}
        if bone in (self.lower.name, self.upper.name):
            at["mute"] = not self.wanted.settings["enabled"] and "enabled" not in self.wanted.exposed
        name = CONSTRAINT if kind == "COPY_ROTATION" else f"{CONSTRAINT} Stretch"
        self.constrain(bone, name, kind, at | settings)

    def piece(self, letter: str, formula: Any) -> Node:
        """Work out a part of a formula once, in a custom property of the bone that measures the target."""
        holder, path = self.name("target"), f'["{ON_RIG}{letter}"]'
        self.sources[letter] = (holder, path)
        self.drive(holder, path, -1, formula)
        return Node("input", letter)

    def placed(self, rest: Matrix) -> Matrix:
        """A rest pose turned in the armature's space, at the limb's root."""
        return Matrix.Translation(self.upper.bone.head_local) @ rest.to_4x4()

    def add(self, role: str, matrix: Matrix, parent: str = "", inherit: Inherit = FULLY, **more: Any) -> str:
        """Add a bone under a name of its own."""
        name = f"MCH-{role}-{self.lower.name}"
        number = 1
        while name in self.taken:
            name = f"MCH-{role}{number}-{self.lower.name}"
            number += 1
        self.taken.add(name)
        self.bones.append(Bone(role, name, matrix, 0.3 * self.upper.bone.length, parent, inherit, **more))
        return name

    def name(self, role: str) -> str:
        """The name of a bone by its role."""
        return next(bone.name for bone in self.bones if bone.role == role)

    def constrain(self, bone: str, name: str, kind: str, settings: dict[str, Any]) -> None:
        """Add a constraint."""
        self.constraints.append(Constraint(bone, name, kind, settings))

    def drive(self, bone: str, path: str, channel: int, formula: Any) -> None:
        """Drive a property by a formula of what is measured."""
        formula, pieces = cut(formula, self.letters)
        for letter, piece in pieces:
            self.piece(letter, formulas.guarded(piece))
        variables = tuple(Variable(letter, *self.sources[letter]) for letter in variables_of(formula))
        self.drivers.append(Driver(bone, path, channel, text(formula), variables))


def solver_values(wanted: Wanted) -> Settings:
    """The solver's settings: numbers, or the variables of custom properties."""
    given = wanted.settings | {name: formulas.SETTINGS[name] for name in wanted.exposed & formulas.SETTINGS.keys()}
    cosines = [_squared_cosine(given[name]) for name in ("min_angle", "max_angle")]
    is_limited = isinstance(given["max_angle"], Node) or given["max_angle"] < FLAT
    return Settings(
        given["bend"],
        given["softness"],
        given["stretch"],
        given["stretch_max"],
        cosines[0],
        cosines[1] if is_limited else 0.0,
        given["influence"],
        wanted.swing_side,
    )


def features(wanted: Wanted) -> Features:
    """Which parts of the formula a chain needs: what is off and stays off costs nothing."""
    given = wanted.settings
    animated = wanted.exposed - ALWAYS
    shaped = given["softness"] > 0.0 or given["stretch"] > 0.0 or given["min_angle"] > 0.0 or given["max_angle"] < FLAT
    shaped = shaped or bool(animated & {"softness", "stretch", "min_angle", "max_angle"})
    return Features(shaped, needs_swing(wanted), True)


def needs_swing(wanted: Wanted) -> bool:
    """Whether the knee may swing between the sides: six drivers more, and Blender evaluates all drivers of an object
    as soon as one of them must be."""
    return "bend" in wanted.animated or abs(wanted.settings["bend"]) < 1.0


def moving_root(lower: PoseBone, animated: set[str]) -> tuple[int, ...]:
    """Along which of its axes the upper bone has a location of its own: set, or animated."""
    upper = upper_of(lower)
    if upper.bone.use_connect and upper.parent:
        return ()
    if property_path(upper.name, "location") in animated:
        return (0, 1, 2)
    return tuple(axis for axis, number in enumerate(upper.location[:]) if number)


def _squared_cosine(angle: Any) -> Any:
    if not isinstance(angle, Node):
        return cos(angle / 2.0) ** 2
    cosine = call("cos", angle / 2.0)
    return cosine * cosine


def property_path(bone: str, path: str) -> str:
    """The path from the object to what is at a path from a bone."""
    return path_to_bone(bone) + (path if path.startswith("[") else f".{path}")


def _vector(quaternion: Any) -> tuple[float, ...]:
    return tuple(quaternion)[1:]


def _matrix(along: Any, _across: Any, normal: Any) -> Matrix:
    """The axes of F's measures, as columns: y along, z the normal."""
    along, normal = Vector(along), Vector(normal)
    return Matrix((along.cross(normal), along, normal)).transposed()


def _line_axes(limb: Limb) -> Matrix:
    """The axes in which the limb's rest line is along y, and z is the normal made square to it."""
    along, across, normal = map(Vector, limb.axes)
    turn = Quaternion(limb.rest_turn)
    pointing = turn @ Vector((1.0, 0.0, 0.0))
    tip = limb.r1 * along + limb.r2 * (pointing.x * along + pointing.y * across + pointing.z * normal)
    line = tip.normalized() if tip.length > 1e-6 * (limb.r1 + limb.r2) else along
    normal = (normal - line * normal.dot(line)).normalized()
    return _matrix(line, None, normal)


def _inherit(bone: PoseBone) -> Inherit:
    of = bone.bone
    return Inherit(of.use_inherit_rotation, of.inherit_scale, of.use_local_location)
