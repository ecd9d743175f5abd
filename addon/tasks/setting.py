"""Setting what limbs are, by name: sliders, choices, features, mode. What does not fit raises TypeError, ValueError
or `Refused`, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import bpy
from bpy.types import Context, PoseBone

from ..blender.keying import key_automatically
from ..blender.transaction import as_one
from ..blender.words import Message, Refused
from ..limb import values
from ..limb.features import BY_NAME, FEATURES
from ..limb.features.feature import TURN_LIMITS
from ..limb.settings import ALLOWED, CHOICES, slider_of
from ..limb.storage import (
    ELSEWHERE,
    check_structure,
    choices_of,
    has_slider,
    is_limb,
    path_to_slider,
    read_slider,
    segments_of,
    write_slider,
)
from ..limb.transactional import transactional
from ..rigging.apply import apply
from ..rigging.description import describe, ref_of
from .features import (
    change_feature,
)
from .following import set_plane
from .modes import set_mode

Change = Callable[[Context, Sequence[PoseBone]], Any]


def set_slider(limb: PoseBone, name: str, value: Any) -> None:
    """Set a slider; a limb that lacks the feature gets it."""
    slider = slider_of(name)
    number = values.to_number(name, value, slider.limits) if slider.limits else values.to_flag(name, value)
    check_settable(limb, name)
    ref = ref_of(limb)
    feature = next((feature for feature in FEATURES if name in feature.keys), None)
    with as_one(bpy.context):
        if not has_slider(limb, name):
            if feature and (why := feature.why_not(describe(ref))):
                raise Refused(why, bone=limb.name)
            check_structure(limb)
            if feature:
                change_feature(bpy.context, [limb], feature.name, True)
            else:
                apply(bpy.context, {ref: describe(ref).with_slider(name, number)})
        write_slider(ref[0].pose.bones[ref[1]], name, number)


@transactional
def set_limbs(context: Context, limbs: Sequence[PoseBone], settings: Mapping[str, Any]) -> list[Message]:
    """Set what is given of limbs, all at once: whether they have features, by their names, the ``plane`` and ``mode``,
    on which side they bend (``flip``), and what else does not animate. Returns warnings. Raises `Refused`."""
    refs, warnings = [ref_of(limb) for limb in limbs], list[Message]()

    def now() -> list[PoseBone]:
        return [ob.pose.bones[name] for ob, name in refs]

    features = [feature.name for feature in FEATURES if feature.name in settings]
    for name in reversed([name for name in features if not settings[name]]):
        change_feature(context, now(), name, False)
    if "plane" in settings:
        warnings = set_plane(context, now(), settings["plane"])
    choices = {name: settings[name] for name in CHOICES if name in settings and name != "plane"}
    for limb in now() if choices else ():
        set_choices(limb, choices)
    for name in [name for name in features if settings[name]]:
        change_feature(context, now(), name, True)
    if "flip" in settings:
        _set_flip(context, now(), settings["flip"])
    if "mode" in settings:
        set_mode(context, now(), settings["mode"])
    return warnings


def _set_flip(context: Context, limbs: Sequence[PoseBone], value: bool) -> None:
    """Bend limbs to this side, with keys as Auto Keying wants them."""
    for limb in [limb for limb in limbs if read_slider(limb, "flip") != value]:
        set_slider(limb, "flip", value)
        key_automatically(context, limb.id_data, [path_to_slider(limb.name, "flip")], limb.name)


def set_twist(limb: PoseBone, value: Any) -> None:
    """Set by how much each bone of a limb is turned about its own line: a number for each."""
    twists = BY_NAME["twist"].keys[: len(segments_of(limb))]
    numbers = values.to_numbers("twist", value, len(twists), TURN_LIMITS)
    check_settable(limb, "twist")
    ob, bone = limb.id_data, limb.name
    change_feature(bpy.context, [limb], "twist", True)
    for twist, number in zip(twists, numbers, strict=True):
        write_slider(ob.pose.bones[bone], twist, number)


def set_choices(limb: PoseBone, choices: Mapping[str, Any]) -> None:
    """Set settings that do not animate, all at once; the mechanism is rebuilt."""
    now = {**choices_of(limb)}
    for name, value in choices.items():
        to_value: Any = values.to_word if isinstance(CHOICES[name], str) else values.to_number
        now[name] = to_value(name, value, ALLOWED[name])
        check_settable(limb, name)
    if now == choices_of(limb):
        return
    check_structure(limb)
    if now["min_angle"] > now["max_angle"] and choices.keys() & {"min_angle", "max_angle"}:
        raise Refused("Knee Min is above Knee Max: the knee would have no angle left")
    with as_one(bpy.context):
        apply(bpy.context, {ref_of(limb): describe(ref_of(limb))._replace(choices=now)})


def check_settable(limb: PoseBone, name: str) -> None:
    """Refuse to set something on a bone that is no limb's last one, or where Blender would not save it."""
    if not is_limb(limb):
        template = "'{bone}' has no IK, so it has no {name}: set enabled, target or chain_count first"
        raise Refused(template, bone=limb.name, name=name)
    if limb.id_data.library:
        raise Refused(ELSEWHERE, rig=limb.id_data.name)
