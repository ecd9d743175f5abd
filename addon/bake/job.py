"""A bake from beginning to end: check, gather, make continuous, write, measure."""

from __future__ import annotations

from collections.abc import Generator
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Object, PoseBone

from ..rig.animation import animated_paths
from ..rig.setup import Refused
from .continuity import continuous
from .keys import Keys, Sheet, check_writable
from .samples import Sampled
from .scenery import bone_path, switch
from .stepping import frame_kept, step_live

Steps = Generator[float, None, Any]


class Request(NamedTuple):
    """What to bake: the lower bones of chains and the frames, in order.

    ``into_new``: into a new action, a copy of the current one, instead of the current one. ``keep``: leave the chains
    on, in which case they go on to lengthen the bones themselves. ``tolerance``: how far knee and tip may be from where
    the chains put them, in scene units, for the sake of fewer keys; 0 keys every frame.
    """

    chains: list[PoseBone]
    frames: np.ndarray
    into_new: bool = False
    keep: bool = False
    tolerance: float = 0.0


class Report(NamedTuple):
    """What became of a bake. ``skipped`` are chains that can't be posed; each says why, and gets no keys."""

    frames: int
    chains: list[Sampled]
    skipped: list[Sampled]
    seconds: float

    @property
    def unreached(self) -> int:
        """The number of frames in which any tip does not come to its target."""
        return max((chain.unreached for chain in self.chains), default=0)

    @property
    def residual(self) -> float:
        """The largest distance from a tip to its target, in scene units."""
        return max((chain.worst_residual for chain in self.chains), default=0.0)


def bake(context: Context, request: Request) -> Generator[float, None, Report]:
    """Bake step by step; yields the fraction done and returns the report. Raises `Refused` before it changes anything.

    Closing the generator before its end leaves the file as it was.
    """
    began = perf_counter()
    if not request.chains:
        raise Refused("There is no chain to bake: add one with Pose > Inverse Kinematics > Add Planar IK")
    check(request)
    with frame_kept(context.scene):
        sampled = yield from _fractions(step_live(context, request.chains, request.frames), len(request.frames))
        posed = [chain for chain in sampled if chain.is_posed]
        if not posed:
            raise Refused(next((chain.problem for chain in sampled if chain.problem), "No chain is on in any frame"))
        _write(posed, request)
    skipped = [chain for chain in sampled if not chain.is_posed]
    return Report(len(request.frames), posed, skipped, perf_counter() - began)


def finish(steps: Generator[float, None, Report]) -> Report:
    """Run a bake to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def check(request: Request) -> None:
    """Raise `Refused` if these chains can't be baked."""
    check_writable(_objects(request.chains), request.into_new)
    for lower in request.chains:
        paths = animated_paths(lower.id_data)
        for bone in (lower, lower.parent):
            if f"{bone_path(bone.name)}.rotation_mode" in paths:
                raise Refused(f"The rotation mode of '{bone.name}' is animated: remove its keys first")


def _fractions(steps: Generator[int, None, Any], total: int) -> Steps:
    while True:
        try:
            yield next(steps) / total
        except StopIteration as end:
            return end.value


def _write(chains: list[Sampled], request: Request) -> None:
    sheets: dict[Object, Sheet] = {}
    first, last = float(request.frames[0]), float(request.frames[-1])
    for chain in chains:
        sheet = sheets.get(chain.object) or sheets.setdefault(chain.object, Sheet(chain.object, request.into_new))
        for track in chain.tracks:
            if track.mode or not request.keep:
                values = continuous(track.mode, track.values) if track.mode else track.values
                sheet.write(track.bone, track.channel, Keys(request.frames, values), first, last)
        if not request.keep:
            lower = chain.object.pose.bones[chain.lower]
            sheet.mute(switch(lower))
            lower.planar_ik.enabled = False


def _objects(chains: list[PoseBone]) -> list[Object]:
    return list({lower.id_data: None for lower in chains})
