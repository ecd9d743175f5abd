"""Mirroring limbs to the other side of their rig."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Matrix
from numpy.typing import NDArray

from ..blender.animation import is_animated, value_at
from ..blender.dependencies import Dependencies
from ..blender.keying import Change, key_changes
from ..blender.rotation import ARRAY_ANGLES, rotation_channel, to_quaternion
from ..blender.stepping import Steps, Stepwise
from ..blender.transaction import transactional_steps
from ..blender.types import ArmatureObject, bones_of, can_edit_bones
from ..blender.words import Message
from ..limb.follow import check_undriven
from ..limb.names import other_side
from ..limb.rest_geometry import rest_geometry_of
from ..limb.settings import every_slider
from ..limb.storage import chain_bones, has_slider, segments_of
from ..limb.tips import foot_of
from ..motion.fk import part_of_fk, rotated_axes
from ..motion.frames import around, moved_by
from ..motion.ik import go_on, reader_of, turn_bone
from ..motion.parts import index_in_channel, part_of_ik, rotation_channel_of, slider_channel
from ..motion.passing import record
from ..motion.placing import ControlPlacing, owner_of, parents_of, place_controls
from ..motion.reading import Asked, Channel, Recording, Values, copied, matrices_of, worlds_of
from ..motion.thinning import sampling_of
from ..motion.writing import KeyedPart, Run, Task, Writing
from ..rigging.build import build
from ..rigging.description import describe
from ..rigging.features import live_for_now
from .mirrored import Image, Pair, check_there, image_of, images_of, images_there, matrix_across, pair_of

Array = NDArray[Any]


class Mirrored(NamedTuple):
    """Rigs with the names of both last bones, and warnings."""

    pairs: list[tuple[ArmatureObject, str, str]]
    warnings: list[Message]


@Stepwise
@transactional_steps
def mirror(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float] | None = None, tolerance: float = 0.0
) -> Steps[Mirrored]:
    """Give the other side of limbs what these have: settings and sliders, and targets, poles and bones that are posed
    as the mirror image of theirs, here and now, or in each of these frames with keys; limbs and controls are made where
    there are none. New limbs are on the rig where the first ones are. ``tolerance`` is how far joints may be off for
    the sake of fewer keys, in lengths of the limb. Raises `Refused`."""
    depsgraph, dependencies, pairs = context.evaluated_depsgraph_get(), Dependencies(), [*map(pair_of, limbs)]
    images = {pair.image: images_of(pair, depsgraph) for pair in pairs}
    descriptions = {pair.image: image_of(pair, images[pair.image], depsgraph, dependencies) for pair in pairs}
    others = around(context, moved_by(limb for pair in pairs for limb in pair.limbs)) if frames else None
    task, all_images = Task(context, frames, tolerance, keeps_others=others), [*chain.from_iterable(images.values())]
    warnings = list[Message]()
    sources = yield from read_sources(task, pairs, all_images)
    if all(can_edit_bones(pair.ob) for pair in pairs):
        modes = {pair.image: describe((pair.ob, pair.limb_name)).mode for pair in pairs}
        new = {
            limb: description
            for limb, description in descriptions.items()
            if (modes[limb], description.mode) == ("RIG", "LIVE")
        }
        on_rig, warnings = live_for_now(new, dependencies)
        build(context, descriptions | on_rig)
    else:
        for limb in descriptions:
            check_there(limb, images[limb])
    key_changes(context, (yield from show_mirrored(task, pairs, all_images, sources)))
    return Mirrored([pair[:3] for pair in pairs], warnings)


BESIDE_TURNS = ("location", "scale")


class Twin(NamedTuple):
    """A bone of a limb and its counterpart, by their names; what takes directions from the axes of one to those of the
    other, (3, 3); and how the first is turned: its rotation mode."""

    bone: str
    other: str
    across: Array
    mode: str


class Sources(NamedTuple):
    """What is mirrored: for each pair its bones, and what was read of all."""

    twins: list[list[Twin]]
    recording: Recording


def read_sources(task: Task, pairs: Sequence[Pair], images: Sequence[Image]) -> Steps[Sources]:
    """Read what is mirrored, in one pass."""
    twins = [_twins_of(pair) for pair in pairs]
    limbs, others = zip(*(pair.limbs for pair in pairs), strict=True)
    channels = [
        Channel.of_bone(pair.ob, twin.bone, path)
        for pair, of_pair in zip(pairs, twins, strict=True)
        for twin in of_pair
        for path in (*BESIDE_TURNS, rotation_channel(twin.mode))
    ]
    channels += [
        slider_channel(limb, slider.name)
        for limb in limbs
        for slider in every_slider()
        if has_slider(limb, slider.name)
    ]
    channels += [slider_channel(other, "influence") for other in others if has_slider(other, "influence")]
    refs = [ref for image in images for ref in (image.source, (image.source[0], ""), (image.pair.ob, ""))]
    sampling = sampling_of(task.frames)
    recording = yield from record(
        task.context, [], sampling, Asked(refs, channels=channels), progress=task.next_progress()
    )
    return Sources(twins, recording)


def _twins_of(pair: Pair) -> list[Twin]:
    """The bones of a limb, its foot and its toes, with their counterparts, from the root down."""
    limb, other = pair.limbs
    pairs = [*zip(chain_bones(limb), chain_bones(other, segments_of(limb)), strict=True)]
    foot, mirrored_foot = foot_of(limb), foot_of(other)
    if foot and mirrored_foot:
        below = [(toe, toe_across) for toe in foot.children if (toe_across := _child(mirrored_foot, toe.name))]
        pairs += [(foot, mirrored_foot), *below]
    return [Twin(one.name, two.name, _axes_across(pair, one, two), one.rotation_mode) for one, two in pairs]


def _child(foot: PoseBone, name: str) -> PoseBone | None:
    return next((toe for toe in foot.children if toe.name == other_side(name)), None)


def _axes_across(pair: Pair, one: PoseBone, two: PoseBone) -> Array:
    across: Any = one.bone.matrix_local.to_3x3().transposed() @ pair.across.to_3x3() @ two.bone.matrix_local.to_3x3()
    one_side, _, other_side_axes = np.linalg.svd(np.array(across).T)  # what is kept in single precision is no pure turn
    return np.asarray(one_side @ other_side_axes)


def show_mirrored(task: Task, pairs: Sequence[Pair], images: Sequence[Image], sources: Sources) -> Steps[list[Change]]:
    """Have the other limbs, which are made by now, show the image of what was read. Two passes. Raises `Refused` for
    what can't be moved there."""
    sampling, there = sampling_of(task.frames), {image.there: image for image in images_there(images)}
    others: Any = [pair.limbs[1] for pair in pairs]
    controls: Any = [*there]
    twins = [*zip(pairs, sources.twins, strict=True)]
    numbers = [_numbers_across(*of_pair, sources.recording) for of_pair in twins]
    placings = [_placing(image, sources.recording) for image in there.values()]
    placed = [channel for placing in placings for channel in placing.channels]
    rotations = [[rotation_channel_of((pair.ob, twin.other)) for twin in of_pair] for pair, of_pair in twins]
    channels_of = [[*of_limb, *turns, *placed] for of_limb, turns in zip(numbers, rotations, strict=True)]
    parts = [*chain.from_iterable(map(partial(_parts_of, task.tolerance), others, channels_of))]
    influences = [slider_channel(limb, "influence") for limb in others]
    channels = [channel for keyed_part in parts for channel in keyed_part.channels if channel not in influences]
    recording = yield from record(
        task.context,
        others,
        sampling,
        Asked(parents_of(controls), channels=channels, controls=controls),
        0.0,
        task.next_progress(),
    )
    before = copied(recording.channels)
    for channel in influences:  # which are not read as they are
        rows = sources.recording.channels.get(channel, [[value_at(channel.object, channel.path)]])
        before[channel] = np.array(np.broadcast_to(rows, (recording.frames, 1)), float)
    values = copied(before)
    keyed = {channel for channel in values if is_animated(channel.object, channel.path)}
    for limb, of_limb in zip(others, numbers, strict=True):
        _set_numbers(limb, of_limb, values)
    for pair, of_pair in twins:
        for twin in of_pair:
            turn_bone(values, bones_of(pair.ob)[twin.other], _turns_across(pair, twin, sources.recording), sampling)
    writing = Writing(task, before, [Run(sampling.rows, parts)], sampling.frames)
    reread = reader_of(task, recording, others, sampling, placings, writing, values)
    yield from place_controls(placings, recording, values, reread)
    go_on(placings, values, sampling, keyed)
    _look_at_ik(recording, values)
    return writing.finish(recording, values)


def _numbers_across(pair: Pair, twins: Sequence[Twin], recording: Recording) -> Values:
    """What the other limb's sliders have to say, and the location and scale of its bones."""
    other, numbers = pair.limbs[1], Values()
    for slider in every_slider():
        source, channel = (Channel.of_bone(pair.ob, last, slider.path) for last in (pair.limb_name, pair.other))
        if has_slider(other, slider.name) and source in recording.channels:
            numbers[channel] = recording.channels[source]
    for twin in twins:
        location, scale = (recording.channels[Channel.of_bone(pair.ob, twin.bone, path)] for path in BESIDE_TURNS)
        rows = location @ twin.across.T, 1.0 + (scale - 1.0) @ (twin.across**2).T
        for path, of_path in zip(BESIDE_TURNS, rows, strict=True):
            numbers[Channel.of_bone(pair.ob, twin.other, path)] = of_path
    return numbers


def _turns_across(pair: Pair, twin: Twin, recording: Recording) -> Array:
    """How the counterpart of a bone has to be turned by its own channels, (f, 4), w first."""
    rows = recording.channels[Channel.of_bone(pair.ob, twin.bone, rotation_channel(twin.mode))]
    turns = np.stack(np.broadcast_arrays(*to_quaternion(twin.mode, [*rows.T], ARRAY_ANGLES)), axis=-1)
    return np.concatenate((turns[:, :1], -turns[:, 1:] @ twin.across.T), axis=1)


def _placing(image: Image, recording: Recording) -> ControlPlacing:
    """Where the other limb's target or pole is to be over the frames."""
    ob, there = image.pair.ob, image.there  # type: Any, Any
    read = (matrices_of(recording, image.source), worlds_of(recording, ob), worlds_of(recording, image.source[0]))
    to_be = [matrix_across(image, *map(Matrix, rows)) for rows in zip(*(rows.tolist() for rows in read), strict=True)]
    places = np.array(to_be)
    size = sum(rest_geometry_of(image.pair.limbs[1]).lengths)
    sizes = size * np.cbrt(np.abs(np.linalg.det(read[1][:, :3, :3])))
    return ControlPlacing(there, there, places[:, :3, 3], sizes, places)


def _parts_of(tolerance: float, limb: PoseBone, channels: Sequence[Channel]) -> list[KeyedPart]:
    """What of a limb gets keys: what its joints depend on together, all else by itself."""
    size = sum(rest_geometry_of(limb).lengths)
    together = [part_of_ik(limb, tolerance=tolerance), part_of_fk(limb, tolerance)]
    return [*together, *(_part_of_channel(channel, size) for channel in channels)]


def _part_of_channel(channel: Channel, size: float) -> KeyedPart:
    """A channel by itself, next to the length of a limb."""
    owner = owner_of((channel.object, channel.bone))
    is_turn = channel.path.endswith(rotation_channel(owner.rotation_mode))

    def points(values: Values, _at: Array) -> list[Array]:
        if is_turn:
            return rotated_axes(owner.rotation_mode, values[channel], owner.length / size if channel.bone else 1.0)
        return [values[channel] / (size if channel.path.endswith("location") else 1.0)]

    return KeyedPart([channel], lambda _recording, _values: points)


def _set_numbers(limb: PoseBone, numbers: Values, values: Values) -> None:
    for slider in every_slider():
        channel = slider_channel(limb, slider.name)
        if channel in numbers and not np.array_equal(numbers[channel], values[channel]):
            check_undriven(limb, slider.name)
    for channel, rows in numbers.items():
        values[channel][:] = rows


def _look_at_ik(recording: Recording, values: Values) -> None:
    """Have limbs be looked at as IK poses them by what their sliders are to say."""
    for rig in recording.rigs:
        for row, limb in enumerate(rig.limbs):
            for slider in every_slider():
                channel = slider_channel(limb, slider.name)
                if channel in values and index_in_channel(slider.name) < values[channel].shape[1]:
                    rig.sliders[slider.name][:, row] = values[channel][:, index_in_channel(slider.name)]
            rig.sliders["influence"][:, row] = 1.0
