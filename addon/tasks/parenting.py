"""Parent Control: controls hang on another bone or object, by Blender's own Child Of with a keyed influence, and stand
where they stood: now, or in every frame of a range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Matrix

from ..blender.animation import curves_of
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.fcurves import ONE_KEY
from ..blender.keying import key_changes
from ..blender.stepping import Steps, Stepwise, times_of
from ..blender.transaction import transactional_steps
from ..blender.types import announce, announce_keys, bones_of, has_bone, path_to_bone, scene_of, tag_rig, view_layer_of
from ..blender.words import Refused
from ..limb.solving import UNEVEN, is_uneven
from ..limb.storage import is_control, is_mechanism_bone
from ..motion.frames import around, frames_of
from ..motion.ik import show_controls
from ..motion.passing import record
from ..motion.placing import ControlPlacing
from ..motion.reading import Asked, matrices_of
from ..motion.thinning import sampling_of
from ..motion.writing import Task
from ..rigging.description import ref_of

NAME = "Parent"
"""What its constraints are called, before what a control hangs on."""


def possible_parents(context: Context, controls: Sequence[PoseBone]) -> Iterator[BoneRef]:
    """What controls can hang on: bones of their rigs, then objects, but not what moves with the controls."""
    among, layer = Dependencies(), view_layer_of(context)
    rigs = dict.fromkeys(bone.id_data for bone in controls)
    refs: list[BoneRef] = [(ob, bone.name) for ob in rigs for bone in bones_of(ob)]
    refs = [ref for ref in refs if is_control(*ref) or not is_mechanism_bone(ref[0].data.bones[ref[1]])]  # type: ignore[union-attr]
    for ref in (*refs, *((ob, "") for ob in layer.objects if ob not in rigs)):
        if not any(among.moves_with(ref, bone.id_data, {bone.name}) for bone in controls):
            yield ref


@Stepwise
@transactional_steps
def parent_controls(
    context: Context, controls: Sequence[PoseBone], parent: BoneRef, frames: Sequence[float] | None = None
) -> Steps[None]:
    """Hang controls on a bone or an object, from this frame on or in a range of frames, in which they get keys. They
    stand where they stood in each of these frames. Raises `Refused`."""
    refs = [ref_of(bone) for bone in controls]
    for ref in refs:
        if Dependencies().moves_with(parent, ref[0], {ref[1]}):
            name = parent[1] or parent[0].name
            raise Refused("'{name}' moves with '{control}': pick another", name=name, control=ref[1])
        if is_uneven(np.array(ref[0].matrix_world)):
            raise Refused(UNEVEN, object=ref[0].name, bone=ref[1])
    task = Task(context, frames, keeps_others=around(context, refs) if frames else None)
    sampling = sampling_of(task.frames)
    seen = yield from record(context, [], sampling, Asked([*refs, parent]), progress=task.next_progress())
    places = {ref: matrices_of(seen, ref).copy() for ref in refs}
    ends = (frames[0], frames[-1]) if frames else None
    is_animated = bool(frames or frames_of(context, [*refs, parent]).at)
    for ref in refs:
        _hang(context, ref, parent, Matrix(matrices_of(seen, parent)[0].tolist()), ends, is_animated)
    view_layer_of(context).update()
    lengths = [np.full(len(m), bones_of(ob)[name].length) for (ob, name), m in places.items()]
    placings = [
        ControlPlacing(ref, ref, m[:, :3, 3], size, m) for (ref, m), size in zip(places.items(), lengths, strict=True)
    ]
    key_changes(context, (yield from show_controls(task, placings)))
    for channel in [channel for placing in placings for channel in placing.channels if ends]:
        _hold(channel.object, channel.path, ends[1:], is_cut=True)  # type: ignore[index]


def _hang(
    context: Context, ref: BoneRef, parent: BoneRef, at: Matrix, ends: tuple[float, float] | None, is_animated: bool
) -> None:
    """Add the constraint, with the parent's place in the first frame taken out, and key its influence."""
    ob, name = ref
    announce(ob)
    announce_keys(ob)
    owner: Any = bones_of(ob)[name]
    constraint = owner.constraints.new("CHILD_OF")
    constraint.name, constraint.target = f"{NAME}: {parent[1] or parent[0].name}", parent[0]
    if has_bone(*parent):
        constraint.subtarget = parent[1]
    constraint.owner_space, constraint.inverse_matrix = "WORLD", at.inverted_safe()
    first = ends[0] if ends else scene_of(context).frame_current
    keys = {first - 1: 0.0, first: 1.0} | ({ends[1] + 1: 0.0} if ends else {})
    path = f'{path_to_bone(name)}.constraints["{constraint.name}"].influence'
    for frame, influence in keys.items() if is_animated else ():
        constraint.influence = influence
        ob.keyframe_insert(path, frame=float(times_of(scene_of(context), [frame])[0]), group=name)
    _hold(ob, path, [*keys] if is_animated else [])
    constraint.influence = 1.0
    tag_rig(owner)


def _hold(ob: Any, path: str, frames: Sequence[float], is_cut: bool = False) -> None:
    """Have keys in these frames hold their values until the next ones. At a cut that is the next frame: a channel
    without a key there goes on as before, and stays as it is."""
    scene = scene_of(bpy.context)
    times, nexts = times_of(scene, frames), times_of(scene, [frame + 1.0 for frame in frames])
    for curve in [curve for curve in curves_of(ob) if curve.data_path == path]:
        points = [*curve.keyframe_points]
        for key, after in pairwise(points):
            is_meant = np.abs(times - key.co.x) < ONE_KEY
            if is_meant.any() and not (is_cut and after.co.x > nexts[is_meant].max() + ONE_KEY):
                key.interpolation = "CONSTANT"
