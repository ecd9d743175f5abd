"""Whether a limb's mechanism is complete and as it was built: its parts, and the same as plain data, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..blender.types import ArmatureObject, path_to_custom
from ..limb.follow import Follow
from ..limb.home import line_of
from .build import aim_of, kind_of, names_in
from .found import Found, built_of, found_on
from .parts import Constraint, Parts, Variable, parts_of
from .spec import CLOSE, Spec, differs

EDITED = "Bones or settings of '{bone}' were edited: rebuild the limb"
BROKEN = "The helper bones of '{bone}' are missing or edited: rebuild the limb"
AIMED = "The helper bones of '{bone}' follow something else: rebuild the limb"
"""What may be wrong with a limb on the rig."""


def problems(ob: ArmatureObject, limbs: Sequence[tuple[Spec, Follow]]) -> list[str]:
    """What is wrong with the mechanisms of limbs of one rig, given what each is to be and to follow; "" without."""
    found = found_on(ob)
    return [_problem(found, spec, follow) for spec, follow in limbs]


def _problem(found: Found, spec: Spec, follow: Follow) -> str:
    ob, roles = found.ob, found.parts_of(spec.last)
    built = built_of(found, spec.last)
    if built is None:
        return BROKEN
    if differs(built, spec):
        return EDITED
    parts = parts_of(built)
    names = roles | names_in(spec)
    if {part.role for part in parts.bones} != roles.keys():
        return BROKEN
    if built.is_uneven and any(bone.bone.inherit_scale == "FULL" for bone in line_of(ob.pose.bones[spec.last])[1:]):
        return EDITED
    if not (_has_bones(found, parts, names) and _has_drivers(found, parts, names)):
        return BROKEN
    aimed = [_aimed(ob, each, names, follow) for each in parts.constraints]
    if None in aimed or not _has_no_more(ob, parts, names):
        return BROKEN
    return "" if all(aimed) else AIMED


def _has_bones(found: Found, parts: Parts, names: dict[str, str]) -> bool:
    """Whether the bones of a mechanism are as they are to be."""
    bones, pose = found.ob.data.bones, found.ob.pose.bones
    rests = np.array([found.rests[names[part.role]] for part in parts.bones])
    if (abs(rests - parts.rests) > 10 * CLOSE * np.maximum(abs(parts.rests), 1.0)).any():
        return False
    first = bones[names["bone 1"]]
    for part in parts.bones:
        name = names[part.role]
        bone = bones[name]
        parent = bone.parent.name if bone.parent else ""
        if parent != names[part.parent] or pose[name].rotation_mode != part.order:
            return False
        like = (first.inherit_scale, first.use_inherit_rotation) if part.role == "root" else ("FULL", True)
        if (bone.inherit_scale, bone.use_inherit_rotation) != like:
            return False
    return True


def _aimed(ob: ArmatureObject, made: Constraint, names: dict[str, str], follow: Follow) -> bool | None:
    """Whether a constraint follows what it is to follow; None if it is not there or was changed."""
    real: Any = ob.pose.bones[names[made.bone]].constraints.get(made.name)
    if real is None or real.type != made.type or real.mute or not real.enabled:
        return None
    if any(getattr(real, name) != value for name, value in made.settings):
        return None
    target, bone = aim_of(made, ob, names, follow)
    return bool(real.target == target and (real.subtarget == bone or target is None or target.type != "ARMATURE"))


def _has_no_more(ob: ArmatureObject, parts: Parts, names: dict[str, str]) -> bool:
    """Whether nothing else poses the mechanism's bones."""
    wanted = [names[each.bone] for each in parts.constraints if not each.bone.startswith("bone")]
    return sum(len(ob.pose.bones[names[part.role]].constraints) for part in parts.bones) == len(wanted)


def _has_drivers(found: Found, parts: Parts, names: dict[str, str]) -> bool:
    """Whether the drivers of a mechanism are there, read what they are to read, and can be evaluated."""
    for driver in parts.drivers:
        curve = found.drivers.get(names[driver.bone], {}).get((driver.path, max(driver.channel, 0)))
        if curve is None or curve.mute or len(curve.modifiers) or len(curve.keyframe_points):
            return False
        real = curve.driver
        if real.type != kind_of(driver) or not real.is_valid or len(real.variables) != len(driver.variables):
            return False
        if real.type == "SCRIPTED" and real.expression != driver.expression:
            return False
        if not all(_reads(*each, found.ob, names) for each in zip(real.variables, driver.variables, strict=True)):
            return False
    return True


def _reads(real: Any, made: Variable, ob: ArmatureObject, names: dict[str, str]) -> bool:
    """Whether a variable of a driver reads what it is to read."""
    if real.name != made.letter or real.type != made.type:
        return False
    for target, read in zip(real.targets, made.reads, strict=True):
        bone = names[read.bone]
        if target.id != ob:
            return False
        if not read.space:
            return bool(target.data_path == path_to_custom(bone, read.what))
        if target.bone_target != bone or target.transform_space != read.space:
            return False
        if read.what and target.transform_type != read.what:
            return False
    return True
