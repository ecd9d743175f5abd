"""Turning Blender's own IK constraints of two to four bones into limbs, which stay where they are in every frame of
what is animated, and back: also at either end of each slider of the rig that turns the limb by what is not its IK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from math import inf
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone

from ..blender import animation, dependencies, stepping, transaction
from ..blender.animation import driver_of
from ..blender.types import Datablock, Message, Refused, bones_of, has_bone, path_to_bone, split_path, view_layer_of
from ..finding.constraints import at_full_influence, read_by, slider_read
from ..limb import follow, storage, tolerances
from ..motion import check, ik, parts, reading, writing
from ..motion.frames import frames_of, moved_by
from ..motion.matching import LimbPoses, evaluated_poses, evaluated_turn
from ..rigging.description import LimbRef, ref_of
from ..solver.limb import MOVES_ROOT
from ..solver.ops import Array
from . import converted, modes

NOTICED_MOVE = 2.0 * tolerances.SEEN
"""By how much a limb may move, in its lengths, even where less is asked for: Blender's IK misses its targets by as
much, and no key of ours does."""


class Converted(NamedTuple):
    """What was done."""

    limbs: list[LimbRef]  # the limbs that were made, by rig and last bone's name
    refused: list[tuple[LimbRef, Refused]]  # others, by rig and the bone with the constraint, and why
    warnings: list[Message]  # what is otherwise than the constraints had it


class NotKept(Exception):
    """Some limbs would move: why, by the rig and the name of the bone with the constraint."""

    def __init__(self, refused: dict[LimbRef, Refused]) -> None:
        super().__init__(*map(str, refused.values()))
        self.refused = refused


@stepping.Stepwise
@transaction.transactional_steps
def convert(
    context: Context,
    limbs: Sequence[PoseBone],
    tolerance: float = NOTICED_MOVE,
    mode: str = "LIVE",
    all_actions: bool = False,
) -> stepping.Steps[Converted]:
    """Make limbs of the IK constraints that bones have, on the rig or live: of those whose knee and tip stay, as
    Blender evaluates them, in every frame of what is animated. Where these would move by more than a tolerance, in
    lengths of the limb, swivel, flip and ankle get as many keys as it takes to be within it, or as near as keys go.
    ``all_actions`` does that in all actions of the rig, not only in the one in use. A table keeps what IK did to it as
    its own motion. Raises `Refused` if there are none."""
    done = yield from convert_what_can.steps(context, limbs, tolerance, mode, all_actions)
    if not done.limbs:
        raise done.refused[0][1] if done.refused else Refused("Select bones with an IK constraint")
    return done


@stepping.Stepwise
@transaction.transactional_steps
def convert_what_can(
    context: Context, limbs: Sequence[PoseBone], tolerance: float, mode: str, all_actions: bool
) -> stepping.Steps[Converted]:
    """`convert`, with the same arguments, but it is fine if nothing can be converted."""
    waiting, refused = [(limb.id_data, limb.name) for limb in limbs], list[tuple[LimbRef, Refused]]()
    known: list[Before] = []
    while True:
        plans: list[converted.Conversion] = []
        whole = writing.Task(context, None)
        progress = whole.next_progress()
        for i, (ob, name) in enumerate([*waiting]):
            yield progress(i / len(waiting))
            try:
                plans.append(converted.conversion_of(context, ob.pose.bones[name]))
            except Refused as why:
                refused.append(((ob, name), why))
                waiting.remove((ob, name))
        if not plans:
            return Converted([], refused, [])
        names = [plan.name for plan in plans]
        try:
            with transaction.all_or_nothing(context):
                warnings = yield from _convert(whole, plans, tolerance, mode, all_actions, known)
        except NotKept as why:  # taken back, the others go on without them
            refused += why.refused.items()
            waiting = [owner for owner in waiting if owner not in why.refused]
            continue
        return Converted(names, refused, warnings)


def unconvert(context: Context, limbs: Sequence[PoseBone]) -> list[LimbRef]:
    """Restore the IK constraints that limbs were converted from, with the animation of their influence."""
    for limb in limbs:
        if not storage.is_converted(limb):
            raise Refused("'{bone}' was made by Planar IK: remove it instead", bone=limb.name)
    named = [(limb.id_data, limb.name) for limb in limbs]
    modes.remove(context, limbs)
    return named


def _convert(
    whole: writing.Task,
    plans: Sequence[converted.Conversion],
    tolerance: float,
    mode: str,
    all_actions: bool,
    known: list[Before],
) -> stepping.Steps[list[Message]]:
    """Look where limbs are, unless that is known already, make them, and keep them there. Raises `NotKept`."""
    context = whole.context
    owners = {plan.name: (plan.solvers.owner.id_data, plan.solvers.owner.name) for plan in plans}
    _check_apart(plans, owners)
    if not known:
        known += yield from seen_before(whole, plans, all_actions, tolerance)
    unseen = {bone for plan in plans if not plan.solvers.is_used for bone in (*plan.bones, plan.solvers.owner.name)}
    by_sliders = seen_by_sliders(context, plans)
    warnings = converted.make_converted(context, plans, mode)
    modes.refresh(context)
    lost, told = lost_sliders(context, by_sliders, max(tolerance, NOTICED_MOVE))
    warnings += told
    if lost:
        raise NotKept({owners[ref]: why for ref, why in lost.items()})
    reasons = {plan.name: converted.why_moved(plan, warnings) for plan in plans}
    for before in known:
        warnings += yield from _check_still(before, owners, reasons, tolerance)
    for plan in plans:
        if others := [clip for clip in plan.others if clip not in plan.looked_at(all_actions)]:
            names = ", ".join(dict.fromkeys(f"'{clip.action.name}'" for clip in others))
            template = "'{bone}' may move in {actions}, not looked at: All Actions keeps it"
            warnings.append(Message(template, bone=plan.name[1], actions=names))
    return [warning for warning in warnings if warning.values.get("bone") not in unseen]


def _check_apart(plans: Sequence[converted.Conversion], owners: dict[LimbRef, LimbRef]) -> None:
    """Refuse limbs that share bones with one before them."""
    taken, refused = set[PoseBone](), dict[LimbRef, Refused]()
    for plan in plans:
        if taken.intersection(plan.solvers.bones):
            template = "The limb of '{bone}' shares bones with another one: add one of the two"
            refused[owners[plan.name]] = Refused(template, bone=plan.name[1])
        else:
            taken.update(plan.solvers.bones)
    if refused:
        raise NotKept(refused)


def _check_still(
    before: Before,
    owners: dict[LimbRef, LimbRef],
    reasons: dict[LimbRef, Message],
    tolerance: float,
) -> stepping.Steps[list[Message]]:
    """Keep limbs where they were seen, by keys of swivel, flip, ankle and twist where these hold less than a tolerance;
    warnings of those that move or turn all the same. Raises `NotKept` for their ``reasons`` where they do by too
    much."""
    sighting, task = before.sighting, before.sighting.task
    moving = [one for one in sighting.moving if one.limb in owners]
    exact = writing.Task(task.context, task.frames, min(tolerance, tolerances.ON_TARGET), stays=True, cycle=task.cycle)
    with sighting.played.playing():  # hinges on bones above leave no plane
        yield from ik.show_turns(exact, sighting.recording, {one.limb: before.above[one.limb] for one in moving})
        limbs = [limb for one in moving if _turns_by_sliders(limb := one.limb[0].pose.bones[one.limb[1]])]
        if task.frames and limbs:
            yield from ik.show_in_ik(task, limbs, before.poses, moves_controls=False, known=sighting.recording)
        seen = yield from check.look(task, moving, sighting.recording, 1.0)
    warnings, refused = list[Message](), dict[LimbRef, Refused]()
    for (ob, name), one in seen.items():
        worst = _worst(one, NOTICED_MOVE)
        values: dict[str, Any] = {"bone": worst.bone, "moved": f"{worst.moved:.2g}", "frame": worst.frame}
        if one.off[1, : one.moving.own].max() > NOTICED_TURN:
            warnings.append(Message("'{bone}' is turned off its hinge: IK turns it back", bone=name))
        if _worst(one, max(tolerance, NOTICED_MOVE)).share > 1.0:
            refused[owners[ob, name]] = Refused(reasons[ob, name].template, **reasons[ob, name].values, **values)
        elif worst.share > 1.0:
            warnings.append(Message("'{bone}' moves by {moved} of its length in frame {frame}", **values))
    if refused:
        raise NotKept(refused)
    return warnings


def _turns_by_sliders(limb: PoseBone) -> bool:
    """Whether keys of sliders can turn a limb: no driver of the rig's switch for its pole does, and its root stays."""
    is_driven = driver_of(limb.id_data, storage.path_to_slider(limb.name, "swivel")) is not None
    return not is_driven and storage.choices_of(limb)["plane"] not in MOVES_ROOT


def _worst(seen: check.Seen, moved: float) -> check.Miss:
    """The bone that is farthest off, where a limb may be moved by so much of its length, and what hangs on it as far as
    its bones may be turned; farther where it can't reach its target."""
    (ob, name), own = seen.moving.limb, seen.moving.own
    bones = ob.data.bones
    tails = [(bones[bone].tail_local - bones[name].tail_local).length for _, bone in seen.moving.bones]
    levers = NOTICED_TURN / seen.moving.size * np.array([0.0] * own + tails[own:])[:, None]
    if storage.choices_of(ob.pose.bones[name])["plane"] in MOVES_ROOT:
        levers[0] = inf  # what was stretched is moved
    rig = next(rig for rig in seen.now.rigs if rig.object == ob)
    ends = reading.matrices_of(seen.now, (ob, name))
    tips = ends[:, :3, 3] + bones[name].length * ends[:, :3, 1]
    missed = np.linalg.norm(tips - reading.followed_places(seen.now, rig, 0)[:, rig.names.index(name)], axis=-1)
    sizes = seen.moving.size * np.cbrt(np.abs(np.linalg.det(reading.worlds_of(seen.now, ob)[:, :3, :3])))
    return seen.worst((moved + levers + np.minimum(missed / sizes, OUT_OF_REACH), inf, inf))


OUT_OF_REACH = 2e-2
"""By how much a limb that can't reach its target may be off once keys keep what they can, in its lengths, as far as it
misses that: at the limits of its joints Blender's IK only comes near to the closest pose."""

NOTICED_TURN = 2.0 * tolerances.KEPT_TURN
"""By how much bones may be turned, in radians, before that is said."""


class Before(NamedTuple):
    """How limbs stood by their constraints, in the frames of a sighting and halfway between: their poses, and how the
    bones above were turned that these turn as well, (frames, 4) by name."""

    sighting: check.Sighting
    poses: dict[LimbRef, LimbPoses]
    above: dict[LimbRef, dict[str, Array]]


def seen_before(
    whole: writing.Task, plans: Sequence[converted.Conversion], all_actions: bool, tolerance: float
) -> stepping.Steps[list[Before]]:
    """Where constraints have limbs in this frame, and in every frame of all that animates them. Now, by the other
    slots of their action, and by other actions."""
    before = [(yield from _seen_in(whole, check.Played(), plans))]
    for played in check.every_action((plan.name[0], clip) for plan in plans for clip in plan.looked_at(all_actions)):
        moved = [plan for plan in plans if played.owner in (None, plan.name[0])]
        with played.playing():
            frames = frames_of(whole.context, moved_by(plan.solvers.limb for plan in moved))
            task = writing.Task(whole.context, frames.at, tolerance, stays=True, cycle=frames.cycle)
            if frames.at:
                before.append((yield from _seen_in(task, played, moved)))
    return before


def _seen_in(task: writing.Task, played: check.Played, plans: Sequence[converted.Conversion]) -> stepping.Steps[Before]:
    above = {plan.name: plan.solvers.above for plan in plans}
    turned = [bone for of_limb in above.values() for bone in of_limb]
    constraints = [constraint for plan in plans for constraint in plan.solvers.constraints]
    followed: Any = [ref for constraint in constraints for ref in follow.follow_of_constraint(constraint).pairs]

    @contextmanager
    def fully() -> Iterator[None]:
        with ExitStack() as stack:
            for plan in plans:
                if plan.solvers.acting.influence < 1.0:
                    stack.enter_context(at_full_influence(task.context, plan.solvers))
            yield

    also = reading.Asked(
        refs=followed,
        bones=[one for bone in turned for one in (bone, bone.parent) if one],
        channels=[parts.rotation_channel_of((bone.id_data, bone.name)) for bone in turned],
    )
    limbs = [(plan.solvers.limb, plan.solvers.segments) for plan in plans]
    sighting = yield from check.sight(task, played, limbs, also, fully)
    read = sighting.recording
    turns = {name: {bone.name: evaluated_turn(read, bone) for bone in of_limb} for name, of_limb in above.items()}
    return Before(sighting, {ref_of(limb[0]): evaluated_poses(read, *limb) for limb in limbs}, turns)


ENDLESS = 1e3
"""From where on the end of a slider is none: it is moved by 1 then."""

SCALES = (0.7, 1.3)
"""What bones are scaled by that may lengthen a limb."""

LENGTHENED = 0.05
"""From which part of a limb's length on their scale counts as lengthening it."""


NONE: Array = np.empty(0)


class State(NamedTuple):
    """A slider of a datablock, by its data path and as people call it, at a value; of nothing, all as it is now.
    Up to ``told`` of a limb's length, how it moves it otherwise is only told."""

    owner: Any = None
    path: str = ""
    name: str = ""
    value: Any = None
    told: float = 0.0


class Limb(NamedTuple):
    """The names of a limb's bones, and where these are in each state that may turn them: their heads, and the ends of
    their three axes, in lengths of the limb and the armature's space (bones, 4, 3)."""

    bones: tuple[str, ...]
    seen: dict[State, Array]


def seen_by_sliders(context: Context, plans: Sequence[converted.Conversion]) -> dict[LimbRef, Limb]:
    """Where limbs are now and with the sliders of their rigs at either end; only those that have such. All is set
    back."""
    limbs = {plan.name: Limb(plan.bones, dict.fromkeys([State(), *_states_of(plan)], NONE)) for plan in plans}
    return _seen(context, {ref: limb for ref, limb in limbs.items() if len(limb.seen) > 1})


def lost_sliders(
    context: Context, before: dict[LimbRef, Limb], tolerance: float
) -> tuple[dict[LimbRef, Refused], list[Message]]:
    """Why limbs can't be made that a slider no more moves as it did; and warnings of others. By more than a
    tolerance."""
    refused, warnings = dict[LimbRef, Refused](), list[Message]()
    for ref, limb in _seen(context, before).items():
        off = {state: float(np.abs(seen - before[ref].seen[state]).max()) for state, seen in limb.seen.items()}
        most = max(tolerance, 2.0 * off[State()])
        worst = max(off, key=lambda state: (off[state] > max(most, state.told), off[state]))
        if off[worst] > most:
            values = {"slider": worst.name, "bone": ref[1], "moved": f"{off[worst]:.2g}"}
            if off[worst] > worst.told:
                refused[ref] = Refused(f"{OTHERWISE}: leave it to Blender's", **values)
            else:
                warnings.append(Message(OTHERWISE, **values))
    return refused, warnings


OTHERWISE = "'{slider}' moves '{bone}' by up to {moved} of its length otherwise than IK"


def _seen(context: Context, limbs: dict[LimbRef, Limb]) -> dict[LimbRef, Limb]:
    """The same limbs as they are now in their states."""
    seen = {ref: Limb(limb.bones, {}) for ref, limb in limbs.items()}
    for state in dict.fromkeys(state for limb in limbs.values() for state in limb.seen):
        before = animation.value_at(state.owner, state.path) if state.owner else None
        try:
            _set(context, state, state.value)
            for ref in [ref for ref, limb in limbs.items() if state in limb.seen]:
                seen[ref].seen[state] = _frames_of(context, ref[0], limbs[ref].bones)
        finally:
            _set(context, state, before)
    return seen


def _states_of(plan: converted.Conversion) -> Iterator[State]:
    """The ends of the sliders that drivers of a limb's bones read, but for those of its IK constraints' influence and
    mute, of which it has its own; and scales of bones that others of its constraints follow."""
    limb = plan.solvers.limb
    acting = plan.solvers.all_together
    for constraint in [one for bone in plan.solvers.bones for one in bone.constraints if one not in acting]:
        for owner, name in dependencies.constraint_targets(constraint):
            if not constraint.mute and has_bone(owner, name) and not all(bones_of(owner)[name].lock_scale):
                for scale in SCALES:
                    yield State(owner, f"{path_to_bone(name)}.scale", name, (scale,) * 3, LENGTHENED)
    own = [constraint.path_from_id() for constraint in acting]
    left_out = {f"{path}.{name}" for path in own for name in ("influence", "mute")}
    for curve in animation.drivers_of(limb.id_data):
        bone, path = split_path(curve.data_path)
        if bone not in plan.bones or curve.mute or path.startswith("[") or curve.data_path in left_out:
            continue
        for target in read_by(curve):
            value = animation.value_at(target.id, target.data_path) if target.data_path and target.id else None
            if isinstance(value, bool | int | float) and not animation.is_animated(target.id, target.data_path):
                for end in _ends(target.id, target.data_path, value):
                    yield State(target.id, target.data_path, slider_read(target), end)


def _ends(owner: Datablock, path: str, value: Any) -> tuple[Any, Any]:
    """The least and the largest that a slider may be set to."""
    if isinstance(value, bool):
        return False, True
    holder, name, is_custom = animation.property_at(owner, path)
    if is_custom:
        says = holder.id_properties_ui(name).as_dict()
        low, high = says["min"], says["max"]
    else:
        prop = holder.bl_rna.properties[name]
        low, high = prop.soft_min, prop.soft_max
    return (low if low > -ENDLESS else value - 1), (high if high < ENDLESS else value + 1)


def _set(context: Context, state: State, value: Any) -> None:
    if state.owner:
        animation.set_at(state.owner, state.path, value)
        state.owner.update_tag()
        view_layer_of(context).update()


def _frames_of(context: Context, ob: Any, names: tuple[str, ...]) -> Array:
    """Where bones are now, as `Limb` has them."""
    bones = [ob.evaluated_get(context.evaluated_depsgraph_get()).pose.bones[name] for name in names]
    lengths = np.array([bone.bone.length for bone in bones])
    matrices = np.array([bone.matrix for bone in bones], float)
    heads, axes = matrices[:, None, :3, 3], matrices[:, :3, :3].swapaxes(1, 2) * lengths[:, None, None]
    seen: Array = np.concatenate((heads, heads + axes), axis=1) / lengths.sum()
    return seen
