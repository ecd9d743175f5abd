"""Where a limb's target and pole are in the frame F, as bones of its mechanism measure it.

The upper bone's frame F is its pose with its own channels at identity. What stands in it is measured by a bone that
copies its place: the own location of that is in F's axes, however F is scaled or mirrored.

For planes in space, the bone that measures the target also turns the shortest way to the target line, as `SWING` does,
by constraints: these cost a tenth of what drivers do. Damped Track turns the right way, but by an angle that is off by
up to 3e-4; Locked Track brings the axis onto the line, about one other axis and then the third. It keeps what it finds
where the target is at the root, and opposite the rest line it is half a turn about the bone's X axis: the normal.
"""

from __future__ import annotations

from math import pi
from typing import Any

from bpy.types import PoseBone
from mathutils import Matrix

from ...rig.settings import ON_RIG
from ...rig.targets import Target
from ...solver.limb import Limb
from ...solver.record import Node
from ..wanted import Wanted, solver_values
from . import formulas
from .draft import Draft
from .formulas import NOISE
from .parts import DISTANCE, FULLY, Inherit, Place
from .rest import is_square, keeps_axes, plane_axes, smooth_side
from .surroundings import Surroundings

FLAT = "flat"
"""The name of the constraint that keeps a target in the plane at rest."""

SIDEWAYS = Matrix(((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)))
"""Turns axes about Y so that X is where Z was."""


class Measurer(Draft):
    """Decides by which bones one mechanism measures what its limb follows."""

    base: tuple[str, Inherit]
    """What stands in F, and how that is taken over from it."""
    root: tuple[str, Inherit]
    """What measures hang on, and how: in F as well, or turned with the limb's plane."""

    def __init__(self, lower: PoseBone, limb: Limb, wanted: Wanted, surroundings: Surroundings) -> None:
        super().__init__(lower, surroundings)
        self.limb, self.wanted = limb, wanted
        self.holder = self.add_holder()
        self.sources |= {
            formulas.INPUTS[name].parts[0]: (self.holder, f'["{ON_RIG}{name}"]')
            for name in wanted.exposed & formulas.INPUTS.keys()
        }
        self.is_flat = wanted.planes == {"REST"}
        self.may_be_flat = "REST" in wanted.planes and not self.is_flat
        self.values = solver_values(wanted)
        self.is_hinged = "hinge_angle" in wanted.exposed

    def add_holder(self) -> str:
        """The bone that has the custom properties."""
        return self.lower.name

    def measure_goals(self, frame: Matrix) -> None:
        """Add all that measures target and pole, in axes given in F."""
        self.base = self.root = self.add_frame(frame)
        if self.may_be_flat:
            self.root = self.add_tilt("tilt", Place(self.upper.bone.matrix_local, *self.base))
        if self.is_hinged:
            self.root = self.add_hinge(frame)
        if self.is_flat:
            self.measure("target", self.wanted.target, frame, "xyz", *self.root)
            return
        frame = frame @ SIDEWAYS
        target = self.measure("target", self.wanted.target, frame, "", *self.root)
        self.sources["y"] = (target, DISTANCE)
        if self.may_be_flat:
            self.flatten(target)
        self.swing(target)
        if self.wanted.pole:
            self.measure("pole", self.wanted.pole, frame, "pqr", target)

    def add_parent(self) -> str:
        """The upper bone's parent, if it has one."""
        return self.upper.parent.name if self.upper.parent else ""

    def add_frame(self, frame: Matrix) -> tuple[str, Inherit]:
        """What measures hang on, and how: the upper bone's parent, if F stands still in it, and Blender keeps such axes
        below it as they have, else a bone of its own that is where the upper bone would be, unturned and unscaled. It
        points across the limb where only its own axes would lean, unless what it does depends on them."""
        parent, inherit, rest = self.add_parent(), Inherit.of(self.upper), self.upper.bone.matrix_local
        is_still = not self.wanted.moving and (not parent or inherit == FULLY)
        if is_still and all(keeps_axes(each, self.rest_of(parent)) for each in (rest, rest @ frame.to_4x4())):
            return parent, FULLY
        is_free = is_square(rest) and not (self.wanted.moving or inherit.is_by_own_axes)
        if is_free and smooth_side(rest.to_3x3().col[1], self.rest_of(parent)) < 0.0:
            rest = rest @ _across(frame.col[1].x)
        name = self.add("frame", rest, parent, inherit)
        for axis in self.wanted.moving:
            self.sources["l"] = (self.upper.name, f"location[{axis}]")
            self.drive(name, "location", axis, Node("input", "l"))
        return name, Inherit()

    def measure(
        self, role: str, target: Target, frame: Matrix, letters: str, parent: str, inherit: Inherit = FULLY
    ) -> str:
        """Add a bone that measures where a target is, in axes given in F, and what each of three letters stands for."""
        bone = self.add(role, self.upper.bone.matrix_local @ frame.to_4x4(), parent, inherit)
        at = {"target": target.object, "subtarget": target.bone}
        self.constrain(bone, role, "COPY_LOCATION", at | self.measuring())
        if self.surroundings.is_sparse:
            # It poses nothing. Without an IK solver that depends on what moves, Blender evaluates every bone of the
            # armature again whenever one bone's target moves; with it, only what hangs on the target.
            self.constrain(bone, f"{role} (evaluates less)", "IK", at | {"chain_count": 1, "mute": True})
        for letter, axis in zip(letters, "XYZ", strict=False):
            self.sources[letter] = (bone, f"LOC_{axis}")
        return bone

    def flatten(self, bone: str) -> None:
        """Keep a bone in the plane at rest while the limb bends in that."""
        limits: dict[str, Any] = {"use_min_x": True, "use_max_x": True, "owner_space": "LOCAL"}
        self.constrain(bone, FLAT, "LIMIT_LOCATION", limits)
        self.drive(bone, f'constraints["{FLAT}"].influence', -1, formulas.where("plane", "REST", 1.0, 0.0))

    def swing(self, bone: str) -> None:
        """Let a bone turn the shortest way that has its Y axis point away from the root, which is where it rests."""
        world = {"subtarget": self.surroundings.world, "target_space": "CUSTOM", "space_object": self.host}
        rest = {"target": self.host, "owner_space": "LOCAL", **world, "space_subtarget": self.surroundings.world}
        self.constrain(bone, "swing", "DAMPED_TRACK", rest | {"track_axis": "TRACK_NEGATIVE_Y"})
        for axis in "XZ":
            lock = {"track_axis": "TRACK_NEGATIVE_Y", "lock_axis": f"LOCK_{axis}"}
            self.constrain(bone, f"swing ({axis})", "LOCKED_TRACK", rest | lock)

    def measuring(self) -> dict[str, Any]:
        """In which space a target's place is copied, if not in the world's."""
        return {}

    def add_tilt(self, role: str, place: Place) -> tuple[str, Inherit]:
        """Add a bone that turns the axes of the rest line to those of the limb's own plane while it bends in that."""
        axes, frame = plane_axes(*self.limb.axes), plane_axes(*self.limb.line_axes)
        tilt = self.add(role, place.rest @ frame.to_4x4(), place.parent, place.inherit, rotation_mode="XYZ")
        angles: Any = (frame.inverted() @ axes).to_euler("XYZ")
        for index, angle in enumerate(angles):
            if abs(angle) > NOISE:
                self.drive(tilt, "rotation_euler", index, formulas.where("plane", "REST", angle, 0.0))
        return tilt, FULLY

    def add_hinge(self, frame: Matrix) -> tuple[str, Inherit]:
        """Add the bone that an animated hinge angle turns the plane at rest by, on which its measures hang."""
        hinge = self.add("hinge", self.upper.bone.matrix_local @ frame.to_4x4(), *self.root, rotation_mode="YXZ")
        x, _, z = frame.col
        turn = formulas.HINGE if self.is_flat else formulas.hinge_turn(*self.limb.axes[1:], x, z)
        if self.may_be_flat:
            turn = formulas.where("plane", "REST", formulas.HINGE, turn)
        self.drive(hinge, "rotation_euler", 1, turn)
        return hinge, FULLY


def _across(side: float) -> Matrix:
    """Turns a bone about its Z axis, so that it points along its X axis, or the other way, whichever is this side."""
    return Matrix.Rotation(-pi / 2.0 if side >= 0.0 else pi / 2.0, 4, "Z")
