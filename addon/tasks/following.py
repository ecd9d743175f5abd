"""What limbs follow and in which plane they bend: another target, pole or plane, and controls of their own. They
stay where they are, but for those that are given another target; and so do controls, in the frame that is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Matrix

from ..blender import animation, transaction
from ..blender.dependencies import BoneRef
from ..blender.stepping import finished
from ..blender.types import Message, Refused, announce, bones_of, own_matrix, tag_rig, view_layer_of
from ..finding.checking import check_editable, pickable
from ..limb import storage, tolerances
from ..limb.follow import (
    Follow,
    follow_of,
    has_pole_follow,
    is_gone,
    matrix_of,
)
from ..limb.rest_geometry import Turn, rest_geometry, rest_geometry_of
from ..motion import fitting, ik, matching, passing, placing, reading, thinning, writing
from ..motion.frames import frames_of, is_posed_by_hand, moved_by
from ..rigging.build import build
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import foot_turn_off, keeping_pose, level_feet, with_pole_follow
from ..rigging.feet import at_influence, foot_follows, foot_matrix_of
from ..solver.limb import MOVES_ROOT
from .new_controls import FittedLimb, pole_for, skins_of, target_for


@contextmanager
def keeping_poles(context: Context, limbs: Sequence[PoseBone]) -> Iterator[None]:
    """Within, limbs are changed; then poles that go with targets are seen where they were. Those that the limbs
    still follow."""
    refs, depsgraph = [(limb.id_data, limb.name) for limb in limbs], context.evaluated_depsgraph_get()
    following = [limb for limb in limbs if has_pole_follow(limb) and not is_gone(*follow_of(limb).pairs[1])]
    poled: Any = [(limb, follow_of(limb).pairs[1]) for limb in following]
    kept = [placed_at(pole, limb, matrix_of(pole[0], pole[1], depsgraph)) for limb, pole in poled]
    yield
    poles = [follow_of(ob.pose.bones[name]).pairs[1] for ob, name in refs]
    put_controls(context, [stay for stay in kept if stay.control in poles])


def placed_at(control: BoneRef, limb: PoseBone, matrix: Matrix, is_turned: bool = True) -> placing.ControlPlacing:
    """A control that is to be seen where a world matrix is, and turned so if ``is_turned``; the limb gives its size."""
    matrices, size = np.array([matrix], float), np.array([sum(rest_geometry_of(limb).lengths)])
    return placing.ControlPlacing(control, control, matrices[:, :3, 3], size, matrices if is_turned else None)


def put_controls(context: Context, kept: Sequence[placing.ControlPlacing]) -> None:
    """Have controls seen where they are to be, one of several limbs once. Raises `Refused`."""
    if kept:
        finished(ik.show_controls(writing.Task(context, None), [*{one.control: one for one in kept}.values()]))


__all__ = ["follow", "make_poles", "make_targets", "pickable", "refollow", "set_plane"]


@transaction.transactional
def follow(context: Context, limbs: Sequence[PoseBone], role: str, followed: BoneRef) -> None:
    """Set the ``target`` or ``pole`` of limbs. Raises `Refused`."""
    if followed not in [*pickable(context, limbs)]:
        raise Refused("Pick something that does not move with the limb")
    refollow(context, {ref_of(limb): describe(ref_of(limb)).following(role, followed) for limb in limbs})


def refollow(context: Context, descriptions: Mapping[LimbRef, Description]) -> None:
    """Set target and pole of limbs as described; feet and poles stay where they are. A limb that gets a pole points
    at it."""
    with keeping_poles(context, [ob.pose.bones[name] for ob, name in descriptions]):
        build(context, {limb: keeping_pose(context, limb, description) for limb, description in descriptions.items()})


@transaction.transactional
def set_plane(context: Context, limbs: Sequence[PoseBone], plane: str) -> list[Message]:
    """Set the plane that limbs bend in, by its name in `Plane`; they stay where they are in every frame. Limbs without
    a pole get one if the plane needs it. Returns warnings of those that can't stay. Raises `Refused`."""
    if plane not in MOVES_ROOT:
        keep_slid(context, limbs)
    return _refit(context, limbs, lambda description: description.with_choice("plane", plane))


def make_targets(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Make a new target for each limb, at its tip. Raises `Refused`."""
    level_feet(limbs)
    view_layer_of(context).update()
    _refit(context, limbs, without_target)


def make_poles(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Make a new pole for each limb, where its knee points. Raises `Refused`."""
    _refit(context, limbs, lambda description: description.with_choice("plane", "POLE")._replace(pole=None))


@transaction.transactional
def _refit(context: Context, limbs: Sequence[PoseBone], changed: Callable[[Description], Description]) -> list[Message]:
    refs, seen = [ref_of(limb) for limb in limbs], moved_by(limbs)
    before = {ref: describe(ref) for ref in refs}
    frames = frames_of(context, seen)
    task = writing.Task(context, frames.at, tolerances.KEPT, stays=is_posed_by_hand(context, seen), cycle=frames.cycle)
    is_moved = any({old.choices["plane"], changed(old).choices["plane"]} & {*MOVES_ROOT} for old in before.values())
    times = thinning.sampling_of(task.frames).frames if frames.at else None
    recording = finished(passing.record(context, limbs, times, influence=1.0, progress=task.next_progress()))
    poses = {ref_of(limb): matching.evaluated_poses(recording, limb, storage.segments_of(limb)) for limb in limbs}
    poses = poses if frames.at and not is_moved else {}
    with keeping_poles(context, limbs):
        for limb in limbs:
            check_editable(limb)
        with at_influence(context, limbs, 1.0):
            descriptions = {ref: _refitted(context, ref, changed(old), recording) for ref, old in before.items()}
        if poses and not task.stays:
            descriptions = {ref: _with_keyed(ref, new, before[ref]) for ref, new in descriptions.items()}
        build(context, descriptions)
    if not poses:
        return []
    has_new = any(describe(ref).followed != before[ref].followed for ref in refs)
    shown = finished(ik.show_in_ik(task, [ob.pose.bones[name] for ob, name in refs], poses, moves_controls=has_new))
    return shown.warnings


def _with_keyed(ref: LimbRef, new: Description, before: Description) -> Description:
    """A limb with those sliders as before that have keys."""
    keyed = {
        name
        for name in new.sliders
        if name in before.sliders and animation.is_animated(ref[0], storage.path_to_slider(ref[1], name))
    }
    return new._replace(sliders=new.sliders | {name: before.sliders[name] for name in keyed})


def without_target(limb: Description) -> Description:
    """The description without its target, and without a pole that was made for it and hangs on that."""
    target, pole, hangs = limb.target, limb.pole, False
    if isinstance(pole, tuple) and isinstance(target, tuple) and storage.is_control(*pole[:2]):
        above = bones_of(pole[0])[pole[1]].parent
        hangs = above is not None and (pole[0], above.name) == target
    return limb._replace(target=None, pole=None if hangs else pole)


def _refitted(context: Context, ref: LimbRef, description: Description, recording: reading.Recording) -> Description:
    """A limb that stays as IK shows it, with controls for what it lacks: a pole where the knee points in what was
    read."""
    limb = ref[0].pose.bones[ref[1]]
    target, pole = (None if one is None or is_gone(*one) else one for one in (description.target, description.pole))
    follow, plane = Follow(*(target or (None, "")), *(pole or (None, ""))), description.choices["plane"]
    axis, turns = description.bend_axis or None, tuple[Turn, ...]()
    if plane == "POLE":
        seen, turns = fitting.bend_seen(recording, limb, description.segments, description.tip, True)
        axis = seen if turns else axis
    fitted = fitting.fit(context, limb, description.segments, follow, fitting.Wish(plane, description.tip, axis, turns))
    rest = rest_geometry(limb, description.segments, turns, fitted.bend_axis, description.tip, plane)
    seen_limb = FittedLimb(limb, description.segments, fitted, rest)
    foot_matrix = foot_matrix_of(limb) if foot_follows(limb) else None
    new_target: Any = target or target_for(context, seen_limb, foot_matrix is not None, skins_of([limb]))
    new_pole: Any = pole or (pole_for(seen_limb, new_target) if fitted.plane == "POLE" else None)
    description = fitting.with_fit(description, limb, fitted if new_pole is pole else fitted._replace(swivel=0.0))
    description = description._replace(target=new_target, pole=new_pole)
    if foot_matrix:
        description = description._replace(foot_turn=foot_turn_off(context, ref, new_target, foot_matrix))
    return with_pole_follow(description, ref)


def keep_slid(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Give first bones of limbs that slide a location by which they stay where they are, once nothing slides them."""
    for limb in [limb for limb in limbs if storage.choices_of(limb)["plane"] == "SLIDE"]:
        announce(limb.id_data)
        first: Any = storage.bones_of_limb(limb)[0]
        evaluated: Any = first.id_data.evaluated_get(context.evaluated_depsgraph_get())
        first.location = own_matrix(evaluated.pose.bones[first.name]).translation
        tag_rig(limb)
    view_layer_of(context).update()
