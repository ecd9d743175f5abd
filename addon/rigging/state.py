"""Whether a limb's mechanism fits it and is complete. What else somebody changed is told by the pose: see `status`."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import PoseBone

from ..blender.words import Refused
from ..limb.features import FEATURES
from ..limb.features.pole_follow import NEEDS
from ..limb.follow import has_pole_follow, has_roll
from ..limb.parts import Parts
from ..limb.settings import VERSION, VERSION_KEY
from ..limb.spec import Spec
from ..limb.storage import bones_of_limb, by_rig, group_of, is_on_rig, limbs_of
from ..limb.tips import FOOT_GONE, is_foot_gone, mark_tip
from .description import Description, LimbRef, describe, ref_of
from .features import follows_own_bones
from .making import needed_parts, refs_of
from .spec import differs, spec_of
from .there import ExistingPartsOfRig, is_whole

EDITED = "Bones or settings of '{bone}' were edited: rebuild the limb"
BROKEN = "The helper bones of '{bone}' are missing or edited: rebuild the limb"
FIRST_BONE_MOVED = "The first bone of '{bone}' is moved now: rebuild the limb, which then goes along"
OLDER = "'{bone}' was made by an older Planar IK: rebuild the limb"
NEWER = "'{bone}' was made by a newer Planar IK: update Planar IK, or rebuild the limb"
"""What may be wrong with a limb."""

TOLD = {feature.name: feature.broken for feature in FEATURES if feature.broken} | {"": BROKEN}
"""What is said where parts are missing, by the feature that they are for."""


def mechanism_problem(limb: PoseBone) -> str:
    """What is wrong with the mechanism or the foot roll of a limb, as a sentence with {bone} in it; "" if nothing."""
    return problems_of([limb])[0]


def problems_of(limbs: Sequence[PoseBone]) -> list[str]:
    """`mechanism_problem` each of some limbs of one rig."""
    on_rig = ExistingPartsOfRig(limbs[0].id_data) if any(map(_has_parts, limbs)) else None
    return [
        (FOOT_GONE if is_foot_gone(limb) else _problem_of_version(limb))
        or (_problem(limb, on_rig) if on_rig and _has_parts(limb) else "")
        for limb in limbs
    ]


def _has_parts(limb: PoseBone) -> bool:
    return bool(bones_of_limb(limb)) and (is_on_rig(limb) or has_roll(limb) or has_pole_follow(limb))


def _problem_of_version(limb: PoseBone) -> str:
    """Whether a limb was made by another version of the extension, which may have made it otherwise."""
    group = group_of(limb)
    version = VERSION if group is None else group.get(VERSION_KEY, 0)
    return OLDER if version < VERSION else NEWER if version > VERSION else ""


def is_of_this_version(limb: PoseBone) -> bool:
    """Whether a limb was made by this version of the extension."""
    return not _problem_of_version(limb)


def _problem(limb: PoseBone, on_rig: ExistingPartsOfRig) -> str:
    """What is otherwise than the limb is described, of what was made for it."""
    ref, there = ref_of(limb), on_rig.of_limb(limb.name)
    description = describe(ref)
    if has_pole_follow(limb) and not (description.pole_follow and follows_own_bones(description, ref)):
        return NEEDS
    problem, spec = _fit(ref, description, there.built) if description.mode == "RIG" else ("", None)
    by_feature = needed_parts(ref, description, spec)
    bones = [bone for parts in by_feature.values() for bone in parts.bones]
    refs = refs_of(ref, description, bones, there)
    for feature, missing in TOLD.items():
        if not is_whole(on_rig.inventory, by_feature.get(feature, Parts()), refs):
            return missing
    others = on_rig.inventory.helpers_of(limb.name).keys() - {bone.role for bone in bones}
    return problem or (BROKEN if others else "")


def _fit(ref: LimbRef, value: Description, built: Spec | None) -> tuple[str, Spec | None]:
    """Why a mechanism that was made of a spec does not fit its limb; the spec itself if it does."""
    spec = spec_of(ref, value, is_now=True)
    if built is None or differs(built, spec):
        return (EDITED if built else BROKEN), None
    if spec.is_moved and not built.is_moved:
        return FIRST_BONE_MOVED, None
    return "", built._replace(bones=spec.bones, last_bone=spec.last_bone, parent=spec.parent)


def check_moved(limb: PoseBone) -> None:
    """Refuse a limb whose first bone has a location that its helper bones can't take over."""
    bone = bones_of_limb(limb)[0].bone
    inherits = (bone.use_inherit_rotation and bone.inherit_scale == "FULL") or not bone.parent
    if not (inherits and bone.use_local_location) and spec_of(ref_of(limb), describe(ref_of(limb))).is_moved:
        template = "'{bone}' is moved: have it inherit rotation, full scale and local location, or use Live"
        raise Refused(template, bone=bone.name)


def unfit(limbs: Sequence[PoseBone]) -> list[PoseBone]:
    """The limbs on the rigs of these whose mechanisms have to be made anew, or whose feet are gone."""
    of_rigs = [[limb for limb in limbs_of(ob) if bones_of_limb(limb)] for ob in by_rig(limbs)]
    problems = [pair for of_rig in of_rigs if of_rig for pair in zip(of_rig, problems_of(of_rig), strict=True)]
    return [limb for limb, problem in problems if problem]


def find_feet(limbs: Sequence[PoseBone]) -> None:
    """Look for the feet of those limbs that lost theirs."""
    for limb in filter(is_foot_gone, limbs):
        mark_tip(limb)
