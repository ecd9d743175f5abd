"""Making a bone the last of a limb by name, and setting how many bones that has and what it follows."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Object, PoseBone

from ..blender.transaction import as_one
from ..blender.types import has_bone
from ..blender.words import Refused
from ..finding.checking import check_addable, check_chain, check_followed
from ..limb import values
from ..limb.storage import check_structure, group_of, is_limb, limb_constraint_of, segments_of
from ..rigging.apply import apply
from ..rigging.description import describe, ref_of
from .following import refollow
from .planned import new_limb, with_segments
from .removing import remove
from .setting import check_settable

NEW_SEGMENTS = (1, 1)
"""The segments of a limb that is made without saying how many bones it is to have."""


def set_enabled(bone: PoseBone, value: Any) -> None:
    """Add or remove the limb that ends with this bone."""
    is_wanted = values.to_flag("enabled", value)
    if is_wanted and not is_limb(bone):
        check_addable(bone, NEW_SEGMENTS)
        with as_one(bpy.context):
            apply(bpy.context, {ref_of(bone): new_limb(bone, NEW_SEGMENTS)})
    elif not is_wanted and group_of(bone) is not None:
        with as_one(bpy.context):
            remove(bpy.context, [bone])


def set_chain_count(bone: PoseBone, value: Any) -> None:
    """Set how many bones a limb has; add the limb if there is none."""
    count = values.to_count("chain_count", value, 2, 4)
    if is_limb(bone) and count == sum(segments_of(bone)):
        return
    segments = (1,) * count
    check_chain(bone, segments)
    description = with_segments(bone, segments) if is_limb(bone) else new_limb(bone, segments)
    with as_one(bpy.context):
        apply(bpy.context, {ref_of(bone): description})


def read_followed(bone: PoseBone, name: str) -> Any:
    """The setting of this name of a limb's IK constraint: an object, or the name of a bone."""
    constraint = limb_constraint_of(bone)
    return getattr(constraint, name) if constraint else ("" if name.endswith("subtarget") else None)


def set_followed(bone: PoseBone, name: str, value: Any) -> None:
    """Set the target or pole of a limb; setting a target adds the limb if there is none."""
    is_bone, role = name.endswith("subtarget"), name.replace("subtarget", "target")
    role_of_bone = role.replace("target", "subtarget")
    value = values.to_name(name, value) if is_bone else values.to_object(name, value)
    if name == "target" and not is_limb(bone):
        if value is None:
            return
        check_addable(bone, NEW_SEGMENTS)
    else:
        check_settable(bone, name)
    ob = read_followed(bone, role) if is_bone else value
    subtarget = value if is_bone else read_followed(bone, role_of_bone)
    if not is_bone and not has_bone(ob, subtarget):
        subtarget = ""
    _check_role(bone, role, (ob, subtarget), is_bone)
    description = describe(ref_of(bone)) if is_limb(bone) else new_limb(bone, NEW_SEGMENTS)
    ref = None if ob is None else (ob, subtarget)
    if role == "pole_target" and ref is not None and description.choices["plane"] != "POLE":
        check_structure(bone)
    with as_one(bpy.context):
        refollow(bpy.context, {ref_of(bone): description.following(role.replace("_target", ""), ref)})


def _check_role(limb: PoseBone, role: str, followed: tuple[Object | None, str], is_whole: bool) -> None:
    """Refuse what a limb can't follow, as Add does. While this is not ``is_whole``, the rig's own object is one of
    whose bones one is yet to be named."""
    ob, bone = followed
    if ob is None:
        if bone:
            raise Refused("'{last}' has no {role}: set that, then its bone", last=limb.name, role=role)
    elif is_whole or bone or ob != limb.id_data:
        segments = segments_of(limb) if is_limb(limb) else NEW_SEGMENTS
        check_followed(limb, segments, (ob, bone))
