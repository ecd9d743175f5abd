"""What bones of mechanisms refer to, and which of them nothing refers to any more."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import bpy
from bpy.types import PoseBone

from ...rig.data.access import ArmatureObject, is_armature, is_part, split_path
from ...rig.data.animation import drivers_by_bone
from ...rig.settings import PART
from ...rig.targets import Target
from .annex import is_annex
from .blending import WORLD


def needs_of(bone: PoseBone, drivers: Iterable[Any]) -> Iterator[str]:
    """What a bone of a mechanism depends on, by parent, constraints and these drivers of it."""
    if bone.parent:
        yield bone.parent.name
    for constraint in bone.constraints:
        yield subtarget_of(constraint)
    for curve in drivers:
        for variable in curve.driver.variables:
            target = variable.targets[0]
            yield target.bone_target or split_path(target.data_path)[0]


def subtarget_of(constraint: Any) -> str:
    """The name of the bone that a constraint refers to; empty without one."""
    name: str = getattr(constraint, "subtarget", "")
    return name


def role_of(ob: ArmatureObject, part: str) -> Any:
    """For what a bone was made."""
    return ob.data.bones[part][PART]


def parts_of(ob: ArmatureObject) -> dict[str, str]:
    """The bones that were made for chains, each with what it was made for."""
    bones: Any = ob.data.bones
    return {bone.name: bone[PART] for bone in bones if PART in bone}


def worlds_of(ob: ArmatureObject) -> list[str]:
    """The names of the bones at the world's origin: one that mechanisms share, or more where armatures were joined."""
    return [name for name, role in parts_of(ob).items() if role == WORLD]


def unused_worlds(ob: ArmatureObject, gone: Collection[str]) -> list[str]:
    """The names of the bones at the world's origin that no mechanism needs any more once some bones are gone."""
    worlds = worlds_of(ob)
    left = parts_of(ob).keys() - {*gone, *worlds}
    return [] if left else worlds


def stranded(ob: ArmatureObject, gone: Collection[str]) -> set[str]:
    """The bones of mechanisms that no visible bone depends on once the bones ``gone`` are removed, as after a lower
    bone or its constraints were deleted. An annex keeps all of its bones, as they hold settings."""
    roles = parts_of(ob)
    if not roles or is_annex(ob):
        return set()
    parts = {name for name, role in roles.items() if role != WORLD}.difference(gone)
    needed: set[str] = set()
    for each in bpy.data.objects if parts else ():
        if each.data == ob.data and is_armature(each):
            drivers = drivers_by_bone(each)
            visible = [bone for bone in each.pose.bones if bone.name not in parts and bone.name not in gone]
            waiting = [subtarget_of(constraint) for bone in visible for constraint in bone.constraints]
            found: set[str] = set()
            while waiting:
                name = waiting.pop()
                if name in parts and name not in found:
                    found.add(name)
                    waiting += needs_of(each.pose.bones[name], drivers.get(name, ()))
            needed |= found
    return parts - needed


def measured_by(part: PoseBone) -> list[Target]:
    """What a part of a mechanism measures the place of, which is no part itself."""
    at = [(getattr(each, "target", None), subtarget_of(each)) for each in part.constraints]
    found = [Target(ob, bone) for ob, bone in at if ob and (bone or not is_armature(ob))]
    return [goal for goal in found if not (goal.bone and is_part(goal.object, goal.bone))]


def goals_left(ob: ArmatureObject) -> list[Target]:
    """What mechanisms of deleted limbs in an armature still follow."""
    return [goal for name in stranded(ob, ()) for goal in measured_by(ob.pose.bones[name])]


def collection_of(ob: ArmatureObject) -> Any:
    """The bone collection of the mechanisms, if there is one: it holds nothing else, whatever it is called."""
    holding = (each for each in ob.data.collections_all if each.bones)
    return next((each for each in holding if all(is_part(ob, bone.name) for bone in each.bones)), None)


def measures_in(ob: ArmatureObject) -> Iterator[tuple[Any, str]]:
    """The places that the mechanisms in an armature measure, as objects and names of bones."""
    for name, role in parts_of(ob).items():
        if role in ("target", "pole") and name in ob.pose.bones:
            constraints: Any = ob.pose.bones[name].constraints
            for constraint in constraints[:1]:
                yield constraint.target, constraint.subtarget
