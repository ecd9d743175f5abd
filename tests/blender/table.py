"""Rigs as people build them by hand: no root bone, names as Blender gives them, wherever the cursor was."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import cos, pi, sin
from typing import Any, NamedTuple

import bpy
from mathutils import Euler, Vector

from tests.blender import rigs

Joints = Sequence[tuple[float, float, float]]


class Limb(NamedTuple):
    """The bones that a person selects for a limb, from its root down, and the foot that begins at its tip, or nothing;
    of where these stand, nothing else is known."""

    bones: tuple[str, ...]
    foot: str = ""


class Rig(NamedTuple):
    """How to build a rig, the limbs that it has, and the bone that carries them and is no root, if there is one."""

    make: Callable[[], Any]
    limbs: tuple[Limb, ...]
    body: str = ""


def bone(number: int) -> str:
    """What Blender calls the bone that is made as so many others are there."""
    return f"Bone.{number:03d}" if number else "Bone"


def line(joints: Joints, first: int = 0, above: str = "", gap: float = 0.0) -> dict[str, Any]:
    """Bones extruded from joint to joint, the first of which hangs on another; with a gap, as a share of their length,
    they end before the next begins."""
    bones = {}
    for number, (head, end) in enumerate(pairwise(joints), first):
        tail = Vector(end).lerp(Vector(head), gap)
        bones[bone(number)] = (head, tail[:], bone(number - 1) if number > first else above)
    return bones


def limb(first: int, count: int, foot: bool = False) -> Limb:
    """A limb of so many bones in the order in which they were made, with the next one as its foot."""
    return Limb(tuple(bone(first + k) for k in range(count)), bone(first + count) if foot else "")


PLANES = {"XY": (0, 1), "XZ": (0, 2), "YZ": (1, 2)}


def in_plane(plane: str, flat: Sequence[tuple[float, float]], at: Sequence[float] = (0, 0, 0)) -> Joints:
    """Places in a plane of the grid, from a place on."""
    places = []
    for coordinates in flat:
        place = [*at]
        for axis, number in zip(PLANES[plane], coordinates, strict=True):
            place[axis] += number
        places.append((place[0], place[1], place[2]))
    return places


SHAPES: dict[str, Sequence[tuple[float, float]]] = {
    "two straight": ((0, 0), (0, 1), (0, 1.8)),
    "two bent": ((0, 0), (0.2, 1), (0, 1.9)),
    "two at a right angle": ((0, 0), (0, 1), (0.7, 1)),
    "three": ((0, 0), (0.3, 1), (-0.1, 1.8), (0.2, 2.5)),
    "three straight": ((0, 0), (1, 0), (1.8, 0), (2.4, 0)),
    "four": ((0, 0), (0.3, 0.9), (-0.2, 1.7), (0.1, 2.5), (-0.1, 3.1)),
}
"""Lines of bones, each a limb by itself."""

CURSORS = {"origin": (0.0, 0.0, 0.0), "away": (1.3, -0.7, 0.4)}


def extruded() -> dict[str, Rig]:
    """Nothing but a line of bones: in each plane, at the origin or away from it, connected or not."""
    made = {}
    for number, (name, flat) in enumerate(SHAPES.items()):
        for k, plane in enumerate(PLANES):
            where = [*CURSORS][(number + k) % 2]
            gap = 0.2 * ((number // 2 + k) % 2)
            bones = line(in_plane(plane, flat, CURSORS[where]), gap=gap)
            told = f"{name}, {plane}, {where}{', not connected' if gap else ''}"
            made[told] = of_bones(bones, limb(0, len(bones)))
    return made


def of_bones(bones: dict[str, Any], *limbs: Limb, body: str = "") -> Rig:
    """A rig of bones by name: head, tail and parent."""
    return Rig(lambda: rigs.rig(bones), limbs, body)


def legged(count: int, coxae: bool, lengths: Sequence[float] = (1.0,), at: Sequence[float] = (0, 0, 0)) -> Rig:
    """A body with legs of two bones all around, on coxae or not, of one length or of several."""
    bones: dict[str, Any] = {"Bone": (tuple(at), (at[0], at[1] + 0.4, at[2]), "")}
    limbs = []
    for k in range(count):
        size, first = lengths[k % len(lengths)], len(bones)
        flat = [(0.1, 0.0), (0.3, 0.0), (0.3 + 0.5 * size, 0.4 * size), (0.3 + 0.8 * size, -0.4 * size)]
        angle = 2.0 * pi * k / count + 0.3  # along no axis
        way = (cos(angle), sin(angle))
        joints = [(at[0] + out * way[0], at[1] + out * way[1], at[2] + up) for out, up in flat[0 if coxae else 1 :]]
        bones |= line(joints, first, "Bone")
        limbs.append(limb(first + coxae, 2))
    return of_bones(bones, *limbs, body="Bone")


def person(at: Sequence[float] = (0, 0, 1), shorter: float = 1.0) -> Rig:
    """Hips, a spine, straight legs with feet and bent arms with hands; one leg may be shorter."""
    x, y, z = at
    bones = line([(x, y, z), (x, y, z + 0.2), (x, y, z + 0.55)])
    limbs = []
    for side, size in ((1, 1.0), (-1, shorter)):
        hip, first = x + 0.1 * side, len(bones)
        places = [(hip, y, z), (hip, y, z - 0.45 * size), (hip, y, z - 0.9 * size), (hip, y - 0.15, z - 0.98 * size)]
        bones |= line(places, first, "Bone")
        limbs.append(limb(first, 2, foot=True))
    for side in (1, -1):
        first = len(bones)
        out = [(0.18, 0, 0.5), (0.45, 0.03, 0.5), (0.7, 0, 0.5), (0.8, 0, 0.5)]
        bones |= line([(x + side * a, y + b, z + c) for a, b, c in out], first, "Bone.001")
        limbs.append(limb(first, 2, foot=True))
    return of_bones(bones, *limbs, body="Bone")


def dog() -> Rig:
    """A back, and four legs of three bones, the paws on the ground."""
    bones = line([(0, 0.5, 0.8), (0, 0, 0.85), (0, -0.5, 0.8)])
    limbs = []
    for side in (0.15, -0.15):
        for y, above in ((0.5, "Bone"), (-0.4, "Bone.001")):
            first = len(bones)
            flat = [(y, 0.75), (y - 0.1, 0.5), (y + 0.08, 0.25), (y, 0.08), (y - 0.12, 0.02)]
            bones |= line(in_plane("YZ", flat, (side, 0, 0)), first, above)
            limbs.append(limb(first, 3, foot=True))
    return of_bones(bones, *limbs, body="Bone")


def puppet(at: Sequence[float] = (0, 0, 0)) -> Rig:
    """Flat in the XZ plane, as cut from paper: a body, straight arms and legs, one of each behind the other."""
    bones = line(in_plane("XZ", [(0, 0), (0, 0.6)], at))
    limbs = []
    for flat in ([(0, 0), (0, -0.4), (0, -0.8), (0.2, -0.85)], [(0, 0.55), (0, 0.3), (0, 0.05)]):
        for beside in (0.0, 0.02):
            first = len(bones)
            bones |= line(in_plane("XZ", flat, (at[0], at[1] + beside, at[2])), first, "Bone")
            limbs.append(limb(first, 2, foot=len(flat) > 3))
    return of_bones(bones, *limbs, body="Bone")


def names_given(rig: Rig, *names: str) -> Rig:
    """A rig whose bones a person has named, in the order in which they were made."""
    new = {bone(number): name for number, name in enumerate(names)}

    def make() -> Any:
        ob = rig.make()
        for old, name in new.items():
            ob.data.bones[old].name = name
        return ob

    limbs = tuple(Limb(tuple(new[name] for name in each.bones), new.get(each.foot, "")) for each in rig.limbs)
    return Rig(make, limbs, new.get(rig.body, ""))


def lamp(at: Sequence[float] = (0, 0, 0)) -> Rig:
    """A foot, two arms and a head."""
    flat = [(0, 0), (0, 0.1), (-0.3, 0.6), (0.15, 1.1), (0.35, 1.0)]
    return of_bones(line(in_plane("YZ", flat, at)), limb(1, 2, foot=True), body="Bone")


def excavator() -> Rig:
    """A chassis on the floor, a turret, a boom, a stick, a bucket, and a ram that hangs in between."""
    flat = [(0, 0), (0, 0.5), (0.2, 0.9), (2.4, 2.3), (3.9, 0.9), (4.2, 0.4)]
    bones = line(in_plane("YZ", flat))
    bones[bone(5)] = ((0, 1.0, 1.1), (0, 1.8, 2.0), bone(1))
    return of_bones(bones, limb(2, 2, foot=True), body=bone(1))


def robot_arm(at: Sequence[float] = (0, 0, 0)) -> Rig:
    """Five bones in line, and a gripper of two fingers."""
    joints = [(0, 0, 0), (0, 0, 0.4), (0.1, 0, 1.0), (0.7, 0, 1.3), (1.1, 0, 0.9), (1.2, 0, 0.6)]
    places = [(x + at[0], y + at[1], z + at[2]) for x, y, z in joints]
    bones = line(places)
    for number, y in ((5, 0.05), (6, -0.05)):
        x, _, z = places[-1]
        bones[bone(number)] = ((x, at[1] + y, z), (x, at[1] + y, z - 0.1), bone(4))
    return of_bones(bones, limb(1, 3, foot=True), body="Bone")


def scissors(at: Sequence[float] = (0, 0, 0)) -> Rig:
    """A lift of four bones to and fro."""
    flat = [(0, 0), (1, 0.3), (0, 0.6), (1, 0.9), (0, 1.2)]
    return of_bones(line(in_plane("XZ", flat, at)), limb(2, 2), body=bone(1))


def capture() -> Rig:
    """As a motion capture comes in: named by numbers, bones not connected, everything keyed in every frame."""
    joints = {"hip": (0, 0, 0.95), "left": (0.1, 0, 0.9), "right": (-0.1, 0, 0.9), "chest": (0, 0, 1.3)}
    bones: dict[str, Any] = {
        "joint0": (joints["hip"], (0, 0, 1.1), ""),
        "joint1": (joints["chest"], (0, 0, 1.5), "joint0"),
    }
    number, limbs = 2, []
    for x in (0.1, -0.1):
        places = [(x, 0, 0.9), (x, -0.15, 0.5), (x, 0.02, 0.1), (x, -0.12, 0.03)]
        names = [f"joint{number + k}" for k in range(3)]
        for name, head, end, above in zip(names, places, places[1:], ("joint0", *names), strict=False):
            bones[name] = (head, Vector(head).lerp(Vector(end), 0.9)[:], above)
        limbs.append(Limb((names[0], names[1]), names[2]))
        number += 3
    return Rig(lambda: walking(rigs.rig(bones)), tuple(limbs), "joint0")


FRAMES = (1, 8)
"""The first and the last frame that a capture has."""


def walking(ob: Any) -> Any:
    """A rig with keys on all its bones, in each frame."""
    for frame in range(FRAMES[0], FRAMES[1] + 1):
        for number, each in enumerate(ob.pose.bones):
            each.rotation_mode = "ZXY"
            each.rotation_euler = Euler((0.3 * sin(0.4 * frame + number), 0.05 * cos(0.3 * frame * number), 0.04))
            each.keyframe_insert("rotation_euler", frame=frame)
        hips = ob.pose.bones[0]
        hips.location = (0.01 * frame, 0.01 * sin(frame), -0.01 * frame)
        hips.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES
    bpy.context.scene.frame_set(3)
    return ob


RIGS: dict[str, Rig] = {
    **extruded(),
    **{f"{count} legs, body at the origin": legged(count, coxae=False) for count in (1, 2, 5)},
    "1 leg on a coxa": legged(1, coxae=True),
    "spider, body at the origin": legged(8, coxae=True),
    "spider, away": legged(8, coxae=True, at=(0.4, -2.0, 0.5)),
    "stool with legs of unequal length": legged(3, coxae=False, lengths=(1.0, 0.6, 0.25)),
    "person": person(),
    "person, hips at the origin": person((0, 0, 0)),
    "person, one leg shorter": person((0.2, 0.1, 1.0), 0.8),
    "dog": dog(),
    "puppet": puppet(),
    "puppet, away": puppet((2.0, 0.5, 1.0)),
    "lamp": lamp(),
    "lamp, away": lamp((-1.0, 0.3, 0.8)),
    "lamp, named": names_given(lamp(), "base", "lower_arm", "upper_arm", "shade"),
    "excavator": excavator(),
    "excavator, named": names_given(excavator(), "chassis", "turret", "boom", "stick", "bucket", "ram"),
    "robot arm of five": robot_arm(),
    "robot arm of five, away": robot_arm((0.5, 0.5, 0.5)),
    "scissors": scissors(),
    "scissors, away": scissors((0, 3, 1)),
    "capture without names": capture(),
}  # fmt: skip
"""Rigs that nobody made for this extension, by what they are."""
