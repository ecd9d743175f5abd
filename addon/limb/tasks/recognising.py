"""Which limb a clicked bone is part of or could be, and whether IK can be put on it."""

from __future__ import annotations

import re
from itertools import accumulate, pairwise
from math import remainder, tau
from typing import Any

from bpy.types import PoseBone

from ...blender.animation import curves_everywhere
from ...blender.dependencies import Dependencies
from ...blender.types import children_of, path_to_bone, takes_bones
from ..home import bones_of_limb, check_parents, is_left, is_limb, is_ours, limbs_of, line_of, links_of
from ..shape import Shape, make_shape, says_twist
from ..shape import foot_of as bone_below
from ..words import Refused
from .controls import root_of
from .feet import foot_of

LIKE = 0.6
"""Two bones are no limb if the shorter is shorter than this part of the shorter one of two bones next to it."""

IN_LINE = 0.02
"""How far off the line between two joints a twist bone may begin, as a part of that."""

AT_REST = 1e-4
"""How far a limb's own bones may be moved, as a part of its length, and how much scaled."""

ALIKE, BENT = 0.5, 0.35
"""How short the shortest of three bones may be next to the longest, and how much they bend at rest at least, in
radians, for a leg to have a hock."""

NO_LEG = ("arm", "clavicle", "hip", "neck", "pelvis", "scapula", "shoulder", "spine", "tail", "finger", "thumb")

FLAT = 0.35
"""How far a joint of three or four bones may lie beside their plane, as a part of their length: it stays as far."""

_NUMBER = re.compile(r"[._ -]?\d+$")


def limb_at(bone: PoseBone, count: int = 0) -> tuple[PoseBone, tuple[int, ...]]:
    """The last bone and the links of the limb that a bone is part of, maybe as its thigh, its foot or its toe, or else
    that it would be the last bone of; raises `Refused` with the bone to click instead.

    ``count`` says how many bones the limb is to have: of three or four the clicked one is the last. By itself a limb
    has two, or three where an animal's leg has a hock.
    """
    there = existing_at(bone)
    if there is not None:
        return there, links_of(there)
    if count > 2:
        return _up_from(bone, count)
    last, links = _two_at(bone)
    below = foot_of(last)
    near = (below and foot_of(below), below, last, last.parent) if not count else ()
    for lowest in filter(None, near):  # of the thigh and the shin the hock, of the foot that above
        if _has_hock(lowest):
            return _up_from(lowest, 3)
    return last, links


def _up_from(last: PoseBone, count: int) -> tuple[PoseBone, tuple[int, ...]]:
    """The limb of so many links that ends with the one that a bone is in."""
    link = _link(last)
    links, first = [len(link)], link[0]
    while len(links) < count:
        check_parents(first, 2)
        above = _link(first.parent)  # type: ignore[arg-type]
        links.insert(0, len(above))
        first = above[0]
    return link[-1], tuple(links)


def _has_hock(last: PoseBone) -> bool:
    """Whether a bone is the metatarsal of a leg of three bones, alike in length and clearly bent to and fro."""
    try:
        found = _up_from(last, 3)
        shape = make_shape(*found)
        check_planar(shape)
    except Refused:
        return False
    if not shape.is_zigzag:
        return False
    turns = [abs(remainder(after - before, tau)) for before, after in pairwise(shape.angles)]
    is_alike = min(shape.lengths) > ALIKE * max(shape.lengths)
    names = " ".join(bone.name.lower() for bone in line_of(*found))
    return is_alike and min(turns) > BENT and foot_of(found[0]) is not None and not any(w in names for w in NO_LEG)


def _two_at(bone: PoseBone) -> tuple[PoseBone, tuple[int, ...]]:
    """`limb_at` of limbs of two bones."""
    last, links = _limb_of_last(bone)
    better = _better(last, links) if len(links) > 1 else foot_of(last)
    if better is None:
        check_parents(last, 2)
        return last, links
    while (next_better := _better(*_limb_of_last(better))) is not None:  # of the toe the foot, and of that the shin
        better = next_better
    near = {bone, bone.parent} & {better, better.parent, foot_of(better)} - {None}
    if near and better.parent and root_of(better) != better.parent.name:
        return _two_at(better)
    raise Refused("'{bone}' is not the last bone of a limb: click '{last}'", bone=bone.name, last=better.name)


def existing_at(bone: PoseBone) -> PoseBone | None:
    """The last bone of the limb that is there and that a bone is part of, or its foot or toe."""
    lasts = limbs_of(bone.id_data)
    for last in lasts:
        if bone in line_of(last):
            return last
    for last in lasts:
        foot = bone_below(last.bone)
        if foot is not None and bone.bone in (foot, *(toe for toe in foot.children if not toe.children)):
            return last
    return None


def check(last: PoseBone, links: tuple[int, ...], dependencies: Dependencies | None = None) -> None:
    """Refuse a limb that IK can't be put on, with what to do about it."""
    check_editable(last)
    if last.id_data.data.pose_position == "REST":
        raise Refused("'{rig}' shows its rest position: set its armature to Pose Position", rig=last.id_data.name)
    check_parents(last, sum(links))
    line = line_of(last, links)
    _check_others(last, line)
    for bone in line[1:]:
        if not bone.bone.use_inherit_rotation:
            raise Refused("'{bone}' does not inherit rotation: switch on its Inherit Rotation", bone=bone.name)
    _check_left(last, line)
    shape = make_shape(last, links)
    check_planar(shape)
    lengths = shape.lengths
    if min(lengths) < 1e-6 * max(1.0, *lengths) or not max(lengths):
        raise Refused("Two joints of '{bone}' are in the same place: move one in Edit Mode", bone=last.name)
    _check_movers(line, dependencies or Dependencies())
    starts = bones_of_limb(last, links)
    for bone in line:
        _check_channels(bone, sum(lengths), bone in starts)


def check_planar(shape: Shape) -> None:
    """Refuse three or four bones that are far from one plane."""
    if len(shape.lengths) < 3:
        return
    for name, off in zip(shape.names[1:], accumulate(shape.rises), strict=False):
        if abs(off) > FLAT * sum(shape.lengths):
            raise Refused(
                "'{bone}' begins {off} of the limb's length beside its plane: move it there in Edit Mode",
                bone=name,
                off=f"{abs(off) / sum(shape.lengths):.2g}",
            )


def check_editable(last: PoseBone) -> None:
    """Refuse a rig that comes from another file."""
    if not takes_bones(last.id_data):
        raise Refused("'{rig}' is linked: add or remove IK in the library's file", rig=last.id_data.name)


def _check_others(last: PoseBone, line: list[PoseBone]) -> None:
    if is_limb(last):
        raise Refused("'{bone}' has IK already", bone=last.name)
    for other in limbs_of(last.id_data):
        shared = {*line} & {*line_of(other)}
        if shared:
            name = min(bone.name for bone in shared)
            raise Refused("'{bone}' is part of the limb of '{last}': remove that first", bone=name, last=other.name)


def _check_left(last: PoseBone, line: list[PoseBone]) -> None:
    """Refuse bones that still have constraints of a limb that was removed by deleting its IK constraint."""
    foot = foot_of(last)
    for bone in (*line, *([foot] if foot else ())):
        if is_left(bone) or any(map(is_ours, bone.constraints)):
            template = "'{bone}' has constraints of a limb that is gone: remove what is left"
            raise Refused(template, "left", bone=bone.name)


def _check_movers(line: list[PoseBone], dependencies: Dependencies) -> None:
    """Refuse a limb that something else poses."""
    for bone in line:
        for mover in dependencies.movers(bone):
            if not hasattr(mover, "influence"):
                raise Refused("'{bone}' is driven: remove the driver", bone=bone.name)
            if mover.type == "IK":
                template = "'{name}' poses '{bone}' already: press Solve Exactly (Convert)"
                raise Refused(template, "convert", name=mover.name, bone=bone.name)
            template = "'{name}' on '{bone}' conflicts with IK: mute it"
            raise Refused(template, "mute", name=mover.name, bone=bone.name)


def _check_channels(bone: PoseBone, length: float, turns: bool) -> None:
    """Refuse a bone of a limb that is moved or scaled by its own channels, or a twist bone that is turned."""
    is_moved = not (bone.bone.use_connect and bone.parent) and bone.location.length > AT_REST * length
    is_scaled = max(abs(size - 1.0) for size in bone.scale[:]) > AT_REST
    path, limits = path_to_bone(bone.name), {"location": AT_REST * length, "scale": AT_REST}
    for curve in curves_everywhere(bone.id_data, muted=False):
        name = curve.data_path.removeprefix(f"{path}.")
        if curve.data_path.startswith(path) and name in limits and _span(curve) > limits[name]:
            is_moved |= name == "location" and not bone.bone.use_connect
            is_scaled |= name == "scale"
    if is_moved or is_scaled:
        by = "'{bone}' is moved by its own location: clear that" if is_moved else "'{bone}' is scaled: clear that"
        raise Refused(by, bone=bone.name)
    own: Any = bone.matrix_basis
    if not turns and own.to_quaternion().angle > 1e-3:
        raise Refused("Twist bone '{bone}' is turned: clear its rotation", bone=bone.name)


def _span(curve: Any) -> float:
    values = [key.co.y for key in curve.keyframe_points]
    return max(values) - min(values) if values else 0.0


def _limb_of_last(bone: PoseBone) -> tuple[PoseBone, tuple[int, ...]]:
    """The limb whose last link a bone is in, by last bone and links; where there is no link before it, of one link."""
    last_link = _link(bone)
    above = last_link[0].parent
    if above is not None:
        return last_link[-1], (len(_link(above)), len(last_link))
    if bone.parent is not None:  # what looked like a twist bone is the limb
        return bone, (1, 1)
    return bone, (1,)


def _link(bone: PoseBone) -> list[PoseBone]:
    """A bone with the twist bones that go on from it in line, or those from which it goes on."""
    link = [bone]
    while _is_twist(link[0]):
        link.insert(0, link[0].parent)  # type: ignore[arg-type]
    while (after := next(filter(_is_twist, children_of(link[-1])), None)) is not None:
        link.append(after)
    return link


def _is_twist(bone: PoseBone) -> bool:
    """Whether a bone is a twist bone: in line with its parent and the joint below, and named so or as another piece of
    its parent, as ``thigh.001`` between ``thigh`` and ``shin``."""
    parent, below = bone.parent, bone_below(bone.bone)
    if parent is None or below is None:
        return False
    name, of = bone.name.lower(), _NUMBER.sub("", parent.name.lower())
    is_piece = _NUMBER.sub("", name) == of and name != of and parent.name.lower() == of
    says_so = says_twist(name) and not says_twist(of)
    if not (is_piece or says_so) or _NUMBER.sub("", below.name.lower()) == of:
        return False
    start, joint = parent.bone.head_local, below.head_local
    way = joint - start
    off = (bone.bone.head_local - start).cross(way).length
    return bool(off <= IN_LINE * way.length_squared) and (bone.bone.head_local - start).dot(way) > 0.0


def _better(last: PoseBone, links: tuple[int, ...]) -> PoseBone | None:
    """The last bone of a limb of clearly longer bones that shares a link with this one: of the thigh, or the foot, that
    of the shin."""
    near = [line_of(last, links)[-links[-1] - 1], *filter(None, [foot_of(last)])]
    found = [(_shorter(other, of, guess=False), other) for other, of in map(_limb_of_last, near) if len(of) > 1]
    longest = max(found, key=lambda pair: pair[0], default=(0.0, last))
    return longest[1] if LIKE * longest[0] > _shorter(last, links) else None


def _shorter(last: PoseBone, links: tuple[int, ...], guess: bool = True) -> float:
    """The length of a limb's shortest link; without a foot, maybe as the tail says even if that makes little sense."""
    return min(make_shape(last, links, tip="FOOT" if guess or foot_of(last) else "TAIL").lengths)
