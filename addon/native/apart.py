"""The mechanism of a limb to whose armature no bones can be added: it stands in an annex."""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone
from mathutils import Matrix

from ..rig.access import ArmatureObject
from ..rig.rotation import rotation_channel
from ..solver.limb import Limb
from ..solver.record import Node
from .design import Designer, Inherit, Mechanism, Wanted


def design_apart(lower: PoseBone, limb: Limb, wanted: Wanted, taken: set[str], annex: ArmatureObject) -> Mechanism:
    """The mechanism for a limb in an annex; ``taken`` are names of bones, there and in the rig, that it can't have."""
    return _Apart(lower, limb, wanted, taken, annex).design()


class _Apart(Designer):
    """Writes down a mechanism in an annex, whose pose space stands for the rig's, wherever the rig is.

    The share of the solution that the limb takes over is settled there: the limb's bones copy bones that have their own
    rotation, by drivers, and copy the solution by as much as the influence. Blender blends in the world's space, which
    is the same as the annex's: nothing there is scaled.
    """

    def add_holder(self) -> str:
        """Add the bones that the limb's bones copy; that of the lower one has the custom properties."""
        self.own = {bone.name: self.add_own(role, bone) for role, bone in (("hip", self.upper), ("knee", self.lower))}
        return self.own[self.lower.name]

    def add_own(self, role: str, bone: PoseBone) -> str:
        """Add a bone with a bone's own rotation, in the armature's space."""
        rest = Matrix.Identity(3) if bone.bone.use_inherit_rotation else bone.bone.matrix_local.to_3x3()
        return self.add(role, self.placed(rest), rotation_mode=bone.rotation_mode)

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

    def copy_rotations(self, root: str, inherit: Inherit) -> None:
        """Let the bones with the limb's own rotation copy the solution, and the limb's bones those."""
        for bone in (self.upper, self.lower):
            channel = rotation_channel(bone.rotation_mode)
            for index in range(len(getattr(bone, channel))):
                self.sources["l"] = (bone.name, f"{channel}[{index}]")
                self.drive(self.own[bone.name], channel, index, Node("input", "l"))
        super().copy_rotations(root, inherit)

    def influence(self, bone: str) -> dict[str, Any]:
        """How much of the solution the bone that is copied takes over."""
        return super().influence(self.own[bone])

    def copy(self, bone: str, source: str, kind: str, settings: dict[str, Any]) -> None:
        """Let what a bone of the limb is to copy be copied by the bone that it copies."""
        if kind == "COPY_ROTATION" and bone in self.own:
            super().copy(self.own[bone], source, kind, settings)
            spaces = {name: space for name, space in settings.items() if name.endswith("_space")}
            super().copy(bone, self.own[bone], kind, spaces)
        else:
            super().copy(bone, source, kind, settings)
