"""What a selection asks for when chains are added."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Context, Object, PoseBone

from .. import live
from ..native.convert import make_portable
from ..rig.limbs import is_limb, to_click
from ..rig.setup import Refused, add_fitting, fit_chain, named_target
from ..rig.targets import Target


class Request(NamedTuple):
    """What the caller asked for by name; empty strings leave it to the selection and the pose."""

    plane: str
    target: str
    subtarget: str
    pole_target: str
    pole_subtarget: str
    on_rig: bool
    flip: bool
    any_bones: bool


def add_chains(context: Context, request: Request) -> list[str]:
    """Add a chain to every selected limb; return warnings. Raises `Refused` before anything is changed."""
    target = named_target(request.target, request.subtarget)
    if target and context.active_pose_bone:
        lowers = [context.active_pose_bone]
    else:
        lowers, target = _selection(context, request.any_bones)
    pole = named_target(request.pole_target, request.pole_subtarget)
    if target and len(lowers) > 1:
        raise Refused("Select one lower bone and a target, or several lower bones and no target")
    fittings = [fit_chain(context, lower, target, pole, request.plane) for lower in lowers]
    for fitting in fittings:
        add_fitting(context, fitting, {"bend": -fitting.fit.bend} if request.flip else {})
    warnings = [warning for fitting in fittings if (warning := fitting.warning())]
    if request.on_rig:
        warnings += _put_on_rig(context, [fitting.lower for fitting in fittings])
    live.refresh(context)
    return warnings


def _put_on_rig(context: Context, lowers: list[PoseBone]) -> list[str]:
    """Let new chains run on the rig; what can't stays live, with a warning."""
    try:
        make_portable(context, lowers)
    except Refused as why:
        return [f"Runs on the extension: {why}"]
    return []


def _selection(context: Context, any_bones: bool) -> tuple[list[PoseBone], Target | None]:
    """The lower bones to get a chain, and the selected target if there is one."""
    active = context.active_pose_bone
    bones = list(context.selected_pose_bones or ())
    if active and active not in bones:
        bones.append(active)
    lowers = [bone for bone in bones if (bone == active if any_bones else is_limb(bone))]
    if not lowers:
        raise Refused(_advice(active or bones[0]))
    lowers = _apart(lowers, active)
    used = {bone for lower in lowers for bone in (lower, lower.parent) if bone}
    above = {bone for each in used for bone in each.parent_recursive}
    others = [bone for bone in bones if not {bone, *bone.parent_recursive} & used and bone not in above]
    if active in others:  # The active bone is the one that gets something, not a target.
        raise Refused(_advice(active))
    goals = [Target(bone.id_data, bone.name) for bone in others]
    goals += [Target(ob, "") for ob in context.selected_objects if ob.mode != "POSE" and not _is_skin(ob)]
    if len(goals) > 1:
        raise Refused("Select one target at most besides the lower bone")
    return lowers, goals[0] if goals else None


def _is_skin(ob: Object) -> bool:
    """Whether an armature deforms an object: importers leave it selected, and nobody means it as a target."""
    return any(modifier.type == "ARMATURE" and modifier.show_viewport for modifier in ob.modifiers)


def _apart(lowers: list[PoseBone], active: PoseBone | None) -> list[PoseBone]:
    """Those that share no bone: of two that do, the active one; raises `Refused` if neither is."""
    kept: list[PoseBone] = []
    for lower in sorted(lowers, key=lambda bone: bone != active):
        rival = next((each for each in kept if {each, each.parent} & {lower, lower.parent}), None)
        if rival is None:
            kept.append(lower)
        elif rival != active:
            raise Refused(f"The limbs of '{rival.name}' and '{lower.name}' would share a bone: select one of the two")
    return kept


def _advice(bone: PoseBone) -> str:
    """What to say of a bone that is not the lower one of a limb."""
    other = to_click(bone)
    if other and other.parent:
        limb = f"'{other.name}', which bends with '{other.parent.name}'"
        return f"'{bone.name}' is not the lower bone of a limb: click {limb}"
    lack = f"and its parent '{bone.parent.name}' are no limb" if bone.parent else "has no parent"
    return f"'{bone.name}' {lack}: select the lower of two bones that meet, like a shin or a forearm"
