"""What all creatures share: a mesh on an armature, a live limb in every leg, a walk's keys. Ahead is +X, left is +Y."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import pi
from typing import Any, NamedTuple

import bpy
from bpy.types import Armature, Collection, Mesh, Object
from mathutils import Euler, Matrix, Vector

from .clay import Clay, along, paint
from .gait import Leg, Walk


class Creature(NamedTuple):
    """A kind of creature: the height of its body, the names of a leg's bones, its legs and their joints at rest in the
    body's frame, what makes its bones (and returns the legs' parent), its shape, and what poses and moves it."""

    name: str
    ride: float
    parts: tuple[str, ...]
    legs: list[tuple[Leg, list[Vector]]]
    bones: Callable[[Armature], Any]
    make_skin: Callable[[], Clay]
    attach: Callable[[Object, str, Object], None]
    fidget: Callable[[Object, int], None]


def build(kind: Creature, collection: Collection) -> Object:
    """The armature with the creature's mesh on it, standing at the origin."""
    up = Vector((0.0, 0.0, kind.ride))

    def bones(armature: Armature) -> None:
        body = kind.bones(armature)
        for leg, joints in kind.legs:
            bone = body
            for bone_name, (start, end) in zip(kind.parts, pairwise(joints), strict=True):
                bone = add_bone(armature, f"{bone_name}_{leg.name}", start + up, end + up, bone)
                bone.use_connect = bone_name != kind.parts[0]

    rig = new_rig(kind.name, collection, bones)
    dress(rig, kind.make_skin(), Matrix.Translation(up))
    for posed in rig.pose.bones:
        posed.rotation_mode = "XYZ"
    return rig


def new_rig(name: str, collection: Collection, bones: Callable[[Armature], Any]) -> Object:
    """An armature at the origin, with the bones that are made in its Edit Mode."""
    rig = bpy.data.objects.new(name, bpy.data.armatures.new(name))
    collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones(rig.data)
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def dress(rig: Object, clay: Clay, to: Matrix | None = None, what: str = "Skin") -> Any:
    """Put a mesh on an armature, every part of it carried by its bone alone; give the mesh."""
    skin: Any = bpy.data.objects.new(f"{rig.name} {what}", clay.mesh(f"{rig.name} {what}", to))
    for name, vertices in clay.bones.items():
        skin.vertex_groups.new(name=name).add(vertices, 1.0, "REPLACE")
    skin.parent = skin.modifiers.new(rig.name, "ARMATURE").object = rig
    rig.users_collection[0].objects.link(skin)
    return skin


def add_bone(armature: Armature, name: str, head: Vector, tail: Vector, parent: Any = None) -> Any:
    """A bone in Edit Mode, its Z axis up."""
    bone = armature.edit_bones.new(name)
    bone.head, bone.tail, bone.parent = head, tail, parent
    bone.align_roll((0.0, 0.0, 1.0))
    return bone


def animate(kind: Creature, rig: Object, walk: Walk, frames: range) -> None:
    """Give every leg a target and a live limb, and key the body, the targets and how feet roll that can; the bones of
    the legs get no key at all. Targets and bend planes are rendered in the second half of these frames."""
    cross = _cross()
    targets = [bpy.data.objects.new(f"Foot {leg.name}", cross) for leg in walk.legs]
    for leg, target in zip(walk.legs, targets, strict=True):
        rig.users_collection[0].objects.link(target)
        kind.attach(rig, leg.name, target)
    planes = dress(rig, _planes(kind), Matrix.Translation((0.0, 0.0, kind.ride)), "Planes")
    _show_from(frames[len(frames) // 2], frames[0], *targets, planes)
    body = rig.pose.bones["body"]
    to_bone = body.bone.matrix_local.inverted()
    for frame in frames:
        place, turn = walk.body(frame)
        pose = Matrix.LocRotScale(Vector(place), Euler(turn), None) @ Matrix.Translation((0.0, 0.0, -kind.ride))
        body.matrix_basis = to_bone @ pose @ to_bone.inverted()
        kind.fidget(rig, frame)
        for bone in rig.pose.bones:
            if not bone.name.startswith((*kind.parts, "MCH-")):
                bone.keyframe_insert("rotation_euler", frame=frame)
        body.keyframe_insert("location", frame=frame)
        for leg, target in zip(walk.legs, targets, strict=True):
            pitch, roll, yaw = walk.tread(leg, frame)
            target.location = walk.foot(leg, frame)[0]
            target.rotation_euler = (pitch, roll, yaw - pi / 2)  # Its Y axis ahead, as that of a bone.
            for channel in ("location", "rotation_euler"):
                target.keyframe_insert(channel, frame=frame)
            for kind_of_limb in kind.parts:
                last: Any = rig.pose.bones[f"{kind_of_limb}_{leg.name}"]
                if "IK Roll" in last:
                    last["IK Roll"] = walk.roll(leg, frame)
                    last.keyframe_insert('["IK Roll"]', frame=frame)


def _show_from(frame: int, first: int, *objects: Any) -> None:
    """Render these from a frame on, not from the first one on; in the view they are lines."""
    for ob in objects:
        ob.display_type, ob.visible_shadow = "WIRE", False
        for hidden, when in ((True, first), (False, frame)):
            ob.hide_render = hidden
            ob.keyframe_insert("hide_render", frame=when)


def _cross() -> Mesh:
    """What shows a target: three rods that cross in it."""
    clay, amber = Clay(), paint("Target", (1.0, 0.45, 0.02), glow=2.0)
    for axis in Matrix.Identity(3):
        clay.limb(-0.2 * axis, 0.2 * axis, (0.014, 0.014), amber)
    return clay.mesh("Target")


def _planes(kind: Creature) -> Clay:
    """A disc of glass in the plane of each limb, carried by the bone above its last one."""
    clay, glass = Clay(), paint("Plane", (0.15, 0.55, 1.0), glow=0.6)
    glass.node_tree.nodes["Principled BSDF"].inputs["Alpha"].default_value = 0.28
    for leg, joints in kind.legs:
        start, knee, tip = joints[1:4]
        middle = (start + knee + tip) / 3.0
        radius = max((joint - middle).length for joint in (start, knee, tip))
        disc = along(middle, (knee - start).cross(tip - start))
        clay.lathe([(0.0, 0.0), (radius, 0.0)], disc, glass, f"{kind.parts[1]}_{leg.name}")
    return clay
