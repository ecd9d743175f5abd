"""Nothing moves: what limbs do is read before, action by action, and looked at once more afterwards: whether every bone
that they move stands where it stood, in every frame, as whole matrices. What is off is done once more, by what Blender
shows instead of what curves say; what is still off then is told or refused by the verb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from math import radians
from typing import Any, NamedTuple

import numpy as np
from bpy.types import PoseBone

from ..blender.animation import Clip, curves_of, modifiers_of, using_clip
from ..blender.dependencies import BoneRef
from ..blender.stepping import Steps
from ..blender.types import Message, Refused, all_actions, scene_of
from ..limb.rest_geometry import rest_geometry
from ..limb.settings import BonesPerSegment
from ..limb.storage import chain_bones, is_mechanism_bone, segments_of
from ..limb.tips import length_of
from ..rigging.description import LimbRef, ref_of
from ..solver.ops import Array
from .frames import frames_of, is_posed_by_hand, moved_by
from .maps import differences
from .passing import posing_live, record
from .placing import controls_of, parents_of
from .reading import NOTHING, Asked, Recording, bones_in_world, bones_to_read, worlds_of
from .thinning import sampling_of
from .writing import Task

TOLD = (5e-3, radians(3.0), 1e-2)
"""By how much bones may be moved, in lengths of their limb, turned, in radians, and sized, in parts, before that is
said."""

CORRECTED = 0.02
"""The part of that from which on it is corrected, at least; more where a tolerance allows that."""

SAME = 0.25
"""The part of that by which IK and FK may differ where keys say both, as few as people want."""


class MovedBones(NamedTuple):
    """The bones that a limb moves, by their rig and names, and how long each is; and the length of the limb: in the
    armature's unit."""

    limb: LimbRef
    bones: list[BoneRef]
    lengths: Array  # (bones)
    size: float
    own: int  # how many of the bones, the first, are the limb's own

    def seen_in(self, recording: Recording) -> Array:
        """Where its bones were read to be in the world, (bones, frames, 4, 4)."""
        return bones_in_world(recording, self.limb[0], [name for _, name in self.bones])


class Miss(NamedTuple):
    """The bone of a limb that is farthest off, next to what is allowed, and in which frame: moved in lengths of the
    limb, turned in radians; and how many times as far as it may be."""

    bone: str
    frame: int
    moved: float
    turned: float
    share: float

    @property
    def message(self) -> Message:
        """What people are told."""
        template = "'{bone}' is not where it was in frame {frame}: by {moved} of the limb's length and {angle}°"
        values: Any = {"moved": f"{self.moved:.2g}", "angle": f"{np.degrees(self.turned):.1f}"}
        return Message(template, bone=self.bone, frame=self.frame, **values)


class Seen(NamedTuple):
    """By how much the bones of a limb are off where they were before, (3, bones, frames): moved, turned and sized as in
    `TOLD`; in which frames; and what was read of these now."""

    moving: MovedBones
    off: Array
    frames: Sequence[int]
    now: Recording

    def worst(self, allowed: Any = TOLD) -> Miss:
        """The worst next to what is ``allowed``: three numbers, or arrays as ``off``."""
        off = np.nan_to_num(self.off, nan=np.inf)
        shares = np.max([rows / most for rows, most in zip(off, allowed, strict=True)], axis=0)
        bone, row = (int(i) for i in np.unravel_index(shares.argmax(), shares.shape))
        moved, turned, _ = map(float, off[:, bone, row])
        return Miss(self.moving.bones[bone][1], self.frames[row], moved, turned, float(shares[bone, row]))


def moved_bones(limb: PoseBone, segments: BonesPerSegment | None = None) -> MovedBones:
    """All bones that a limb moves: its own and twist bones, foot, toes, fingers, whatever hangs on them. Of bones
    that are no limb yet, with these ``segments``; not what was made for limbs."""
    chain = chain_bones(limb, segments)
    below = [bone for bone in chain[0].children_recursive if bone not in chain and not is_mechanism_bone(bone.bone)]
    lengths = np.array([length_of(bone.bone) for bone in (*chain, *below)])
    size = sum(rest_geometry(limb, segments or segments_of(limb)).lengths)
    return MovedBones(ref_of(limb), [*map(ref_of, (*chain, *below))], lengths, size, len(chain))


class Played(NamedTuple):
    """What plays while limbs are seen: an action of a rig by one of its slots, or whatever animates them now."""

    owner: Any = None
    action: str = ""  # its full name, as one that is brought back is another data-block
    slot: int = 0

    @contextmanager
    def playing(self) -> Iterator[None]:
        """Within, that is what the rig uses."""
        named = (action for action in all_actions() if self.owner and action.name_full == self.action)
        action = next(named, None)
        with using_clip(self.owner, action and Clip(action, self.slot)):
            yield


def every_action(clips: Iterable[tuple[Any, Clip]]) -> list[Played]:
    """What animates limbs now, then each of these clips of their rigs."""
    return [Played(), *(Played(ob, clip.action.name_full, clip.slot_handle) for ob, clip in dict.fromkeys(clips))]


Limbs = Sequence[tuple[PoseBone, BonesPerSegment]]
"""Limbs, or bones that are to be some: their last bones and segments."""


class Sighting(NamedTuple):
    """What limbs did in the frames of a task before a verb, and halfway between these, while something was played."""

    played: Played
    task: Task
    moving: list[MovedBones]
    recording: Recording


def sight(
    task: Task, played: Played, limbs: Limbs, also: Asked = NOTHING, within: Callable[[], Any] = nullcontext
) -> Steps[Sighting]:
    """Read what limbs move in the frames of a task, in one pass, with what is asked ``also``: see `record`. Or in
    this frame as it stands."""
    moving, progress = [moved_bones(*limb) for limb in limbs], task.next_progress() if task.frames else float
    bones = [*also.bones, *(bone for limb in limbs for bone in bones_to_read(*limb))]
    asked = also._replace(refs=[*also.refs, *(ref for one in moving for ref in one.bones)], bones=bones)
    recording = yield from record(task.context, [], sampling_of(task.frames), asked, None, progress, within)
    return Sighting(played, task, moving, recording)


def keeping_shown(
    task: Task, limbs: Sequence[PoseBone], to: str, work: Callable[[Recording], Steps[Any]], is_halved: bool = True
) -> Steps[tuple[Any, list[Message]]]:
    """Do some work after which limbs are to show ``to`` ``IK`` or ``FK`` what the other one shows in a task's frames:
    ``work`` gets what was read of that, ``is_halved`` also halfway between frames. What it gives, and warnings of what
    is not where it was. Where keys show a single frame so already, it is not done, but for keys that are wanted."""
    moving, is_ik = [moved_bones(limb) for limb in limbs], to == "IK"
    refs = [*(ref for one in moving for ref in one.bones), *parents_of(controls_of(limbs))]
    asked = Asked(refs, [bone for limb in limbs for bone in bones_to_read(limb)])
    frames = sampling_of(task.frames) if is_halved else task.frames
    progress = task.next_progress() if task.frames else float
    with posing_live(task.context):
        before = yield from record(task.context, limbs, frames, asked, float(not is_ik), progress)
    curves = [curve for ob in {limb.id_data for limb in limbs} for curve in curves_of(ob)]
    if task.frames is None and curves and (not task.keys or any(map(modifiers_of, curves))):
        seen = yield from look(task, moving, before, float(is_ik))
        is_same, refs = all(one.worst().share <= SAME for one in seen.values()), moved_by(limbs)
        if is_same and frames_of(task.context, refs).at and not is_posed_by_hand(task.context, refs):
            return ([], []), []
    done, seen = yield from kept(task, lambda: work(before), lambda: look(task, moving, before, float(is_ik)))
    return done, told(task, seen)


def kept(
    task: Task, work: Callable[[], Steps[Any]], see: Callable[[], Steps[dict[LimbRef, Seen]]], sees_all: bool = True
) -> Steps[tuple[Any, dict[LimbRef, Seen]]]:
    """Do the work of a task, and see how far off is then what it moves. If that ``sees_all``, curves are trusted first,
    and the work is done once more, by what Blender shows, where something is off. What it gives, and what is seen in
    the end."""
    allowed = max(CORRECTED, 2.0 * task.tolerance / TOLD[0])
    for checks in (0, 1) if sees_all and task.frames else (task.checks,):
        task.checks = checks
        try:
            done, seen = (yield from work()), (yield from see())
        except Refused:
            if checks:
                raise
            continue
        if all(one.worst().share <= allowed for one in seen.values()):
            break
    return done, seen


def told(task: Task, seen: dict[LimbRef, Seen]) -> list[Message]:
    """Warnings of what is off by more than is told, or than the tolerance of a task."""
    allowed = np.multiply(TOLD, max(1.0, task.tolerance / TOLD[0]))
    return [miss.message for one in seen.values() if (miss := one.worst(allowed)).share > 1.0]


def look(
    task: Task, moving: Sequence[MovedBones], before: Recording, influence: float | None = None
) -> Steps[dict[LimbRef, Seen]]:
    """Look at all bones that limbs move in each frame of a task, in one pass, or in the frame that is shown: by how
    much they are off what was read ``before``, there and maybe halfway between. Limbs are at an ``influence`` if one is
    given, and live ones are posed."""
    limbs = [one.limb[0].pose.bones[one.limb[1]] for one in moving] if influence is not None else []
    refs, progress = [ref for one in moving for ref in one.bones], task.next_progress() if task.frames else float
    with posing_live(task.context):
        now = yield from record(task.context, limbs, task.frames, Asked(refs), influence, progress)
    rows = np.arange(now.frames) if before.frames == now.frames else sampling_of(task.frames).rows
    return {one.limb: compared(task, one, one.seen_in(before)[:, rows], now) for one in moving}


def compared(task: Task, moving: MovedBones, was: Array, now: Recording) -> Seen:
    """By how much the bones of a limb are off where they were to be, (bones, frames, 4, 4) in the world, in the frames
    of a task, which were read."""
    sizes = moving.size * np.cbrt(np.abs(np.linalg.det(worlds_of(now, moving.limb[0])[:, :3, :3])))
    frames = [*map(round, task.frames or [scene_of(task.context).frame_current])]
    return Seen(moving, differences(was, moving.seen_in(now), moving.lengths, sizes), frames, now)
