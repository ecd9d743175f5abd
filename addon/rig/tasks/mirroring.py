"""A chain's counterpart on the other side of the rig, by Blender's own rules for names with a side."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

import bpy
from bpy.types import Context, PoseBone
from mathutils import Matrix, Vector

from ..data.access import ArmatureObject, chain_settings, has_bone, scene_of, takes_bones, upper_of, view_layer_of
from ..data.sides import other_side
from ..kinds import Refused
from ..problems import overlap
from ..settings import IN_SHAPE, MADE, SHAPING
from ..targets import GOALS, Target, followed
from .controls import mirror_controls
from .ends import end_of, keep_rotation, turned_ends, world_of
from .moving import place
from .setup import add_chain

MIRRORS = tuple(Matrix.Diagonal(Vector([-1.0 if i == axis else 1.0 for i in range(4)])) for axis in range(3))
"""Across the planes at right angles to X, to Y and to Z."""

NEAR = 0.01
"""How much farther from its image across X than across another axis a limb may be, next to its length."""

Pair = tuple[PoseBone, PoseBone]
"""The lower bone of a limb, and that of the limb on the other side."""


class Image(NamedTuple):
    """How the other side mirrors a limb: places and axes in the armature go through ``across``, and what they are the
    axes of through ``turned`` first, as what is mirrored is drawn from its left with its right hand."""

    across: Matrix
    turned: Matrix

    @classmethod
    def of(cls, lower: PoseBone, other: PoseBone) -> Image:
        """The mirror between two limbs at rest: across X, or across Y or Z if the limbs are closer to that, as in rigs
        that look sideways, and puppets drawn from the side."""
        one, two = _rest(lower), _rest(other)
        middle = Matrix.Translation((one[0] + two[0]) / 2.0)
        mirrors = [middle @ mirror @ middle.inverted() for mirror in MIRRORS]
        off = [sum((mirror @ a - b).length for a, b in zip(one, two, strict=True)) for mirror in mirrors]
        close = min(off) + NEAR * (lower.bone.length + upper_of(lower).bone.length)
        axis = next(i for i, each in enumerate(off) if each <= close)
        ends = end_of(lower), end_of(other)
        turned = MIRRORS[0]  # as Blender's own Symmetrize has it
        if ends[0] and ends[1]:
            turned = ends[0].bone.matrix_local.inverted() @ mirrors[axis] @ ends[1].bone.matrix_local
        return cls(mirrors[axis], turned.to_3x3().to_4x4())

    def of_matrix(self, matrix: Matrix) -> Matrix:
        """The mirror image of something in the armature."""
        return self.across @ matrix @ self.turned


def _rest(lower: PoseBone) -> tuple[Vector, Vector, Vector]:
    """Root, knee and tip of a limb at rest."""
    return upper_of(lower).bone.head_local, lower.bone.head_local, lower.bone.tail_local


def counterpart(lower: PoseBone) -> PoseBone:
    """The bone on the other side; raises `Refused` if there is none that can take the chain."""
    flipped = other_side(lower.name)
    if flipped == lower.name:
        raise Refused(f"'{lower.name}' has no side in its name: name it like '{lower.name}.L' or '{lower.name}.R'")
    other: PoseBone | None = lower.id_data.pose.bones.get(flipped)
    if other is None:
        raise Refused(f"There is no bone '{flipped}' on the other side of '{lower.name}'")
    if other.parent is None:
        raise Refused(f"'{flipped}' has no parent: a chain is a bone and its parent")
    if not chain_settings(other).enabled and overlap(other):
        raise Refused(f"{overlap(other)}: remove that chain first")
    for goal in followed(chain_settings(lower)):
        if goal and _lacks_image(goal) and not _can_be_made(goal):
            name = other_side(goal.bone)
            raise Refused(f"'{goal.bone}' has no mirror image '{name}': in Edit Mode, Symmetrize it first")
    return other


def mirror_chains(context: Context, pairs: Iterable[Pair]) -> list[Pair]:
    """Give the second of each pair the chain of the first, with its target and pole mirrored, and what else was made
    for it; return the pairs, whose bones move in memory where others are made."""
    limbs = [(lower.id_data, lower.name, other.name, Image.of(lower, other)) for lower, other in pairs]
    wanted: dict[ArmatureObject, dict[str, Callable[[Matrix], Matrix]]] = {}
    for ob, name, _, image in limbs:
        for goal in filter(None, followed(chain_settings(ob.pose.bones[name]))):
            if _lacks_image(goal):
                wanted.setdefault(cast("ArmatureObject", goal.object), {})[goal.bone] = image.of_matrix
    for rig, images in wanted.items():
        mirror_controls(context, rig, images)
    for ob, name, flipped, image in limbs:
        _mirror_chain(context, ob.pose.bones[name], ob.pose.bones[flipped], image)
    return [(ob.pose.bones[name], ob.pose.bones[flipped]) for ob, name, flipped, _ in limbs]


def _lacks_image(goal: Target) -> bool:
    """Whether a chain follows a bone that has a side, and no counterpart on the other one."""
    return bool(goal.bone) and not has_bone(goal.object, other_side(goal.bone))


def _can_be_made(goal: Target) -> bool:
    """Whether a bone is a control that was made for chains, so that another one can be made on the other side."""
    rig: Any = goal.object
    return has_bone(rig, goal.bone) and takes_bones(rig) and MADE in rig.data.bones[goal.bone]


def _mirror_chain(context: Context, lower: PoseBone, other: PoseBone, image: Image) -> None:
    chain, own = chain_settings(lower), chain_settings(other)
    settings: dict[str, Any] = {name: getattr(chain, name) for name in SHAPING}
    settings |= {name: -settings[name] for name in IN_SHAPE}  # A turn's mirror image goes the other way round.
    for goal, bone in GOALS:
        target = Target.read(getattr(chain, goal), getattr(chain, bone))
        last = Target.read(getattr(own, goal), getattr(own, bone))
        mirrored = _mirrored(context, target, last, other, image) if target else None
        settings[goal] = mirrored.object if mirrored else None
        settings[bone] = mirrored.bone if mirrored else ""
    add_chain(other, settings)
    end = end_of(other)
    if turned_ends(lower) and end and not turned_ends(other):
        keep_rotation(context, other, world_of(context, end))


def flip_settings(copy: PoseBone, lower: PoseBone) -> None:
    """Mirror the settings of a chain that Blender copied from the other side without mirroring them: the names of the
    bones that it follows, and its angles. What was set otherwise since stays."""
    own, chain = chain_settings(copy), chain_settings(lower)
    for goal, bone in GOALS:
        ob, name, flipped = getattr(own, goal), getattr(own, bone), bpy.utils.flip_name(getattr(own, bone))
        if ob and (ob, name) == (getattr(chain, goal), getattr(chain, bone)) and has_bone(ob, flipped):
            setattr(own, bone, flipped)
    for name in IN_SHAPE:
        if getattr(own, name) == getattr(chain, name) != 0.0:
            setattr(own, name, -getattr(own, name))


def _mirrored(context: Context, target: Target, last: Target | None, other: PoseBone, image: Image) -> Target:
    """The target's counterpart: the bone or object of the flipped name, or a copy of the object across the rig."""
    if target.bone:
        return Target(target.object, other_side(target.bone))  # which a bone without a side is itself
    name = other_side(target.object.name)
    copy = bpy.data.objects.get(name) if name != target.object.name else None
    if copy is None and last is not None and last.object != target.object:
        copy = last.object
    if copy is None:
        copy = target.object.copy()
        copy.name = name if name != target.object.name else f"{target.object.name}_{other.name}"
        copy.animation_data_clear()
        for collection in target.object.users_collection or (scene_of(context).collection,):
            collection.objects.link(copy)
        _hang_on_other_side(context, copy)
    depsgraph = context.evaluated_depsgraph_get()
    world = other.id_data.evaluated_get(depsgraph).matrix_world
    mirrored = world @ image.of_matrix(world.inverted_safe() @ target.matrix(depsgraph))
    place(Target(copy, ""), mirrored.translation, mirrored)
    view_layer_of(context).update()
    return Target(copy, "")


def _hang_on_other_side(context: Context, copy: Any) -> None:
    """Have a copied target hang on, and follow, what is on the other side of what its original does, if there is that;
    what it is a child of by a constraint moves it from where it is now on."""
    followed = [(each, "target", "subtarget") for each in copy.constraints if hasattr(each, "target")]
    for owner, goal, bone in ((copy, "parent", "parent_bone"), *followed):
        ob, name = getattr(owner, goal), getattr(owner, bone, "")
        if ob and name and has_bone(ob, other_side(name)):
            setattr(owner, bone, other_side(name))
        elif ob and not name:
            setattr(owner, goal, bpy.data.objects.get(other_side(ob.name), ob))
    view_layer_of(context).update()
    depsgraph = context.evaluated_depsgraph_get()
    for each, *_ in followed:
        if each.type == "CHILD_OF" and (carrier := Target.read(each.target, each.subtarget)):
            each.inverse_matrix = carrier.matrix(depsgraph).inverted_safe()
