"""What limbs follow and in which plane they bend: another target, pole or plane, and controls of their own. They stay
where they are, but for those that are given another target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from bpy.types import Context, PoseBone

from ..blender.animation import is_animated
from ..blender.dependencies import BoneRef
from ..blender.stepping import Steps, finished
from ..blender.types import view_layer_of
from ..blender.words import Message, Refused
from ..finding.checking import pickable
from ..limb.storage import path_to_slider, segments_of
from ..limb.tips import foot_of
from ..limb.tolerances import KEPT
from ..limb.transactional import transactional
from ..motion.frames import frames_of, moved_by
from ..motion.ik import show_in_ik
from ..motion.passing import record
from ..motion.poses import LimbPoses, evaluated_poses
from ..motion.reading import matrices_of
from ..motion.thinning import sampling_of
from ..motion.writing import Task
from ..rigging.apply import apply
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import keeping_pose, reset_roll
from ..rigging.feet import foot_follows
from ..solver.limb import MOVES_ROOT
from .keeping_controls import keeping_poles
from .planned import is_posed_by_hand, let_turn, refitted, without_target

__all__ = ["follow", "make_poles", "make_targets", "pickable", "refollow", "set_plane"]


@transactional
def follow(context: Context, limbs: Sequence[PoseBone], role: str, followed: BoneRef) -> None:
    """Set the ``target`` or ``pole`` of limbs. Raises `Refused`."""
    if followed not in [*pickable(context, limbs)]:
        raise Refused("Pick something that does not move with the limb")
    refollow(context, {ref_of(limb): describe(ref_of(limb)).following(role, followed) for limb in limbs})


def refollow(context: Context, descriptions: Mapping[LimbRef, Description]) -> None:
    """Set target and pole of limbs as described. A limb that gets a pole points at it; feet and poles stay where they
    are."""
    with keeping_poles(context, [ob.pose.bones[name] for ob, name in descriptions]):
        apply(context, {limb: keeping_pose(context, limb, description) for limb, description in descriptions.items()})


@transactional
def set_plane(context: Context, limbs: Sequence[PoseBone], plane: str) -> list[Message]:
    """Set the plane that limbs bend in; limbs without a pole get one if the plane needs it. They stay where they are
    in every frame; returns warnings of those that can't. Raises `Refused`."""
    if plane not in MOVES_ROOT:
        let_turn(context, limbs)
    return _refit(context, limbs, lambda description: description.with_choice("plane", plane))


def make_targets(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Make a new target for each limb, at its tip. Raises `Refused`."""
    reset_roll(limbs)
    view_layer_of(context).update()
    _refit(context, limbs, without_target)


def make_poles(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Make a new pole for each limb, where its knee points. Raises `Refused`."""
    _refit(context, limbs, lambda description: description.with_choice("plane", "POLE")._replace(pole=None))


@transactional
def _refit(context: Context, limbs: Sequence[PoseBone], changed: Callable[[Description], Description]) -> list[Message]:
    refs, seen = [ref_of(limb) for limb in limbs], moved_by(limbs)
    before = {ref: describe(ref) for ref in refs}
    frames = frames_of(context, seen)
    task = Task(context, frames.at, KEPT, stays=is_posed_by_hand(context, seen), cycle=frames.cycle)
    is_moved = any({old.choices["plane"], changed(old).choices["plane"]} & {*MOVES_ROOT} for old in before.values())
    poses = finished(_poses_seen(task, limbs)) if frames.at and not is_moved else {}
    with keeping_poles(context, limbs):
        descriptions = refitted(context, refs, changed)
        if poses and not task.stays:
            descriptions = {ref: _with_keyed(ref, new, before[ref]) for ref, new in descriptions.items()}
        apply(context, descriptions)
    if not poses:
        return []
    has_new = any(describe(ref).followed != before[ref].followed for ref in refs)
    shown = finished(show_in_ik(task, [ob.pose.bones[name] for ob, name in refs], poses, moves_controls=has_new))
    return shown.warnings


def _with_keyed(ref: LimbRef, new: Description, before: Description) -> Description:
    """A limb with those sliders as before that have keys."""
    keyed = {name: value for name, value in before.sliders.items() if _is_keyed(ref, name)}
    return new._replace(sliders={name: keyed.get(name, value) for name, value in new.sliders.items()})


def _is_keyed(ref: LimbRef, slider: str) -> bool:
    return is_animated(ref[0], path_to_slider(ref[1], slider))


def _poses_seen(task: Task, limbs: Sequence[PoseBone]) -> Steps[dict[LimbRef, LimbPoses]]:
    """How IK has limbs in the frames of a task, and halfway between these."""
    times = sampling_of(task.frames).frames
    recording = yield from record(task.context, limbs, times, influence=1.0, progress=task.next_progress())
    poses = {}
    for limb in limbs:
        foot = foot_of(limb) if foot_follows(limb) else None
        matrices = matrices_of(recording, (foot.id_data, foot.name)) if foot else None
        poses[ref_of(limb)] = evaluated_poses(recording, limb, segments_of(limb))._replace(foot=matrices)
    return poses
