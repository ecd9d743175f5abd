"""How feet and hands turn that turn with the targets of limbs: seen as the scene is stepped with its chains live."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from numpy.typing import NDArray

from ...rig.data.access import bones_of, scene_of
from ...rig.data.rotation import ARRAYS, rotation_channel, to_channels
from ...rig.tasks.ends import turned_ends
from ..samples import Sampled, Track
from .courses.transforms import local_to, turn_and_scale
from .recording import BoneValues, matrices_of
from .stepping import frame_kept, live_as, set_frame


def sample_ends(context: Context, chains: list[Sampled], frames: NDArray[Any]) -> Generator[int, None, None]:
    """Give samples of chains the rotations of their feet and hands; yields the number of frames done."""
    recorders = [
        (chain, _EndRecorder(lower, end, len(frames)))
        for chain in chains
        for lower in (chain.object.pose.bones[chain.lower],)
        for end in turned_ends(lower)
    ]
    if not recorders:
        return
    scene = scene_of(context)
    with frame_kept(scene), live_as(scene, True):
        for i, frame in enumerate(frames.tolist()):
            set_frame(scene, frame)
            for _, recorder in recorders:
                recorder.record(i, context.evaluated_depsgraph_get())
            yield i + 1
    for chain, recorder in recorders:
        chain.ends.append(recorder.track())


class _EndRecorder:
    """Where a foot or hand and the lower bone of its limb are."""

    def __init__(self, lower: PoseBone, end: PoseBone, count: int) -> None:
        self._lower, self._end = lower, end
        self._poses = BoneValues(end.id_data, "matrix", [lower.name, end.name], count)

    def record(self, i: int, depsgraph: Depsgraph) -> None:
        """Read the ``i``-th frame, as it is evaluated."""
        self._poses.record(i, bones_of(self._end.id_data.evaluated_get(depsgraph)))

    def track(self) -> Track:
        """The rotation that has the bone turned as it was seen."""
        end, mode = self._end, self._end.rotation_mode
        above, pose = (matrices_of(self._poses.of(bone.name)) for bone in (self._lower, end))
        turns, _ = turn_and_scale(local_to(end.bone, above, pose))
        channel = rotation_channel(mode)
        own = np.asarray(getattr(end, channel)[:], float)
        near = np.repeat(own[:, None], len(pose), axis=1)
        values = np.stack(to_channels(mode, turns, [*near], ARRAYS), axis=1)
        return Track(end.name, channel, mode, values.astype(np.float32))
