"""The limb that is made of IK constraints of Blender's own: what it is to be, and making it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context

from ..blender.animation import is_animated, move_curves
from ..blender.announcing import announce
from ..blender.dependencies import Dependencies
from ..blender.editing import frame_held, unkeyed_kept
from ..blender.types import path_to_custom, tag, view_layer_of
from ..finding.constraints import Solvers, muting
from ..finding.limits import joint_limits, limits_by_ik
from ..limb.follow import read
from ..limb.rest_geometry import rest_geometry
from ..limb.settings import CONSTRAINT_NAME, SLIDER
from ..limb.tips import foot_of
from ..limb.words import Message
from ..poses.fitting import USUAL_AXIS, Fit, with_fit
from ..poses.matching import LimbName
from ..poses.pole_switch import switch_pole
from ..rigging.apply import apply
from ..rigging.description import Description
from .modes import live_for_now

FARTHEST = 10.0
"""The limit for a stretch that has none."""


class Conversion(NamedTuple):
    """All that is known of a limb to be, before anything is changed."""

    solvers: Solvers  # its constraints
    fit: Fit  # with which it stays where it is now
    others: list[Any]  # actions of its rig that may move it, and are not in use

    @property
    def name(self) -> LimbName:
        """Its rig and the name of its last bone."""
        return self.solvers.last.id_data, self.solvers.last.name


def make_converted(context: Context, plans: Sequence[Conversion], mode: str) -> list[Message]:
    """Make the limbs. Returns warnings: what is otherwise than the constraints had it."""
    rigs = dict.fromkeys(plan.name[0] for plan in plans)
    announce(*rigs)
    poled = [plan.solvers.acting == plan.solvers.poled for plan in plans]  # which is muted next
    with unkeyed_kept(context, rigs), frame_held():
        wishes = {plan.name: _described(plan, _muted(plan.solvers)) for plan in plans}
    warnings, dependencies = list[Message](), Dependencies()
    for plan in plans:
        if mode == "RIG":
            on_rig, live = live_for_now({plan.name: wishes[plan.name]}, dependencies)
            wishes |= on_rig
            warnings += live
        limits, left_out = _limits(plan.solvers, wishes[plan.name])
        wishes[plan.name] = wishes[plan.name]._replace(choices=wishes[plan.name].choices | limits)
        warnings += left_out
    apply(context, wishes)
    with unkeyed_kept(context, rigs), frame_held():
        for plan, is_poled in zip(plans, poled, strict=True):
            solvers, last = plan.solvers, plan.name[0].pose.bones[plan.name[1]]
            warnings += _differences(solvers)
            if len(solvers.constraints) == 2:
                switch_pole(last, solvers.poled, muting(last, solvers.free), is_poled)
            tag(last)
        view_layer_of(context).update()
    return warnings


def _described(plan: Conversion, before: dict[str, Any]) -> Description:
    """The limb of constraints, with the pole of the one that has one. Where the foot has them, the limb gets a
    constraint of ours that follows the same."""
    solvers, last = plan.solvers, plan.solvers.last
    taken, is_below = solvers.poled or solvers.free, solvers.owner != solvers.last
    foot = foot_of(last)
    target, pole = (ref if ref[0] else None for ref in read(taken).pairs)
    wish = Description(
        solvers.segments,
        foot.name if foot else "",
        target=target,  # type: ignore[arg-type]
        pole=pole,  # type: ignore[arg-type]
        constraint=CONSTRAINT_NAME if is_below else taken.name,
        converted_from=json.dumps(before),
    ).with_slider("influence", solvers.acting.influence)
    wish = wish.with_choice("tip", "TAIL")
    if len(solvers.segments) > 2:
        wish = wish.with_slider("ankle", 0.0)
    wish = with_fit(wish, last, plan.fit)
    if len(solvers.constraints) == 2:
        wish = wish.with_choice("plane", "POLE").with_slider("pole", True)
    if _stretches(solvers):
        wish = wish.with_choice("stretch_max", FARTHEST).with_choice("stretch_volume", "UNIFORM")
        wish = wish.with_slider("stretch", 1.0)
    return wish


def _stretches(solvers: Solvers) -> bool:
    return not solvers.slides and solvers.acting.use_stretch and max(bone.ik_stretch for bone in solvers.bones) > 0.0


def _muted(solvers: Solvers) -> dict[str, Any]:
    """Mute the constraints for good, and have what animates their influence animate that of the limb to be; what they
    were set to, see `limb.settings.CONVERTED_FROM`."""
    last, ob = solvers.last, solvers.last.id_data
    taken, acting = solvers.poled or solvers.free, solvers.acting
    before: dict[str, Any] = {"chain_count": taken.chain_count, "acting": acting.name, "muted_drivers": []}
    if solvers.owner != last:
        before["on_foot"] = True
    before["mute"] = {constraint.name: constraint.mute for constraint in solvers.all_acting}
    for constraint in solvers.all_acting:
        if (curve := muting(last, constraint)) and not curve.mute:
            curve.mute = True
            before["muted_drivers"].append(curve.data_path)
        constraint.mute = True
    move_curves(ob, acting.path_from_id("influence"), path_to_custom(last.name, SLIDER["influence"].key))
    return before


def _limits(solvers: Solvers, limb: Description) -> tuple[dict[str, float], list[Message]]:
    """The limits that a limb has by the IK limits that two bones have about the hinge, of the first one where the limb
    is a hinge, and warnings of all others."""
    last, warnings, limits = solvers.last, list[Message](), dict[str, float]()
    geometry = rest_geometry(last, solvers.segments, axis=limb.bend_axis or USUAL_AXIS, tip="TAIL")
    for k, bone in enumerate(() if solvers.slides else solvers.bones):
        for limit in limits_by_ik(bone):
            found = joint_limits(geometry, k, limit, limb.choices["plane"], bool(limb.sliders["flip"]))
            if found is None or (k == 0 and _stretches(solvers)):
                template = "IK limits of '{bone}' are left out: they are not about its hinge"
                warnings.append(Message(template, bone=bone.name))
                continue
            limits |= found
    return limits, warnings


def _differences(solvers: Solvers) -> list[Message]:
    """Warnings of what is otherwise than the constraint had it."""
    last, warnings = solvers.last, solvers.which_of_several()
    influence = float(last[SLIDER["influence"].key])
    if 0.0 < influence < 1.0 or is_animated(last.id_data, path_to_custom(last.name, SLIDER["influence"].key)):
        warnings.append(
            Message("The influence of '{bone}' blends rotations now, not the target's place", bone=last.name)
        )
    if _stretches(solvers):
        warnings.append(Message("Within reach, the bones of '{bone}' keep their lengths now", bone=last.name))
    if solvers.poled and is_animated(last.id_data, solvers.poled.path_from_id("pole_angle")):
        warnings.append(
            Message("What animates the pole angle of '{bone}' does nothing now: use Swivel", bone=last.name)
        )
    return warnings
