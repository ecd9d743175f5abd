"""What is read of limbs over frames, as plain arrays, and the channels that may get keys.

    for rig in recording.rigs:
        limbs = limbs_read(recording, rig)      # frames G, targets, poles, sliders, own turns: (frames, limbs, ...)
    poses_of(recording, rig, "foot.L")          # (frames, 4, 4), evaluated, in the armature
    matrices_of(recording, (target, bone))      # (frames, 4, 4), evaluated, in the world
    recording.channels[channel]                 # (frames, numbers): what the channel says, as the animator set it
    recording.bases[target, bone]               # (frames, 4, 4): what its own channels make

Matrices are what Blender evaluates, whatever carries, constrains and drives it; numbers of channels are those of the
original, since a live limb's evaluated channels are its solution. What is read of a limb: its bones, the foot or hand
below, their parents, and what it follows. `motion.passing` goes through the frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Object, PoseBone

from ..blender import animation, keying, rotation
from ..blender.dependencies import BoneRef
from ..blender.types import ArmatureObject, bones_of, has_bone, path_to_bone, path_to_custom
from ..limb import settings, solving, storage, tips
from ..limb.table import Table, table_of
from ..solver.ops import Array, Matrices, Points, Quaternions


class Channel(NamedTuple):
    """A property that may get keys: by the data path from its object, and the bone that has it, or nothing."""

    object: Any
    path: str
    bone: str

    @classmethod
    def of_bone(cls, ob: Any, bone: str, path: str) -> Channel:
        """A property of a bone, or of an object if no bone is named."""
        return cls(ob, keying.full_path(bone, path), bone)


Values = dict[Channel, Array]
"""What channels say over frames, (frames, numbers) each."""


OF_OBJECTS = ("location", "rotation_", "scale", "delta_")
"""How the paths begin of what an object's own channels are."""


def originals_of(channels: Values, bases_of: dict[BoneRef, Array], is_first: bool = False) -> Callable[[int], None]:
    """A function that reads what is shown into the ``i``-th rows of channels, and of ``bases_of`` controls: matrices
    (f, 4, 4) that their own channels make. What has neither keys nor drivers is read now for all rows; if it
    ``is_first``, all is."""
    objects = {channel.object for channel in channels} | {ob for ob, _ in bases_of}
    animated = {ob: set() if is_first else animation.animated_paths(ob) for ob in objects}
    holders, arrays = [], []
    for channel, values in channels.items():
        if channel.path not in animated[channel.object]:
            values[:] = animation.value_at(channel.object, channel.path)
        elif values.dtype == np.float32:
            arrays.append((channel.object.path_resolve(channel.path, False).foreach_get, values))
        else:
            holders.append((*animation.property_at(channel.object, channel.path), values))
    for ref, bases in bases_of.items():
        ob, bone = ref
        owner: Any = bones_of(ob)[bone] if bone else ob
        if any(path.startswith(f"{path_to_bone(bone)}." if bone else OF_OBJECTS) for path in animated[ob]):
            columns = bases.transpose(0, 2, 1).reshape(-1, 16)  # the same memory
            arrays.append((owner.path_resolve("matrix_basis", False).foreach_get, columns))
        else:
            bases[:] = owner.matrix_basis

    def read_frame(i: int) -> None:
        for holder, name, is_custom, values in holders:
            values[i] = holder[name] if is_custom else getattr(holder, name)
        for get, numbers in arrays:
            get(numbers[i])

    return read_frame


def room_for(channel: Channel, count: int) -> Array:
    """Room for what a channel says in so many frames, of the kind that Blender reads at once where it can."""
    value = animation.value_at(channel.object, channel.path)
    is_array = isinstance(value, tuple) and not animation.property_at(channel.object, channel.path)[2]
    kind = bool if isinstance(value, bool) else np.float32 if is_array else float
    return np.empty((count, np.size(value)), kind)


def copied(values: Values) -> Values:
    """A copy of channels' numbers."""
    return {channel: rows.copy() if rows.dtype == bool else rows.astype(float) for channel, rows in values.items()}


Evaluated = Callable[[Any], Any]
"""Gives the evaluated object of an original one."""


class RecordedProperty(NamedTuple):
    """One property of some bones of a rig, ``(frames, bones, numbers)``; ``row`` maps a bone's name to its index.
    Bones that keep still come last."""

    row: dict[str, int]
    which: Array  # of all bones, those that are read in each frame
    numbers: Array
    buffer: Array  # all bones in one frame

    @property
    def changing(self) -> dict[str, int]:
        """The bones that are read in each frame, by name, with their rows in the numbers."""
        return {bone: row for bone, row in self.row.items() if row < len(self.which)}


class Rig(NamedTuple):
    """The limbs of one rig: their last bones, what of them does not change, and their sliders ``(frames, limbs)``."""

    object: ArmatureObject
    limbs: Sequence[PoseBone]
    names: Sequence[str]  # of these
    table: Table
    sliders: dict[str, Array]
    changing: Sequence[tuple[str, int, str]]  # slider, limb, last bone


class Recording(NamedTuple):
    """Everything that was read in some frames: world matrices of objects ``(frames, 16)``, by columns as Blender stores
    them, properties of bones by object and name, values of channels, and the own transforms of controls."""

    rigs: Sequence[Rig]
    worlds: dict[Object, Array]
    read: dict[tuple[Object, str], RecordedProperty]
    channels: Values
    bases: dict[BoneRef, Array]
    frames: int
    at: Sequence[float] | None  # which frames; None for the one that is shown


class LimbsRead(NamedTuple):
    """The n limbs of one rig in f frames."""

    rig: Rig
    frames: Array  # (f, n, 4, 4): G, in the world
    sliders: dict[str, Array]  # by name, (f, n)
    own: Array  # (f, n, segments, 4), w first: the bones' FK rotations
    own_length: Array  # (f, n): how many times as long limbs that stretch are by their own scale
    target: Array  # (f, n, 3), in the world; not a number where a limb has none
    pole: Array  # the same


def bones_to_read(limb: PoseBone, segments: settings.BonesPerSegment | None = None) -> list[PoseBone]:
    """The bones that are read of a limb's rig: its own, foot or hand with toes, and what carries them. Of what is no
    limb yet, with these segments."""
    foot = tips.foot_of(limb)
    bones = [*storage.chain_bones(limb, segments), *([foot, *foot.children] if foot else ())]
    return bones + [bone.parent for bone in bones if bone.parent]


class Asked(NamedTuple):
    """What is read besides limbs and what these follow: objects and bones as ``refs``, ``bones`` as those of limbs are,
    properties as ``channels``, and ``controls`` that are to be moved. What of it is ``known`` of the same frames need
    not be read."""

    refs: Iterable[BoneRef] = ()
    bones: Iterable[PoseBone] = ()
    channels: Iterable[Channel] = ()
    controls: Sequence[BoneRef] = ()
    known: Recording | None = None


NOTHING = Asked()


def new_recording(
    limbs: Sequence[PoseBone],
    frames: Sequence[float] | None,
    bones_of_limb: Callable[[PoseBone], Iterable[PoseBone]],
    is_sure: bool,
    asked: Asked = NOTHING,
    also: Sequence[str] = (),
) -> Recording:
    """Room for frames, or for the one that is shown. ``bones_of_limb`` gives the bones that have to be read for a limb,
    and ``also`` what of them besides matrices, scales and rotations; ``is_sure`` says that what has no keys and drivers
    does not change."""
    count = 1 if frames is None else len(frames)
    rigs = [_new_rig(ob, group, count, is_sure) for ob, group in storage.by_rig(limbs).items()]
    needed: dict[Any, dict[str, dict[str, None]]] = {}
    for rig in rigs:
        for limb, entry in zip(rig.limbs, rig.table.limbs, strict=True):
            _need_bones(needed, bones_of_limb(limb), also)
            if not entry.is_connected:
                needed.setdefault(rig.object, {}).setdefault("location", {})[entry.bones[0]] = None
            _need(needed, entry.follow.pairs)
    _need_bones(needed, asked.bones, also)
    _need(needed, [*dict.fromkeys((*asked.refs, *asked.controls))])
    worlds = {ob: np.empty((count, 16), np.float32) for ob in needed}
    read = {
        (ob, name): _new_read(ob, name, bones, count, is_sure) for ob in needed for name, bones in needed[ob].items()
    }
    values = {channel: room_for(channel, count) for channel in dict.fromkeys(asked.channels)}
    bases = {ref: np.empty((count, 4, 4), np.float32).transpose(0, 2, 1) for ref in asked.controls}  # columns in a row
    return Recording(rigs=rigs, worlds=worlds, read=read, channels=values, bases=bases, frames=count, at=frames)


def _need_bones(needed: dict[Any, dict[str, dict[str, None]]], bones: Iterable[PoseBone], also: Sequence[str]) -> None:
    for bone in bones:
        for name in ("matrix", *also, "scale", rotation.rotation_channel(bone.rotation_mode)):
            needed.setdefault(bone.id_data, {}).setdefault(name, {})[bone.name] = None


def _need(needed: dict[Any, dict[str, dict[str, None]]], refs: Iterable[tuple[Any, str]]) -> None:
    for ob, name in refs:
        if ob is not None:
            needed.setdefault(ob, {})
            if has_bone(ob, name):
                needed[ob].setdefault("matrix", {})[name] = None


def readers_of(
    recording: Recording, evaluated_of: Evaluated, original_of: Evaluated | None = None
) -> Callable[[int], None]:
    """What reads the ``i``-th frame of evaluated objects, as long as Blender does not make these anew. Numbers of
    channels are read where ``original_of`` says; without it, of evaluated objects, too."""
    channels_of = original_of or evaluated_of
    resolved = {ob: evaluated_of(ob).path_resolve("matrix_world", False).foreach_get for ob in recording.worlds}
    worlds = [(get, recording.worlds[ob]) for ob, get in resolved.items()]
    posed = [
        ((evaluated_of if name == "matrix" else channels_of)(ob).pose, name, read)
        for (ob, name), read in recording.read.items()
        if len(read.which)
    ]
    rigs = [(evaluated_of(rig.object).pose, rig) for rig in recording.rigs if rig.changing]

    def read_frame(i: int) -> None:
        for get, numbers in worlds:
            get(numbers[i])
        for pose, name, read in posed:
            pose.bones.foreach_get(name, read.buffer.ravel())
            read.buffer.take(read.which, axis=0, out=read.numbers[i, : len(read.which)])
        for pose, rig in rigs:
            for name, limb, bone in rig.changing:
                rig.sliders[name][i, limb] = storage.value_in(pose.bones[bone], settings.slider_of(name))

    return read_frame


def _new_read(ob: Any, name: str, bones: dict[str, None], count: int, is_sure: bool) -> RecordedProperty:
    everyone = {bone: i for i, bone in enumerate(ob.pose.bones.keys())}
    size = rotation.SIZES[name]
    animated = animation.animated_paths(ob) if is_sure and name != "matrix" else None
    changing = [bone for bone in bones if animated is None or f"{path_to_bone(bone)}.{name}" in animated]
    ordered = dict.fromkeys((*changing, *bones))
    numbers = np.empty((count, len(bones), size), np.float32)
    buffer = np.empty((len(everyone), size), np.float32)
    if len(changing) < len(bones):
        ob.pose.bones.foreach_get(name, buffer.ravel())
        numbers[:] = buffer[[everyone[bone] for bone in ordered]]
    which = np.array([everyone[bone] for bone in changing], int)
    return RecordedProperty({bone: i for i, bone in enumerate(ordered)}, which, numbers, buffer)


def _new_rig(ob: Any, limbs: list[Any], count: int, is_sure: bool) -> Rig:
    animated = animation.animated_paths(ob) if is_sure else set()
    sliders: dict[str, Array] = {}
    changing: list[tuple[str, int, str]] = []
    for slider in settings.every_slider():
        sliders[slider.name] = np.tile([float(storage.value_in(limb, slider)) for limb in limbs], (count, 1))
        for i, limb in enumerate(limbs):
            if slider.key in limb and (not is_sure or path_to_custom(limb.name, slider.key) in animated):
                changing.append((slider.name, i, limb.name))
    return Rig(
        object=ob,
        limbs=limbs,
        names=[limb.name for limb in limbs],
        table=table_of(limbs),
        sliders=sliders,
        changing=changing,
    )


# what was read


def worlds_of(recording: Recording, ob: Object) -> Matrices:
    """Where an object is, ``(frames, 4, 4)``."""
    return _matrices(recording.worlds[ob])


def poses_of(recording: Recording, ob: Object, bone: str) -> Matrices:
    """Where a bone is in its armature, ``(frames, 4, 4)``."""
    return _matrices(channel_of(recording, ob, bone, "matrix"))


def channel_of(recording: Recording, ob: Object, bone: str, name: str) -> Array:
    """A property of a bone, ``(frames, numbers)``."""
    read = recording.read[ob, name]
    return read.numbers[:, read.row[bone]].astype(float)


def matrices_of(recording: Recording, ref: tuple[Any, str]) -> Matrices:
    """Where an object, or a bone of it if one is named, is in the world, ``(frames, 4, 4)``."""
    ob, bone = ref
    worlds = worlds_of(recording, ob)
    return worlds @ poses_of(recording, ob, bone) if bone else worlds


def bones_in_world(recording: Recording, ob: Object, bones: Sequence[str]) -> Matrices:
    """Where bones of an armature are in the world, ``(bones, frames, 4, 4)``."""
    read = recording.read[ob, "matrix"]
    poses = _matrices(read.numbers[:, [read.row[bone] for bone in bones]]).reshape(len(read.numbers), -1, 4, 4)
    return np.moveaxis(worlds_of(recording, ob)[:, None] @ poses, 1, 0)


def places_of(recording: Recording, ob: Any, bone: str) -> Points:
    """Where an object, or the head of one of its bones, is in the world, ``(frames, 3)``."""
    return matrices_of(recording, (ob, bone))[:, :3, 3]


def own_turns_of(recording: Recording, ob: Object, bone: str) -> Quaternions:
    """How a bone is turned by its own channels, ``(frames, 4)``, w first."""
    mode = bones_of(ob)[bone].rotation_mode
    channels = channel_of(recording, ob, bone, rotation.rotation_channel(mode))
    return np.stack(rotation.to_quaternion(mode, [*channels.T], rotation.ARRAY_ANGLES), axis=-1)


def limb_frames(recording: Recording, rig: Rig) -> Matrices:
    """Where the frames G of limbs are in their armature, ``(frames, limbs, 4, 4)``."""
    parents = np.tile(np.eye(4), (recording.frames, len(rig.limbs), 1, 1))
    for row, limb in enumerate(rig.table.limbs):
        parent = rig.object.data.bones[limb.bones[0]].parent
        if parent:
            parents[:, row] = poses_of(recording, rig.object, parent.name)
    return solving.frames_below(rig.table, parents, _locations(recording, rig))


def _locations(recording: Recording, rig: Rig) -> Array | None:
    """The locations of limbs' first bones, ``(frames, limbs, 3)``; None where all are at 0."""
    locations = np.zeros((recording.frames, len(rig.limbs), 3))
    for row in rig.table.loose.tolist():
        locations[:, row] = channel_of(recording, rig.object, rig.table.limbs[row].bones[0], "location")
    return locations if locations.any() else None


def followed_places(recording: Recording, rig: Rig, which: int) -> Points:
    """Where targets (0) or poles (1) are in the world, ``(frames, limbs, 3)``; not a number where there is none."""
    places = np.full((recording.frames, len(rig.limbs), 3), np.nan)
    for row, limb in enumerate(rig.table.limbs):
        ob, bone = limb.follow.pairs[which]
        if ob is not None and (which == 0 or rig.table.is_poled[row]):
            places[:, row] = places_of(recording, ob, bone)
    return places


def own_limb_turns(recording: Recording, rig: Rig) -> Quaternions:
    """The bones' own (FK) rotations, ``(frames, limbs, segments, 4)``."""
    own = solving.at_rest((recording.frames, *rig.table.bones.shape))
    for row, limb in enumerate(rig.table.limbs):
        for k, name in enumerate(limb.bones):
            own[:, row, k] = own_turns_of(recording, rig.object, name)
    return own


def limbs_read(recording: Recording, rig: Rig) -> LimbsRead:
    """All of the limbs of a rig."""
    own_length = np.ones((recording.frames, len(rig.limbs)))
    for row, limb in enumerate(rig.limbs):
        if storage.has_slider(limb, "stretch"):
            own_length[:, row] = channel_of(recording, rig.object, rig.table.limbs[row].bones[0], "scale")[:, 1]
    return LimbsRead(
        rig=rig,
        frames=worlds_of(recording, rig.object)[:, None] @ limb_frames(recording, rig),
        sliders=rig.sliders,
        own=own_limb_turns(recording, rig),
        own_length=own_length,
        target=followed_places(recording, rig, 0),
        pole=followed_places(recording, rig, 1),
    )


def _matrices(columns: Array) -> Array:
    return columns.reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
