"""What a chain follows: its target and its pole."""

from __future__ import annotations

from bpy.types import Depsgraph, Object
from mathutils import Vector

from .access import has_bone


class Target:
    """An object or a bone whose place a chain follows."""

    __slots__ = ("bone", "object")

    def __init__(self, target: Object, bone: str) -> None:
        self.object = target
        self.bone = bone

    @classmethod
    def read(cls, target: Object | None, subtarget: str) -> Target | None:
        """The target that two properties name, or None; a bone's name counts for armatures only."""
        if target is None:
            return None
        return cls(target, subtarget if target.type == "ARMATURE" else "")

    def problem(self) -> str:
        """What keeps the target from being followed, as a sentence."""
        if self.bone and not has_bone(self.object, self.bone):
            return f"'{self.object.name}' has no bone '{self.bone}'"
        return ""

    def position(self, depsgraph: Depsgraph) -> Vector:
        """Its place in the world: an object's origin, a bone's head."""
        evaluated = self.object.evaluated_get(depsgraph)
        if self.bone:
            return evaluated.matrix_world @ evaluated.pose.bones[self.bone].head  # type: ignore[union-attr]  # every frame
        return evaluated.matrix_world.translation
