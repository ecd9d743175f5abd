"""``contacts``, ``hold`` and ``plant``: when the tips of limbs are in contact; they are planted there."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import bpy
from bpy.types import PoseBone

from ..blender.stepping import finished
from ..blender.types import scene_of, view_layer_of
from ..tasks.contact_markers import Contacts, contacts_in_range, find_contacts, readable_limbs_beside, slides_now
from ..tasks.holding import HoldOptions, HoldReport, hold_tips
from ..tasks.limbs import description_of
from ..tasks.planting import NoContacts, PlantOptions, plant
from .interrupting import going_on
from .making import legs_of
from .reporting import contact_words, frames_asked_for
from .shots import say

Line = dict[str, Any]


def find_contacts_of(limbs: list[PoseBone], arguments: Namespace) -> list[Contacts]:
    """When limbs are in contact, as their paths show; those of limbs that can't be read are left out."""
    readable = readable_limbs_beside(bpy.context, limbs)
    refs = [limb for limb in limbs if limb in readable]
    steps = find_contacts.steps(bpy.context, refs, frames_asked_for(arguments), arguments.height, arguments.speed)
    return finished(steps, going_on)


def contact_lines(limbs: list[PoseBone], listed: list[Contacts]) -> list[Line]:
    """A line for each limb, also for one that is never in contact."""
    by_limb = {contacts.limb: contacts for contacts in listed}
    return [
        {
            "object": limb.id_data.name,
            "limb": limb.name,
            "mode": description_of(limb).mode,
            **contact_words(by_limb.get(limb)),
        }
        for limb in limbs
    ]


def hold_limbs_of_file(limbs: list[PoseBone], arguments: Namespace) -> list[Line]:
    """Hold limbs in their contacts, as marked or as found; a line for each limb with how far it slides."""
    frames = frames_asked_for(arguments)
    known = contacts_in_range(bpy.context, limbs, frames, going_on)
    if not known:
        return []
    request = HoldOptions(arguments.ease, rolls=True, is_mean=True)
    contacts = [of_limb.contacts for of_limb in known]
    report = finished(hold_tips.steps(bpy.context, [of_limb.limb for of_limb in known], contacts, request), going_on)
    for warning in report.warnings:
        say(warning)
    return _lines(known, report, frames)


def plant_feet(arguments: Namespace) -> list[Line]:
    """Plant the feet of the legs that are asked for, and tell how far they slide now; nothing where none stands."""
    limbs, requests = legs_of(arguments)
    if not limbs and not requests:
        return []
    view_layer_of(bpy.context).objects.active = [*limbs, *(request.limb for request in requests)][0].id_data
    first, last = arguments.frames or (scene_of(bpy.context).frame_start, scene_of(bpy.context).frame_end)
    description, frames = (
        PlantOptions(arguments.height, arguments.speed, arguments.ease),
        range(round(first), round(last) + 1),
    )
    try:
        planted = finished(plant.steps(bpy.context, requests, limbs, frames, description), going_on)
    except NoContacts:
        return []
    for warning in planted.warnings:
        say(warning)
    return _lines(planted.legs, planted.report, frames)


def _lines(limbs: list[Contacts], report: HoldReport, frames: Sequence[float]) -> list[Line]:
    """A line for each limb that is held in contacts, of which is known how far it slid there before."""
    now = slides_now(bpy.context, limbs, frames, going_on)
    return [
        {
            "object": before.limb.id_data.name,
            "limb": before.limb.name,
            "mode": description_of(before.limb).mode,
            "slid": before.slide,
            "missed": report.missed[before.limb.id_data, before.limb.name],
            **contact_words(of_limb),
        }
        for before, of_limb in zip(limbs, now, strict=True)
    ]
