"""Baking beside ``nla.bake(visual_keying=True)`` of Blender's own IK on the same rig, in one run."""

from __future__ import annotations

import os
import tracemalloc
from statistics import median
from time import perf_counter
from typing import Any

import bpy

from . import installed
from .bench_bake_cases import CASES, Case, Rigged, plain

RUNS = int(os.environ.get("PLANAR_IK_BENCH_RUNS", "3"))
"""How often each side bakes in turn; the medians are compared."""

LONG = (16_000, 64_000)
"""Frames of one limb, baked with all else the same: the second should take 4.5 times as long as the first, or less."""


def main() -> None:
    wanted = os.environ.get("PLANAR_IK_BENCH_CASES")
    print("case, chains x frames | nla.bake s | ours s | times as fast, least wanted | sampled")
    for name, case in CASES.items():
        if not wanted or name in wanted.split(","):
            row(name, case)
    if not wanted or "long" in wanted:
        first, second = (median(ours(Case(plain, 4, frames, 0.0))[0] for _ in range(RUNS)) for frames in LONG)
        print(f"{LONG[0]} frames {first:.3f} s, {LONG[1]} frames {second:.3f} s: {second / first:.2f} times as long")
        needs = [peak(Case(plain, 4, frames, 0.0)) / (4 * frames) for frames in LONG]
        print("Bytes per chain and frame at the peak: " + ", ".join(f"{need:.0f}" for need in needs))


def row(name: str, case: Case) -> None:
    """One case."""
    native, seconds, way = [], [], ""
    for _ in range(RUNS):
        native.append(blenders(case))
        took, way = ours(case)
        seconds.append(took)
    ratio = median(native) / median(seconds)
    size = f"{case.chains} x {case.frames}"
    took = f"{median(native):7.3f} | {median(seconds):7.3f}"
    print(f"{name:14} {size:10} | {took} | {ratio:5.1f} x, {case.bar:3.1f} | {way}", flush=True)


def blenders(case: Case) -> float:
    """Seconds that Blender takes to bake its own IK."""
    rigged = case.make(case.chains, case.frames)
    rigged.pose_by_constraints()
    bpy.ops.object.mode_set(mode="POSE")
    bpy.ops.pose.select_all(action="DESELECT")
    for lower in rigged.lowers:
        for bone in (lower, lower.parent):
            if bpy.app.version < (5, 0):
                bone.bone.select = True
            else:
                bone.select = True
    began = perf_counter()
    bpy.ops.nla.bake(
        frame_start=1, frame_end=case.frames, visual_keying=True, only_selected=True, clear_constraints=True,
        bake_types={"POSE"}, channel_types={"ROTATION"},
    )  # fmt: skip
    return perf_counter() - began


def ours(case: Case) -> tuple[float, str]:
    """Seconds that we take, and how the chains were sampled."""
    rigged = case.make(case.chains, case.frames)
    rigged.pose_by_chains()
    bpy.ops.object.mode_set(mode="POSE")
    began = perf_counter()
    report = bake(rigged, case.frames)
    return perf_counter() - began, " and ".join(sorted({chain.way for chain in report.chains}))


def bake(rigged: Rigged, frames: int) -> Any:
    baking = installed.addon("addon.bake")
    span = baking.frames_of(bpy.context, baking.Span("GIVEN", 1, frames), rigged.lowers)
    return baking.finish(baking.bake(bpy.context, baking.Request(rigged.lowers, span)))


def peak(case: Case) -> int:
    """Bytes at the peak in Python and NumPy, from a run of its own, which takes longer."""
    rigged = case.make(case.chains, case.frames)
    rigged.pose_by_chains()
    tracemalloc.start()
    bake(rigged, case.frames)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found
