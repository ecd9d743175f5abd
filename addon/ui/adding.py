"""What a selection asks for when chains are added."""

from __future__ import annotations

from typing import NamedTuple

from bpy.types import Context, PoseBone

from .. import live
from ..native.convert import make_portable
from ..rig.setup import Refused, add_fitting, fit_chain, is_lower, named_target
from ..rig.targets import Target


class Request(NamedTuple):
    """What the caller asked for by name; empty strings leave it to the selection and the pose."""

    plane: str
    target: str
    subtarget: str
    pole_target: str
    pole_subtarget: str
    on_rig: bool


def add_chains(context: Context, request: Request) -> list[str]:
    """Add a chain to every selected limb; return warnings. Raises `Refused` before anything is changed."""
    target = named_target(request.target, request.subtarget)
    if target and context.active_pose_bone:
        lowers = [context.active_pose_bone]
    else:
        lowers, target = _selection(context)
    pole = named_target(request.pole_target, request.pole_subtarget)
    if target and len(lowers) > 1:
        raise Refused("Select one lower bone and a target, or several lower bones and no target")
    fittings = [fit_chain(context, lower, target, pole, request.plane) for lower in lowers]
    for fitting in fittings:
        add_fitting(context, fitting, {})
    warnings = _put_on_rig(context, [fitting.lower for fitting in fittings]) if request.on_rig else []
    live.refresh(context)
    off = [fitting for fitting in fittings if fitting.plane == "POLE" and not request.plane and not pole]
    return warnings + [f"'{fitting.lower.name}' is posed out of its rest plane: it got a pole" for fitting in off]


def _put_on_rig(context: Context, lowers: list[PoseBone]) -> list[str]:
    """Let new chains run on the rig; what can't stays live, with a warning."""
    try:
        make_portable(context, lowers)
    except Refused as why:
        return [f"Runs on the extension: {why}"]
    return []


def _selection(context: Context) -> tuple[list[PoseBone], Target | None]:
    """The lower bones to get a chain, and the selected target if there is one."""
    active = context.active_pose_bone
    bones = list(context.selected_pose_bones or ())
    if active and active not in bones:
        bones.append(active)
    lowers = [bone for bone in bones if bone == active or is_lower(bone)]
    parents = [bone.parent for bone in lowers if bone.parent]
    lowers = [bone for bone in lowers if bone not in parents or bone == active]
    above = {parent for bone in lowers for parent in bone.parent_recursive}
    others = [bone for bone in bones if bone not in lowers and bone not in above]
    goals = [Target(bone.id_data, bone.name) for bone in others]
    goals += [Target(ob, "") for ob in context.selected_objects if ob.mode != "POSE"]
    if len(goals) > 1:
        raise Refused("Select one target at most besides the lower bone")
    if not lowers:
        raise Refused("Select the lower bone of a limb")
    return lowers, goals[0] if goals else None
