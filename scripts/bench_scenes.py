"""The scenes of the benchmark: rigs of limbs, who poses them, and what their targets do."""

from __future__ import annotations

import os
from collections.abc import Callable
from math import cos, pi, radians, sin
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import bpy
from mathutils import Vector

from . import installed

WALK = Path(os.environ.get("WALK", "walk01.bvh"))
"""The capture that scripts/capture.py fetches."""
WALKING = ("RightLeg", "LeftLeg", "RightForeArm", "LeftForeArm")
RIGIFY = ("shin_fk.L", "shin_fk.R", "forearm_fk.L", "forearm_fk.R")
"""The last bones of the limbs of a captured walk, and of Rigify's human."""

Step = Callable[[], Any]
folder = TemporaryDirectory(prefix="planar-ik-bench-")


def limbs() -> list[tuple[Any, Any, Any]]:
    """Last bone, target and pole of each limb in the file: "to RIG|BONE", and "pole RIG|BONE" or "pole"."""
    objects = bpy.data.objects
    names = [ob.name[3:] for ob in objects if ob.name.startswith("to ")]
    poles = [objects.get(f"pole {name}", objects.get("pole")) for name in names]
    bones = [objects[rig].pose.bones[bone] for rig, bone in (name.split("|") for name in names)]
    return [(bone, objects[f"to {name}"], pole) for bone, name, pole in zip(bones, names, poles, strict=True)]


def new_limbs(count: int, bend: float = 20.0, rigs: int = 1, others: int = 0, frames: int = 101, bones: int = 2) -> Any:
    """Rigs of limbs that point up, whose targets go round in front of them, in their plane and in reach."""
    new_file(frames)
    armature = bpy.data.armatures.new("Rig")
    first = new_object("Rig", armature)
    in_mode("EDIT", first)
    base = armature.edit_bones.new("base")
    base.tail = (0.0, 0.0, 0.3)
    aside = Vector((0.0, sin(radians(bend / 2)), 0.0)) * 2.0 / bones
    up = Vector((0.0, 0.0, cos(radians(bend / 2)))) * 2.0 / bones
    places = [Vector((0.1 * (i % 25) - 1.2, 0.05 * (i // 25), 0.0)) for i in range(count)]
    for i, place in enumerate(places):
        above, start = base, place
        for k in range(bones):
            bone = armature.edit_bones.new(f"lower{i}" if k == bones - 1 else f"upper{i}")
            bone.head, bone.tail = start, start + up + (-aside if k % 2 else aside)
            bone.parent, bone.use_connect = above, k > 0
            above, start = bone, bone.tail.copy()
    for i in range(others):
        bone = armature.edit_bones.new(f"other{i}")
        bone.head, bone.tail = (i, 1.0, 0.0), (i, 1.0, 1.0)
    in_mode("OBJECT", first)
    for rig in (first, *(new_object(f"Rig{i}", armature.copy()) for i in range(1, rigs))):
        rig.location.x = float(rig.name[3:] or 0)
        for i, place in enumerate(places):
            key_round(new_object(f"to {rig.name}|lower{i}"), rig.location + place, frames, phase=0.1 * i)
    new_object("pole").location = (0.0, 5.0, 1.0)
    bpy.context.view_layer.update()  # Which gives the other rigs their poses.
    return first


def key_round(target: Any, root: Vector, frames: int, size: float = 1.0, phase: float = 0.0) -> None:
    step = max(5, frames // 2000)
    for frame in range(1, frames + step, step):
        angle = 2.0 * pi * frame / 101 + phase
        target.location = root + size * Vector((0.0, 0.2 + 0.9 * cos(angle), 0.9 + 0.7 * sin(angle)))
        target.keyframe_insert("location", frame=frame)


def imported(frames: int, mute: bool = False) -> None:
    """With keys of everything on all bones in every frame, as importers leave them; perhaps muted."""
    rig = new_limbs(20, frames=frames)
    for bone in rig.pose.bones:
        for name in ("location", "rotation_quaternion", "scale"):
            bone.keyframe_insert(name, frame=1)
    action = rig.animation_data.action
    curves = action.layers[0].strips[0].channelbags[0].fcurves
    for curve in curves:
        value, curve.mute = curve.keyframe_points[0].co.y, mute
        curve.keyframe_points.add(frames - 1)
        curve.keyframe_points.foreach_set("co", [number for frame in range(frames) for number in (frame + 1.0, value)])
        curve.update()


def led(frames: int) -> None:
    """With targets that constraints put where others are."""
    new_limbs(20, frames=frames)
    for _, target, _ in limbs():
        name, target.name = target.name, f"led {target.name}"
        new_object(name).constraints.new("COPY_LOCATION").target = target


def human(frames: int) -> None:
    """Rigify's human, its FK limbs posed by targets that hang on nothing, and a torso that turns."""
    new_file(frames)
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_basic_human_metarig_add()
    bpy.ops.pose.rigify_generate()
    rig: Any = bpy.context.view_layer.objects.active
    rig.name = "Human"
    for bone in (bone for bone in rig.pose.bones if "IK_FK" in bone):
        bone["IK_FK"] = 1.0
    for frame in range(1, frames, 50):
        rig.pose.bones["torso"].rotation_quaternion.z = 0.1 * sin(frame)
        rig.pose.bones["torso"].keyframe_insert("rotation_quaternion", frame=frame)
    for i, name in enumerate(RIGIFY):
        key_round(new_object(f"to Human|{name}"), rig.data.bones[name].tail_local, frames, 0.1, i)


def walk() -> None:
    """A captured walk: its own tips as targets, its own knees as poles."""
    new_file(101)
    bpy.ops.preferences.addon_enable(module="io_anim_bvh")
    bpy.ops.import_anim.bvh(filepath=str(WALK))
    rig: Any = bpy.context.view_layer.objects.active
    rig.name = "Walk"
    ends = [(role, name, end) for role, end in (("to", "tail"), ("pole", "head")) for name in WALKING]
    empties = [new_object(f"{role} Walk|{name}") for role, name, _ in ends]
    for frame in range(1, 102):
        bpy.context.scene.frame_set(frame)
        for empty, (_, name, end) in zip(empties, ends, strict=True):
            empty.location = rig.matrix_world @ getattr(rig.pose.bones[name], end)
            empty.keyframe_insert("location", frame=frame)


def new_file(frames: int) -> None:
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    installed.enable()
    bpy.context.scene.frame_end = frames


def new_object(name: str, data: Any = None) -> Any:
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def in_mode(mode: str, ob: Any) -> None:
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode=mode)


def length_of(last: Any) -> int:
    """How many bones a limb of `new_limbs` has."""
    return 3 if ".001" in last.parent.name else 2


def constraint(pole: bool = False) -> None:
    for bone, target, its_pole in limbs():
        added = bone.constraints.new("IK")
        added.target, added.chain_count, added.pole_target = target, length_of(bone), its_pole if pole else None


def live(plane: str = "FREE", **settings: object) -> None:
    for bone, target, pole in limbs():
        ik = bone.planar_ik
        if length_of(bone) > 2:
            ik.chain_count = length_of(bone)
        ik.target, ik.pole_target, ik.plane = target, pole if plane == "POLE" else None, plane
        for name, value in settings.items():
            setattr(ik, name, value)
    bpy.context.view_layer.update()


def on_rig(**settings: Any) -> None:
    live(**settings)
    select_limbs()
    bpy.ops.pose.planar_ik_set(mode="RIG")


def select_limbs() -> None:
    for bone, _, _ in limbs():
        bone.id_data.select_set(True)
    in_mode("POSE", limbs()[0][0].id_data)
    bpy.ops.pose.select_all(action="DESELECT")
    for lower, _, _ in limbs():
        lower.id_data.data.bones.active = lower.bone
        for bone in (lower, lower.parent):
            (bone if hasattr(bone, "select") else bone.bone).select = True  # The former from 5.0 on.


def kept(*steps: Step) -> str:
    """The path of a file that these steps make."""
    for step in steps:
        step()
    if bpy.context.object:
        bpy.ops.object.mode_set(mode="OBJECT")
    path = f"{folder.name}/{len(list(Path(folder.name).iterdir()))}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=path)
    return path


def opened(path: str) -> None:
    bpy.ops.wm.open_mainfile(filepath=path)
    bpy.context.view_layer.update()
