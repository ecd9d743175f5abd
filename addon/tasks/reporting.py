"""What limbs do, frame by frame, as Blender evaluates them. Nothing is changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from bpy.types import Context, Depsgraph, PoseBone

from ..blender.editing import keeping_frame, set_frame
from ..blender.stepping import Progress, rate_of
from ..blender.types import scene_of, view_layer_of
from ..feet.soles import paths_of, sole_of
from ..limb.storage import by_rig
from ..motion.reading import bones_to_read, new_recording, readers_of
from .contact_markers import Contacts, contacts_known, readable_limbs_beside
from .status import Status, statuses


class FrameStatus(NamedTuple):
    """One limb in one frame: how its target was reached, how far its tip is off, and what is wrong, if something is."""

    frame: float
    reach: str
    miss: float
    is_missed: bool
    problem: str


class LimbReport(NamedTuple):
    """One limb over frames, and its contacts in these, if it can be read."""

    limb: PoseBone
    states: list[FrameStatus]
    contacts: Contacts | None


def reported(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float], max_miss: float | None, progress: Progress
) -> list[LimbReport]:
    """What limbs do in these frames; a tip that is farther off than ``max_miss`` is missed, else one that does not
    reach its target."""
    scene, rigs = scene_of(context), by_rig(limbs)
    readable = readable_limbs_beside(context, limbs)
    recording = new_recording(readable, frames, bones_to_read, False)
    states: dict[PoseBone, list[FrameStatus]] = {limb: [] for limb in limbs}
    with keeping_frame(scene):
        for i, frame in enumerate(frames):
            progress(i / len(frames))
            set_frame(scene, frame)
            depsgraph = view_layer_of(context).depsgraph or context.evaluated_depsgraph_get()
            for ob, group in rigs.items():
                for limb, status in zip(group, statuses(ob, group, depsgraph), strict=True):
                    states[limb].append(_frame_status(frame, status, max_miss))
            readers_of(recording, _evaluated_by(depsgraph), lambda ob: ob)(i)
    rate = rate_of(scene)
    paths = {limb: paths_of(recording, limb, sole_of(recording, limb, rate)) for limb in readable}
    listed = contacts_known(scene, [limb for limb in limbs if limb in paths], frames, paths)
    contacts = {of_limb.limb: of_limb for of_limb in listed}
    return [LimbReport(limb, states[limb], contacts.get(limb)) for limb in limbs]


def _evaluated_by(depsgraph: Depsgraph) -> Callable[[Any], Any]:
    return lambda ob: ob.evaluated_get(depsgraph)


def _frame_status(frame: float, status: Status, max_miss: float | None) -> FrameStatus:
    is_off = not status.is_reached if max_miss is None else status.residual > max_miss
    reach = status.reach.name if status.is_broken or not status.is_fk else "FK"
    problem = status.message if status.is_broken or status.is_off else ""
    return FrameStatus(frame, reach, status.residual, status.is_ik and is_off, problem)
