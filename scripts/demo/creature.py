"""The creature: its bones, its shape, and a live chain in each of its legs.

It looks along +X, left is +Y. A leg is a coxa, which yaws towards the foot's target, and a femur and tibia, which are
the chain: so the chain's rest plane always contains the target.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import cos, pi, radians, sin
from typing import NamedTuple

import bpy
from bpy.types import Armature, Collection, Object
from mathutils import Matrix, Vector

from .gait import RIDE, Leg, Walk
from .paint import glow, paint
from .shapes import Clay

COXA = (0.16, 0.0)
FEMUR = (0.32, 0.40)
TIBIA = (0.36, -0.95)
"""The parts of a leg at rest: outwards and up."""

HIPS = (("front", 0.40, 0.30, 42.0), ("middle", 0.02, 0.37, 88.0), ("rear", -0.40, 0.31, 136.0))
"""The hips of the left side: name, place ahead and aside, and the direction of the leg in degrees from ahead."""

HIP_HEIGHT = -0.04

HEAD = (Vector((0.64, 0.0, 0.12)), Vector((0.30, 0.36, 0.27)))
"""The middle and the half axes of the head."""


class Limb(NamedTuple):
    """The joints of a leg at rest, in the frame of the body."""

    leg: Leg
    hip: Vector
    shoulder: Vector
    knee: Vector
    tip: Vector


def limbs() -> list[Limb]:
    """The six legs. Neighbours step in turn."""
    found = []
    for side, letter in ((1.0, "L"), (-1.0, "R")):
        for i, (name, x, y, degrees) in enumerate(HIPS):
            out = Vector((cos(radians(degrees)), side * sin(radians(degrees)), 0.0))
            joints = [Vector((x, side * y, HIP_HEIGHT))]
            for ahead, up in (COXA, FEMUR, TIBIA):
                joints.append(joints[-1] + ahead * out + Vector((0.0, 0.0, up)))
            phase = 0.5 * ((i + (side < 0.0)) % 2)
            found.append(Limb(Leg(f"{name}.{letter}", joints[-1].x, joints[-1].y, phase), *joints))
    return found


def build(collection: Collection) -> Object:
    """The armature with the creature's mesh on it, standing at the origin."""
    armature = bpy.data.armatures.new("Beetle")
    rig = bpy.data.objects.new("Beetle", armature)
    collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    _bones(armature)
    bpy.ops.object.mode_set(mode="OBJECT")
    skin = _skin().object("Beetle Skin")
    skin.parent = rig
    skin.modifiers.new("Beetle", "ARMATURE").object = rig
    collection.objects.link(skin)
    for bone in rig.pose.bones:
        bone.rotation_mode = "XYZ"
    return rig


def add_chains(rig: Object, collection: Collection) -> list[Object]:
    """Give every leg a target and a live chain, as a person does in Pose Mode; return the targets."""
    targets = []
    for limb in limbs():
        name = limb.leg.name
        target = bpy.data.objects.new(f"Foot {name}", None)
        target.empty_display_size = 0.08
        target.location = limb.tip + Vector((0.0, 0.0, RIDE))
        collection.objects.link(target)
        targets.append(target)
        yaw = rig.pose.bones[f"coxa_{name}"].constraints.new("LOCKED_TRACK")
        yaw.target = target
        yaw.track_axis, yaw.lock_axis = "TRACK_Y", "LOCK_Z"
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    for limb, target in zip(limbs(), targets, strict=True):
        bpy.ops.pose.select_all(action="DESELECT")
        rig.data.bones.active = rig.data.bones[f"tibia_{limb.leg.name}"]
        bpy.ops.pose.planar_ik_add(plane="REST", target=target.name, runs_on="EXTENSION")
    bpy.ops.object.mode_set(mode="OBJECT")
    return targets


def make_portable(rig: Object) -> None:
    """Put all legs on the rig itself."""
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    bpy.ops.pose.planar_ik_make_portable()
    bpy.ops.object.mode_set(mode="OBJECT")


def animate(rig: Object, targets: list[Object], walk: Walk, frames: range) -> None:
    """Key the body and the targets; the legs get no key at all."""
    body = rig.pose.bones["body"]
    to_bone = body.bone.matrix_local.inverted()
    for frame in frames:
        pose = walk.body(frame)
        turn = (
            Matrix.Rotation(pose.yaw, 4, "Z") @ Matrix.Rotation(pose.pitch, 4, "Y") @ Matrix.Rotation(pose.roll, 4, "X")
        )
        body.matrix_basis = (
            to_bone @ Matrix.Translation(pose.place) @ turn @ Matrix.Translation((0, 0, -RIDE)) @ to_bone.inverted()
        )
        _fidget(rig, frame)
        for bone in rig.pose.bones:
            if not bone.name.startswith(("coxa", "femur", "tibia")):
                bone.keyframe_insert("rotation_euler", frame=frame)
        body.keyframe_insert("location", frame=frame)
        for leg, target in zip(walk.legs, targets, strict=True):
            target.location = walk.foot(leg, frame).place
            target.keyframe_insert("location", frame=frame)


def _fidget(rig: Object, frame: int) -> None:
    """Let the head look about and the feelers swing."""
    step = 2.0 * pi * frame / 22.0
    bones = rig.pose.bones
    bones["head"].rotation_euler = (0.05 * sin(2.0 * step), 0.10 * sin(step), 0.28 * sin(0.055 * frame - 1.2))
    bones["tail"].rotation_euler = (0.05 * sin(2.0 * step - 1.0), 0.0, 0.07 * sin(step - 0.7))
    for name, side in (("feeler.L", 1.0), ("feeler.R", -1.0)):
        bones[name].rotation_euler = (0.16 * sin(2.0 * step - 1.3 + 0.5 * side), 0.0, 0.10 * side * sin(step))


def _bones(armature: Armature) -> None:
    up = Vector((0.0, 0.0, RIDE))
    body = _bone(armature, "body", up + Vector((-0.4, 0.0, 0.0)), up + Vector((0.4, 0.0, 0.0)))
    head = _bone(armature, "head", up + Vector((0.42, 0.0, 0.08)), up + Vector((0.85, 0.0, 0.10)), body)
    _bone(armature, "tail", up + Vector((-0.1, 0.0, 0.05)), up + Vector((-0.8, 0.0, 0.05)), body)
    for name, side in (("feeler.L", 1.0), ("feeler.R", -1.0)):
        start = up + Vector((0.60, 0.09 * side, 0.36))
        _bone(armature, name, start, start + Vector((0.12, 0.16 * side, 0.5)), head)
    for limb in limbs():
        bone = body
        joints = [limb.hip + up, limb.shoulder + up, limb.knee + up, limb.tip + up]
        for part, start, end in zip(("coxa", "femur", "tibia"), joints, joints[1:], strict=False):
            bone = _bone(armature, f"{part}_{limb.leg.name}", start, end, bone)
            bone.use_connect = part != "coxa"


def _bone(
    armature: Armature, name: str, head: Vector, tail: Vector, parent: bpy.types.EditBone | None = None
) -> bpy.types.EditBone:
    bone = armature.edit_bones.new(name)
    bone.head, bone.tail, bone.parent = head, tail, parent
    bone.align_roll((0.0, 0.0, 1.0))
    return bone


def _skin() -> Clay:
    clay = Clay()
    _shape_body(clay)
    _shape_head(clay)
    for limb in limbs():
        _shape_leg(clay, limb)
    for place in clay.places:
        place.z += RIDE
    return clay


PAINTS = {
    "Coral": partial(paint, colour=(0.86, 0.11, 0.03), rough=0.3, coat=0.8),
    "Cream": partial(paint, colour=(0.90, 0.78, 0.56), rough=0.4, coat=0.3),
    "Graphite": partial(paint, colour=(0.035, 0.04, 0.05), rough=0.38, metal=0.6),
    "Rubber": partial(paint, colour=(0.02, 0.022, 0.026), rough=0.7),
    "Brass": partial(paint, colour=(0.95, 0.56, 0.16), rough=0.25, metal=1.0),
    "White": partial(paint, colour=(0.94, 0.94, 0.92), rough=0.12, coat=1.0),
    "Pupil": partial(paint, colour=(0.008, 0.010, 0.016), rough=0.05, coat=1.0),
    "Blush": partial(paint, colour=(0.90, 0.28, 0.22), rough=0.6),
    "Lamp": partial(glow, colour=(1.0, 0.55, 0.06), strength=1.6),
    "Spark": partial(glow, colour=(1.0, 1.0, 1.0), strength=2.5),
}


def _colour(name: str) -> bpy.types.Material:
    return bpy.data.materials.get(name) or PAINTS[name](name)


def _shape_body(clay: Clay) -> None:
    coral, cream, dark = _colour("Coral"), _colour("Cream"), _colour("Graphite")
    clay.ball((0.0, 0.0, -0.04), (0.66, 0.45, 0.17), dark, "body")
    clay.ball((0.40, 0.0, 0.09), (0.20, 0.31, 0.23), dark, "body")
    middle, radii = Vector((-0.14, 0.0, 0.06)), Vector((0.62, 0.47, 0.40))
    clay.ball(middle, radii, coral, "tail")
    clay.ball(middle, (radii.x * 1.006, 0.012, radii.z * 1.012), dark, "tail")
    clay.ball(middle + Vector((0.0, 0.0, -0.06)), (0.645, 0.492, 0.10), cream, "tail")
    for ahead, aside, size in ((0.55, 38, 0.085), (0.05, 52, 0.115), (-0.5, 36, 0.09), (-0.1, 20, 0.06)):
        for side in (1.0, -1.0):
            across = (1.0 - ahead * ahead) ** 0.5
            way = Vector((ahead, side * across * sin(radians(aside)), across * cos(radians(aside))))
            normal = Vector(w / r for w, r in zip(way, radii, strict=True))
            turn = normal.to_track_quat("Z", "Y").to_matrix().to_4x4()
            clay.ball(
                middle + Vector(w * r for w, r in zip(way, radii, strict=True)),
                (size, size, 0.016),
                cream,
                "tail",
                turn,
            )
    clay.ball((-0.74, 0.0, 0.03), (0.10, 0.16, 0.12), _colour("Lamp"), "tail")


def _shape_head(clay: Clay) -> None:
    cream, dark = _colour("Cream"), _colour("Graphite")
    clay.ball(HEAD[0], HEAD[1], cream, "head")
    for side in (1.0, -1.0):
        eye = Vector((0.76, 0.175 * side, 0.235))
        clay.ball(eye, (0.165, 0.165, 0.175), _colour("White"), "head")
        look = Vector((0.93, 0.16 * side, 0.08)).normalized()
        turn = look.to_track_quat("Z", "Y").to_matrix().to_4x4()
        clay.ball(eye + 0.118 * look, (0.098, 0.098, 0.060), _colour("Pupil"), "head", turn)
        clay.ball(eye + 0.165 * look + Vector((0.0, -0.035, 0.045)), (0.024, 0.024, 0.024), _colour("Spark"), "head")
        clay.ball((0.85, 0.235 * side, 0.045), (0.045, 0.055, 0.04), _colour("Blush"), "head")
        root = Vector((0.60, 0.09 * side, 0.36))
        joint, end = root + Vector((0.02, 0.05 * side, 0.26)), root + Vector((0.14, 0.16 * side, 0.46))
        clay.limb(root, joint, (0.024, 0.018), dark, f"feeler.{'L' if side > 0 else 'R'}")
        clay.limb(joint, end, (0.018, 0.014), dark, f"feeler.{'L' if side > 0 else 'R'}")
        clay.ball(end, (0.058, 0.058, 0.058), _colour("Lamp"), f"feeler.{'L' if side > 0 else 'R'}")
    smile = [_on_head(0.13 * t, 0.035 + 0.05 * t * t) for t in (-1, -0.75, -0.5, -0.25, 0, 0.25, 0.5, 0.75, 1)]
    for start, end in pairwise(smile):
        clay.limb(start, end, (0.014, 0.014), dark, "head")


def _on_head(aside: float, height: float) -> Vector:
    """A place on the front of the head."""
    middle, radii = HEAD
    rest = 1.0 - (aside / radii.y) ** 2 - ((height - middle.z) / radii.z) ** 2
    return Vector((middle.x + radii.x * rest**0.5, aside, height))


def _shape_leg(clay: Clay, limb: Limb) -> None:
    name = limb.leg.name
    coral, cream, dark, brass = (_colour(c) for c in ("Coral", "Cream", "Graphite", "Brass"))
    thigh, shin = limb.knee - limb.shoulder, limb.tip - limb.knee
    across = thigh.cross(shin).normalized()
    clay.ball(limb.hip, (0.115, 0.115, 0.13), dark, f"coxa_{name}")
    clay.limb(limb.hip, limb.shoulder, (0.085, 0.075), dark, f"coxa_{name}")
    clay.ball(limb.shoulder, (0.098, 0.098, 0.098), brass, f"coxa_{name}")
    clay.limb(limb.shoulder + 0.16 * thigh, limb.shoulder + 0.84 * thigh, (0.105, 0.080), coral, f"femur_{name}")
    clay.limb(limb.shoulder, limb.knee, (0.05, 0.05), dark, f"femur_{name}")
    clay.band(limb.shoulder + 0.60 * thigh, thigh, (0.102, 0.022), cream, f"femur_{name}")
    clay.band(limb.knee, across, (0.088, 0.085), dark, f"femur_{name}")
    clay.band(limb.knee, across, (0.05, 0.10), brass, f"femur_{name}")
    clay.limb(limb.knee, limb.knee + 0.5 * shin, (0.05, 0.05), dark, f"tibia_{name}")
    clay.limb(limb.knee + 0.13 * shin, limb.knee + 0.70 * shin, (0.088, 0.058), cream, f"tibia_{name}")
    clay.band(limb.knee + 0.32 * shin, shin, (0.092, 0.022), coral, f"tibia_{name}")
    along = shin.normalized()
    clay.limb(limb.knee + 0.72 * shin, limb.tip - 0.055 * along, (0.066, 0.055), _colour("Rubber"), f"tibia_{name}")
    clay.band(limb.knee + 0.74 * shin, shin, (0.076, 0.02), brass, f"tibia_{name}")
