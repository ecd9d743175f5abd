"""``report`` and ``bake``: what limbs do, frame by frame, as lines of JSON."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from itertools import groupby
from typing import Any, NamedTuple

import bpy
from bpy.types import Depsgraph, PoseBone

from ..bake import Request, bake, frames_between
from ..blender.editing import frame_kept, set_frame
from ..blender.types import scene_of, view_layer_of
from ..limb.storage import by_rig, mode_of
from ..poses.reading import bones_read, new_recording, readers_of
from ..poses.tip_paths import path_of
from ..solver.reach import Reach
from ..tasks.contact_markers import Contacts, contacts_known, readable_limbs_beside
from ..tasks.status import OFF, Status, statuses
from .interrupting import check_not_interrupted
from .shots import say

Line = dict[str, Any]


class State(NamedTuple):
    """One limb in one frame: how its target was reached, how far its tip is off, and what is wrong, if something is."""

    frame: float
    reach: str
    miss: float
    is_missed: bool
    problem: str


def frames_of(arguments: Namespace) -> list[float]:
    """The frames that are asked for."""
    scene = scene_of(bpy.context)
    first, last = arguments.frames or (scene.frame_start, scene.frame_end)
    return frames_between(first, last, arguments.step)


def report_limbs(lasts: list[PoseBone], arguments: Namespace) -> list[Line]:
    """What limbs do as Blender evaluates them; nothing is changed."""
    scene, rigs, frames = scene_of(bpy.context), by_rig(lasts), frames_of(arguments)
    limbs = readable_limbs_beside(bpy.context, lasts)
    recording = new_recording(limbs, len(frames), bones_read, False)
    states: dict[PoseBone, list[State]] = {last: [] for last in lasts}
    with frame_kept(scene):
        for i, frame in enumerate(frames):
            check_not_interrupted()
            set_frame(scene, frame)
            depsgraph = view_layer_of(bpy.context).depsgraph or bpy.context.evaluated_depsgraph_get()
            for ob, group in rigs.items():
                for last, status in zip(group, statuses(ob, group, depsgraph), strict=True):
                    states[last].append(_seen(frame, status, arguments.max_miss))
            readers_of(recording, _evaluated_by(depsgraph), lambda ob: ob)(i)
    paths = {last: path_of(recording, last) for last in limbs}
    listed = contacts_known(scene, [last for last in lasts if last in paths], frames, paths)
    contacts = {of_limb.last: of_limb for of_limb in listed}
    return [_line(last, states[last], contacts.get(last)) for last in lasts]


def _evaluated_by(depsgraph: Depsgraph) -> Callable[[Any], Any]:
    return lambda ob: ob.evaluated_get(depsgraph)


def _seen(frame: float, status: Status, max_miss: float | None) -> State:
    is_broken = status.reach == Reach.INVALID
    is_off = status.reach != Reach.REACHED if max_miss is None else status.residual > max_miss
    reach = status.reach.name if is_broken or not status.is_fk else "FK"
    problem = status.message if is_broken or status.template == OFF else ""
    return State(frame, reach, status.residual, status.is_ik and is_off, problem)


def _line(last: PoseBone, states: list[State], contacts: Contacts | None) -> Line:
    runs = [list(run) for _, run in groupby(states, key=lambda state: state.reach)]
    line: Line = {
        "object": last.id_data.name,
        "limb": last.name,
        "mode": mode_of(last),
        "first": states[0].frame,
        "last": states[-1].frame,
        "frames": len(states),
        "unreached": sum(state.is_missed for state in states),
        "miss": max((state.miss for state in states if state.reach not in ("FK", "INVALID")), default=None),
        "reach": [{"from": run[0].frame, "to": run[-1].frame, "is": run[0].reach} for run in runs],
        **contact_words(contacts),
    }
    problem = next((state.problem for state in states if state.problem), "")
    return {**line, "problem": problem} if problem else line


def contact_words(contacts: Contacts | None) -> Line:
    """How far a sole slides in contact at most, nothing without contacts; in each, and where its phases begin."""
    pairs = zip(contacts.contacts, contacts.slides, strict=True) if contacts else ()
    listed = [
        {
            "from": contact.span.first,
            "to": contact.last,
            "slide": slide,
            "phases": [{"from": phase.first, "on": phase.on} for phase in contact.phases],
        }
        for contact, slide in pairs
    ]
    return {"slide": contacts.slide if contacts and listed else None, "contacts": listed}


def bake_limbs(lasts: list[PoseBone], arguments: Namespace) -> list[Line]:
    """Bake limbs as the arguments say, and tell what became of them."""
    request = Request(
        lasts=lasts,
        frames=frames_of(arguments),
        tolerance=arguments.tolerance,
        remove=arguments.remove,
        for_game=arguments.purpose == "game",
        new_action=arguments.new_action,
        max_miss=arguments.max_miss,
    )
    report = bake(bpy.context, request, lambda _: check_not_interrupted())
    for warning in report.warnings:
        say(warning)
    return [limb._asdict() for limb in report.limbs]
