"""Setting what is set by name on one limb: its sliders and its choices. What does not fit raises TypeError, ValueError
or `Refused`, and nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import bpy
from bpy.types import Context, PoseBone

from ..blender.keying import key_automatically
from ..blender.transaction import as_one
from ..blender.types import path_to_custom
from ..blender.words import Refused
from ..limb import values
from ..limb.settings import ALLOWED, CHOICES, SLIDER, TURN_LIMITS, TWISTS, has_first_limits
from ..limb.storage import (
    ELSEWHERE,
    check_structure,
    choices_of,
    has_slider,
    has_twist,
    is_limb,
    read_slider,
    segments_of,
    write_slider,
)
from ..rigging.apply import apply
from ..rigging.description import describe, ref_of
from ..rigging.features import ROLL_SLIDERS
from .features import add_foot_roll, add_pole_follow, add_twist


def set_slider(limb: PoseBone, name: str, value: Any) -> None:
    """Set a slider; a limb that lacks the feature gets it."""
    slider = SLIDER[name]
    number = values.to_number(name, value, slider.limits) if slider.limits else values.to_flag(name, value)
    check_settable(limb, name)
    if name == "ankle" and len(segments_of(limb)) < 3:
        raise Refused("'{bone}' has two bones: limbs of three or four have an ankle", bone=limb.name)
    if has_slider(limb, name):
        write_slider(limb, name, number)
        return
    if name in ("softness", "stretch") and has_first_limits(choices_of(limb)):
        raise Refused("'{bone}' has root limits, which go without softness and stretch", bone=limb.name)
    check_structure(limb)
    ref = ref_of(limb)
    with as_one(bpy.context):
        if name in ROLL_SLIDERS:
            add_foot_roll(bpy.context, [limb])
        elif name == "pole_follow":
            add_pole_follow(bpy.context, [limb])
        else:
            apply(bpy.context, {ref: describe(ref).with_slider(name, number)})
            return
        write_slider(ref[0].pose.bones[ref[1]], name, number)


def flip(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Bend limbs to the other side, with keys as Auto Keying wants them."""
    for limb in limbs:
        set_slider(limb, "flip", not read_slider(limb, "flip"))
        key_automatically(context, limb.id_data, [path_to_custom(limb.name, SLIDER["flip"].key)], limb.name)


def set_twist(limb: PoseBone, value: Any) -> None:
    """Set by how much each bone of a limb is turned about its own line: a number for each."""
    twists = TWISTS[: len(segments_of(limb))]
    numbers = values.to_numbers("twist", value, len(twists), TURN_LIMITS)
    check_settable(limb, "twist")
    ob, bone = limb.id_data, limb.name
    if not has_twist(limb):
        add_twist(bpy.context, [limb])
    for twist, number in zip(twists, numbers, strict=True):
        write_slider(ob.pose.bones[bone], twist.name, number)


def set_choice(limb: PoseBone, name: str, value: Any) -> None:
    """Set a setting that does not animate; the mechanism is rebuilt."""
    allowed: Any = ALLOWED[name]
    value = (values.to_word if isinstance(CHOICES[name], str) else values.to_number)(name, value, allowed)
    check_settable(limb, name)
    if choices_of(limb)[name] == value:
        return
    _check_first_limits(limb, name, value)
    check_structure(limb)
    _check_limits(name, value, choices_of(limb))
    with as_one(bpy.context):
        apply(bpy.context, {ref_of(limb): describe(ref_of(limb)).with_choice(name, value)})


def _check_limits(name: str, value: Any, choices: dict[str, Any]) -> None:
    """Refuse a least angle of the knee above the greatest."""
    choices = {**choices, name: value}
    if name in {"min_angle", "max_angle"} and choices["min_angle"] > choices["max_angle"]:
        raise ValueError("min_angle would be above max_angle: set the other one first")


def _check_first_limits(limb: PoseBone, name: str, value: Any) -> None:
    """Refuse what limits of a limb's first joint do not go with."""
    choices = {**choices_of(limb), name: value}
    if not has_first_limits(choices) or not (name == "plane" or name.startswith("root")):
        return
    if choices["plane"] != "HINGE" or len(segments_of(limb)) > 2:
        raise Refused("Root limits are about a hinge: '{bone}' needs two bones and Hinge", bone=limb.name)
    if has_slider(limb, "softness") or has_slider(limb, "stretch"):
        raise Refused("'{bone}' has root limits, which go without softness and stretch", bone=limb.name)


def check_settable(limb: PoseBone, name: str) -> None:
    """Refuse to set something on a bone that is no limb's last one, or where Blender would not save it."""
    if not is_limb(limb):
        template = "'{bone}' has no IK, so it has no {name}: set enabled, target or chain_count first"
        raise Refused(template, bone=limb.name, name=name)
    if limb.id_data.library:
        raise Refused(ELSEWHERE, rig=limb.id_data.name)
