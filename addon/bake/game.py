"""Baking for game engines: deforming bones, limbs and their roots move by keys of their own alone, on every frame.

What an engine reads of a rig is the bones that deform and those that they hang on. These get a location, where they are
not connected to their parents, and a rotation on every frame, and scale 1. A bone that is connected to a lengthened
parent is disconnected, so that its head stays where it was. What moved the bones before is removed, with the chains.
"""

from __future__ import annotations

from collections.abc import Collection, Generator
from contextlib import suppress
from time import perf_counter
from typing import Any

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Matrix, Vector
from numpy.typing import NDArray

from ..live.channels import SIZES
from ..native.checking import is_out_of_reach
from ..native.convert import take_off
from ..native.switching import switch_all
from ..rig.anatomy import carried_by
from ..rig.data.access import (
    ArmatureObject,
    bones_of,
    dismiss,
    has_chain,
    runs_on_rig,
    scene_of,
    split_path,
    takes_bones,
    upper_of,
)
from ..rig.data.editing import edit_mode
from ..rig.data.rotation import rotation_channel, to_channels
from ..rig.kinds import Refused
from ..rig.settings import PREFIX
from ..rig.tasks.setup import remove_chain
from .acting import acting_on
from .continuity import continuous
from .job import Report, Request, bake
from .keys import Keys, Sheet
from .scope import curve_times
from .ways import part_of
from .ways.recording import BoneValues
from .ways.stepping import frame_kept, set_frame

SCALED = 1e-4
"""How far from 1 the scale of a bone may be without being told."""

LENGTHENED = 2e-6
"""How far from 1 it may be with what is connected to the bone staying where it is."""

LEFT = ("location", "rotation_", "scale", "constraints[", PREFIX, "planar_ik.")
"""How the data paths on a bone begin whose curves would be left over."""


def bake_for_game(context: Context, request: Request) -> Generator[float, None, Report]:
    """Bake as `bake` does, and whole rigs with the chains; yields the fraction done. Raises `Refused` before it changes
    anything.

    The rigs' other bones stay, with what moves them.
    """
    if request.keep or request.tolerance > 0.0:
        raise Refused("For games, chains are removed and every frame is keyed: leave out keep and tolerance")
    began = perf_counter()
    rigs = [_Rig(ob, len(request.frames)) for ob in {lower.id_data: None for lower in request.chains}]
    part = 1.0 / len(request.frames)
    yield from part_of(_check_connected(context, rigs, request.frames), 0.0, 0.2 * part)
    report: Report = yield from part_of(bake(context, request), 0.2, 0.4)
    yield from part_of(_record(context, rigs, request.frames), 0.6, 0.4 * part)
    for rig in rigs:
        rig.write(context, curve_times(scene_of(context), request.frames))
    warnings = tuple(warning for rig in rigs for warning in rig.warnings())
    return report._replace(seconds=perf_counter() - began, warnings=warnings)


def _check_connected(context: Context, rigs: list[_Rig], frames: NDArray[Any]) -> Generator[int, None, None]:
    """Raise `Refused` if a bone would have to be disconnected of a rig that takes no edits, as it is posed now."""
    fixed = [rig for rig in rigs if not takes_bones(rig.object)]
    if fixed:
        yield from _record(context, fixed, frames)
    for rig in fixed:
        for name in sorted(rig.connected_to_lengthened()):
            raise Refused(
                f"'{name}' of '{rig.object.name}' is connected to a bone that gets longer, and a game gets no scale: "
                "disconnect it in the file that the rig is linked from"
            )


def _record(context: Context, rigs: list[_Rig], frames: NDArray[Any]) -> Generator[int, None, None]:
    """Read where the bones of rigs are in every frame."""
    scene = scene_of(context)
    with frame_kept(scene):
        for i, frame in enumerate(frames.tolist()):
            set_frame(scene, frame)
            for rig in rigs:
                rig.record(i, context.evaluated_depsgraph_get())
            yield i + 1


class _Rig:
    """One armature's bones that a game gets, parents first, and where they are on every frame."""

    def __init__(self, ob: ArmatureObject, count: int) -> None:
        self.object = ob
        self._names = [bone.name for bone in _bones_for_game(ob)]
        self._poses = BoneValues(ob, "matrix", self._names, count)
        self._parted: set[str] = set()
        names = set(self._names)
        self._besides: dict[str, list[Any]] = {path: [] for path in _strip_paths(ob) if not _is_left(path, names)}
        """What strips do to the object itself and to bones that stay as they are, by data path, frame by frame."""

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        evaluated: Any = self.object.evaluated_get(depsgraph)
        self._poses.record(i, bones_of(evaluated))
        for path, values in self._besides.items():
            values.append(np.atleast_1d(np.array(evaluated.path_resolve(path), np.float32)))

    def write(self, context: Context, times: NDArray[Any]) -> None:
        """Give the bones their keys, and take away what moved them besides."""
        channels = self._channels()
        if self._parted:
            with edit_mode(context, self.object):
                for name in self._parted:
                    self.object.data.edit_bones[name].use_connect = False
        self._remove(context, [bone.name for bone in self.object.pose.bones if has_chain(bone)])
        names = set(self._names)
        _clear(self.object, names)
        sheet = Sheet(self.object, into_new=False)
        sheet.remove(lambda path: _is_left(path, names))
        for (name, channel), values in channels.items():
            sheet.write(name, channel, Keys(times, values))
        for path, numbers in self._besides.items():
            sheet.write_property(path, Keys(times, np.array(numbers[-len(times) :])))

    def _remove(self, context: Context, names: list[str]) -> None:
        """Remove chains; a library's mechanisms, which can't be taken away, are left switched off."""
        bones = self.object.pose.bones
        fixed = {name for name in names if runs_on_rig(bones[name]) and is_out_of_reach(bones[name])}
        switch_all([bones[name] for name in fixed], is_on=False)
        free = [name for name in names if name not in fixed]
        take_off(context, [bones[name] for name in free if runs_on_rig(bones[name])])
        for name in free:
            remove_chain(bones[name])

    def warnings(self) -> list[str]:
        """Sentences on what a game does not get."""
        is_scaled = self._off() > SCALED
        names = [name for name, is_one in zip(self._names, is_scaled, strict=True) if is_one]
        return [f"The scale of '{name}' in '{self.object.name}' is left out: games get it at 1" for name in names]

    def _off(self) -> NDArray[Any]:
        """How far each bone's scale is from 1 at most; 2 if it is mirrored."""
        poses = self._poses.values
        axes = poses.reshape(*poses.shape[:2], 4, 4)[:, :, :3, :3]
        rest = np.array([self.object.data.bones[name].matrix_local.to_3x3().transposed() for name in self._names])
        sizes = np.linalg.norm(axes, axis=-1) / np.linalg.norm(
            rest, axis=-1
        )  # Blender leans axes at rest by up to 1e-5.
        off = np.abs(sizes - 1.0).max(axis=(0, 2), initial=0.0)
        return np.where((np.linalg.det(axes) < 0.0).any(axis=0), 2.0, off)

    def connected_to_lengthened(self) -> set[str]:
        """The bones that are connected to a parent which loses its scale, and would move with the parent's tail."""
        lengthened = {name for name, off in zip(self._names, self._off(), strict=True) if off > LENGTHENED}
        bones = (self.object.data.bones[name] for name in self._names)
        return {bone.name for bone in bones if bone.use_connect and bone.parent and bone.parent.name in lengthened}

    def _channels(self) -> dict[tuple[str, str], NDArray[Any]]:
        """The bones' own channels that put unscaled bones where they are, each on top of its parent's."""
        poses = self._poses.values
        count = len(poses)
        self._parted = self.connected_to_lengthened()
        bones = [self.object.pose.bones[name] for name in self._names]
        found: dict[tuple[str, str], NDArray[Any]] = {}
        for bone in bones:
            if not bone.bone.use_connect or bone.name in self._parted:
                found[bone.name, "location"] = np.zeros((count, 3), np.float32)
            channel = rotation_channel(bone.rotation_mode)
            found[bone.name, channel] = np.zeros((count, SIZES[channel]), np.float32)
        for i in range(count):
            posed: dict[str, Matrix] = {}
            for bone, numbers in zip(bones, poses[i], strict=True):
                posed[bone.name] = _put(bone, Matrix(numbers.reshape(4, 4).T.tolist()), posed, found, i)
        for bone in bones:
            channel = rotation_channel(bone.rotation_mode)
            found[bone.name, channel] = continuous(bone.rotation_mode, found[bone.name, channel])
        return found


def _bones_for_game(ob: ArmatureObject) -> list[PoseBone]:
    """Deforming bones and limbs, with all that these hang on up to their roots, parents first."""
    wanted: set[str] = set()
    limbs = {each.name for bone in ob.pose.bones if has_chain(bone) and bone.parent for each in (bone, upper_of(bone))}
    for bone in ob.pose.bones:
        if bone.bone.use_deform or bone.name in limbs:
            wanted.update(each.name for each in (bone, *bone.parent_recursive))
    found = [bone for bone in ob.pose.bones if bone.name in wanted]
    return sorted(found, key=lambda bone: len(bone.parent_recursive))


def _put(
    bone: PoseBone, pose: Matrix, posed: dict[str, Matrix], found: dict[tuple[str, str], NDArray[Any]], i: int
) -> Matrix:
    """Set a bone's channels in one frame so that it is where ``pose`` has it, unscaled, and give where that puts it."""
    rest = bone.bone.matrix_local
    above = carried_by(bone, posed[bone.parent.name] if bone.parent else None)
    unscaled = Matrix.LocRotScale(pose.translation, pose.to_quaternion(), None)
    own: Any = bone.bone.convert_local_to_pose(unscaled, rest, invert=True, **above)
    turn = own.to_quaternion()
    numbers = found[bone.name, rotation_channel(bone.rotation_mode)]
    numbers[i] = to_channels(bone.rotation_mode, turn[:], numbers[i])
    place = Vector()
    if (bone.name, "location") in found:
        place = found[bone.name, "location"][i] = own.translation
    return bone.bone.convert_local_to_pose(Matrix.LocRotScale(place, turn, None), rest, **above)


def _strip_paths(ob: Any) -> list[str]:
    """The data paths of an object's numbers that NLA strips act on."""
    found = []
    for path in sorted(acting_on(ob).mixed):
        with suppress(ValueError, TypeError):  # of what is not there, or a choice
            np.array(ob.path_resolve(path), np.float32)
            found.append(path)
    return found


def _clear(ob: ArmatureObject, names: Collection[str]) -> None:
    """Take away what would move bones besides their keys: constraints, drivers, scale, NLA strips."""
    for bone in (ob.pose.bones[name] for name in names):
        for constraint in [*bone.constraints]:
            dismiss(bone, constraint)
        bone.scale = (1.0, 1.0, 1.0)
        if bone.bone.use_connect:
            bone.location = (0.0, 0.0, 0.0)
    data = ob.animation_data
    if data is None:
        return
    data.use_nla = False
    for driver in [*data.drivers]:
        if _is_left(driver.data_path, names):
            data.drivers.remove(driver)


def _is_left(path: str, names: Collection[str]) -> bool:
    """Whether a curve of some bones would be left over."""
    bone, rest = split_path(path)
    return bone in names and rest.startswith(LEFT)
