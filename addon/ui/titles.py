"""What people call a limb: ``Left Leg``, as far as that tells it from the rig's others; else the name of a bone."""

from __future__ import annotations

from collections import Counter

from bpy.types import PoseBone

from ..blender.names import side_of
from ..limb.follow import follow_of
from ..limb.moving import rig_slider
from ..limb.names import ARM, FEET, LEG, says
from ..limb.storage import chain_bones, limbs_of
from ..limb.words import translated_text
from .remembering import name_of, until_rebuilt

TITLES = {
    ("ARM", 1): "Left Arm",
    ("ARM", -1): "Right Arm",
    ("ARM", 0): "Arm",
    ("LEG", 1): "Left Leg",
    ("LEG", -1): "Right Leg",
    ("LEG", 0): "Leg",
}


def title_of(last: PoseBone) -> str:
    """The title of a limb, in the language of the interface."""
    return until_rebuilt(("title", name_of(last)), lambda: _title(last))


def _title(last: PoseBone) -> str:
    if rig_slider(last):  # whose bones are hidden: people know the control
        return control_of(last)
    title = _kind(last)
    counts = Counter(map(_kind, limbs_of(last.id_data)))
    return translated_text(title) if title and counts[title] == 1 else last.name


HELPERS = ("MCH-", "ORG-", "DEF-")
"""What the names of bones that people do not see begin with, on rigs that have such."""


def control_of(last: PoseBone) -> str:
    """The name of the control that people move a limb's target by: of those that they see of the target and what it
    hangs on, the uppermost that is called after a foot or hand, else the first."""
    target, name = follow_of(last).pairs[0]
    bone = target.pose.bones.get(name) if target and target.pose else None
    chain: list[str] = [bone.name, *(above.name for above in bone.parent_recursive)] if bone else []
    shown = [control for control in chain if not control.startswith(HELPERS)]
    feet = [control for control in shown if says(control, FEET)]
    return next(iter([*feet[-1:], *shown]), name or (target.name if target else "-"))


def _kind(last: PoseBone) -> str:
    """``Left Leg`` and the like in English, nothing where the bones' names don't say."""
    names = [bone.name for bone in chain_bones(last)]
    kind = next((kind for kind, words in (("ARM", ARM), ("LEG", LEG)) if any(says(name, words) for name in names)), "")
    return TITLES.get((kind, side_of(last.name)), "")
