"""Parent Control: controls hang on another bone or object in place of what carries them, by Blender's own Child Of with
a keyed influence, and stand where they stood: now, or in every frame of a range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

import bpy
import numpy as np
from bpy.types import Context, PoseBone
from mathutils import Matrix

from ..blender import animation, fcurves, keying, stepping, transaction, types
from ..blender.action_writer import ActionWriter
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import Message, Refused, bones_of, path_to_bone, scene_of, view_layer_of
from ..limb import follow, solving, storage
from ..motion import check, ik, passing, writing
from ..motion.frames import around, frames_of
from ..motion.placing import ControlPlacing
from ..motion.reading import Asked, Channel, matrices_of
from ..rigging.description import ref_of
from ..solver.matrices import inverted_all
from ..solver.ops import Array, Column

NAME = "Parent"
"""What its constraints are called, before what a control hangs on."""

CARRYING = ("CHILD_OF", "ARMATURE")
"""Constraints that carry a control besides its parent: these let go while it hangs on something else."""


def possible_parents(context: Context, controls: Sequence[PoseBone]) -> Iterator[BoneRef]:
    """What controls can hang on: bones of their rigs, then objects, but not what carries or moves with the controls."""
    among, layer = Dependencies(), view_layer_of(context)
    rigs = dict.fromkeys(bone.id_data for bone in controls)
    above = [bone.parent for bone in controls]
    refs: list[BoneRef] = [(ob, bone.name) for ob in rigs for bone in bones_of(ob) if bone not in above]
    refs = [ref for ref in refs if storage.is_control(*ref) or not storage.is_mechanism_bone(ref[0].data.bones[ref[1]])]  # type: ignore[union-attr]
    for ref in (*refs, *((ob, "") for ob in layer.objects if ob not in rigs)):
        if not any(among.moves_with(ref, bone.id_data, {bone.name}) for bone in controls):
            yield ref


@stepping.Stepwise
@transaction.transactional_steps
def parent_controls(
    context: Context, controls: Sequence[PoseBone], parent: BoneRef, frames: Sequence[float] | None = None
) -> stepping.Steps[list[Message]]:
    """Hang controls on a bone or an object, from this frame on or in a range of frames, in which they get keys. They
    stand where they stood in each of these frames, and so do their limbs; else there are warnings. Raises `Refused`."""
    refs = [ref_of(bone) for bone in controls]
    for ref in refs:
        if Dependencies().moves_with(parent, ref[0], {ref[1]}):
            name = parent[1] or parent[0].name
            raise Refused("'{name}' moves with '{control}': pick another", name=name, control=ref[1])
        if solving.is_uneven(np.array(ref[0].matrix_world)):
            raise Refused(solving.UNEVEN, object=ref[0].name, bone=ref[1])
    task = writing.Task(context, frames, keeps_others=around(context, refs) if frames else None)
    limbs = [limb for ob in dict.fromkeys(ob for ob, _ in refs) for limb in storage.limbs_of(ob)]
    led = [(limb, storage.segments_of(limb)) for limb in limbs if not {*refs}.isdisjoint(follow.follow_of(limb).pairs)]
    with passing.posing_live(context):
        sighting = yield from check.sight(task, check.Played(), led, Asked([*refs, parent], controls=refs))
    seen = sighting.recording
    places = {ref: matrices_of(seen, ref).copy() for ref in refs}
    scene, now = scene_of(context), scene_of(context).frame_current
    is_animated = bool(frames or frames_of(context, [*refs, parent]).at)
    times = stepping.times_of(scene, ([frames[0], frames[-1]] if frames else [now]) if is_animated else ())
    kept = stepping.times_of(scene, task.keeps_others or (-inf, now))
    for ref in refs:
        inverse = inverted_all(matrices_of(seen, parent)[:1]) @ places[ref][:1] @ inverted_all(seen.bases[ref][:1])
        _hang(context, ref, parent, Matrix(inverse[0].tolist()), times, kept)
    view_layer_of(context).update()
    lengths = [np.full(len(m), bones_of(ob)[name].length) for (ob, name), m in places.items()]
    placings = [
        ControlPlacing(ref, ref, m[:, :3, 3], size, m) for (ref, m), size in zip(places.items(), lengths, strict=True)
    ]
    show, look = ik.show_controls, check.look
    changes, off = yield from check.kept(task, lambda: show(task, placings), lambda: look(task, sighting.moving, seen))
    keying.key_changes(context, changes)
    for channel in [channel for placing in placings for channel in placing.channels if frames]:
        _hold_cut(channel, frames[-1])  # type: ignore[index]
    return check.told(task, off)


def _hang(context: Context, ref: BoneRef, parent: BoneRef, inverse: Matrix, times: Column, kept: Array) -> None:
    """Add the constraint, which puts the control's own transform below ``inverse`` below the parent. From the first to
    the last of these times it alone carries the control; before and after, as far as ``kept``, it does not."""
    ob, name = ref
    types.announce(ob)
    owner: Any = bones_of(ob)[name]
    others = [other for other in owner.constraints if other.type in CARRYING]
    constraint = owner.constraints.new("CHILD_OF")
    constraint.name, constraint.target = f"{NAME}: {parent[1] or parent[0].name}", parent[0]
    if types.has_bone(*parent):
        constraint.subtarget = parent[1]
    constraint.owner_space, constraint.inverse_matrix = "LOCAL", inverse  # what it makes of that is in the world
    writer = ActionWriter(context, ob) if len(times) else None
    for one, before in ((constraint, 0.0), *((other, other.influence) for other in others)):
        path, now = f'{path_to_bone(name)}.constraints["{one.name}"].influence', float(one == constraint)
        one.influence = now
        if writer:
            writer.set_between(path, times, now, before, kept)
    types.tag_rig(owner)


def _hold_cut(channel: Channel, frame: float) -> None:
    """Have the key in a frame hold its value until the next frame. A channel without a key there goes on as before, and
    stays as it is."""
    time, after = stepping.times_of(scene_of(bpy.context), [frame, frame + 1.0])
    for curve in animation.curves_of(channel.object):
        if curve.data_path == channel.path and (np.abs(fcurves.read_keys(curve)[0] - after) < fcurves.ONE_KEY).any():
            fcurves.hold(curve, time)
