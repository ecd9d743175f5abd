"""Making a bone the last of a limb by name, and setting how many bones that has and what it follows."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender.dependencies import Dependencies
from ..blender.types import has_bone, tag
from ..finding.checking import check, check_followed, check_planar
from ..finding.knees import bend_axis
from ..limb import values
from ..limb.follow import follow_of, is_gone
from ..limb.rest_geometry import hinge_axis, rest_geometry
from ..limb.settings import GROUP, SLIDER, TWISTS
from ..limb.sides import keep_side
from ..limb.storage import (
    chain_bones,
    check_parents,
    choices_of,
    has_slider,
    is_limb,
    limb_constraint_of,
    limbs_of,
    make_limb,
    segments_of,
)
from ..limb.words import Refused
from ..rigging.build import retarget
from ..rigging.pole_follow import rebuild_pole_follow
from ..rigging.rolling import refollow
from .modes import rebuild_mechanisms
from .removing import remove
from .setting import check_limb, check_structure, set_choice, set_wholly

NEW = (1, 1)
"""The segments of a limb that is made without saying how many bones it is to have."""


def set_enabled(bone: PoseBone, value: Any) -> None:
    """Make a bone the last of a limb, or take its limb away."""
    is_wanted = values.to_flag("enabled", value)
    if is_wanted and not is_limb(bone):
        check(bone, NEW)
        with set_wholly(bone):
            _make_limb(bone)
    elif not is_wanted and GROUP in bone:  # type: ignore[operator]
        ob, name = bone.id_data, bone.name
        with set_wholly(bone):
            remove(bpy.context, [bone])
            tag(ob.pose.bones[name])


def set_chain_count(bone: PoseBone, value: Any) -> None:
    """Set the number of a limb's bones; make the limb where there is none."""
    count = values.to_count("chain_count", value, 2, 4)
    if is_limb(bone) and count == sum(segments_of(bone)):
        return
    segments = (1,) * count
    _check_chain(bone, segments)
    with set_wholly(bone):
        if not is_limb(bone):
            _make_limb(bone, segments)
            return
        make_limb(bone, segments)
        group: Any = bone[GROUP]
        if "reference_rotations" in group:
            del group["reference_rotations"]
        for name in (TWISTS[0].name, "ankle")[: 2 if count == 2 else 1]:  # a value for each bone that there was
            if has_slider(bone, name):
                del bone[SLIDER[name].key]
        if "bend_axis" not in group:
            _keep_axis(bone)
        rebuild_mechanisms(bpy.context, [bone])
        tag(bone)


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
    if to_pole := role == "pole_target" and ob is not None and choices_of(bone)["plane"] != "POLE":
        check_structure(bone)
    with set_wholly(bone):
        if not is_limb(bone):
            _make_limb(bone)
        constraint = limb_constraint_of(bone)
        setattr(constraint, role, ob)
        setattr(constraint, role_of_bone, subtarget)
        if to_pole:
            set_choice(bone, "plane", "POLE")
        retarget(bone)
        rig, last = bone.id_data, bone.name
        refollow(bpy.context, bone)
        rebuild_pole_follow(bpy.context, [rig.pose.bones[last]])
        tag(rig.pose.bones[last])


def _make_limb(bone: PoseBone, segments: tuple[int, ...] = NEW) -> None:
    """Make a bone that can be one the last of a limb, which bends as Add has it bend."""
    make_limb(bone, segments)
    bone[GROUP]["plane"] = "POLE" if follow_of(bone).pole else "HINGE" if hinge_axis(bone) else "FREE"
    _keep_axis(bone)
    tag(bone)


def _keep_axis(bone: PoseBone) -> None:
    """Note what a limb bends about where it is straight."""
    group: Any = bone[GROUP]
    axis = bend_axis(bone, segments_of(bone), group.get("tip", "FOOT"), 0.0)
    if axis:
        group["bend_axis"] = axis
        keep_side(bone)


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
