"""What a limb needs to run on the rig itself, as plain data: bones, constraints, drivers and properties.

Two bones of the mechanism hold the solution: they have the same parents as the limb's own bones, and drivers turn them
by the solution. The limb's own bones take it over, by the influence (`blending`). The places that the drivers need are
measured in the frame F (`measuring`).
"""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone
from mathutils import Matrix, Quaternion, Vector

from ...rig.settings import BY_NAME, CONSTRAINT
from ...solver.record import Node
from . import formulas
from .blending import holding, is_mirrored, takeover
from .expressions import constant
from .measuring import Measurer
from .parts import FULLY, Mechanism, Place, Property
from .rest import is_square, own_axis, plane_axes, smooth_side

FIRST = ("XYZ", "YXZ", "ZXY")
"""Orders of Euler angles by the axis that comes first: a turn about that alone is never said by the other angles."""

POINTING = 1e-5
"""How far aside of its knee, as a sine, an upper bone may point and just get longer."""


class Designer(Measurer):
    """Decides what one mechanism is made of."""

    def design(self) -> Mechanism:
        """The whole mechanism."""
        axes = plane_axes(*self.limb.axes)
        frame = axes if self.is_flat else plane_axes(*self.limb.line_axes)
        self.measure_goals(frame)
        self.add_turns(axes, frame)
        self.take_over()
        if isinstance(self.values.stretch, Node) or self.values.stretch > 0.0:
            self.stretch()
        properties = tuple(
            Property(self.holder, name, BY_NAME[name].number_of(self.wanted.settings[name]))
            for name in sorted(self.wanted.exposed)
        )
        return Mechanism(tuple(self.bones), tuple(self.constraints), tuple(self.drivers), properties)

    def add_turns(self, axes: Matrix, frame: Matrix) -> None:
        """Add the bones that hold the solution."""
        limb = self.limb
        side = 1.0 if self.wanted.swings else self.values.bend
        place = self.place_upper()
        line = self.add_line(place, frame)
        turned = self.add_shape(side) if self.wanted.is_shaped else formulas.turned(limb.bones, self.is_flat, side)
        straight, aside, bent = map(Quaternion, limb.knee_turns)
        roll = None if self.is_flat else self.roll()
        if roll is not None and not self.rolls_itself:
            line, roll = self.add_roll(line, roll), None
        if line:
            place = Place(place.rest @ (frame @ axes.inverted()).to_4x4(), line)
        turn = turned.line if line else formulas.line_in_plane() + turned.line
        upper = self.add_turning("upper", place, limb.axes[2], limb.axes[1], turn, roll)
        normal, across = ((straight.conjugated() @ each)[1:] for each in (bent, aside))
        place = self.place_lower(upper)
        place = place._replace(rest=place.rest @ straight.to_matrix().to_4x4())
        lower = self.add_turning("lower", place, normal, across, -turned.knee)
        if "lower_twist" in self.wanted.exposed:
            along = (straight.conjugated() @ Vector(limb.lower_axes[0])).y
            self.twist(lower, -along if place.is_mirrored else along)

    def twist(self, lower: str, along: float) -> None:
        """Add the bone that an animated twist turns about the length of the lower one."""
        name = self.add("twist", self.rest_of(lower), lower, rotation_mode="YXZ")
        self.drive(name, "rotation_euler", 1, formulas.guarded(along * formulas.TWIST))

    def place_upper(self) -> Place:
        """Where the bone stands that holds the upper bone's solution."""
        return Place(self.upper.bone.matrix_local, *self.root)

    def place_lower(self, upper: str) -> Place:
        """Where the bone stands that holds the lower bone's solution. A lower bone that is not turned with the upper
        one is to stand as if it were, with the whole solution."""
        rest = self.lower.bone.matrix_local
        if self.lower.bone.use_inherit_rotation:
            return Place(rest, self.upper.name, holding(self.lower))
        rest = self.rest_of(upper) @ self.upper.bone.matrix_local.inverted() @ rest
        return Place(rest, upper, is_mirrored=is_mirrored(self.upper))  # which it does not take over either

    def add_line(self, place: Place, frame: Matrix) -> str:
        """What turns the limb's plane at rest, with its y axis on the target line; none where that is fixed."""
        if not self.is_flat:
            return self.carry_line(place, frame)
        if not (self.wanted.swings or self.is_hinged):
            return ""
        line = self.add("line", place.rest @ frame.to_4x4(), place.parent, place.inherit, rotation_mode="YXZ")
        self.drive(line, "rotation_euler", 2, formulas.line_in_plane())
        if self.is_hinged:
            self.drive(line, "rotation_euler", 1, formulas.guarded(-formulas.HINGE))
            self.drive(line, "rotation_euler", 0, constant(0.0))
        return line

    def carry_line(self, _place: Place, _frame: Matrix) -> str:
        """What turns to the target line as the plane of `SWING` does. It is where the target is, but where a bone
        stands that holds a solution does not matter to those that take it over."""
        return self.name("target")

    def roll(self) -> Node | None:
        """The turn about the target line that puts the limb into its plane, if anything does."""
        exposed, angle = self.wanted.exposed, None
        if self.wanted.pole:
            angle = (formulas.INPUTS if "pole_angle" in exposed else self.wanted.settings)["pole_angle"]
        return formulas.roll(self.limb.bones, angle, self.is_hinged, "plane" in exposed)

    @property
    def rolls_itself(self) -> bool:
        """Whether what turns by the solution can also turn about the target line: axes that lean are not along it."""
        along, _, normal = self.limb.axes
        if not is_square(self.upper.bone.matrix_local):
            return False
        is_along = own_axis(along) == 1 and along[1] > 0.0
        return not (self.wanted.swings or self.is_hinged) and (is_along or own_axis(normal) is None)

    def add_roll(self, line: str, turn: Node) -> str:
        """Add a bone that turns about the target line."""
        name = self.add("line", self.rest_of(line), line, rotation_mode="YXZ")
        self.drive(name, "rotation_euler", 1, turn)
        return name

    def add_shape(self, side: Any) -> formulas.TriangleAngles:
        """Add the pieces that softness, stretch and limits need."""
        shape = formulas.shape(self.limb.bones, self.is_flat, self.values)
        self.piece("f", shape.far)
        self.factor = shape.stretch
        return formulas.turned_shaped(self.limb.bones, side)

    def add_turning(
        self, role: str, place: Place, normal: Any, across: Any, turn: Node, roll: Node | None = None
    ) -> str:
        """Add a bone that turns by the solution about the plane's normal, or the axis that bend and hinge angle make of
        that, and first about its length by ``roll``. Return the bone that holds the solution: the same one if the
        normal is one of its own axes, else a bone below it."""
        index = own_axis(normal)
        if index is None or place.is_mirrored or self.wanted.swings or self.is_hinged:
            return self.add_holding(role, place, self.add_axis(role, place, normal, across, turn, roll))
        name = self.add(role, *place[:3], rotation_mode=FIRST[index])
        self.drive(name, "rotation_euler", index, formulas.towards(normal[index], turn))
        if roll is not None:
            self.drive(name, "rotation_euler", 1, roll)
        return name

    def add_axis(self, role: str, place: Place, normal: Any, across: Any, turn: Node, roll: Node | None) -> str:
        """Add a bone whose Y axis is the normal, and Z across the limb, so that it turns about these."""
        rest, parent, inherit, _ = place
        if inherit.is_by_own_axes:
            parent, inherit = self.add(f"{role}-seat", rest, parent, inherit), FULLY
        side = smooth_side(rest.to_3x3() @ Vector(normal), self.rest_of(parent))
        y, z = side * Vector(normal), Vector(across)
        rest = rest @ Matrix([each[:] for each in (y.cross(z), y, z)]).transposed().to_4x4()
        is_still = not (self.wanted.swings or self.is_hinged)
        name = self.add(f"{role}-axis", rest, parent, inherit, rotation_mode=FIRST[1] if is_still else "AXIS_ANGLE")
        if is_still:
            self.drive(name, "rotation_euler", 1, formulas.towards(side, turn))
            if roll is not None:
                self.drive(name, "rotation_euler", 0, formulas.towards(-side, roll))
            return name
        bend = self.values.bend if self.wanted.swings else 1.0
        axis = formulas.axis(bend, self.wanted.swing_side, self.is_hinged)
        for index, each in ((0, turn), (2, formulas.towards(side, axis.normal)), (3, axis.across)):
            self.drive(name, "rotation_axis_angle", index, each)
        return name

    def add_holding(self, role: str, place: Place, axis: str) -> str:
        """Add a bone that stands as a limb's bone does with the solution, below one that turns about another axis."""
        if not place.is_mirrored:
            return self.add(role, place.rest, axis)
        name = self.add(role, place.rest @ Matrix.Diagonal((1.0, -1.0, -1.0, 1.0)), axis)
        for index in range(3):
            self.drive(name, "scale", index, -1.0)
        return name

    def stretch(self) -> None:
        """Lengthen the bones by a factor."""
        volume = "" if "stretch_volume" in self.wanted.exposed else self.wanted.settings["stretch_volume"]
        along = Vector(self.limb.axes[0])
        is_aside = volume != "UNIFORM" and max(abs(along.x), abs(along.z)) > POINTING
        if is_aside or not volume:
            self.factor = self.piece(next(self.letters), self.factor)
        if is_aside:
            self.stretch_aside(volume, along)
            return
        factors = self.add("stretch", Matrix())
        self.lengthen(factors, self.factor, volume)
        is_even = volume == "UNIFORM"
        power = {"use_make_uniform": True, "power": 3.0} if is_even else {}
        inherited = self.lower.bone.inherit_scale
        inherits = inherited == "ALIGNED" or (is_even and not inherited.startswith("NONE"))
        for bone in (self.upper,) if inherits else (self.upper, self.lower):
            self.copy_scale(bone.name, factors, power)

    def stretch_aside(self, volume: str, along: Vector) -> None:
        """Stretch a limb whose upper bone does not point at its knee: lengthen that bone until the knee is as far as
        it should be, and turn it so that the knee stays in line. The lower bone is kept from both."""
        aside = Vector((along.x, along.z)).length
        grown = self.piece(next(self.letters), formulas.grown(self.factor, along.y, volume))
        turn = formulas.turn_back(grown, along.y, aside, volume)
        axis = Vector((along.z, 0.0, -along.x)) / aside
        self.carry_size(self.upper, "stretch", axis, turn, grown, volume, "AFTER_SPLIT")
        bone = self.lower.bone
        rests: Any = bone.matrix_local.to_3x3().inverted() @ self.upper.bone.matrix_local.to_3x3()
        turn = -turn if bone.use_inherit_rotation else constant(0.0)
        factor = formulas.besides(self.factor, grown) if bone.inherit_scale == "ALIGNED" else self.factor
        self.carry_size(self.lower, "shrink", rests @ axis, turn, factor, volume, "BEFORE_SPLIT")

    def carry_size(
        self, bone: PoseBone, role: str, axis: Vector, turn: Node, factor: Any, volume: str, mix: str
    ) -> None:
        """Let a bone of the limb be turned about an axis of its own frame and lengthened, after all else or before."""
        side = smooth_side(axis, Matrix())
        rest = plane_axes(side * axis, None, axis.orthogonal().normalized()).to_4x4()
        turned = self.add(f"{role}-turn", rest, rotation_mode=FIRST[1])
        self.drive(turned, "rotation_euler", 1, formulas.towards(side, turn))
        factors = self.add(role, Matrix(), turned)
        self.lengthen(factors, factor, volume)
        at = {"target": self.host, "subtarget": factors, "owner_space": "LOCAL", "target_space": "POSE"}
        self.constrain(
            bone.name, f"{CONSTRAINT} Stretch", "COPY_TRANSFORMS", at | {"mix_mode": mix, "mute": self.is_muted}
        )

    def lengthen(self, bone: str, factor: Any, volume: str) -> None:
        """Scale a bone of the mechanism to be ``factor`` times as long, and as wide as ``volume`` says; if empty, the
        variable of that setting says so."""
        self.drive(bone, "scale", 1, factor)
        for index in () if volume else (0, 2):
            self.drive(bone, "scale", index, formulas.width(factor))
        if volume == "VOLUME":
            self.constrain(bone, "volume", "MAINTAIN_VOLUME", {"owner_space": "LOCAL"})

    def take_over(self) -> None:
        """Let the visible bones take over the solution, by as much as the influence."""
        lower = "twist" if "lower_twist" in self.wanted.exposed else "lower"
        for bone, role in ((self.upper.name, "upper"), (self.lower.name, lower)):
            self.blend(bone, self.name(role), self.is_muted)

    def blend(self, bone: str, source: str, is_muted: bool = False) -> None:
        """Let a bone take over what another holds."""
        share = self.influence(bone)
        self.constraints += takeover(self.host, bone, source, self.surroundings.world, share, is_muted)

    @property
    def is_muted(self) -> bool:
        """Whether the chain is switched off for good."""
        return not self.wanted.settings["enabled"] and "enabled" not in self.wanted.exposed

    def influence(self, bone: str) -> dict[str, Any]:
        """How much of the solution a visible bone takes over: a setting for its constraint, or a driver."""
        if "influence" not in self.wanted.exposed:
            return {"influence": self.wanted.settings["influence"]}
        share = formulas.INPUTS["influence"]
        if "enabled" in self.wanted.exposed:
            share = formulas.guarded(share * formulas.INPUTS["enabled"])
        self.drive(bone, f'constraints["{CONSTRAINT}"].influence', -1, share)
        return {}

    def copy_scale(self, bone: str, source: str, settings: dict[str, Any]) -> None:
        """Let a bone be scaled in its own space by what a bone of the mechanism is scaled by in the armature's."""
        at = {"target": self.host, "subtarget": source, "owner_space": "LOCAL", "target_space": "POSE"}
        also = {"use_offset": True, "mute": self.is_muted}
        self.constrain(bone, f"{CONSTRAINT} Stretch", "COPY_SCALE", at | also | settings)
