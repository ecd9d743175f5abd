"""Which bones look like a limb: what a click on one of them means. Scripts may ask for any bone and its parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import bpy
from bpy.types import PoseBone
from mathutils import Vector

from ..data.access import bones_of, children_of, upper_of

TOUCHING = 0.05
"""How far a bone may be from its parent's tail, in its own lengths, and still count as going on from there."""

LIKE = 0.6
"""A pair of bones is no limb if its shorter bone is shorter than this part of the shorter one of a pair next to it."""

FAR = 3.0
"""Bones so many times as long as from joint to joint, or as short, were not drawn so: an importer made them."""

AHEAD = 0.9999
"""From which cosine on a joint lies straight ahead of a bone, so that only its length has to change."""

POINTING = 0.9
"""Up to which cosine with the way to a joint a bone points there."""

MEETING = 0.2
"""If a smaller part of a rig's bones that are only children begin where their parents end, an importer made them of
joints alone: of rigs drawn in Blender it is a third and more, of such imports hardly any. A body that carries several
parts ends where none of them begins in either."""

IS_HIDDEN_IN_POSE = bpy.app.version >= (5, 0, 0)
"""Before, a bone was hidden or not in all poses of its armature."""

Pair = tuple[PoseBone, PoseBone]
"""The upper and the lower bone of a limb."""


def is_limb(lower: PoseBone) -> bool:
    """Whether a bone looks like the lower bone of a limb: it begins where its parent ends, and neither makes a limb of
    clearly longer bones with its other neighbour (as the shin does with the thigh, and not with the foot)."""
    parent = lower.parent
    if parent is None or not _goes_on(lower) or _ends_at_twist(parent) or _ends_at_twist(lower):
        return False
    shorter = _shorter((parent, lower))
    return all(shorter >= LIKE * _shorter(pair) for pair in _next_to(parent, lower))


def to_click(bone: PoseBone) -> PoseBone | None:
    """The lower bone to click instead of a bone that is none: of the limb that the bone is part of or next to, or at
    whose joint it begins, as controls do. Of several, the limb of the longest bones: a paw means the leg, not a toe."""
    near = TOUCHING * bone.bone.length
    above = (each for each in bone.parent_recursive if (each.bone.tail_local - bone.bone.head_local).length <= near)
    found = _limbs((*children_of(bone), *above))
    found = found or [each for each in _limbs(bones_of(bone.id_data)) if _has_joint(each, bone.bone.head_local)]
    return max(found, key=lambda each: _shorter((upper_of(each), each)), default=None)


def _limbs(bones: Iterable[PoseBone]) -> list[PoseBone]:
    """Those of the bones that are lower ones of limbs, and can be clicked."""
    return [bone for bone in bones if is_limb(bone) and is_shown(bone)]


def _has_joint(lower: PoseBone, place: Vector) -> bool:
    """Whether root, knee or tip of a limb are at a place at rest."""
    joints = (upper_of(lower).bone.head_local, lower.bone.head_local, lower.bone.tail_local)
    return any((joint - place).length <= TOUCHING * lower.bone.length for joint in joints)


def doubles(bone: PoseBone) -> list[PoseBone]:
    """The lower bones of limbs that run where a bone does at rest, the most alike first: rigs have several for FK, IK
    and skin."""
    at, length = bone.bone, bone.bone.length
    middle = (at.head_local + at.tail_local) / 2.0
    found = []
    for other in bones_of(bone.id_data):
        along = other.bone.tail_local - other.bone.head_local
        share = (middle - other.bone.head_local).dot(along) / max(along.length_squared, length * length)
        off = (other.bone.head_local + along * min(max(share, 0.0), 1.0) - middle).length
        if other != bone and off <= TOUCHING * length and is_limb(other) and is_shown(other):
            found.append((abs(other.bone.length - length), other))
    return [other for _, other in sorted(found, key=lambda pair: pair[0])]


def times_too_long(bone: PoseBone) -> float:
    """How many times as long as the way to the next joint the bones of a bone's rig are, if most are so by the same
    factor, as imports from glTF can leave them; 1 if that is not what is wrong with the bone and its parent."""
    if _is_near(_times(bone.bone)):
        return 1.0
    found: list[float] = sorted(filter(None, map(_times, bone.id_data.data.bones)))
    middle = found[len(found) // 2]
    alike = [times for times in found if abs(times - middle) <= TOUCHING * middle]
    return 1.0 if _is_near(middle) or 2 * len(alike) < len(found) else middle


def points_astray(bone: PoseBone) -> bool:
    """Whether a bone does not begin where its parent ends, nor do most of its rig, or it begins just behind its parent:
    imports leave bones so whose axes in the file were not along them, or on the right side pointed back."""
    if bone.parent is None or _goes_on(bone):
        return False
    if _begins_behind(bone, bone.parent):
        return True
    only = [each for each in bones_of(bone.id_data) if each.parent and len(each.parent.bone.children) == 1]
    return sum(map(_goes_on, only)) < MEETING * len(only)


def _times(bone: Any) -> float:
    """How many times as long a bone's parent, if it points there, is as the way from its head to the bone's; else 0."""
    if bone.parent is None:
        return 0.0
    way = bone.head_local - bone.parent.head_local
    along = bone.parent.tail_local - bone.parent.head_local
    return float(along.length / way.length) if along.dot(way) > POINTING * along.length * way.length else 0.0


def _is_near(times: float) -> bool:
    return times == 0.0 or 1.0 / FAR < times < FAR


def joint_ahead(bone: PoseBone) -> PoseBone | None:
    """The farthest of the bones that begin straight ahead of a bone."""
    found = {}
    along = (bone.bone.tail_local - bone.bone.head_local).normalized()
    for child in children_of(bone):
        way = child.bone.head_local - bone.bone.head_local
        if way.length > 0.0 and along.dot(way) >= AHEAD * way.length:
            found[child] = way.length
    return max(found, key=lambda child: found[child], default=None)


def _ends_at_twist(bone: PoseBone) -> bool:
    """Whether a bone goes on in one that carries nothing and ends before the next joint straight ahead, or at it: an
    importer let it end at its twist bone."""
    joint, start = joint_ahead(bone), bone.bone.head_local
    if joint is None or _goes_on(joint):
        return False
    way = joint.bone.head_local - start
    reach = (1.0 + TOUCHING) * way.length_squared
    return any(
        _goes_on(child) and not children_of(child) and (child.bone.tail_local - start).dot(way) <= reach
        for child in children_of(bone)
    )


def is_shown(bone: PoseBone) -> bool:
    """Whether a bone can be clicked in Pose Mode: neither it nor all its collections are hidden."""
    collections = bone.bone.collections
    flags: Any = bone if IS_HIDDEN_IN_POSE else bone.bone
    return not flags.hide and (not collections or any(each.is_visible_effectively for each in collections))


def _goes_on(bone: PoseBone) -> bool:
    """Whether a bone begins where its parent ends."""
    if bone.parent is None:
        return False
    gap = (bone.bone.head_local - bone.parent.bone.tail_local).length
    return bone.bone.use_connect or gap <= TOUCHING * bone.bone.length


def _begins_behind(bone: PoseBone, parent: PoseBone) -> bool:
    """Whether a bone begins as far from its parent's head as that one's tail, on the other side."""
    tail = 2.0 * parent.bone.head_local - parent.bone.tail_local
    return bool((bone.bone.head_local - tail).length <= TOUCHING * parent.bone.length)


def _next_to(upper: PoseBone, lower: PoseBone) -> Iterator[Pair]:
    """The pairs of bones that go on from each other and share one of these."""
    if upper.parent and _goes_on(upper):
        yield upper.parent, upper
    for bone in (upper, lower):
        yield from ((bone, child) for child in children_of(bone) if child != lower and _goes_on(child))


def _shorter(pair: Pair) -> float:
    return min(bone.bone.length for bone in pair)
