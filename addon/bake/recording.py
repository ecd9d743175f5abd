"""What is read of the evaluated rigs and targets in each frame, and kept as arrays over all frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object, PoseBone
from numpy.typing import NDArray

from ..blender.animation import animated_paths
from ..blender.channels import SIZES
from ..blender.rotation import rotation_channel
from ..blender.types import ArmatureObject, has_bone, path_to_bone, path_to_custom
from ..limb.settings import SLIDER, SLIDERS
from ..limb.storage import by_rig, value_in
from ..limb.table import Table, table_of

Array = NDArray[Any]
Evaluated = Callable[[Any], Any]
"""Gives the evaluated object of an original one."""


class Read(NamedTuple):
    """One property of some bones of a rig, ``(frames, bones, numbers)``; ``row`` says where a bone is in it."""

    row: dict[str, int]
    which: Array  # of all bones
    numbers: Array
    buffer: Array  # all bones in one frame; empty if they keep still


class Rig(NamedTuple):
    """The limbs of one rig: their last bones, what of them does not change, and their sliders ``(frames, limbs)``."""

    object: ArmatureObject
    lasts: Sequence[PoseBone]
    table: Table
    sliders: dict[str, Array]
    changing: Sequence[tuple[str, int, str, str]]  # slider, limb, bone, custom property


class Recording(NamedTuple):
    """All that was read of some frames: ``worlds`` ``(frames, 16)`` of objects, by columns as Blender stores them, and
    properties of bones by object and name."""

    rigs: Sequence[Rig]
    worlds: dict[Object, Array]
    read: dict[tuple[Object, str], Read]
    frames: int


def new_recording(
    lasts: Sequence[PoseBone], count: int, bones_of: Callable[[PoseBone], Iterable[PoseBone]], is_sure: bool
) -> Recording:
    """Room for so many frames. ``bones_of`` gives the bones that have to be read for a limb; ``is_sure`` says that
    what has no keys and drivers does not change."""
    rigs = [_new_rig(ob, group, count, is_sure) for ob, group in by_rig(lasts).items()]
    needed: dict[Any, dict[str, dict[str, None]]] = {}
    for rig in rigs:
        for last, limb in zip(rig.lasts, rig.table.limbs, strict=True):
            for bone in bones_of(last):
                for name in ("matrix", "scale", rotation_channel(bone.rotation_mode)):
                    needed.setdefault(rig.object, {}).setdefault(name, {})[bone.name] = None
            for ob, name in limb.follow.pairs:
                if ob is not None:
                    needed.setdefault(ob, {})
                    if has_bone(ob, name):
                        needed[ob].setdefault("matrix", {})[name] = None
    worlds = {ob: np.empty((count, 16), np.float32) for ob in needed}
    read = {
        (ob, name): _new_read(ob, name, bones, count, is_sure) for ob in needed for name, bones in needed[ob].items()
    }
    return Recording(rigs, worlds, read, count)


def readers_of(recording: Recording, evaluated_of: Evaluated) -> Callable[[int], None]:
    """What reads the ``i``-th frame of evaluated objects, as long as Blender does not make these anew."""
    resolved = {ob: evaluated_of(ob).path_resolve("matrix_world", False).foreach_get for ob in recording.worlds}
    worlds = [(get, recording.worlds[ob]) for ob, get in resolved.items()]
    posed = [(evaluated_of(ob).pose, name, read) for (ob, name), read in recording.read.items() if len(read.buffer)]
    rigs = [(evaluated_of(rig.object).pose, rig) for rig in recording.rigs if rig.changing]

    def read_frame(i: int) -> None:
        for get, numbers in worlds:
            get(numbers[i])
        for pose, name, read in posed:
            pose.bones.foreach_get(name, read.buffer.ravel())
            read.buffer.take(read.which, axis=0, out=read.numbers[i])
        for pose, rig in rigs:
            for name, limb, bone in rig.changing:
                rig.sliders[name][i, limb] = value_in(pose.bones[bone], SLIDER[name])

    return read_frame


def worlds_of(recording: Recording, ob: Any) -> Array:
    """Where an object is, ``(frames, 4, 4)``."""
    return _matrices(recording.worlds[ob])


def poses_of(recording: Recording, ob: Any, bone: str) -> Array:
    """Where a bone is in its armature, ``(frames, 4, 4)``."""
    return _matrices(channel_of(recording, ob, bone, "matrix"))


def channel_of(recording: Recording, ob: Any, bone: str, name: str) -> Array:
    """A property of a bone, ``(frames, numbers)``."""
    read = recording.read[ob, name]
    return read.numbers[:, read.row[bone]].astype(float)


def places_of(recording: Recording, ob: Any, bone: str) -> Array:
    """Where an object, or the head of one of its bones, is in the world, ``(frames, 3)``."""
    places = worlds_of(recording, ob)
    if bone:
        places = places @ poses_of(recording, ob, bone)
    return places[:, :3, 3]


def _matrices(columns: Array) -> Array:
    return columns.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)


def _new_read(ob: Any, name: str, bones: dict[str, None], count: int, is_sure: bool) -> Read:
    everyone = {bone: i for i, bone in enumerate(ob.pose.bones.keys())}
    size = {**SIZES, "matrix": 16}[name]
    numbers = np.empty((count, len(bones), size), np.float32)
    which = np.array([everyone[bone] for bone in bones], int)
    buffer = np.empty((len(everyone), size), np.float32)
    if is_sure and name != "matrix" and animated_paths(ob).isdisjoint(f"{path_to_bone(bone)}.{name}" for bone in bones):
        ob.pose.bones.foreach_get(name, buffer.ravel())
        numbers[:], buffer = buffer[which], buffer[:0]
    return Read({bone: i for i, bone in enumerate(bones)}, which, numbers, buffer)


def _new_rig(ob: Any, lasts: list[Any], count: int, is_sure: bool) -> Rig:
    animated = animated_paths(ob) if is_sure else set()
    sliders: dict[str, Array] = {}
    changing: list[tuple[str, int, str]] = []
    for slider in SLIDERS:
        sliders[slider.name] = np.tile([float(value_in(last, slider)) for last in lasts], (count, 1))
        for i, last in enumerate(lasts):
            if slider.key in last and (not is_sure or path_to_custom(last.name, slider.key) in animated):
                changing.append((slider.name, i, last.name))
    return Rig(ob, lasts, table_of(ob, lasts), sliders, changing)
