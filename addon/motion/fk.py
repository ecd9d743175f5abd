"""Limbs by FK as they are seen in IK: what the own channels of their bones have to say for that, in all frames at once,
and where these have the joints."""

from __future__ import annotations

from typing import Any

import numpy as np
from bpy.types import PoseBone

from ..blender.rotation import ARRAY_ANGLES, continuous, rotation_channel, to_channels, to_quaternion
from ..limb import solving, tolerances, transforms
from ..limb.storage import bones_of_limb, chain_bones, mode_of
from ..limb.table import Table, table_of
from ..rigging import description, feet
from ..solver.limb import ORIGIN, joints_and_normals
from ..solver.matrices import applied, inverted_all
from ..solver.ops import Array, Matrices, Quaternions
from ..solver.reference import Reference
from ..solver.rotation import rotate
from .reading import Channel, Recording, Rig, Values, channel_of, limbs_read, own_turns_of, poses_of
from .writing import KeyedPart, PointsOf


def to_fk(recording: Recording, is_solved: bool, influence: float | None = None) -> dict[description.LimbRef, Values]:
    """What the own channels of limbs, and of feet that turn with their targets, have to say to stand by FK as they were
    seen, (frames, numbers) each. If it ``is_solved``, limbs are to be as the solver has them, at an ``influence`` if
    one is given, however they were seen. Scale and location are among them where the rotation does not say all."""
    found: dict[description.LimbRef, Values] = {}
    for rig in recording.rigs:
        solution = _solution(recording, rig, influence) if is_solved else None
        for row, limb in enumerate(rig.limbs):
            bones = feet.following_bones(limb) if solution else [*chain_bones(limb), *feet.following_bones(limb)]
            solved = _solved(recording, rig, row, solution) if solution else {}
            found[description.ref_of(limb)] = solved | _seen(recording, rig, row, bones)
    return found


def _solution(recording: Recording, rig: Rig, influence: float | None) -> solving.Solution:
    limbs = limbs_read(recording, rig)
    sliders, into = dict(limbs.sliders), inverted_all(limbs.frames)
    if influence is not None:
        sliders["influence"] = np.full_like(sliders["influence"], influence)
    return solving.solve(rig.table, applied(into, limbs.target), applied(into, limbs.pole), sliders, limbs.own)


def _solved(recording: Recording, rig: Rig, row: int, solution: solving.Solution) -> Values:
    """The channels of a limb as a solution has it."""
    ob, entry, values = rig.object, rig.table.limbs[row], Values()
    for k, name in enumerate(entry.bones):
        values |= _rotation(recording, rig, name, solution.turns[:, row, k])
    sizes = np.stack(np.broadcast_arrays(*solving.scales_of(entry, solution.stretch[:, row])), axis=-1)  # type: ignore[arg-type]
    if row in rig.table.moved_roots:
        own = channel_of(recording, ob, entry.bones[0], "location")
        values[Channel.of_bone(ob, entry.bones[0], "location")] = own + solution.root[:, row] @ entry.axes  # type: ignore[index]
    for bone in solving.scaled_bones(rig.limbs[row]):
        own = channel_of(recording, ob, bone.name, "scale")
        shown = sizes * solving.own_size(own, rig.sliders["influence"][:, row, None])
        if (shown != own).any():
            values[Channel.of_bone(ob, bone.name, "scale")] = shown
    return values


def _seen(recording: Recording, rig: Rig, row: int, bones: list[PoseBone]) -> Values:
    """The channels of bones of a limb, or of its foot, that make the poses which were seen. Those of a live limb are
    what was seen of its channels: what else acts on its bones still will."""
    ob, limb, entry, values = rig.object, rig.limbs[row], rig.table.limbs[row], Values()
    chain, foot = chain_bones(limb), feet.following_bones(limb)
    for bone in bones:
        is_live = mode_of(limb) == "LIVE" and bone in chain
        rotations, scales = (np.zeros(0), np.zeros(0)) if is_live else transforms.rigid(own_seen(recording, bone))
        own_scale = channel_of(recording, ob, bone.name, "scale")
        if row in rig.table.moved_roots and bone.name == entry.bones[0]:
            places = channel_of(recording, ob, bone.name, "location") if is_live else rotations[:, :3, 3]
            values[Channel.of_bone(ob, bone.name, "location")] = places
        if bone.name in entry.bones or bone in foot:
            turns = own_turns_of(recording, ob, bone.name) if is_live else transforms.turns_of(rotations)
            values |= _rotation(recording, rig, bone.name, turns)
        if is_live:
            scales, own_scale = own_scale, np.array(bone.scale[:])
        if bone in chain and np.abs(scales - own_scale).max() > tolerances.ON_TARGET:
            values[Channel.of_bone(ob, bone.name, "scale")] = scales
    return values


def own_seen(recording: Recording, bone: PoseBone) -> Matrices:
    """What a bone's own channels have to make for the poses in which it was seen, (frames, 4, 4)."""
    ob = bone.id_data
    above = poses_of(recording, ob, bone.parent.name) if bone.parent else None
    return transforms.own_transforms(bone.bone, above, poses_of(recording, ob, bone.name))


def _rotation(recording: Recording, rig: Rig, name: str, turns: Quaternions) -> Values:
    """A rotation as a bone's mode has it: the first frame close to what the bone had there, then without jumps."""
    mode = rig.object.pose.bones[name].rotation_mode
    channel = Channel.of_bone(rig.object, name, rotation_channel(mode))
    near = channel_of(recording, rig.object, name, rotation_channel(mode))[:1]
    return {channel: in_rotation_mode(mode, turns, near)}


def in_rotation_mode(mode: str, turns: Quaternions, near: Array) -> Array:
    """Quaternions ``(frames, 4)`` as channels of a rotation mode ``(frames, numbers)``, without jumps. The first is
    close to ``near`` ``(1, numbers)``."""
    if mode == "QUATERNION":
        return continuous(mode, turns if (turns[0] * near[0]).sum() >= 0.0 else -turns)
    return continuous(mode, np.stack(to_channels(mode, tuple(turns.T), [*near.T], ARRAY_ANGLES), axis=-1))


LEVER = 5e-4 / tolerances.KEPT_TURN
"""How far from a bone's line, in lengths of the limb, what says how it is turned is looked at: a turn as large as may
be goes there with as large a tolerance of the joints as is usual."""


def arm_for(tolerance: float) -> float:
    """How far beside a bone's line, in lengths of the limb, points show its turn: there a turn of `KEPT_TURN` moves
    them by the ``tolerance`` of joints, in the same unit."""
    return float(max(LEVER, tolerance / tolerances.KEPT_TURN))


def joints_and_sides(turns: Any, reference: Reference, stretch: Any, root: Any, size: float, arm: float) -> list[Array]:
    """Where turns have knees and tip in G, and points beside the bones' lines: (rows, 3) each, in the limb's
    lengths. The points are an ``arm`` off, and go along as bones turn; ``size`` is the limb's length."""
    joints, normals = joints_and_normals(turns, reference, stretch, root)
    sizes = [1.0 / size] * len(joints) + [arm] * len(normals)
    rows = (*np.broadcast(*joints[-1]).shape, 3)  # what is moved does not turn: its numbers may be the same in all
    places = zip(sizes, (*joints, *normals), strict=True)
    return [size * np.broadcast_to(np.stack(np.broadcast_arrays(*place), axis=-1), rows) for size, place in places]


def rotated_axes(mode: str, rows: Array, length: float) -> list[Array]:
    """Where two axes of something that is turned by rows of numbers (rows, numbers) point, so long."""
    turn = to_quaternion(mode, [*rows.T], ARRAY_ANGLES)
    ends = [rotate(turn, axis) for axis in ((0.0, length, 0.0), (length, 0.0, 0.0))]
    return [np.stack(np.broadcast_arrays(*end), axis=-1) for end in ends]


def lever_of(bone: PoseBone) -> float:
    """How far the farthest tail of a bone and of all that hangs on it is from its head at rest, in the armature's
    unit."""
    below = [bone.bone, *bone.bone.children_recursive]
    return float(max((each.tail_local - bone.bone.head_local).length for each in below))


def part_of_fk(limb: PoseBone, tolerance: float, table: Table | None = None, row: int = 0) -> KeyedPart:
    """The own channels of a limb's bones and of the foot that follows its target; joints may be off by a
    ``tolerance``. Who knows a ``table`` that has the limb in a ``row`` saves the time to make it."""
    ob, bones = limb.id_data, bones_of_limb(limb)
    following = feet.following_bones(limb)
    modes = {bone.name: bone.rotation_mode for bone in (*bones, *following)}
    channels = {name: Channel.of_bone(ob, name, rotation_channel(mode)) for name, mode in modes.items()}
    scaled = [Channel.of_bone(ob, bone.name, "scale") for bone in solving.scaled_bones(limb)]
    table = table or table_of([limb])
    ref, reference = table.limbs[row], table.singles[row].reference
    moved = [Channel.of_bone(ob, bones[0].name, "location")] if row in table.moved_roots else []
    lengths = {bone.name: lever_of(bone) for bone in following}
    geometry, size = ref.geometry, sum(ref.geometry.lengths)

    def points_over_frames(recording: Recording, whole: Values) -> PointsOf:
        still = {channel: recording.channels[channel] for channel in channels.values() if channel not in whole}

        def points(values: Values, at: Array) -> list[Array]:
            rows = {
                name: values[channel] if channel in values else still[channel][at] for name, channel in channels.items()
            }
            turns: Any = [to_quaternion(modes[name], [*rows[name].T], ARRAY_ANGLES) for name in geometry.names]
            stretch = values[scaled[0]][:, 1] if scaled and scaled[0] in values else 1.0
            root = (values[moved[0]] @ ref.axes.T).T if moved and moved[0] in values else ORIGIN
            joints = joints_and_sides(turns, reference, stretch, root, size, arm_for(tolerance))
            for name, length in lengths.items():
                joints += rotated_axes(modes[name], rows[name], length / size)
            return joints

        return points

    return KeyedPart([*channels.values(), *scaled, *moved], points_over_frames)
