"""What the chains of one object share in one evaluated frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bpy.types import Depsgraph, Object
from mathutils import Matrix

from ..rig.anatomy import is_even, size_of

if TYPE_CHECKING:
    from ..rig.access import ArmatureObject

SAME_SIZE = 1e-6
"""How much the size of what carries a limb may differ, in single precision, and still count as unchanged."""


class Frame:
    """One object as it stands in one evaluated frame."""

    def __init__(self, evaluated: ArmatureObject, depsgraph: Depsgraph, has_changed: bool) -> None:
        self.evaluated = evaluated
        self.depsgraph = depsgraph
        self.has_changed = has_changed
        self._bones = evaluated.pose.bones
        self._from_world = evaluated.matrix_world.inverted_safe()
        self._spaces = {"": self._from_world}
        self._sizes: dict[str, float] = {}
        self._shown: set[Any] = set()

    def shows(self, ob: Object) -> bool:
        """Whether Blender surely evaluates an object here: what is hidden it does only if something shown needs it."""
        if self.depsgraph.mode == "VIEWPORT" and ob.visible_get(view_layer=self.depsgraph.view_layer):
            return True  # to go through all objects takes longer
        if not self._shown:
            self._shown = {each.original for each in self.depsgraph.ids}
        return ob in self._shown

    def space(self, bone: str) -> Matrix:
        """What takes the world to the pose of a bone, or without a name to the armature."""
        space = self._spaces.get(bone)
        if space is None:
            space = self._spaces[bone] = self._bones[bone].matrix.inverted_safe() @ self._from_world
        return space

    def has_size(self, bone: str, size: float) -> bool:
        """Whether a bone's pose is scaled evenly, to within rounding as much as it was."""
        if bone not in self._sizes:
            matrix = self._bones[bone].matrix if bone else Matrix()
            self._sizes[bone] = size_of(matrix) if is_even(matrix) else 0.0
        return abs(self._sizes[bone] - size) <= SAME_SIZE * size
