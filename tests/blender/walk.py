"""A capture of our own making: a biped that walks on known contacts, as keys on every bone, with feet that slide.

Nothing of it was recorded, so it can be made anywhere and what is wrong with it is known."""

from __future__ import annotations

from math import pi, sin
from typing import Any

STEP, STRIDE, LIFT = 0.6, 24, 0.12
"""How far a foot gets in each step, in how many frames both step once, and how high a foot is lifted."""

STANDS = 15
"""The frames of a stride in which a foot stands."""

BEGINS = {".L": 1, ".R": 1 + STRIDE // 2}
"""The frame in which a foot first comes to stand."""

FRAMES = 61

DRIFT = 0.004
"""How far everything slides on, to the side, in each frame."""

BONES = {
    "root": ((0.0, 0.0, 0.0), (0.0, 0.3, 0.0), ""),
    "hips": ((0.0, 0.0, 0.95), (0.0, 0.0, 1.1), "root"),
    "spine": ((0.0, 0.0, 1.1), (0.0, 0.0, 1.5), "hips"),
}
LEG = {
    "thigh": ((0.0, 0.0, 0.95), (0.0, -0.05, 0.52), "hips"),
    "shin": ((0.0, -0.05, 0.52), (0.0, 0.0, 0.09), "thigh"),
    "foot": ((0.0, 0.0, 0.09), (0.0, -0.13, 0.02), "shin"),
    "toe": ((0.0, -0.13, 0.02), (0.0, -0.2, 0.02), "foot"),
}


def contacts(side: str) -> list[tuple[int, int]]:
    """The first and the last frames in which a foot stands."""
    starts = range(BEGINS[side] - STRIDE, FRAMES + 1, STRIDE)
    spans = [(max(start, 1), min(start + STANDS - 1, FRAMES)) for start in starts]
    return [(first, last) for first, last in spans if first < last]


def foot_at(side: str, frame: float) -> tuple[float, float]:
    """How far along the walk and how high over its stand a foot is."""
    strides, phase = divmod(frame - BEGINS[side], STRIDE)
    place = STEP * (strides + (BEGINS[side] - 1) / STRIDE)
    if phase < STANDS:
        return place, 0.0
    share = (phase - STANDS + 1.0) / (STRIDE - STANDS + 1.0)
    return place + STEP * share * share * (3.0 - 2.0 * share), LIFT * sin(pi * share)


def build() -> Any:
    """The biped in Pose Mode, with keys of the walk on its bones and nothing else, in an empty scene at 24 frames."""
    import bpy
    from mathutils import Vector

    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps, scene.render.fps_base = 1, FRAMES, 24, 1.0
    rig: Any = bpy.data.objects.new("Walker", bpy.data.armatures.new("Walker"))
    scene.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bones = dict(BONES)
    for side, x in ((".L", 0.1), (".R", -0.1)):
        for name, (head, tail, parent) in LEG.items():
            above = parent if parent in BONES else f"{parent}{side}"
            bones[f"{name}{side}"] = ((x, *head[1:]), (x, *tail[1:]), above)
    for name, (head, tail, parent) in bones.items():
        bone = rig.data.edit_bones.new(name)
        bone.head, bone.tail = head, tail
        bone.parent = rig.data.edit_bones[parent] if parent else None
    bpy.ops.object.mode_set(mode="POSE")
    hips, targets = rig.pose.bones["hips"], {}
    for side in BEGINS:
        targets[side] = target = bpy.data.objects.new(f"ankle{side}", None)
        scene.collection.objects.link(target)
        target.location = rig.data.bones[f"foot{side}"].head_local
        target.select_set(True)
        add_legs(rig, f"shin{side}", plane="FREE")
        target.select_set(False)
    start = {side: target.location.copy() for side, target in targets.items()}
    for frame in range(1, FRAMES + 1):
        along = STEP * (frame - 1 - (STANDS - 1) / 2.0) / STRIDE
        bob = -0.06 + 0.01 * sin(4.0 * pi * frame / STRIDE)
        _key(hips, Vector((0.0, -along, bob)), frame)
        for side, target in targets.items():
            foot, up = foot_at(side, frame)
            target.location = start[side] + Vector((0.0, -foot, up))
            target.keyframe_insert("location", frame=frame)
    bpy.ops.pose.planar_ik_bake(which="ALL", range="SCENE", remove=True)
    for target in targets.values():
        bpy.data.objects.remove(target)
    return rig


def add_legs(rig: Any, *names: str, **options: Any) -> None:
    """Put IK on both legs, or on those whose last bones are named, as a person does."""
    names = names or ("shin.L", "shin.R")
    import bpy

    for bone in rig.pose.bones:
        owner = bone if hasattr(bone, "select") else bone.bone  # The former from 5.0 on.
        owner.select = bone.name in names
    rig.data.bones.active = rig.data.bones[names[0]]
    bpy.ops.pose.planar_ik_add(mode="RIG", **options)


def spoil(rig: Any, drift: float = DRIFT, noise: float = 0.0) -> None:
    """Let the capture drift to the side by so much a frame, and each number of its keys be off by some noise."""
    import random

    import bpy

    numbers = random.Random(3)  # the same each time
    hips = rig.pose.bones["hips"]
    turn = hips.bone.matrix_local.to_3x3().inverted()
    for frame in range(1, FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        hips.location += turn @ _sideways(drift * (frame - 1))
        hips.keyframe_insert("location", frame=frame)
        for name in ("thigh.L", "thigh.R", "shin.L", "shin.R"):
            bone = rig.pose.bones[name]
            bone.rotation_quaternion = [number + numbers.gauss(0.0, noise) for number in bone.rotation_quaternion]
            bone.keyframe_insert("rotation_quaternion", frame=frame)
    bpy.context.scene.frame_set(1)


def rest_anew(rig: Any, turns: Any) -> None:
    """Let bones rest turned by an angle about an axis of the armature, by their names, with all below them; those whose
    parents are not named turn about the origin. The walk stays as it is seen."""
    import bpy
    from mathutils import Matrix, Vector

    scene, bones, seen = bpy.context.scene, [*rig.pose.bones], []  # parents come first
    for frame in range(1, FRAMES + 1):
        scene.frame_set(frame)
        seen.append({bone.name: bone.matrix.copy() for bone in bones})
    rig.animation_data_clear()
    for bone in bones:
        bone.matrix_basis = Matrix()
    for name, (axis, angle) in turns.items():
        bpy.context.view_layer.update()
        bone = rig.pose.bones[name]
        place = Matrix.Translation(bone.head if bone.parent else Vector())
        bone.matrix = place @ Matrix.Rotation(angle, 4, axis) @ place.inverted() @ bone.matrix
    bpy.ops.pose.armature_apply()
    for frame, matrices in enumerate(seen, 1):
        for bone in bones:
            above = bone.parent
            more = (
                {"parent_matrix": matrices[above.name], "parent_matrix_local": above.bone.matrix_local} if above else {}
            )
            bone.matrix_basis = bone.bone.convert_local_to_pose(
                matrices[bone.name], bone.bone.matrix_local, invert=True, **more
            )
            for path in ("location", "rotation_quaternion"):
                bone.keyframe_insert(path, frame=frame)
    scene.frame_set(1)


def _sideways(distance: float) -> Any:
    from mathutils import Vector

    return Vector((distance, 0.0, 0.0))


def _key(bone: Any, moved: Any, frame: int) -> None:
    """Key a bone that is moved off its rest by so much in the armature."""
    bone.location = bone.bone.matrix_local.to_3x3().inverted() @ moved
    bone.keyframe_insert("location", frame=frame)
