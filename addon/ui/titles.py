"""What people call a limb: ``Left Leg``, as far as that tells it from the rig's others; else the name of a bone."""

from __future__ import annotations

from collections import Counter

from bpy.types import PoseBone

from ..blender.words import translated_text
from ..tasks.limbs import arm_or_leg, description_of, is_leg, limbs_of, side_sign
from ..tasks.selection import control_of
from .remembering import cached_until_rebuilt, name_of
from .state import slider_of_rig

TITLES = {
    ("ARM", 1): "Left Arm",
    ("ARM", -1): "Right Arm",
    ("ARM", 0): "Arm",
    ("FORELEG", 1): "Left Foreleg",
    ("FORELEG", -1): "Right Foreleg",
    ("FORELEG", 0): "Foreleg",
    ("LEG", 1): "Left Leg",
    ("LEG", -1): "Right Leg",
    ("LEG", 0): "Leg",
}


def title_of(limb: PoseBone) -> str:
    """The title of a limb, in the language of the interface."""
    title, is_kind = cached_until_rebuilt(("title", name_of(limb)), lambda: _title(limb))
    return translated_text(title) if is_kind else title


def joint_label(limb: PoseBone) -> str:
    """What bends in a limb, in English: ``Elbow`` or ``Knee``, of two bones that are called as of an arm or a leg; else
    ``Bend``."""
    joint: str = cached_until_rebuilt(("joint", name_of(limb)), lambda: _joint(limb))
    return joint


def _joint(limb: PoseBone) -> str:
    kind = arm_or_leg(limb) if len(description_of(limb).segments) == 2 else ""
    return {"ARM": "Elbow", "LEG": "Knee"}.get(kind, "Bend")


def _title(limb: PoseBone) -> tuple[str, bool]:
    """The title in English, and whether it says what kind of limb it is."""
    title = _named(limb)
    counts = Counter(map(_named, limbs_of(limb.id_data)))
    if title and counts[title] == 1:
        return title, True
    target, bone = control_of(limb)
    if target and slider_of_rig(limb):  # the limb's bones are hidden: people know the control
        return bone or target.name, False
    return limb.name, False


def _named(limb: PoseBone) -> str:
    """``Left Leg`` and the like in English, nothing where the bones' names don't say."""
    kind = arm_or_leg(limb)
    return TITLES.get(("FORELEG" if kind == "ARM" and is_leg(limb) else kind, side_sign(limb.name)), "")
