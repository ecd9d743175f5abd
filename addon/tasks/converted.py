"""The limb that is made of IK constraints of Blender's own: what it is to be, and making it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import atan2, cos, inf, remainder, sin, tau
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Constraint, Context, PoseBone

from ..blender import editing, fcurves
from ..blender.animation import Clip, clips_besides, is_animated, move_curves
from ..blender.dependencies import Dependencies
from ..blender.rotation import get_turn, rotation_channel
from ..blender.types import Message, announce, has_bone, path_to_bone, tag_rig, view_layer_of
from ..finding import checking, constraints
from ..limb import settings, storage, tips, tolerances
from ..limb.follow import follow_of_constraint
from ..limb.rest_geometry import rest_geometry
from ..motion.fitting import Fit, Wish, fit, with_fit
from ..rigging.build import build
from ..rigging.description import Description, LimbRef
from ..rigging.features import live_for_now

FARTHEST = 10.0
"""The limit for a stretch that has none."""


class Conversion(NamedTuple):
    """What is known of a limb to be made from IK constraints, before anything is changed."""

    solvers: constraints.Solvers  # its constraints
    fit: Fit  # with which it stays where it is now
    others: list[Clip]  # actions of its rig that may move it, and are not in use
    bones: tuple[str, ...]  # the names of its bones, from the root down

    @property
    def name(self) -> LimbRef:
        """Its rig and the name of its last bone."""
        return self.solvers.limb.id_data, self.solvers.limb.name

    def looked_at(self, all_actions: bool) -> list[Clip]:
        """Those of the other actions in which the limb is to stay: all, or the other slots of the one in use."""
        data = self.name[0].animation_data
        return [clip for clip in self.others if all_actions or (data and clip.action == data.action)]


def conversion_of(context: Context, owner: PoseBone) -> Conversion:
    """Plan the limb of a bone's IK constraints. Raises `Refused`."""
    solvers = constraints.solvers_of(owner)
    limb = solvers.limb
    others = clips_besides(limb.id_data, tuple(f"{path_to_bone(bone.name)}." for bone in _moving_bones(solvers)))
    with constraints.at_full_influence(context, solvers):
        constraints.check_rest(context, solvers)
        follow = follow_of_constraint(solvers.acting)
        fitted = fit(context, limb, solvers.segments, follow, Wish(constraints.plane_of(solvers), "TAIL"), inf)
    return Conversion(solvers, fitted, others, tuple(bone.name for bone in solvers.bones))


def _moving_bones(solvers: constraints.Solvers) -> list[PoseBone]:
    """The bone with the constraints, those above it, and the bones of its rig that it follows."""
    ob, owner = solvers.owner.id_data, solvers.owner
    follow = [pair for constraint in solvers.constraints for pair in follow_of_constraint(constraint).pairs]
    return [
        owner,
        *owner.parent_recursive,
        *(ob.pose.bones[bone] for target, bone in follow if target == ob and has_bone(ob, bone)),
    ]


def make_converted(context: Context, plans: Sequence[Conversion], mode: str) -> list[Message]:
    """Make the planned limbs, posed on the rig (``RIG``) or by the add-on (``LIVE``). Returns warnings of what differs
    from the constraints."""
    rigs = dict.fromkeys(plan.name[0] for plan in plans)
    announce(*rigs)
    poled = [plan.solvers.acting == plan.solvers.poled for plan in plans]  # which is muted next
    with editing.keeping_unkeyed(context, rigs), editing.without_window_updates():
        descriptions = {plan.name: _described(plan, _muted(plan.solvers)) for plan in plans}
    warnings, dependencies = list[Message](), Dependencies()
    for plan in plans:
        if mode == "RIG":
            on_rig, live = live_for_now({plan.name: descriptions[plan.name]}, dependencies)
            descriptions |= on_rig
            warnings += live
        limits, above = _limits(plan.solvers, descriptions[plan.name])
        descriptions[plan.name] = descriptions[plan.name]._replace(choices=descriptions[plan.name].choices | limits)
        warnings += above
    build(context, descriptions)
    with editing.keeping_unkeyed(context, rigs), editing.without_window_updates():
        for plan, is_poled in zip(plans, poled, strict=True):
            solvers, limb = plan.solvers, plan.name[0].pose.bones[plan.name[1]]
            warnings += _differences(solvers)
            if len(solvers.constraints) == 2:
                switch_pole(limb, solvers.poled, constraints.muting(limb, solvers.free), is_poled)
            elif solvers.poled and is_animated(plan.name[0], solvers.poled.path_from_id("pole_angle")):
                follow_pole_angle(limb, solvers.poled)
            tag_rig(limb)
        view_layer_of(context).update()
    return warnings


def _described(plan: Conversion, before: dict[str, Any]) -> Description:
    """The limb of constraints, with the pole of the one that has one. Where the foot has them, the limb gets a
    constraint of ours that follows the same."""
    solvers, limb = plan.solvers, plan.solvers.limb
    taken, is_below = solvers.poled or solvers.free, solvers.owner != solvers.limb
    foot = tips.foot_of(limb)
    target, pole = (ref if ref[0] else None for ref in follow_of_constraint(taken).pairs)
    description = Description(
        solvers.segments,
        foot.name if foot else "",
        target=target,  # type: ignore[arg-type]
        pole=pole,  # type: ignore[arg-type]
        constraint=settings.CONSTRAINT_NAME if is_below else taken.name,
        converted_from=json.dumps(before),
    ).with_slider("influence", solvers.acting.influence)
    description = with_fit(description.with_choice("tip", "TAIL").of_its_bones(), limb, plan.fit)
    if len(solvers.constraints) == 2:
        description = description.with_choice("plane", "POLE").with_slider("pole", True)
    if _stretches(solvers):
        description = description.with_choice("stretch_max", FARTHEST).with_choice("stretch_volume", "UNIFORM")
        description = description.with_slider("stretch", 1.0)
    return description


def _stretches(solvers: constraints.Solvers) -> bool:
    return not solvers.slides and solvers.acting.use_stretch and max(bone.ik_stretch for bone in solvers.bones) > 0.0


def _muted(solvers: constraints.Solvers) -> dict[str, Any]:
    """Mute the constraints for good, and have what animates their influence animate that of the limb to be; what they
    were set to, see `limb.settings.CONVERTED_FROM`."""
    limb, ob = solvers.limb, solvers.limb.id_data
    acting = solvers.acting
    before: dict[str, Any] = {"acting": acting.name, "muted_drivers": []}
    if solvers.owner != limb:
        before["on_foot"] = True
    before["chain_count"] = {constraint.name: constraint.chain_count for constraint in solvers.all_together}
    before["mute"] = {constraint.name: constraint.mute for constraint in solvers.all_together}
    for constraint in solvers.all_together:
        if solvers.above:  # in whose way they would be though they are muted
            constraint.chain_count = len(solvers.segments)
        if (curve := constraints.muting(limb, constraint)) and not curve.mute:
            curve.mute = True
            before["muted_drivers"].append(curve.data_path)
        constraint.mute = True
    move_curves(ob, acting.path_from_id("influence"), storage.path_to_slider(limb.name, "influence"))
    return before


def _limits(solvers: constraints.Solvers, description: Description) -> tuple[dict[str, float], list[Message]]:
    """The limits that a limb has by the IK limits that its bones have about the hinge, of the first one where the limb
    is a hinge, and warnings of all others."""
    limb, warnings, limits = solvers.limb, dict[str, Message](), dict[str, float]()
    knees = list[tuple[int, float, float]]()
    plane, flip = description.choices["plane"], bool(description.sliders["flip"])
    geometry = rest_geometry(limb, solvers.segments, (), description.bend_axis, "TAIL", plane)
    for k, bone in enumerate(() if solvers.slides else solvers.bones):
        for limit in checking.limits_by_ik(bone):
            taken_over = checking.joint_limits(geometry, k, limit, plane, flip)
            if taken_over is None or (k == 0 and _stretches(solvers)):
                warnings[bone.name] = Message(LEFT_OUT[min(k, 1)], bone=bone.name)
            elif k and len(geometry.lengths) > 2:
                knees.append((k, taken_over["min_angle"], taken_over["max_angle"]))
            else:
                limits |= taken_over
    return limits | (checking.limits_of_knees(geometry, knees) if knees else {}), [*warnings.values()]


LEFT_OUT = (
    "IK limits of '{bone}' are left out: only a hinge of two bones that don't stretch has some for its first",
    "IK limits of '{bone}' are left out: they are not about its hinge",
)
"""Why limits are lost of a limb's first bone, and of its others."""


def why_moved(plan: Conversion, warnings: Sequence[Message]) -> Message:
    """What to tell the person of a limb that would move, by what was said of it."""
    bones, own = plan.name[0].pose.bones, {constraint.name for constraint in plan.solvers.all_together}
    others = (each for name in plan.bones for each in bones[name].constraints if not each.mute and each.name not in own)
    other = next((each.name for each in others if each.influence and not storage.is_mechanism_constraint(each)), "")
    because = "set Tolerance to more, or mute " + ("'{name}', which moves it too" if other else "what else moves it")
    if any(warning.template in LEFT_OUT for warning in warnings if warning.values.get("bone") in plan.bones):
        because = "its IK limits can't be kept. Set Tolerance to more, or take them off"
    if _stretches(plan.solvers):
        because = "Blender's IK stretches it within reach too. Switch its Stretch off, or set Tolerance to more"
    return Message("'{bone}' would move by {moved} of its length in frame {frame}: " + because, name=other)


def _differences(solvers: constraints.Solvers) -> list[Message]:
    """Warnings of what is otherwise than the constraint had it."""
    limb, warnings = solvers.limb, solvers.which_of_several()
    if names := ", ".join(f"'{bone.name}'" for bone in solvers.above):
        warnings.append(Message("IK turns {bones} no more: what it did is their own motion now", bones=names))
    influence = float(storage.read_slider(limb, "influence"))
    if 0.0 < influence < 1.0 or is_animated(limb.id_data, storage.path_to_slider(limb.name, "influence")):
        warnings.append(
            Message("The influence of '{bone}' blends rotations now, not the target's place", bone=limb.name)
        )
    if _stretches(solvers):
        warnings.append(Message("Within reach, the bones of '{bone}' keep their lengths now", bone=limb.name))
    return warnings


# limbs whose rig switches their pole on and off, as Rigify does


def switch_pole(limb: PoseBone, constraint: Constraint, switch: Any, is_poled: bool) -> None:
    """Have a limb, which has the slider for it, follow its pole only while ``switch``, a driver, gives 1, as
    ``is_poled`` says that it does now: the limb has the swivel that fits now. ``constraint`` is Blender's, with the
    pole, that it is made from."""
    ob, swivel = limb.id_data, storage.read_slider(limb, "swivel")
    storage.write_slider(limb, "pole", is_poled)
    pole = storage.path_to_slider(limb.name, "pole")
    poling = ob.animation_data.drivers.from_existing(src_driver=switch)
    poling.data_path, poling.mute = pole, False
    first = storage.bones_of_limb(limb)[0]
    channel = "" if first.lock_rotation[1] else rotation_channel(first.rotation_mode)
    turn, now, read = _turn_about_length(first, channel)
    sign = storage.outward_sign(limb)
    poled = swivel if is_poled else sign * _swivel_of(limb, constraint)
    free = 0.0 if is_poled else sign * remainder(sign * swivel - now, tau)
    if max(abs(poled), abs(free)) < tolerances.NO_TURN and not read:
        storage.write_slider(limb, "swivel", 0.0)
        return
    curve: Any = limb.driver_add(settings.slider_of("swivel").path)
    fcurves.reset(curve)
    paths = {"p": pole} | {name: f"{path_to_bone(first.name)}.{channel}[{index}]" for name, index in read.items()}
    for name, path in paths.items():
        variable = curve.driver.variables.new()
        variable.name = name
        variable.targets[0].id, variable.targets[0].data_path = ob, path
    poled, free = (number if abs(number) > tolerances.NO_TURN else 0.0 for number in (poled, free))
    turn = turn if sign > 0.0 else f"-{turn}"
    curve.driver.expression = f"{poled:.9g} if p>0.5 else {turn}+{free:.9g}".replace("+-", "-")


def follow_pole_angle(limb: PoseBone, constraint: Constraint) -> None:
    """Have a limb swivel as the pole angle says, whatever animates it, of the constraint that it is made from."""
    across, along = _pole_axes(limb)
    (a, c), (b, d) = ((axis[2], -axis[0]) for axis in (across, along))
    curve: Any = limb.driver_add(settings.slider_of("swivel").path)
    fcurves.reset(curve)
    variable = curve.driver.variables.new()
    variable.name, variable.targets[0].id = "p", limb.id_data
    variable.targets[0].data_path = constraint.path_from_id("pole_angle")
    sides = (f"({x:.9g})*cos(p)+({z:.9g})*sin(p)" for x, z in ((a, b), (c, d)))
    curve.driver.expression = f"{'-' if storage.outward_sign(limb) > 0.0 else ''}atan2({','.join(sides)})"


def _turn_about_length(bone: Any, channel: str) -> tuple[str, float, dict[str, int]]:
    """An expression of how much a bone is turned about its length by hand, how much it is now, and the numbers of its
    channel that the expression reads, by name."""
    if channel == "rotation_euler":
        return "y", bone.rotation_euler[1], {"y": 1}
    if channel == "rotation_quaternion":
        w, _, y, _ = bone.rotation_quaternion
        return "2*atan2(y,w)", 2.0 * atan2(y, w), {"w": 0, "y": 2}
    return "0", 0.0, {}


def _swivel_of(limb: PoseBone, constraint: Any) -> float:
    """What a constraint's pole angle is as a swivel: its pole is where an axis across the first bone points, ours where
    the knee does."""
    across, along = _pole_axes(limb)
    aside = across * cos(constraint.pole_angle) + along * sin(constraint.pole_angle)
    return -atan2(aside[2], -aside[0]) if np.hypot(aside[0], aside[2]) > tolerances.NO_TURN else 0.0


def _pole_axes(limb: PoseBone) -> tuple[Any, Any]:
    """The axes of the first bone that a pole angle is counted from, in the frame G of the bones' own pose: Blender
    turns them to the pole before it bends the limb."""
    choices, own = storage.choices_of(limb), tuple(tuple(get_turn(bone)) for bone in storage.bones_of_limb(limb))
    axis, _ = storage.stored_axes(limb)
    geometry: Any = rest_geometry(limb, storage.segments_of(limb), own, axis, choices["tip"], choices["plane"])
    x, _, z = (geometry.frame[:3, :3].T @ geometry.reference[0][:3, place] for place in range(3))
    return x, z
