"""From how limbs stand in some frames to the settings and keys that show it in another way: read once, compute all
frames at once, write, and look once at what was written. This frame alone goes the same way, without keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, PoseBone

from ..blender import animation, keying, stepping
from ..blender.rotation import ARRAY_ANGLES, continuous, rotation_channel, to_channels, to_quaternion
from ..blender.types import Message, bones_of
from ..limb import follow, rest_geometry, storage, tips, tolerances, transforms
from ..limb.features import FEATURES
from ..rigging import feet
from ..rigging.build import build
from ..rigging.description import Description, LimbRef, describe, ref_of
from ..solver.matrices import applied, inverted_all
from ..solver.ops import Array, Quaternions
from ..solver.rotation import IDENTITY, conjugate, multiply
from . import inverse, matching, passing, thinning
from .parts import index_in_channel, part_of_channel, part_of_ik, rotation_channel_of, slider_channel
from .placing import ControlPlacing, controls_of, parents_of, place_controls
from .reading import Asked, Channel, Recording, Values, copied, matrices_of, own_turns_of, worlds_of
from .writing import KeyedPart, Run, Task, Writing


class MatchResult(NamedTuple):
    """The properties that were changed to show a pose by IK or FK, with their values before; and warnings."""

    changes: list[keying.Change]
    warnings: list[Message]


def show_in_ik(
    task: Task,
    limbs: Sequence[PoseBone],
    poses: dict[LimbRef, matching.LimbPoses] | None = None,
    moves_controls: bool = True,
    known: Recording | None = None,
) -> stepping.Steps[MatchResult]:
    """Have limbs show by IK the bones' own pose, or these ``poses`` over the frames: by targets and poles (unless they
    stay where they are), flip, swivel and ankle. Two passes, one where controls stay, and one less where what is
    ``known`` was read before. Raises `Refused` for what can't be shown where it has to be."""
    sampling, named = thinning.sampling_of(task.frames), [ref_of(limb) for limb in limbs]
    parts = [part_of_ik(limb, moves_controls, poses, task.tolerance) for limb in limbs]
    channels = [*dict.fromkeys(channel for keyed_part in parts for channel in keyed_part.channels)]
    controls = controls_of(limbs) if moves_controls else []
    recording = yield from passing.record(
        task.context,
        limbs,
        sampling,
        Asked(parents_of(controls), channels=channels, controls=controls, known=known),
        None if poses else 0.0,
        task.next_progress(),
    )
    poses = poses or matching.fk_poses(recording)
    before = copied(recording.channels)
    shown = matching.matched_by_ik(recording, poses, sampling.rows, task.tolerance, moves_controls)
    poses = {ref_of(one.limb): one.poses._replace(inverse=one.inverse) for one in shown}
    if _gives_features(task.context, shown):
        again = [ob.pose.bones[name] for ob, name in named]
        return (yield from show_in_ik(task, again, poses, moves_controls, recording))
    values = copied(before)
    _set_sliders(shown, values)
    placings = _placings(shown) if moves_controls else []
    writing = yield from placed(task, recording, values, [Run(sampling.rows, parts)], placings, 1.0)
    if moves_controls:
        _turn_toes(recording, [matched.limb for matched in shown], values)
    warnings = [warning for matched in shown for warning in matched.warnings]
    touched = [slider_channel(matched.limb, name) for matched in shown for name in matched.sliders]
    touched += [channel for placing in placings for channel in placing.channels]
    return MatchResult(writing.finish(recording, values, touched), warnings)


def show_controls(task: Task, placings: Sequence[ControlPlacing]) -> stepping.Steps[list[keying.Change]]:
    """Have controls be seen in their places in the frames of a task and halfway, whatever carries and constrains them.
    Raises `Refused` where they can't be."""
    refs = [placing.control for placing in placings]
    channels = [channel for placing in placings for channel in placing.channels]
    sampling, progress = thinning.sampling_of(task.frames), task.next_progress() if task.frames else float
    asked = Asked(parents_of(refs), channels=channels, controls=refs)
    recording = yield from passing.record(task.context, [], sampling, asked, progress=progress)
    parts = [KeyedPart([channel], lambda _, of: lambda values, at: [*values.values()]) for channel in channels]
    runs = [Run(sampling.rows, parts)]
    values = copied(recording.channels)
    return (yield from placed(task, recording, values, runs, placings)).finish(recording, values)


def placed(
    task: Task,
    recording: Recording,
    values: Values,
    runs: Sequence[Run],
    placings: Sequence[ControlPlacing] = (),
    influence: float | None = None,
    reads_all: bool = False,
) -> stepping.Steps[Writing]:
    """Have controls be seen in their places by channels in ``values``, with the limbs that were read at an
    ``influence`` if one is given: what writes these for good, by keys in ``runs``. Only what places controls is right
    in the recording then, or, if it ``reads_all``, everything. Raises `Refused`."""
    rows = thinning.sampling_of(None).rows if task.frames is None else np.searchsorted(recording.at, task.frames)  # type: ignore[arg-type]
    sampling, keyed = (
        thinning.Sampling(recording.at, rows),
        {key for key in values if animation.is_animated(key.object, key.path)},
    )
    said = yield from passing.said_by_strips(task.context, recording.channels, task.frames)
    writing = Writing(task, copied(recording.channels), runs, recording.at, said)
    limbs, context = [limb for rig in recording.rigs for limb in rig.limbs], task.context
    refs: set[Any] = {ref for placing in placings for ref in (placing.control, placing.followed)}
    refs.update(ref for limb in limbs for ref in follow.solver_follow(limb).pairs if ref[0])
    moved = {*refs, *((ob, "") for ob in recording.worlds)}
    moved |= {(ob, bone.name) for ob, name in refs if name for bone in bones_of(ob)[name].children_recursive}
    reads_all |= task.frames is None or any(placing.holding for placing in placings)
    reads_all |= any(follow.rolled_target(limb) for limb in limbs)  # which goes with the control by constraints

    def reread(rows: Array) -> stepping.Steps[None]:
        if len(rows) == recording.frames and not reads_all:  # what curves say, if Blender shows that in some frames
            curves = passing.Curves(context, recording.at or [], rows, influence, recording, values, moved)
            if len(checked := sampling.checked(task.checks)):
                writing.write(values, checked)
                yield from passing.read_again(context, recording, limbs, checked, influence, task.next_progress())
            if passing.filled_in(recording, curves, checked, refs):
                return
        writing.write(values)
        yield from passing.read_again(context, recording, limbs, rows, influence, task.next_progress())

    if placings:
        yield from place_controls(placings, recording, values, reread)
    for placing in placings:
        if placing.turns is not None:
            numbers = _without_jumps(placing.mode, values[placing.rotation], sampling, placing.rotation in keyed)
            values[placing.rotation][:] = numbers
    return writing


def _gives_features(context: Context, shown: Sequence[matching.MatchedLimb]) -> bool:
    """Give limbs the features that their poses need; whether some had to. Bones are to be fetched anew then."""
    given = dict[LimbRef, Description]()
    for matched in shown:
        for feature in FEATURES:
            if any(name in matched.sliders and not storage.has_slider(matched.limb, name) for name in feature.keys):
                ref = ref_of(matched.limb)
                given[ref] = given.get(ref, describe(ref)).with_sliders_of(feature.name)
    build(context, given)
    return bool(given)


def _set_sliders(shown: Sequence[matching.MatchedLimb], values: Values) -> None:
    for matched in shown:
        for name, rows in matched.sliders.items():
            channel = slider_channel(matched.limb, name)
            if channel not in values or not np.array_equal(rows, values[channel][:, index_in_channel(name)]):
                follow.check_undriven(matched.limb, name)
                values[channel][:, index_in_channel(name)] = rows


def _placings(shown: Sequence[matching.MatchedLimb]) -> list[ControlPlacing]:
    """Where controls are to be: targets first, as limbs are, then poles."""
    targets, poles = [], []
    for matched in shown:
        pairs: Any = follow.follow_of(matched.limb).pairs
        (target, pole), frames = pairs, matched.frames
        foot, end = matched.poses.foot if feet.foot_follows(matched.limb) else None, tips.foot_of(matched.limb)
        offset = feet.offset_of(end).to_quaternion() if end and foot is not None else IDENTITY
        sizes = sum(matched.geometry.lengths) * np.linalg.norm(frames[:, :3, 1], axis=1)
        place = applied(frames, matched.target)
        targets.append(
            ControlPlacing(target, matching.solver_target(matched.limb), place, sizes, turns=foot, offset=offset)
        )
        if matched.pole is not None:
            poles.append(ControlPlacing(pole, pole, applied(frames, matched.pole), sizes))
    return [*targets, *poles]


def _turn_toes(recording: Recording, limbs: Sequence[PoseBone], values: Values) -> None:
    """Turn toes that are kept flat by their own channels so that they are in IK as these have them in FK. What keeps
    them flat is a turn before their own."""
    for limb in limbs:
        for toe in follow.flat_toes(limb) if feet.foot_follows(limb) else ():
            own, in_ik = own_turns_of(recording, toe.id_data, toe.name), matching.evaluated_turn(recording, toe)
            own_turn: Any = tuple(own.T)
            is_off = inverse.angle_between(own_turn, tuple(in_ik.T)) > tolerances.NO_TURN
            turn = multiply(multiply(own_turn, conjugate(tuple(in_ik.T))), own_turn)
            channel = rotation_channel_of((toe.id_data, toe.name))
            rows = nearest_in_rotation_mode(toe.rotation_mode, np.stack(turn, axis=-1), values[channel])
            values[channel][is_off] = rows[is_off]


def nearest_in_rotation_mode(mode: str, turns: Quaternions, near: Array) -> Array:
    """Quaternions (f, 4) as the numbers of a rotation mode, in each frame those nearest to ``near`` (f, numbers)."""
    return np.stack(np.broadcast_arrays(*to_channels(mode, tuple(turns.T), [*near.T], ARRAY_ANGLES)), axis=-1)


def show_turns(task: Task, recording: Recording, turns: dict[LimbRef, dict[str, Array]]) -> stepping.Steps[None]:
    """Have bones above limbs say these turns (f, 4), w first, by their own rotations, in frames that were read, and
    halfway between these."""
    values, parts, sampling = copied(recording.channels), list[KeyedPart](), thinning.sampling_of(task.frames)
    for (ob, name), of_limb in turns.items():
        for bone in [ob.pose.bones[above] for above in of_limb]:
            limb = ob.pose.bones[name]
            away = (storage.bones_of_limb(limb)[0].bone.head_local - bone.bone.head_local).length
            size = sum(rest_geometry.rest_geometry_of(limb).lengths)
            parts.append(part_of_channel(rotation_channel_of((ob, bone.name)), size, size + away))
            turn_bone(values, bone, of_limb[bone.name], sampling)
    (yield from placed(task, recording, values, [Run(sampling.rows, parts)])).finish(recording, values)


def turn_bone(values: Values, bone: PoseBone, turns: Quaternions, sampling: thinning.Sampling) -> None:
    """Have a bone's own rotation say these turns (f, 4), w first, in numbers that jump least."""
    channel, mode = Channel.of_bone(bone.id_data, bone.name, rotation_channel(bone.rotation_mode)), bone.rotation_mode
    rows = nearest_in_rotation_mode(mode, turns, values[channel])
    values[channel][:] = _without_jumps(mode, rows, sampling, animation.is_animated(bone.id_data, channel.path))


def _without_jumps(mode: str, rows: Array, sampling: thinning.Sampling, is_keyed: bool) -> Array:
    """Rotations of a mode over rows (f, numbers), written so that their numbers jump least; what has keys already stays
    near to these. Those halfway are near to both beside them."""
    halves, smooth = sampling.between, rows.copy()
    smooth[sampling.rows] = rows[sampling.rows] if is_keyed else continuous(mode, rows[sampling.rows])
    turns = np.stack(to_quaternion(mode, [*rows[halves].T], ARRAY_ANGLES), axis=-1)
    smooth[halves] = nearest_in_rotation_mode(mode, turns, (smooth[halves - 1] + smooth[halves + 1]) / 2.0)
    return smooth


def foot_offset(recording: Recording, followed: Any, foot: Any) -> Any:
    """How a foot is turned off what it follows, (f, 4), w first."""
    into = inverted_all(worlds_of(recording, foot[0]))
    one, other = (tuple(transforms.rigid_turns(into @ matrices_of(recording, ref)).T) for ref in (followed, foot))
    return np.stack(multiply(conjugate(one), other), axis=-1)
