"""What lies between two joints of a limb: a bone, its twist bones in line, and what only holds the next one."""

from __future__ import annotations

from bpy.types import Bone, PoseBone

from ..blender.types import Refused, bones_of, children_of
from ..limb import names, tips, tolerances

Suggestion = tuple[PoseBone, tuple[int, ...]]
"""A limb that IK could be put on: its last bone, and how many bones each of its segments has."""

IN_LINE = 0.02
"""How far off the line between two joints a twist bone may begin, as a part of that."""


def segment_of(bone: PoseBone) -> list[PoseBone]:
    """A bone with the twist bones that go on from it in line, or those from which it goes on."""
    segment = [bone]
    while is_twist(segment[0]):
        segment.insert(0, segment[0].parent)  # type: ignore[arg-type]
    while (after := next(filter(is_twist, children_of(segment[-1])), None)) is not None:
        segment.append(after)
    return segment


def is_twist(bone: PoseBone) -> bool:
    """Whether a bone is a twist bone: it begins between the joints where its parent begins and the next bone does, in
    line with these. In a straight limb so does a forearm: where names don't say which is which, the line has to bend
    at both joints, and twice."""
    below = tips.foot_below(bone.bone)
    if bone.parent is None or below is None or not _is_between(bone.parent.bone, bone.bone, below):
        return False
    stems = [names.stem_of(name) for name in (bone.parent.name, below.name)]
    if names.says_twist(bone.name) and not names.says_twist(stems[0]):
        return stems[0] != stems[1]
    if names.is_piece(bone.name, bone.parent.name):
        return stems[0] != stems[1]
    if names.is_called(bone.name) or stems[0] == names.stem_of(bone.name):
        return False
    if names.is_called(bone.parent.name):
        return names.is_limb_like(bone.parent.name) or not names.is_girdle(bone.parent.name)
    inner = tips.foot_below(below)
    end = tips.foot_below(inner) if inner else None
    if inner is None or end is None:
        return False
    return _is_between(below, inner, end) and not _is_between(bone.parent.bone, below, inner)


def _is_between(start: Bone, bone: Bone, end: Bone) -> bool:
    """Whether a bone begins between where two others do, in line."""
    along, off = end.head_local - start.head_local, bone.head_local - start.head_local
    share = off.dot(along) / (along.length_squared or 1.0)
    return bool(IN_LINE < share < 1.0 - IN_LINE and (off - along * share).length <= IN_LINE * along.length)


def bone_of_offset_group(bone: Bone) -> Bone | None:
    """The bone below an offset group, as exporters add one above each joint: it begins at the same place. None if this
    bone is none, also if only helper bones begin there, or if it is a hand without a length, as in captures."""
    if tips.foot_below(bone) is not None:
        return None
    near = tolerances.UNSEEN * bone.length
    children = [child for child in bone.children if child.children and not tips.looks_like_mechanism(child)]
    inner = next((child for child in children if (child.head_local - bone.head_local).length <= near), None)
    is_end = names.has_word(bone.name, names.FEET) and inner and not names.has_word(inner.name, names.FEET)
    return None if is_end else inner


def segment_above(segment: list[PoseBone]) -> list[PoseBone]:
    """The segment above another, with the offset groups that hold that; nothing above the first."""
    groups: list[PoseBone] = []
    parent = segment[0].parent
    while parent is not None and bone_of_offset_group(parent.bone) is not None:
        groups.insert(0, parent)
        parent = parent.parent
    return [*segment_of(parent), *groups] if parent is not None else groups


def segment_below(segment: list[PoseBone]) -> tuple[list[PoseBone], PoseBone | None]:
    """What goes on from a segment, which may be its foot: the offset groups that hold it, and the bone."""
    bones = bones_of(segment[0].id_data)
    groups: list[PoseBone] = []
    bone = tips.foot_below(segment[-1].bone)
    while bone is not None and (inner := bone_of_offset_group(bone)) is not None:
        groups.append(bones[bone.name])
        bone = inner
    return groups, bones[bone.name] if bone is not None else None


def limb_up_from(limb: PoseBone, count: int, shared_parents: set[str]) -> Suggestion:
    """The limb of ``count`` segments whose last segment has this bone; raises `Refused` if it would contain one of the
    ``shared_parents``, bones from which several limbs hang."""
    line = [segment_of(limb)]
    while len(line) < count:
        segment = segment_above(line[0])
        if not segment and len(line) > 1:
            template = "'{bone}' ends a line of {found} bones, not of {count}: choose fewer"
            raise Refused(template, bone=limb.name, found=len(line), count=count)
        if not segment:
            raise Refused("'{bone}' has no parent to bend against: click the shin or the forearm", bone=line[0][0].name)
        if too_high := next((bone for bone in segment if bone.name in shared_parents), None):
            template = "'{bone}' carries several limbs, so '{last}' ends no limb of {count} bones: choose fewer"
            raise Refused(template, bone=too_high.name, last=limb.name, count=count)
        line.insert(0, segment)
    return line[-1][-1], tuple(map(len, line))


def moved_along_line(suggestion: Suggestion, by: int, shared_parents: set[str]) -> Suggestion:
    """A limb that ends so many segments further down its line of bones, or up if negative. ``shared_parents`` are the
    bones from which several limbs hang."""
    limb, segments = suggestion
    for _ in range(abs(by)):
        segment = segment_of(limb)
        new_last_bone = segment_below(segment)[1] if by > 0 else next(iter(segment_above(segment)), None)
        if new_last_bone is None:
            raise Refused("'{bone}' is where its line of bones ends", bone=limb.name)
        limb = segment_of(new_last_bone)[-1]
    return limb_up_from(limb, len(segments), shared_parents)
