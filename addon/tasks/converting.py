"""Turning Blender's own IK constraints of two to four bones into limbs, which stay where they are in every frame of
what is animated, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ..blender.stepping import Steps, Stepwise
from ..blender.transaction import all_or_nothing
from ..blender.words import Message, Refused
from ..limb.storage import is_converted
from ..limb.tolerances import SEEN
from ..limb.transactional import transactional_steps
from ..motion.writing import Task
from ..poses.converted import Conversion, conversion_of, make_converted
from ..poses.sightings import NOTICED_TURN, Sighting, kept_misses, sightings_of
from ..rigging.description import LimbRef
from .removing import refresh, remove

NOTICED_MOVE = 2.0 * SEEN
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


@Stepwise
@transactional_steps
def convert(
    context: Context,
    limbs: Sequence[PoseBone],
    tolerance: float = NOTICED_MOVE,
    mode: str = "LIVE",
    all_actions: bool = False,
) -> Steps[Converted]:
    """Make limbs of the IK constraints that bones have, on the rig or live: of those whose knee and tip stay, as
    Blender evaluates them, in every frame of what is animated. Where these would move by more than a tolerance, in
    lengths of the limb, swivel, flip and ankle get as many keys as it takes to be within it, or as near as keys go.
    ``all_actions`` does that in all actions of the rig, not only in the one in use. A table keeps what IK did to it as
    its own motion. Raises `Refused` if there are none."""
    done = yield from convert_what_can.steps(context, limbs, tolerance, mode, all_actions)
    if not done.limbs:
        raise done.refused[0][1] if done.refused else Refused("Select bones with an IK constraint")
    return done


@Stepwise
@transactional_steps
def convert_what_can(
    context: Context, limbs: Sequence[PoseBone], tolerance: float, mode: str, all_actions: bool
) -> Steps[Converted]:
    """The same, but it is fine if nothing can be converted."""
    waiting, refused = [(limb.id_data, limb.name) for limb in limbs], list[tuple[LimbRef, Refused]]()
    sightings: list[Sighting] = []
    while True:
        plans: list[Conversion] = []
        for ob, name in [*waiting]:
            try:
                plans.append(conversion_of(context, ob.pose.bones[name]))
            except Refused as why:
                refused.append(((ob, name), why))
                waiting.remove((ob, name))
        if not plans:
            return Converted([], refused, [])
        names = [plan.name for plan in plans]
        try:
            with all_or_nothing(context):
                warnings = yield from _convert(Task(context, None), plans, tolerance, mode, all_actions, sightings)
        except NotKept as why:  # taken back, the others go on without them
            refused += why.refused.items()
            waiting = [owner for owner in waiting if owner not in why.refused]
            continue
        return Converted(names, refused, warnings)


def unconvert(context: Context, limbs: Sequence[PoseBone]) -> list[LimbRef]:
    """Restore the IK constraints that limbs were converted from, with the animation of their influence."""
    for limb in limbs:
        if not is_converted(limb):
            raise Refused("'{bone}' was made by Planar IK: remove it instead", bone=limb.name)
    named = [(limb.id_data, limb.name) for limb in limbs]
    remove(context, limbs)
    return named


def _convert(
    whole: Task,
    plans: Sequence[Conversion],
    tolerance: float,
    mode: str,
    all_actions: bool,
    sightings: list[Sighting],
) -> Steps[list[Message]]:
    """Look where limbs are, unless that is known already, make them, and keep them there. Raises `NotKept`."""
    context = whole.context
    owners = {plan.name: (plan.solvers.owner.id_data, plan.solvers.owner.name) for plan in plans}
    _check_apart(plans, owners)
    if not sightings:
        sightings += yield from sightings_of(whole, plans, all_actions)
    warnings = make_converted(context, plans, mode)
    refresh(context)
    for sighting in sightings:
        warnings += yield from _check_still(whole, sighting, owners, tolerance)
    for plan in plans if not all_actions else ():
        if plan.others:
            names = ", ".join(dict.fromkeys(f"'{clip.action.name}'" for clip in plan.others))
            template = "'{bone}' may move in {actions}, not looked at: All Actions keeps it"
            warnings.append(Message(template, bone=plan.name[1], actions=names))
    return warnings


def _check_apart(plans: Sequence[Conversion], owners: dict[LimbRef, LimbRef]) -> None:
    """Refuse limbs that share bones with one before them."""
    taken = set[PoseBone]()
    for plan in plans:
        if taken.intersection(plan.solvers.bones):
            template = "The limb of '{bone}' shares bones with another one: add one of the two"
            raise NotKept({owners[plan.name]: Refused(template, bone=plan.name[1])})
        taken.update(plan.solvers.bones)


def _check_still(
    whole: Task, sighting: Sighting, owners: dict[LimbRef, LimbRef], tolerance: float
) -> Steps[list[Message]]:
    """Keep limbs where they were seen; warnings of those that move or turn all the same. Raises `NotKept` where keys
    can't keep one."""
    warnings, refused = list[Message](), dict[LimbRef, Refused]()
    misses = yield from kept_misses(whole, sighting, owners, tolerance)
    for (ob, name), (_, turn, beyond, frame) in misses.items():
        values: dict[str, Any] = {"bone": name, "moved": f"{beyond:.2g}", "frame": frame}
        if turn > NOTICED_TURN:
            warnings.append(Message("'{bone}' is turned off its hinge: IK turns it back", bone=name))
        if not beyond <= max(tolerance, NOTICED_MOVE):
            template = (
                "'{bone}' would move by {moved} of its length in frame {frame}: set Tolerance to more, or mute what "
                "else moves it"
            )
            refused[owners[ob, name]] = Refused(template, **values)
        elif beyond > NOTICED_MOVE:
            warnings.append(Message("'{bone}' moves by {moved} of its length in frame {frame}", **values))
    if refused:
        raise NotKept(refused)
    return warnings
