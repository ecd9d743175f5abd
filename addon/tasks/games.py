"""Baking for game engines: deforming bones, limbs and what these hang on move by keys of their own alone.

They get a location, where they are not connected to their parents, and a rotation on every frame, and scale 1. What
moved them before is taken away with limbs and cylinders; a bone that is connected to one that got longer is
disconnected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender import editing, rotation, stepping
from ..blender.action_writer import ActionWriter
from ..blender.animation import curves_everywhere, drivers_of, value_at
from ..blender.types import ArmatureObject, scene_of, split_path
from ..blender.words import Message, Refused
from ..limb import solving, storage, tolerances, transforms
from ..limb.settings import every_slider
from ..live import refresh
from ..motion import passing, seen, thinning
from ..motion.fk import in_rotation_mode
from ..motion.reading import Channel, Evaluated, Recording, Values, bones_to_read, new_recording, poses_of, readers_of
from . import cylinders, modes

Array = NDArray[Any]


APART = 2e-6
"""How far a connected bone may be from its parent's tail, in that one's lengths, and still count as there."""

LEFT_OVER = ("location", "rotation_", "scale", "constraints[", *(slider.path for slider in every_slider()))
"""How the data paths on a bone begin whose curves and drivers would be left over."""


class GameRig(NamedTuple):
    """A rig as an engine gets it: its bones, their channels over the frames, and the names of those that are to be
    disconnected and of those whose scale is left out."""

    object: ArmatureObject
    names: set[str]
    values: Values
    parted: list[str]
    scaled: list[str]


def bake_for_game(
    context: Context, limbs: list[PoseBone], frames: Sequence[float], new_action: bool
) -> stepping.Steps[tuple[list[seen.SeenLimb], list[Message]]]:
    """Bake whole rigs; what limbs did, and notes on what was left out."""
    objects: list[Any] = list(dict.fromkeys(limb.id_data for limb in limbs))
    bones = {ob: _bones_for_game(ob) for ob in objects}
    besides = {ob: _besides(ob, bones[ob]) for ob in objects}
    method = seen.method_of(limbs)
    has_live = any(storage.mode_of(limb) == "LIVE" for ob in objects for limb in storage.limbs_of(ob))
    method = method._replace(is_apart=method.is_apart and not has_live, is_solved=False, is_live=True)
    of_limb: Any = lambda limb: [*bones_to_read(limb), *bones[limb.id_data]]  # noqa: E731
    recording = new_recording(limbs, frames, of_limb, method.is_apart)
    reading = partial(_reader_of, recording, besides)
    yield from passing.play(context, recording.worlds, frames, reading, method.is_apart, True)
    plain, times = [_plain(recording, ob, bones[ob]) for ob in objects], stepping.times_of(scene_of(context), frames)
    for rig in plain:
        if rig.scaled and solving.is_uneven(np.array(rig.object.matrix_world)):
            raise Refused(solving.UNEVEN, object=rig.object.name, bone=rig.scaled[0])
    baked = seen.limbs_of_recording(recording, method, times, np.arange(len(times)), 0.0)
    modes.remove(context, [limb for ob in objects for limb in storage.limbs_of(ob)])
    for rig in plain:
        cylinders.remove_cylinders(context, rig.object)
        _clear(context, rig)
        _write(ActionWriter(context, rig.object, new_action), rig, besides[rig.object], times).show(context)
    refresh(context)
    left_out = "The scale of '{bone}' in '{object}' is left out: games get it at 1"
    return baked, [Message(left_out, bone=name, object=rig.object.name) for rig in plain for name in rig.scaled]


def _reader_of(
    recording: Recording, besides: dict[Any, dict[str, list[Any]]], evaluated_of: Evaluated
) -> Callable[[int], None]:
    """Reads one frame of limbs and bones, and what is animated besides."""
    read = readers_of(recording, evaluated_of)

    def read_more(i: int) -> None:
        read(i)
        for ob, paths in besides.items():
            for path, values in paths.items():
                values.append(np.atleast_1d(np.array(value_at(evaluated_of(ob), path), float)))

    return read_more


def _write(writer: ActionWriter, rig: GameRig, besides: dict[str, list[Any]], times: Any) -> ActionWriter:
    """Key a rig, in place of what its bones had."""
    writer.remove(path for path in writer.paths if _is_left_over(path, rig.names))
    numbers_of = {channel.path: numbers for channel, numbers in rig.values.items()}
    numbers_of |= {path: np.array(rows) for path, rows in besides.items() if value_at(rig.object, path) is not None}
    inner = np.arange(1, len(times) - 2)
    for path, numbers in numbers_of.items():  # without controls that are gone
        writer.write(path, times, numbers, cuts=times[inner[thinning.jumping(numbers, inner)]])
    return writer


def _bones_for_game(ob: ArmatureObject) -> list[PoseBone]:
    """Deforming bones and limbs, with all that these hang on up to their roots, parents first."""
    limbs = {bone for limb in storage.limbs_of(ob) for bone in storage.chain_bones(limb)}
    deforming = [bone for bone in ob.pose.bones if bone.bone.use_deform or bone in limbs]
    needed = dict.fromkeys(above for bone in deforming for above in (bone, *bone.parent_recursive))
    return sorted(needed, key=lambda bone: len(bone.parent_recursive))


def _plain(recording: Recording, ob: Any, bones: list[PoseBone]) -> GameRig:
    """Give the own channels that put bones where they are without scale, each on top of its parent's, or refuse."""
    posed: dict[str, Array] = {}
    plain = GameRig(ob, {bone.name for bone in bones}, Values(), [], [])
    for bone in bones:
        poses, sizes = transforms.rigid(poses_of(recording, ob, bone.name))
        above = posed[bone.parent.name] if bone.parent else None
        own, _ = transforms.rigid(transforms.own_transforms(bone.bone, above, poses))
        place, mode, channel = own[:, :3, 3], bone.rotation_mode, rotation.rotation_channel(bone.rotation_mode)
        if bone.bone.use_connect and np.abs(place).max() <= APART * bone.bone.parent.length:  # type: ignore[union-attr]
            place[:] = 0.0
        else:
            plain.values[Channel.of_bone(ob, bone.name, "location")] = place
            plain.parted.extend([bone.name] if bone.bone.use_connect else [])
        near = np.array([getattr(bone, channel)[:]])
        plain.values[Channel.of_bone(ob, bone.name, channel)] = in_rotation_mode(mode, transforms.turns_of(own), near)
        posed[bone.name] = transforms.unposed(bone.bone, above) @ own
        plain.scaled.extend([bone.name] if np.abs(sizes - 1.0).max() > tolerances.UNSEEN else [])
    return plain


def _besides(ob: Any, bones: list[PoseBone]) -> dict[str, list[Any]]:
    """Room for what animates a rig besides those bones that get keys, by data path, if strips of the NLA do."""
    data, names = ob.animation_data, {bone.name for bone in bones}
    if not (data and data.use_nla and data.nla_tracks):
        return {}
    paths = sorted({curve.data_path for curve in curves_everywhere(ob)})
    return {path: [] for path in paths if not _is_left_over(path, names) and _is_number(value_at(ob, path))}


def _is_number(value: Any) -> bool:
    return all(isinstance(number, int | float) for number in (value if isinstance(value, tuple) else (value,)))


def _clear(context: Context, plain: GameRig) -> None:
    """Take away what moved the bones besides their keys."""
    ob = plain.object
    if plain.parted:
        with editing.edit_mode(context, ob):
            for name in plain.parted:
                ob.data.edit_bones[name].use_connect = False
    for bone in (ob.pose.bones[name] for name in plain.names):
        while bone.constraints:
            bone.constraints.remove(bone.constraints[0])
        bone.scale = (1.0, 1.0, 1.0)
        bone.location = (0.0, 0.0, 0.0)
    if data := ob.animation_data:
        data.use_nla = False
        for driver in [driver for driver in drivers_of(ob) if _is_left_over(driver.data_path, plain.names)]:
            data.drivers.remove(driver)


def _is_left_over(path: str, names: set[str]) -> bool:
    bone, rest = split_path(path)
    return bone in names and rest.startswith(LEFT_OVER)
