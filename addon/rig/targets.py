"""Where targets and poles are, and what carries them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import bpy
from bpy.types import Depsgraph, Object, PoseBone
from mathutils import Vector

from .access import bones_of, path_to_bone

Carrier = tuple[Object, str]
"""An object, or with a name a bone of it."""

_BONE_IN_PATH = re.compile(r'pose\.bones\["((?:[^"\\]|\\.)*)"\]')


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
        if self.bone and self.bone not in bones_of(self.object):
            return f"'{self.object.name}' has no bone '{self.bone}'"
        return ""

    def position(self, depsgraph: Depsgraph) -> Vector:
        """Its place in the world: an object's origin, a bone's head."""
        evaluated = self.object.evaluated_get(depsgraph)
        if self.bone:
            return evaluated.matrix_world @ evaluated.pose.bones[self.bone].head  # type: ignore[union-attr]  # every frame
        return evaluated.matrix_world.translation

    def carriers(self) -> set[Carrier]:
        """Everything that the target moves with, itself included."""
        return carriers([(self.object, self.bone)])


def carriers(start: list[Carrier]) -> set[Carrier]:
    """All objects and bones that can move those given: parents, and the targets of constraints and drivers."""
    found: set[Carrier] = set()
    waiting = list(start)
    while waiting:
        carrier = waiting.pop()
        if carrier not in found:
            found.add(carrier)
            waiting.extend(_carriers_of(*carrier))
    return found


def _carriers_of(ob: Object, bone_name: str) -> Iterator[Carrier]:
    if bone_name and ob.pose and bone_name in ob.pose.bones:
        yield from _carriers_of_bone(ob, ob.pose.bones[bone_name])
        return
    if ob.parent:
        yield (ob.parent, ob.parent_bone if ob.parent_type == "BONE" else "")
    yield from _constraint_targets(ob)
    yield from _driver_targets(ob)


def _carriers_of_bone(ob: Object, bone: PoseBone) -> Iterator[Carrier]:
    yield (ob, "")
    if bone.parent:
        yield (ob, bone.parent.name)
    yield from _constraint_targets(bone)
    for other in bones_of(ob):
        if any(constraint.type in {"IK", "SPLINE_IK"} for constraint in other.constraints):
            yield from _constraint_targets(other)
    yield from _driver_targets(ob, path_to_bone(bone.name))


def _constraint_targets(owner: Any) -> Iterator[Carrier]:
    for constraint in owner.constraints:
        for of in (constraint, *getattr(constraint, "targets", ())):
            if getattr(of, "target", None):
                yield (of.target, getattr(of, "subtarget", ""))
        if getattr(constraint, "pole_target", None):
            yield (constraint.pole_target, constraint.pole_subtarget)


def _driver_targets(ob: Object, bone_path: str = "") -> Iterator[Carrier]:
    for curve in ob.animation_data.drivers if ob.animation_data else ():
        path = curve.data_path
        if path.startswith(bone_path) if bone_path else not path.startswith("pose.bones"):
            for variable in curve.driver.variables if curve.driver else ():
                for target in variable.targets:
                    if isinstance(target.id, Object):
                        named = _BONE_IN_PATH.match(target.data_path) if variable.type == "SINGLE_PROP" else None
                        yield (target.id, bpy.utils.unescape_identifier(named[1]) if named else target.bone_target)
