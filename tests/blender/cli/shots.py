"""Files to run the command line on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from tests.blender import legs, rigs
from tests.blender.libraries import override

Run = Callable[..., tuple[int, list[dict[str, Any]], str]]


def shot(path: Path, limb: str = "RIG", frames: int = 6) -> Path:
    """A biped whose left foot goes up and out of reach in the last frame, saved."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = rigs.biped()
    if limb:
        bpy.context.scene.frame_end = frames
        rigs.click(ob, "shin.L")
        bpy.ops.pose.planar_ik_add(mode=limb)
        control = ob.pose.bones[ob.pose.bones["shin.L"].planar_ik.subtarget]
        to_rest = control.bone.matrix_local.to_3x3().inverted()
        for frame in range(1, frames + 1):
            control.location = to_rest @ Vector((0.0, 0.0, -5.0 if frame == frames else 0.03 * frame))
            control.keyframe_insert("location", frame=frame)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def constrained(path: Path) -> Path:
    """A biped with Blender's IK on both legs, and on an arm with more bones than a limb has, saved."""
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    ob = rigs.biped()
    for name, count, place in (("shin.L", 2, (0.1, 0, 0.2)), ("shin.R", 2, (-0.1, 0, 0.2)), ("hand.L", 5, (0.6, 0, 1))):
        constraint = ob.pose.bones[name].constraints.new("IK")
        constraint.target, constraint.chain_count = rigs.empty(f"goal {name}", place), count
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def linked(library: Path, path: Path, is_overridden: bool) -> Path:
    """A shot that links the character of a file, with a library override or as it is; saved."""
    bpy.ops.wm.open_mainfile(filepath=str(library))
    ob = bpy.data.objects["rig"]
    collection = bpy.data.collections.new("character")
    bpy.context.scene.collection.children.link(collection)
    collection.objects.link(ob)
    bpy.context.scene.collection.objects.unlink(ob)
    bpy.ops.wm.save_as_mainfile(filepath=str(library))
    frames = bpy.context.scene.frame_end
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    bpy.context.scene.frame_end = frames
    with bpy.data.libraries.load(str(library), link=True, relative=True) as (_, wanted):
        wanted.collections = ["character"]
    (collection,) = wanted.collections
    if is_overridden:
        override(collection)
    else:
        bpy.context.scene.collection.children.link(collection)
    bpy.ops.wm.save_as_mainfile(filepath=str(path))
    return path


def poses(path: Path, frames: int = 6) -> np.ndarray:
    """How the leg stands in every frame of a file."""
    bpy.ops.wm.open_mainfile(filepath=str(path))
    ob = next(each for each in bpy.context.view_layer.objects if each.type == "ARMATURE")
    return legs.seen(ob, frames=range(1, frames + 1))
