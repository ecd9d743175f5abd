"""The limbs that the benchmarks pose, and the ways to pose them."""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import bpy
from bpy.types import Object
from mathutils import Vector

from . import installed

FRAMES = 100
"""Frames in which a target goes round once."""

FEATURES = {
    "plane": "POLE",
    "influence": 0.5,
    "softness": 0.05,
    "stretch": 0.5,
    "min_angle": 0.4,
    "max_angle": 2.9,
    "bend": 0.5,
}
"""Everything that a chain can do, at once."""


def empty_file() -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()


class Limbs:
    """Limbs of one armature, each two units long and near the origin, with a target each and a pole for all."""

    def __init__(self, joints: list[tuple[Vector, Vector, Vector]], in_empty_file: bool = True) -> None:
        if in_empty_file:
            empty_file()
        self.goals: list[str] = []
        """The bones of the rig that are targets in the objects' stead."""
        self.rig = new_rig("Rig", joints)
        self.targets = [new_object(f"target{i}") for i in range(len(joints))]
        for target, (_, _, tip) in zip(self.targets, joints, strict=True):
            target.location = tip
        self.pole = new_object("pole")

    def lowers(self) -> list[Any]:
        """The lower bones."""
        return [self.rig.pose.bones[f"lower{i}"] for i in range(len(self.targets))]

    def pose_by_nothing(self) -> None:
        """Leave the limbs at rest."""
        for lower in self.lowers():
            if lower.planar_ik.enabled:
                lower.planar_ik.enabled = False
            lower.property_unset("planar_ik")  # What is stored on a bone costs its every evaluation a little.
            for constraint in list(lower.constraints):
                lower.constraints.remove(constraint)
        bpy.context.view_layer.update()

    def pose_by_chains(self, **settings: Any) -> None:
        """Pose the limbs by live chains with these settings."""
        self.pose_by_nothing()
        for lower, (target, bone) in zip(self.lowers(), self.aims(), strict=True):
            chain = lower.planar_ik
            chain.target, chain.subtarget, chain.pole_target = target, bone, self.pole
            for name, value in settings.items():
                setattr(chain, name, value)
            chain.enabled = True
        bpy.context.view_layer.update()

    def pose_by_constraints(self, has_pole: bool = False) -> None:
        """Pose the limbs by Blender's IK constraints."""
        self.pose_by_nothing()
        for lower, (target, bone) in zip(self.lowers(), self.aims(), strict=True):
            constraint = lower.constraints.new("IK")
            constraint.target, constraint.subtarget, constraint.chain_count = target, bone, 2
            if has_pole:
                constraint.pole_target = self.pole
        bpy.context.view_layer.update()

    def aims(self) -> list[tuple[Object, str]]:
        """The target of each limb."""
        return [(self.rig, bone) for bone in self.goals] or [(target, "") for target in self.targets]

    def aim_at_bones(self) -> None:
        """Have bones of the rig for targets, which move as the objects do."""
        bpy.context.view_layer.objects.active = self.rig
        bpy.ops.object.mode_set(mode="EDIT")
        self.goals = [f"goal{i}" for i in range(len(self.targets))]
        for name in self.goals:
            self.rig.data.edit_bones.new(name).tail = (0.0, 0.2, 0.0)
        bpy.ops.object.mode_set(mode="OBJECT")
        for name, target in zip(self.goals, self.targets, strict=True):
            for frame in range(1, FRAMES + 2, 5):
                bpy.context.scene.frame_set(frame)
                bone = self.rig.pose.bones[name]
                bone.location = target.location
                bone.keyframe_insert("location", frame=frame)

    def joints(self, i: int = 0) -> tuple[Vector, Vector]:
        """Where knee and tip of a limb are."""
        evaluated = self.rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        lower = evaluated.pose.bones[f"lower{i}"]
        return lower.head.copy(), lower.tail.copy()

    def reach_for(self, place: Vector) -> tuple[Vector, Vector]:
        """Move the target of the only limb, and say where knee and tip come to be."""
        self.targets[0].location = place
        bpy.context.view_layer.update()
        return self.joints()

    def tip_error(self) -> float:
        """The farthest that a tip is from its target in any frame, in lengths of the limb."""
        worst = 0.0
        for frame in range(1, FRAMES + 1, 7):
            bpy.context.scene.frame_set(frame)
            for i, target in enumerate(self.targets):
                worst = max(worst, (self.joints(i)[1] - target.matrix_world.translation).length)
        return worst / 2.0


class Crowd:
    """Rigs of two limbs each, with a target for every limb."""

    def __init__(self, count: int) -> None:
        empty_file()
        roots = (Vector((-0.2, 0.0, 1.0)), Vector((0.2, 0.0, 1.0)))
        joints = [(root, root + Vector((0.0, 0.1, -0.5)), root + Vector((0.0, 0.0, -1.0))) for root in roots]
        first = new_rig("Rig", joints)
        self.objects = [first, *(new_object(f"Rig{i}", first.data.copy()) for i in range(1, count))]
        for i, rig in enumerate(self.objects):
            rig.location.x = i
        bpy.context.view_layer.update()

    def pose(self, has_chains: bool) -> None:
        """Pose the limbs by live chains, or by Blender's IK constraints."""
        for rig in self.objects:
            for i in range(2):
                target = new_object(f"{rig.name} target{i}")
                target.location = rig.matrix_world @ Vector((0.4 * i - 0.2, 0.3, 0.2))
                lower = rig.pose.bones[f"lower{i}"]
                if has_chains:
                    lower.planar_ik.target, lower.planar_ik.enabled = target, True
                else:
                    constraint = lower.constraints.new("IK")
                    constraint.target, constraint.chain_count = target, 2
        bpy.context.view_layer.update()


def moving_limbs(count: int) -> Limbs:
    """Limbs whose targets go round in front of them, in the rest plane and within reach."""
    roots = [Vector((0.1 * (i % 25) - 1.2, 0.05 * (i // 25), 0.0)) for i in range(count)]
    limbs = Limbs([leg_at(root) for root in roots])
    limbs.pole.location = (0.0, 5.0, 1.0)
    for root, target in zip(roots, limbs.targets, strict=True):
        circle(target, root)
    return limbs


def moving_rigs(count: int) -> list[Limbs]:
    """Rigs of one such limb each."""
    rigs = [Limbs([leg_at(Vector((float(i), 0.0, 0.0)))], in_empty_file=i == 0) for i in range(count)]
    for i, limbs in enumerate(rigs):
        circle(limbs.targets[0], Vector((float(i), 0.0, 0.0)))
    return rigs


def leg_at(root: Vector) -> tuple[Vector, Vector, Vector]:
    """Root, knee and tip of a limb that points up."""
    return root, root + Vector((0.0, 0.1, 1.0)), root + Vector((0.0, 0.0, 2.0))


def circle(target: Object, root: Vector) -> None:
    """Key a target to go round in front of a limb."""
    for frame in range(1, FRAMES + 2, 5):
        angle = 2.0 * pi * frame / (FRAMES + 1)
        target.location = root + Vector((0.0, 0.2 + 0.9 * cos(angle), 0.9 + 0.7 * sin(angle)))
        target.keyframe_insert("location", frame=frame)


def bent_limb(half_bend: float) -> Limbs:
    """One limb of lengths 1 and 1 that points up, its knee towards -X by this angle at rest."""
    knee = Vector((-sin(half_bend), 0.0, cos(half_bend)))
    return Limbs([(Vector(), knee, Vector((0.0, 0.0, 2.0 * cos(half_bend))))])


def new_rig(name: str, joints: list[tuple[Vector, Vector, Vector]]) -> Any:
    """An armature with a limb for each root, knee and tip, all carried by one bone."""
    armature = bpy.data.armatures.new(name)
    rig = new_object(name, armature)
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    base = armature.edit_bones.new("base")
    base.tail = (0.0, 0.0, 0.3)
    for i, (root, knee, tip) in enumerate(joints):
        upper, lower = armature.edit_bones.new(f"upper{i}"), armature.edit_bones.new(f"lower{i}")
        upper.head, upper.tail, upper.parent = root, knee, base
        lower.head, lower.tail, lower.parent, lower.use_connect = knee, tip, upper, True
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def new_object(name: str, data: Any = None) -> Object:
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob
