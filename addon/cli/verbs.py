"""What each verb does with the open file, and what it answers: a line of JSON for each limb."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import bpy
from bpy.types import PoseBone

from ..blender.stepping import finished
from ..blender.types import Refused, scene_of, view_layer_of
from ..tasks import baking, contact_markers, converting, modes, setting
from ..tasks.adding import LimbRequest, add, as_options
from ..tasks.contact_markers import Contacts
from ..tasks.holding import HoldOptions, HoldReport, NoContacts, PlantOptions, hold_tips, plant
from ..tasks.modes import repairs_for
from ..tasks.selection import (
    candidates,
    fill_wildcards,
    followed_by_name,
    is_match,
    limbs_matched,
    limbs_without_ik,
    matches_of,
)
from ..tasks.status import LimbReport, description_of, is_converted, is_leg, limbs_of, reported, status_now
from .arguments import options_of
from .shots import heed_signals, is_linked, limbs_asked_for, make_local, rigs_of, say

Line = dict[str, Any]

NO_SUCH_LIMB = "nothing to do: there is no such limb"
NOT_STANDING = "nothing to do: no foot comes to stand in these frames, as far as markers or its path say"
NOT_LOW = "no foot is low and slow in any frame: give --height or --speed more"
PRESENT = "nothing to do: these limbs are there already"


class Answer(NamedTuple):
    """What a verb says of limbs, how much it changed, and what to say where there is nothing."""

    lines: list[Line]
    changed: int = 0
    nothing: str = NO_SUCH_LIMB


def _report(arguments: Namespace) -> Answer:
    """What limbs do as Blender evaluates them; nothing is changed."""
    limbs, frames = limbs_asked_for(arguments, editable=False), frames_asked_for(arguments, arguments.step)
    if not limbs:
        return Answer([])
    reports = reported(bpy.context, limbs, frames, arguments.max_miss, heed_signals)
    return Answer([_reported(one) for one in reports])


def _bake(arguments: Namespace) -> Answer:
    """Turn what limbs do into keys."""
    options = options_of(arguments)
    if arguments.make_local:
        make_local(arguments)
    limbs = limbs_asked_for(arguments)
    linked = [limb.id_data.name for limb in limbs_asked_for(arguments, editable=False) if is_linked(limb.id_data)]
    if linked and (options["for_game"] or options["remove"] or not limbs):
        raise Refused("'{rig}' is linked: --make-local makes it a part of the file first", rig=linked[0])
    if not limbs:
        return Answer([])
    frames = frames_asked_for(arguments, options.pop("step"))
    request = baking.BakeRequest(limbs, frames, max_miss=arguments.max_miss, **options)
    baked = _done(baking.bake.steps(bpy.context, request))
    return Answer([limb._asdict() for limb in baked.limbs], len(limbs))


def _contacts(arguments: Namespace) -> Answer:
    """When limbs are in contact, as their paths show; marked in a file that is to be written. Markers are the scene's:
    limbs of linked rigs may have some."""
    limbs = limbs_asked_for(arguments, editable=False)
    readable = contact_markers.readable_limbs_beside(bpy.context, limbs)
    steps = contact_markers.find_contacts.steps(
        bpy.context, [limb for limb in limbs if limb in readable], frames_asked_for(arguments), **options_of(arguments)
    )
    listed = finished(steps, heed_signals)
    by_limb = {contacts.limb: contacts for contacts in listed}
    if limbs and not any(of_limb.contacts for of_limb in listed):
        say(NOT_LOW)
    is_written = arguments.in_place or arguments.output
    count = contact_markers.mark_contacts(scene_of(bpy.context), listed) if is_written else 0
    return Answer([_names(limb) | _contact_words(by_limb.get(limb)) for limb in limbs], count)


def _hold(arguments: Namespace) -> Answer:
    """Hold limbs in their contacts, as marked or as found."""
    limbs, frames, options = limbs_asked_for(arguments), frames_asked_for(arguments), options_of(arguments)
    known = contact_markers.contacts_in_range(bpy.context, limbs, frames, heed_signals) if limbs else []
    if not known:
        return _none_stands(limbs)
    request = HoldOptions(plants=True, is_mean=options.pop("place") != "NOW", **options)
    contacts = [of_limb.contacts for of_limb in known]
    held = _done(hold_tips.steps(bpy.context, [of_limb.limb for of_limb in known], contacts, request))
    return _held(limbs, known, held, frames)


def _plant(arguments: Namespace) -> Answer:
    """Plant the feet of legs; those without IK get some."""
    limbs, requests = _legs(arguments)
    if not limbs and not requests:
        return Answer([])
    view_layer_of(bpy.context).objects.active = [*limbs, *(request.limb for request in requests)][0].id_data
    asked = frames_asked_for(arguments)
    frames = range(round(asked[0]), round(asked[-1]) + 1)
    try:
        planted = _done(plant.steps(bpy.context, requests, limbs, frames, PlantOptions(**options_of(arguments))))
    except NoContacts:
        return _none_stands(limbs)
    return _held([limb for limb in limbs_asked_for(arguments) if is_leg(limb)], planted.legs, planted.report, frames)


def _convert(arguments: Namespace) -> Answer:
    """Solve IK constraints exactly."""
    options, owners = options_of(arguments), _constrained(arguments)
    new, lines = 0, list[Line]()
    for ob, of_rig in groupby(owners, key=lambda owner: owner.id_data):
        view_layer_of(bpy.context).objects.active = ob
        done = _done(converting.convert_what_can.steps(bpy.context, [*of_rig], **options), f"{ob.name}: ")
        new += len(done.limbs)
        for (_, name), why in done.refused:
            say(f"{ob.name}: {why}")
            lines.append({"object": ob.name, "limb": name, "problem": str(why)})
    limbs = [limb for limb in limbs_asked_for(arguments) if is_converted(limb)]
    if limbs and not new:
        say(PRESENT)
    return Answer([*map(_limb_fields, limbs), *lines], new)


def _add(arguments: Namespace) -> Answer:
    """Add the limbs that don't exist yet."""
    options, requests, present = options_of(arguments), dict[Any, LimbRequest](), dict[Any, None]()
    for ob in _editable_rigs(arguments):
        for description in arguments.limb:
            pattern, *followed = [*description.split(":"), "", ""][:3]
            limbs, new = limbs_matched(ob, pattern, 0 if options["bones"] == "AUTO" else int(options["bones"]))
            present |= dict.fromkeys((ob, limb.name) for limb in limbs)
            for (limb, segments), letters in new:
                target, pole = (followed_by_name(ob, fill_wildcards(name, letters)) for name in followed)
                request = LimbRequest(limb, segments, target, pole, options["plane"])
                requests.setdefault((ob, limb.name), request)
    for ob in dict.fromkeys(ob for ob, _ in requests):
        view_layer_of(bpy.context).objects.active = ob
        of_rig = [request for (rig, _), request in requests.items() if rig == ob]
        _done(add.steps(bpy.context, of_rig, **as_options(options)), f"{ob.name}: ")
    if present and not requests:
        say(PRESENT)
    return Answer([_limb_fields(ob.pose.bones[name]) for ob, name in {**present, **requests}], len(requests))


def _rebuild(arguments: Namespace) -> Answer:
    """Rebuild the mechanisms that no longer fit their limbs."""
    view_layer_of(bpy.context).update()
    asked = [(limb, status_now(bpy.context, limb)) for limb in limbs_asked_for(arguments)]
    limbs = [limb for limb, status in asked if "REBUILD" in repairs_for(limb, status)]
    named = [(limb.id_data, limb.name) for limb in limbs if description_of(limb).mode == "RIG"]
    refused = modes.rebuild(bpy.context, [ob.pose.bones[name] for ob, name in named])
    problems = {(ob, name): {"problem": str(why)} for (ob, name), why in refused.items()}
    lines = [_limb_fields(ob.pose.bones[name]) | problems.get((ob, name), {}) for ob, name in named]
    return Answer(lines, len(named) - len(refused))


def _set(arguments: Namespace) -> Answer:
    """Set what is given."""
    limbs = limbs_asked_for(arguments)
    for warning in setting.set_limbs(bpy.context, limbs, options_of(arguments)) if limbs else ():
        say(warning)
    return Answer([*map(_limb_fields, limbs_asked_for(arguments))], len(limbs))


RUN: dict[str, Callable[[Namespace], Answer]] = {
    "report": _report,
    "bake": _bake,
    "plant": _plant,
    "hold": _hold,
    "contacts": _contacts,
    "convert": _convert,
    "add": _add,
    "rebuild": _rebuild,
    "set": _set,
}


def unmatched(arguments: Namespace) -> list[str]:
    """A sentence for each pattern or name that matches nothing in the open file."""
    rigs, verb = rigs_of(arguments), arguments.command
    if not rigs:
        return [f"no rig matches '{arguments.object}'"] if arguments.object != "*" else []
    if verb == "add":
        patterns = [description.split(":")[0] for description in arguments.limb]
        names = [bone.name for ob in rigs for bone in ob.pose.bones]
        return [f"no bone matches '{pattern}'" for pattern in patterns if not matches_of(pattern, names)]
    limbs: Sequence[Any] = limbs_asked_for(arguments, editable=False)
    if verb == "plant":
        limbs = [limb for of_legs in _legs(arguments) for limb in of_legs]
    elif verb == "convert":
        limbs = [*_constrained(arguments), *filter(is_converted, limbs_asked_for(arguments))]
    return [f"no limb matches '{arguments.bone}'"] if arguments.bone != "*" and not limbs else []


def refuse_linked(arguments: Namespace) -> None:
    """Refuse where what is asked for is not in the open file, but in one that it links."""
    verb, patterns = arguments.command, [arguments.bone]
    if verb == "add":
        patterns = [description.split(":")[0] for description in arguments.limb]
    for ob in rigs_of(arguments) if verb not in ("report", "rebuild") else ():
        bones: Any = ob.pose.bones if verb == "add" else candidates(ob) if verb == "convert" else limbs_of(ob)
        if ob.library and any(is_match(bone.name, pattern) for bone in bones for pattern in patterns):
            raise Refused(
                "'{rig}' is linked: do that in its own file, or make a library override to pose it", rig=ob.name
            )


# what is meant


def frames_asked_for(arguments: Namespace, step: float = 1.0) -> list[float]:
    """The frames that the command line asks for, by default the scene's, ``step`` apart."""
    scene = scene_of(bpy.context)
    first, last = arguments.frames or (scene.frame_start, scene.frame_end)
    return baking.frames_by_step(first, last, step)


def _editable_rigs(arguments: Namespace) -> list[Any]:
    """The rigs that are asked for and are of the open file."""
    return [ob for ob in rigs_of(arguments) if ob.library is None and ob.pose.bones]


def _constrained(arguments: Namespace) -> list[PoseBone]:
    """The bones with IK constraints that are asked for."""
    owners = (owner for ob in _editable_rigs(arguments) for owner in candidates(ob))
    return [owner for owner in owners if is_match(owner.name, arguments.bone)]


def _legs(arguments: Namespace) -> tuple[list[PoseBone], list[LimbRequest]]:
    """The legs that are asked for: those that have IK, and those that are to get it."""
    new = [line for ob in _editable_rigs(arguments) for line in limbs_without_ik([*ob.pose.bones]) if is_leg(*line)]
    requests = [LimbRequest(limb, segments) for limb, segments in new if is_match(limb.name, arguments.bone)]
    return [limb for limb in limbs_asked_for(arguments) if is_leg(limb)], requests


# what is said


def _done(steps: Any, where: str = "") -> Any:
    """Go through a task, and say its warnings."""
    done = finished(steps, heed_signals)
    for warning in done.warnings:
        say(f"{where}{warning}")
    return done


def _names(limb: PoseBone) -> Line:
    return {"object": limb.id_data.name, "limb": limb.name, "mode": description_of(limb).mode}


def _limb_fields(limb: PoseBone) -> Line:
    described = description_of(limb)
    target, subtarget = described.followed[0] or (None, "")
    follows = subtarget or (target.name if target else None)
    return {**_names(limb), "plane": described.choices["plane"], "target": follows}


def _reported(one: LimbReport) -> Line:
    states = one.states
    runs = [list(run) for _, run in groupby(states, key=lambda state: state.reach)]
    line: Line = {
        **_names(one.limb),
        "first": states[0].frame,
        "last": states[-1].frame,
        "frames": len(states),
        "unreached": sum(state.is_missed for state in states),
        "miss": max((state.miss for state in states if state.reach not in ("FK", "INVALID")), default=None),
        "reach": [{"from": run[0].frame, "to": run[-1].frame, "is": run[0].reach} for run in runs],
        **_contact_words(one.contacts),
    }
    problem = next((state.problem for state in states if state.problem), "")
    return {**line, "problem": problem} if problem else line


def _none_stands(limbs: Sequence[PoseBone]) -> Answer:
    """A line for each limb, none of which is in contact."""
    if limbs:
        say(NOT_STANDING)
    return Answer([*map(_unheld, limbs)], 0, NOT_STANDING)


def _unheld(limb: PoseBone) -> Line:
    return {**_names(limb), "missed": 0, **_contact_words(None)}


def _held(limbs: Sequence[PoseBone], known: list[Contacts], held: HoldReport, frames: Sequence[float]) -> Answer:
    """A line for each limb; of those that are held in contacts, how far they slid there before."""
    now = contact_markers.slips_now(bpy.context, known, frames, heed_signals)
    lines = {(limb.id_data, limb.name): _unheld(limb) for limb in limbs}
    for before, of_limb in zip(known, now, strict=True):
        ref = before.limb.id_data, before.limb.name
        lines[ref] = {
            **_names(before.limb),
            "slid": before.slip,
            "missed": len(held.missed[ref]),
            **_contact_words(of_limb),
        }
    return Answer([*lines.values()], len(known), NOT_STANDING)


def _contact_words(contacts: Contacts | None) -> Line:
    """How far a sole slides in contact at most, nothing without contacts; in each, and where its phases begin."""
    pairs = zip(contacts.contacts, contacts.slips, strict=True) if contacts else ()
    listed = [
        {
            "from": contact.frames.first,
            "to": contact.last,
            "slide": slip,
            "phases": [{"from": phase.first, "on": phase.on} for phase in contact.phases],
        }
        for contact, slip in pairs
    ]
    return {"slide": contacts.slip if contacts and listed else None, "contacts": listed}
