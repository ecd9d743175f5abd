"""Whether a limb's mechanism fits it and is complete. What else somebody changed is told by the pose: see `status`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpy.types import PoseBone

from ..blender.types import ArmatureObject, path_to_bone
from ..blender.words import Refused
from ..limb import pole_follow
from ..limb.follow import Follow, follow_of
from ..limb.foot_roll import CONTROL as ROLL_CONTROL
from ..limb.foot_roll import GOAL, PIVOTS, goal_of, has_roll, helpers_of
from ..limb.pole_follow import has_pole_follow
from ..limb.settings import VERSION, VERSION_KEY
from ..limb.storage import bones_of_limb, by_rig, group_of, is_on_rig, limbs_of
from ..limb.tips import is_foot_gone, mark_tip
from .feature_parts import GOES, READS
from .inventory import Inventory, inventory_of
from .parts import POLE, TARGET, Constraint, parts_of
from .spec import Spec, differs, spec_of

EDITED = "Bones or settings of '{bone}' were edited: rebuild the limb"
BROKEN = "The helper bones of '{bone}' are missing or edited: rebuild the limb"
AIMED = "The helper bones of '{bone}' follow something else: rebuild the limb"
MOVED = "The first bone of '{bone}' is moved now: rebuild the limb, which then goes along"
OLDER = "'{bone}' was made by an older Planar IK: rebuild the limb"
NEWER = "'{bone}' was made by a newer Planar IK: update Planar IK, or rebuild the limb"
ROLL_MISSING = "The foot roll of '{bone}' is missing or edited: rebuild the limb"
"""What may be wrong with a limb on the rig."""


def problem_of(last: PoseBone) -> str:
    """What is wrong with the mechanism or the foot roll of a limb, as a sentence with {bone} in it; "" if nothing."""
    return problems_of([last])[0]


def problems_of(lasts: Sequence[PoseBone]) -> list[str]:
    """`problem_of` each of some limbs of one rig."""
    features = ((has_roll, _problem_of_roll), (has_pole_follow, pole_follow.problem_of))
    problems = {last.name: problem for last in lasts if (problem := _problem_of_version(last))}
    problems |= {
        last.name: problem
        for last in lasts
        if last.name not in problems
        for has, ask in features
        if has(last) and (problem := ask(last))
    }
    on_rig = {
        last.name: last for last in lasts if is_on_rig(last) and bones_of_limb(last) and last.name not in problems
    }
    if on_rig:
        inventory = inventory_of(lasts[0].id_data)
        problems |= {
            name: _problem(inventory, spec_of(last, is_now=True), goal_of(last)) for name, last in on_rig.items()
        }
    return [problems.get(last.name, "") for last in lasts]


def _problem_of_version(last: PoseBone) -> str:
    """Whether a limb was made by another version of the extension, which may have made it otherwise."""
    group = group_of(last)
    version = VERSION if group is None else group.get(VERSION_KEY, 0)
    return OLDER if version < VERSION else NEWER if version > VERSION else ""


def _problem(inventory: Inventory, spec: Spec, follow: Follow) -> str:
    roles = inventory.helpers_of(spec.last)
    built = inventory.built_of(spec.last)
    if built is None:
        return BROKEN
    if differs(built, spec):
        return EDITED
    if spec.is_moved and not built.is_moved:
        return MOVED
    parts = parts_of(built)
    names = roles | {"last": spec.last, "parent": spec.parent}
    names |= {f"bone {k}": bone for k, bone in enumerate(spec.bones, 1)}
    if {helper.role for helper in parts.bones} != roles.keys():
        return BROKEN
    for driver in parts.drivers:
        curve = inventory.drivers.get(names[driver.bone], {}).get((driver.path, max(driver.channel, 0)))
        if curve is None or curve.mute or not curve.driver.is_valid:
            return BROKEN
    aimed = [_is_aimed(inventory.ob, constraint, names, follow) for constraint in parts.constraints]
    return BROKEN if None in aimed else "" if all(aimed) else AIMED


def _is_aimed(ob: ArmatureObject, constraint: Constraint, names: dict[str, str], follow: Follow) -> bool | None:
    """Whether a constraint follows what it is to follow; None if it is not there or does nothing."""
    real: Any = ob.pose.bones[names[constraint.bone]].constraints.get(constraint.name)
    if real is None or real.type != constraint.type or real.mute or not real.enabled:
        return None
    aims = dict(zip((TARGET, POLE), follow.pairs, strict=True))
    target, bone = aims[constraint.target] if constraint.target in aims else (ob, names[constraint.target])
    return bool(real.target == target and (real.subtarget == bone or target is None or target.type != "ARMATURE"))


def _problem_of_roll(last: PoseBone) -> str:
    """What is wrong with the foot roll of a limb, as a sentence with {bone} in it; "" if nothing."""
    helpers, ob, follow = helpers_of(last), last.id_data, follow_of(last)
    if not {ROLL_CONTROL, *PIVOTS, GOAL} <= helpers.keys():
        return ROLL_MISSING
    goes: Any = ob.pose.bones[helpers[ROLL_CONTROL].name].constraints.get(GOES)
    if (
        goes is None
        or goes.mute
        or goes.target != follow.target
        or (follow.subtarget and goes.subtarget != follow.subtarget)
    ):
        return ROLL_MISSING
    drivers = ob.animation_data.drivers if ob.animation_data else None
    for role in READS.keys() & helpers.keys():
        curve: Any = drivers.find(f"{path_to_bone(helpers[role].name)}.rotation_euler", index=0) if drivers else None
        if curve is None or curve.mute or not curve.driver.is_valid:
            return ROLL_MISSING
    return ""


def check_moved(last: PoseBone) -> None:
    """Refuse a limb whose first bone has a location that its helper bones can't take over."""
    bone = bones_of_limb(last)[0].bone
    inherits = (bone.use_inherit_rotation and bone.inherit_scale == "FULL") or not bone.parent
    if not (inherits and bone.use_local_location) and spec_of(last).is_moved:
        template = "'{bone}' is moved: have it inherit rotation, full scale and local location, or use Live"
        raise Refused(template, bone=bone.name)


def unfit(lasts: Sequence[PoseBone]) -> list[PoseBone]:
    """The limbs on the rigs of these whose mechanisms have to be made anew, or whose foot is gone."""
    limbs = [last for ob in by_rig(lasts) for last in limbs_of(ob)]
    return [last for last in limbs if bones_of_limb(last) and (problem_of(last) or is_foot_gone(last))]


def find_feet(lasts: Sequence[PoseBone]) -> None:
    """Look for the feet of those limbs that lost theirs."""
    for last in filter(is_foot_gone, lasts):
        mark_tip(last)
