"""Hold: limbs' tips, and how their feet are turned, are planted in the world over ranges of frames or contacts, eased
in and out. Feet that roll are planted as they stand."""

from __future__ import annotations

from collections.abc import Sequence

from bpy.types import Context, PoseBone

from ..blender.stepping import Steps, Stepwise
from ..blender.types import is_evaluated, scene_of
from ..blender.words import Refused
from ..limb.follow import check_posable, follow_of
from ..limb.moving import check_movable, rig_slider
from ..limb.storage import is_live, mode_of
from ..limb.transactional import transactional_steps
from ..poses.contacts import Contact, FrameRange
from ..poses.holds import HoldOptions, HoldReport, hold_limbs, limb_to_hold, sole_contact

__all__ = ["HoldOptions", "HoldReport", "sole_contact"]

MOST_EASE = 10
"""The frames that a hold may be eased in and out over."""


@Stepwise
@transactional_steps
def hold_tips(
    context: Context,
    limbs: Sequence[PoseBone],
    contacts: Sequence[Sequence[Contact]],
    request: HoldOptions,
) -> Steps[HoldReport]:
    """Hold limbs in contacts, given for each limb in order: feet with Foot Roll in all of a contact, others while they
    are on their soles. Raises `Refused`, with nothing changed."""
    within = FrameRange(scene_of(context).frame_start, scene_of(context).frame_end)
    plants = []
    for limb, of_limb in zip(limbs, contacts, strict=True):
        check_hold(context, limb)
        plants.append(limb_to_hold(limb, of_limb, request.rolls, within))
    report = yield from hold_limbs(context, plants, request, within)
    if report is None:
        template = "Nothing is to be held in the scene's frames, {first} to {last}: change these, or the range"
        raise Refused(template, first=within.first, last=within.last)
    return report


def check_hold(context: Context, limb: PoseBone) -> None:
    """Refuse a limb whose target can't be moved, or does not move it."""
    if slider := rig_slider(limb):
        raise Refused("Use the rig's own slider '{slider}' of '{bone}' for this limb", slider=slider[1], bone=slider[0])
    check_posable(limb)
    if not is_evaluated(limb.id_data, context.evaluated_depsgraph_get()):
        raise Refused("'{rig}' is not shown here: show it to pose its limbs", rig=limb.id_data.name)
    follow = follow_of(limb)
    check_movable(limb, follow.target, follow.subtarget)  # type: ignore[arg-type]  # `check_posable` found it there
    if mode_of(limb) == "LIVE" and not is_live(scene_of(context)):
        raise Refused("'{bone}' is in FK, because Live is off in this scene: switch it on, then hold", bone=limb.name)
