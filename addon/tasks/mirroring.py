"""Mirroring limbs to the other side of their rig, by Blender's own rules for names with a side: what they are, and how
they are posed, now or over frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Context, Depsgraph, PoseBone
from mathutils import Matrix, Vector

from ..blender import animation, stepping, transaction
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.keying import Change, key_changes
from ..blender.rotation import ARRAY_ANGLES, rotation_channel, to_quaternion
from ..blender.types import ArmatureObject, Message, Refused, bones_of, can_edit_bones, has_bone, split_path
from ..finding.checking import check_addable
from ..limb import follow, storage, tips
from ..limb.names import other_side
from ..limb.rest_geometry import USUAL_AXIS, is_straight, rest_geometry_of
from ..limb.settings import every_slider
from ..limb.tolerances import NO_TURN
from ..motion import fk, ik
from ..motion.check import TOLD, MovedBones, Seen, compared, kept
from ..motion.frames import around, moved_by
from ..motion.maps import mirrored, turned_over
from ..motion.parts import part_of_channel, part_of_ik, slider_channel
from ..motion.passing import posing_live, record
from ..motion.placing import ControlPlacing, parents_of
from ..motion.reading import Asked, Channel, Recording, Values, copied, matrices_of, poses_of, worlds_of
from ..motion.thinning import Sampling, sampling_of
from ..motion.writing import KeyedPart, Run, Task
from ..rigging import control_shapes, feet
from ..rigging.build import build
from ..rigging.controls import Control, drawn_bone, name_of_control, rig_root
from ..rigging.description import Description, LimbRef, describe
from ..rigging.features import live_for_now, with_pivots_mirrored, with_pole_follow
from ..solver.matrices import inverted_all
from ..solver.ops import Array


class Mirrored(NamedTuple):
    """Rigs with the names of both last bones, and warnings."""

    pairs: list[tuple[ArmatureObject, str, str]]
    warnings: list[Message]


@stepping.Stepwise
@transaction.transactional_steps
def mirror(
    context: Context, limbs: Sequence[PoseBone], frames: Sequence[float] | None = None, tolerance: float = 0.0
) -> stepping.Steps[Mirrored]:
    """Give the other side of limbs what these have: settings and sliders, and targets, poles and bones that are posed
    as the mirror image of theirs, here and now, or in each of these frames with keys; limbs and controls are made where
    there are none. New limbs are on the rig where the first ones are. ``tolerance`` is how far joints may be off for
    the sake of fewer keys, in lengths of the limb. Raises `Refused`."""
    depsgraph, dependencies, pairs = context.evaluated_depsgraph_get(), Dependencies(), [*map(_pair_of, limbs)]
    images = {pair.image: _images_of(pair, depsgraph) for pair in pairs}
    descriptions = {pair.image: _image_of(pair, images[pair.image], depsgraph, dependencies) for pair in pairs}
    others = around(context, moved_by(limb for pair in pairs for limb in pair.limbs)) if frames else None
    task, all_images = Task(context, frames, tolerance, keeps_others=others), [*chain.from_iterable(images.values())]
    warnings = list[Message]()
    seen = yield from _read(task, pairs, all_images)
    if all(can_edit_bones(pair.ob) for pair in pairs):
        modes = {pair.image: describe((pair.ob, pair.limb_name)).mode for pair in pairs}
        new = {
            limb: description
            for limb, description in descriptions.items()
            if (modes[limb], description.mode) == ("RIG", "LIVE")
        }
        on_rig, warnings = live_for_now(new, dependencies)
        build(context, descriptions | on_rig)
    else:
        for limb in descriptions:
            _check_there(limb, images[limb])
    changes, off = yield from kept(task, lambda: _show(task, pairs, all_images, seen), lambda: _seen_off(task, pairs))
    key_changes(context, changes)
    template = "'{bone}' is no mirror image in frame {frame}: something else moves it, or the other one"
    misses = [miss for one in off.values() if (miss := one.worst()).share > 1.0]
    warnings += [Message(template, bone=miss.bone, frame=miss.frame) for miss in misses]
    return Mirrored([pair[:3] for pair in pairs], warnings)


CLOSE_IMAGE = 0.01
"""How much farther from its image across X than across another axis a limb may be, next to its length."""

AXES = (Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))

NO_IMAGE = "'{bone}' has no mirror image '{other}': Symmetrize it in Edit Mode"


class Pair(NamedTuple):
    """A limb and the one on the other side, by their rig and the names of their last bones, and what takes one to the
    other in the armature."""

    ob: ArmatureObject
    limb_name: str
    other: str
    across: Matrix

    @property
    def limbs(self) -> tuple[PoseBone, PoseBone]:
        """Their last bones."""
        return self.ob.pose.bones[self.limb_name], self.ob.pose.bones[self.other]

    @property
    def image(self) -> LimbRef:
        """The limb on the other side."""
        return self.ob, self.other

    @property
    def array(self) -> Array:
        """What takes one to the other, (4, 4)."""
        return np.array(self.across, float)

    def followed_by_other(self, kind: str) -> tuple[Any, str]:
        """What the other limb follows now as its target or pole."""
        followed: tuple[Any, str] = follow.follow_of(self.limbs[1]).pairs[storage.CONTROL_KINDS.index(kind)]
        return followed


class Image(NamedTuple):
    """The target or the pole of a limb, and the one of the other limb that mirrors it."""

    pair: Pair
    kind: str  # target or pole
    source: BoneRef  # of the limb
    matrix: Matrix  # of that, in the armature
    there: BoneRef | None  # of the other limb; None where it is to be made


def _pair_of(limb: PoseBone) -> Pair:
    """A limb and the one on the other side; raises `Refused` if there is none, and no bone that can be one."""
    name = other_side(limb.name)
    if name == limb.name:
        raise Refused("'{bone}' has no side in its name: name it like 'shin.L' or 'shin.R'", bone=limb.name)
    other: PoseBone | None = limb.id_data.pose.bones.get(name)
    if other is None:
        raise Refused("There is no bone '{other}' on the other side of '{bone}'", bone=limb.name, other=name)
    if not storage.is_limb(other):
        check_addable(other, storage.segments_of(limb))
    return Pair(limb.id_data, limb.name, name, _mirror_between(limb, other))


def _mirror_between(limb: PoseBone, other: PoseBone) -> Matrix:
    """The mirror between two limbs at rest: across X, or across Y or Z if the limbs are closer to that, as in rigs that
    look sideways, and puppets drawn from the side."""
    one, two = (
        [*(bone.bone.head_local for bone in storage.bones_of_limb(end, storage.segments_of(limb))), end.bone.tail_local]
        for end in (limb, other)
    )
    middle = Matrix.Translation((one[0] + two[0]) / 2.0)
    mirrors = [middle @ Matrix.Scale(-1.0, 4, axis) @ middle.inverted() for axis in AXES]
    off = [sum((across @ a - b).length for a, b in zip(one, two, strict=True)) for across in mirrors]
    close = min(off) + CLOSE_IMAGE * (one[-1] - one[0]).length
    return next(across for across, distance in zip(mirrors, off, strict=True) if distance <= close)


# what the other limb follows


def _images_of(pair: Pair, depsgraph: Depsgraph) -> list[Image]:
    """What the limb follows, and what of that is there for the other one. Refuses to move what carries it."""
    limb, other = pair.limbs
    follow.check_posable(limb)
    images = []
    for kind, (ob, bone) in zip(storage.CONTROL_KINDS, follow.follow_of(limb).pairs, strict=True):
        if ob is not None:
            in_rig = pair.ob.matrix_world.inverted_safe() @ follow.matrix_of(ob, bone, depsgraph)
            image = Image(pair, kind, (ob, bone), in_rig, _there(pair, kind, (ob, bone)))
            if image.there and _is_moved(image):
                follow.check_apart(other, *image.there, Dependencies())
            images.append(image)
    return images


def _there(pair: Pair, kind: str, source: BoneRef) -> BoneRef | None:
    """What the other limb is to follow, if that is there. A bone's counterpart is the bone of the flipped name, but an
    object's only what the other limb follows already: an object of that name may be anything."""
    ob, bone = source
    if bone:
        name = other_side(bone)
        if has_bone(ob, name):
            return ob, name
        if storage.is_control(ob, bone) and can_edit_bones(ob):  # type: ignore[arg-type]
            return None
        raise Refused(NO_IMAGE, bone=bone, other=name)
    now, its_bone = pair.followed_by_other(kind)
    return (now, its_bone) if now is not None and now != ob else None


def _control(image: Image) -> Control:
    pair, (ob, name) = image.pair, image.source
    other, now = pair.limbs[1], pair.across @ image.matrix @ feet.SIDEWAYS
    rest, size, drawn = now, 0.1 * other.bone.length, None
    rig: Any = ob if name else pair.ob
    if name:
        bone, drawn = rig.data.bones[name], drawn_bone(rig.pose.bones[name])
        rest, size = pair.across @ bone.matrix_local @ feet.SIDEWAYS, bone.length
    cube = control_shapes.Drawing("CUBE", rest @ Matrix.Scale(size, 4))
    return Control(
        ob=rig,
        limb_name=pair.other,
        kind=image.kind,
        name=other_side(name) if name else name_of_control(other, image.kind),
        parent=_parent_on_other(image),
        rest=rest,
        size=size,
        drawing=drawn._replace(matrix=pair.across @ drawn.matrix @ feet.SIDEWAYS) if drawn else cube,
        place=now.translation,
        turn=now.to_3x3().normalized(),
    )


def _parent_on_other(image: Image) -> str:
    """What a control of the other limb hangs on: the counterpart of what the limb's own does, else what moves the
    rig."""
    pair, (ob, name) = image.pair, image.source
    limb, other = pair.limbs
    target = follow.follow_of(limb).pairs[0]
    above = bones_of(ob)[name].parent if name else None
    if above is not None and target == (ob, above.name):
        return other_side(above.name)
    return rig_root(other, storage.segments_of(limb)) if ob == pair.ob or not name else ""


def _is_moved(image: Image) -> bool:
    """Whether the other limb's target or pole is to be as the mirror image of the limb's. What is no control
    stays where it is an object, or a bone that is not posed itself; and so does what both follow."""
    there: Any = image.there
    if there == image.source:
        return False
    if storage.is_control(*there):
        return True
    return bool(there[1]) and not (image.source[1] and _only_ride(image.source, there))


def _check_there(ref: LimbRef, images: Sequence[Image]) -> None:
    """Refuse a limb that would have to be made on a rig from another file."""
    if not storage.is_limb(ref[0].pose.bones[ref[1]]) or any(image.there is None for image in images):
        template = "'{other}' has no IK, and '{rig}' comes from another file: mirror the limb there"
        raise Refused(template, other=ref[1], rig=ref[0].name)


def _to_be(image: Image, source: Array, rig: Array, owner: Array) -> Array:
    """Where in the world the other limb's target or pole mirrors the limb's (..., 4, 4), which is at ``source`` while
    their ``rig`` is there, and the ``owner`` that has both as bones: a bone is moved off its rest as its counterpart
    is, an object stands as its counterpart."""
    across, there, into = image.pair.array, image.there, inverted_all(rig)
    if not (image.source[1] and there and there[1]):
        return rig @ mirrored(into @ source, across)
    bones: Any = (image.source, there)
    gone = next((name for ob, name in bones if not has_bone(ob, name)), "")
    if gone:  # what the other limb is to follow took its place
        raise Refused(NO_IMAGE, bone=other_side(gone), other=gone)
    rests = [into @ owner @ np.array(ob.data.bones[name].matrix_local) for ob, name in bones]
    return rig @ mirrored(into @ source, across, *rests)


def _only_ride(*refs: BoneRef) -> bool:
    """Whether bones go with those that they hang on, and are not posed themselves: as pins do with cranks."""
    bones: list[PoseBone] = [ob.pose.bones[name] for ob, name in refs]  # type: ignore[union-attr]
    off = max(float(np.abs(np.array(bone.matrix_basis) - np.eye(4)).max()) for bone in bones)
    moved = {split_path(path)[0] for ob, _ in refs for path in animation.animated_paths(ob)}
    return off <= NO_TURN and all(bone.parent and not bone.constraints and bone.name not in moved for bone in bones)


# the limb itself


def _image_of(pair: Pair, images: Sequence[Image], depsgraph: Depsgraph, dependencies: Dependencies) -> Description:
    """The mirror image of a limb, which keeps the constraint and the mode that the other one has. Axes of turns go the
    other way round; numbers mean the same on both sides."""
    limb, other = pair.limbs
    mine = describe((pair.ob, pair.limb_name))
    its = describe(pair.image) if storage.is_limb(other) else Description(mine.segments, "", sliders={})
    (axis, flat), foot = storage.stored_axes(limb), tips.foot_of(other)
    axis = axis or ([*USUAL_AXIS] if is_straight(rest_geometry_of(limb)) else [])
    starts = zip(storage.bones_of_limb(limb), storage.bones_of_limb(other, mine.segments), strict=True)
    rotations: Any = [
        (flat[4 * i], *_axis_on_other(pair, one, two, flat[4 * i + 1 : 4 * i + 4]))
        for i, (one, two) in enumerate(starts)
        if flat
    ]
    followed = {image.kind: image.there or _control(image) for image in images}
    description = mine._replace(
        foot=foot.name if foot else "",
        bend_axis=tuple(_axis_on_other(pair, limb, other, axis)) if axis else (),
        reference_rotations=tuple(rotations),
        target=followed.get("target"),
        pole=followed.get("pole"),
        pole_follow=its.pole_follow if its.pole == followed.get("pole") else None,
        sliders=mine.sliders | {name: value for name, value in its.sliders.items() if name in mine.sliders},
        mode=its.mode,
        constraint=its.constraint,
        converted_from=its.converted_from,
    )
    if mine.foot_turn is not None:
        target = next((image for image in images if image.kind == "target"), None)
        foot_turn = _foot_turn(pair, target, depsgraph) if target and any(mine.foot_turn) else (0.0, 0.0, 0.0)
        description = description._replace(foot_turn=foot_turn if description.foot else None)
    return with_pole_follow(with_pivots_mirrored(description, pair.ob, pair.across, dependencies), pair.image)


def _foot_turn(pair: Pair, target: Image, depsgraph: Depsgraph) -> tuple[float, float, float]:
    """How the other limb's foot is turned off what that follows, once it stands as the image of the limb's foot."""
    limb, world = pair.limbs[0], np.array(pair.ob.matrix_world)
    foot: Any = tips.foot_of(limb)
    image_of_foot = mirrored(
        inverted_all(world) @ np.array(follow.unrolled(limb, depsgraph) @ feet.offset_of(foot)), pair.array
    )
    owner = target.there[0] if target.there else target.source[0] if target.source[1] else pair.ob
    if target.there is None or _is_moved(target):
        to_be = _to_be(target, world @ np.array(target.matrix), world, np.array(target.source[0].matrix_world))
    else:
        to_be = np.array(follow.matrix_of(*target.there, depsgraph))
    if owner == pair.ob:
        to_be = inverted_all(world) @ to_be
    else:
        image_of_foot = world @ image_of_foot
    return feet.turn_between(Matrix(to_be.tolist()), Matrix(image_of_foot.tolist()))


def _axis_on_other(pair: Pair, one: PoseBone, two: PoseBone, axis: Any) -> list[float]:
    """The mirror image of an axis that something turns about, from one bone's own axes to another's."""
    of_one, of_two = (bone.bone.matrix_local.to_3x3() for bone in (one, two))
    axis_across: Any = of_two.transposed() @ -(pair.across.to_3x3() @ (of_one @ Vector(axis)))
    return [*axis_across]


# how it is posed


def _twins(pair: Pair) -> list[tuple[str, str, Array]]:
    """The bones of a limb, its foot and its toes, with their counterparts, by name, from the root down; and what takes
    directions from the axes of one to those of the other, (3, 3)."""
    limb, other = pair.limbs
    pairs = [*zip(storage.chain_bones(limb), storage.chain_bones(other, storage.segments_of(limb)), strict=True)]
    foot, mirrored_foot = tips.foot_of(limb), tips.foot_of(other)
    if foot and mirrored_foot:
        names = {toe.name: toe for toe in mirrored_foot.children}
        toes = [(toe, names.get(other_side(toe.name))) for toe in foot.children]
        pairs += [(foot, mirrored_foot), *((toe, across) for toe, across in toes if across)]
    rests: Any = [(one.bone.matrix_local.to_3x3(), two.bone.matrix_local.to_3x3()) for one, two in pairs]
    turns = [np.array((one.transposed() @ pair.across.to_3x3() @ two).transposed()) for one, two in rests]
    sides = [np.linalg.svd(turn) for turn in turns]  # what is kept in single precision is no pure turn
    return [(*(bone.name for bone in two), one @ other) for two, (one, _, other) in zip(pairs, sides, strict=True)]


OWN = ("location", "scale")
"""What the own channels of a bone say besides its turn."""


def _channels(limb: PoseBone, bones: Iterable[str]) -> list[Channel]:
    """What a limb says: its sliders, and the own channels of these bones of its rig."""
    sliders = [slider_channel(limb, each.name) for each in every_slider() if storage.has_slider(limb, each.name)]
    modes = {name: rotation_channel(bones_of(limb.id_data)[name].rotation_mode) for name in bones}
    return sliders + [Channel.of_bone(limb.id_data, name, path) for name in modes for path in (*OWN, modes[name])]


def _read(task: Task, pairs: Sequence[Pair], images: Sequence[Image]) -> stepping.Steps[Recording]:
    """Read what is mirrored, in one pass."""
    refs = [ref for image in images for ref in (image.source, (image.source[0], ""))]
    channels = [key for pair in pairs for key in _channels(pair.limbs[0], [one for one, _, _ in _twins(pair)])]
    channels += [
        slider_channel(pair.limbs[1], "influence") for pair in pairs if storage.has_slider(pair.limbs[1], "influence")
    ]
    asked = Asked([*refs, *((pair.ob, "") for pair in pairs)], channels=channels)
    return (yield from record(task.context, [], sampling_of(task.frames), asked, progress=task.next_progress()))


def _show(task: Task, pairs: Sequence[Pair], images: Sequence[Image], seen: Recording) -> stepping.Steps[list[Change]]:
    """Have the other limbs, which are made by now, show the image of what was seen. Raises `Refused` for what can't be
    moved there."""
    images = [image._replace(there=image.there or image.pair.followed_by_other(image.kind)) for image in images]
    there = {image.there: image for image in images if _is_moved(image)}
    others, controls = [pair.limbs[1] for pair in pairs], [*there]  # type: Any, Any
    placings = [_placing(image, seen) for image in there.values()]
    placed_by = [channel for placing in placings for channel in placing.channels]
    parts = [
        part
        for pair, limb in zip(pairs, others, strict=True)
        for part in _parts_of(task.tolerance, limb, [*_channels(limb, [two for _, two, _ in _twins(pair)]), *placed_by])
    ]
    influences = [slider_channel(limb, "influence") for limb in others]  # which are not read as they are
    channels = [key for part in parts for key in part.channels if key not in influences]
    asked, sampling = Asked(parents_of(controls), channels=channels, controls=controls), sampling_of(task.frames)
    recording = yield from record(task.context, others, sampling, asked, 0.0, task.next_progress())
    for key in influences:
        rows = seen.channels.get(key, np.array([[animation.value_at(key.object, key.path)]], float))
        recording.channels[key] = np.broadcast_to(rows, (recording.frames, 1)).copy()
    values = copied(recording.channels)
    for pair in pairs:
        _say_across(pair, seen, values, sampling)
    runs = [Run(sampling.rows, parts)]
    return (yield from ik.placed(task, recording, values, runs, placings)).finish(recording, values)


def _say_across(pair: Pair, seen: Recording, values: Values, sampling: Sampling) -> None:
    """Have ``values`` say for the other limb what its own channels are, as the image of what was seen: its sliders,
    which say the same, and how its bones are moved, turned and scaled."""
    for slider in every_slider():
        source, channel = (slider_channel(limb, slider.name) for limb in pair.limbs)
        if source in seen.channels and channel in values:
            if not np.array_equal(seen.channels[source], values[channel]):
                follow.check_undriven(pair.limbs[1], slider.name)
            values[channel] = seen.channels[source].astype(values[channel].dtype)
    for one, name, axes in _twins(pair):
        mode = bones_of(pair.ob)[one].rotation_mode
        paths = (*OWN, rotation_channel(mode))
        location, scale, numbers = (seen.channels[Channel.of_bone(pair.ob, one, path)] for path in paths)
        for path, rows in zip(OWN, turned_over(location, scale, axes), strict=True):
            values[Channel.of_bone(pair.ob, name, path)] = rows
        turn = np.stack(np.broadcast_arrays(*to_quaternion(mode, [*numbers.T], ARRAY_ANGLES)), axis=-1)
        turn[:, 1:] = -turn[:, 1:] @ axes.T
        ik.turn_bone(values, bones_of(pair.ob)[name], turn, sampling)


def _placing(image: Image, seen: Recording) -> ControlPlacing:
    """Where the other limb's target or pole is to be over the frames."""
    rig, there = worlds_of(seen, image.pair.ob), image.there  # type: Any, Any
    places = _to_be(image, matrices_of(seen, image.source), rig, worlds_of(seen, image.source[0]))
    sizes = sum(rest_geometry_of(image.pair.limbs[1]).lengths) * np.cbrt(np.abs(np.linalg.det(rig[:, :3, :3])))
    return ControlPlacing(there, there, places[:, :3, 3], sizes, places)


def _parts_of(tolerance: float, limb: PoseBone, channels: Sequence[Channel]) -> list[KeyedPart]:
    """What of a limb gets keys: what its joints depend on together, all else by itself."""
    size, bones = sum(rest_geometry_of(limb).lengths), limb.id_data.pose.bones
    together = [part_of_ik(limb, tolerance=tolerance), fk.part_of_fk(limb, tolerance)]
    levers = [bones[key.bone].length if key.bone in bones else size for key in channels]
    return [*together, *(part_of_channel(key, size, lever) for key, lever in zip(channels, levers, strict=True))]


def _seen_off(task: Task, pairs: Sequence[Pair]) -> stepping.Steps[dict[LimbRef, Seen]]:
    """Look at both sides in all frames of a task: how far off the images of bones are, where what carries them is
    one."""
    both = [(pair, [*_above(pair), *(twins[:2] for twins in _twins(pair))]) for pair in pairs]
    names = [(pair.ob, name) for pair, of_pair in both for two in of_pair for name in two]
    progress, found = task.next_progress() if task.frames else float, dict[LimbRef, Seen]()
    with posing_live(task.context):
        now = yield from record(task.context, [], task.frames, Asked(names), progress=progress)
    for pair, of_pair in both:
        bones, images = pair.ob.data.bones, list[Array]()
        for two in of_pair:
            rests = [np.array(bones[name].matrix_local) for name in two]
            images.append(worlds_of(now, pair.ob) @ mirrored(poses_of(now, pair.ob, two[0]), pair.array, *rests))
        lengths = np.array([bones[other].length for _, other in of_pair])
        refs: Any = [(pair.ob, other) for _, other in of_pair]
        moving = MovedBones(pair.image, refs, lengths, sum(rest_geometry_of(pair.limbs[1]).lengths), 0)
        seen = compared(task, moving, np.stack(images), now)
        is_carried = (seen.off[:, 0].T <= TOLD).all(axis=1) | (not _above(pair))
        found[pair.image] = seen._replace(off=np.where(is_carried, seen.off, 0.0))
    return found


def _above(pair: Pair) -> list[tuple[str, str]]:
    """The names of what carries both limbs, if bones do."""
    above: list[Any] = [storage.chain_bones(limb)[0].parent for limb in pair.limbs]
    return [(above[0].name, above[1].name)] if all(above) else []
