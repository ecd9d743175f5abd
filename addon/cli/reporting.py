"""``report`` and ``bake``: what limbs do, frame by frame, as lines of JSON."""

from __future__ import annotations

from argparse import Namespace
from itertools import groupby
from typing import Any

import bpy
from bpy.types import PoseBone

from ..bake import BakeRequest, bake, frames_by_step
from ..blender.stepping import finished
from ..blender.types import scene_of
from ..tasks.contact_markers import Contacts
from ..tasks.limbs import description_of
from ..tasks.reporting import FrameStatus, reported
from .interrupting import check_not_interrupted, going_on
from .shots import say

Line = dict[str, Any]


def frames_asked_for(arguments: Namespace) -> list[float]:
    """The frames that are asked for."""
    scene = scene_of(bpy.context)
    first, last = arguments.frames or (scene.frame_start, scene.frame_end)
    return frames_by_step(first, last, arguments.step)


def report_limbs(limbs: list[PoseBone], arguments: Namespace) -> list[Line]:
    """What limbs do as Blender evaluates them; nothing is changed."""
    frames, max_miss = frames_asked_for(arguments), arguments.max_miss
    reports = reported(bpy.context, limbs, frames, max_miss, lambda _: check_not_interrupted())
    return [_line(report.limb, report.states, report.contacts) for report in reports]


def _line(limb: PoseBone, states: list[FrameStatus], contacts: Contacts | None) -> Line:
    runs = [list(run) for _, run in groupby(states, key=lambda state: state.reach)]
    line: Line = {
        "object": limb.id_data.name,
        "limb": limb.name,
        "mode": description_of(limb).mode,
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
            "from": contact.frames.first,
            "to": contact.last,
            "slide": slide,
            "phases": [{"from": phase.first, "on": phase.on} for phase in contact.phases],
        }
        for contact, slide in pairs
    ]
    return {"slide": contacts.slide if contacts and listed else None, "contacts": listed}


def bake_limbs(limbs: list[PoseBone], arguments: Namespace) -> list[Line]:
    """Bake limbs as the arguments say, and tell what became of them."""
    request = BakeRequest(
        limbs=limbs,
        frames=frames_asked_for(arguments),
        tolerance=arguments.tolerance,
        remove=arguments.remove,
        for_game=arguments.purpose == "game",
        new_action=arguments.new_action,
        max_miss=arguments.max_miss,
    )
    report = finished(bake.steps(bpy.context, request), going_on)
    for warning in report.warnings:
        say(warning)
    return [limb._asdict() for limb in report.limbs]
