"""docs/skin.png: a capture of an arm with a skin, as it came and on IK, and what the same limb shows without twist.

python -m scripts.skin docs/skin.png
"""

from __future__ import annotations

import sys
from math import cos, pi, radians, sin, tau
from typing import Any

from . import installed

USER = installed.fresh_user_folder() if __name__ == "__main__" else None

import bpy  # noqa: E402
from mathutils import Quaternion, Vector  # noqa: E402

BONES = {
    "chest": ((-0.1, 0.0, -0.2), (-0.1, 0.0, 0.1), ""),
    "upper_arm.L": ((0.0, 0.0, 0.0), (0.3, 0.02, 0.0), "chest"),
    "forearm.L": ((0.3, 0.02, 0.0), (0.56, 0.0, 0.0), "upper_arm.L"),
    "hand.L": ((0.56, 0.0, 0.0), (0.68, 0.0, 0.0), "forearm.L"),
}
ELBOW, WRIST, END = 0.3, 0.56, 0.7

TITLES = ("Capture", "On IK", "On IK, twist taken away")
FRAME, FRAMES = 30, (1, 60)
"""The frame that is shown, in which the forearm is turned with the hand by 75 degrees, and those that are keyed."""

RINGS, SIDES = 160, 48


def capture(place: Vector) -> Any:
    """An arm at a place, with keys on its bones and a skin."""
    rig: Any = bpy.data.objects.new("Arm", bpy.data.armatures.new("Arm"))
    bpy.context.scene.collection.objects.link(rig)
    rig.location = place
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    for name, (head, tail, parent) in BONES.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail, bone.parent = head, tail, rig.data.edit_bones.get(parent)
    bpy.ops.object.mode_set(mode="POSE")
    skin(rig)
    for frame, angle, bend in ((FRAMES[0], 0.0, 0.2), (FRAME, 75.0, 0.9), (FRAMES[1], -20.0, 0.5)):
        turns = {"upper_arm.L": Quaternion((0, 0, 1), 0.4 - bend / 3.0), "forearm.L": _forearm(angle, bend)}
        for name, turn in turns.items():
            rig.pose.bones[name].rotation_quaternion = turn
            rig.pose.bones[name].keyframe_insert("rotation_quaternion", frame=frame)
    return rig


def _forearm(angle: float, bend: float) -> Any:
    return Quaternion((0, 0, 1), bend) @ Quaternion((0, 1, 0), radians(angle))


def skin(rig: Any) -> None:
    """A tube with a hand, whose rings go along with bones as they lie, with stripes along it."""
    mesh = bpy.data.meshes.new("Skin")
    places, faces = [], []
    for i in range(RINGS + 1):
        along = END * i / RINGS
        for k in range(SIDES):
            wide, high = _radii(along)
            places.append((along, wide * cos(tau * k / SIDES), high * sin(tau * k / SIDES)))
    for i in range(RINGS):
        for k in range(SIDES):
            a, b = i * SIDES + k, i * SIDES + (k + 1) % SIDES
            faces.append((a, b, b + SIDES, a + SIDES))
    mesh.from_pydata(places, [], faces)
    for polygon in mesh.polygons:
        polygon.use_smooth = True
        polygon.material_index = int(polygon.index % SIDES // (SIDES // 8)) % 2
    for name, color in (("Skin", (0.55, 0.27, 0.17, 1.0)), ("Stripe", (0.06, 0.14, 0.3, 1.0))):
        mesh.materials.append(_material(name, color))
    ob = bpy.data.objects.new("Skin", mesh)
    bpy.context.scene.collection.objects.link(ob)
    ob.parent = rig
    groups = {name: ob.vertex_groups.new(name=name) for name in BONES}
    for index, (along, _, _) in enumerate(places):
        for name, weight in _weights(along).items():
            groups[name].add([index], weight, "REPLACE")
    ob.modifiers.new("Armature", "ARMATURE").object = rig


def _radii(along: float) -> tuple[float, float]:
    if along < WRIST:
        return (0.055 - 0.03 * along / WRIST, 0.055 - 0.03 * along / WRIST)
    share = (along - WRIST) / (END - WRIST)
    return 0.025 + 0.03 * sin(pi * min(share * 1.1, 1.0)), 0.025 * (1.0 - 0.6 * share)


def _weights(along: float) -> dict[str, float]:
    """The upper arm's, the forearm's and the hand's: each goes over into the next around the joint."""
    past_elbow, past_wrist = (min(max((along - joint) / 0.12 + 0.5, 0.0), 1.0) for joint in (ELBOW, WRIST))
    return {"upper_arm.L": 1.0 - past_elbow, "forearm.L": past_elbow * (1.0 - past_wrist), "hand.L": past_wrist}


def _material(name: str, color: tuple[float, float, float, float]) -> Any:
    material = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    material.use_nodes = True
    material.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = color
    material.node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.6
    return material


def add_ik(rig: Any) -> None:
    """The arm on IK, as a person puts it there."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone  # The former from 5.0 on.
        owner.select = bone.name in ("upper_arm.L", "forearm.L")
    rig.data.bones.active = rig.data.bones["forearm.L"]
    bpy.ops.pose.planar_ik_add(mode="RIG")


def leave(rig: Any) -> None:
    """Go on to the next arm, which is not to follow the controls of this one."""
    bpy.ops.object.mode_set(mode="OBJECT")
    rig.select_set(False)


def title(text: str, place: Vector) -> None:
    """Words below an arm."""
    curve: Any = bpy.data.curves.new("Title", "FONT")
    curve.body, curve.size, curve.align_x = text, 0.052, "CENTER"
    ob = bpy.data.objects.new("Title", curve)
    bpy.context.scene.collection.objects.link(ob)
    ob.location = place
    curve.materials.append(_material("Ink", (0.02, 0.02, 0.02, 1.0)))


def light_and_camera() -> None:
    """From above, on white."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    for ob in (camera, sun):
        scene.collection.objects.link(ob)
    camera.location, camera.data.type, camera.data.ortho_scale = (1.08, 0.04, 3.0), "ORTHO", 2.3
    sun.rotation_euler, sun.data.energy = (0.7, 0.5, 0.0), 1.8
    world = bpy.data.worlds.new("World")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.85, 0.85, 0.85, 1.0)
    scene.world, scene.camera = world, camera
    scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = "CYCLES", 48, False
    scene.render.resolution_x, scene.render.resolution_y = 1200, 400
    scene.view_settings.view_transform = "Standard"


def main() -> int:
    installed.install()
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    scene = bpy.context.scene
    for number, words in enumerate(TITLES):
        place = Vector((0.8 * number, 0.0, 0.0))
        scene.frame_set(1)
        rig = capture(place)
        if number:
            add_ik(rig)
        if number == len(TITLES) - 1:
            bpy.ops.pose.planar_ik_set(twist=False)
        leave(rig)
        title(words, place + Vector((0.35, -0.24, 0.0)))
    light_and_camera()
    scene.frame_set(FRAME)
    scene.render.filepath = sys.argv[1]
    bpy.ops.render.render(write_still=True)
    return 0


if __name__ == "__main__":
    installed.run(main, USER)
