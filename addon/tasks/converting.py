"""Turning Blender's own IK constraints of two to four bones into limbs, which stay where they are in every frame of
what is animated, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ..blender.editing import edit_mode
from ..blender.transaction import all_or_nothing
from ..blender.types import ArmatureObject, takes_bones
from ..limb.storage import is_converted
from ..limb.whole import Progress, wholly
from ..limb.words import Message, Refused
from ..live import refresh
from ..poses.converted import Conversion, conversion_of, make_converted
from ..poses.sightings import Sighting, kept_misses, sightings_of
from ..poses.writing import Task
from .removing import remove

LimbRef = tuple[ArmatureObject, str]

MOVED = 2e-3
"""By how much a limb may move, in its lengths, without keys of swivel, flip and ankle that keep it."""


class Converted(NamedTuple):
    """What was done."""

    lasts: list[LimbRef]  # the limbs that were made, by rig and last bone's name
    refused: list[Refused]  # why others were not
    warnings: list[Message]  # what is otherwise than the constraints had it


class NotKept(Exception):
    """Some limbs can't be ones without moving: why, by the rig and the name of the bone with the constraint."""

    def __init__(self, refused: dict[LimbRef, Refused]) -> None:
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
    not only in the one in use. ``progress`` is told the part done of frames, and may raise to cancel. Raises `Refused`
    if there are none."""
    waiting, refused = [(last.id_data, last.name) for last in lasts], list[Refused]()
    for ob in dict.fromkeys(ob for ob, _ in waiting if mode == "RIG" and takes_bones(ob)):
        with edit_mode(context, ob):  # which shifts the rest poses of old files: what is to stay is looked at after it
            pass
    while True:
        plans: list[Conversion] = []
        for ob, name in [*waiting]:
            try:
                plans.append(conversion_of(context, ob.pose.bones[name]))
            except Refused as why:
                refused.append(why)
                waiting.remove((ob, name))
        if not plans:
            raise refused[0] if refused else Refused("Select bones with an IK constraint")
        limbs = [plan.name for plan in plans]
        try:
            with all_or_nothing(context, dict.fromkeys(ob for ob, _ in waiting)):
                whole = Task(context, None, progress=progress)
                warnings = _convert(whole, plans, tolerance, mode, all_actions)
        except NotKept as why:  # taken back, the others go on without them
            refused += why.refused.values()
            waiting = [owner for owner in waiting if owner not in why.refused]
            continue
        return Converted(limbs, refused, warnings)


def unconvert(context: Context, lasts: Sequence[PoseBone]) -> list[LimbRef]:
    """Give limbs back to the constraints that they were, with what animates their influence."""
    for last in lasts:
        if not is_converted(last):
            raise Refused("'{bone}' was made by Planar IK: remove it instead", bone=last.name)
    named = [(last.id_data, last.name) for last in lasts]
    remove(context, lasts)
    return named


def _convert(whole: Task, plans: Sequence[Conversion], tolerance: float, mode: str, all_actions: bool) -> list[Message]:
    """Look where limbs are, make them, and keep them there. Raises `NotKept`."""
    context = whole.context
    warnings = list[Message]()
    left_out = {} if all_actions else {plan.name: [action.name for action in plan.others] for plan in plans}
    sightings = sightings_of(whole, plans, all_actions)
    owners = {plan.name: (plan.solvers.owner.id_data, plan.solvers.owner.name) for plan in plans}
    for plan in plans:
        try:
            with all_or_nothing(context, [plan.name[0]]):
                warnings += make_converted(context, plan, mode)
        except Refused as why:
            raise NotKept({owners[plan.name]: why}) from why
    refresh(context)
    for sighting in sightings:
        warnings += _check_still(whole, sighting, owners, tolerance)
    for (_, name), actions in left_out.items():
        if actions:
            names = ", ".join(f"'{action}'" for action in actions)
            template = "'{bone}' may move in {actions}, not looked at: All Actions keeps it"
            warnings.append(Message(template, bone=name, actions=names))
    return warnings


def _check_still(whole: Task, sighting: Sighting, owners: dict[LimbRef, LimbRef], tolerance: float) -> list[Message]:
    """Keep limbs where they were seen; warnings of those that move all the same. Raises `NotKept` if one does by more
    than a tolerance."""
    warnings, refused = list[Message](), dict[LimbRef, Refused]()
    for (ob, name), (off, frame) in kept_misses(whole, sighting, tolerance).items():
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
