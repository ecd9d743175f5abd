"""Bake: what limbs do becomes keys on their bones, over a range of frames. They are in FK there afterwards, or gone."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..blender import editing, rotation, stepping, transaction
from ..blender.action_writer import ActionWriter
from ..blender.animation import animated_paths, driver_of, drivers_of
from ..blender.types import announce, can_edit_bones, path_to_bone, scene_of
from ..blender.words import Message, Refused
from ..finding.checking import check_editable
from ..limb.follow import check_posable
from ..limb.storage import bones_of_limb, group_of, path_to_slider, read_slider
from ..live import refresh
from ..motion import seen, writing
from ..motion.frames import around, ends_of, moved_by
from .games import bake_for_game
from .modes import STAYING, remove
from .status import frames_counted, limbs_counted

Array = NDArray[Any]

MOST_FRAMES = 1_000_000
"""How many frames one bake takes: eleven hours of film."""

NO_LIMB = "There is no limb to bake: add one with Pose ▸ Inverse Kinematics ▸ Planar IK"

SHEARED_BY_BLEND = "Between FK and IK '{bone}' is sheared, as keys can't be: it is a little different there"

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
        key_in_fk(context, baked, request.frames, request.new_action, not request.remove)
        notes += [Message(MUTED, bone=limb.name) for limb, _ in driven]
        notes += [Message(SHEARED_BY_BLEND, bone=limb.name) for limb in baked if limb.is_sheared]
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
) -> None:
    """Key limbs to be in FK over the frames as they were seen, maybe in a ``new_action``; what lies outside of these
    stays as it was. Influence gets keys only if it ``keeps_limbs``."""
    limbs = [one.limb for one in baked]
    kept = stepping.times_of(scene_of(context), ends_of(context, moved_by(limbs)))
    between = stepping.times_of(scene_of(context), [frames[0], frames[-1]])
    writers: dict[Any, ActionWriter] = {}
    for one in baked:
        influence = path_to_slider(one.name, "influence")
        writer = writers.get(one.object) or writers.setdefault(
            one.object, ActionWriter(context, one.object, new_action)
        )
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
            del group["aligned"]
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
            check_posable(limb)
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
