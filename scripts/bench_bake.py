"""Baking beside ``nla.bake(visual_keying=True)`` of Blender's own IK on the same rig, in one run."""

from __future__ import annotations

import sys
import tracemalloc
from math import pi, sin
from time import perf_counter
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from . import installed
from .bench_rigs import Limbs

CASES = [(20, 250), (100, 250), (20, 2500), (100, 2500)]
SKINNED = 22_000
"""Vertices of the mesh that the rig deforms, once subdivided."""


def main() -> None:
    print("chains x frames, scene | nla.bake s | each way: s, times as fast, bytes per chain and frame at the peak")
    sizes = CASES[:2] if "--quick" in sys.argv else CASES
    for is_skinned in (False, True):
        for count, frames in sizes:
            row(count, frames, is_skinned)


def row(count: int, frames: int, is_skinned: bool) -> None:
    """One case, every way."""
    native = blenders(count, frames, is_skinned)
    scene = f"{SKINNED} vertices" if is_skinned else "bare"
    words = [f"{count:4} x {frames:4}, {scene:14} | {native:7.3f}"]
    for name in ("by_curves", "by_isolation", "by_stepping"):
        seconds, size = ours(count, frames, is_skinned, name)
        words.append(f"{name} {seconds:6.3f} s, {native / seconds:5.1f} x, {size / (count * frames):4.0f} B")
    print(" | ".join(words), flush=True)


def blenders(count: int, frames: int, is_skinned: bool) -> float:
    """Seconds that Blender takes to bake its own IK."""
    limbs = make(count, frames, is_skinned)
    for lower, target in zip(limbs.lowers(), limbs.targets, strict=True):
        constraint = lower.constraints.new("IK")
        constraint.target, constraint.chain_count = target, 2
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="SELECT")
    began = perf_counter()
    bpy.ops.nla.bake(
        frame_start=1, frame_end=frames, visual_keying=True, only_selected=True, clear_constraints=True,
        bake_types={"POSE"}, channel_types={"ROTATION"},
    )  # fmt: skip
    return perf_counter() - began


def ours(count: int, frames: int, is_skinned: bool, way: str) -> tuple[float, int]:
    """Seconds, and bytes at the peak in Python and NumPy (from a second, slower run), that we take by one way."""
    baking, ways = installed.addon("addon.bake"), installed.addon("addon.bake.ways")
    every = ways.WAYS
    ways.WAYS = (getattr(ways, way), *every[-1:])
    try:
        found = []
        for is_traced in (False, True):
            limbs = make(count, frames, is_skinned)
            for lower, target in zip(limbs.lowers(), limbs.targets, strict=True):
                lower.planar_ik.target = target
                lower.planar_ik.enabled = True
            bpy.context.view_layer.update()
            request = baking.Request(baking.chains_of_scene(bpy.context), np.arange(1.0, frames + 1.0))
            if is_traced:
                tracemalloc.start()
            began = perf_counter()
            baking.finish(baking.bake(bpy.context, request))
            found.append(perf_counter() - began)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    finally:
        ways.WAYS = every
    return found[0], peak


def make(count: int, frames: int, is_skinned: bool) -> Limbs:
    """Limbs side by side, bent, whose targets go up and down."""
    limbs = Limbs([(Vector((i, 0, 0)), Vector((i, -0.3, -1)), Vector((i, 0, -1.9))) for i in range(count)])
    for i, target in enumerate(limbs.targets):
        for key in range(0, frames + 12, 12):
            target.location = (i + 0.2 * sin(key + i), 0.3 * sin(key / 7), -1.5 + 0.3 * sin(key / 5 + i * pi / 7))
            target.keyframe_insert("location", frame=1 + key)
    if is_skinned:
        skin(limbs.rig)
    return limbs


def skin(rig: Any) -> None:
    """A mesh that all bones deform: a grid, smoothly subdivided once."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=74, y_subdivisions=74, size=4.0)
    mesh = bpy.context.object
    for i, bone in enumerate(rig.data.bones):
        group = mesh.vertex_groups.new(name=bone.name)
        group.add(list(range(i, len(mesh.data.vertices), 7)), 0.5, "REPLACE")
    mesh.modifiers.new("Armature", "ARMATURE").object = rig
    mesh.modifiers.new("Subdivision", "SUBSURF").levels = 1
    bpy.context.view_layer.objects.active = rig
