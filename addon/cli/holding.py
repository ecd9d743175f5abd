"""``contacts`` and ``hold``: when the tips of limbs are in contact; they are planted there."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import bpy
from bpy.types import PoseBone

from ..blender.types import scene_of
from ..limb.storage import mode_of
from ..poses.contacts import Path
from ..poses.recording import record
from ..poses.tip_paths import path_of
from ..tasks.contact_markers import Contacts, contacts_known, contacts_on, find_contacts, readable_limbs_beside
from ..tasks.holding import Request, hold_tips
from .interrupting import check_not_interrupted
from .reporting import contact_words, frames_of
from .shots import say

Line = dict[str, Any]


def find_contacts_of(lasts: list[PoseBone], arguments: Namespace) -> list[Contacts]:
    """When limbs are in contact, as their paths show; those of limbs that can't be read are left out."""
    readable = readable_limbs_beside(bpy.context, lasts)
    return find_contacts(
        bpy.context,
        [last for last in lasts if last in readable],
        frames_of(arguments),
        arguments.height,
        arguments.speed,
        lambda _: check_not_interrupted(),
    )


def contact_lines(lasts: list[PoseBone], listed: list[Contacts]) -> list[Line]:
    """A line for each limb, also for one that is never in contact."""
    by_limb = {contacts.last: contacts for contacts in listed}
    return [
        {"object": last.id_data.name, "limb": last.name, "mode": mode_of(last), **contact_words(by_limb.get(last))}
        for last in lasts
    ]


def hold_limbs(lasts: list[PoseBone], arguments: Namespace) -> list[Line]:
    """Hold limbs in their contacts, as markers say or as they are found, and tell how far they slide there now."""
    limbs, frames = readable_limbs_beside(bpy.context, lasts), frames_of(arguments)
    listed = [last for last in lasts if last in limbs]
    known = contacts_known(scene_of(bpy.context), listed, frames, _paths(limbs, frames))
    known = [of_limb for of_limb in known if of_limb.contacts]
    if not known:
        return []
    request = Request(arguments.ease, rolls=True, is_mean=True)
    report = hold_tips(
        bpy.context,
        [of_limb.last for of_limb in known],
        [of_limb.contacts for of_limb in known],
        request,
        lambda _: check_not_interrupted(),
    )
    for warning in report.warnings:
        say(warning)
    paths = _paths([of_limb.last for of_limb in known], frames)
    return [_line(of_limb, paths[of_limb.last], frames) for of_limb in known]


def _paths(limbs: list[PoseBone], frames: list[float]) -> dict[PoseBone, Path]:
    recording = record(bpy.context, limbs, frames, progress=lambda _: check_not_interrupted())
    return {last: path_of(recording, last) for last in limbs}


def _line(contacts: Contacts, path: Path, frames: list[float]) -> Line:
    last, before = contacts.last, contacts.slide
    now = contacts_on(last, contacts.contacts, path, frames)
    return {
        "object": last.id_data.name,
        "limb": last.name,
        "mode": mode_of(last),
        "slid": before,
        **contact_words(now),
    }
