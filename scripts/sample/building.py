"""The sample characters as Blender's: armature, a mesh that its bones carry, chains on the rig, a short movement."""

from __future__ import annotations

from collections.abc import Iterable
from math import radians
from typing import Any

import bpy
from bpy.types import Collection, Object
from mathutils import Euler, Vector

from .figures import COLOURS, Figure, Part

FRAMES = (1, 13, 25)
"""Standing, sunk, standing."""

BOX = ((0, 1, 2, 3), (7, 6, 5, 4), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0))


def build(figure: Figure) -> Collection:
    """A character in a collection of its own, which is an asset."""
    collection = bpy.data.collections.new(figure.name)
    bpy.context.scene.collection.children.link(collection)
    collection.instance_offset = figure.place
    rig = _armature(figure, collection)
    _mesh(figure, rig, collection)
    _add_chains(figure, rig, collection)
    _move(figure, rig)
    collection.asset_mark()
    data: Any = collection.asset_data
    data.description = f"{figure.name} whose limbs are posed by Planar IK on the rig: it works without the extension"
    data.author = "Planar IK"
    for tag in ("rig", "character", "Planar IK"):
        data.tags.new(tag)
    return collection


def _armature(figure: Figure, collection: Collection) -> Object:
    data = bpy.data.armatures.new(figure.name)
    rig = bpy.data.objects.new(figure.name, data)
    collection.objects.link(rig)
    rig.location = figure.place
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for part in figure.parts:
        bone = data.edit_bones.new(part.name)
        bone.head, bone.tail = part.head, part.tail
        if part.parent:
            bone.parent = data.edit_bones[part.parent]
            bone.use_connect = (bone.head - bone.parent.tail).length < 1e-6
        bone.align_roll(Vector((0.0, -1.0, 0.0)))
        bone.use_deform = part.name != "root"
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.show_in_front, data.display_type = True, "STICK"
    return rig


def _mesh(figure: Figure, rig: Object, collection: Collection) -> None:
    """One mesh of boxes, each of which its bone alone carries."""
    mesh = bpy.data.meshes.new(figure.name)
    skin = bpy.data.objects.new(f"{figure.name} Skin", mesh)
    collection.objects.link(skin)
    parts = [part for part in figure.parts if part.name != "root"]
    corners = [corner for part in parts for corner in _corners(part)]
    faces = [tuple(8 * number + i for i in face) for number in range(len(parts)) for face in BOX]
    mesh.from_pydata([corner[:] for corner in corners], [], faces)
    for colour in COLOURS:
        mesh.materials.append(_material(colour))
    for face, polygon in enumerate(mesh.polygons):
        polygon.material_index = parts[face // len(BOX)].colour
    for number, part in enumerate(parts):
        skin.vertex_groups.new(name=part.name).add(list(range(8 * number, 8 * number + 8)), 1.0, "REPLACE")
    skin.parent = rig
    modifier: Any = skin.modifiers.new("Armature", "ARMATURE")
    modifier.object = rig
    skin.hide_select = True


def _corners(part: Part) -> list[Vector]:
    """The corners of a part's box: four about its head, four about its tail."""
    head, tail = Vector(part.head), Vector(part.tail)
    along = (tail - head).normalized()
    depth = Vector((0.0, 1.0, 0.0)) if abs(along.y) < 0.9 else Vector((0.0, 0.0, 1.0))
    side = along.cross(depth).normalized()
    depth = side.cross(along)
    found = []
    for end, (wide, deep) in ((head, part.head_width), (tail, part.tail_width)):
        middle = end + Vector((0.0, part.layer, 0.0))
        found += [middle + a * wide * side + b * deep * depth for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    return found


def _material(colour: tuple[float, float, float]) -> Any:
    name = "Planar IK " + "-".join(f"{part:.2f}" for part in colour)
    material = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    return material


def _add_chains(figure: Figure, rig: Any, collection: Collection) -> None:
    """Limbs as a person adds them: control bones under the root, feet and hands that keep their targets' rotation."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for lower, preset in figure.limbs.items():
        bpy.ops.pose.select_all(action="DESELECT")
        rig.data.bones.active = rig.data.bones[lower]
        bpy.ops.pose.planar_ik_add(controls="ROOT", keep_rotation=True, runs_on="EXTENSION")
        chain = rig.pose.bones[lower].planar_ik
        plane = chain.plane
        bpy.ops.pose.planar_ik_preset(preset=preset)
        chain.plane = plane  # a puppet's limbs are hinges, whatever kind they are
        chain.min_angle = 0.0
        if plane == "REST":
            _keep_in_plane(rig.pose.bones[chain.subtarget])
        bpy.ops.pose.planar_ik_make_portable()
    bpy.ops.object.mode_set(mode="OBJECT")
    for shape in {bone.custom_shape for bone in rig.pose.bones if bone.custom_shape} - {*collection.objects}:
        collection.objects.link(shape)  # lest who appends the character has it lie about
        shape.hide_viewport = shape.hide_render = True


def _keep_in_plane(control: Any) -> None:
    """Lock how deep a puppet's control is: dragged in a view from aside, it stays where its limb can follow."""
    axes = control.bone.matrix_local.to_3x3().col
    control.lock_location = [abs(axis.y) == max(abs(each.y) for each in axes) for axis in axes]


def _move(figure: Figure, rig: Any) -> None:
    """Let the hips sink and rise."""
    hips = rig.pose.bones["hips"]
    for frame, share in zip(FRAMES, (0.0, 1.0, 0.0), strict=True):
        hips.location.y = -figure.height * share  # along the bone, which stands upright
        hips.keyframe_insert("location", frame=frame)
    hips.location.y = 0.0


def show(figures: Iterable[Figure]) -> None:
    """Have the file open on both characters from in front, in Pose Mode with a target selected, ready to move."""
    for area in (area for screen in bpy.data.screens for area in screen.areas if area.type == "VIEW_3D"):
        view: Any = area.spaces.active.region_3d
        view.view_location, view.view_distance = (0.4, 0.0, 0.9), 4.5
        view.view_rotation = Euler((radians(82.0), 0.0, radians(12.0))).to_quaternion()
    rigs: list[Any] = [bpy.data.objects[figure.name] for figure in figures]
    for rig in rigs:
        rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    active: Any = bpy.context.view_layer.objects.active
    foot = active.pose.bones["shin.L"].planar_ik.subtarget
    active.data.bones.active = active.data.bones[foot]
    bone = active.pose.bones[foot]
    (bone if hasattr(bone, "select") else bone.bone).select = True  # the former from 5.0 on
