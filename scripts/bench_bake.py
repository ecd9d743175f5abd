"""Baking beside ``nla.bake(visual_keying=True)`` of Blender's own IK on the same rig, in one run."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import bpy

from . import installed
from .bench_bake_cases import CASES, Case, Rigged, plain
from .bench_rigs import new_object

RUNS = int(os.environ.get("PLANAR_IK_BENCH_RUNS", "3"))
"""How often each side bakes in turn; the medians are compared."""

LONG = (16_000, 64_000)
"""Frames of one limb, baked with all else the same: the second should take 4.5 times as long as the first, or less."""

OTHERS = (10, 1_000)
"""How many other objects, each with an action, are in the scene; the memory of a bake should not grow with them."""


def main() -> None:
    wanted = os.environ.get("PLANAR_IK_BENCH_CASES")
    bpy.context.preferences.filepaths.use_scripts_auto_execute = (
        True  # or drivers by Python stand still, for both sides
    )
    print("case, chains x frames | nla.bake s | ours s | times as fast, least wanted | sampled")
    for name, case in CASES.items():
        if not wanted or name in wanted.split(","):
            row(name, case)
    if not wanted or "native" in wanted:
        beside_native(CASES["plain"])
    if not wanted or "surroundings" in wanted:
        among_others(Case(plain, 4, LONG[0], 0.0))
    if not wanted or "long" in wanted:
        pairs = [[ours(Case(plain, 4, frames, 0.0))[0] for frames in LONG] for _ in range(RUNS)]
        first, second = (median(each) for each in zip(*pairs, strict=True))
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


def ours(case: Case, pose: Callable[[Rigged], None] = Rigged.pose_by_chains) -> tuple[float, str]:
    """Seconds that we take, and how the chains were sampled."""
    rigged = case.make(case.chains, case.frames)
    pose(rigged)
    bpy.ops.object.mode_set(mode="POSE")
    began = perf_counter()
    report = bake(rigged, case.frames)
    return perf_counter() - began, " and ".join(sorted({chain.way for chain in report.chains}))


def beside_native(case: Case) -> None:
    """Chains on the rig beside live ones."""
    pairs = [(ours(case)[0], ours(case, Rigged.pose_on_rig)[0]) for _ in range(RUNS)]
    live, native = (median(each) for each in zip(*pairs, strict=True))
    ratio = median(b / a for a, b in pairs)
    print(f"live chains {live:.3f} s, on the rig {native:.3f} s: {ratio:.2f} times as long", flush=True)


def among_others(case: Case) -> None:
    """The memory of the process at the peak of a bake beyond what it had before, among few and many other objects."""
    for count in OTHERS:
        rigged = case.make(case.chains, case.frames)
        for i in range(count):
            key_still(new_object(f"other{i}"))
        rigged.pose_by_chains()
        before = resident("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")
        bake(rigged, case.frames)
        print(f"among {count} other objects: {resident('VmHWM') - before} kB at the peak", flush=True)


def resident(name: str) -> int:
    """The process's resident memory now or at its peak, in kB, as Linux tells it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name))


def key_still(ob: Any) -> None:
    """Key an object's place at two frames."""
    for frame in (1, 250):
        ob.keyframe_insert("location", frame=frame)


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
