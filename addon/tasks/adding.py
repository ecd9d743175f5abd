"""Adding IK to limbs so that they stay where they are: controls, IK constraint, settings, and the foot that follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone

from ..blender.animation import Clip, changes, clips_besides, curves_everywhere, strips_of
from ..blender.dependencies import Dependencies
from ..blender.stepping import Steps, Stepwise
from ..blender.transaction import transactional_steps
from ..blender.types import path_to_bone, split_path
from ..blender.words import Message, Refused
from ..limb.solving import UNEVEN, is_uneven
from ..limb.storage import chain_bones, is_control
from ..limb.tips import length_of
from ..limb.tolerances import FEWER_KEYS, KEPT, TURNED
from ..motion.check import MovedBones, Played, Seen, Sighting, every_action, look, sight
from ..motion.frames import frames_of, is_posed_by_hand, moved_by
from ..motion.ik import show_in_ik
from ..motion.reading import Asked, poses_of
from ..motion.writing import Task
from ..rigging.build import build
from ..rigging.description import LimbRef, ref_of
from ..rigging.features import live_for_now
from .planned import AddOptions, LimbRequest, check_all, leave_out_feet, mute_limiting, planned

__all__ = ["FEWER_KEYS", "Added", "LimbRequest", "add"]


IF_UNEVEN = 0.2
"""The part of what may be off before it is said, from which on Add refuses where the object is scaled unevenly: what
people can mend."""

TURNS = {"FOUND": 0.0, "OTHER": pi, "LEFT": pi / 2.0, "RIGHT": -pi / 2.0}
"""By how much each choice of Bends turns the knee around the limb."""


class Added(NamedTuple):
    """The limbs that were added, in how many frames keys keep their animation, and warnings."""

    limbs: list[PoseBone]
    kept: int
    warnings: list[Message]


def as_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `add` for the operator's settings."""
    same = ("tip", "keyed", "tolerance", "mode", "foot_roll", "pole_follows")
    options = {name: settings[name] for name in same}
    return {**options, "foot": settings["foot_follows"], "turn": TURNS[settings["bends"]]}


@Stepwise
@transactional_steps
def add(
    context: Context,
    /,
    requests: Sequence[LimbRequest],
    keyed: str = "KEEP",
    tolerance: float = FEWER_KEYS,
    **options: Any,
) -> Steps[Added]:
    """Put IK on limbs, of one rig or several, by `AddOptions`; raises `Refused`, and then nothing is done.

    What a limb is to follow and is not given is made, as bones of its rig. Where bones, or what carries them, have
    keys, ``KEEP`` of ``keyed`` gives what is made keys too, so that each frame looks as before, to a ``tolerance`` in
    lengths of the limb; ``ALL`` does so in all actions of the rigs, and ``LEAVE`` in none.
    """
    how, dependencies = AddOptions(**options), Dependencies()
    check_all(requests, dependencies)
    now, before = yield from _seen_before(context, requests, keyed, tolerance)
    played = next((sighting for sighting in before if sighting.played == Played()), now)
    plans, warnings = planned(context, requests, how, dependencies, played.recording)
    descriptions, requests = {plan.limb: plan.description for plan in plans}, [plan.request for plan in plans]
    if how.mode == "RIG":
        descriptions, on_rig = live_for_now(descriptions, dependencies)
        warnings += on_rig
    warnings += [*mute_limiting(plans), *(_keys_let_go(requests, keyed) if keyed != "LEAVE" else ())]
    new = [plan.limb for plan in plans if not plan.request.is_led]
    still = [plan.limb for plan in plans if not (how.turn or plan.request.is_led or plan.request.pole)]
    build(context, descriptions)
    leave_out_feet(context, plans)
    yield from _check_still(now, [plan.limb for plan in plans], still)
    for sighting in before:
        with sighting.played.playing():
            limbs = [ob.pose.bones[name] for ob, name in (one.limb for one in sighting.moving) if (ob, name) in new]
            shown = yield from show_in_ik(sighting.task, limbs, known=sighting.recording)
            moving = [one for one in sighting.moving if one.limb in still]
            seen = yield from look(sighting.task, moving, sighting.recording)
        warnings += [*shown.warnings, *_told(seen.values())]
    kept = len(played.task.frames or ())
    return Added([ob.pose.bones[bone] for ob, bone in descriptions], kept, warnings)


def _seen_before(
    context: Context, requests: Sequence[LimbRequest], keyed: str, tolerance: float
) -> Steps[tuple[Sighting, list[Sighting]]]:
    """How limbs stand now, with all bones of their rigs; and in all frames in which something moves those that get a
    target, what hangs on them, or what carries them, but for what moves the whole rig: controls go along. That is what
    plays now, and if all is to be kept, each other action of their rigs."""
    limbs = [(request.limb, request.segments) for request in requests]
    new = [(request.limb, request.segments) for request in requests if not request.is_led and keyed != "LEAVE"]
    roots: Any = [(limb.id_data, [limb, *limb.parent_recursive][-1].name) for limb, _ in limbs]
    bones = [ref_of(bone) for ob in dict.fromkeys(ob for ob, _ in roots) for bone in ob.pose.bones]
    now, before = (yield from sight(Task(context, None), Played(), limbs, Asked(bones))), list[Sighting]()
    for played in every_action(_other_clips(requests) if keyed == "ALL" else ()):
        some = [limb for limb in new if played.owner in (None, limb[0].id_data)]
        refs = moved_by(limb for limb, _ in some)
        is_posed = played.owner is not None or is_posed_by_hand(context, refs)
        with played.playing():
            frames = frames_of(context, refs, {(ob, "") for ob, _ in refs})
            task = Task(context, frames.at, tolerance, stays=is_posed, cycle=frames.cycle, keys=frames.keys)
            if frames.at:
                before.append((yield from sight(task, played, some if played.owner else limbs, Asked(roots))))
    return now, before


def _told(seen: Iterable[Seen]) -> Iterator[Message]:
    """Warnings of limbs that are not where they were. Raises `Refused` where people can mend that."""
    for one in seen:
        worst, (ob, _) = one.worst(), one.moving.limb
        if worst.share > IF_UNEVEN and is_uneven(np.array(ob.matrix_world)):
            raise Refused(UNEVEN, object=ob.name, bone=worst.bone)
        if worst.share > 1.0:
            yield worst.message


def _check_still(now: Sighting, limbs: Sequence[LimbRef], still: Collection[LimbRef]) -> Steps[None]:
    """Refuse if bones of rigs are not where they were a moment ago, but for those of ``limbs`` that are not to be
    ``still``: by more than is kept, in lengths of their limb, or of the longest one of their rig."""
    moving = [one for one in now.moving if one.limb in still]
    known = {ref for one in now.moving if one.limb in limbs for ref in one.bones}
    for ob in dict.fromkeys(ob for ob, _ in limbs):
        others = [bone for bone in ob.pose.bones if not is_control(ob, bone.name) and ref_of(bone) not in known]
        others = [bone for bone in others if bone.name in now.recording.read[ob, "matrix"].row]
        size = max(one.size for one in now.moving if one.limb[0] == ob)
        lengths = np.array([length_of(bone.bone) for bone in others])
        moving.append(MovedBones((ob, ""), [ref_of(bone) for bone in others], lengths, size, len(others)))
    for (ob, _), one in (yield from look(now.task, [one for one in moving if one.bones], now.recording)).items():
        rounded = sqrt(_step_of(now, ob) / one.moving.size)
        worst = one.worst((max(KEPT, rounded) + TURNED, inf, inf))
        if worst.share > 1.0:
            template = (
                "'{bone}' would move by {moved} of the limb's length: mute what else poses it, or choose other bones"
            )
            raise Refused(template, bone=worst.bone, moved=f"{worst.moved:.2g}")


def _step_of(now: Sighting, ob: Any) -> float:
    """Between which numbers Blender rounds as far out as the bones of a rig go, in its unit. A straight limb whose
    length is off by a step at either end has its knee off by up to the square root of that, both in limb lengths."""
    refs = [ref for one in now.moving for ref in one.bones if ref[0] == ob]
    farthest = max(float(np.linalg.norm(poses_of(now.recording, *ref)[0, :3, 3])) for ref in refs)
    away = ob.matrix_world.translation.length / max(ob.matrix_world.median_scale, 1e-9)
    return float(np.spacing(np.float32(max(farthest, away))))


# animation that is not kept


def _keys_let_go(requests: Sequence[LimbRequest], keyed: str) -> Iterator[Message]:
    """Warnings of limbs with keys that follow something that is there, which gets none; and of actions of their rigs
    that are not in use, whose controls get none."""
    for limb, segments, target, *_ in requests:
        if target and _is_keyed(limb, segments):
            template = (
                "'{bone}' goes to '{target}', not by its keys: Snap IK to FK over a range has '{target}' go by these"
            )
            yield Message(template, bone=limb.name, target=target[1] or target[0].name)
    others = dict[Any, set[str]]()
    for ob, clip in _other_clips(requests) if keyed != "ALL" else ():
        others.setdefault(ob, set()).add(f"'{clip.action.name}'")
    for ob, names in others.items():
        bone = next(request.limb.name for request in requests if request.limb.id_data == ob)
        template = "'{bone}' has keys in {actions} too: Keep in All Actions has IK go by these"
        yield Message(template, bone=bone, actions=", ".join(sorted(names)))


def _other_clips(requests: Sequence[LimbRequest]) -> Iterator[tuple[Any, Clip]]:
    """The actions that move the bones of limbs, but not now, with their rigs."""
    for ob in dict.fromkeys(request.limb.id_data for request in requests):
        chains = [chain_bones(request.limb, request.segments) for request in requests if request.limb.id_data == ob]
        prefixes = tuple(f"{path_to_bone(bone.name)}." for chain in chains for bone in chain)
        playing = {*strips_of(ob, muted=False)}
        silent = [each for each in strips_of(ob) if each not in playing and each.action]
        clips = [*clips_besides(ob, prefixes), *(Clip(each.action, each.action_slot_handle) for each in silent)]
        yield from ((ob, clip) for clip in clips if any(curve.data_path.startswith(prefixes) for curve in clip.curves))


def _is_keyed(limb: PoseBone, segments: tuple[int, ...]) -> bool:
    """Whether keys turn the bones of a limb to be."""
    names = {bone.name for bone in chain_bones(limb, segments)}
    curves = curves_everywhere(limb.id_data, muted=False)
    return any(split_path(curve.data_path)[0] in names and changes(curve) for curve in curves)
