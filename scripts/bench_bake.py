"""Baking beside ``nla.bake(visual_keying=True)`` of Blender's own IK on the same rig, in one run."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from math import pi, sin
from statistics import median
from time import perf_counter
from typing import Any

import bpy
from mathutils import Vector

from . import installed
from .bench_rigs import Limbs

CASES = {(20, 250): 3, (100, 250): 3, (20, 2500): 1, (100, 2500): 1}
"""Chains, frames, and how often each side bakes them in turn; the medians are compared."""

SKINNED = 22_000
"""Vertices of the mesh that the rig deforms, once subdivided."""

WAYS = ("by_curves", "by_isolation", "by_stepping")


def main() -> None:
    print("chains x frames, scene | nla.bake s | each way: s, times as fast")
    for is_skinned in (False, True):
        for (count, frames), runs in CASES.items():
            row(count, frames, is_skinned, runs)
    needs = [f"{name} {peak(100, 250, name) / 25_000:.0f}" for name in WAYS]
    print("Bytes per chain and frame at the peak, 100 x 250: " + ", ".join(needs))


def row(count: int, frames: int, is_skinned: bool, runs: int) -> None:
    """One case, every way."""
    native: list[float] = []
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(runs):
        native.append(blenders(count, frames, is_skinned))
        for name in WAYS:
            seconds[name].append(ours(count, frames, is_skinned, name))
    scene = f"{SKINNED} vertices" if is_skinned else "bare"
    words = [f"{count:4} x {frames:4}, {scene:14} | {median(native):7.3f}"]
    for name in WAYS:
        took = median(seconds[name])
        words.append(f"{name} {took:6.3f} s, {median(native) / took:5.1f} x")
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


def ours(count: int, frames: int, is_skinned: bool, way: str) -> float:
    """Seconds that we take by one way."""
    with chains(count, frames, is_skinned, way):
        bpy.ops.object.mode_set(mode="POSE")
        began = perf_counter()
        bpy.ops.pose.planar_ik_bake(chains="ALL", range="GIVEN", frame_start=1, frame_end=frames)
        return perf_counter() - began


def peak(count: int, frames: int, way: str) -> int:
    """Bytes at the peak in Python and NumPy, from a run of its own, which takes longer."""
    with chains(count, frames, False, way):
        tracemalloc.start()
        bpy.ops.pose.planar_ik_bake(chains="ALL", range="GIVEN", frame_start=1, frame_end=frames)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found


@contextmanager
def chains(count: int, frames: int, is_skinned: bool, way: str) -> Iterator[None]:
    """The same limbs posed by live chains, and only one way to bake them."""
    ways = installed.addon("addon.bake.ways")
    every = ways.WAYS
    ways.WAYS = (getattr(ways, way),)
    try:
        limbs = make(count, frames, is_skinned)
        limbs.pose_by_chains()
        yield
    finally:
        ways.WAYS = every


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
