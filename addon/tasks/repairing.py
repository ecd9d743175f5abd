"""What can be done where a limb can't be posed, or IK can't be added, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bpy.types import Context, PoseBone

from ..blender.words import Refused
from ..finding.checking import check_addable, conflicts_of, mute_constraints
from ..limb.follow import follow_of, gone_controls, is_gone
from ..limb.storage import bones_of_limb, is_on_rig
from .following import make_poles, make_targets
from .modes import rebuild, remove
from .status import Status, mechanism_problem

__all__ = ["conflicts_of"]


def repairs_for(limb: PoseBone, status: Status | None = None) -> list[str]:
    """The names of the repairs that apply to a limb now."""
    if status is not None and not status.is_broken:
        return []
    if not bones_of_limb(limb):
        return ["LEFT"]
    if is_gone(*follow_of(limb).pairs[0]):
        return ["TARGET", "PICK"]
    if "POLE" in gone_controls(limb):
        return ["POLE"]
    muting = ["MUTE"] if conflicts_of(limb) else []
    is_edited = status is not None and is_on_rig(limb) and not muting  # which the pose alone tells
    return ["REBUILD", *muting] if is_edited or mechanism_problem(limb) else muting


def refusal_of(limb: PoseBone, segments: tuple[int, ...]) -> Refused | None:
    """Why IK can't be added to a limb; nothing if it can."""
    try:
        check_addable(limb, segments)
    except Refused as why:
        return why
    return None


def _mute_conflicts(_context: Context, limb: PoseBone) -> None:
    mute_constraints(conflicts_of(limb))


REPAIRS: dict[str, Callable[[Context, PoseBone], Any]] = {
    "TARGET": lambda context, limb: make_targets(context, [limb]),
    "POLE": lambda context, limb: make_poles(context, [limb]),
    "MUTE": _mute_conflicts,
    "REBUILD": lambda context, limb: rebuild(context, [limb], and_others=True),
    "LEFT": lambda context, limb: remove(context, [limb]),
}
