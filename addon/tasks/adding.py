"""Adding IK to limbs so that they stay where they are: controls, IK constraint, settings, and the foot that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import pi
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.stepping import Steps, Stepwise
from ..blender.words import Message
from ..limb.tolerances import KEPT
from ..limb.transactional import transactional_steps
from ..poses.over_frames import show_in_ik
from ..poses.planned import (
    AddOptions,
    LimbRequest,
    check_all,
    keys_let_go,
    leave_out_feet,
    mute_limiting,
    planned,
    record_before_adding,
    task_to_keep,
)
from ..poses.staying import bone_places, check_still
from ..rigging.apply import apply
from ..rigging.features import live_for_now

__all__ = ["KEPT", "Added", "LimbRequest", "add"]


class Added(NamedTuple):
    """The limbs that were added, in how many frames keys keep their animation, and warnings."""

    limbs: list[PoseBone]
    kept: int
    warnings: list[Message]


TURNS = {"FOUND": 0.0, "OTHER": pi, "LEFT": pi / 2.0, "RIGHT": -pi / 2.0}
"""By how much each choice of Bends turns the knee around the limb."""


def as_options(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `add` for the operator's settings."""
    same = ("tip", "keyed", "tolerance", "mode", "foot_roll", "pole_follows")
    options = {name: settings[name] for name in same}
    return {**options, "foot": settings["foot_follows"], "turn": TURNS[settings["bends"]]}


@Stepwise
@transactional_steps
def add(
    context: Context,
    requests: Sequence[LimbRequest],
    knee: str = "AUTO",
    foot: bool = True,
    tip: str = "FOOT",
    turn: float = 0.0,
    keyed: str = "KEEP",
    tolerance: float = KEPT,
    mode: str = "LIVE",
    foot_roll: bool = False,
    pole_follows: bool = True,
) -> Steps[Added]:
    """Put IK on limbs, of one rig or several; raises `Refused`, and then nothing is done.

    What a limb is to follow and is not given is made, as bones of its rig. ``knee`` says with which plane where the
    request does not; ``POLE`` also makes a pole, which on legs goes with the target if it ``pole_follows``. With
    ``foot``, the foot or hand below turns with the target; with ``foot_roll``, feet that do so roll. ``tip`` says where
    the tip is: where the ``FOOT`` begins, or the last bone's ``TAIL``. ``turn`` is by how much the knees are to be
    turned around the limbs, from where they point by themselves. Where bones, or what carries them, have keys, ``KEEP``
    of ``keyed`` gives what is made keys too, so that each frame looks as before, to a ``tolerance`` in lengths of the
    limb; ``LEAVE`` does not. ``mode`` says what poses the limbs: their ``RIG``, or the add-on (``LIVE``).
    """
    check_all(requests, Dependencies())
    warnings, dependencies = list[Message](), Dependencies()
    task = task_to_keep(context, requests if keyed == "KEEP" else (), tolerance)
    frames: Any = task.frames
    options = AddOptions(knee, foot, tip, turn, foot_roll=foot_roll, pole_follows=pole_follows)
    recording = yield from record_before_adding(task, requests)
    plans, left_out = planned(context, requests, options, dependencies, recording)
    requests, warnings = [plan.request for plan in plans], warnings + left_out
    new = [plan.limb for plan in plans if plan.request.target is None]
    led = [plan.limb for plan in plans if turn or plan.request.target or plan.request.pole]
    places, descriptions = bone_places(context, plans, led), {plan.limb: plan.description for plan in plans}
    if mode == "RIG":
        descriptions, on_rig = live_for_now(descriptions, dependencies)
        warnings += on_rig
    warnings += mute_limiting(plans) + (keys_let_go(requests) if keyed == "KEEP" else [])
    apply(context, descriptions)
    leave_out_feet(context, plans)
    check_still(context, places, KEPT)
    if frames:
        limbs = [ob.pose.bones[bone] for ob, bone in new]
        warnings += (yield from show_in_ik(task, limbs, known=recording)).warnings
    return Added([ob.pose.bones[bone] for ob, bone in descriptions], len(frames), warnings)
