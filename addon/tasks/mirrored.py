"""A limb described as the mirror image of the one on the other side of its rig, by Blender's own rules for names with
a side, and where what it follows is to be for that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bpy.types import Depsgraph, PoseBone
from mathutils import Matrix, Vector

from ..blender.animation import animated_paths
from ..blender.dependencies import BoneRef, Dependencies
from ..blender.types import ArmatureObject, bones_of, can_edit_bones, has_bone, split_path
from ..blender.words import Refused
from ..finding.checking import check_addable
from ..limb.follow import check_apart, check_posable, follow_of, is_gone, matrix_of, unrolled
from ..limb.names import other_side
from ..limb.rest_geometry import USUAL_AXIS, is_straight, rest_geometry_of
from ..limb.storage import CONTROL_KINDS, bones_of_limb, is_control, is_limb, segments_of, stored_axes
from ..limb.tips import foot_of
from ..limb.tolerances import NO_TURN
from ..rigging.control_shapes import Drawing
from ..rigging.controls import Control, drawn_bone, name_of_control, rig_root
from ..rigging.description import Description, LimbRef, describe
from ..rigging.features import with_pole_follow
from ..rigging.feet import SIDEWAYS, mirrored_pivots, offset_of, toes_free, turn_between

CLOSE_IMAGE = 0.01
"""How much farther from its image across X than across another axis a limb may be, next to its length."""

AXES = (Vector((1.0, 0.0, 0.0)), Vector((0.0, 1.0, 0.0)), Vector((0.0, 0.0, 1.0)))


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

    def followed_by_other(self, kind: str) -> tuple[Any, str]:
        """What the other limb follows now as its target or pole."""
        followed: tuple[Any, str] = follow_of(self.limbs[1]).pairs[CONTROL_KINDS.index(kind)]
        return followed


class Image(NamedTuple):
    """The target or the pole of a limb, and the one of the other limb that mirrors it."""

    pair: Pair
    kind: str  # target or pole
    source: BoneRef  # of the limb
    matrix: Matrix  # of that, in the armature
    there: BoneRef | None  # of the other limb; None where it is to be made


def pair_of(limb: PoseBone) -> Pair:
    """A limb and the one on the other side; raises `Refused` if there is none, and no bone that can be one."""
    name = other_side(limb.name)
    if name == limb.name:
        raise Refused("'{bone}' has no side in its name: name it like 'shin.L' or 'shin.R'", bone=limb.name)
    other: PoseBone | None = limb.id_data.pose.bones.get(name)
    if other is None:
        raise Refused("There is no bone '{other}' on the other side of '{bone}'", bone=limb.name, other=name)
    if not is_limb(other):
        check_addable(other, segments_of(limb))
    return Pair(limb.id_data, limb.name, name, _mirror_between(limb, other))


def _mirror_between(limb: PoseBone, other: PoseBone) -> Matrix:
    """The mirror between two limbs at rest: across X, or across Y or Z if the limbs are closer to that, as in rigs that
    look sideways, and puppets drawn from the side."""
    one, two = (
        [*(bone.bone.head_local for bone in bones_of_limb(end, segments_of(limb))), end.bone.tail_local]
        for end in (limb, other)
    )
    middle = Matrix.Translation((one[0] + two[0]) / 2.0)
    mirrors = [middle @ Matrix.Scale(-1.0, 4, axis) @ middle.inverted() for axis in AXES]
    off = [sum((across @ a - b).length for a, b in zip(one, two, strict=True)) for across in mirrors]
    close = min(off) + CLOSE_IMAGE * (one[-1] - one[0]).length
    return next(across for across, distance in zip(mirrors, off, strict=True) if distance <= close)


# what the other limb follows


def images_of(pair: Pair, depsgraph: Depsgraph) -> list[Image]:
    """What the limb follows, and what of that is there for the other one. Refuses to move what carries it."""
    limb, other = pair.limbs
    _check_followed(limb)
    images = []
    for kind, (ob, bone) in zip(CONTROL_KINDS, follow_of(limb).pairs, strict=True):
        if ob is not None:
            in_rig = pair.ob.matrix_world.inverted_safe() @ matrix_of(ob, bone, depsgraph)
            image = Image(pair, kind, (ob, bone), in_rig, _there(pair, kind, (ob, bone)))
            if image.there and _is_moved(image):
                check_apart(other, *image.there, Dependencies())
            images.append(image)
    return images


def _check_followed(limb: PoseBone) -> None:
    """Refuse a limb that can't be posed, or whose pole is gone."""
    check_posable(limb)
    ob, bone = follow_of(limb).pairs[1]
    if ob and is_gone(ob, bone):
        raise Refused("What '{bone}' follows is gone: pick another, then mirror", bone=limb.name)


def _there(pair: Pair, kind: str, source: BoneRef) -> BoneRef | None:
    """What the other limb is to follow, if that is there. A bone's counterpart is the bone of the flipped name, but an
    object's only what the other limb follows already: an object of that name may be anything."""
    ob, bone = source
    if bone:
        name = other_side(bone)
        if has_bone(ob, name):
            return ob, name
        if is_control(ob, bone) and can_edit_bones(ob):  # type: ignore[arg-type]
            return None
        raise Refused("'{bone}' has no mirror image '{other}': Symmetrize it in Edit Mode", bone=bone, other=name)
    now, its_bone = pair.followed_by_other(kind)
    return (now, its_bone) if now is not None and now != ob else None


def _control(image: Image) -> Control:
    pair, (ob, name) = image.pair, image.source
    other, now = pair.limbs[1], pair.across @ image.matrix @ SIDEWAYS
    rest, size = now, 0.1 * other.bone.length
    rig: Any = ob if name else pair.ob
    if name:
        bone = rig.data.bones[name]
        rest, size = pair.across @ bone.matrix_local @ SIDEWAYS, bone.length
    return Control(
        ob=rig,
        limb_name=pair.other,
        kind=image.kind,
        name=other_side(name) if name else name_of_control(other, image.kind),
        parent=_parent_on_other(image),
        rest=rest,
        size=size,
        drawing=_mirrored_drawing(pair, image.source) or Drawing("CUBE", rest @ Matrix.Scale(size, 4)),
        place=now.translation,
        turn=now.to_3x3().normalized(),
    )


def _parent_on_other(image: Image) -> str:
    """What a control of the other limb hangs on: the counterpart of what the limb's own does, else what moves the
    rig."""
    pair, (ob, name) = image.pair, image.source
    limb, other = pair.limbs
    target = follow_of(limb).pairs[0]
    above = bones_of(ob)[name].parent if name else None
    if above is not None and target == (ob, above.name):
        return other_side(above.name)
    return rig_root(other, segments_of(limb)) if ob == pair.ob or not name else ""


def _mirrored_drawing(pair: Pair, source: BoneRef) -> Drawing | None:
    """The drawing of a control bone mirrored; None if it is not drawn as ours are."""
    ob, name = source
    drawing = drawn_bone(ob.pose.bones[name]) if name else None  # type: ignore[union-attr]
    return drawing and drawing._replace(matrix=pair.across @ drawing.matrix @ SIDEWAYS)


def images_there(images: Iterable[Image]) -> list[Image]:
    """The images that are to be moved, of limbs that are all there."""
    there = [image._replace(there=image.there or image.pair.followed_by_other(image.kind)) for image in images]
    return [image for image in there if _is_moved(image)]


def _is_moved(image: Image) -> bool:
    """Whether the other limb's target or pole is to be as the mirror image of the limb's. What is no control
    stays where it is an object, or a bone that is not posed itself; and so does what both follow."""
    there: Any = image.there
    if there == image.source:
        return False
    if is_control(*there):
        return True
    return bool(there[1]) and not (image.source[1] and _only_ride(image.source, there))


def check_there(ref: LimbRef, images: Sequence[Image]) -> None:
    """Refuse a limb that would have to be made on a rig from another file."""
    if not is_limb(ref[0].pose.bones[ref[1]]) or any(image.there is None for image in images):
        template = "'{other}' has no IK, and '{rig}' comes from another file: mirror the limb there"
        raise Refused(template, other=ref[1], rig=ref[0].name)


def matrix_across(image: Image, source: Any, rig: Any, owner: Any) -> Any:
    """Where in the world the other limb's target or pole mirrors the limb's, which is at ``source``, while their
    ``rig`` is there, and the ``owner`` that has both as bones: a bone is moved off its rest as its counterpart is, an
    object stands as its counterpart."""
    pair, there, into = image.pair, image.there, rig.inverted_safe()
    if not (image.source[1] and there and there[1]):
        return rig @ pair.across @ into @ source @ SIDEWAYS
    bones: Any = (image.source, there)
    rest, its_rest = (into @ owner @ ob.data.bones[name].matrix_local for ob, name in bones)
    return rig @ pair.across @ into @ source @ rest.inverted_safe() @ pair.across @ its_rest


def _only_ride(*refs: BoneRef) -> bool:
    """Whether bones go with those that they hang on, and are not posed themselves: as pins do with cranks."""
    bones: list[PoseBone] = [ob.pose.bones[name] for ob, name in refs]  # type: ignore[union-attr]
    off = max(float(np.abs(np.array(bone.matrix_basis) - np.eye(4)).max()) for bone in bones)
    moved = {split_path(path)[0] for ob, _ in refs for path in animated_paths(ob)}
    return off <= NO_TURN and all(bone.parent and not bone.constraints and bone.name not in moved for bone in bones)


# the limb itself


def image_of(pair: Pair, images: Sequence[Image], depsgraph: Depsgraph, dependencies: Dependencies) -> Description:
    """The mirror image of a limb, which keeps the constraint and the mode that the other one has. Axes of turns go the
    other way round; numbers mean the same on both sides."""
    limb, other = pair.limbs
    mine = describe((pair.ob, pair.limb_name))
    its = describe(pair.image) if is_limb(other) else Description(mine.segments, "", sliders={})
    axis, flat = stored_axes(limb)
    axis = axis or ([*USUAL_AXIS] if is_straight(rest_geometry_of(limb)) else [])
    starts = zip(bones_of_limb(limb), bones_of_limb(other, mine.segments), strict=True)
    rotations: Any = [
        (flat[4 * i], *_axis_on_other(pair, one, two, flat[4 * i + 1 : 4 * i + 4]))
        for i, (one, two) in enumerate(starts)
        if flat
    ]
    followed = {image.kind: image.there or _control(image) for image in images}
    description = mine._replace(
        foot=_foot_of(pair, mine),
        bend_axis=tuple(_axis_on_other(pair, limb, other, axis)) if axis else (),
        reference_rotations=tuple(rotations),
        target=followed.get("target"),
        pole=followed.get("pole"),
        pole_follow=its.pole_follow if its.pole == followed.get("pole") else None,
        roll=None,
        sliders=mine.sliders | {name: value for name, value in its.sliders.items() if name in mine.sliders},
        mode=its.mode,
        constraint=its.constraint,
        converted_from=its.converted_from,
    )
    if mine.foot_turn is not None:
        target = next((image for image in images if image.kind == "target"), None)
        foot_turn = _foot_turn(pair, target, depsgraph) if target and any(mine.foot_turn) else (0.0, 0.0, 0.0)
        description = description._replace(foot_turn=foot_turn if description.foot else None)
    if mine.roll and description.foot:
        pivots = mirrored_pivots(mine.roll.pivots, pair.across)
        description = description._replace(
            roll=mine.roll._replace(pivots=pivots, toes=toes_free(pair.ob, description.foot, dependencies))
        )
    return with_pole_follow(description, pair.image)


def _foot_of(pair: Pair, mine: Description) -> str:
    """The foot of the other limb: the image of the limb's, or the one that it has or would have."""
    image, other = pair.ob.pose.bones.get(other_side(mine.foot)), pair.limbs[1]
    if image is not None and mine.foot and image.parent == other:
        return image.name
    foot = foot_of(other)
    return foot.name if foot else ""


def _foot_turn(pair: Pair, target: Image, depsgraph: Depsgraph) -> tuple[float, float, float]:
    """How the other limb's foot is turned off what that follows, once it stands as the image of the limb's foot."""
    limb, world = pair.limbs[0], pair.ob.matrix_world
    foot: Any = foot_of(limb)
    foot_matrix = world.inverted_safe() @ unrolled(limb, depsgraph) @ offset_of(foot)
    image_of_foot = pair.across @ foot_matrix @ SIDEWAYS
    if target.there is None:
        matrix = pair.across @ target.matrix @ SIDEWAYS
    elif _is_moved(target):
        source: Any = target.source[0]
        matrix = world.inverted_safe() @ matrix_across(target, world @ target.matrix, world, source.matrix_world)
    else:
        matrix = world.inverted_safe() @ matrix_of(*target.there, depsgraph)
    owner = target.there[0] if target.there else target.source[0] if target.source[1] else pair.ob
    is_near = owner == pair.ob
    return turn_between(matrix, image_of_foot) if is_near else turn_between(world @ matrix, world @ image_of_foot)


def _axis_on_other(pair: Pair, one: PoseBone, two: PoseBone, axis: Any) -> list[float]:
    """The mirror image of an axis that something turns about, from one bone's own axes to another's."""
    of_one, of_two = (bone.bone.matrix_local.to_3x3() for bone in (one, two))
    axis_across: Any = of_two.transposed() @ -(pair.across.to_3x3() @ (of_one @ Vector(axis)))
    return [*axis_across]
