"""What a chain follows: its target and its pole."""

from __future__ import annotations

from math import sqrt
from typing import Any

from bpy.types import Depsgraph, Object
from mathutils import Matrix, Quaternion, Vector

from .data.access import bones_of, has_bone, path_to_bone
from .data.animation import curves_of
from .data.rotation import rotation_channel

GOALS = (("target", "subtarget"), ("pole_target", "pole_subtarget"))
"""The settings that say what a chain follows, of its target and of its pole: the object, and the bone by its name."""

AWAY = 1e-4
"""How far a location may be from what its F-curve says, next to its size."""


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

    def is_known(self, depsgraph: Depsgraph) -> bool:
        """Whether what is evaluated has the bone by its name: one renamed in Edit Mode it has with the next update."""
        return not self.bone or has_bone(self.object.evaluated_get(depsgraph), self.bone)

    @property
    def path(self) -> str:
        """The data path of its own location."""
        return self._path("location")

    @property
    def rotation_path(self) -> str:
        """The data path of its own rotation."""
        owner: Any = bones_of(self.object)[self.bone] if self.bone else self.object
        return self._path(rotation_channel(owner.rotation_mode))

    def _path(self, channel: str) -> str:
        return f"{path_to_bone(self.bone)}.{channel}" if self.bone else channel

    def is_left_behind(self, depsgraph: Depsgraph) -> bool:
        """Whether its location is not what the F-curves of its action say of this frame."""
        data: Any = self.object.animation_data
        if data is None or data.nla_tracks:
            return False
        scene: Any = depsgraph.scene_eval
        evaluated: Any = self.object.evaluated_get(depsgraph)
        location = evaluated.path_resolve(self.path)
        for curve in curves_of(data):
            if curve.data_path == self.path and not curve.mute:
                wanted = curve.evaluate(scene.frame_current_final)
                if abs(location[curve.array_index] - wanted) > AWAY * (1.0 + abs(wanted)):
                    return True
        return False

    def position(self, depsgraph: Depsgraph) -> Vector:
        """Where the target is in the world: an object's origin, a bone's head."""
        evaluated = self.object.evaluated_get(depsgraph)
        if self.bone:
            return evaluated.matrix_world @ evaluated.pose.bones[self.bone].head  # type: ignore[union-attr]  # every frame
        return evaluated.matrix_world.translation

    def matrix(self, depsgraph: Depsgraph) -> Matrix:
        """The target's transform in the world."""
        evaluated = self.object.evaluated_get(depsgraph)
        world: Matrix = evaluated.matrix_world
        return world @ bones_of(evaluated)[self.bone].matrix if self.bone else world


def unsheared_turn(matrix: Matrix) -> Quaternion:
    """How a transform is turned, as Blender's *Copy Rotation* reads it: where it is sheared, its Y axis stays, and X
    and Z come to lie across that and each other by equal turns. What is mirrored is read as if it was so in all axes.
    """
    x, y, z = (matrix.to_3x3() * (-1.0 if matrix.is_negative else 1.0)).col
    x, z = ((axis - axis.project(y)).normalized() for axis in (x, z))
    middle, across = (z + x).normalized(), (z - x).normalized()
    axes = Matrix((middle - across, y.normalized() * sqrt(2.0), middle + across))
    return (axes.transposed() * sqrt(0.5)).to_quaternion()


def pointed_to(settings: Any) -> list[tuple[Any, str]]:
    """The target and the pole that a chain's settings name, as objects (or None) and names of bones, whether or not
    these exist or are followed."""
    return [(getattr(settings, goal), getattr(settings, bone)) for goal, bone in GOALS]


def followed(settings: Any, or_will: bool = False) -> tuple[Target | None, Target | None]:
    """The target and the pole that a chain with these settings follows, None for what it lacks. The pole counts in the
    plane of a pole only, or always with ``or_will``: the plane may be that of a pole in other frames."""
    target = Target.read(settings.target, settings.subtarget)
    if settings.plane != "POLE" and not or_will:
        return target, None
    return target, Target.read(settings.pole_target, settings.pole_subtarget)
