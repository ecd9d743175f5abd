"""Making a bone the last of a limb by name, and setting how many bones that has and what it follows."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.transaction import as_one
from ..blender.types import has_bone
from ..finding.checking import check, check_followed, check_planar
from ..finding.knees import bend_axis
from ..limb import values
from ..limb.follow import follow_of, is_gone, read
from ..limb.rest_geometry import hinge_axis, rest_geometry
from ..limb.settings import CONSTRAINT_NAME, GROUP, TWISTS
from ..limb.storage import (
    chain_bones,
    check_parents,
    check_structure,
    is_limb,
    limb_constraint_of,
    limbs_of,
    segments_of,
)
from ..limb.tips import foot_of
from ..limb.words import Refused
from ..rigging.apply import apply
from ..rigging.description import Description, describe, ref_of
from .following import refollow
from .removing import remove
from .setting import check_limb

NEW = (1, 1)
"""The segments of a limb that is made without saying how many bones it is to have."""


def set_enabled(bone: PoseBone, value: Any) -> None:
    """Make a bone the last of a limb, or take its limb away."""
    is_wanted = values.to_flag("enabled", value)
    if is_wanted and not is_limb(bone):
        check(bone, NEW)
        with as_one(bpy.context):
            apply(bpy.context, {ref_of(bone): _new(bone)})
    elif not is_wanted and GROUP in bone:  # type: ignore[operator]
        with as_one(bpy.context):
            remove(bpy.context, [bone])


def set_chain_count(bone: PoseBone, value: Any) -> None:
    """Set the number of a limb's bones; make the limb where there is none."""
    count = values.to_count("chain_count", value, 2, 4)
    if is_limb(bone) and count == sum(segments_of(bone)):
        return
    segments = (1,) * count
    _check_chain(bone, segments)
    if not is_limb(bone):
        wish = _new(bone, segments)
    else:
        wish = _with_ankle(describe(ref_of(bone))._replace(segments=segments, reference_rotations=()))
        axis = wish.bend_axis or bend_axis(bone, segments, wish.tip, 0.0) or ()
        wish = wish._replace(bend_axis=tuple(axis))
    with as_one(bpy.context):
        apply(bpy.context, {ref_of(bone): wish})


def read_followed(bone: PoseBone, name: str) -> Any:
    """The setting of this name of a limb's IK constraint: an object, or the name of a bone."""
    constraint = limb_constraint_of(bone)
    return getattr(constraint, name) if constraint else ("" if name.endswith("subtarget") else None)


def set_followed(bone: PoseBone, name: str, value: Any) -> None:
    """Have a limb follow another object or bone as its target or pole; make the limb where it gets its target."""
    is_bone, role = name.endswith("subtarget"), name.replace("subtarget", "target")
    role_of_bone = role.replace("target", "subtarget")
    value = values.to_name(name, value) if is_bone else values.to_object(name, value)
    if name == "target" and not is_limb(bone):
        if value is None:
            return
        check(bone, NEW)
    else:
        check_limb(bone, name)
    ob = read_followed(bone, role) if is_bone else value
    subtarget = value if is_bone else read_followed(bone, role_of_bone)
    if not is_bone and not has_bone(ob, subtarget):
        subtarget = ""
    _check_role(bone, role, (ob, subtarget), is_bone)
    wish = describe(ref_of(bone)) if is_limb(bone) else _new(bone)
    ref = None if ob is None else (ob, subtarget)
    if role == "pole_target" and ref is not None and wish.choices["plane"] != "POLE":
        check_structure(bone)
    with as_one(bpy.context):
        refollow(bpy.context, {ref_of(bone): wish.following(role.replace("_target", ""), ref)})


def _new(bone: PoseBone, segments: tuple[int, ...] = NEW) -> Description:
    """A limb of a bone that can be the last of one, which bends as Add has it bend."""
    foot, there = foot_of(bone), bone.constraints.get(CONSTRAINT_NAME)
    pairs = read(there).pairs if there else ()
    target, pole = (ref if ref[0] else None for ref in pairs or ((None, ""), (None, "")))
    wish = Description(segments, foot.name if foot else "", target=target, pole=pole)
    wish = wish.with_choice("plane", "POLE" if pole else "HINGE" if hinge_axis(bone) else "FREE")
    return _with_ankle(wish._replace(bend_axis=tuple(bend_axis(bone, segments, "FOOT", 0.0) or ())))


def _with_ankle(wish: Description) -> Description:
    """A limb with an ankle if it has three bones or four."""
    wish = wish.without_sliders(*(twist.name for twist in TWISTS))  # a value for each bone that there was
    if len(wish.segments) < 3:
        return wish.without_sliders("ankle")
    return wish.with_slider("ankle", wish.sliders.get("ankle", 0.0))


def _check_chain(bone: PoseBone, segments: tuple[int, ...]) -> None:
    """Refuse what can't be a limb of these segments, whether it is one already or not."""
    if not is_limb(bone):
        check(bone, segments)
        return
    check_structure(bone)
    check_parents(bone, sum(segments))
    chain = {*chain_bones(bone, segments)}
    for other in limbs_of(bone.id_data):
        if other != bone and (shared := chain & {*chain_bones(other)}):
            name = min(shared_bone.name for shared_bone in shared)
            raise Refused("'{bone}' is part of the limb of '{last}': remove that first", bone=name, last=other.name)
    check_planar(rest_geometry(bone, segments))
    for followed in follow_of(bone).pairs:
        if not is_gone(*followed):
            check_followed(bone, segments, followed, Dependencies())  # type: ignore[arg-type]  # it is there


def _check_role(last: PoseBone, role: str, followed: tuple[Object | None, str], is_whole: bool) -> None:
    """Refuse what a limb can't follow, as Add does. While this is not ``is_whole``, the rig's own object is one of
    whose bones one is yet to be named."""
    ob, bone = followed
    if ob is None:
        if bone:
            raise Refused("'{last}' has no {role}: set that, then its bone", last=last.name, role=role)
    elif is_whole or bone or ob != last.id_data:
        segments = segments_of(last) if is_limb(last) else NEW
        check_followed(last, segments, (ob, bone), Dependencies())
