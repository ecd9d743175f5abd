"""How far the pole of a limb goes with its target: whether a limb has that, and whether it is whole."""

from __future__ import annotations

from typing import Any

from bpy.types import PoseBone

from ..blender.types import ArmatureObject, bones_of
from .follow import follow_of, is_gone
from .settings import MADE_BY_US, MADE_FOR_LIMB
from .storage import has_slider

CONSTRAINT = f"{MADE_BY_US}Pole Follow"
"""The Armature constraint of the pole: its targets are what the pole hung on, and the limb's target."""

STILL = "still"
"""The role of the helper that never moves."""

HUNG_ON_TARGET = "pole_on_target"
"""What the group of a limb says whose pole hung on the target itself."""

NEEDS = "Pole Follow of '{bone}' needs a target and a pole that are bones of its rig: pick such"


def has_pole_follow(limb: PoseBone) -> bool:
    """Whether a limb has Pole Follow: a slider for how far its pole moves with its target."""
    return has_slider(limb, "pole_follow")


def pole_goes_along(limb: PoseBone) -> bool:
    """Whether moving the target of a limb moves its pole, which then has to be put back."""
    (target, target_bone), (pole, pole_bone) = follow_of(limb).pairs
    if pole is None or is_gone(pole, pole_bone):
        return False
    if has_pole_follow(limb):
        return True
    if pole_bone and pole == target:
        return target_bone in (bone.name for bone in bones_of(pole)[pole_bone].parent_recursive)
    return pole.parent is not None and pole.parent == target


def is_still_helper(ob: ArmatureObject, name: str) -> bool:
    """Whether a bone is the helper bone that never moves."""
    bone: Any = ob.data.bones.get(name)
    return bone is not None and bone.get(MADE_FOR_LIMB) == STILL
