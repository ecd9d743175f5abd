"""Whether what arrays tell of chains is what plays, though somebody's handlers run as frames change.

The frames are played with the keys that a bake would write. Where all targets and poles are then where arrays had them,
the limbs too, and nobody sets a chain meanwhile, it does not matter what else handlers do, and what they look at.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import Any

import numpy as np
from bpy.types import Context
from numpy.typing import NDArray

from ...live.places import Positions
from ...rig import status
from ...rig.chain_settings import on_change
from ...rig.data.access import scene_of
from ..keeping import trial
from ..keys import Keys, Sheet
from ..samples import Sampled
from ..scope import curve_times
from .recording import Recorder
from .results import Solved
from .stepping import by_object, frame_kept, live_as, set_frame


def plays(context: Context, solved: list[Solved | None], frames: NDArray[Any]) -> Generator[int, None, bool]:
    """Whether chains do what was solved when the keys of that play; yields the frames done. Keys would hide what
    handlers make of bones' own rotation and scale: where a chain needs these, it is not tried."""
    chains = [each for each in solved if each and each.is_known.all() and _is_seen(each)]
    if len(chains) < len(solved):
        return False
    scene, samples = scene_of(context), [each.sample for each in chains]
    goals = _Goals(chains)
    lowers = [each.subject.bones[1] for each in chains]
    recorders = [Recorder(each, len(frames)) for each in by_object(lowers)]
    with frame_kept(scene), live_as(scene, False), ExitStack() as stack:
        set_frame(scene, float(frames[0]))
        if not goals.are_there(0, context.evaluated_depsgraph_get()):  # before keys are written for nothing
            return False
        stack.enter_context(trial(samples))
        _write(samples, curve_times(scene, frames))
        changes = stack.enter_context(_changes_noted())
        for i, frame in enumerate(frames.tolist()):
            set_frame(scene, frame)
            depsgraph = context.evaluated_depsgraph_get()
            if changes or not goals.are_there(i, depsgraph):
                return False
            for recorder in recorders:
                recorder.record(i, depsgraph)
            yield i + 1
    return all(_is_played(recorder, samples) for recorder in recorders)


class _Goals:
    """The targets and poles of chains, and where arrays have them."""

    def __init__(self, chains: list[Solved]) -> None:
        has_pole = [each for each in chains if each.pole is not None]
        pairs: list[Any] = [(each.subject.target, each.sample.joints.tip - each.sample.gap) for each in chains]
        pairs += [(each.subject.pole, each.pole) for each in has_pole]
        self._positions = Positions([goal for goal, _ in pairs])
        self._wanted = np.stack([places for _, places in pairs], axis=2)
        length = np.array([sum(bone.bone.length for bone in each.subject.bones) for each in chains + has_pole])
        self._allowed = status.allowed(length, np.linalg.norm(self._wanted, axis=1).max(axis=0))

    def are_there(self, i: int, depsgraph: Any) -> bool:
        """Whether they are in the ``i``-th frame, as it is evaluated."""
        off = np.linalg.norm(self._positions.read(depsgraph) - self._wanted[i], axis=0)
        return bool((off <= self._allowed).all())


def _is_seen(chain: Solved) -> bool:
    """Whether all that a chain takes from the rig shows in where its joints are when its keys play."""
    subject = chain.subject
    is_lengthened = subject.settings["stretch"] > 0.0 or "stretch" in subject.moving
    return not (subject.needs_own or is_lengthened)


@contextmanager
def _changes_noted() -> Iterator[list[Any]]:
    """The chains of which somebody sets a setting meanwhile."""
    found: list[Any] = []

    def note(changed: Any, _is_aim: bool) -> None:
        found.append(changed)

    on_change.append(note)
    try:
        yield found
    finally:
        on_change.remove(note)


def _write(samples: list[Sampled], times: NDArray[Any]) -> None:
    """Write keys for each frame into copies of the actions."""
    sheet_of = cache(lambda ob: Sheet(ob, into_new=True))
    for sample in samples:
        for track in sample.tracks:
            if track.mode:
                sheet_of(sample.object).write(track.bone, track.channel, Keys(times, track.values))


def _is_played(recorder: Recorder, samples: list[Sampled]) -> bool:
    """Whether the limbs of an object were where the samples have them."""
    root, knee, tip = (places.swapaxes(0, 1) for places in recorder.joints())
    length = np.linalg.norm(knee - root, axis=2) + np.linalg.norm(tip - knee, axis=2)
    far = np.linalg.norm(np.stack((root, knee, tip)), axis=3).max(axis=0)
    own = [sample.joints for sample in samples if sample.object == recorder.object]
    off = np.stack((knee - [joints.knee for joints in own], tip - [joints.tip for joints in own]))
    return bool((np.linalg.norm(off, axis=3) <= status.allowed(length, far)).all())
