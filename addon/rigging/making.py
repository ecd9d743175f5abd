"""Making parts real: helper bones, constraints and drivers, as they are described; and whether what is there is so."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any
from zlib import crc32

import numpy as np
from bpy.types import Object
from mathutils import Matrix

from ..blender.editing import collect
from ..blender.fcurves import reset
from ..blender.names import side_sign
from ..blender.types import ArmatureObject, path_to_bone, path_to_custom
from ..limb.settings import ALL, COLLECTION, MADE_FOR_LIMB
from ..limb.tolerances import ROUNDING
from .feature_parts import PIVOTS_COLLECTION
from .parts import CHANNEL, ConstraintSpec, DriverSpec, DriverVariable, HelperBone

Refs = Mapping[str, tuple[Object | None, str]]
"""The bones and objects that roles stand for, by role, each an object and the name of a bone, or nothing."""


SIDES = re.compile(r"(?i)^[lr][._ -]|^(?:left|right)|(?:[._ -][lr]|[._ -]?(?:left|right))(?=(?:\.\d+)?$)")
"""What says a side at either end of a name."""

NAME_BYTES = 32
"""How many bytes of a bone's name those of its helpers have: Blender takes 63 in all, with a number at the end."""

REST_MOVED, REST_TURNED = 1e-5, 1e-3
"""By how much a bone may rest elsewhere, and its axes be turned: what Blender rounds as it leaves Edit Mode."""


# bones


def helper_name(ob: ArmatureObject, limb_name: str, role: str) -> str:
    """What a helper bone of a limb is called: MCH-SHIN-turn1.L for that of shin.L, on both sides the same but for the
    side, so that Blender's mirroring finds one by the other.

    As armatures are joined, Blender loses drivers of bones whose names have another's in them: capitals are as no bone
    has them, or if one does, eight digits of its name."""
    core = SIDES.sub("", limb_name) or limb_name
    core = core.lower() if core.isupper() else core.upper()
    core = core.encode()[:NAME_BYTES].decode(errors="ignore")
    if any(bone.name in core for bone in ob.data.bones):
        core = f"{crc32(limb_name.encode()):08x}"
    return f"MCH-{core}-{role.replace(' ', '')}{('.R', '', '.L')[side_sign(limb_name) + 1]}"


def add_helper_bone(ob: ArmatureObject, bone: HelperBone, name: str, refs: Refs, is_new: bool) -> str:
    """Add a helper bone in Edit Mode, or set the one of this name to rest as described; returns its name. Blender takes
    no matrix for a bone without a length."""
    bones = ob.data.edit_bones
    laid: Any = bones.new(name) if is_new else bones[name]
    laid[MADE_FOR_LIMB] = bone.role
    rest = Matrix((bone.rest[:4], bone.rest[4:8], bone.rest[8:12], bone.rest[12:]))
    laid.head, laid.tail = rest.translation, rest.translation + rest.col[1].to_3d() * bone.length
    laid.matrix = rest
    laid.length = bone.length
    laid.use_deform = laid.select = laid.select_head = laid.select_tail = False
    above = refs[bone.parent][1] if bone.parent else ""
    if bone.like:
        like = bones[refs[bone.like][1]]
        if bone.copies_rest:
            laid.head, laid.tail, laid.roll = like.head, like.tail, like.roll
        laid.inherit_scale, laid.use_inherit_rotation = like.inherit_scale, like.use_inherit_rotation
    laid.parent = bones[above] if above else None
    return str(laid.name)


def finish_helper(ob: ArmatureObject, bone: HelperBone, name: str) -> None:
    """Set what a helper bone has outside of Edit Mode. A bone that is made again keeps the channels of the one before
    with its name: these are reset."""
    pose_bone: Any = ob.pose.bones[name]
    pose_bone.rotation_mode, pose_bone.location = bone.order, bone.location
    pose_bone.rotation_quaternion, pose_bone.rotation_euler = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    pose_bone.scale = (1.0, 1.0, 1.0)
    place = 2 if bone.collection == PIVOTS_COLLECTION else 1
    collect(ob, pose_bone.bone, bone.collection, COLLECTION, place).is_visible = False


def rests_so(ob: ArmatureObject, bone: HelperBone, name: str, refs: Refs) -> bool:
    """Whether the helper bone of this name rests and hangs as described."""
    there = ob.data.bones[name]
    rest = np.array(there.matrix_local, float)
    if bone.copies_rest:
        rest_wanted = np.array(ob.data.bones[refs[bone.like][1]].matrix_local, float)
    else:
        rest_wanted = np.array(bone.rest, float).reshape(4, 4)
    off, size = np.abs(rest - rest_wanted), 1.0 + float(np.abs(rest_wanted[:3, 3]).max())
    above = refs[bone.parent][1] if bone.parent else ""
    is_there = off[:3, 3].max() <= REST_MOVED * size and off[:3, :3].max() <= REST_TURNED
    return bool(is_there) and (there.parent.name if there.parent else "") == above


# constraints


def constrain(ob: ArmatureObject, constraint: ConstraintSpec, refs: Refs) -> None:
    """Add a constraint, or set that of its name to what is described."""
    owner: Any = ob.pose.bones[refs[constraint.bone][1]]
    real: Any = owner.constraints.get(constraint.name)
    if real is None:
        real = owner.constraints.new(constraint.type)
        real.name, real.show_expanded = constraint.name, False
        if constraint.targets:
            owner.constraints.move(len(owner.constraints) - 1, 0)
            real = owner.constraints[constraint.name]
            for _ in constraint.targets:
                real.targets.new()
    for follower, ref in _followers(real, constraint, refs):
        aim(follower, *ref)
    for name, value in constraint.settings:
        if not _is_alike(getattr(real, name), value):
            setattr(real, name, value)
    if constraint.space:
        real.space_object, real.space_subtarget = refs[constraint.space]


def _followers(real: Any, constraint: ConstraintSpec, refs: Refs) -> list[tuple[Any, tuple[Object | None, str]]]:
    """What of a constraint follows something, and what."""
    if constraint.targets:
        return [(target, refs[role]) for target, role in zip(real.targets, constraint.targets, strict=True)]
    return [(real, refs[constraint.target])]


def aim(follower: Any, ob: Object | None, bone: str) -> None:
    """Set the target of a constraint, or of one of its targets."""
    if follower.target != ob:
        follower.target = ob
    if getattr(follower, "subtarget", bone) != bone:
        follower.subtarget = bone


def is_aimed(real: Any, constraint: ConstraintSpec, refs: Refs) -> bool:
    """Whether a constraint has the target that it is to have; False if that does not exist yet."""
    return follows(real, constraint, refs) and all(ob for _, (ob, _) in _followers(real, constraint, refs))


def follows(real: Any, constraint: ConstraintSpec, refs: Refs) -> bool:
    """Whether a constraint has the target that it is to have, where a missing target counts as none."""
    if constraint.targets and len(real.targets) != len(constraint.targets):
        return False
    return all(
        follower.target == ob and (ob is None or ob.type != "ARMATURE" or follower.subtarget == bone)
        for follower, (ob, bone) in _followers(real, constraint, refs)
    )


def is_set(real: Any, constraint: ConstraintSpec) -> bool:
    """Whether the settings of a constraint are as described."""
    return all(_is_alike(getattr(real, name), value) for name, value in constraint.settings)


def _is_alike(now: Any, value: Any) -> bool:
    if isinstance(value, float):
        return isclose(now, value, rel_tol=ROUNDING, abs_tol=ROUNDING)
    return bool(now == value)


def put_in_order(ob: ArmatureObject, bone: str, names: Sequence[str]) -> None:
    """Sort these constraints of a bone, in the places that they take among others."""
    constraints: Any = ob.pose.bones[bone].constraints
    places = sorted(constraints.find(name) for name in names)
    for place, name in zip(places, names, strict=True):
        if (now := constraints.find(name)) != place:
            constraints.move(now, place)


# drivers


def driven_path(driver: DriverSpec, refs: Refs) -> str:
    """The data path, from its rig, of what a driver drives."""
    return f"{path_to_bone(refs[driver.bone][1])}.{driver.path}"


def drive(ob: ArmatureObject, driver: DriverSpec, refs: Refs) -> None:
    """Add a driver, and check it: Blender silently cuts expressions that are too long."""
    curve: Any = ob.driver_add(driven_path(driver, refs), driver.channel)
    reset(curve)  # its keys would round numbers near 0 and 1 (5.2)
    new = curve.driver
    new.type = driver_type(driver)
    for variable in driver.variables:
        added = new.variables.new()
        added.name, added.type = variable.letter, variable.type
        for target, read in zip(added.targets, _reads(variable, refs), strict=True):
            target.id = ob
            for name, value in read.items():
                setattr(target, name, value)
    if new.type == "SCRIPTED":
        new.expression = driver.expression
        if new.expression != driver.expression or not new.is_simple_expression:
            raise RuntimeError(f"Blender does not take the expression {driver.expression}")


def driver_type(driver: DriverSpec) -> str:
    """The type of a driver: SUM where it is just one variable, else SCRIPTED."""
    return "SUM" if [variable.letter for variable in driver.variables] == [driver.expression] else "SCRIPTED"


def _reads(variable: DriverVariable, refs: Refs) -> list[dict[str, str]]:
    """The settings of a variable's targets."""
    reads = []
    for read in variable.reads:
        bone = refs[read.bone][1]
        if not read.space:
            path = path_to_custom(bone, read.what)
            reads.append({"data_path": path if read.item == ALL else f"{path}[{read.item}]"})
        elif read.space == CHANNEL:
            reads.append({"data_path": f"{path_to_bone(bone)}.{read.what}"})
        else:
            kind = {"transform_type": read.what} if read.what else {}
            reads.append({"bone_target": bone, "transform_space": read.space} | kind)
    return reads


def drives_so(ob: ArmatureObject, curve: Any, driver: DriverSpec, refs: Refs) -> bool:
    """Whether a driver that is there is as described."""
    now = curve.driver
    if now.type != driver_type(driver) or (now.type == "SCRIPTED" and now.expression != driver.expression):
        return False
    if [(variable.name, variable.type) for variable in now.variables] != [
        (variable.letter, variable.type) for variable in driver.variables
    ]:
        return False
    return all(
        target.id == ob and all(getattr(target, name) == value for name, value in read.items())
        for there, variable in zip(now.variables, driver.variables, strict=True)
        for target, read in zip(there.targets, _reads(variable, refs), strict=True)
    )
