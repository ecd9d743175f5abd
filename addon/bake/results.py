"""From a recording to what limbs do: the numbers that become keys, and how far tips are from their targets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone
from numpy.typing import NDArray

from ..blender.rotation import ARRAY_ANGLES, continuous, rotation_channel, to_channels
from ..blender.types import path_to_bone
from ..limb.solving import Solution, counting, joints_in, own_size, scaled_bones, scales_of, solve
from ..limb.storage import chain_bones
from ..limb.table import LimbEntry
from ..limb.tolerances import ON_TARGET, ROUNDING, SEEN
from ..limb.transforms import own_transforms, rigid, turns_of
from ..poses.reading import (
    Recording,
    Rig,
    channel_of,
    followed_places,
    limb_frames,
    own_limb_turns,
    poses_of,
    worlds_of,
)
from ..rigging.feet import following_bones
from ..solver.matrices import applied, inverted_all
from ..solver.reference import Reference
from ..tasks.status import MISS

Array = NDArray[Any]
Key = tuple[Any, str]
"""A rig and the name of a limb's last bone."""


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

    limb: PoseBone
    entry: LimbEntry
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
        distances: Array = np.linalg.norm(self.tips - self.targets, axis=1)
        return distances

    def every(self, step: int) -> LimbTrajectory:
        """In every so many of the frames only."""
        if step == 1:
            return self
        tracks = [track._replace(values=track.values[::step]) for track in self.tracks]
        rows = {name: getattr(self, name)[::step] for name in ("targets", "tips", "slack", "influence")}
        return self._replace(tracks=tracks, **rows)

    def is_missed(self, most: float | None) -> Array:
        """In which frames the tip is off its target although the limb is all IK."""
        return (self.influence >= 1.0) & ~(self.misses <= (self.slack if most is None else most))


class RigKeys(NamedTuple):
    """What keys have to say for the limbs of one rig: the ``tracks`` of each limb, where tips are in the world then
    ``(frames, limbs, 3)``, and the names of bones that are sheared, as no channels can make them."""

    tracks: list[list[ChannelTrack]]
    tips: Array
    sheared: set[str]


def solved_trajectories(recording: Recording) -> dict[Key, LimbTrajectory]:
    """What limbs do by the solver, whatever poses they were recorded in."""
    return _by_limb(recording, _solved)


def evaluated_trajectories(recording: Recording) -> dict[Key, LimbTrajectory]:
    """What limbs did as Blender evaluated them."""
    return _by_limb(recording, partial(_evaluated, solved={}))


def completed_trajectories(recording: Recording, solved: Mapping[Key, LimbTrajectory]) -> dict[Key, LimbTrajectory]:
    """What limbs did as Blender evaluated them, some by keys on trial: these ``solved`` ones keep their tracks, and of
    them only feet that follow their targets are read."""
    return _by_limb(recording, partial(_evaluated, solved=solved))


def bones_to_bake(limb: PoseBone) -> list[PoseBone]:
    """The bones that have to be read for the keys of a limb."""
    bones = [*chain_bones(limb), *following_bones(limb)]
    return bones + [bone.parent for bone in bones if bone.parent]


def _by_limb(
    recording: Recording, keys_of_rig: Callable[[Recording, Rig, Array, Array], RigKeys]
) -> dict[Key, LimbTrajectory]:
    trajectories = [trajectory for rig in recording.rigs for trajectory in _trajectories(recording, rig, keys_of_rig)]
    return {(trajectory.limb.id_data, trajectory.limb.name): trajectory for trajectory in trajectories}


def _trajectories(
    recording: Recording, rig: Rig, keys_of_rig: Callable[[Recording, Rig, Array, Array], RigKeys]
) -> Iterator[LimbTrajectory]:
    worlds = worlds_of(recording, rig.object)[:, None] @ limb_frames(recording, rig)
    targets = followed_places(recording, rig, 0)
    sizes = np.linalg.norm(worlds[..., :3, :3], axis=2)
    lengths = np.array([sum(entry.geometry.lengths) for entry in rig.table.limbs])
    slack = MISS * lengths * sizes[..., 1] + ROUNDING * np.abs(targets).max(axis=2)
    tracks, tips, sheared = keys_of_rig(recording, rig, worlds, targets)
    targets = counting(rig.table, worlds, targets, tips)
    for row, limb in enumerate(rig.limbs):
        entry = rig.table.limbs[row]
        yield LimbTrajectory(
            limb=limb,
            entry=entry,
            reference=rig.table.singles[row].reference,
            tracks=tracks[row],
            targets=targets[:, row],
            tips=tips[:, row],
            slack=slack[:, row],
            influence=rig.sliders["influence"][:, row],
            size=float(np.nanmax(sizes[:, row])),
            is_sheared=not sheared.isdisjoint(entry.bones),
        )


def _solved(recording: Recording, rig: Rig, worlds: Array, targets: Array) -> RigKeys:
    """The solution for all limbs of a rig; ``worlds`` are their frames G in the world."""
    is_plain = bool((rig.sliders["influence"] >= 1.0).all() and np.isfinite(targets).all())
    own = None if is_plain else own_limb_turns(recording, rig)
    into = inverted_all(worlds)
    poles = (
        applied(into, followed_places(recording, rig, 1))
        if rig.table.is_poled.any()
        else np.full(targets.shape, np.nan)
    )
    solution = solve(rig.table, applied(into, targets), poles, rig.sliders, own)
    tips = joints_in(rig.table, solution)[..., -1, :]
    tracks = [_tracks_of(solution, recording, rig, row) for row in range(len(rig.limbs))]
    return RigKeys(tracks, applied(worlds, tips), set())


def _tracks_of(solution: Solution, recording: Recording, rig: Rig, row: int) -> list[ChannelTrack]:
    limb = rig.table.limbs[row]
    tracks = [_rotation_track(recording, rig, name, solution.turns[:, row, k]) for k, name in enumerate(limb.bones)]
    stretch, influence = solution.stretch[:, row], rig.sliders["influence"][:, row, None]
    sizes = np.stack(np.broadcast_arrays(*scales_of(limb, stretch)), axis=-1)  # type: ignore[arg-type]
    if limb.plane == "SLIDE":
        own = channel_of(recording, rig.object, limb.bones[0], "location")
        slid = own + np.multiply.outer(solution.slide[:, row], limb.line)  # type: ignore[index]
        tracks.append(ChannelTrack(limb.bones[0], "location", "", slid))
    for bone in scaled_bones(rig.limbs[row]):
        own = channel_of(recording, rig.object, bone.name, "scale")
        shown = sizes * own_size(own, influence)
        if (shown != own).any():
            tracks.append(ChannelTrack(bone.name, "scale", "", shown))
    return tracks


def _evaluated(
    recording: Recording, rig: Rig, _worlds: Array, _targets: Array, solved: Mapping[Key, LimbTrajectory]
) -> RigKeys:
    """What channels have to be for the poses that were recorded; of ``solved`` limbs those of their feet only."""
    ob = rig.object
    tracks: list[list[ChannelTrack]] = []
    sheared: set[str] = set()
    for limb, entry in zip(rig.limbs, rig.table.limbs, strict=True):
        trajectory = solved.get((ob, limb.name))
        foot = following_bones(limb)
        tracks.append([*trajectory.tracks] if trajectory else [])
        for bone in [*([] if trajectory else chain_bones(limb)), *foot]:
            above = poses_of(recording, ob, bone.parent.name) if bone.parent else None
            own = own_transforms(bone.bone, above, poses_of(recording, ob, bone.name))
            rotations, scales = rigid(own)
            if np.abs(rotations[:, :3, :3] * scales[:, None, :] - own[:, :3, :3]).max() > SEEN:
                sheared.add(bone.name)
            if entry.plane == "SLIDE" and bone.name == entry.bones[0]:
                tracks[-1].append(ChannelTrack(bone.name, "location", "", own[:, :3, 3]))
            if bone.name in entry.bones or bone in foot:
                tracks[-1].append(_rotation_track(recording, rig, bone.name, turns_of(rotations)))
            if bone not in foot and np.abs(scales - channel_of(recording, ob, bone.name, "scale")).max() > ON_TARGET:
                tracks[-1].append(ChannelTrack(bone.name, "scale", "", scales))
    places = [worlds_of(recording, ob) @ poses_of(recording, ob, limb.name) for limb in rig.limbs]
    tips = applied(np.stack(places, axis=1), np.array([entry.geometry.tip for entry in rig.table.limbs]))
    return RigKeys(tracks, tips, sheared)


def _rotation_track(recording: Recording, rig: Rig, name: str, turns: Array) -> ChannelTrack:
    """A rotation as a bone's mode has it: the first frame close to what the bone had there, then without jumps."""
    mode = rig.object.pose.bones[name].rotation_mode
    near = channel_of(recording, rig.object, name, rotation_channel(mode))[:1]
    return ChannelTrack(name, rotation_channel(mode), mode, in_rotation_mode(mode, turns, near))


def in_rotation_mode(mode: str, turns: Array, near: Array) -> Array:
    """Quaternions ``(frames, 4)`` as the channels of a rotation mode ``(frames, numbers)``, without jumps, the first
    close to ``near`` ``(1, numbers)``."""
    if mode == "QUATERNION":
        return continuous(mode, turns if (turns[0] * near[0]).sum() >= 0.0 else -turns)
    return continuous(mode, np.stack(to_channels(mode, tuple(turns.T), [*near.T], ARRAY_ANGLES), axis=-1))
