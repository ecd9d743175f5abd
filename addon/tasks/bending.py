"""Giving limbs that are there another plane, or another target or pole of their own, so that they stay where they
are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.types import bones_of, is_armature, tag, takes_bones, view_layer_of
from ..finding.checking import check_editable
from ..limb.follow import Follow, follow_of, is_gone, write
from ..limb.rest_geometry import rest_geometry
from ..limb.settings import GROUP
from ..limb.sides import axes_kept
from ..limb.storage import choices_of, is_control, limb_constraint_of, segments_of
from ..limb.whole import wholly
from ..limb.words import Refused
from ..poses.fitting import apply_fit, fit
from ..rigging.controls import take_away_unused
from ..rigging.feet import at_influence, foot_follows, stand_of
from ..rigging.pole_follow import rebuild_pole_follow
from ..rigging.rolling import level, refollow
from .adding import Plan, Request, followed_by
from .modes import rebuild_mechanisms


def set_plane(context: Context, lasts: Sequence[PoseBone], plane: str) -> None:
    """Have limbs bend in another plane; those that lack a pole for it get one. Raises `Refused`."""
    _refit(context, lasts, plane)


def make_targets(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs new targets, where their tips are. Raises `Refused`."""
    _refit(context, lasts, renewed="target")


def make_poles(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Give limbs new poles, where their knees point. Raises `Refused`."""
    _refit(context, lasts, "POLE", renewed="pole")


@wholly
def _refit(context: Context, lasts: Sequence[PoseBone], plane: str = "", renewed: str = "") -> None:
    for last in lasts:
        check_editable(last)
    if renewed == "target":
        level(lasts)
        view_layer_of(context).update()
    followed = [(ob, bone) for last in lasts for ob, bone in follow_of(last).pairs if ob is not None]
    with at_influence(context, lasts, 1.0):
        plans = [_plan(context, last, plane or choices_of(last)["plane"], renewed) for last in lasts]
        stands = {i: stand_of(plan.last) for i, plan in enumerate(plans) if foot_follows(plan.last)}
    for kind in dict.fromkeys(map(_kind, plans)):
        of_kind = [plan for plan in plans if _kind(plan) == kind]
        for plan, follow in zip(of_kind, followed_by(context, of_kind, kind, bool(stands)), strict=True):
            _take(plan, follow)
    rebuild_mechanisms(context, [plan.last for plan in plans])
    for plan in plans:
        tag(plan.last)
    view_layer_of(context).update()
    rebuild_pole_follow(context, [plan.last for plan in plans])
    for i, stand in stands.items():
        refollow(context, plans[i].last, stand)
    if renewed:
        take_away_unused(context, followed)
    view_layer_of(context).update()


def _plan(context: Context, last: PoseBone, plane: str, renewed: str) -> Plan:
    """How a limb is to bend from now on, and what it is to follow besides what is made."""
    target, pole = (None if is_gone(*followed) else followed for followed in follow_of(last).pairs)
    if renewed == "pole" or (renewed == "target" and _hangs_on(pole, target)):
        pole = None
    target = None if renewed == "target" else target
    group: Any = last[GROUP]
    segments, tip = segments_of(last), group.get("tip", "FOOT")
    follow = Follow(*(target or (None, "")), *(pole or (None, "")))
    fitted = fit(context, last, segments, follow, plane, tip, axis=axes_kept(last)[0] if "bend_axis" in group else None)
    request = Request(last, segments, target, pole, plane)  # type: ignore[arg-type]
    return Plan(last.id_data, last.name, request, fitted, rest_geometry(last, segments, (), fitted.bend_axis, tip))


def _hangs_on(pole: Any, target: Any) -> bool:
    """Whether a pole that was made for a limb goes with its target."""
    if pole is None or target is None or not is_control(*pole):
        return False
    (ob, name), (followed, bone) = pole, target
    above = bones_of(ob)[name].parent if name else ob.parent
    return above is not None and ((ob, above.name) if name else (above, "")) == (followed, bone)


def _kind(plan: Plan) -> str:
    """What is made for a limb: what its target is, else a bone where its rig takes one."""
    target = plan.request.target
    is_bone = takes_bones(plan.ob) if target is None else bool(target[1]) and is_armature(target[0])
    return "BONES" if is_bone and takes_bones(plan.ob) else "EMPTIES"


def _take(plan: Plan, follow: Follow) -> None:
    """Have a limb follow things, and bend as its plan says."""
    last = plan.last
    constraint = limb_constraint_of(last)
    if constraint is None:
        raise Refused("'{bone}' has no IK", bone=plan.name)
    is_new = plan.fit.plane == "POLE" and plan.request.pole is None
    write(constraint, follow)
    apply_fit(last, plan.fit._replace(swivel=0.0) if is_new else plan.fit, last[GROUP].get("tip", "FOOT"))
