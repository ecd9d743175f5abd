"""What a selection asks for when chains are added."""

from __future__ import annotations

from typing import Any, NamedTuple

import bpy
from bpy.types import Context, Object, PoseBone

from .. import live
from ..rig.access import has_bone
from ..rig.setup import (
    IN_PLANE,
    Posture,
    Refused,
    add_chain,
    check_limb,
    check_target,
    is_lower,
    new_empty,
    pole_place,
    posture,
)
from ..rig.targets import Target


class Request(NamedTuple):
    """What the caller asked for by name; empty strings leave it to the selection and the pose."""

    plane: str
    target: str
    subtarget: str
    pole_target: str
    pole_subtarget: str


class Limb(NamedTuple):
    """One chain to be added."""

    object: Object
    lower: PoseBone
    target: Target | None
    posed: Posture
    plane: str


def add_chains(context: Context, request: Request) -> list[str]:
    """Add a chain to every selected limb; return warnings. Raises `Refused` before anything is changed."""
    target = _named(request.target, request.subtarget)
    if target and context.active_pose_bone:
        lowers = [context.active_pose_bone]
    else:
        lowers, target = _selection(context)
    pole = _named(request.pole_target, request.pole_subtarget)
    if target and len(lowers) > 1:
        raise Refused("Select one lower bone and a target, or several lower bones and no target")
    limbs = []
    for lower in lowers:
        ob = lower.id_data
        check_limb(lower)
        for goal in (target, pole):
            if goal:
                check_target(ob, lower, goal)
        posed = posture(context, ob, lower)
        if request.plane == "REST" and not target and posed.height > IN_PLANE:
            raise Refused(f"'{lower.name}' is posed out of its rest plane: choose Pole, or clear its pose first")
        plane = request.plane or ("POLE" if pole or posed.height > IN_PLANE else "REST")
        limbs.append(Limb(ob, lower, target, posed, plane))
    for limb in limbs:
        _add(context, limb, pole)
    live.refresh(context)
    off = [limb for limb in limbs if limb.plane == "POLE" and not request.plane and not pole]
    return [f"'{limb.lower.name}' is posed out of its rest plane: it got a pole" for limb in off]


def _add(context: Context, limb: Limb, pole: Target | None) -> None:
    name = limb.lower.name
    size = 0.15 * (limb.posed.tip - limb.posed.root).length or 0.1
    target = limb.target or Target(new_empty(context, f"target_{name}", limb.posed.tip, size), "")
    settings: dict[str, Any] = {"target": target.object, "subtarget": target.bone, "plane": limb.plane, "bend": 1.0}
    if limb.plane == "POLE":
        pole = pole or Target(new_empty(context, f"pole_{name}", pole_place(limb.posed), size), "")
        settings |= {"pole_target": pole.object, "pole_subtarget": pole.bone}
    else:
        settings["bend"] = limb.posed.bend
    add_chain(limb.object, limb.lower, settings)


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


def _named(name: str, bone: str) -> Target | None:
    if not name:
        if bone:
            raise Refused(f"Name the object that bone '{bone}' belongs to as well")
        return None
    ob = bpy.data.objects.get(name)
    if ob is None:
        raise Refused(f"There is no object '{name}'")
    if bone and not has_bone(ob, bone):
        raise Refused(f"'{name}' has no bone '{bone}'")
    return Target.read(ob, bone)
