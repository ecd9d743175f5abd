"""Adding IK to limbs so that they stay where they are: controls, IK constraint, settings, and the foot that follows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Vector

from ..blender.dependencies import BoneRef, Dependencies
from ..blender.stepping import Steps, Stepwise
from ..blender.types import ArmatureObject, view_layer_of
from ..blender.words import Message, Refused
from ..limb.measuring import UNEVEN, is_uneven
from ..limb.storage import chain_bones, is_control
from ..limb.tips import foot_of
from ..limb.tolerances import FEWER_KEYS, KEPT
from ..limb.transactional import transactional_steps
from ..motion.ik import show_in_ik
from ..motion.inverse import angle_between
from ..motion.passing import record
from ..motion.poses import world_turns
from ..motion.reading import Asked, Recording, matrices_of, worlds_of
from ..motion.thinning import sampling_of
from ..motion.writing import Task
from ..rigging.apply import apply
from ..rigging.description import LimbRef
from ..rigging.features import live_for_now
from .planned import (
    AddOptions,
    LimbRequest,
    check_all,
    keys_let_go,
    leave_out_feet,
    mute_limiting,
    planned,
    record_before_adding,
    task_to_keep,
)

__all__ = ["FEWER_KEYS", "Added", "LimbRequest", "add"]


MOVED, TURNED = 5e-3, np.radians(3.0)
"""By how much bones may be off where they were, in lengths of their limb and in radians, before that is said."""


class Added(NamedTuple):
    """The limbs that were added, in how many frames keys keep their animation, and warnings."""

    limbs: list[PoseBone]
    kept: int
    warnings: list[Message]


SIZED, IF_UNEVEN = 1e-2, 0.2
"""By how much their sizes may be, in parts; and the part of all these from which on Add refuses where the object is
scaled unevenly: what people can mend."""

TURNS = {"FOUND": 0.0, "OTHER": pi, "LEFT": pi / 2.0, "RIGHT": -pi / 2.0}
"""By how much each choice of Bends turns the knee around the limb."""


def as_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `add` for the operator's settings."""
    same = ("tip", "keyed", "tolerance", "mode", "foot_roll", "pole_follows")
    options = {name: settings[name] for name in same}
    return {**options, "foot": settings["foot_follows"], "turn": TURNS[settings["bends"]]}


@Stepwise
@transactional_steps
def add(
    context: Context,
    requests: Sequence[LimbRequest],
    knee: str = "AUTO",
    foot: bool = True,
    tip: str = "FOOT",
    turn: float = 0.0,
    keyed: str = "KEEP",
    tolerance: float = FEWER_KEYS,
    mode: str = "LIVE",
    foot_roll: bool = False,
    pole_follows: bool = True,
) -> Steps[Added]:
    """Put IK on limbs, of one rig or several; raises `Refused`, and then nothing is done.

    What a limb is to follow and is not given is made, as bones of its rig. ``knee`` says with which plane where the
    request does not; ``POLE`` also makes a pole, which on legs goes with the target if it ``pole_follows``. With
    ``foot``, the foot or hand below turns with the target; with ``foot_roll``, feet that do so roll. ``tip`` says where
    the tip is: where the ``FOOT`` begins, or the last bone's ``TAIL``. ``turn`` is by how much the knees are to be
    turned around the limbs, from where they point by themselves. Where bones, or what carries them, have keys, ``KEEP``
    of ``keyed`` gives what is made keys too, so that each frame looks as before, to a ``tolerance`` in lengths of the
    limb; ``LEAVE`` does not. ``mode`` says what poses the limbs: their ``RIG``, or the add-on (``LIVE``).
    """
    check_all(requests, Dependencies())
    warnings, dependencies = list[Message](), Dependencies()
    task = task_to_keep(context, requests if keyed == "KEEP" else (), tolerance)
    frames: Any = task.frames
    options = AddOptions(knee, foot, tip, turn, foot_roll=foot_roll, pole_follows=pole_follows)
    recording = yield from record_before_adding(task, requests)
    plans, left_out = planned(context, requests, options, dependencies, recording)
    requests, warnings = [plan.request for plan in plans], warnings + left_out
    new = [plan.limb for plan in plans if not plan.request.is_led]
    led = [plan.limb for plan in plans if turn or plan.request.is_led or plan.request.pole]
    places, descriptions = bone_places(context, plans, led), {plan.limb: plan.description for plan in plans}
    if mode == "RIG":
        descriptions, on_rig = live_for_now(descriptions, dependencies)
        warnings += on_rig
    warnings += mute_limiting(plans) + (keys_let_go(requests) if keyed == "KEEP" else [])
    apply(context, descriptions)
    leave_out_feet(context, plans)
    check_still(context, places, KEPT)
    if frames:
        limbs = [ob.pose.bones[bone] for ob, bone in new]
        warnings += (yield from show_in_ik(task, limbs, known=recording)).warnings
        lengths = {plan.limb: plan.length for plan in plans if plan.limb in new and plan.limb not in led}
        warnings += yield from _look_again(task, lengths, recording)
    return Added([ob.pose.bones[bone] for ob, bone in descriptions], len(frames), warnings)


def _look_again(task: Task, lengths: dict[LimbRef, float], before: Recording) -> Steps[list[Message]]:
    """Warnings of bones that limbs move, of these ``lengths``, feet and toes among them, which are not where they were
    ``before``: looked at in some frames, as whole matrices."""
    sampling, warnings, chains = sampling_of(task.frames), list[Message](), dict[LimbRef, list[BoneRef]]()
    uneven = {ob for ob, _ in lengths if is_uneven(np.array(ob.matrix_world))}
    for ob, name in lengths:
        limb, foot = ob.pose.bones[name], foot_of(ob.pose.bones[name])
        bones = [*chain_bones(limb), *((foot, *foot.children) if foot else ())]
        chains[ob, name] = [(ob, bone.name) for bone in bones]
    rows, frames = sampling.rows if uneven else sampling.checked, sampling.frames or []
    refs = [ref for chain in chains.values() for ref in chain]
    some = [frames[row] for row in rows]
    seen = yield from record(task.context, [], some, Asked(refs), progress=task.next_progress())
    for (ob, name), chain in chains.items():
        size = lengths[ob, name] * np.cbrt(np.abs(np.linalg.det(worlds_of(seen, ob)[:, :3, :3])))
        was, now = (np.stack([matrices_of(each, ref) for ref in chain]) for each in (before, seen))
        was = was[:, rows]
        moved = np.linalg.norm(was[..., :3, 3] - now[..., :3, 3], axis=-1) / size
        turned = angle_between(*(tuple(np.moveaxis(world_turns(each), -1, 0)) for each in (was, now)))
        sizes = np.linalg.norm(now[..., :3, :3], axis=-2) / np.linalg.norm(was[..., :3, :3], axis=-2)
        worst = np.max([moved / MOVED, turned / TURNED, np.abs(sizes - 1.0).max(axis=-1) / SIZED], axis=0)
        bone, at = (int(i) for i in np.unravel_index(worst.argmax(), worst.shape))
        if ob in uneven and worst.max() > IF_UNEVEN:
            raise Refused(UNEVEN, object=ob.name, bone=chain[bone][1])
        if worst.max() > 1.0:
            template = "'{bone}' is not where it was in frame {frame}: by {moved} of the limb's length and {angle}°"
            values: Any = {"moved": f"{moved[bone, at]:.2g}", "angle": f"{np.degrees(turned[bone, at]):.1f}"}
            warnings.append(Message(template, bone=chain[bone][1], frame=round(frames[rows[at]]), **values))
    return warnings


Heads = dict[LimbRef, Vector]
"""Where bones begin in their armature, evaluated, by rig and name."""


class Places(NamedTuple):
    """Where bones of rigs begin, but for those that may move; and how long the limbs of bones are, in the armature's
    unit."""

    heads: Heads
    lengths: dict[LimbRef, float]


def bone_places(context: Context, plans: Sequence[Any], led: Sequence[LimbRef]) -> Places:
    """Where the bones of the rigs of limbs begin before these are made as planned; those of limbs that are ``led``
    elsewhere may move, and what hangs on them."""
    lengths = {(bone.id_data, bone.name): plan.length for plan in plans for bone in plan.chain}
    free = [bone for plan in plans if plan.limb in led for bone in plan.chain]
    free += [below for bone in free for below in bone.children_recursive]
    heads = _heads_of(context, (plan.limb[0] for plan in plans))
    for bone in free:
        heads.pop((bone.id_data, bone.name), None)
    return Places(heads, lengths)


def _heads_of(context: Context, rigs: Iterable[ArmatureObject]) -> Heads:
    """Where the bones of rigs begin now, but for controls that Add made, which it may take up again."""
    view_layer_of(context).update()
    depsgraph = context.evaluated_depsgraph_get()
    evaluated: list[tuple[ArmatureObject, Any]] = [(ob, ob.evaluated_get(depsgraph)) for ob in dict.fromkeys(rigs)]
    bones = [(ob, bone) for ob, now in evaluated for bone in now.pose.bones if not is_control(ob, bone.name)]
    return {(ob, bone.name): bone.head.copy() for ob, bone in bones}


def check_still(context: Context, before: Places, tolerance: float) -> None:
    """Refuse if bones begin elsewhere than before: by more than a tolerance in lengths of their limb, or of the longest
    one of their rig."""
    heads, lengths = before
    now = _heads_of(context, (ob for ob, _ in heads))
    longest: dict[ArmatureObject, float] = {}
    for (ob, _), length in lengths.items():
        longest[ob] = max(length, longest.get(ob, 0.0))
    rough = {ob: _step_of(ob, heads) for ob in longest}
    worst, most = "", 0.0
    for (ob, name), place in heads.items():
        if (ob, name) not in now:
            continue
        length = lengths.get((ob, name), longest[ob])
        moved = (now[ob, name] - place).length / length
        if moved > max(tolerance, most, sqrt(rough[ob] / length)):
            worst, most = name, moved
    if worst:
        template = "'{bone}' would move by {moved} of the limb's length: mute what else poses it, or choose other bones"
        raise Refused(template, bone=worst, moved=f"{most:.2g}")


def _step_of(ob: ArmatureObject, heads: Heads) -> float:
    """Between which numbers Blender rounds as far out as the bones of a rig go, in its unit. A straight limb whose
    length is off by a step at either end has its knee off by up to the square root of that, both in limb lengths."""
    bones = ob.data.bones
    farthest = max(
        (place.length + bones[name].length for (rig, name), place in heads.items() if rig == ob), default=0.0
    )
    away = ob.matrix_world.translation.length / max(ob.matrix_world.median_scale, 1e-9)
    return float(np.spacing(np.float32(max(farthest, away))))
