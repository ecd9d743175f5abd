"""Setting what is set by name on one limb: its sliders and its choices. What does not fit raises TypeError, ValueError
or `Refused`, and nothing is changed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import bpy
from bpy.types import Context, PoseBone

from ..blender.animation import stop
from ..blender.editing import unkeyed_kept
from ..blender.transaction import all_or_nothing
from ..blender.types import path_to_custom, tag
from ..limb import values
from ..limb.settings import ALLOWED, CHOICES, GROUP, SLIDER, TURNS, TWISTS, has_first_limits
from ..limb.storage import (
    align,
    choices_of,
    has_slider,
    has_twist,
    is_limb,
    make_slider,
    mode_of,
    segments_of,
    write_slider,
)
from ..limb.whole import concerned
from ..limb.words import Refused
from ..rigging.pole_follow import give_pole_follow
from ..rigging.roll_parts import set_break_angle
from ..rigging.rolling import SLIDERS as ROLL_SLIDERS
from ..rigging.rolling import give_roll
from .modes import rebuild_mechanisms

ELSEWHERE = "'{rig}' comes from another file: set this there"


def set_slider(last: PoseBone, name: str, value: Any) -> None:
    """Set a setting that animates; a limb that lacks the feature gets it."""
    slider = SLIDER[name]
    number = values.to_number(name, value, slider.limits) if slider.limits else values.to_flag(name, value)
    check_limb(last, name)
    if name == "ankle" and len(segments_of(last)) < 3:
        raise Refused("'{bone}' has two bones: limbs of three or four have an ankle", bone=last.name)
    if has_slider(last, name):
        write_slider(last, name, number)
        return
    if name in ("softness", "stretch") and has_first_limits(choices_of(last)):
        raise Refused("'{bone}' has root limits, which go without softness and stretch", bone=last.name)
    check_structure(last)
    ob, bone = last.id_data, last.name
    with set_wholly(last):
        if name in ROLL_SLIDERS:
            give_roll(bpy.context, [last])
        elif name == "pole_follow":
            give_pole_follow(bpy.context, [last])
        else:
            make_slider(last, slider)
        write_slider(ob.pose.bones[bone], name, number)
        _rebuild(ob.pose.bones[bone])


def set_twist(last: PoseBone, value: Any) -> None:
    """Set by how much each bone of a limb is turned about its own line: a number for each."""
    twists = TWISTS[: len(segments_of(last))]
    numbers = values.to_numbers("twist", value, len(twists), TURNS)
    check_limb(last, "twist")
    ob, bone = last.id_data, last.name
    give_twist(bpy.context, [last])
    for twist, number in zip(twists, numbers, strict=True):
        write_slider(ob.pose.bones[bone], twist.name, number)


def give_twist(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Let the bones of limbs be turned about their own lines."""
    new = [(last.id_data, last.name) for last in lasts if not has_twist(last)]
    for ob, bone in new:
        check_structure(ob.pose.bones[bone])
    with all_or_nothing(context, concerned([ob for ob, _ in new])):
        for ob, bone in new:
            make_slider(ob.pose.bones[bone], TWISTS[0])
        rebuild_mechanisms(context, [ob.pose.bones[bone] for ob, bone in new])
        for ob, bone in new:
            tag(ob.pose.bones[bone])


def take_twist(context: Context, lasts: Sequence[PoseBone]) -> None:
    """Take the twist of limbs away, with its keys."""
    for ob, bone in [(last.id_data, last.name) for last in lasts]:
        drop_feature(context, ob.pose.bones[bone], TWISTS[0].name)


def drop_feature(context: Context, last: PoseBone, name: str) -> None:
    """Take a setting that animates away from a limb that has it, with its keys."""
    if not has_slider(last, name):
        return
    ob, bone, key = last.id_data, last.name, SLIDER[name].key
    with unkeyed_kept(context, [ob]):
        stop(ob, [path_to_custom(bone, key)])
    del ob.pose.bones[bone][key]
    rebuild_mechanisms(context, [ob.pose.bones[bone]])
    tag(ob.pose.bones[bone])


def set_choice(last: PoseBone, name: str, value: Any) -> None:
    """Set a setting that does not animate: it is part of the mechanism."""
    allowed: Any = ALLOWED[name]
    value = (values.to_word if isinstance(CHOICES[name], str) else values.to_number)(name, value, allowed)
    check_limb(last, name)
    if choices_of(last)[name] == value:
        return
    _check_first_limits(last, name, value)
    check_structure(last)
    with set_wholly(last):
        last[GROUP][name] = value
        if name == "break_angle":
            set_break_angle(last)
        else:
            _rebuild(last)


def _check_first_limits(last: PoseBone, name: str, value: Any) -> None:
    """Refuse what limits of a limb's first joint do not go with."""
    choices = {**choices_of(last), name: value}
    if not has_first_limits(choices) or not (name == "plane" or name.startswith("root")):
        return
    if choices["plane"] != "HINGE" or len(segments_of(last)) > 2:
        raise Refused("Root limits are about a hinge: '{bone}' needs two bones and Hinge", bone=last.name)
    if has_slider(last, "softness") or has_slider(last, "stretch"):
        raise Refused("'{bone}' has root limits, which go without softness and stretch", bone=last.name)


def _rebuild(last: PoseBone) -> None:
    """Have the bones of a limb and its mechanism be as its settings say."""
    align(last)
    rebuild_mechanisms(bpy.context, [last])
    tag(last)


def set_wholly(last: PoseBone) -> AbstractContextManager[None]:
    """What is set on a limb is set wholly or not at all."""
    return all_or_nothing(bpy.context, concerned([last.id_data]))


def check_limb(last: PoseBone, name: str) -> None:
    """Refuse to set something on a bone that is none, or of a rig that keeps nothing of what is set."""
    if not is_limb(last):
        template = "'{bone}' has no IK, so it has no {name}: set enabled, target or chain_count first"
        raise Refused(template, bone=last.name, name=name)
    if last.id_data.library:
        raise Refused(ELSEWHERE, rig=last.id_data.name)


def check_structure(last: PoseBone) -> None:
    """Refuse what changes more of a limb than sliders where Blender would not keep that."""
    ob = last.id_data
    if ob.library or ob.override_library or (is_limb(last) and mode_of(last) == "RIG" and ob.data.library):
        raise Refused(ELSEWHERE, rig=ob.name)
