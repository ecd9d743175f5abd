"""Setting what limbs are, by name: whether they are limbs, of which bones, and what they follow; sliders, choices,
features, mode. What does not fit raises TypeError, ValueError or `Refused`, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import bpy
from bpy.types import Context, Object, PoseBone

from ..blender import keying, rotation, stepping, transaction
from ..blender.dependencies import Dependencies
from ..blender.types import Message, Refused, has_bone, scene_of, tag_rig, view_layer_of
from ..feet.soles import lying_of
from ..finding import checking, knees
from ..limb import follow, storage, tips
from ..limb.features import BY_NAME, FEATURES
from ..limb.features.feature import TURN_LIMITS
from ..limb.rest_geometry import hinge_axis, rest_geometry_of
from ..limb.settings import (
    ALLOWED,
    CHOICES,
    CONSTRAINT_NAME,
    BonesPerSegment,
    slider_of,
    to_count,
    to_flag,
    to_name,
    to_number,
    to_numbers,
    to_object,
    to_word,
)
from ..motion import passing, placing
from ..motion.frames import frames_of, moved_by
from ..rigging.build import build
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..rigging.features import pole_follow_for, roll_for, with_foot
from ..rigging.feet import Lying, turns_of_feet
from .following import keeping_poles, placed_at, put_controls, refollow, set_plane
from .modes import remove, set_mode


@transaction.transactional
def set_feet(context: Context, limbs: Sequence[PoseBone], on: bool) -> None:
    """Turn feet with their targets, or no longer; their pose stays. Raises `Refused` before anything is changed."""
    for limb in limbs:
        if not on and follow.rolled_target(limb):
            raise Refused("The foot of '{bone}' rolls with its target: switch off Foot Roll first", bone=limb.name)
    refs = {ref_of(limb): limb for limb in limbs}
    off = {ref: describe(ref)._replace(foot_turn=None) for ref in refs}
    build(context, {ref: with_foot(context, limb) for ref, limb in refs.items()} if on else off)


@transaction.transactional
def add_foot_roll(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Add a foot roll to limbs that have none; their feet then follow their targets, and are flat as they are seen to
    lie on the floor. Raises `Refused`."""
    for limb in limbs:
        checking.check_editable(limb)
    lacking, dependencies = (
        [limb for limb in limbs if follow.rolled_target(limb) is None or not follow.has_roll(limb)],
        Dependencies(),
    )
    lying, frames = dict[LimbRef, Lying | None](), frames_of(context, moved_by(lacking)).at
    if frames:
        seen, rate = stepping.finished(passing.record(context, lacking, frames)), stepping.rate_of(scene_of(context))
        lying = {ref_of(limb): lying_of(seen, limb, rest_geometry_of(limb), rate) for limb in lacking}
    refs = {ref_of(limb): with_foot(context, limb) for limb in lacking}
    build(context, {ref: roll_for(refs[ref], ref, dependencies, lying=lying.get(ref)) for ref in refs})


@transaction.transactional
def remove_foot_roll(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Remove the foot roll of limbs, with its keys; feet that are rolled now stay. Their controls move to where the
    feet are, if they can."""
    limbs = [limb for limb in limbs if follow.has_roll(limb)]
    for limb in limbs:
        checking.check_editable(limb)
    refs = [ref_of(limb) for limb in limbs]
    with _keeping_rolled_feet(context, limbs):
        build(context, {ref: describe(ref).without("foot_roll") for ref in refs})


@contextmanager
def _keeping_rolled_feet(context: Context, limbs: Sequence[PoseBone]) -> Iterator[None]:
    """Have the controls of limbs that are rolled now go where their feet are, and toes stay as they are turned, after
    their foot roll is taken away."""
    flat, kept = {toe for limb in limbs for toe in follow.flat_toes(limb)}, _at_rolled_targets(context, limbs)
    turns = turns_of_feet(context, limbs) if kept else []
    toes = [(toe.id_data, toe.name, turn) for toe, turn in turns if toe in flat]
    yield
    put_controls(context, kept)
    for ob, name, turn in toes:
        rotation.set_turn(ob.pose.bones[name], turn)
        tag_rig(ob.pose.bones[name])
    view_layer_of(context).update()


def _at_rolled_targets(context: Context, limbs: Sequence[PoseBone]) -> list[placing.ControlPlacing]:
    """The controls of limbs that are rolled now, where their rolled targets are; their poles where they are."""
    kept, depsgraph = list[placing.ControlPlacing](), context.evaluated_depsgraph_get()
    for limb in limbs:
        helper = follow.rolled_target(limb)
        if helper and any(storage.read_slider(limb, name) for name in BY_NAME["foot_roll"].keys):
            target, pole = follow.follow_of(limb).pairs  # type: Any, Any
            rolled = follow.matrix_of(limb.id_data, helper.name, depsgraph)
            kept.append(placed_at(target, limb, rolled))
            if follow.pole_goes_along(limb):
                kept.append(placed_at(pole, limb, follow.matrix_of(pole[0], pole[1], depsgraph), is_turned=False))
    return kept


@transaction.transactional
def add_pole_follow(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Add Pole Follow to limbs without it: a slider for how far the pole moves with the target. It is 0, or 1 for a
    pole that hung on the target. Raises `Refused`."""
    limbs, dependencies = [limb for limb in limbs if not follow.has_pole_follow(limb)], Dependencies()
    for limb in limbs:
        checking.check_editable(limb)
    refs = [ref_of(limb) for limb in limbs]
    build(context, {ref: pole_follow_for(describe(ref), ref, dependencies) for ref in refs})


@transaction.transactional
def remove_pole_follow(context: Context, limbs: Sequence[PoseBone]) -> None:
    """Remove Pole Follow: poles hang again on what they hung on, and stay where they are now."""
    limbs = [limb for limb in limbs if follow.has_pole_follow(limb)]
    for limb in limbs:
        checking.check_editable(limb)
    with keeping_poles(context, limbs):
        build(context, {ref_of(limb): describe(ref_of(limb)).without("pole_follows") for limb in limbs})


ADDING: dict[str, Callable[[Context, Sequence[PoseBone]], None]] = {
    "foot_follows": partial(set_feet, on=True),
    "foot_roll": add_foot_roll,
    "pole_follows": add_pole_follow,
}
REMOVING: dict[str, Callable[[Context, Sequence[PoseBone]], None]] = {
    "foot_follows": partial(set_feet, on=False),
    "foot_roll": remove_foot_roll,
    "pole_follows": remove_pole_follow,
}
"""What adds and removes features that need more than sliders."""


@transaction.transactional
def change_feature(context: Context, limbs: Sequence[PoseBone], name: str, on: bool) -> None:
    """Give limbs a feature that they lack, or take it away, with its animation."""
    if change := (ADDING if on else REMOVING).get(name):
        change(context, limbs)
        return
    for limb in limbs:
        storage.check_structure(limb)
    refs = [ref_of(limb) for limb in limbs]
    described = {ref: describe(ref).with_sliders_of(name) if on else describe(ref).without(name) for ref in refs}
    build(context, described)


Change = Callable[[Context, Sequence[PoseBone]], Any]


def set_slider(limb: PoseBone, name: str, value: Any) -> None:
    """Set a slider; a limb that lacks the feature gets it."""
    slider = slider_of(name)
    number = to_number(name, value, slider.limits) if slider.limits else to_flag(name, value)
    check_settable(limb, name)
    ref = ref_of(limb)
    feature = next((feature for feature in FEATURES if name in feature.keys), None)
    with transaction.as_one(bpy.context):
        if not storage.has_slider(limb, name):
            if feature and (why := feature.why_not(describe(ref))):
                raise Refused(why, bone=limb.name)
            storage.check_structure(limb)
            if feature:
                change_feature(bpy.context, [limb], feature.name, True)
            else:
                build(bpy.context, {ref: describe(ref).with_slider(name, number)})
        storage.write_slider(ref[0].pose.bones[ref[1]], name, number)


@transaction.transactional
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
    for limb in [limb for limb in limbs if storage.read_slider(limb, "flip") != value]:
        set_slider(limb, "flip", value)
        keying.key_automatically(context, limb.id_data, [storage.path_to_slider(limb.name, "flip")], limb.name)


def set_twist(limb: PoseBone, value: Any) -> None:
    """Set by how much each bone of a limb is turned about its own line: a number for each."""
    twists = BY_NAME["twist"].keys[: len(storage.segments_of(limb))]
    numbers = to_numbers("twist", value, len(twists), TURN_LIMITS)
    check_settable(limb, "twist")
    ob, bone = limb.id_data, limb.name
    change_feature(bpy.context, [limb], "twist", True)
    for twist, number in zip(twists, numbers, strict=True):
        storage.write_slider(ob.pose.bones[bone], twist, number)


def set_choices(limb: PoseBone, choices: Mapping[str, Any]) -> None:
    """Set settings that do not animate, all at once; the mechanism is rebuilt."""
    now = {**storage.choices_of(limb)}
    for name, value in choices.items():
        to_value: Any = to_word if isinstance(CHOICES[name], str) else to_number
        now[name] = to_value(name, value, ALLOWED[name])
        check_settable(limb, name)
    if now == storage.choices_of(limb):
        return
    storage.check_structure(limb)
    if now["min_angle"] > now["max_angle"] and choices.keys() & {"min_angle", "max_angle"}:
        raise Refused("Knee Min is above Knee Max: the knee would have no angle left")
    with transaction.as_one(bpy.context):
        build(bpy.context, {ref_of(limb): describe(ref_of(limb))._replace(choices=now)})


def check_settable(limb: PoseBone, name: str) -> None:
    """Refuse to set something on a bone that is no limb's last one, or where Blender would not save it."""
    if not storage.is_limb(limb):
        template = "'{bone}' has no IK, so it has no {name}: set enabled, target or chain_count first"
        raise Refused(template, bone=limb.name, name=name)
    if limb.id_data.library:
        raise Refused(storage.ELSEWHERE, rig=limb.id_data.name)


NEW_SEGMENTS = (1, 1)
"""The segments of a limb that is made without saying how many bones it is to have."""


def set_enabled(bone: PoseBone, value: Any) -> None:
    """Add or remove the limb that ends with this bone."""
    is_wanted = to_flag("enabled", value)
    if is_wanted and not storage.is_limb(bone):
        checking.check_addable(bone, NEW_SEGMENTS)
        with transaction.as_one(bpy.context):
            build(bpy.context, {ref_of(bone): new_limb(bone, NEW_SEGMENTS)})
    elif not is_wanted and storage.group_of(bone) is not None:
        with transaction.as_one(bpy.context):
            remove(bpy.context, [bone])


def set_chain_count(bone: PoseBone, value: Any) -> None:
    """Set how many bones a limb has; add the limb if there is none."""
    count = to_count("chain_count", value, 2, 4)
    if storage.is_limb(bone) and count == sum(storage.segments_of(bone)):
        return
    segments = (1,) * count
    checking.check_chain(bone, segments)
    description = with_segments(bone, segments) if storage.is_limb(bone) else new_limb(bone, segments)
    with transaction.as_one(bpy.context):
        build(bpy.context, {ref_of(bone): description})


def read_followed(bone: PoseBone, name: str) -> Any:
    """The setting of this name of a limb's IK constraint: an object, or the name of a bone."""
    constraint = storage.limb_constraint_of(bone)
    return getattr(constraint, name) if constraint else ("" if name.endswith("subtarget") else None)


def set_followed(bone: PoseBone, name: str, value: Any) -> None:
    """Set the target or pole of a limb; setting a target adds the limb if there is none."""
    is_bone, role = name.endswith("subtarget"), name.replace("subtarget", "target")
    role_of_bone = role.replace("target", "subtarget")
    value = to_name(name, value) if is_bone else to_object(name, value)
    if name == "target" and not storage.is_limb(bone):
        if value is None:
            return
        checking.check_addable(bone, NEW_SEGMENTS)
    else:
        check_settable(bone, name)
    ob = read_followed(bone, role) if is_bone else value
    subtarget = value if is_bone else read_followed(bone, role_of_bone)
    if not is_bone and not has_bone(ob, subtarget):
        subtarget = ""
    _check_role(bone, role, (ob, subtarget), is_bone)
    description = describe(ref_of(bone)) if storage.is_limb(bone) else new_limb(bone, NEW_SEGMENTS)
    ref = None if ob is None else (ob, subtarget)
    if role == "pole_target" and ref is not None and description.choices["plane"] != "POLE":
        storage.check_structure(bone)
    with transaction.as_one(bpy.context):
        refollow(bpy.context, {ref_of(bone): description.following(role.replace("_target", ""), ref)})


def _check_role(limb: PoseBone, role: str, followed: tuple[Object | None, str], is_whole: bool) -> None:
    """Refuse an object and bone that a limb can't follow, as Add does; the rig's own object, without a bone, only if it
    ``is_whole``: else the bone is yet to be named."""
    ob, bone = followed
    if ob is None:
        if bone:
            raise Refused("'{last}' has no {role}: set that, then its bone", last=limb.name, role=role)
    elif is_whole or bone or ob != limb.id_data:
        segments = storage.segments_of(limb) if storage.is_limb(limb) else NEW_SEGMENTS
        checking.check_followed(limb, segments, (ob, bone))


def new_limb(bone: PoseBone, segments: BonesPerSegment) -> Description:
    """The description of a limb that ends with this bone, bent as Add has it bend."""
    foot, there = tips.foot_of(bone), bone.constraints.get(CONSTRAINT_NAME)
    pairs = follow.follow_of_constraint(there).pairs if there else ()
    target, pole = (ref if ref[0] else None for ref in pairs or ((None, ""), (None, "")))
    description = Description(segments, foot.name if foot else "", target=target, pole=pole)
    description = description.with_choice("plane", "POLE" if pole else "HINGE" if hinge_axis(bone) else "FREE")
    return description._replace(bend_axis=tuple(knees.bend_axis(bone, segments, "FOOT", 0.0) or ())).of_its_bones()


def with_segments(bone: PoseBone, segments: BonesPerSegment) -> Description:
    """A limb that is there, of other segments."""
    description = describe(ref_of(bone))._replace(segments=segments, reference_rotations=()).of_its_bones()
    return description._replace(
        bend_axis=tuple(description.bend_axis or knees.bend_axis(bone, segments, description.tip, 0.0) or ())
    )
