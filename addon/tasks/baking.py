"""Bake: what limbs do becomes keys on their bones, over a range of frames. They are in FK there afterwards, or gone.

For game engines, deforming bones, limbs and what these hang on move by keys of their own alone: a location, where they
are not connected to their parents, and a rotation on every frame, and scale 1. What moved them before is taken away
with limbs and cylinders; a bone that is connected to one that got longer is disconnected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import floor
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone

from ..blender import editing, rotation, stepping, transaction
from ..blender.action_writer import ActionWriter
from ..blender.animation import animated_paths, curves_everywhere, driver_of, drivers_of, value_at
from ..blender.types import (
    ArmatureObject,
    Message,
    Refused,
    announce,
    can_edit_bones,
    path_to_bone,
    scene_of,
    split_path,
)
from ..finding.checking import check_editable
from ..limb import follow, settings, solving, storage, tolerances, transforms
from ..limb.storage import bones_of_limb, group_of, keep, path_to_slider, read_slider
from ..live import refresh
from ..motion import parts, passing, seen, thinning, writing
from ..motion.fk import in_rotation_mode
from ..motion.frames import around, ends_of, moved_by
from ..motion.reading import Channel, Evaluated, Recording, Values, bones_to_read, new_recording, poses_of, readers_of
from ..solver.ops import Array
from . import cylinders, modes
from .modes import STAYING, remove
from .status import frames_counted, limbs_counted

MOST_FRAMES = 1_000_000
"""How many frames one bake takes: eleven hours of film."""

NO_LIMB = "There is no limb to bake: add one with Pose ▸ Inverse Kinematics ▸ Planar IK"

MUTED = "The driver of IK Influence of '{bone}' is muted now: keys say what it said"

DRIVEN = "A driver sets IK Influence of '{bone}': bake all frames, {first} to {last}, or have the bake remove its limb"


class BakeRequest(NamedTuple):
    """What to bake: the last bones of limbs, and the frames in order.

    ``tolerance``: how far knee and tip may be moved, in scene units, for the sake of fewer keys; 0 keys every frame.
    ``remove``: take the limbs away afterwards; else their influence is 0 over the frames. ``for_game``: leave a rig
    that moves by keys of its own alone. ``new_action``: into a copy of the rig's action. ``max_miss``: how far from its
    target a tip still counts as on it."""

    limbs: Sequence[PoseBone]
    frames: Sequence[float]
    tolerance: float = 0.0
    remove: bool = False
    for_game: bool = False
    new_action: bool = False
    max_miss: float | None = None


class BakedLimb(NamedTuple):
    """What became of one limb. ``method``: ``solved`` in a scene of its own, or ``played`` in the shot. ``unreached``
    counts frames at influence 1 in which the tip missed its target, ``miss`` is the farthest it did."""

    object: str
    limb: str
    mode: str
    method: str
    first: float
    last: float
    frames: int
    unreached: int
    miss: float | None
    keys: int


class BakeReport(NamedTuple):
    """The result of a bake; ``notes`` are sentences on what was left out."""

    frames: Sequence[float]
    limbs: list[BakedLimb]
    notes: list[Message]
    unreached: int

    @property
    def warnings(self) -> list[str]:
        """The notes in English."""
        return [str(note) for note in self.notes]

    @property
    def keys(self) -> int:
        """How many keys each curve has, of the limb that has the most."""
        return max((limb.keys for limb in self.limbs), default=0)

    @property
    def worst(self) -> float:
        """The farthest that a tip is from its target at influence 1, in scene units."""
        return max((limb.miss for limb in self.limbs if limb.miss is not None), default=0.0)

    @property
    def sentence(self) -> Message:
        """What became of it, in one sentence."""
        values: dict[str, Any] = {"frames": frames_counted(len(self.frames)), "limbs": limbs_counted(len(self.limbs))}
        values |= {"keys": self.keys}
        if not self.unreached:
            return Message("Baked {frames} of {limbs}, {keys} keys on a curve: every IK frame on target", **values)
        values |= {"unreached": frames_counted(self.unreached), "worst": f"{self.worst:.2g}"}
        return Message("Baked {frames} of {limbs}: {unreached} off target, by {worst} at most", **values)


def frames_by_step(start: float, end: float, step: float = 1.0) -> list[float]:
    """From one frame to another by steps; the end is always among them."""
    if end < start:
        raise Refused("The range ends at frame {end}, before it starts at {start}", start=f"{start:g}", end=f"{end:g}")
    count = 1 + floor((end - start) / step + 1e-6)
    if count > MOST_FRAMES:
        raise Refused("{count} frames are too many for one bake: give a shorter range", count=count)
    frames = [start + step * i for i in range(count)]
    return frames if frames[-1] > end - 1e-6 else [*frames, end]


@stepping.Stepwise
def bake(context: Context, request: BakeRequest) -> stepping.Steps[BakeReport]:
    """Turn what limbs do into keys, a step for each frame. Raises `Refused` before anything is changed."""
    limbs, notes = check_request(request)
    with transaction.all_or_nothing(context):
        announce(*(limb.id_data for limb in limbs))  # before frames are gone through
        if request.for_game:
            baked, more = yield from bake_for_game(context, limbs, request.frames, request.new_action)
            return _report_of(request, baked, [*notes, *more])
        driven = [] if request.remove else _driven(context, limbs, request.frames)
        frames = request.frames if request.remove else with_end(context, limbs, request.frames)
        baked = yield from seen.see_limbs(context, limbs, frames, request.tolerance)
        editing.mute_drivers(context, [curve for _, curve in driven])
        yield from key_in_fk(context, baked, request.frames, request.new_action, not request.remove)
        notes += [Message(MUTED, bone=limb.name) for limb, _ in driven]
        if request.remove:
            notes += _remove(context, baked)
    return _report_of(request, baked, notes)


# keys


def with_end(context: Context, limbs: Sequence[PoseBone], frames: Sequence[float]) -> list[float]:
    """Frames, and the one after them where limbs are in IK again: FK goes there as IK does. None, where it may show."""
    ends, influences = ends_of(context, moved_by(limbs)), [path_to_slider(limb.name, "influence") for limb in limbs]
    shows = any(path in animated_paths(limb.id_data) for limb, path in zip(limbs, influences, strict=True))
    shows |= any(read_slider(limb, "influence") < 1.0 for limb in limbs)
    return [*frames, frames[-1] + 1.0] if ends and ends[-1] >= frames[-1] + 1.0 and not shows else [*frames]


def key_in_fk(
    context: Context,
    baked: Sequence[seen.SeenLimb],
    frames: Sequence[float],
    new_action: bool = False,
    keeps_limbs: bool = True,
) -> stepping.Steps[None]:
    """Key limbs to be in FK over the frames as they were seen, maybe in a ``new_action``; what lies outside of these
    stays as it was. Influence gets keys only if it ``keeps_limbs``."""
    limbs = [one.limb for one in baked]
    kept = stepping.times_of(scene_of(context), ends_of(context, moved_by(limbs)))
    between = stepping.times_of(scene_of(context), [frames[0], frames[-1]])
    channels = [channel for one in baked for channel in (*one.values, parts.slider_channel(one.limb, "influence"))]
    said = yield from passing.said_by_strips(context, channels, frames)
    objects = dict.fromkeys(one.object for one in baked)
    writers = {ob: ActionWriter(context, ob, new_action, said.get(ob)) for ob in objects}
    for one in baked:
        influence, writer = path_to_slider(one.name, "influence"), writers[one.object]
        is_all_ik = influence not in writer.paths and one.influence[0] >= 1.0
        sides = () if is_all_ik else kept  # what FK is outside shows nowhere else
        for channel, numbers in one.values.items():
            slopes = one.slopes[channel].at(one.which) if channel in one.slopes else None
            after, before = (slopes.after, slopes.before) if slopes else (None, None)
            times, cuts = one.times[one.which], one.times[one.cuts]
            writer.write(channel.path, times, numbers[one.which], after, sides, before=before, cuts=cuts)
        if keeps_limbs:
            writer.set_between(influence, between, 0.0, one.influence[0], kept)
    for writer in writers.values():
        writer.show(context)


def _driven(context: Context, limbs: Sequence[PoseBone], frames: Sequence[float]) -> list[tuple[PoseBone, Any]]:
    """The limbs of which drivers set the influence, with these. Raises `Refused` where not all frames are baked:
    outside of these they would no longer say it."""
    drivers = [(limb, driver_of(limb.id_data, path_to_slider(limb.name, "influence"))) for limb in limbs]
    drivers = [(limb, curve) for limb, curve in drivers if curve and not curve.mute]
    for limb, _ in drivers:
        first, last = around(context, moved_by([limb]))
        if frames[0] > first or frames[-1] < last:
            raise Refused(DRIVEN, bone=limb.name, first=first, last=last)
    return drivers


def _remove(context: Context, baked: Sequence[seen.SeenLimb]) -> list[Message]:
    """Remove limbs that were baked. What bones inherit of scale stays, if it is keyed."""
    for one in baked:
        group = group_of(one.limb)
        if group and "aligned" in group and any(channel.path.endswith("scale") for channel in one.values):
            keep(one.limb, aligned=None)
    kept = remove(context, [one.limb for one in baked])
    refresh(context)
    return [Message(STAYING, names=", ".join(kept))] if kept else []


def _report_of(request: BakeRequest, baked: Sequence[seen.SeenLimb], notes: list[Message]) -> BakeReport:
    """What became of limbs, in plain numbers."""
    limbs, frames = [], request.frames
    for one in baked:
        misses, influence = (rows[one.asked[: len(frames)]] for rows in (one.misses, one.influence))
        misses = misses[influence >= 1.0]
        limbs.append(
            BakedLimb(
                object=one.object.name,
                limb=one.name,
                mode=one.mode,
                method=one.method,
                first=float(frames[0]),
                last=float(frames[-1]),
                frames=len(frames),
                unreached=int(one.is_missed(request.max_miss)[: len(frames)].sum()),
                miss=float(misses.max()) if len(misses) and np.isfinite(misses).all() else None,
                keys=len(one.which),
            )
        )
    unreached = np.any([one.is_missed(request.max_miss)[: len(frames)] for one in baked], axis=0)
    return BakeReport(frames, limbs, notes, int(unreached.sum()))


# what can be baked


def check_request(request: BakeRequest) -> tuple[list[PoseBone], list[Message]]:
    """The limbs that can be baked, and notes on those without a target. Raises `Refused`."""
    if not request.limbs or not len(request.frames):
        raise Refused(NO_LIMB)
    if request.for_game and request.tolerance > 0.0:
        raise Refused("For games every frame is keyed: leave out the tolerance")
    moved: dict[Any, tuple[set[str], set[str]]] = {}  # what of a rig is animated, and by drivers
    for ob in dict.fromkeys(limb.id_data for limb in request.limbs):
        writing.check_keys(ob)
        moved[ob] = animated_paths(ob), {curve.data_path for curve in drivers_of(ob) if not curve.mute}
    bakeable: list[PoseBone] = []
    notes: list[Message] = []
    refusal: Refused | None = None
    for limb in request.limbs:
        try:
            follow.check_posable(limb)
        except Refused as why:
            notes.append(why.message)
            refusal = why
            continue
        _check_bakeable(limb, request, *moved[limb.id_data])
        bakeable.append(limb)
    if refusal and not bakeable:
        raise refusal
    return bakeable, notes


def _check_bakeable(limb: PoseBone, request: BakeRequest, animated: set[str], driven: set[str]) -> None:
    """Refuse a limb whose keys would not pose it."""
    if request.for_game and not can_edit_bones(limb.id_data):
        template = (
            "'{rig}' is linked, so constraints and controls would stay, which games have not: make it local first"
        )
        raise Refused(template, rig=limb.id_data.name)
    if request.remove:
        check_editable(limb)
    for bone in bones_of_limb(limb):
        path = path_to_bone(bone.name)
        if f"{path}.rotation_mode" in animated:
            raise Refused("The rotation mode of '{bone}' is animated: remove its keys first", bone=bone.name)
        if any(f"{path}.{channel}" in driven for channel in (*rotation.ROTATION_SIZES, "rotation_mode", "scale")):
            raise Refused("A driver turns '{bone}': remove it before baking", bone=bone.name)
    if not request.for_game:
        seen.check_alone(limb)


APART = 2e-6
"""How far a connected bone may be from its parent's tail, in that one's lengths, and still count as there."""

LEFT_OVER = ("location", "rotation_", "scale", "constraints[", *(slider.path for slider in settings.every_slider()))
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
