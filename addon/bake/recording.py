"""What is read of the evaluated rigs and targets in each frame, and kept as arrays over all frames."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object, PoseBone
from numpy.typing import NDArray

from ..blender.animation import animated_paths
from ..blender.channels import SIZES
from ..blender.rotation import rotation_channel
from ..blender.types import ArmatureObject, has_bone, path_to_custom
from ..limb.settings import SLIDERS
from ..limb.table import Table, table_of

Array = NDArray[Any]


class Poses(NamedTuple):
    """Where an object and some of its bones are: ``worlds`` ``(frames, 16)`` and ``bones`` ``(frames, bones, 4, 4)``,
    both by columns still, as Blender stores them. ``row`` says where a bone is in the latter."""

    object: Any
    row: dict[str, int]
    which: Array
    worlds: Array
    bones: Array
    buffer: Array  # of all bones, in one frame


class Values(NamedTuple):
    """The numbers of one channel of some bones of a rig, ``(frames, bones, numbers)``."""

    channel: str
    row: dict[str, int]
    which: Array
    numbers: Array
    buffer: Array


class Rig(NamedTuple):
    """The limbs of one rig: their last bones, what of them does not change, and what was read over the frames:
    ``sliders`` ``(frames, limbs)`` by name, and the channels of the limbs' own bones."""

    object: ArmatureObject
    lasts: Sequence[PoseBone]
    table: Table
    sliders: dict[str, Array]
    changing: Sequence[tuple[str, int, str, str]]  # slider, limb, bone, custom property
    channels: dict[str, Values]


class Recording(NamedTuple):
    """All that was read of some frames."""

    rigs: Sequence[Rig]
    poses: dict[Object, Poses]
    frames: int


def new_recording(
    lasts: Sequence[PoseBone], count: int, bones_of: Callable[[PoseBone], list[PoseBone]], is_sure: bool
) -> Recording:
    """Room for so many frames. ``bones_of`` gives the bones that have to be read for a limb; ``is_sure`` says that
    sliders without keys and drivers don't change."""
    by_rig: dict[Any, list[PoseBone]] = {}
    for last in lasts:
        by_rig.setdefault(last.id_data, []).append(last)
    rigs = [_new_rig(ob, group, count, bones_of, is_sure) for ob, group in by_rig.items()]
    needed: dict[Any, dict[str, None]] = {}
    for rig in rigs:
        for last, limb in zip(rig.lasts, rig.table.limbs, strict=True):
            needed.setdefault(rig.object, {}).update(dict.fromkeys(bone.name for bone in bones_of(last)))
            for ob, name in limb.follow.pairs:
                if ob is not None:
                    needed.setdefault(ob, {}).update({name: None} if has_bone(ob, name) else {})
    return Recording(rigs, {ob: _new_poses(ob, [*names], count) for ob, names in needed.items()}, count)


def readers_of(recording: Recording, evaluated_of: Callable[[Any], Any]) -> Callable[[int], None]:
    """What reads the ``i``-th frame of evaluated objects, as long as Blender does not make these anew."""
    worlds = [
        (evaluated_of(ob).path_resolve("matrix_world", False).foreach_get, poses.worlds)
        for ob, poses in recording.poses.items()
    ]
    posed = [(evaluated_of(ob).pose, poses) for ob, poses in recording.poses.items() if len(poses.which)]
    rigs = [(evaluated_of(rig.object).pose, rig) for rig in recording.rigs]

    def read(i: int) -> None:
        for get, kept in worlds:
            get(kept[i])
        for pose, poses in posed:
            pose.bones.foreach_get("matrix", poses.buffer.ravel())
            poses.buffer.take(poses.which, axis=0, out=poses.bones[i])
        for pose, rig in rigs:
            for values in rig.channels.values():
                pose.bones.foreach_get(values.channel, values.buffer.ravel())
                values.buffer.take(values.which, axis=0, out=values.numbers[i])
            for name, limb, bone, key in rig.changing:
                rig.sliders[name][i, limb] = pose.bones[bone][key]

    return read


def worlds_of(recording: Recording, ob: Any) -> Array:
    """Where an object is, ``(frames, 4, 4)``."""
    return recording.poses[ob].worlds.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)


def poses_of(recording: Recording, ob: Any, bone: str) -> Array:
    """Where a bone is in its armature, ``(frames, 4, 4)``."""
    poses = recording.poses[ob]
    return poses.bones[:, poses.row[bone]].transpose(0, 2, 1).astype(float)


def places_of(recording: Recording, ob: Any, bone: str) -> Array:
    """Where an object, or the head of one of its bones, is in the world, ``(frames, 3)``."""
    poses = recording.poses[ob]
    if not bone:
        return poses.worlds[:, 12:15].astype(float)
    heads = poses.bones[:, poses.row[bone], 3].astype(float)
    found: Array = (worlds_of(recording, ob) @ heads[:, :, None])[:, :3, 0]
    return found


def _new_poses(ob: Any, names: list[str], count: int) -> Poses:
    row, which, total = _rows(ob, names)
    shape = (count, len(names), 4, 4)
    buffer = np.empty((total, 4, 4), np.float32)
    return Poses(ob, row, which, np.empty((count, 16), np.float32), np.empty(shape, np.float32), buffer)


def _new_rig(
    ob: Any, lasts: list[PoseBone], count: int, bones_of: Callable[[PoseBone], list[PoseBone]], is_sure: bool
) -> Rig:
    table = table_of(ob, lasts)
    animated = animated_paths(ob) if is_sure else set()
    sliders: dict[str, Array] = {}
    changing: list[tuple[str, int, str, str]] = []
    for slider in SLIDERS:
        now = [float(last.get(slider.key, slider.default)) for last in lasts]  # type: ignore[func-returns-value, arg-type]
        sliders[slider.name] = np.tile(now, (count, 1))
        for i, last in enumerate(lasts):
            if slider.key in last and (not is_sure or path_to_custom(last.name, slider.key) in animated):  # type: ignore[operator]
                changing.append((slider.name, i, last.name, slider.key))
    bones = list(dict.fromkeys(bone for last in lasts for bone in bones_of(last)))
    channels: dict[str, Values] = {}
    for channel in {"scale", *(rotation_channel(bone.rotation_mode) for bone in bones)}:
        names = [bone.name for bone in bones if channel in ("scale", rotation_channel(bone.rotation_mode))]
        row, which, total = _rows(ob, names)
        numbers = np.empty((count, len(names), SIZES[channel]), np.float32)
        channels[channel] = Values(channel, row, which, numbers, np.empty((total, SIZES[channel]), np.float32))
    return Rig(ob, lasts, table, sliders, changing, channels)


def _rows(ob: Any, names: Sequence[str]) -> tuple[dict[str, int], Array, int]:
    """Where bones are among those that are read, and among all; and how many all are."""
    everyone = {name: i for i, name in enumerate(ob.pose.bones.keys())} if names else {}
    return {name: i for i, name in enumerate(names)}, np.array([everyone[name] for name in names], int), len(everyone)
