"""Controls that are made for a chain: bones of the rig as target and pole. They go with the chain."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, NamedTuple

import bpy
from bpy.types import Context, EditBone, Object, PoseBone
from mathutils import Matrix, Vector

from ..data.access import (
    ArmatureObject,
    bones_of,
    chain_settings,
    is_armature,
    path_to_bone,
    takes_bones,
    view_layer_of,
)
from ..data.animation import curves_everywhere
from ..data.editing import edit_mode
from ..data.sides import other_side
from ..settings import MADE
from ..targets import Target, pointed_to, unsheared_turn

COLLECTION = "IK Controls"
"""The bone collection of all of them."""

CUBE = (
    [(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)],
    [(a, a | bit) for a in range(8) for bit in (1, 2, 4) if not a & bit],
)
DIAMOND = (
    [(0.5, 0, 0), (-0.5, 0, 0), (0, 0.5, 0), (0, -0.5, 0), (0, 0, 0.5), (0, 0, -0.5)],
    [(a, b) for a in range(6) for b in range(a + 1, 6) if a // 2 != b // 2],
)
SHAPES = {"target": ("WGT-planar_ik_target", CUBE), "pole": ("WGT-planar_ik_pole", DIAMOND)}
"""What controls look like, by what they are for: the shape's name, its corners and edges."""


class Control(NamedTuple):
    """A bone to be made: for which limb and as what, where in the world, turned as which transform, and how large."""

    kind: str
    lower: str
    place: Vector
    turned: Matrix
    size: float


def make_controls(context: Context, ob: ArmatureObject, wanted: Collection[Control], parent: str) -> list[Target]:
    """Make bones that are controls, where they are wanted as the rig is posed."""
    evaluated = ob.evaluated_get(context.evaluated_depsgraph_get())
    to_rest = Matrix()
    if parent:
        posed = evaluated.pose.bones[parent]
        to_rest = posed.bone.matrix_local @ posed.matrix.inverted_safe()
    to_rest = to_rest @ evaluated.matrix_world.inverted_safe()
    names = []
    with edit_mode(context, ob):
        for control in wanted:
            rest = Matrix.LocRotScale(to_rest @ control.place, unsheared_turn(to_rest @ control.turned), None)
            made = ob.data.edit_bones.new(f"{control.kind}_{control.lower}")
            length = control.size * to_rest.median_scale
            _lay(made, rest, length, ob.data.edit_bones[parent] if parent else None)
            names.append(made.name)
    for control, name in zip(wanted, names, strict=True):
        _finish(ob, name, _shape(*SHAPES[control.kind]))
    return [Target(ob, name) for name in names]


def mirror_controls(context: Context, ob: ArmatureObject, images: Mapping[str, Callable[[Matrix], Matrix]]) -> None:
    """Make controls for the other side of those of these names, at rest and in the pose by what gives the mirror image
    of something in the armature."""
    evaluated = ob.evaluated_get(context.evaluated_depsgraph_get())
    posed = {name: image(evaluated.pose.bones[name].matrix) for name, image in images.items()}
    with edit_mode(context, ob):
        bones = ob.data.edit_bones
        for name, image in images.items():
            bone = bones[name]
            parent = bone.parent and bones.get(other_side(bone.parent.name), bone.parent)
            _lay(bones.new(other_side(name)), image(bone.matrix), bone.length, parent)
    for name, matrix in posed.items():
        control, copy = ob.pose.bones[name], ob.pose.bones[other_side(name)]
        _finish(ob, copy.name, control.custom_shape)
        copy.rotation_mode, copy.matrix = control.rotation_mode, matrix
    view_layer_of(context).update()


def _lay(made: EditBone, rest: Matrix, length: float, parent: EditBone | None) -> None:
    """Lay a new control at rest. Blender takes no matrix for a bone without a length."""
    made.tail = (0.0, 1.0, 0.0)
    made.matrix, made.length, made.parent, made.use_deform = rest, length, parent, False


def _finish(ob: ArmatureObject, name: str, shape: Object | None) -> None:
    """Give a new control its shape and its collection."""
    bone: Any = ob.pose.bones[name]
    bone.bone[MADE] = True
    bone.custom_shape, bone.bone.show_wire = shape, True
    for each in list(bone.bone.collections):
        each.unassign(bone.bone)
    (ob.data.collections_all.get(COLLECTION) or ob.data.collections.new(COLLECTION)).assign(bone.bone)


def _shape(name: str, of: tuple[list[Any], list[Any]]) -> Object:
    """An object of edges that bones can be drawn as; it is in no scene."""
    found = bpy.data.objects.get(name)
    if found is None:
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(of[0], of[1], [])
        found = bpy.data.objects.new(name, mesh)
    return found


def take_away(context: Context, goals: Iterable[Target]) -> None:
    """Remove those of the controls that were made for chains and that nothing needs any more."""
    named: list[tuple[Any, str]] = [(goal.object, goal.bone) for goal in goals if goal.bone]
    unused = [(ob, bone) for ob, bone in named if _is_unused(ob, bone)]
    for ob in {ob for ob, _ in unused}:
        with edit_mode(context, ob):
            for name in {bone for other, bone in unused if other == ob}:
                ob.data.edit_bones.remove(ob.data.edit_bones[name])
        collection = ob.data.collections_all.get(COLLECTION)
        if collection and not any(collection.bones_recursive):
            ob.data.collections.remove(collection)
    for name, _ in SHAPES.values():
        shape = bpy.data.objects.get(name)
        if shape and not shape.users:
            bpy.data.meshes.remove(shape.data)  # with which its object goes


def _is_unused(ob: Any, name: str) -> bool:
    bone = ob.pose.bones.get(name)
    if bone is None or not takes_bones(ob) or MADE not in bone.bone or bone.children:
        return False
    path, rigs = path_to_bone(name), list(filter(is_armature, bpy.data.objects))
    owners = [rig for rig in rigs if rig.data == ob.data]
    if any(curve.data_path.startswith(path) for owner in owners for curve in curves_everywhere(owner)):
        return False
    return not any(_follows(other, owners, name) for rig in rigs for other in rig.pose.bones)


def _follows(bone: PoseBone, owners: list[ArmatureObject], name: str) -> bool:
    """Whether a chain or a constraint of a bone follows another, which all that have its armature have."""
    pairs = [(getattr(each, "target", None), getattr(each, "subtarget", "")) for each in bone.constraints]
    if bone.is_property_set("planar_ik"):
        pairs += pointed_to(chain_settings(bone))
    return any(ob in owners and followed == name for ob, followed in pairs)


def followed_bones(lower: PoseBone) -> list[Target]:
    """The bones that a chain follows."""
    pairs = pointed_to(chain_settings(lower))
    return [Target(ob, bone) for ob, bone in pairs if ob and bone and bone in bones_of(ob)]
