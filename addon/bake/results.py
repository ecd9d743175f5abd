"""From what was read to what limbs do: the numbers that become keys, and how far tips are from their targets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.rotation import ARRAYS, continuous, rotation_channel, to_channels, to_quaternion
from ..blender.types import path_to_bone
from ..limb.solving import Solution, at_rest, own_size, scaled_bones, scales_of, solve
from ..limb.storage import chain_bones
from ..limb.table import Limb, joints_in
from ..limb.tips import foot_of
from ..solver.matrices import applied, inverted, inverted_all
from ..solver.reference import Reference
from ..tasks.feet import foot_follows
from ..tasks.status import MISSED, ROUNDING
from .recording import Recording, Rig, channel_of, places_of, poses_of, worlds_of
from .transforms import carried, local, rigid, turns_of

Array = NDArray[Any]
Key = tuple[Any, str]
"""A rig and the name of a limb's last bone."""

SAME = 1e-5
"""How far numbers of a scale may be from the bone's own to be those."""

SHEARED = 1e-3
"""How far axes of a bone may be from what a rotation and a scale make."""


class ChannelTrack(NamedTuple):
    """One channel of one bone: ``values`` ``(frames, numbers)``. ``mode`` is the rotation mode if it is a rotation."""

    bone: str
    channel: str
    mode: str
    values: Array

    @property
    def path(self) -> str:
        """The data path of the channel."""
        return f"{path_to_bone(self.bone)}.{self.channel}"


class LimbTrajectory(NamedTuple):
    """One limb over the frames: where its ``targets`` and ``tips`` are in the world ``(frames, 3)``; ``slack`` is what
    these may be apart, ``size`` how much longer things are in the world than in the limb's frame, at most, and
    ``is_sheared`` says that no channels make what was seen."""

    last: PoseBone
    limb: Limb
    reference: Reference
    tracks: list[ChannelTrack]
    targets: Array
    tips: Array
    slack: Array
    influence: Array
    size: float
    is_sheared: bool

    @property
    def misses(self) -> Array:
        """How far the tip is from the target, ``(frames,)``."""
        found: Array = np.linalg.norm(self.tips - self.targets, axis=1)
        return found

    def is_missed(self, most: float | None) -> Array:
        """In which frames the tip is off its target though the limb is all IK."""
        return (self.influence >= 1.0) & ~(self.misses <= (self.slack if most is None else most))


def trajectories_of(recording: Recording, known: Mapping[Key, LimbTrajectory] | None) -> dict[Key, LimbTrajectory]:
    """What limbs do: solved, if nothing is ``known`` (None); else as they were seen, of those that are known with the
    keys from there."""
    found = [trajectory for rig in recording.rigs for trajectory in _trajectories(recording, rig, known)]
    return {(trajectory.last.id_data, trajectory.last.name): trajectory for trajectory in found}


def bones_read(last: PoseBone) -> list[PoseBone]:
    """The bones that have to be read for the keys of a limb."""
    foot = foot_of(last) if foot_follows(last) else None
    bones = [*chain_bones(last), *([foot] if foot else [])]
    return bones + [bone.parent for bone in bones if bone.parent]


def _trajectories(
    recording: Recording, rig: Rig, known: Mapping[Key, LimbTrajectory] | None
) -> Iterator[LimbTrajectory]:
    frames = np.stack([_frames(recording, rig, row) for row in range(len(rig.lasts))], axis=1)
    places = worlds_of(recording, rig.object)[:, None] @ frames
    targets = _places(recording, rig, 0)
    sizes = np.linalg.norm(places[..., :3, :3], axis=2)
    lengths = np.array([sum(limb.geometry.lengths) for limb in rig.table.limbs])
    slack = MISSED * lengths * sizes[..., 1] + ROUNDING * np.abs(targets).max(axis=2)
    sheared: set[str] = set()
    if known is None:
        tracks, tips = _solved(recording, rig, places, targets)
    else:
        tracks, tips = _seen(recording, rig, known, sheared)
    for row, last in enumerate(rig.lasts):
        limb, reference = rig.table.limbs[row], rig.table.singles[row][1]
        influence, size = rig.sliders["influence"][:, row], float(np.nanmax(sizes[:, row]))
        places_of_row = targets[:, row], tips[:, row], slack[:, row]
        is_sheared = any(name in sheared for name in limb.bones)
        yield LimbTrajectory(last, limb, reference, tracks[row], *places_of_row, influence, size, is_sheared)


def _frames(recording: Recording, rig: Rig, row: int) -> Array:
    """Where the frame G of a limb is in its armature, ``(frames, 4, 4)``."""
    limb = rig.table.limbs[row]
    first = rig.object.pose.bones[limb.bones[0]]
    above = poses_of(recording, rig.object, first.parent.name) if first.parent else None
    found: Array = carried(first.bone, above, recording.frames) @ inverted(limb.geometry.rest[0]) @ limb.geometry.frame
    return found


def _places(recording: Recording, rig: Rig, which: int) -> Array:
    """Where targets (0) or poles (1) are in the world, ``(frames, limbs, 3)``; not a number where there is none."""
    found = np.full((recording.frames, len(rig.lasts), 3), np.nan)
    for row, limb in enumerate(rig.table.limbs):
        ob, bone = limb.follow.pairs[which]
        if ob is not None and (which == 0 or rig.table.is_poled[row]):
            found[:, row] = places_of(recording, ob, bone)
    return found


def _solved(recording: Recording, rig: Rig, places: Array, targets: Array) -> tuple[list[list[ChannelTrack]], Array]:
    """The solution for all limbs of a rig, and where that puts tips in the world."""
    is_plain = bool((rig.sliders["influence"] >= 1.0).all() and np.isfinite(targets).all())
    own = None if is_plain else _own_turns(recording, rig)
    into = inverted_all(places)
    poles = applied(into, _places(recording, rig, 1)) if rig.table.is_poled.any() else np.full(targets.shape, np.nan)
    found = solve(rig.table, applied(into, targets), poles, rig.sliders, own)
    tips = joints_in(rig.table, found.turns, found.stretch)[..., -1, :]
    tracks = [_of_solution(recording, rig, row, found) for row in range(len(rig.lasts))]
    return tracks, applied(places, tips)


def _own_turns(recording: Recording, rig: Rig) -> Array:
    """The bones' own (FK) rotations, ``(frames, limbs, links, 4)``."""
    found = at_rest(rig.table, recording.frames)
    for row, limb in enumerate(rig.table.limbs):
        for k, name in enumerate(limb.bones):
            mode = rig.object.pose.bones[name].rotation_mode
            channels = channel_of(recording, rig.object, name, rotation_channel(mode))
            found[:, row, k] = np.stack(to_quaternion(mode, [*channels.T], ARRAYS), axis=-1)
    return found


def _of_solution(recording: Recording, rig: Rig, row: int, found: Solution) -> list[ChannelTrack]:
    limb = rig.table.limbs[row]
    tracks = [_turned(recording, rig, name, found.turns[:, row, k]) for k, name in enumerate(limb.bones)]
    stretch, influence = found.stretch[:, row], rig.sliders["influence"][:, row, None]
    sizes = np.stack(np.broadcast_arrays(*scales_of(limb, stretch)), axis=-1)  # type: ignore[arg-type]
    for bone in scaled_bones(rig.lasts[row]):
        own = channel_of(recording, rig.object, bone.name, "scale")
        shown = sizes * own_size(own, influence)
        if (shown != own).any():
            tracks.append(ChannelTrack(bone.name, "scale", "", shown))
    return tracks


def _seen(
    recording: Recording, rig: Rig, known: Mapping[Key, LimbTrajectory], sheared: set[str]
) -> tuple[list[list[ChannelTrack]], Array]:
    """What channels have to be for the poses that were seen, and where tips were in the world. Bones whose channels
    can't be that get into ``sheared``."""
    ob = rig.object
    tracks: list[list[ChannelTrack]] = []
    for last, limb in zip(rig.lasts, rig.table.limbs, strict=True):
        trajectory = known.get((ob, last.name))
        foot = [foot_of(last)] if foot_follows(last) else []
        tracks.append([*trajectory.tracks] if trajectory else [])
        for bone in [*([] if trajectory else chain_bones(last)), *filter(None, foot)]:
            above = poses_of(recording, ob, bone.parent.name) if bone.parent else None
            own = local(bone.bone, above, poses_of(recording, ob, bone.name))
            turned, scales = rigid(own)
            if np.abs(turned[:, :3, :3] * scales[:, None, :] - own[:, :3, :3]).max() > SHEARED:
                sheared.add(bone.name)
            if bone.name in limb.bones or bone in foot:
                tracks[-1].append(_turned(recording, rig, bone.name, turns_of(turned)))
            if bone not in foot and np.abs(scales - channel_of(recording, ob, bone.name, "scale")).max() > SAME:
                tracks[-1].append(ChannelTrack(bone.name, "scale", "", scales))
    worlds = worlds_of(recording, ob)
    places = [worlds @ poses_of(recording, ob, last.name) for last in rig.lasts]
    return tracks, applied(np.stack(places, axis=1), np.array([limb.geometry.tip for limb in rig.table.limbs]))


def _turned(recording: Recording, rig: Rig, name: str, turns: Array) -> ChannelTrack:
    """A rotation as a bone's mode writes it: the first frame close to what the bone had there, then without jumps."""
    mode = rig.object.pose.bones[name].rotation_mode
    near = channel_of(recording, rig.object, name, rotation_channel(mode))[:1]
    return ChannelTrack(name, rotation_channel(mode), mode, written(mode, turns, near))


def written(mode: str, turns: Array, near: Array) -> Array:
    """Rotations as a mode writes them, without jumps, the first close to ``near`` ``(1, numbers)``."""
    if mode == "QUATERNION":
        return continuous(mode, turns if (turns[0] * near[0]).sum() >= 0.0 else -turns)
    return continuous(mode, np.stack(to_channels(mode, tuple(turns.T), [*near.T], ARRAYS), axis=-1))
