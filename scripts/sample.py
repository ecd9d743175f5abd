"""Write the sample file, build/planar_ik_sample.blend: a cut-out puppet, a biped and four machines, each an asset.

``make sample``, or with a path where it should go: ``make sample ARGS=/tmp/sample.blend``.
"""

from __future__ import annotations

import sys
from math import radians
from pathlib import Path
from typing import Any, NamedTuple

from . import installed
from .package import BUILD

Place = tuple[float, float, float]


class Part(NamedTuple):
    """A bone, with half the width of its shape at its head and its tail, and the colour of that."""

    name: str
    parent: str
    head: Place
    tail: Place
    at_head: float
    at_tail: float
    colour: int


COLOURS = ((0.80, 0.33, 0.16), (0.16, 0.36, 0.55), (0.93, 0.75, 0.55), (0.20, 0.20, 0.24))
"""Coat, trousers, skin, shoes."""

PUPPET = (
    Part("hips", "root", (0.0, 0.0, 0.86), (0.0, 0.0, 1.0), 0.11, 0.13, 1),
    Part("chest", "hips", (0.0, 0.0, 1.0), (0.0, 0.0, 1.38), 0.12, 0.15, 0),
    Part("head", "chest", (0.02, 0.0, 1.40), (0.05, 0.0, 1.72), 0.07, 0.12, 2),
    Part("thigh.L", "hips", (0.02, 0.0, 0.88), (0.15, 0.0, 0.48), 0.085, 0.065, 1),
    Part("shin.L", "thigh.L", (0.15, 0.0, 0.48), (0.0, 0.0, 0.08), 0.065, 0.045, 1),
    Part("foot.L", "shin.L", (0.0, 0.0, 0.08), (0.17, 0.0, 0.03), 0.05, 0.025, 3),
    Part("upper_arm.L", "chest", (0.0, 0.0, 1.33), (-0.06, 0.0, 1.06), 0.055, 0.045, 0),
    Part("forearm.L", "upper_arm.L", (-0.06, 0.0, 1.06), (0.06, 0.0, 0.82), 0.045, 0.035, 0),
    Part("hand.L", "forearm.L", (0.06, 0.0, 0.82), (0.1, 0.0, 0.73), 0.04, 0.03, 2),
)
BIPED = (
    Part("hips", "root", (0.0, 0.0, 0.92), (0.0, 0.0, 1.06), 0.14, 0.13, 1),
    Part("chest", "hips", (0.0, 0.0, 1.06), (0.0, 0.0, 1.42), 0.12, 0.16, 0),
    Part("head", "chest", (0.0, 0.0, 1.47), (0.0, -0.02, 1.76), 0.07, 0.09, 2),
    Part("thigh.L", "hips", (0.10, 0.0, 0.92), (0.11, -0.14, 0.5), 0.085, 0.06, 1),
    Part("shin.L", "thigh.L", (0.11, -0.14, 0.5), (0.11, 0.02, 0.09), 0.06, 0.04, 1),
    Part("foot.L", "shin.L", (0.11, 0.02, 0.09), (0.12, -0.16, 0.03), 0.048, 0.03, 3),
    Part("upper_arm.L", "chest", (0.20, 0.0, 1.38), (0.42, 0.07, 1.24), 0.055, 0.04, 0),
    Part("forearm.L", "upper_arm.L", (0.42, 0.07, 1.24), (0.63, -0.03, 1.1), 0.04, 0.03, 0),
    Part("hand.L", "forearm.L", (0.63, -0.03, 1.1), (0.74, -0.05, 1.05), 0.035, 0.02, 2),
)
BOX = ((0, 1, 2, 3), (7, 6, 5, 4), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0))


def begin(name: str, place: Place) -> tuple[Any, Any]:
    """A collection of its own with an armature's object at a place, in Edit Mode."""
    import bpy

    collection = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(collection)
    collection.instance_offset = place
    data = bpy.data.armatures.new(name)
    rig: Any = bpy.data.objects.new(name, data)
    collection.objects.link(rig)
    rig.location, rig.show_in_front, data.display_type = place, True, "STICK"
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    return collection, rig


def build(name: str, left_side: tuple[Part, ...], place: Place, is_flat: bool) -> Any:
    """A character in a collection of its own, which is an asset; give the armature's object."""
    import bpy

    parts = [*left_side, *(other(piece, 1 if is_flat else -1) for piece in left_side if ".L" in piece.name)]
    collection, rig = begin(name, place)
    data = rig.data
    root = data.edit_bones.new("root")
    root.tail, root.use_deform = (0.25, 0.0, 0.0) if is_flat else (0.0, 0.3, 0.0), False
    for piece in parts:
        bone = data.edit_bones.new(piece.name)
        bone.head, bone.tail, bone.parent = piece.head, piece.tail, data.edit_bones[piece.parent]
        bone.use_connect = (bone.head - bone.parent.tail).length < 1e-6
        bone.align_roll((0.0, -1.0, 0.0))
    bpy.ops.object.mode_set(mode="POSE")
    collection.objects.link(skin(rig, parts, is_flat))
    select(rig, "shin.L", "shin.R", "forearm.L", "forearm.R")
    bpy.ops.pose.planar_ik_add()  # As a person adds them: on the rig, with control bones.
    hips = rig.pose.bones["hips"]
    for frame, down in ((1, 0.0), (13, 0.18), (25, 0.0)):  # Feet stay where they stand.
        hips.location.y = -down
        hips.keyframe_insert("location", frame=frame)
    bpy.ops.object.mode_set(mode="OBJECT")
    for widget in {bone.custom_shape for bone in rig.pose.bones if bone.custom_shape} - {*collection.objects}:
        collection.objects.link(widget)  # Lest who appends the character has it lie about.
        widget.hide_viewport = widget.hide_render = True
    collection.asset_mark()
    collection.asset_data.description = f"{name} on limbs of Planar IK: it works without the extension"
    return rig


def other(piece: Part, sign: int) -> Part:
    """The same on the right: of a puppet, which looks to the side, in the same place."""
    (x, *head), (u, *tail) = piece.head, piece.tail
    names = [name.replace(".L", ".R") for name in (piece.name, piece.parent)]
    return Part(*names, (sign * x, *head), (sign * u, *tail), *piece[4:])


def skin(rig: Any, parts: list[Part], is_flat: bool) -> Any:
    """One mesh of boxes, each of which its bone alone carries."""
    import bpy
    from mathutils import Vector

    mesh = bpy.data.meshes.new(rig.name)
    ob: Any = bpy.data.objects.new(f"{rig.name} Skin", mesh)
    corners, groups = [], []
    for piece in parts:
        along = Vector(piece.tail) - Vector(piece.head)
        layer = 0.02 * ((".R" in piece.name) - (".L" in piece.name)) if is_flat else 0.0  # As sheets of paper lie.
        across = along.cross((0.0, 1.0, 0.0)).normalized()
        depth = across.cross(along).normalized()
        groups.append((piece.name, range(len(corners), len(corners) + 8)))
        for end, wide in ((piece.head, piece.at_head), (piece.tail, piece.at_tail)):
            middle, deep = Vector(end) + Vector((0.0, layer, 0.0)), 0.004 if is_flat else wide
            corners += [middle + i * wide * across + j * deep * depth for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    mesh.from_pydata(corners, [], [[8 * i + corner for corner in face] for i in range(len(parts)) for face in BOX])
    for i, colour in enumerate(COLOURS):
        material = bpy.data.materials.get(f"Planar IK {i}") or bpy.data.materials.new(f"Planar IK {i}")
        material.diffuse_color = (*colour, 1.0)
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", [piece.colour for piece in parts for _ in BOX])
    for name, corner_range in groups:
        ob.vertex_groups.new(name=name).add(list(corner_range), 1.0, "REPLACE")
    ob.parent = ob.modifiers.new("Armature", "ARMATURE").object = rig
    ob.hide_select = True
    return ob


def select(rig: Any, *names: str) -> None:
    """Select bones of a rig that is in Pose Mode; the last is active."""
    import bpy

    bpy.ops.pose.select_all(action="DESELECT")
    for name in names:
        bone = rig.pose.bones[name]
        (bone if hasattr(bone, "select") else bone.bone).select = True  # The former from 5.0 on.
        rig.data.bones.active = bone.bone


def write(path: Path) -> None:
    """Build all in an empty file and save it, open on the characters in Pose Mode with a target selected."""
    import bpy
    from mathutils import Euler

    from . import machines

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    rigs = [build("Cut-out Puppet", PUPPET, (-0.8, 0.0, 0.0), True), build("Biped", BIPED, (0.8, 0.0, 0.0), False)]
    machines.build("Excavator", machines.EXCAVATOR, (2.0, 0.0, 0.0))
    machines.build("Four Bars and a Piston", machines.ENGINE, (-3.0, 0.0, 0.0))
    machines.build("Scissor Lift", machines.SCISSOR, (-4.8, 0.0, 0.0))
    machines.build("Theo Jansen's Leg", machines.JANSEN, (4.6, 0.0, 1.84))
    for area in (area for screen in bpy.data.screens for area in screen.areas if area.type == "VIEW_3D"):
        view: Any = area.spaces.active.region_3d
        view.view_location, view.view_distance = (0.4, 0.0, 0.9), 4.5
        view.view_rotation = Euler((radians(82.0), 0.0, radians(12.0))).to_quaternion()
    for rig in rigs:
        rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    select(rigs[-1], rigs[-1].pose.bones["shin.L"].planar_ik.subtarget)
    bpy.context.scene.frame_end = 25
    bpy.context.scene.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True)


def main() -> int:
    installed.install()
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else BUILD / "planar_ik_sample.blend"
    path.parent.mkdir(exist_ok=True)
    write(path.resolve())
    print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
    return 0


if __name__ == "__main__":
    installed.run(main)
