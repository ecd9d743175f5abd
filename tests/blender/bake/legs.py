"""Legs to bake: a biped whose hips turn and whose feet go round, and what is seen of it over the frames."""

from __future__ import annotations

from math import cos, sin
from typing import Any

import bpy
import numpy as np

from tests.blender import rigs

FRAMES = range(1, 13)
LIMB = ("thigh.L", "shin.L", "foot.L")


def walker(addon: Any, mode: str = "LIVE", **settings: Any) -> Any:
    """A biped with keyed hips, whose left leg follows an empty that goes round it, now and then out of reach: the leg's
    last bone."""
    ob = rigs.biped()
    hips = ob.pose.bones["hips"]
    hips.rotation_mode = "XYZ"
    foot = bpy.data.objects.new("to foot", None)
    bpy.context.collection.objects.link(foot)
    for frame in range(FRAMES[0], FRAMES[-1] + 1, 2):
        hips.rotation_euler = (0.3 * sin(frame), 0.1 * frame, 0.0)
        hips.location = (0.05 * sin(frame), 0.1, 0.0)
        hips.keyframe_insert("rotation_euler", frame=frame)
        hips.keyframe_insert("location", frame=frame)
        foot.location = (0.1 + 0.2 * sin(frame), 0.3 * cos(frame), 0.25 + 0.03 * frame)
        foot.rotation_euler = (0.5 * sin(frame), 0.3, 0.2 * frame)
        foot.keyframe_insert("location", frame=frame)
        foot.keyframe_insert("rotation_euler", frame=frame)
    limb = ob.pose.bones["shin.L"].planar_ik
    limb.target = foot
    for name, value in settings.items():
        setattr(limb, name, value)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = FRAMES[0], FRAMES[-1]
    if mode == "RIG":
        addon("tasks.modes").to_rig(bpy.context, [ob.pose.bones["shin.L"]])
    bpy.context.scene.frame_set(5)
    return ob.pose.bones["shin.L"]


def seen(ob: Any, names: Any = LIMB, frames: Any = FRAMES) -> np.ndarray:
    """The matrices of bones in the world (frames, bones, 4, 4), as playback shows them."""
    scene, now, found = bpy.context.scene, bpy.context.scene.frame_current, []
    for frame in frames:
        scene.frame_set(int(frame // 1), subframe=frame % 1)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        found.append([evaluated.matrix_world @ evaluated.pose.bones[name].matrix for name in names])
    scene.frame_set(now)
    return np.array(found, float)


def joints(ob: Any, names: Any = LIMB, frames: Any = FRAMES) -> np.ndarray:
    """Where bones begin in the world (frames, bones, 3)."""
    return seen(ob, names, frames)[..., :3, 3]


def curves(addon: Any, ob: Any) -> dict[tuple[str, int], list[tuple[float, ...]]]:
    """All keys of an object's action: frame, value, interpolation."""
    return {
        (curve.data_path, curve.array_index): [(*key.co, key.interpolation) for key in curve.keyframe_points]
        for curve in addon("blender.animation").curves_of(ob)
    }


def bake(addon: Any, *lasts: Any, frames: Any = FRAMES, progress: Any = None, **options: Any) -> Any:
    """Bake limbs: the report."""
    return addon("bake").bake(bpy.context, addon("bake").Request(lasts, list(frames), **options), progress)
