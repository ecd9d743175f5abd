"""What is asked of a bake, which of it is refused, and what is reported of it afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import floor
from typing import Any, NamedTuple

from bpy.types import PoseBone

from ..blender.animation import animated_paths, drivers_of
from ..blender.rotation import ROTATION_SIZES
from ..blender.types import path_to_bone
from ..blender.words import Message, Refused
from ..finding.checking import check_editable
from ..limb.follow import check_posable
from ..limb.storage import bones_of_limb
from ..poses.writing import check_keys
from ..tasks.limbs import frames_counted, limbs_counted
from .method import is_live_limb, strange_constraints

MOST_FRAMES = 1_000_000
"""How many frames one bake takes: eleven hours of film."""

NO_LIMB = "There is no limb to bake: add one with Pose ▸ Inverse Kinematics ▸ Planar IK"


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
    """What became of one limb. ``method``: ``solved`` by arrays, or ``played`` in the shot. ``unreached`` counts frames
    at influence 1 in which the tip missed its target, ``miss`` is the farthest it did, ``deviation`` how far fewer keys
    moved a joint at most."""

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
    deviation: float


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
    if not step > 0.0:
        raise Refused("The step has to be above zero: 1 for every frame, 0.5 for every half frame")
    if end < start:
        raise Refused("The range ends at frame {end}, before it starts at {start}", start=f"{start:g}", end=f"{end:g}")
    count = 1 + floor((end - start) / step + 1e-6)
    if count > MOST_FRAMES:
        raise Refused("{count} frames are too many for one bake: give a shorter range", count=count)
    frames = [start + step * i for i in range(count)]
    return frames if frames[-1] > end - 1e-6 else [*frames, end]


def with_halfway_frames(frames: Sequence[float]) -> list[float]:
    """Frames, and those halfway between: every other one is one of them."""
    middles = [(before + after) / 2.0 for before, after in pairwise(frames)]
    return [frame for pair in zip(frames, [*middles, 0.0], strict=True) for frame in pair][:-1]


def check_request(request: BakeRequest) -> tuple[list[PoseBone], list[Message]]:
    """The limbs that can be baked, and notes on those without a target. Raises `Refused`."""
    if not request.limbs or not len(request.frames):
        raise Refused(NO_LIMB)
    if request.for_game and request.tolerance > 0.0:
        raise Refused("For games every frame is keyed: leave out the tolerance")
    moved: dict[Any, tuple[set[str], set[str]]] = {}  # what of a rig is animated, and by drivers
    for ob in dict.fromkeys(limb.id_data for limb in request.limbs):
        check_keys(ob)
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
    if request.remove or request.for_game:
        check_editable(limb)
    for bone in bones_of_limb(limb):
        path = path_to_bone(bone.name)
        if f"{path}.rotation_mode" in animated:
            raise Refused("The rotation mode of '{bone}' is animated: remove its keys first", bone=bone.name)
        if any(f"{path}.{channel}" in driven for channel in (*ROTATION_SIZES, "rotation_mode", "scale")):
            raise Refused("A driver turns '{bone}': remove it before baking", bone=bone.name)
    if not request.for_game and not is_live_limb(limb) and (others := strange_constraints(limb)):
        names = {"constraint": others[0].name, "bone": limb.name}
        raise Refused("'{constraint}' would move '{bone}' once more after the bake: mute it, or take it away", **names)
