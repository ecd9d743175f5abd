"""Turning Blender's own IK constraints of two to four bones into limbs, which stay where they are in every frame of
what is animated, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import copysign, inf, pi
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.animation import actions_besides, is_animated, move_curves, using_action
from ..blender.dependencies import Dependencies
from ..blender.editing import frame_held, unkeyed_kept
from ..blender.transaction import all_or_nothing
from ..blender.types import ArmatureObject, path_to_bone, path_to_custom, scene_of, tag, view_layer_of
from ..finding.constraints import (
    STRETCHED,
    Solvers,
    at_full_influence,
    check_rest,
    muting,
    plane_of,
    solvers_of,
)
from ..limb.follow import read, write
from ..limb.rest_geometry import rest_geometry
from ..limb.settings import CONVERTED_FROM, GROUP, SLIDER, UNLIMITED
from ..limb.storage import hierarchy, is_converted, make_limb, mode_of
from ..limb.tips import tip_of
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..live import refresh
from ..live.settings import is_live
from ..poses.channels import Channel
from ..poses.fitting import Fit, apply_fit, fit
from ..poses.keeping import frames_of
from ..poses.matching import LimbName, LimbPoses, poses_shown, solved_joints
from ..poses.over_frames import show_in_ik
from ..poses.pole_switch import switch_pole
from ..poses.reading import Progress, Recording, limbs_read, poses_of, record, worlds_of
from ..poses.writing import Task
from ..solver.matrices import applied, inverted_all
from .modes import put_on_rig
from .removing import remove
from .setting import set_slider

Array = NDArray[Any]

FARTHEST = 10.0
"""The limit for a stretch that has none."""

MOVED = 2e-3
"""By how much a limb may move, in its lengths, without keys of swivel, flip and ankle that keep it."""

KEPT = 5e-4
"""How far these may have joints off for the sake of fewer keys, in lengths of the limb."""


class Converted(NamedTuple):
    """What was done."""

    lasts: list[tuple[ArmatureObject, str]]  # the limbs that were made, by rig and last bone's name
    refused: list[Refused]  # why others were not
    warnings: list[Message]  # what is otherwise than the constraints had it


class Sighting(NamedTuple):
    """Where constraints have limbs in some frames of an action."""

    ob: ArmatureObject | None  # the rig whose action that is; None for what animates all of them now
    action: Any
    frames: Sequence[int] | None  # None for the frame as it is, unkeyed changes included
    joints: dict[LimbName, Array]  # (frames, joints, 3): knees and tail, in the armature and in lengths of the limb
    poses: dict[LimbName, LimbPoses]  # how the bones stand


class Conversion(NamedTuple):
    """All that is known of a limb to be, before anything is changed."""

    solvers: Solvers  # its constraints
    fit: Fit  # with which it stays where it is now
    others: list[Any]  # actions of its rig that may move it, and are not in use

    @property
    def name(self) -> LimbName:
        """Its rig and the name of its last bone."""
        return self.solvers.last.id_data, self.solvers.last.name


class NotKept(Exception):
    """Some limbs can't be ones without moving: why, by the rig and the name of the bone with the constraint."""

    def __init__(self, refused: dict[tuple[Any, str], Refused]) -> None:
        super().__init__(*map(str, refused.values()))
        self.refused = refused


@wholly
def convert(
    context: Context,
    lasts: Sequence[PoseBone],
    tolerance: float = MOVED,
    mode: str = "LIVE",
    all_actions: bool = False,
    progress: Progress | None = None,
) -> Converted:
    """Make limbs of the IK constraints that bones have, on the rig or live: those of which knee and tip stay within a
    tolerance, in lengths of the limb, as Blender evaluates them, in every frame of what is animated. Where these would
    move, swivel, flip and ankle get as many keys as that takes. ``all_actions`` does that in all actions of the rig,
    not only in the one in use. Raises `Refused` if there are none."""
    waiting, refused = [(last.id_data, last.name) for last in lasts], list[Refused]()
    while True:
        plans: list[Conversion] = []
        for ob, name in [*waiting]:
            try:
                plans.append(_conversion_of(context, ob.pose.bones[name]))
            except Refused as why:
                refused.append(why)
                waiting.remove((ob, name))
        if not plans:
            raise refused[0] if refused else Refused("Select bones with an IK constraint")
        limbs = [plan.name for plan in plans]
        try:
            with all_or_nothing(context, dict.fromkeys(ob for ob, _ in waiting)):
                warnings = _convert(context, plans, tolerance, mode, all_actions, progress)
        except NotKept as why:  # taken back, the others go on without them
            refused += why.refused.values()
            waiting = [owner for owner in waiting if owner not in why.refused]
            continue
        return Converted(limbs, refused, warnings)


def unconvert(context: Context, lasts: Sequence[PoseBone]) -> list[tuple[ArmatureObject, str]]:
    """Give limbs back to the constraints that they were, with what animates their influence."""
    for last in lasts:
        if not is_converted(last):
            raise Refused("'{bone}' was made by Planar IK: remove it instead", bone=last.name)
    named = [(last.id_data, last.name) for last in lasts]
    remove(context, lasts)
    return named


def _conversion_of(context: Context, owner: PoseBone) -> Conversion:
    """What is to be known of the limb of a bone's constraints; raises `Refused`."""
    solvers = solvers_of(owner)
    last = solvers.last
    others = actions_besides(last.id_data, tuple(f"{path_to_bone(bone.name)}." for bone in _moving_bones(solvers)))
    with at_full_influence(context, solvers):
        check_rest(context, solvers)
        fitted = fit(context, last, solvers.segments, read(solvers.acting), plane_of(solvers), "TAIL", inf)
    return Conversion(solvers, fitted, others)


def _convert(
    context: Context,
    plans: Sequence[Conversion],
    tolerance: float,
    mode: str,
    all_actions: bool,
    progress: Progress | None,
) -> list[Message]:
    """Look where limbs are, make them, and keep them there. Raises `NotKept`."""
    named, warnings = [plan.name for plan in plans], list[Message]()
    left_out = {} if all_actions else {plan.name: [action.name for action in plan.others] for plan in plans}
    sightings = _sightings(context, plans, all_actions, progress)
    owners = {plan.name: (plan.solvers.owner.id_data, plan.solvers.owner.name) for plan in plans}
    for plan in plans:
        try:
            solvers_of(plan.solvers.owner)  # one before it may have taken its bones
            with all_or_nothing(context, [plan.name[0]]):
                warnings += _make_converted(context, plan.solvers, plan.fit)
        except Refused as why:
            raise NotKept({owners[plan.name]: why}) from why
    if mode == "RIG":
        warnings += put_on_rig(context, named)
    refresh(context)
    for sighting in sightings:
        warnings += _keep_still(context, sighting, owners, tolerance)
    for (_, name), actions in left_out.items():
        if actions:
            names = ", ".join(f"'{action}'" for action in actions)
            template = "'{bone}' may move in {actions}, not looked at: All Actions keeps it"
            warnings.append(Message(template, bone=name, actions=names))
    return warnings


def _moving_bones(solvers: Solvers) -> list[PoseBone]:
    """The bone with the constraints, those above it, and the bones of its rig that it follows."""
    ob, owner = solvers.owner.id_data, solvers.owner
    follow = [pair for constraint in solvers.constraints for pair in read(constraint).pairs]
    return [owner, *owner.parent_recursive, *(ob.pose.bones[bone] for target, bone in follow if target == ob and bone)]


def _sightings(
    context: Context, plans: Sequence[Conversion], all_actions: bool, progress: Progress | None
) -> list[Sighting]:
    """Where constraints have limbs in this frame, and in every frame of all that animates them now, and of other
    actions."""
    sightings = [_sighting(context, plans, None, None, None)]
    others = dict.fromkeys((plan.name[0], action) for plan in plans for action in plan.others if all_actions)
    for ob, action in [(None, None), *others]:
        moved = [plan for plan in plans if action is None or (plan.name[0] == ob and action in plan.others)]
        with using_action(ob, action):
            bones = [(plan.name[0], bone.name) for plan in moved for bone in plan.solvers.bones]
            if frames := frames_of(Dependencies().carriers(*bones)):
                sightings.append(_sighting(context, moved, ob, action, frames, progress))
    return sightings


def _sighting(
    context: Context,
    plans: Sequence[Conversion],
    ob: Any,
    action: Any,
    frames: Sequence[int] | None,
    progress: Progress | None = None,
) -> Sighting:
    bones = [bone for plan in plans for bone in plan.solvers.bones]
    refs = [(bone.id_data, bone.name) for bone in (*bones, *(bone.parent for bone in bones if bone.parent))]

    @contextmanager
    def fully() -> Iterator[None]:
        with ExitStack() as stack:
            for plan in plans:
                if plan.solvers.acting.influence < 1.0:
                    stack.enter_context(at_full_influence(context, plan.solvers))
            yield

    firsts = [plan.solvers.bones[0] for plan in plans]
    locations = [Channel.of_bone(first.id_data, first.name, "location") for first in firsts]
    recording = record(context, [], frames, refs, locations, progress=progress, within=fully)
    joints = {plan.name: _joints_seen(recording, plan.solvers.last, len(plan.solvers.segments)) for plan in plans}
    poses = {plan.name: poses_shown(recording, plan.solvers.last, plan.solvers.segments) for plan in plans}
    return Sighting(ob, action, frames, joints, poses)


def _joints_seen(recording: Recording, last: PoseBone, count: int) -> Array:
    """Knees and tail of a bone and those above it, so many in all, in the armature and in lengths of the limb, (frames,
    count, 3)."""
    ob, bones = last.id_data, hierarchy(last, count)
    places = [poses_of(recording, ob, bone.name)[:, :3, 3] for bone in bones[1:]]
    tail = np.broadcast_to(tip_of(last, "TAIL"), (recording.frames, 3))
    joints = np.stack([*places, applied(poses_of(recording, ob, last.name), tail)], axis=1)
    in_lengths: Array = joints / sum(bone.bone.length for bone in bones)
    return in_lengths


def _keep_still(
    context: Context, sighting: Sighting, owners: dict[LimbName, tuple[Any, str]], tolerance: float
) -> list[Message]:
    """Give limbs keys of swivel, flip and ankle where they would else move by more than a tolerance from where they
    were seen. Raises `NotKept` if one still does."""
    with using_action(sighting.ob, sighting.action):
        misses = _misses(context, sighting, [*sighting.joints])
        moved = [name for name, (off, _) in misses.items() if not off <= tolerance]
        if moved and sighting.frames is not None:
            task = Task(context, sighting.frames, min(KEPT, 0.25 * tolerance), stays=True)
            lasts = [ob.pose.bones[name] for ob, name in moved]
            show_in_ik(task, lasts, sighting.poses, moves_controls=False)
            misses |= _misses(context, sighting, moved)
    warnings, refused = list[Message](), dict[tuple[Any, str], Refused]()
    for (ob, name), (off, frame) in misses.items():
        values: dict[str, Any] = {"bone": name, "moved": f"{off:.2g}", "frame": frame}
        if not off <= tolerance:
            template = (
                "'{bone}' would move by {moved} of its length in frame {frame}: set Tolerance to more, or mute what "
                "else moves it"
            )
            refused[owners[ob, name]] = Refused(template, **values)
        elif off > MOVED:
            warnings.append(Message("'{bone}' moves by {moved} of its length in frame {frame}", **values))
    if refused:
        raise NotKept(refused)
    return warnings


def _misses(context: Context, sighting: Sighting, names: Sequence[LimbName]) -> dict[LimbName, tuple[float, int]]:
    """How far knees and tip of limbs are at most from where they were seen, in lengths of the limb, and in which
    frame, by IK as Blender evaluates them; of live limbs while *Live* is off, where they would be."""
    frames = sighting.frames
    recording = record(context, [ob.pose.bones[name] for ob, name in names], frames, influence=1.0)
    misses: dict[LimbName, tuple[float, int]] = {}
    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)
        solved = solved_joints(limbs, {**limbs.sliders, "influence": np.ones_like(limbs.own_length)})
        for row, last in enumerate(rig.lasts):
            before = sighting.joints[rig.object, last.name]
            if mode_of(last) == "RIG" or is_live(scene_of(context)):
                joints = _joints_seen(recording, last, before.shape[1])
            else:
                into = inverted_all(worlds_of(recording, rig.object))
                size = sum(rig.table.limbs[row].geometry.lengths)
                joints = applied(into[:, None], solved[:, row, : before.shape[1]]) / size
            off = np.abs(joints - before).reshape(len(joints), -1).max(axis=1)
            worst = int(np.argmax(np.where(np.isnan(off), inf, off)))
            frame = scene_of(context).frame_current if frames is None else frames[worst]
            misses[rig.object, last.name] = (float(off[worst]), frame)
    return misses


# making the limb


def _make_converted(context: Context, solvers: Solvers, fitted: Fit) -> list[Message]:
    """Make the limb, live. Returns warnings: what is otherwise than the constraint had it."""
    last, is_poled = solvers.last, solvers.acting == solvers.poled  # which is muted next
    with unkeyed_kept(context, [last.id_data]), frame_held():
        _take_over(solvers)
        apply_fit(last, fitted, "TAIL")
        warnings = [*_carry_limits_over(solvers), *_differences(solvers)]
        if len(solvers.constraints) == 2:
            switch_pole(last, solvers.poled, muting(last, solvers.free), is_poled)
        if _stretches(solvers):
            group: Any = last[GROUP]
            group["stretch_max"], group["stretch_volume"] = FARTHEST, "UNIFORM"
            set_slider(last, "stretch", 1.0)
        tag(last)
        view_layer_of(context).update()
    return warnings


def _stretches(solvers: Solvers) -> bool:
    return solvers.acting.use_stretch and max(bone.ik_stretch for bone in solvers.bones) > 0.0


def _take_over(solvers: Solvers) -> None:
    """Make the limb of the constraint with a pole, if there is one; both are muted for good. Where the foot has
    them, the limb gets a constraint of ours that follows the same."""
    last, ob = solvers.last, solvers.last.id_data
    taken, acting = solvers.poled or solvers.free, solvers.acting
    before: dict[str, Any] = {"chain_count": taken.chain_count, "acting": acting.name, "muted_drivers": []}
    if is_below := solvers.owner != last:
        before["on_foot"] = True
    before["mute"] = {constraint.name: constraint.mute for constraint in solvers.constraints}
    for constraint in solvers.constraints:
        if (curve := muting(last, constraint)) and not curve.mute:
            curve.mute = True
            before["muted_drivers"].append(curve.data_path)
        constraint.mute = True
    constraint = make_limb(last, solvers.segments, constraint=None if is_below else taken)
    if is_below:
        write(constraint, read(taken))
    last[GROUP][CONVERTED_FROM] = json.dumps(before)
    last[SLIDER["influence"].key] = acting.influence
    move_curves(ob, acting.path_from_id("influence"), path_to_custom(last.name, SLIDER["influence"].key))


def _carry_limits_over(solvers: Solvers) -> list[Message]:
    """Carry IK limits over that two bones have about the hinge, of the first one where the limb is a hinge. Returns
    warnings of all others."""
    last, warnings = solvers.last, []
    limits: Any = last[GROUP]
    axis = limits.get("bend_axis", (1.0, 0.0, 0.0))
    geometry = rest_geometry(last, solvers.segments, axis=axis, tip="TAIL")
    for k, bone in enumerate(solvers.bones):
        for about in _limited_axes(bone):
            along = float(geometry.normals[k]["xyz".index(about)])
            has_any = k == 1 or (limits.get("plane") == "HINGE" and not _stretches(solvers))
            if len(solvers.segments) > 2 or not has_any or abs(along) < 1.0 - STRETCHED:
                template = "IK limits of '{bone}' are left out: they are not about its hinge"
                warnings.append(Message(template, bone=bone.name))
                continue
            side = copysign(1.0, along)  # a turn about the normal takes as much from the knee's turn off straight
            low, high = sorted(side * getattr(bone, f"ik_{end}_{about}") for end in ("min", "max"))
            if k == 0:
                limits["root_min_angle"], limits["root_max_angle"] = max(low, -pi), min(high, pi)
                continue
            straight = geometry.angles[0] - geometry.angles[1]
            limits["min_angle"] = min(max(pi - straight + low, 0.0), pi)
            limits["max_angle"] = min(max(pi - straight + high, 0.0), pi)
    return warnings


def _limited_axes(bone: PoseBone) -> list[str]:
    """The axes about which a bone has IK limits: half a turn to either side is none."""
    axes = [axis for axis in "xyz" if not getattr(bone, f"lock_ik_{axis}") and getattr(bone, f"use_ik_limit_{axis}")]
    ends = {axis: (getattr(bone, f"ik_min_{axis}"), getattr(bone, f"ik_max_{axis}")) for axis in axes}
    return [axis for axis, (low, high) in ends.items() if low > -UNLIMITED or high < UNLIMITED]


def _differences(solvers: Solvers) -> list[Message]:
    """Warnings of what is otherwise than the constraint had it."""
    last, warnings = solvers.last, []
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
