"""``add`` and ``convert``: limbs of bones that are named or match a pattern."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable
from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender.stepping import finished
from ..blender.types import ArmatureObject, view_layer_of
from ..blender.words import Refused
from ..tasks.adding import LimbRequest, add
from ..tasks.converting import NOTICED_MOVE, convert_what_can
from ..tasks.limbs import is_converted, is_leg, limbs_of
from ..tasks.selection import candidates, existing_at, limbs_to_make, limbs_without_ik
from .interrupting import going_on
from .patterns import fill_wildcards, is_match, matches_of
from .shots import rigs_of, say

BoneName = tuple[Any, str]
"""A rig and the name of one of its bones, which Edit Mode keeps."""


def editable_rigs(arguments: Namespace) -> list[Any]:
    """The rigs that are asked for and are of the open file."""
    return [ob for ob in rigs_of(arguments) if ob.library is None]


def make_limbs(arguments: Namespace) -> tuple[list[PoseBone], int]:
    """Add the limbs that are asked for and don't exist yet; returns all of them, and how many are new."""
    requests: dict[BoneName, LimbRequest] = {}
    present: dict[BoneName, None] = {}
    for ob in editable_rigs(arguments):
        for description in arguments.limb:
            pattern, *followed = [*description.split(":"), "", ""][:3]
            limbs, new = _limbs_matched(ob, pattern, arguments.bones)
            present |= dict.fromkeys((ob, limb.name) for limb in limbs)
            for limb, segments, letters in new:
                target, pole = (_named(ob, fill_wildcards(name, letters)) for name in followed)
                request = LimbRequest(limb, segments, target, pole, arguments.plane or "AUTO")
                requests.setdefault((ob, limb.name), request)
    for ob in dict.fromkeys(ob for ob, _ in requests):
        _add_limbs(ob, [request for (rig, _), request in requests.items() if rig == ob], arguments)
    return [ob.pose.bones[name] for ob, name in {**present, **requests}], len(requests)


def legs_of(arguments: Namespace) -> tuple[list[PoseBone], list[LimbRequest]]:
    """The legs that are asked for: those that have IK, by their last bones, and those that are to get it."""
    rigs = [ob for ob in editable_rigs(arguments) if ob.pose.bones]
    there = [limb for ob in rigs for limb in limbs_of(ob) if is_leg(limb)]
    new = [line for ob in rigs for line in limbs_without_ik([*ob.pose.bones]) if is_leg(*line)]
    requests = [LimbRequest(limb, segments) for limb, segments in new if is_match(limb.name, arguments.bone)]
    return _matching(arguments, there), requests


def _limbs_matched(
    ob: ArmatureObject, pattern: str, count: int
) -> tuple[list[PoseBone], list[tuple[PoseBone, tuple[int, ...], list[str]]]]:
    """The last bones of the limbs that are there already, and the limbs to be made: last bone, segments and what the
    wildcards stand for, in the last bone's name if that is matched too.

    The bones that a pattern matches are taken as where they are selected in the window, but none is a target: what they
    are to follow is named."""
    letters = {ob.pose.bones[name]: letters for name, letters in matches_of(pattern, ob.pose.bones.keys()).items()}
    existing = {bone: existing_at(bone) for bone in letters}
    there = [*dict.fromkeys(filter(None, existing.values()))]
    new = [bone for bone in letters if existing[bone] is None]
    try:
        limbs = limbs_to_make(new, count) if new else {}
    except Refused:
        if not there:
            raise
        limbs = {}
    of_limbs = {limb: letters[limb[0] if limb[0] in bones else bones[0]] for limb, bones in limbs.items()}
    return there, [(*limb, wildcards) for limb, wildcards in of_limbs.items()]


def _add_limbs(ob: ArmatureObject, requests: list[LimbRequest], arguments: Namespace) -> None:
    view_layer_of(bpy.context).objects.active = ob
    mode = "LIVE" if arguments.live else "RIG"
    added = finished(add.steps(bpy.context, requests, mode=mode), going_on)
    for warning in added.warnings:
        say(f"{ob.name}: {warning}")


def _named(ob: ArmatureObject, name: str) -> tuple[Object, str] | None:
    """The bone of the rig, else the object, of a name; None without one."""
    if not name:
        return None
    if name in ob.pose.bones:
        return ob, name
    target = bpy.data.objects.get(name)
    if target is None:
        raise Refused("there is neither a bone of '{rig}' nor an object '{name}'", rig=ob.name, name=name)
    return target, ""


def convert_limbs(arguments: Namespace) -> tuple[list[PoseBone], int, list[tuple[PoseBone, str]]]:
    """Convert IK constraints to limbs; returns all limbs that were constraints, how many are new, and the bones whose
    constraints were left, with why."""
    tolerance = NOTICED_MOVE if arguments.tolerance is None else arguments.tolerance
    mode = "LIVE" if arguments.live else "RIG"
    names: list[BoneName] = []
    refused: list[tuple[BoneName, Refused]] = []
    owners = bones_to_convert(arguments)
    for ob in dict.fromkeys(owner.id_data for owner in owners):
        view_layer_of(bpy.context).objects.active = ob
        of_rig = [owner for owner in owners if owner.id_data == ob]
        steps = convert_what_can.steps(bpy.context, of_rig, tolerance, mode, arguments.all_actions)
        done = finished(steps, going_on)
        names += done.limbs
        refused += done.refused
        for warning in done.warnings:
            say(f"{ob.name}: {warning}")
    limbs = {*_bones(names), *(limb for limb in limbs_converted(arguments))}
    ordered = [limb for ob in editable_rigs(arguments) for limb in limbs_of(ob) if limb in limbs]
    return ordered, len(names), [(ob.pose.bones[name], str(why)) for (ob, name), why in refused]


def bones_to_convert(arguments: Namespace) -> list[PoseBone]:
    """The bones with IK constraints that are asked for."""
    return _matching(arguments, (owner for ob in editable_rigs(arguments) for owner in candidates(ob)))


def limbs_converted(arguments: Namespace) -> list[PoseBone]:
    """The last bones of limbs that are asked for and were IK constraints before."""
    limbs = (limb for ob in editable_rigs(arguments) for limb in limbs_of(ob))
    return _matching(arguments, filter(is_converted, limbs))


def _matching(arguments: Namespace, bones: Iterable[PoseBone]) -> list[PoseBone]:
    return [bone for bone in bones if is_match(bone.name, arguments.bone)]


def _bones(names: Iterable[BoneName]) -> list[PoseBone]:
    return [ob.pose.bones[name] for ob, name in names]
