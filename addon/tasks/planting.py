"""Plant Feet: IK with Foot Roll on legs that have none, when their feet stand, and these held there, all as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bpy.types import Context, PoseBone

from ..blender import stepping, transaction
from ..blender.types import Message, Refused, scene_of
from ..feet.contacts import HEIGHT, SPEED
from ..limb import tips, tolerances
from ..rigging.description import ref_of
from . import adding, holding, setting
from .contact_markers import Contacts, find_contacts, mark_contacts

NOT_LOW = "No foot is low and slow in any frame: set Height or Speed to more"
KEEP_STILL = "The feet keep still from frame {first} to {last}: Plant Feet is for a rig that walks"


class PlantOptions(NamedTuple):
    """How feet are planted: the height and speed below which they are on the ground, see `contacts_of`; the frames over
    which each contact eases in and out; the tolerance of legs that get IK, see `add`; whether hips are lowered, and the
    mesh that feet stand on: see `HoldOptions`."""

    height: float = HEIGHT
    speed: float = SPEED
    ease: int = 3
    tolerance: float = adding.FEWER_KEYS
    lower_hips: bool = True
    ground: str = ""


class PlantResult(NamedTuple):
    """The legs that were planted, with their contacts and how far they slid before; the report of the hold; and
    warnings."""

    legs: list[Contacts]
    report: holding.HoldReport
    warnings: list[Message]


class NoContacts(Refused):
    """No foot is on the ground in any frame."""


@stepping.Stepwise
def plant(
    context: Context,
    requests: Sequence[adding.LimbRequest],
    limbs: Sequence[PoseBone],
    frames: Sequence[int],
    description: PlantOptions,
) -> stepping.Steps[PlantResult]:
    """Plant the feet of legs, of those that are asked for and get IK, and of those that have it. Their contacts are
    marked in place of those that are. Raises `Refused`, and then nothing has changed."""
    names = [ref_of(limb) for limb in (*limbs, *(request.limb for request in requests))]
    warnings: list[Message] = []
    with transaction.as_one(context):
        if requests:
            tolerance = description.tolerance
            added = yield from adding.add.steps(context, requests, mode="RIG", foot_roll=True, tolerance=tolerance)
            warnings = added.warnings
        setting.add_foot_roll(context, [leg for ob, bone in names if tips.foot_of(leg := ob.pose.bones[bone])])
        legs = [ob.pose.bones[bone] for ob, bone in names]
        listed = yield from find_contacts.steps(context, legs, frames, description.height, description.speed)
        standing = [of_leg for of_leg in listed if of_leg.contacts]
        if not standing:
            raise NoContacts(NOT_LOW)
        if all(_keeps_still(of_leg, frames) for of_leg in listed):
            raise NoContacts(KEEP_STILL, first=frames[0], last=frames[-1])
        request = holding.HoldOptions(
            ease=description.ease,
            plants=True,
            is_mean=True,
            lower_hips=description.lower_hips,
            ground=description.ground,
        )
        contacts = [of_leg.contacts for of_leg in standing]
        report = yield from holding.hold_tips.steps(context, [of_leg.limb for of_leg in standing], contacts, request)
        mark_contacts(scene_of(context), standing)
    return PlantResult(standing, report, [*warnings, *report.warnings])


def _keeps_still(leg: Contacts, frames: Sequence[int]) -> bool:
    """Whether a leg stands in all of these frames, and does not slide: nothing moves it."""
    contacts = [contact.frames for contact in leg.contacts]
    return contacts == [(frames[0], frames[-1])] and leg.slip < tolerances.UNSEEN * leg.limb.length
