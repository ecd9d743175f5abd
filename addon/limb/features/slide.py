"""Slide: a plane in which the first of two bones slides along its own line, and the second is a rod to the target; see
`solver.limb`. On a rig, the first bone's helper has its place along the line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...blender.types import Refused
from ...solver.groups import UNLIMITED
from .. import formulas
from ..spec import Share, Spec, axes_of
from .feature import Feature
from .root_limits import is_narrow

PLANE = "SLIDE"

UNEASY = ("softness", "stretch")
"""The sliders that it does not go with."""


def check_two_bones(plane: str, name: str, segments: Sequence[int]) -> None:
    """Refuse a limb that is to slide and has not two bones."""
    if plane == PLANE and len(segments) != 2:
        raise Refused("'{bone}' has {count} bones: one that slides has two", bone=name, count=len(segments))


def check_bones(value: Any, bone: Any) -> None:
    """Refuse a limb that is to slide, by its last bone in the armature, and can't."""
    name = bone.name
    check_two_bones(PLANE, name, value.segments)
    for _ in range(sum(value.segments) - 1):
        bone = bone.parent
    if bone.use_connect and bone.parent:
        raise Refused("'{bone}' is connected to its parent: disconnect it in Edit Mode to let it slide", bone=bone.name)
    inherits = (bone.use_inherit_rotation and bone.inherit_scale == "FULL") or not bone.parent
    if not (inherits and bone.use_local_location):
        template = "'{bone}' is to slide: have it inherit rotation, full scale and local location"
        raise Refused(template, bone=bone.name)


def _why_not(value: Any) -> str:
    choices, has_easing = value.choices, any(name in value.sliders for name in UNEASY)
    if has_easing or is_narrow(choices) or choices["min_angle"] > 0.0 or choices["max_angle"] < UNLIMITED:
        return "'{bone}' slides, which goes without softness, stretch and limits"
    return ""


def _share(spec: Spec) -> Share:
    return Share(drivers=(("turn 1", "location", axes_of(spec).at("Y"), formulas.slide(spec)),))


FEATURE = Feature(
    "slide",
    is_had=lambda value: value.choices["plane"] == PLANE,
    why_not=_why_not,
    check_bones=check_bones,
    share=_share,
)
