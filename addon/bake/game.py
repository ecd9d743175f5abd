"""Baking for game engines: deforming bones, limbs and what these hang on move by keys of their own alone.

They get a location, where they are not connected to their parents, and a rotation on every frame, and scale 1. What
moved them before is taken away with the limbs; a bone that is connected to one that got longer is disconnected.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import nullcontext
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender.animation import all_curve_lists, drivers_of, strips_of, value_at
from ..blender.editing import edit_mode
from ..blender.rotation import rotation_channel
from ..blender.types import ArmatureObject, scene_of, split_path, takes_bones
from ..limb.home import bones_of_limb, limbs_of
from ..limb.settings import SLIDERS
from ..limb.tasks.removing import remove
from ..limb.words import Refused
from ..live import refresh
from .keys import Sheet, path_to_channel
from .recording import Evaluated, Recording, new_recording, poses_of, readers_of
from .request import Request
from .results import Course, bones_read, courses_of, written
from .stepping import shot, step_apart, time_now, times_of
from .transforms import carried, local, rotations, turns_and_scales, unscaled
from .way import Way, is_live

Array = NDArray[Any]

SCALED = 1e-4
"""How far from 1 the scale of a bone may be without being told."""

APART = 2e-6
"""How far a connected bone may be from its parent's tail, in that one's lengths, and still count as there."""


class Plain(NamedTuple):
    """A rig as an engine gets it: the channels of its bones over the frames, the bones that are to be disconnected,
    those whose scale is left out, and what strips do besides, by data path."""

    object: ArmatureObject
    names: list[str]
    channels: dict[tuple[str, str], Array]
    parted: list[str]
    scaled: list[str]
    besides: dict[str, list[Any]]


def bake_for_game(
    context: Context, lasts: list[PoseBone], request: Request, way: Way
) -> Generator[float, None, tuple[list[Course], list[Refused]]]:
    """Bake whole rigs; what limbs did, and notes on what was left out."""
    objects: list[Any] = list(dict.fromkeys(last.id_data for last in lasts))
    bones = {ob: _bones_for_game(ob) for ob in objects}
    besides: dict[Any, dict[str, list[Any]]] = {
        ob: {path: [] for path in _strip_paths(ob, bones[ob])} for ob in objects
    }
    is_apart = way.is_apart and not any(is_live(last) for ob in objects for last in limbs_of(ob))
    recording = new_recording(
        lasts, len(request.frames), lambda last: [*bones_read(last), *bones[last.id_data]], is_apart
    )

    def reading(evaluated_of: Evaluated) -> Callable[[int], None]:
        read = readers_of(recording, evaluated_of)
        there = [(evaluated_of(ob), path, values) for ob in objects for path, values in besides[ob].items()]

        def read_more(i: int) -> None:
            read(i)
            for evaluated, path, values in there:
                values.append(np.atleast_1d(np.array(value_at(evaluated, path), float)))

        return read_more

    with nullcontext(partial(step_apart, context)) if is_apart else shot(context, is_live=True) as step:
        yield from step(recording.worlds, request.frames, reading)
    plain = [_plain(recording, ob, bones[ob], besides[ob]) for ob in objects]
    courses = courses_of(recording, {})
    for each in plain:
        if each.parted and not takes_bones(each.object):
            raise Refused(
                "'{bone}' is connected to a bone that gets longer, and a game gets no scale: disconnect it in the file "
                "that '{object}' is linked from",
                bone=each.parted[0],
                object=each.object.name,
            )
    found = [courses[last.id_data, last.name] for last in lasts]
    times = times_of(scene_of(context), request.frames)
    remove(context, [last for ob in objects for last in limbs_of(ob)])
    for each in plain:
        _write(context, each, times, request.new_action)
    refresh(context)
    notes = [
        Refused(
            "The scale of '{bone}' in '{object}' is left out: games get it at 1", bone=name, object=each.object.name
        )
        for each in plain
        for name in each.scaled
    ]
    return found, notes


def _bones_for_game(ob: ArmatureObject) -> list[PoseBone]:
    """Deforming bones and limbs, with all that these hang on up to their roots, parents first."""
    limbs = {bone.name for last in limbs_of(ob) for bone in (*bones_of_limb(last), last)}
    wanted: set[str] = set()
    for bone in ob.pose.bones:
        if bone.bone.use_deform or bone.name in limbs:
            wanted.update(each.name for each in (bone, *bone.parent_recursive))
    found = [bone for bone in ob.pose.bones if bone.name in wanted]
    return sorted(found, key=lambda bone: len(bone.parent_recursive))


def _plain(recording: Recording, ob: Any, bones: list[PoseBone], besides: dict[str, list[Any]]) -> Plain:
    """The bones' own channels that put unscaled bones where they are, each on top of its parent's."""
    posed: dict[str, Array] = {}
    channels: dict[tuple[str, str], Array] = {}
    parted: list[str] = []
    scaled: list[str] = []
    for bone in bones:
        poses = poses_of(recording, ob, bone.name)
        wanted, (_, sizes) = unscaled(poses), turns_and_scales(poses)
        above = posed[bone.parent.name] if bone.parent else None
        own = local(bone.bone, above, wanted)
        place, turns = own[:, :3, 3].copy(), turns_and_scales(own)[0]
        if bone.bone.use_connect and np.abs(place).max() <= APART * bone.bone.parent.length:  # type: ignore[union-attr]
            place[:] = 0.0
        else:
            channels[bone.name, "location"] = place
            parted += [bone.name] if bone.bone.use_connect else []
        mode = bone.rotation_mode
        near = np.array([getattr(bone, rotation_channel(mode))[:]])
        channels[bone.name, rotation_channel(mode)] = written(mode, turns, near)
        made = rotations(turns)
        made[:, :3, 3] = place
        posed[bone.name] = carried(bone.bone, above, len(made)) @ made
        scaled += [bone.name] if np.abs(sizes - 1.0).max() > SCALED else []
    return Plain(ob, [bone.name for bone in bones], channels, parted, scaled, besides)


def _strip_paths(ob: Any, bones: list[PoseBone]) -> list[str]:
    """The data paths of numbers that NLA strips act on besides those of the bones that get keys."""
    data, names = ob.animation_data, {bone.name for bone in bones}
    if data is None or not data.use_nla:
        return []
    acting = [strip for strip in strips_of(ob) if not strip.mute and strip.action]
    lists = [curves for strip in acting for curves in all_curve_lists(strip.action, _slot(strip))]
    paths = sorted({curve.data_path for curves in lists for curve in curves})
    return [path for path in paths if not _is_left(path, names) and _is_number(value_at(ob, path))]


def _slot(strip: Any) -> int | None:
    return getattr(strip, "action_slot_handle", None)


def _is_number(value: Any) -> bool:
    values = value if isinstance(value, tuple) else (value,)
    return all(isinstance(each, int | float) for each in values)


def _write(context: Context, plain: Plain, times: Array, into_new: bool) -> None:
    """Give the bones their keys, and take away what moved them besides."""
    ob, names = plain.object, {*plain.names}
    if plain.parted:
        with edit_mode(context, ob):
            for name in plain.parted:
                ob.data.edit_bones[name].use_connect = False
    for name in names:
        bone = ob.pose.bones[name]
        while bone.constraints:
            bone.constraints.remove(bone.constraints[0])
        bone.scale = (1.0, 1.0, 1.0)
        if bone.bone.use_connect:
            bone.location = (0.0, 0.0, 0.0)
    sheet = Sheet(ob, time_now(scene_of(context)), into_new)
    data: Any = ob.animation_data
    data.use_nla = False
    for driver in [driver for driver in drivers_of(ob) if _is_left(driver.data_path, names)]:
        data.drivers.remove(driver)
    sheet.remove(path for path in sheet.paths if _is_left(path, names))
    for (name, channel), values in plain.channels.items():
        sheet.write(path_to_channel(name, channel), times, values)
    for path, rows in plain.besides.items():
        sheet.write(path, times, np.array(rows))
    sheet.show(context, time_now(scene_of(context)))


LEFT = ("location", "rotation_", "scale", "constraints[", *(f'["{slider.key}"]' for slider in SLIDERS))
"""How the data paths on a bone begin whose curves and drivers would be left over."""


def _is_left(path: str, names: set[str]) -> bool:
    bone, rest = split_path(path)
    return bone in names and rest.startswith(LEFT)
