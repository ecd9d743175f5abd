"""What mechanisms are made of, as plain data: bones, constraints, drivers and custom properties."""

from __future__ import annotations

from typing import Any, NamedTuple

from bpy.types import PoseBone
from mathutils import Matrix

from ...rig.data.access import path_to_bone

COLLECTION = "Planar IK"
"""The bone collection of all mechanisms."""


DISTANCE = "LOC_DIFF"
"""What a driver reads of a bone instead of a channel."""


class Inherit(NamedTuple):
    """What a bone takes over from its parent."""

    rotation: bool = True
    scale: Any = "FULL"
    local_location: bool = True

    @property
    def is_by_own_axes(self) -> bool:
        """Whether what a bone takes over depends on the orientation that it has itself."""
        return self.scale in ("FIX_SHEAR", "ALIGNED")

    @classmethod
    def of(cls, pose_bone: PoseBone) -> Inherit:
        """What a bone of the rig takes over."""
        bone = pose_bone.bone
        return cls(bone.use_inherit_rotation, bone.inherit_scale, bone.use_local_location)


FULLY = Inherit()


class Place(NamedTuple):
    """Where a bone stands at rest, in the armature's space, what it hangs on, and how; and whether it is mirrored there
    along its X axis."""

    rest: Matrix
    parent: str = ""
    inherit: Inherit = FULLY
    is_mirrored: bool = False


class Bone(NamedTuple):
    """A bone of the mechanism: its rest pose in the armature's space, and its roll in Edit Mode.

    Only channels that are driven say anything of it. Whoever resets the pose of all bones, as exporters do, then
    changes nothing.
    """

    role: str
    name: str
    matrix: Matrix
    length: float
    parent: str = ""
    inherit: Inherit = Inherit()
    rotation_mode: Any = "QUATERNION"
    roll: float = 0.0


class Constraint(NamedTuple):
    """A constraint on a bone, by its type, with what is set on it."""

    bone: str
    name: str
    type: str
    settings: dict[str, Any]


class Variable(NamedTuple):
    """What a driver reads: of a bone a channel of its place (``LOC_X``) or how far it is from where it rests
    (`DISTANCE`), or the property at a path from the object."""

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


def property_path(bone: str, path: str) -> str:
    """The path from the object to what is at a path from a bone."""
    return path_to_bone(bone) + (path if path.startswith("[") else f".{path}")
