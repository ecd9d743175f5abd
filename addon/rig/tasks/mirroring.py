"""A chain's counterpart on the other side of the rig, by Blender's own rules for names with a side."""

from __future__ import annotations

from typing import Any

import bpy
from bpy.types import Context, Object, PoseBone
from mathutils import Matrix, Vector

from ..data.access import chain_settings, has_bone, scene_of
from ..data.sides import other_side
from ..kinds import Refused
from ..problems import overlap
from ..settings import IN_SHAPE, SHAPING
from ..targets import GOALS, Target, followed
from .setup import add_chain

MIRROR = Matrix.Diagonal((-1.0, 1.0, 1.0, 1.0))


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
        name = other_side(goal.bone) if goal and goal.bone else ""
        if goal and name != goal.bone and not has_bone(goal.object, name):
            raise Refused(f"'{goal.bone}' has no mirror image '{name}': in Edit Mode, Symmetrize it first")
    return other


def mirror_chain(context: Context, lower: PoseBone, other: PoseBone) -> None:
    """Give ``other`` the chain of ``lower``, with its target and pole mirrored."""
    ob, chain, own = lower.id_data, chain_settings(lower), chain_settings(other)
    settings: dict[str, Any] = {name: getattr(chain, name) for name in SHAPING}
    settings |= {name: -settings[name] for name in IN_SHAPE}  # A turn's mirror image goes the other way round.
    for goal, bone in GOALS:
        target = Target.read(getattr(chain, goal), getattr(chain, bone))
        last = Target.read(getattr(own, goal), getattr(own, bone))
        mirrored = _mirrored(context, ob, target, last, other.name) if target else None
        settings[goal] = mirrored.object if mirrored else None
        settings[bone] = mirrored.bone if mirrored else ""
    add_chain(other, settings)


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


def _mirrored(context: Context, ob: Object, target: Target, last: Target | None, other: str) -> Target:
    """The target's counterpart: the bone or object of the flipped name, or a copy of the object across the rig."""
    if target.bone:
        return Target(target.object, other_side(target.bone))  # which a bone without a side is itself
    name = other_side(target.object.name)
    copy = bpy.data.objects.get(name) if name != target.object.name else None
    if copy is None and last is not None and last.object != target.object:
        copy = last.object
    if copy is None:
        copy = target.object.copy()
        copy.name = name if name != target.object.name else f"{target.object.name}_{other}"
        copy.animation_data_clear()
        for collection in target.object.users_collection or (scene_of(context).collection,):
            collection.objects.link(copy)
    depsgraph = context.evaluated_depsgraph_get()
    matrix = copy.matrix_world.copy()
    matrix.translation = across(ob.evaluated_get(depsgraph).matrix_world, target.position(depsgraph))
    copy.matrix_world = matrix
    return Target(copy, "")


def across(world: Matrix, position: Vector) -> Vector:
    """A place in the world on the other side of an object's own YZ plane."""
    return world @ (MIRROR @ (world.inverted_safe() @ position))
