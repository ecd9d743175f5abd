"""The limb on the other side of a rig, by Blender's own rules for names with a side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from bpy.types import Context, PoseBone
from mathutils import Matrix, Vector

from ..blender.dependencies import BoneRef
from ..blender.names import other_side
from ..blender.types import ArmatureObject, bones_of, has_bone, tag, takes_bones
from ..finding.checking import check
from ..limb.follow import Follow, follow_of, matrix_of, write
from ..limb.foot_roll import has_roll
from ..limb.moving import Move, check_apart, move
from ..limb.pole_follow import has_pole_follow
from ..limb.settings import CHOICES, GROUP, SLIDERS
from ..limb.sides import axes_kept, keep_side
from ..limb.storage import align, bones_of_limb, is_control, is_limb, make_limb, make_slider, mode_of, segments_of
from ..limb.tips import foot_of, mark_tip
from ..limb.whole import wholly
from ..limb.words import Message, Refused
from ..rigging import feet
from ..rigging.control_shapes import Drawing
from ..rigging.controls import Control, make_controls, make_objects, name_of_control, rig_root
from ..rigging.foot_pivots import Pivots, mirrored_pivots
from ..rigging.pole_follow import drop_pole_follow, rebuild_pole_follow
from ..rigging.rolling import aim_controls, drop_roll, pivots_of, rebuild_rolls
from ..rigging.widgets import drawn_bone, drawn_object, mirrored
from .modes import put_on_rig, rebuild_mechanisms

CLOSE_IMAGE = 0.01
"""How much farther from its image across X than across another axis a limb may be, next to its length."""

AXES = (Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))

SIDEWAYS: Any = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))
"""What a bone's axes are mirrored by, so that they stay right-handed, as Blender's Symmetrize has it."""


class Pair(NamedTuple):
    """A limb and the one on the other side, by their rig and the names of their last bones, and what takes one to the
    other in the armature."""

    ob: ArmatureObject
    last: str
    other: str
    across: Matrix


def other_of(last: PoseBone) -> PoseBone:
    """The last bone of the limb on the other side; raises `Refused` if there is none, or none that can be a limb."""
    name = other_side(last.name)
    if name == last.name:
        raise Refused("'{bone}' has no side in its name: name it like 'shin.L' or 'shin.R'", bone=last.name)
    other: PoseBone | None = last.id_data.pose.bones.get(name)
    if other is None:
        raise Refused("There is no bone '{other}' on the other side of '{bone}'", bone=last.name, other=name)
    if not is_limb(other):
        check(other, segments_of(last))
    return other


class Mirrored(NamedTuple):
    """Rigs with the names of both last bones, and warnings."""

    pairs: list[tuple[ArmatureObject, str, str]]
    warnings: list[Message]


@wholly
def mirror(context: Context, lasts: Sequence[PoseBone]) -> Mirrored:
    """Give the other side of limbs their settings, and targets and poles that are posed as the mirror image of theirs;
    limbs and controls are made where there are none. New limbs are on the
    rig where the first ones are. Raises `Refused` before anything is done."""
    pairs = [
        Pair(last.id_data, last.name, (other := other_of(last)).name, _mirror_between(last, other)) for last in lasts
    ]
    images = _images_of(context, pairs)
    settings = [_settings(pair) for pair in pairs]  # of all, before the first is changed: both sides may be mirrored
    if any(not takes_bones(pair.ob) for pair in pairs):
        return _mirror_pose(context, pairs, images, settings)
    new_controls = _make_controls_of(context, [image for image in images if image.there is None])
    images = [image if image.there else image._replace(there=new_controls.pop(0)) for image in images]
    for pair in pairs:
        if not has_roll(pair.ob.pose.bones[pair.last]):
            drop_roll(context, [pair.ob.pose.bones[pair.other]])
        if not has_pole_follow(pair.ob.pose.bones[pair.last]):
            drop_pole_follow(context, [pair.ob.pose.bones[pair.other]])
    for pair, its_settings in zip(pairs, settings, strict=True):
        mine = {image.k: image.there for image in images if image.pair == pair}
        _set_up(pair, its_settings, Follow(*(mine.get(0) or (None, "")), *(mine.get(1) or (None, ""))))
    aim_controls([pair.ob.pose.bones[pair.other] for pair in pairs])
    rebuild_pole_follow(context, [pair.ob.pose.bones[pair.other] for pair in pairs])
    move(context, [image_move for image in images if (image_move := _move(image))])
    for pair, its_settings in zip(pairs, settings, strict=True):
        other = pair.ob.pose.bones[pair.other]
        feet.follow_alike(other, its_settings.foot)
        rebuild_rolls(context, [other] if has_roll(other) else [], {other.name: its_settings.pivots})
        other = pair.ob.pose.bones[pair.other]
        rebuild_mechanisms(context, [other])
        tag(pair.ob.pose.bones[pair.other])
    bones = [(pair, pair.ob.pose.bones[pair.last], pair.ob.pose.bones[pair.other]) for pair in pairs]
    live = [(pair.ob, pair.other) for pair, last, other in bones if mode_of(last) == "RIG" and mode_of(other) == "LIVE"]
    return Mirrored([pair[:3] for pair in pairs], put_on_rig(context, live) if live else [])


def _images_of(context: Context, pairs: Sequence[Pair]) -> list[Image]:
    """What limbs follow, and what mirrors it. Raises `Refused`."""
    depsgraph = context.evaluated_depsgraph_get()
    images: list[Image] = []
    for pair in pairs:
        for k, (ob, bone) in enumerate(follow_of(pair.ob.pose.bones[pair.last]).pairs):
            if ob is not None:
                in_rig = pair.ob.matrix_world.inverted_safe() @ matrix_of(ob, bone, depsgraph)
                images.append(Image(pair, k, (ob, bone), in_rig, _there(pair, k, (ob, bone))))
                if images[-1].there and _move(images[-1]):
                    check_apart(pair.ob.pose.bones[pair.other], *images[-1].there)
    return images


def _mirror_pose(
    context: Context, pairs: Sequence[Pair], images: Sequence[Image], settings: Sequence[MirroredSettings]
) -> Mirrored:
    """Give limbs that are there, of rigs from another file, what of the other side animates."""
    for pair in pairs:
        others = [image.there for image in images if image.pair == pair]
        if not is_limb(pair.ob.pose.bones[pair.other]) or None in others:
            template = "'{other}' has no IK, and '{rig}' comes from another file: mirror the limb there"
            raise Refused(template, other=pair.other, rig=pair.ob.name)
    for pair, its_settings in zip(pairs, settings, strict=True):
        other: Any = pair.ob.pose.bones[pair.other]
        for key in its_settings.sliders.keys() & other.keys():
            other[key] = its_settings.sliders[key]
        tag(other)
    move(context, [image_move for image in images if (image_move := _move(image))])
    return Mirrored([pair[:3] for pair in pairs], [])


class MirroredSettings(NamedTuple):
    """The mirror image of a limb's settings."""

    segments: tuple[int, ...]
    group: dict[str, Any]  # what its group says, by entry
    sliders: dict[str, Any]  # their values, by the names of the custom properties
    foot: feet.Following | None  # how its foot follows
    below: str  # the name of its foot; nothing where one is to be looked for
    pivots: Pivots  # of its foot roll


class Image(NamedTuple):
    """The target or the pole of a limb, and the one of the other limb that mirrors it."""

    pair: Pair
    k: int  # 0 for the target, 1 for the pole
    source: BoneRef  # of the limb
    matrix: Matrix  # of that, in the armature
    there: BoneRef | None  # of the other limb; None where it is to be made


def _mirror_between(last: PoseBone, other: PoseBone) -> Matrix:
    """The mirror between two limbs at rest: across X, or across Y or Z if the limbs are closer to that, as in rigs that
    look sideways, and puppets drawn from the side."""
    one, two = (
        [*(bone.bone.head_local for bone in bones_of_limb(end, segments_of(last))), end.bone.tail_local]
        for end in (last, other)
    )
    middle = Matrix.Translation((one[0] + two[0]) / 2.0)
    mirrors = [middle @ Matrix.Scale(-1.0, 4, axis) @ middle.inverted() for axis in AXES]
    off = [sum((across @ a - b).length for a, b in zip(one, two, strict=True)) for across in mirrors]
    close = min(off) + CLOSE_IMAGE * (one[-1] - one[0]).length
    return next(across for across, distance in zip(mirrors, off, strict=True) if distance <= close)


def _there(pair: Pair, k: int, source: BoneRef) -> BoneRef | None:
    """What the other limb is to follow, if that is there. A bone's counterpart is the bone of the flipped name, but an
    object's only what the other limb follows already: an object of that name may be anything."""
    ob, bone = source
    other = pair.ob.pose.bones[pair.other]
    if bone:
        name = other_side(bone)
        if has_bone(ob, name):
            return ob, name
        if is_control(ob, bone) and takes_bones(ob):  # type: ignore[arg-type]
            return None
        raise Refused("'{bone}' has no mirror image '{other}': Symmetrize it in Edit Mode", bone=bone, other=name)
    now, its_bone = follow_of(other).pairs[k]
    return (now, its_bone) if now is not None and now != ob else None


def _make_controls_of(context: Context, images: Sequence[Image]) -> list[BoneRef]:
    """Make controls: bones where the original is one, else objects."""
    new_bones = iter(make_controls(context, [_control(image) for image in images if image.source[1]]))
    new_objects = iter(make_objects(context, [_control(image) for image in images if not image.source[1]]))
    return [next(new_bones if image.source[1] else new_objects) for image in images]


def _parent_on_other(image: Image) -> str:
    """What a control of the other limb hangs on: the counterpart of what the limb's own does, else what moves the
    rig."""
    pair, (ob, name) = image.pair, image.source
    last, other = pair.ob.pose.bones[pair.last], pair.ob.pose.bones[pair.other]
    target = follow_of(last).pairs[0]
    above = bones_of(ob)[name].parent if name else ob and ob.parent
    if above is not None and target == ((ob, above.name) if name else (above, "")):
        return other_side(above.name) if name else name_of_control(other, "target")
    return rig_root(other, segments_of(last)) if name and ob == pair.ob else ""


def _control(image: Image) -> Control:
    pair, (ob, name) = image.pair, image.source
    other, now = pair.ob.pose.bones[pair.other], pair.across @ image.matrix @ SIDEWAYS
    rest, size = now, 0.1 * other.bone.length
    rig: Any = ob if name else pair.ob
    if name:
        bone = rig.data.bones[name]
        rest, size = pair.across @ bone.matrix_local @ SIDEWAYS, bone.length
    kind = ("target", "pole")[image.k]
    return Control(
        ob=rig,
        last=pair.other,
        kind=kind,
        name=other_side(name) if name else name_of_control(other, kind),
        parent=_parent_on_other(image),
        rest=rest,
        size=size,
        drawing=_mirrored_drawing(pair, image.source, rest) or Drawing("CUBE", rest @ Matrix.Scale(size, 4)),
        place=now.translation,
        turn=now.to_3x3().normalized(),
    )


def _mirrored_drawing(pair: Pair, source: BoneRef, rest: Matrix) -> Drawing | None:
    """The drawing of a control mirrored, for one that rests at ``rest``; None if it is not drawn as ours are."""
    ob, name = source
    if name:
        bone: Any = ob.pose.bones[name]  # type: ignore[union-attr]
        drawing = drawn_bone(bone)
        return drawing and drawing._replace(matrix=pair.across @ drawing.matrix @ SIDEWAYS)
    drawing = drawn_object(ob)
    in_armature = Matrix.Scale(1.0 / pair.ob.matrix_world.median_scale, 4)
    return drawing and drawing._replace(matrix=rest @ in_armature @ mirrored(drawing.matrix))


def _move(image: Image) -> Move | None:
    """The move that has the other limb's target or pole as the mirror image of the limb's: a bone is moved off its rest
    as its counterpart is, an object stands as its counterpart. None for what is to stay: an object that is no
    control."""
    pair, bone = image.pair, image.source[1]
    source: Any = image.source
    there: Any = image.there
    if there == image.source or (not there[1] and not is_control(*there)):
        return None
    if bone and there[1]:
        to_rig = pair.ob.matrix_world.inverted_safe() @ source[0].matrix_world
        rest, its_rest = (to_rig @ rig.data.bones[name].matrix_local for rig, name in (source, there))
        matrix = pair.across @ image.matrix @ rest.inverted_safe() @ pair.across @ its_rest
    else:
        matrix = pair.across @ image.matrix @ SIDEWAYS
    world = pair.ob.matrix_world @ matrix
    return Move(there[0], there[1], world.translation, world.to_quaternion())


def _settings(pair: Pair) -> MirroredSettings:
    """The mirror image of a limb's settings. Axes of turns go the other way round; numbers mean the same on both
    sides."""
    last, other = pair.ob.pose.bones[pair.last], pair.ob.pose.bones[pair.other]
    mine: Any = last[GROUP]
    segments = segments_of(last)
    group = {name: mine[name] for name in CHOICES if name in mine}
    axis, flat = axes_kept(last)
    group["bend_axis"] = _axis_on_other(pair, last, other, axis)
    for i, (one, two) in enumerate(zip(bones_of_limb(last), bones_of_limb(other, segments), strict=True)):
        flat[4 * i + 1 : 4 * i + 4] = _axis_on_other(pair, one, two, flat[4 * i + 1 : 4 * i + 4]) if flat else ()
    if flat:
        group["reference_rotations"] = flat
    values = {slider.key: last[slider.key] for slider in SLIDERS if slider.key in last}  # type: ignore[operator]
    sliders = {key: value.to_list() if hasattr(value, "to_list") else value for key, value in values.items()}
    foot = feet.following(last)
    if foot and foot.stand:
        world = pair.ob.matrix_world
        foot = foot._replace(stand=world @ pair.across @ world.inverted_safe() @ foot.stand @ SIDEWAYS)
    below, pivots = foot_of(last), mirrored_pivots(pivots_of(last), pair.across) if has_roll(last) else {}
    return MirroredSettings(
        segments=segments,
        group=group,
        sliders=sliders,
        foot=foot,
        below=other_side(below.name) if below else "",
        pivots=pivots,
    )


def _set_up(pair: Pair, settings: MirroredSettings, follow: Follow) -> None:
    """Make the other limb, or set it anew."""
    other: Any = pair.ob.pose.bones[pair.other]
    write(make_limb(other, settings.segments), follow)
    image = pair.ob.pose.bones.get(settings.below)
    if image is not None and image.parent == other:
        mark_tip(other, image.bone)
    group = other[GROUP]
    for name in (*CHOICES, "reference_rotations"):
        if name in group:
            del group[name]
    for name, value in settings.group.items():
        group[name] = value
    keep_side(other)
    for slider in SLIDERS:
        if slider.key not in settings.sliders:
            if slider.key in other:
                del other[slider.key]
            continue
        if slider.key not in other:
            make_slider(other, slider)
        other[slider.key] = settings.sliders[slider.key]
    align(other)


def _axis_on_other(pair: Pair, one: PoseBone, two: PoseBone, axis: Any) -> list[float]:
    """The mirror image of an axis that something turns about, from one bone's own axes to another's."""
    of_one, of_two = (bone.bone.matrix_local.to_3x3() for bone in (one, two))
    axis_across: Any = of_two.transposed() @ -(pair.across.to_3x3() @ (of_one @ Vector(axis)))
    return [*axis_across]
