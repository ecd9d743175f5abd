"""The moving picture of the README: the same leg with Blender's constraint and with ours, and a dog's leg.

Played in Blender's real window by scripts/pictures.py, one picture for each frame.
"""

from __future__ import annotations

from itertools import pairwise
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tests.window.hand import Hand

FRAMES = 48


class Leg(NamedTuple):
    """A leg at rest, seen from its side: joints are places ahead and up, from the hip to the toes."""

    label: str
    place: float
    joints: tuple[tuple[float, float], ...]
    is_ours: bool


MANS = ((0.0, 1.5), (0.0, 0.82), (0.0, 0.14), (0.24, 0.05))
DOGS = ((0.0, 1.5), (0.26, 1.06), (-0.22, 0.64), (0.0, 0.14), (0.2, 0.05))
LEGS = (
    Leg("Blender's IK", -1.5, MANS, False),
    Leg("Planar IK", 0.0, MANS, True),
    Leg("Planar IK, three bones", 1.5, DOGS, True),
)


def shows_legs(hand: Hand) -> Any:
    """Played inside Blender: all legs follow the same way, from a bend to beyond full reach."""
    import bpy
    from mathutils import Euler, Matrix

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    hand.window = bpy.context.window_manager.windows[0]
    yield
    rigs = [build(leg) for leg in LEGS]
    for rig in rigs:
        rig.select_set(True)
    bpy.ops.object.mode_set(mode="POSE")
    area, region = hand.view()
    space = area.spaces.active
    space.shading.color_type, space.show_gizmo, space.show_region_header = "MATERIAL", False, False
    space.show_region_toolbar = space.show_region_ui = space.overlay.show_text = space.overlay.show_cursor = False
    space.overlay.show_outline_selected = space.overlay.show_relationship_lines = False
    view = space.region_3d
    view.view_rotation, view.view_perspective = Euler((1.42, 0.0, 0.12)).to_quaternion(), "PERSP"
    view.view_location, view.view_distance = (0.0, 0.0, 0.92), 5.4
    yield
    for i in range(FRAMES):
        turn = 2.0 * pi * i / FRAMES
        for rig in rigs:
            control = rig.pose.bones["foot_ik"]
            by = Matrix.Translation((0.3 * sin(turn), 0.0, 0.16 - 0.5 * cos(turn)))
            control.matrix = by @ rig.data.bones["foot_ik"].matrix_local
        bpy.context.view_layer.update()
        yield
        yield
        corner = region.x + (region.width - 960) // 2, region.y + (region.height - 560) // 2
        hand.picture(f"{i:02}", (*corner, 960, 560))
    return {}


def names(leg: Leg) -> list[str]:
    """The bones of a leg below the hip."""
    return ["thigh", "shin", "metatarsal", "foot"] if len(leg.joints) > 4 else ["thigh", "shin", "foot"]


def build(leg: Leg) -> Any:
    """A leg with its skin, its control and what poses it."""
    import bpy

    data = bpy.data.armatures.new(leg.label)
    rig: Any = bpy.data.objects.new(leg.label, data)
    bpy.context.collection.objects.link(rig)
    rig.location.x, rig.show_in_front = leg.place, True
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    joints = [(x, 0.0, z) for x, z in leg.joints]
    parent = bone = data.edit_bones.new("hip")
    bone.head, bone.tail = (0.0, 0.0, 1.8), joints[0]
    for name, (head, tail) in zip(names(leg), pairwise(joints), strict=True):
        bone = data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent, bone.use_connect = head, tail, parent, True
        bone.align_roll((1.0, 0.0, 0.0))
        parent = bone
    control = data.edit_bones.new("foot_ik")
    control.head, control.tail = joints[-2], (joints[-2][0] + 0.3, 0.0, joints[-2][2])
    bpy.ops.object.mode_set(mode="POSE")
    rig.data.bones["foot"].use_inherit_rotation = False
    last = rig.pose.bones[names(leg)[-2]]
    if leg.is_ours:
        ik: Any = last.planar_ik
        ik.target, ik.subtarget, ik.chain_count, ik.plane = rig, "foot_ik", len(leg.joints) - 2, "FREE"
        ik.softness = 0.05
    else:
        ik = last.constraints.new("IK")
        ik.target, ik.subtarget, ik.chain_count, ik.use_stretch = rig, "foot_ik", len(leg.joints) - 2, False
    for bone in rig.pose.bones:  # Only the control shows; the flag is the pose bone's from 5.0 on.
        (bone if hasattr(bone, "hide") else bone.bone).hide = bone.name != "foot_ik"
    shown = rig.pose.bones["foot_ik"]
    shown.custom_shape, shown.use_custom_shape_bone_size, shown.custom_shape_wire_width = box(), False, 3.0
    shown.color.palette = "THEME03" if leg.is_ours else "THEME01"
    bpy.ops.object.mode_set(mode="OBJECT")
    dress(leg, rig)
    return rig


def box() -> Any:
    """The shape of the controls: the edges of a box around a foot."""
    import bpy

    mesh = bpy.data.meshes.new("Box")
    corners = [(x, y, z) for x in (-0.13, 0.13) for y in (-0.14, 0.36) for z in (-0.15, 0.12)]
    mesh.from_pydata(corners, [(i, i ^ bit) for i in range(8) for bit in (1, 2, 4) if i < i ^ bit], [])
    return bpy.data.objects.new("Box", mesh)


def dress(leg: Leg, rig: Any) -> None:
    """The skin of a leg, and its label on the ground."""
    import bpy

    from scripts.demo.clay import Clay, paint

    clay, dark = Clay(), paint("Shoe", (0.06, 0.06, 0.08))
    cloth = paint("Ours", (0.8, 0.33, 0.16)) if leg.is_ours else paint("Blender's", (0.35, 0.4, 0.48))
    clay.ball((-0.02, 0.0, 1.62), (0.24, 0.2, 0.2), cloth, "hip")
    radii = (0.14, 0.1, 0.075, 0.06) if len(leg.joints) == 4 else (0.15, 0.09, 0.065, 0.055, 0.045)
    for i, name in enumerate(names(leg)):
        (x, z), (u, w) = leg.joints[i : i + 2]
        clay.limb((x, 0.0, z), (u, 0.0, w), radii[i : i + 2], dark if name == "foot" else cloth, name)
    skin: Any = bpy.data.objects.new(f"{leg.label} Skin", clay.mesh(leg.label))
    for bone, vertices in clay.bones.items():
        skin.vertex_groups.new(name=bone).add(vertices, 1.0, "REPLACE")
    skin.parent = skin.modifiers.new("Armature", "ARMATURE").object = rig
    bpy.context.collection.objects.link(skin)
    text: Any = bpy.data.curves.new(leg.label, "FONT")
    text.body, text.align_x, text.size = leg.label, "CENTER", 0.15
    text.materials.append(paint("Words", (0.9, 0.9, 0.9)))
    label = bpy.data.objects.new(f"{leg.label} Label", text)
    label.location, label.rotation_euler = (leg.place, 0.0, 1.98), (pi / 2, 0.0, 0.0)
    bpy.context.collection.objects.link(label)
