"""From what was read to what limbs do: the numbers that become keys, and how far tips are from their targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.rotation import ARRAYS, continuous, rotation_channel, to_channels, to_quaternion
from ..limb.home import hierarchy, links_of
from ..limb.solving import Found, scales_of, solve
from ..limb.status import MISSED, ROUNDING
from ..limb.table import Limb
from ..limb.tasks.feet import foot_follows, foot_of
from ..solver.arrays import row_of
from ..solver.limb import Reference, joints_of
from .recording import Recording, Rig, places_of, poses_of, worlds_of
from .transforms import carried, inverted, local, moved, turns_and_scales
from .way import Way, is_live

Array = NDArray[Any]

SAME = 1e-5
"""How far numbers of a scale may be from the bone's own to be those."""


class Track(NamedTuple):
    """One channel of one bone: ``values`` ``(frames, numbers)``. ``mode`` is the rotation mode if it is a rotation."""

    bone: str
    channel: str
    mode: str
    values: Array


class Course(NamedTuple):
    """One limb over the frames. ``misses`` ``(frames,)`` are from tip to target in the world, and ``slack`` what is
    still none; ``size`` is how much longer things are in the world than in the limb's frame, at most."""

    last: PoseBone
    limb: Limb
    reference: Reference
    tracks: list[Track]
    misses: Array
    slack: Array
    influence: Array
    size: float

    def is_missed(self, most: float | None) -> Array:
        """In which frames the tip is off its target though the limb is all IK."""
        return (self.influence >= 1.0) & ~(self.misses <= (self.slack if most is None else most))


def courses_of(recording: Recording, way: Way) -> list[Course]:
    """What the limbs of a recording do."""
    return [course for rig in recording.rigs for course in _courses(recording, rig, way)]


def bones_read(last: PoseBone) -> list[PoseBone]:
    """The bones whose poses have to be known for the keys of a limb."""
    bones = hierarchy(last, sum(links_of(last)))
    foot = foot_of(last) if foot_follows(last) else None
    bones = [*bones, foot] if foot else bones
    return bones + [bone.parent for bone in bones if bone.parent]


def _courses(recording: Recording, rig: Rig, way: Way) -> Iterator[Course]:
    frames = np.stack([_frames(recording, rig, row) for row in range(len(rig.lasts))], axis=1)
    places = worlds_of(recording, rig.object)[:, None] @ frames
    targets = _places(recording, rig, 0)
    are_solved = [way.is_solved and is_live(last) for last in rig.lasts]
    found, tips = _solved(recording, rig, places, targets) if any(are_solved) else (None, _tips(recording, rig))
    if found and not all(are_solved):
        tips = np.where(np.array(are_solved)[:, None], tips, _tips(recording, rig))
    misses = np.linalg.norm(tips - targets, axis=2)
    sizes = np.linalg.norm(places[..., :3, :3], axis=2)
    lengths = np.array([sum(limb.shape.lengths) for limb in rig.table.limbs])
    slack = MISSED * lengths * sizes[..., 1] + ROUNDING * np.abs(targets).max(axis=2)
    feet = [foot_of(last) if foot_follows(last) else None for last in rig.lasts]
    posed = [bone for row, last in enumerate(rig.lasts) if not is_live(last) for bone in _bones(rig, row)]
    seen = _seen(recording, rig, [*posed, *filter(None, feet)])
    for row, last in enumerate(rig.lasts):
        if found is not None and are_solved[row]:
            tracks = _of_solution(rig, row, found)
        else:
            tracks = _of_channels(rig, row) if is_live(last) else _of_poses(rig, row, seen)
        if feet[row]:
            tracks.append(_turned(rig, feet[row].name, seen[feet[row].name][0]))  # type: ignore[union-attr]
        yield Course(
            last,
            rig.table.limbs[row],
            row_of(rig.table.reference, row),
            tracks,
            misses[:, row],
            slack[:, row],
            rig.sliders["influence"][:, row],
            float(np.nanmax(sizes[:, row])),
        )


def _tips(recording: Recording, rig: Rig) -> Array:
    """Where tips are in the world as they were evaluated, ``(frames, limbs, 3)``."""
    worlds = worlds_of(recording, rig.object)
    places = [worlds @ poses_of(recording, rig.object, last.name) for last in rig.lasts]
    tips = np.array([limb.shape.tip for limb in rig.table.limbs])
    return moved(np.stack(places, axis=1), tips)


def _frames(recording: Recording, rig: Rig, row: int) -> Array:
    """Where the frame G of a limb is in its armature, ``(frames, 4, 4)``."""
    limb = rig.table.limbs[row]
    first = rig.object.pose.bones[limb.bones[0]]
    above = poses_of(recording, rig.object, first.parent.name) if first.parent else None
    if limb.is_plain:
        plain = limb.to_parent if above is None else above @ limb.to_parent
        return np.broadcast_to(plain, (recording.frames, 4, 4))
    found: Array = carried(first.bone, above, recording.frames) @ np.linalg.inv(limb.shape.rest[0]) @ limb.shape.frame
    return found


def _places(recording: Recording, rig: Rig, which: int) -> Array:
    """Where targets (0) or poles (1) are in the world, ``(frames, limbs, 3)``; not a number where there is none."""
    found = np.full((recording.frames, len(rig.lasts), 3), np.nan)
    for row, limb in enumerate(rig.table.limbs):
        ob, bone = limb.follow.pairs[which]
        if ob is not None and (which == 0 or rig.table.is_poled[row]):
            found[:, row] = places_of(recording, ob, bone)
    return found


def _solved(recording: Recording, rig: Rig, places: Array, targets: Array) -> tuple[Found, Array]:
    """The solution for all limbs of a rig in all frames, and where that puts tips in the world."""
    is_plain = bool((rig.sliders["influence"] >= 1.0).all() and np.isfinite(targets).all())
    own = None if is_plain else _own_turns(rig)
    into = inverted(places)
    poles = moved(into, _places(recording, rig, 1)) if rig.table.is_poled.any() else np.full(targets.shape, np.nan)
    found = solve(rig.table, moved(into, targets), poles, rig.sliders, own)
    first, second = (tuple(np.moveaxis(found.turns[:, :, k], -1, 0)) for k in range(2))
    tips = joints_of((first, second), rig.table.reference, found.stretch)[1]
    return found, moved(places, np.stack(np.broadcast_arrays(*tips), axis=-1))


def _own_turns(rig: Rig) -> Array:
    """The bones' own (FK) rotations, ``(frames, limbs, links, 4)``."""
    found = []
    for limb in rig.table.limbs:
        modes = [(name, rig.object.pose.bones[name].rotation_mode) for name in limb.bones]
        turns = [to_quaternion(mode, [*_channel(rig, name, rotation_channel(mode)).T], ARRAYS) for name, mode in modes]
        found.append(np.stack([np.stack(turn, axis=-1) for turn in turns], axis=1))
    return np.stack(found, axis=1)


def _of_solution(rig: Rig, row: int, found: Found) -> list[Track]:
    """Of a live limb that was solved."""
    limb, last = rig.table.limbs[row], rig.lasts[row]
    tracks = [_turned(rig, name, found.turns[:, row, k]) for k, name in enumerate(limb.bones)]
    stretch = found.stretch[:, row]
    if (stretch != 1.0).any():
        sizes = np.stack(np.broadcast_arrays(*scales_of(limb, stretch)), axis=-1)  # type: ignore[arg-type]
        tracks += [Track(name, "scale", "", sizes * _channel(rig, name, "scale")) for name in _scaled(last)]
    return tracks


def _scaled(last: PoseBone) -> list[str]:
    """The bones of a limb that a stretch scales: others inherit the size of the one above."""
    bones = hierarchy(last, sum(links_of(last)))
    return [bone.name for bone in bones if bone == bones[0] or bone.bone.inherit_scale in ("NONE", "NONE_LEGACY")]


def _of_channels(rig: Rig, row: int) -> list[Track]:
    """Of a live limb that was played: its channels as they were evaluated, with the solution in them."""
    tracks = []
    for name in rig.table.limbs[row].bones:
        mode = rig.object.pose.bones[name].rotation_mode
        channel = rotation_channel(mode)
        tracks.append(Track(name, channel, mode, continuous(mode, _channel(rig, name, channel))))
    for bone in _bones(rig, row):
        sizes = _channel(rig, bone.name, "scale")
        if np.abs(sizes - bone.scale[:]).max() > SAME:  # of the original, which has none of the solution
            tracks.append(Track(bone.name, "scale", "", sizes))
    return tracks


def _of_poses(rig: Rig, row: int, seen: dict[str, tuple[Array, Array]]) -> list[Track]:
    """Of a limb that the rig poses: what its bones' channels have to be for the poses that were evaluated."""
    tracks = []
    for bone in _bones(rig, row):
        turns, scales = seen[bone.name]
        if bone.name in rig.table.limbs[row].bones:
            tracks.append(_turned(rig, bone.name, turns))
        if np.abs(scales - _channel(rig, bone.name, "scale")).max() > SAME:
            tracks.append(Track(bone.name, "scale", "", scales))
    return tracks


def _seen(recording: Recording, rig: Rig, bones: list[PoseBone]) -> dict[str, tuple[Array, Array]]:
    """The rotations and scales of their own that bones have to have for the poses that were evaluated."""
    if not bones:
        return {}
    found = []
    for bone in bones:
        above = poses_of(recording, rig.object, bone.parent.name) if bone.parent else None
        found.append(local(bone.bone, above, poses_of(recording, rig.object, bone.name)))
    turns, scales = turns_and_scales(np.stack(found))
    return {bone.name: (turns[i], scales[i]) for i, bone in enumerate(bones)}


def _bones(rig: Rig, row: int) -> list[PoseBone]:
    return hierarchy(rig.lasts[row], sum(links_of(rig.lasts[row])))


def _turned(rig: Rig, name: str, turns: Array) -> Track:
    """A rotation as a bone's mode writes it: the first frame close to what the bone had there, then without jumps."""
    mode = rig.object.pose.bones[name].rotation_mode
    channel = rotation_channel(mode)
    near = _channel(rig, name, channel)[:1]
    if mode == "QUATERNION":
        values = turns if (turns[0] * near[0]).sum() >= 0.0 else -turns
    else:
        values = np.stack(to_channels(mode, tuple(turns.T), [*near.T], ARRAYS), axis=-1)
    return Track(name, channel, mode, continuous(mode, values))


def _channel(rig: Rig, name: str, channel: str) -> Array:
    values = rig.channels[channel]
    return values.numbers[:, values.row[name]].astype(float)
