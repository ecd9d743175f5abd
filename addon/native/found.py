"""Which bones a chain runs on: found again by what refers to what, which outlasts renaming, joining and mirroring."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

from bpy.types import PoseBone

from ..rig.access import ArmatureObject, is_made, is_part, split_path, upper_of
from ..rig.settings import DEFAULTS, ON_RIG, PART, holder_of
from .annex import is_annex_of
from .blending import WORLD


def constraints_of(lower: PoseBone) -> list[tuple[PoseBone, Any]]:
    """The constraints by which the visible bones take over the solution, each with its bone."""
    visible = [lower] if lower.parent is None else [upper_of(lower), lower]
    return [(bone, each) for bone in visible for each in bone.constraints if is_made(each)]


def host_of(lower: PoseBone) -> ArmatureObject:
    """The armature that the mechanism of a chain on the rig is in: the rig's own, or its annex."""
    host: ArmatureObject = holder_of(lower).id_data
    return host


def mechanism_of(lower: PoseBone) -> list[str]:
    """The names of the bones that a limb's visible bones depend on and that were made for that, children first; without
    those that mechanisms share."""
    ob = host_of(lower)
    if ob != lower.id_data and not is_annex_of(ob, lower.id_data):
        return []  # A copied object's constraints go on copying from the annex of the one that it comes from.
    found: set[str] = set()
    waiting = [_subtarget(each) for _, each in constraints_of(lower)]
    while waiting:
        name = waiting.pop()
        if name not in found and is_part(ob, name) and _role(ob, name) != WORLD:
            found.add(name)
            waiting += _needs(ob, ob.pose.bones[name])
    if any(owner != lower.name for owner in _owners(ob, found)):
        return []  # A mirrored or copied limb's constraints go on copying what the limb is posed by that it came from.
    return _children_first(ob, found)


def scattered(lower: PoseBone) -> tuple[list[str], list[tuple[PoseBone, Any]]]:
    """The mechanism of a lower bone that lost its parent, or has another one now, and the constraints that copy it."""
    ob, host = lower.id_data, host_of(lower)
    found, worlds = set(mechanism_of(lower)), worlds_of(host)
    parts = {bone.name: {*_needs(host, bone)} for bone in host.pose.bones if is_part(host, bone.name)}
    while more := {name for name, needs in parts.items() if name not in {*found, *worlds} and needs & found}:
        found |= more
    copying = [bone for bone in ob.pose.bones if any(_subtarget(each) in found for each in bone.constraints)]
    constraints = [(bone, each) for bone in copying for each in bone.constraints if is_made(each)]
    return _children_first(host, found), constraints


def _subtarget(constraint: Any) -> str:
    name: str = getattr(constraint, "subtarget", "")
    return name


def _children_first(ob: ArmatureObject, bones: Collection[str]) -> list[str]:
    return sorted(bones, key=lambda name: len(ob.pose.bones[name].parent_recursive), reverse=True)


def is_whole(lower: PoseBone) -> bool:
    """Whether a chain on the rig has a mechanism with all its drivers and no others, and nothing there refers to an
    object that this one is a copy of. Blender leaves drivers behind where it joins armatures with the same names."""
    host, built = host_of(lower), built_for(lower)
    drivers = _drivers_within(lower)
    if built is None or len(drivers) != built["drivers"]:
        return False
    copied = [each.target for _, each in constraints_of(lower) if each.type != "LIMIT_ROTATION"]
    variables = (variable for curve in drivers for variable in curve.driver.variables)
    read = [target.id for variable in variables for target in variable.targets]
    return all(ob == host for ob in copied) and all(ob in (host, lower.id_data) for ob in read)


def _drivers_within(lower: PoseBone) -> list[Any]:
    """The drivers of a mechanism."""
    return list(drivers_of(host_of(lower), set(mechanism_of(lower)), []))


def worlds_of(ob: ArmatureObject) -> list[str]:
    """The names of the bones at the world's origin: one that mechanisms share, or more where armatures were joined."""
    return [bone.name for bone in ob.data.bones if is_part(ob, bone.name) and _role(ob, bone.name) == WORLD]


def unused_worlds(ob: ArmatureObject, gone: Collection[str]) -> list[str]:
    """Those of them that no mechanism needs any more once some bones are gone."""
    worlds = worlds_of(ob)
    left = {bone.name for bone in ob.data.bones if is_part(ob, bone.name)} - {*gone, *worlds}
    return [] if left else worlds


def _role(ob: ArmatureObject, part: str) -> Any:
    """For what a bone was made."""
    return ob.data.bones[part][PART]


def note_purpose(lower: PoseBone, purpose: dict[str, Any]) -> None:
    """Keep with a mechanism what it is made for."""
    _holder(lower)[PART] = json.dumps(purpose | {"drivers": len(_drivers_within(lower))})


def built_for(lower: PoseBone) -> dict[str, Any] | None:
    """What the mechanism of a chain was made for; None without a whole one."""
    holder = _holder(lower)
    purpose: dict[str, Any] | None = json.loads(holder[PART]) if holder and PART in holder else None
    return purpose


def _holder(lower: PoseBone) -> Any:
    """The bone that measures the target of a chain; None if there is none any more."""
    ob = host_of(lower)
    return next((ob.pose.bones[name] for name in mechanism_of(lower) if _role(ob, name) == "target"), None)


def goals_of(lower: PoseBone) -> list[tuple[Any, str]]:
    """What the mechanism of a chain measures the places of: the target, and the pole if it has one."""
    first: list[Any] = [bone.constraints[0] for bone in _measures_of(lower)]
    return [(each.target, each.subtarget) for each in first]


def aim(lower: PoseBone, goals: list[tuple[Any, str]]) -> None:
    """Have the mechanism of a chain measure the places of as many other things."""
    for bone, (ob, name) in zip(_measures_of(lower), goals, strict=True):
        constraints: Any = bone.constraints
        for constraint in constraints:
            constraint.target, constraint.subtarget = ob, name


def _measures_of(lower: PoseBone) -> list[PoseBone]:
    ob = host_of(lower)
    roles = {_role(ob, name): ob.pose.bones[name] for name in mechanism_of(lower)}
    return [roles[role] for role in ("target", "pole") if role in roles]


def drivers_on(ob: ArmatureObject) -> list[Any]:
    """All drivers of an object."""
    return list(ob.animation_data.drivers) if ob.animation_data else []


def exposed(lower: PoseBone) -> list[str]:
    """The custom properties of a chain on the rig, by the names of the settings."""
    keys = holder_of(lower).keys()
    return [key.removeprefix(ON_RIG) for key in keys if key.startswith(ON_RIG)]


def drivers_of(ob: ArmatureObject, bones: set[str], constraints: list[tuple[PoseBone, Any]]) -> Iterator[Any]:
    """The drivers of bones of a mechanism in an armature, but for those of settings, and of the constraints there."""
    paths = [each.path_from_id() for _, each in constraints]
    for curve in drivers_on(ob):
        bone, path = split_path(curve.data_path)
        is_setting = path[2 + len(ON_RIG) : -2] in DEFAULTS
        if (bone in bones and not is_setting) or curve.data_path.startswith(tuple(paths)):
            yield curve


def collection_of(ob: ArmatureObject) -> Any:
    """The bone collection of the mechanisms, if there is one: it holds nothing else, whatever it is called."""
    holding = (each for each in ob.data.collections_all if each.bones)
    return next((each for each in holding if all(is_part(ob, bone.name) for bone in each.bones)), None)


def _owners(ob: ArmatureObject, bones: Collection[str]) -> Iterator[str]:
    """The lower bones whose settings the drivers of a mechanism read."""
    for curve in drivers_on(ob):
        if split_path(curve.data_path)[0] in bones:
            for variable in curve.driver.variables:
                name, path = split_path(variable.targets[0].data_path)
                if path.startswith(f'["{ON_RIG}') and name not in bones:
                    yield name


def _needs(ob: ArmatureObject, bone: PoseBone) -> Iterator[str]:
    """What a bone of a mechanism depends on, by parent, constraints and drivers."""
    if bone.parent:
        yield bone.parent.name
    for constraint in bone.constraints:
        yield _subtarget(constraint)
    for curve in drivers_on(ob):
        if split_path(curve.data_path)[0] == bone.name:
            for variable in curve.driver.variables:
                target = variable.targets[0]
                yield target.bone_target or split_path(target.data_path)[0]
