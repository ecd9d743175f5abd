"""Adding IK to limbs so that they stay where they are: controls, IK constraint, settings, and the foot that follows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from math import inf, pi, sqrt
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Bone, Context, Object, PoseBone
from mathutils import Matrix, Vector

from ..blender import stepping, transaction
from ..blender.animation import Clip, changes, clips_besides, curves_everywhere, strips_of
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import Message, Refused, path_to_bone, scene_of, split_path
from ..feet.soles import lying_of
from ..finding.checking import CONFLICTS, check_addable, check_followed, joint_limits, limit_of, mute_constraints
from ..finding.knees import bend_axis
from ..finding.loops import Loop
from ..limb import solving, transforms
from ..limb.follow import Follow, is_gone, matrix_of
from ..limb.names import target_name
from ..limb.rest_geometry import hinge_axis, is_straight, rest_geometry
from ..limb.settings import BonesPerSegment
from ..limb.storage import bones_of_limb, chain_bones, is_control, limbs_of
from ..limb.tips import AT_TAIL, foot_of, length_of, tip_of
from ..limb.tolerances import FEWER_KEYS, KEPT, TURNED
from ..motion import ik, writing
from ..motion.check import MovedBones, Played, Seen, Sighting, every_action, kept, look, sight
from ..motion.fitting import Wish, bend_seen, fit, is_of_body, turned_around, with_fit
from ..motion.frames import frames_of, is_posed_by_hand, moved_by
from ..motion.reading import Asked, Recording, poses_of
from ..rigging.build import build
from ..rigging.controls import Control
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import foot_turn_off, gets_foot_roll, half_with_hips, live_for_now, roll_for
from .new_controls import FittedLimb, pole_for, skins_of, target_for

__all__ = ["FEWER_KEYS", "Added", "LimbRequest", "add"]


IF_UNEVEN = 0.2
"""The part of what may be off before it is said, from which on Add refuses where the object is scaled unevenly: what
people can mend."""

TURNS = {"FOUND": 0.0, "OTHER": pi, "LEFT": pi / 2.0, "RIGHT": -pi / 2.0}
"""By how much each choice of Bends turns the knee around the limb."""


TURNED_OVER = -0.5
"""The cosine of that angle."""


class LimbRequest(NamedTuple):
    """A limb to be added: its last bone and segments, its target and pole, each an object and the name of a bone;
    without a target, a control is made. ``plane`` may be left to what fits (``AUTO``). With a ``loop``, which its last
    bone's tail closes, it goes to the loop's pin."""

    limb: PoseBone
    segments: BonesPerSegment = (1, 1)
    target: BoneRef | None = None
    pole: BoneRef | None = None
    plane: str = "AUTO"
    loop: Loop | None = None

    @property
    def is_led(self) -> bool:
        """Whether the limb is to follow a target that is there, or closes a loop."""
        return bool(self.target or self.loop)


class AddOptions(NamedTuple):
    """Options of *Add* for all limbs. ``knee`` says with which plane where the request does not; ``POLE`` also makes a
    pole, which on legs goes with the target if it ``pole_follows``. With ``foot``, the foot or hand below turns with
    the target; with ``foot_roll``, feet that do so roll. ``tip`` says where the tip is: where the ``FOOT`` begins, or
    the last bone's ``TAIL``. ``turn`` is by how much the knees are to be turned around the limbs, from where they point
    by themselves. ``mode`` says what poses the limbs: their ``RIG``, or the add-on (``LIVE``)."""

    knee: str = "AUTO"
    foot: bool = True
    tip: str = "FOOT"
    turn: float = 0.0
    mode: str = "LIVE"
    foot_roll: bool = False
    pole_follows: bool = True


class PlannedLimb(NamedTuple):
    """A limb to be, live, and the request for it; how its foot stands in the world, if that is to follow; and the
    constraints ``limiting`` its bones, whose limits it has then."""

    limb: LimbRef
    request: LimbRequest
    description: Description
    foot_matrix: Matrix | None
    limiting: list[Any]


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


@stepping.Stepwise
@transaction.transactional_steps
def add(
    context: Context,
    /,
    requests: Sequence[LimbRequest],
    keyed: str = "KEEP",
    tolerance: float = FEWER_KEYS,
    **options: Any,
) -> stepping.Steps[Added]:
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
            shown, seen = yield from _shown(sighting, new, still)
        warnings += [*shown.warnings, *_told(seen.values())]
    kept = len(played.task.frames or ())
    return Added([ob.pose.bones[bone] for ob, bone in descriptions], kept, warnings)


def _seen_before(
    context: Context, requests: Sequence[LimbRequest], keyed: str, tolerance: float
) -> stepping.Steps[tuple[Sighting, list[Sighting]]]:
    """How limbs stand now, with all bones of their rigs; and in all frames in which something moves those that get a
    target, what hangs on them, or what carries them, but for what moves the whole rig: controls go along. That is what
    plays now, and if all is to be kept, each other action of their rigs."""
    limbs = [(request.limb, request.segments) for request in requests]
    new = [(request.limb, request.segments) for request in requests if not request.is_led and keyed != "LEAVE"]
    roots: Any = [(limb.id_data, [limb, *limb.parent_recursive][-1].name) for limb, _ in limbs]
    bones = [ref_of(bone) for ob in dict.fromkeys(ob for ob, _ in roots) for bone in ob.pose.bones]
    now, before = (yield from sight(writing.Task(context, None), Played(), limbs, Asked(bones))), list[Sighting]()
    for played in every_action(_other_clips(requests) if keyed == "ALL" else ()):
        some = [limb for limb in new if played.owner in (None, limb[0].id_data)]
        refs = moved_by(limb for limb, _ in some)
        is_posed = played.owner is not None or is_posed_by_hand(context, refs)
        with played.playing():
            frames = frames_of(context, refs, {(ob, "") for ob, _ in refs})
            task = writing.Task(context, frames.at, tolerance, stays=is_posed, cycle=frames.cycle, keys=frames.keys)
            if frames.at:
                before.append((yield from sight(task, played, some if played.owner else limbs, Asked(roots))))
    return now, before


def _shown(
    sighting: Sighting, new: Sequence[LimbRef], still: Sequence[LimbRef]
) -> stepping.Steps[tuple[ik.MatchResult, dict[LimbRef, Seen]]]:
    """Have the limbs that are ``new`` show by IK what was seen of them; what is off then of those that stay."""
    task, refs = sighting.task, [one.limb for one in sighting.moving if one.limb in new]
    moving = [one for one in sighting.moving if one.limb in still]

    def show() -> stepping.Steps[ik.MatchResult]:
        return ik.show_in_ik(task, [ob.pose.bones[name] for ob, name in refs], known=sighting.recording)

    return (yield from kept(task, show, lambda: look(task, moving, sighting.recording), {*refs} <= {*still}))


def _told(seen: Iterable[Seen]) -> Iterator[Message]:
    """Warn of limbs that are not where they were; raise `Refused` where people can mend that."""
    for one in seen:
        worst, (ob, _) = one.worst(), one.moving.limb
        if worst.share > IF_UNEVEN and solving.is_uneven(np.array(ob.matrix_world)):
            raise Refused(solving.UNEVEN, object=ob.name, bone=worst.bone)
        if worst.share > 1.0:
            yield worst.message


def _check_still(now: Sighting, limbs: Sequence[LimbRef], still: Collection[LimbRef]) -> stepping.Steps[None]:
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


def _step_of(now: Sighting, ob: Object) -> float:
    """The step of single precision as far out as the bones of a rig go, in its unit. A straight limb whose
    length is off by a step at either end has its knee off by up to the square root of that, both in limb lengths."""
    refs = [ref for one in now.moving for ref in one.bones if ref[0] == ob]
    farthest = max(float(np.linalg.norm(poses_of(now.recording, *ref)[0, :3, 3])) for ref in refs)
    away = ob.matrix_world.translation.length / max(ob.matrix_world.median_scale, 1e-9)
    return float(np.spacing(np.float32(max(farthest, away))))


# limbs as they are to be


def check_all(requests: Sequence[LimbRequest], dependencies: Dependencies) -> None:
    """Refuse what can't be added, before anything is changed."""
    taken: set[PoseBone] = set()
    for request in requests:
        limb, segments = request.limb, request.segments
        check_addable(limb, segments, dependencies)
        chain = chain_bones(limb, segments)
        if taken.intersection(chain):
            raise Refused("The limb of '{bone}' shares bones with another one: add one of the two", bone=limb.name)
        taken.update(chain)
        for followed in (request.target, request.pole):
            if followed:
                check_followed(limb, segments, followed, dependencies)


def planned(
    context: Context, requests: Sequence[LimbRequest], options: AddOptions, among: Dependencies, recording: Recording
) -> tuple[list[PlannedLimb], list[Message]]:
    """Limbs as they are to be, with what they lack to follow, which stay where they are; those that are straight at
    rest bend as they do in their ``recording``. Of several, one that can't be is left out, with a warning; raises
    `Refused` where none can be."""
    limbs, tips, left_out = _fitted(context, requests, options, recording)
    requests = [request for request in requests if any(request.limb == seen_limb.limb for seen_limb in limbs)]
    free = [limb for limb, request in zip(limbs, requests, strict=True) if not request.loop]
    feet = _feet(context, free, among) if options.foot else {}
    skins = skins_of(request.limb for request in requests if not request.is_led)
    plans = []
    for request, tip, seen_limb in zip(requests, tips, limbs, strict=True):
        limb = ref_of(request.limb)
        if request.loop:
            target: Any = _pin_of(context, request.loop, seen_limb)
        else:
            target = request.target or target_for(context, seen_limb, options.foot, skins)
        pole: Any = request.pole
        if seen_limb.fit.plane == "POLE" and pole is None:
            pole = pole_for(seen_limb, target if options.pole_follows else None)
        description = _described(request, seen_limb, tip)._replace(target=target, pole=pole)
        if limb in feet:
            description = description._replace(foot_turn=foot_turn_off(context, limb, description.target, feet[limb]))
            if options.foot_roll and gets_foot_roll(description):
                lying = lying_of(recording, request.limb, seen_limb.rest, stepping.rate_of(scene_of(context)))
                description = roll_for(description, limb, among, seen_limb.rest, lying)
            if not _is_turned_over(recording, request):
                description = half_with_hips(description, limb)
        description, limiting = _with_limits(description, seen_limb)
        plan = PlannedLimb(
            limb=limb,
            request=request,
            description=description,
            foot_matrix=feet.get(limb),
            limiting=limiting,
        )
        plans.append(plan)
    return plans, left_out


def _is_turned_over(recording: Recording, request: LimbRequest) -> bool:
    """Whether a foot is ever turned by more than 120 degrees against what carries its leg, as on rigs whose legs rest
    far from how they stand: what goes half with each has hardly a place then."""
    foot: Any = foot_of(request.limb)
    above = bones_of_limb(request.limb, request.segments)[0].parent
    if above is None:
        return False
    foot_turns, turns = (
        transforms.rigid(poses_of(recording, bone.id_data, bone.name))[0][:, :3, :3]
        @ np.array(bone.bone.matrix_local.to_3x3().inverted())
        for bone in (foot, above)
    )
    cosines: Any = (np.einsum("fij,fij->f", foot_turns, turns) - 1.0) / 2.0
    return bool(cosines.min() < TURNED_OVER)


def _fitted(
    context: Context, requests: Sequence[LimbRequest], options: AddOptions, recording: Recording
) -> tuple[list[FittedLimb], list[str], list[Message]]:
    """Limbs as they are seen, with where their tips are, and warnings of those that can't be; raises `Refused` where
    none can."""
    bodies = {one.limb.id_data for one in requests if is_of_body(recording, one.limb, one.segments)}
    limbs, tips, left_out, refusals = list[FittedLimb](), list[str](), list[Message](), list[Refused]()
    for request in requests:
        try:
            tip = _tip_of(context, request, options.tip)
            limbs.append(_seen(context, request, tip, options, recording, request.limb.id_data in bodies))
            tips.append(tip)
        except Refused as why:
            refusals.append(why)
            left_out.append(Message("{name} is left out: {why}", name=request.limb.name, why=why.message))
    if not limbs:
        raise refusals[0]
    return limbs, tips, left_out


def _with_limits(description: Description, seen_limb: FittedLimb) -> tuple[Description, list[Any]]:
    """A limb with the limits that *Limit Rotation* has on its bones, and these constraints; raises `Refused` where they
    are not about its hinge. One that is straight bends to the side where they let it."""
    bones = bones_of_limb(seen_limb.limb, seen_limb.segments)
    limits = [
        (k, constraint, limit)
        for k, bone in enumerate(bones)
        for constraint in bone.constraints
        if not constraint.mute and (limit := limit_of(constraint))
    ]
    for k, constraint, limit in limits:
        plane, flip = description.choices["plane"], bool(description.sliders["flip"])
        taken_over = joint_limits(seen_limb.rest, k, limit, plane, flip)
        if k and taken_over and taken_over["min_angle"] >= taken_over["max_angle"] and is_straight(seen_limb.rest):
            description, taken_over = (
                description.with_slider("flip", not flip),
                joint_limits(seen_limb.rest, k, limit, plane, not flip),
            )
        if taken_over is None:
            raise Refused(CONFLICTS, "mute", name=constraint.name, bone=bones[k].name)
        description = description._replace(choices=description.choices | taken_over)
    return description, [constraint for _, constraint, _ in limits]


def mute_limiting(plans: Sequence[PlannedLimb]) -> list[Message]:
    """Mute the constraints whose limits limbs are to have; says which."""
    constraints = [constraint for plan in plans for constraint in plan.limiting]
    mute_constraints(constraints)
    template = "'{name}' is muted: the limb has its limits now"
    return [Message(template, name=constraint.name) for constraint in constraints]


def _tip_of(context: Context, request: LimbRequest, tip: str) -> str:
    """Where the tip of a limb is to be: at the tail, if its target lies there and its foot begins elsewhere, as on a
    lug; so do loops end."""
    limb, target = request.limb, request.target
    if request.loop:
        return "TAIL"
    tail, near = Vector((0.0, limb.bone.length, 0.0)), AT_TAIL * limb.bone.length
    if target is None or is_gone(*target) or (Vector(tip_of(limb, tip).tolist()) - tail).length <= near:
        return tip
    depsgraph = context.evaluated_depsgraph_get()
    now, place = matrix_of(limb.id_data, limb.name, depsgraph), matrix_of(*target, depsgraph).translation
    return "TAIL" if (now @ tail - place).length <= near * now.to_scale().y else tip


def _pin_of(context: Context, loop: Loop, seen_limb: FittedLimb) -> BoneRef | Control:
    """The pin of a loop, or one that is to be made where its limb ends at rest."""
    ob = seen_limb.limb.id_data
    if loop.pin:
        return ob, loop.pin
    control, carrier = target_for(context, seen_limb, False, {}), ob.pose.bones[loop.carrier]
    now: Any = carrier.matrix @ carrier.bone.matrix_local.inverted() @ control.rest
    name = target_name(loop.limb, "")  # after no foot
    return control._replace(name=name, parent=loop.carrier, place=now.translation, turn=now.to_3x3())


def _bones_around(request: LimbRequest, plane: str) -> list[Bone]:
    """The bones besides its own that a loop goes through, or what moves the target of a hinge that a person chose."""
    bones, loop, target = request.limb.id_data.data.bones, request.loop, request.target
    if loop:
        return [bones[name] for name in loop.bones if name != loop.pin]
    if plane != "HINGE" or target is None or target[0] != request.limb.id_data or is_gone(*target):
        return []
    return [bone for bone in bones[target[1]].parent_recursive if bone not in request.limb.bone.parent_recursive]


def _seen(
    context: Context,
    request: LimbRequest,
    tip: str,
    options: AddOptions,
    recording: Recording,
    is_body: bool,
) -> FittedLimb:
    """How a limb stays where it is; one that is straight at rest bends as in its ``recording``, and so does one with a
    pole that rests bent the other way. A limb of a body that rests flat is no puppet's."""
    limb, segments, turn, loop = request.limb, request.segments, options.turn, request.loop
    plane = request.plane if request.plane != "AUTO" or request.pole else options.knee
    around = _bones_around(request, plane)
    hinge = None if is_body and not loop else hinge_axis(limb, around)
    if loop and plane == "AUTO":
        plane = "SLIDE" if loop.slides else "HINGE"
    plane = "POLE" if plane == "AUTO" and (request.pole or not hinge) else plane
    follow = Follow(pole=request.pole[0], pole_subtarget=request.pole[1]) if request.pole else None
    is_flat = plane in ("AUTO", "HINGE") and hinge
    is_limited = any(limit_of(each) for bone in bones_of_limb(limb, segments) for each in bone.constraints)
    seen: Any = (None, ())
    if not (turn or around or is_flat):
        seen = bend_seen(recording, limb, segments, tip, plane == "POLE" and not is_limited)
    axis: Any = hinge if around else seen[0]
    axis = axis or (None if loop else bend_axis(limb, segments, tip, turn, not is_body))
    fitted = fit(context, limb, segments, follow, Wish(plane, tip, axis, seen[1]))
    rest = rest_geometry(limb, segments, seen[1], fitted.bend_axis, tip, fitted.plane)
    if turn and not is_straight(rest):
        fitted = turned_around(fitted, turn, request.pole is not None)
    return FittedLimb(limb, segments, fitted, rest, 0.0 if is_straight(rest) else turn)


def _described(request: LimbRequest, seen_limb: FittedLimb, tip: str) -> Description:
    """A limb as it is to be, live, but for its foot and what it follows."""
    end = foot_of(request.limb)
    description = Description(request.segments, end.name if end else "").of_its_bones().with_choice("tip", tip)
    return with_fit(description, request.limb, seen_limb.fit._replace(swivel=0.0) if request.pole else seen_limb.fit)


def _feet(context: Context, limbs: Sequence[FittedLimb], dependencies: Dependencies) -> dict[LimbRef, Matrix]:
    """How the feet that may follow stand in the world, by limb: those that are not part of a limb, and that nothing
    else moves."""
    depsgraph = context.evaluated_depsgraph_get()
    lines = [chain_bones(limb) for ob in {seen_limb.limb.id_data for seen_limb in limbs} for limb in limbs_of(ob)]
    lines += [chain_bones(seen_limb.limb, seen_limb.segments) for seen_limb in limbs]
    taken = {bone for chain in lines for bone in chain}
    feet = {ref_of(seen_limb.limb): foot_of(seen_limb.limb) for seen_limb in limbs}
    return {
        ref: matrix_of(ref[0], end.name, depsgraph)
        for ref, end in feet.items()
        if end and end not in taken and not dependencies.constraints_and_drivers(end)
    }


def leave_out_feet(context: Context, plans: Sequence[PlannedLimb]) -> None:
    """Leave out feet that can't follow their targets without moving: below mirrors and shear."""
    depsgraph = context.evaluated_depsgraph_get()
    off = {}
    for plan in plans:
        if plan.foot_matrix is None:
            continue
        after = matrix_of(plan.limb[0], plan.description.foot, depsgraph)
        axes = zip(plan.foot_matrix.to_3x3().col, after.to_3x3().col, strict=True)
        if max(was.angle(now, 0.0) for was, now in axes) > TURNED:
            off[plan.limb] = describe(plan.limb)._replace(foot_turn=None).without("foot_roll")
    build(context, off)


# limbs that are there


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


def _is_keyed(limb: PoseBone, segments: BonesPerSegment) -> bool:
    """Whether keys turn the bones of a limb to be."""
    names = {bone.name for bone in chain_bones(limb, segments)}
    curves = curves_everywhere(limb.id_data, muted=False)
    return any(split_path(curve.data_path)[0] in names and changes(curve) for curve in curves)
