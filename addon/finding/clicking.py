"""The limb that a clicked bone is for: the arm or leg that it is part of, else the last two bones that end with it."""

from __future__ import annotations

from bpy.types import PoseBone

from ..blender.types import bones_of
from ..blender.words import Refused
from ..limb import names
from ..limb.storage import chain_bones, is_limb, is_mechanism_bone, limbs_of, segments_of
from ..limb.tips import begins_at_tail, foot_of
from .branches import BranchLimbs
from .constraints import candidates
from .segments import Suggestion, bone_of_offset_group, limb_up_from, segment_above, segment_below, segment_of


def limb_at(bone: PoseBone, count: int = 0) -> Suggestion:
    """The limb that a clicked bone is part of: one that exists, or an arm or leg, maybe by its shoulder, foot or toe;
    else the limb of two bones that ends with it. Raises `Refused`. ``count`` says how many bones it is to have: with
    three or four, the clicked one is the last. Else it has two, or three if an animal's leg has a hock."""
    return limb_with(bone, count, BranchLimbs(bone.id_data))


def limb_with(bone: PoseBone, count: int, limbs: BranchLimbs) -> Suggestion:
    """What `limb_at` gives, by the limbs of the bone's rig."""
    if is_mechanism_bone(bone.bone):
        raise Refused("'{bone}' was made for a limb: select the bones of one", bone=bone.name)
    there = existing_at(bone)
    if there is not None:
        return there, segments_of(there)
    if (inner := bone_of_offset_group(bone.bone)) is not None:
        bone = bones_of(bone.id_data)[inner.name]
    if count > 2:
        return limb_up_from(bone, count, limbs.shared_parents)
    limb = limbs.at(bone)
    if limb and is_limb(limb.suggestion()[0]):  # it hangs on that
        limb = None
    return limb.suggestion(count) if limb else _last_of_two(bone, limbs)


def _last_of_two(bone: PoseBone, limbs: BranchLimbs) -> Suggestion:
    """The limb of two segments that ends with a bone; where what is above it is no part of one, that which begins with
    it."""
    if bone.name in limbs.shared_parents:
        raise _nothing_at(bone)
    segment = segment_of(bone)
    upper = segment_above(segment)
    if upper and not _is_apart(upper[0], segment[0], limbs):
        return segment[-1], (len(upper), len(segment))
    if len(segment) > 1:  # what looked like a twist bone is the limb
        return segment[-1], (1,) * len(segment)
    groups, lower = segment_below(segment)
    if lower is None:
        raise Refused("'{bone}' has no parent to bend against: click the shin or the forearm", bone=bone.name)
    if not begins_at_tail(lower.bone) and len(segment[-1].children) > 1:
        raise _nothing_at(bone)
    limb = segment_of(lower)
    return limb[-1], (len(segment) + len(groups), len(limb))


def _is_apart(upper: PoseBone, bone: PoseBone, limbs: BranchLimbs) -> bool:
    """Whether a bone above another is no part of the same limb: it carries several, or is of another one, or it is a
    root, from which the other stands off."""
    of = limbs.at(upper)
    is_below = of is not None and upper.name in of.below and is_limb(of.suggestion()[0])
    if upper.name in limbs.shared_parents or (of and not is_below) or existing_at(upper):
        return True
    return upper.parent is None and (names.moves_all(upper.name) or not begins_at_tail(bone.bone))


def _nothing_at(bone: PoseBone) -> Refused:
    """Why a bone is of no limb."""
    if candidates(bone.id_data):
        return Refused("Limbs of '{rig}' have IK constraints: press Solve Exactly (Convert)", rig=bone.id_data.name)
    return Refused("'{bone}' carries limbs: click the last bone of an arm or a leg", bone=bone.name)


def existing_at(bone: PoseBone) -> PoseBone | None:
    """The last bone of the limb that is there and that a bone is part of, or its foot or toe."""
    limbs = limbs_of(bone.id_data)
    for limb in limbs:
        if bone in chain_bones(limb):
            return limb
    for limb in limbs:
        foot = foot_of(limb)
        if foot is not None and bone.bone in (foot.bone, *(toe for toe in foot.bone.children if not toe.children)):
            return limb
    return None
