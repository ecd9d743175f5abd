"""The mechanism of a limb to whose armature no bones can be added: it stands in an annex."""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone
from mathutils import Matrix

from ...rig.data.rotation import rotation_channel
from ...rig.settings import CONSTRAINT
from ...solver.record import Node
from .design import Designer
from .measuring import SIDEWAYS
from .parts import Place


class DesignerApart(Designer):
    """Writes down a mechanism in an annex, whose pose space stands for the rig's, wherever the rig is.

    The bones that hold the solution are turned in the annex's space as the limb's in their own. So are bones with the
    limb's own rotation, by drivers, which take the solution over by as much as the influence, and are copied.
    """

    def add_holder(self) -> str:
        """Add the bones that the limb's bones copy; that of the lower one has the custom properties."""
        self.own = {bone.name: self.add_own(role, bone) for role, bone in (("hip", self.upper), ("knee", self.lower))}
        return self.own[self.lower.name]

    def add_own(self, role: str, bone: PoseBone) -> str:
        """Add a bone with a bone's own rotation, in the armature's space."""
        rest = Matrix.Identity(3) if bone.bone.use_inherit_rotation else bone.bone.matrix_local.to_3x3()
        return self.add(role, self.origin @ rest.to_4x4(), rotation_mode=bone.rotation_mode)

    @property
    def origin(self) -> Matrix:
        """A place at the limb's root, unturned."""
        return Matrix.Translation(self.upper.bone.head_local)

    def place_upper(self) -> Place:
        """Nothing that carries the limb matters to what holds its solution."""
        place = Place(self.origin)
        return Place(self.origin, *self.add_tilt("slope", place)) if self.may_be_flat else place

    def carry_line(self, place: Place, frame: Matrix) -> str:
        """Add a bone that turns as what measures the target does."""
        rest = place.rest @ (frame @ SIDEWAYS).to_4x4()
        line = self.add("swing", rest, place.parent, place.inherit)
        spaces = {"owner_space": "LOCAL", "target_space": "LOCAL"}
        self.constrain(
            line, "line", "COPY_TRANSFORMS", {"target": self.host, "subtarget": self.name("target")} | spaces
        )
        return line

    def place_lower(self, _upper: str) -> Place:
        """Where the bone stands that holds the lower bone's solution."""
        return Place(self.origin)

    def measuring(self) -> dict[str, Any]:
        """In the rig's space."""
        return {"target_space": "CUSTOM", "space_object": self.lower.id_data, "owner_space": "POSE"}

    def add_parent(self) -> str:
        """Add a bone that is where the upper bone's parent is."""
        parent = self.upper.parent
        if parent is None:
            return ""
        name = self.add("parent", parent.bone.matrix_local)
        spaces = {"owner_space": "POSE", "target_space": "POSE"}
        at = {"target": self.lower.id_data, "subtarget": parent.name}
        self.constrain(name, "parent", "COPY_TRANSFORMS", at | spaces)
        return name

    def take_over(self) -> None:
        """Let the bones with the limb's own rotation take over the solution, and the limb's bones copy those."""
        for bone in (self.upper, self.lower):
            channel = rotation_channel(bone.rotation_mode)
            for index in range(len(getattr(bone, channel))):
                self.sources["l"] = (bone.name, f"{channel}[{index}]")
                self.drive(self.own[bone.name], channel, index, Node("input", "l"))
        upper, lower = self.name("upper"), self.name("lower")
        self.hand_on(self.upper.name, upper)
        if self.lower.bone.use_inherit_rotation:
            self.hand_on(self.lower.name, lower)
            return
        # It is not turned with the upper bone: what it would be if it were, two more bones say.
        turned = self.add("carry", self.upper.bone.matrix_local, *self.base)
        self.copy_rotation(turned, upper)
        bent = self.add("shin", self.lower.bone.matrix_local, turned)
        self.copy_rotation(bent, lower)
        self.hand_on(self.lower.name, bent, owner_space="POSE")

    def hand_on(self, bone: str, source: str, **spaces: str) -> None:
        """Hand on what a bone of the mechanism holds to a bone of the limb."""
        self.blend(self.own[bone], source)
        self.copy_rotation(bone, self.own[bone], mute=self.is_muted, **spaces)

    def copy_rotation(self, bone: str, source: str, **settings: Any) -> None:
        """Let a bone copy in its own space what another has in the annex's."""
        at = {"target": self.host, "subtarget": source, "owner_space": "LOCAL", "target_space": "POSE"}
        self.constrain(bone, CONSTRAINT, "COPY_ROTATION", at | settings)
