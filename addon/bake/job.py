"""A bake from beginning to end: check, gather, make continuous, reduce, measure, write."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cache
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone
from numpy.typing import NDArray

from ..live.channels import Channels
from ..native.switching import switch_all
from ..rig.data.access import path_to_bone, scene_of, upper_of
from ..rig.data.animation import animated_paths
from ..rig.kinds import Refused
from ..rig.legacy import take_over_paths
from ..rig.tasks.setup import check_parent
from .acting import acting_on
from .actions import check_writable
from .continuity import continuous
from .keeping import limbs_kept, own_channels, trial
from .keys import Keys, Sheet
from .reduction import every_frame, reduced
from .samples import Joints, Sampled, Track
from .scope import curve_times, switch
from .ways import find_joints, part_of, sample_chains, sample_ends
from .ways.stepping import frame_kept

NO_CHAIN = "There is no chain to bake: add one with Pose > Inverse Kinematics > Add Planar IK"

ATTEMPTS = 3
"""How often a reduction is tried, each at half the tolerance of the one before, until its measured error is in it."""

Written = list[list[tuple[Track, Keys]]]
"""For each chain, its channels and their keys."""


class NotPosed(Refused):
    """None of the chains can be posed in any frame."""


class Request(NamedTuple):
    """What to bake: the lower bones of chains and the frames, in order.

    ``into_new``: into a new action, a copy of the current one, instead of the current one. ``keep``: leave the chains
    on, in which case they go on to lengthen the bones themselves. ``tolerance``: how far knee and tip may be from where
    the chains put them, in scene units, for the sake of fewer keys; 0 keys every frame.
    """

    chains: list[PoseBone]
    frames: NDArray[Any]
    into_new: bool = False
    keep: bool = False
    tolerance: float = 0.0


class Played(NamedTuple):
    """The keys of one chain as Blender plays them: on how many frames there are any, how far knee or tip are at most
    from where the chain put them, and how far the tip is at most from its target, in scene units."""

    keys: int
    error: float
    residual: float


class Report(NamedTuple):
    """What became of a bake. ``skipped`` are chains that can't be posed; each says why, and gets no keys. ``played``
    tells of the keys of each of the others. ``warnings`` are sentences on what was left out besides."""

    frames: int
    chains: list[Sampled]
    skipped: list[Sampled]
    played: list[Played]
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def keys(self) -> int:
        """The number of frames keyed, of all chains together."""
        return sum(chain.keys for chain in self.played)

    @property
    def error(self) -> float:
        """The largest distance of a knee or tip from where its chain put it, in scene units."""
        return max(chain.error for chain in self.played)

    @property
    def unreached(self) -> int:
        """The number of frames in which a chain's tip does not come to its target."""
        return int(np.any([chain.misses for chain in self.chains], axis=0).sum())

    @property
    def residual(self) -> float:
        """The largest distance from a tip to its target, in scene units."""
        return max(chain.residual for chain in self.played)


def bake(context: Context, request: Request) -> Generator[float, None, Report]:
    """Bake step by step; yields the fraction done and returns the report. Raises `Refused` before it changes anything.

    Closing the generator before its end leaves the file as it was. Where that takes no stepping, the scene is not
    evaluated, not even with its new keys: Blender does that after an operator.
    """
    began = perf_counter()
    take_over_paths()
    check(request)
    share = 0.5 if request.tolerance > 0.0 else 1.0
    sampled = yield from part_of(sample_chains(context, request.chains, request.frames, may_try=True), 0.0, share)
    posed: list[Sampled] = []
    skipped: list[Sampled] = []
    for chain in sampled:
        (posed if chain.is_posed else skipped).append(chain)
    if not posed:
        raise NotPosed(next((chain.problem for chain in sampled if chain.problem), "No chain is on in any frame"))
    if request.keep:
        _check_unblended(posed)
    yield from part_of(sample_ends(context, posed, request.frames), share, 0.0)
    _make_ready(posed, request.keep)
    times = curve_times(scene_of(context), request.frames)
    written: Written = [every_frame(chain, times) for chain in posed]
    joints: Sequence[Joints | None] = [None] * len(posed)  # A key for each frame holds what was sampled.
    if request.tolerance > 0.0:
        with frame_kept(scene_of(context)), limbs_kept(scene_of(context)):
            written, joints = yield from _reduce(context, posed, request, times)
    _write(posed, written, request)
    if not request.keep:
        switch_all([chain.object.pose.bones[chain.lower] for chain in posed], is_on=False)
    played = [_played(*each) for each in zip(posed, written, joints, strict=True)]
    return Report(len(request.frames), posed, skipped, played, perf_counter() - began)


def finish(steps: Generator[float, None, Report]) -> Report:
    """Run a bake to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            report: Report = end.value
            return report


def check(request: Request) -> None:
    """Raise `Refused` if these chains can't be baked."""
    if not request.chains:
        raise Refused(NO_CHAIN)
    if request.keep and request.tolerance > 0.0:
        raise Refused("Fewer keys can only be measured with the chains switched off: set the tolerance to 0")
    check_writable(list({lower.id_data: None for lower in request.chains}), request.into_new)
    animated, besides = cache(animated_paths), cache(acting_on)
    for lower in request.chains:
        check_parent(lower)
        for bone in (lower, upper_of(lower)):
            if f"{path_to_bone(bone.name)}.rotation_mode" in animated(lower.id_data):
                raise Refused(f"The rotation mode of '{bone.name}' is animated: remove its keys first")
        ob, path = switch(lower)
        if not request.keep and path in besides(ob).others:
            raise Refused(f"A driver or NLA strip would switch the chain of '{lower.name}' on again: remove that first")


def _check_unblended(chains: list[Sampled]) -> None:
    """Raise `Refused` if a chain, kept on, would blend its solution with keys that have it already."""
    for chain in chains:
        if chain.is_blended:
            raise Refused(
                f"The influence of '{chain.lower}' is between 0 and 1, so that the chain, kept on, would pose the "
                "baked keys once more: switch it off, or set its influence to 0 or 1"
            )


def _make_ready(chains: list[Sampled], keep: bool) -> None:
    """Make rotations continuous; a chain that is kept lengthens its bones itself, so that their scale gets no keys."""
    for chain in chains:
        if keep:
            chain.tracks = [track for track in chain.tracks if track.mode]
        for track in (*chain.tracks, *chain.ends):
            if track.mode:
                track.values = continuous(track.mode, track.values)


def _reduce(
    context: Context, chains: list[Sampled], request: Request, times: NDArray[Any]
) -> Generator[float, None, tuple[Written, list[Joints]]]:
    """The fewest keys found that are within the tolerance as Blender plays them, else all; and where they put the
    joints. A chain that misses is tried again, with those that carry it; at last with a key in every frame, and where
    that does not help, all chains so, unless that does not help either."""
    written: Written = [[] for _ in chains]
    found: list[Joints] = []
    allowed = [request.tolerance] * len(chains)
    tried = list(range(len(chains)))
    lowers = [chain.object.pose.bones[chain.lower] for chain in chains]
    for attempt in range(ATTEMPTS + 2):
        for i in tried:
            written[i] = reduced(chains[i], times, allowed[i]) if attempt < ATTEMPTS else every_frame(chains[i], times)
        with trial(chains):
            _write(chains, written, request._replace(into_new=True))
            found = yield from part_of(find_joints(context, lowers, request.frames), 0.5, 0.5)
        errors = [chain.joints.farthest(joints) for chain, joints in zip(chains, found, strict=True)]
        missed = [i for i, error in enumerate(errors) if error > request.tolerance]
        if not missed or (attempt == ATTEMPTS and len(tried) == len(chains)):
            break
        if attempt == ATTEMPTS:
            fewer = [*written], found, missed
        elif attempt > ATTEMPTS and missed == fewer[2]:  # by the rounding of keys
            return fewer[:2]
        carriers = {bone.name for i in missed for bone in lowers[i].parent_recursive}
        tried = [i for i, chain in enumerate(chains) if i in missed or chain.lower in carriers]
        if attempt == ATTEMPTS:  # what hangs on another in any other way
            tried = list(range(len(chains)))
        for i in tried:
            allowed[i] *= 0.5
    return written, found


def _played(chain: Sampled, written: list[tuple[Track, Keys]], joints: Joints | None) -> Played:
    """What its keys do that put the joints there, or where the chain put them."""
    _, keys = written[0]  # All channels of a chain share their frames.
    if joints is None:
        return Played(len(keys.frames), 0.0, chain.worst_residual())
    return Played(len(keys.frames), chain.joints.farthest(joints), chain.worst_residual(joints.tip))


def _write(chains: list[Sampled], written: Written, request: Request) -> None:
    """Write the keys, and let bones that they lengthen do so without shear, as the chains do."""
    sheet_of, animated = cache(lambda ob: Sheet(ob, request.into_new)), cache(animated_paths)
    for chain, tracks in zip(chains, written, strict=True):
        sheet = sheet_of(chain.object)
        lower = chain.object.pose.bones[chain.lower]
        own = own_channels(lower, Channels(chain.object)) if request.tolerance > 0.0 else {}
        for track, keys in tracks:
            sheet.write(track.bone, track.channel, keys, own.get((track.bone, track.channel), ()))
        ob, path = switch(lower)
        if not request.keep and path in animated(ob):
            sheet_of(ob).mute(path)
