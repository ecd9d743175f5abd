"""Which limb a clicked bone is part of or could be, which way its knee points, and whether IK can be put on it."""

from __future__ import annotations

import re
from math import pi
from typing import Any

import numpy as np
from bpy.types import Bone, PoseBone
from mathutils import Matrix, Vector

from ...blender.animation import curves_everywhere
from ...blender.dependencies import Dependencies
from ...blender.types import ArmatureObject, children_of, path_to_bone, takes_bones
from ..home import bones_of_limb, check_parents, is_limb, is_ours, is_part, limbs_of, line_of, links_of
from ..shape import FEET, STRAIGHT, Shape, hinge_axis, make_shape, says_twist, shape_of
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

ACROSS = 0.3
"""The sine of the angle from which on a foot points somewhere else than its limb."""

ARM, LEG = re.compile("arm(?!ature)|elbow|hand|wrist", re.I), re.compile("leg|thigh|shin|calf|knee", re.I)
FRONT = (*FEET, "toe"), ("nose", "jaw", "eye")
"""What bones that point to the front are called."""

_NUMBER = re.compile(r"[._ -]?\d+$")


def limb_at(bone: PoseBone) -> tuple[PoseBone, tuple[int, ...]]:
    """The last bone and the links of the limb that a bone is part of, maybe as its thigh, its foot or its toe, or else
    that it would be the last bone of; raises `Refused` with the bone to click instead."""
    there = existing_at(bone)
    if there is not None:
        return there, links_of(there)
    last, links = _limb_of_last(bone)
    better = _better(last, links) if len(links) > 1 else foot_of(last)
    if better is None:
        check_parents(last, 2)
        return last, links
    while (next_better := _better(*_limb_of_last(better))) is not None:  # of the toe the foot, and of that the shin
        better = next_better
    near = {bone, bone.parent} & {better, better.parent, foot_of(better)} - {None}
    if near and better.parent and root_of(better) != better.parent.name:
        return limb_at(better)
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
    lengths = make_shape(last, links).lengths
    if min(lengths) < 1e-6 * max(1.0, *lengths) or not max(lengths):
        raise Refused("Two joints of '{bone}' are in the same place: move one in Edit Mode", bone=last.name)
    _check_movers(line, dependencies or Dependencies())
    starts = bones_of_limb(last, links)
    for bone in line:
        _check_channels(bone, sum(lengths), bone in starts)


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
        if any(map(is_ours, bone.constraints)):
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


def bend_axis(last: PoseBone, links: tuple[int, ...], tip: str, turn: float) -> tuple[float, ...] | None:
    """What a limb that is straight at rest is to bend about, in its last bone's axes, for its knee to point where a
    body's does, turned by so much around the limb: a knee to the toes, an elbow to the back. None where nothing
    says."""
    shape, hinge = make_shape(last, links, tip=tip), hinge_axis(last)
    way, axes = Vector(shape.frame[:3, 1].tolist()), last.bone.matrix_local.to_3x3()
    ahead = _knee_ahead(last, links, way)
    ahead = ahead - way * ahead.dot(way)
    if ahead.length < ACROSS:
        return hinge if hinge is None or abs(turn) < pi else (-hinge[0], -hinge[1], -hinge[2])
    normal = Matrix.Rotation(turn, 3, way) @ way.cross(ahead.normalized())
    if hinge and abs(abs(turn) - pi / 2.0) > 1.0:  # of a flat rig, a quarter of a turn leads nowhere
        normal = axes @ Vector(hinge) * (1.0 if (axes @ Vector(hinge)).dot(normal) > 0.0 else -1.0)
    return tuple((axes.transposed() @ normal)[:])


def is_straight(shape: Shape) -> bool:
    """Whether a limb is straight in its reference, and so does not say itself which way it bends."""
    return bool(abs(np.sin(shape.kappa)) <= STRAIGHT)


def bends_to(last: PoseBone, turn: float = 0.0) -> str:
    """Which way the knee of a limb points at rest, as the rig sees it; turned by so much, if it is bent there."""
    shape, up, front = shape_of(last), upright(last.id_data).col[2], front_of(last.id_data)
    about = Matrix.Rotation(0.0 if is_straight(shape) else turn, 3, Vector(shape.frame[:3, 1].tolist()))
    way, left = about @ Vector((-shape.frame[:3, 0]).tolist()), up.cross(front)
    ways = {"forward": front, "backward": -front, "up": up, "down": -up, "left": left, "right": -left}
    return max(ways, key=lambda name: way.dot(ways[name]))


def _knee_ahead(last: PoseBone, links: tuple[int, ...], way: Vector) -> Vector:
    """Where a knee or an elbow of a body points, in the armature; nothing where neither is known to be one."""
    foot = bone_below(last.bone)
    names = " ".join(bone.name for bone in (*line_of(last, links), *([foot] if foot else ())))
    if ARM.search(names):
        return -front_of(last.id_data)
    toes = _points(foot) if foot else Vector()
    if toes.cross(way).length > ACROSS:
        return toes
    return front_of(last.id_data) if LEG.search(names) else Vector()


def _points(bone: Bone) -> Vector:
    """Which way a bone points: to the bone below, else to its tail."""
    below = bone_below(bone)
    return ((below.head_local if below else bone.tail_local) - bone.head_local).normalized()


def front_of(ob: ArmatureObject) -> Vector:
    """Where the feet or the face of a rig point, level, in the armature; -Y of the world without any."""
    axes: Any = upright(ob)
    up = axes.col[2]
    for words in FRONT:
        names = re.compile("|".join(words), re.I)
        named = [bone for bone in ob.data.bones if names.search(bone.name) and not is_part(bone)]
        total: Any = sum(map(_points, named), Vector())
        total -= up * total.dot(up)
        if total.length > 0.1 * len(named):
            return Vector(total.normalized())
    return Vector(-axes.col[1])


def upright(ob: ArmatureObject) -> Matrix:
    """The axes of an armature, as they are nearest to the world's: Z is up, also where a rig was imported lying."""
    world = np.array(ob.matrix_world, float)[:3, :3]
    up = int(abs(world[2]).argmax())
    ahead = max({0, 1, 2} - {up}, key=lambda i: abs(world[1, i]))
    z, y = (np.eye(3)[i] * (-1.0 if world[row, i] < 0.0 else 1.0) for row, i in ((2, up), (1, ahead)))
    return Matrix(np.column_stack((np.cross(y, z), y, z)).tolist())
