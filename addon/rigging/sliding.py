"""Whether the first bone of a limb can slide along its own line."""

from __future__ import annotations

from typing import Any

from ..blender.words import Refused
from ..limb.settings import CHOICES
from .description import Description, LimbRef

UNEASY = ("softness", "stretch")
LIMITS = ("min_angle", "max_angle", "root_min_angle", "root_max_angle")


def check_two_bones(name: str, segments: tuple[int, ...]) -> None:
    """Refuse a limb that is to slide and has not two bones."""
    if len(segments) != 2:
        raise Refused("'{bone}' has {count} bones: one that slides has two", bone=name, count=len(segments))


def check_slide(ref: LimbRef, description: Description) -> None:
    """Refuse a limb that is to slide and can't."""
    if description.choices["plane"] != "SLIDE":
        return
    bone: Any = ref[0].data.bones[ref[1]]
    check_two_bones(bone.name, description.segments)
    for _ in range(sum(description.segments) - 1):
        bone = bone.parent
    if bone.use_connect and bone.parent:
        raise Refused("'{bone}' is connected to its parent: disconnect it in Edit Mode to let it slide", bone=bone.name)
    inherits = (bone.use_inherit_rotation and bone.inherit_scale == "FULL") or not bone.parent
    if not (inherits and bone.use_local_location):
        template = "'{bone}' is to slide: have it inherit rotation, full scale and local location"
        raise Refused(template, bone=bone.name)
    if any(name in description.sliders for name in UNEASY) or any(
        description.choices[name] != CHOICES[name] for name in LIMITS
    ):
        raise Refused("'{bone}' slides, which goes without softness, stretch and limits", bone=ref[1])
