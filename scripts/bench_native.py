"""What a chain on the rig adds to every frame, against live chains and Blender's IK constraint on the same rig."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import bpy

from . import installed
from .bench_rigs import FEATURES, Limbs, moving_limbs, moving_rigs

COUNTS = (50, 200, 500)
FRAMES = range(1, 101, 5)
ROUNDS = 8


class Case(NamedTuple):
    """What chains do, whether the constraint beside them has a pole, and the most that they may cost of it."""

    name: str
    settings: dict[str, object]
    has_pole: bool
    bars: dict[int, float]


CASES = (
    Case("REST", {"plane": "REST"}, False, {50: 0.4, 200: 0.4, 500: 0.4}),
    Case("SWING", {"plane": "SWING"}, False, {}),
    Case("POLE", {"plane": "POLE"}, True, {50: 0.6, 200: 0.8}),
    Case("everything", FEATURES, True, {50: 1.0, 200: 1.0}),
)


def main() -> None:
    print("Added per chain and frame in us: on the rig, live, the IK constraint; the first as a share of the last")
    print(f"{'':20}{'rig':>8}{'live':>8}{'constraint':>12}{'ratio':>8}{'bar':>6}")
    for count in COUNTS:
        for case in CASES if count < 500 else CASES[:1]:
            report(count, case)
    few_among_many("objects")
    few_among_many("bones of the armature")
    many_rigs(50)


def report(count: int, case: Case) -> None:
    """Measure one case: nothing, the constraint, live, the rig."""
    limbs = moving_limbs(count)
    nothing = measure(limbs.pose_by_nothing)
    constraint = measure(partial(limbs.pose_by_constraints, has_pole=case.has_pole))
    live = measure(partial(limbs.pose_by_chains, **case.settings))
    rig = measure(partial(put_on_rig, limbs, **case.settings))
    each = [1e6 * (time - nothing) / count for time in (rig, live, constraint)]
    bar = f"{case.bars[count]:6.1f}" if count in case.bars else ""
    ratio = each[0] / each[2]
    print(f"{count:4} {case.name:15}{each[0]:8.2f}{each[1]:8.2f}{each[2]:12.2f}{ratio:8.2f}{bar}", flush=True)


def few_among_many(goals: str) -> None:
    """4 limbs in a rig of 300 other bones, with targets of two kinds: whole frames."""
    found = []
    for pose in (Limbs.pose_by_nothing, Limbs.pose_by_constraints, Limbs.pose_by_chains, put_on_rig):
        limbs = moving_limbs(4)
        add_bones(limbs, 300)
        if goals != "objects":
            limbs.aim_at_bones()
        found.append(1e3 * measure(partial(pose, limbs)))
    nothing, constraint, live, rig = found
    print(f"4 among 300 bones, targets {goals}, whole frame in ms: nothing {nothing:.3f}, constraint {constraint:.3f}")
    print(f"    live {live:.3f}, rig {rig:.3f}, {rig / constraint:.2f} of the constraint's (bar 0.7)", flush=True)


def many_rigs(count: int) -> None:
    """So many rigs of one limb each: what is added to a frame."""
    rigs = moving_rigs(count)
    nothing = measure(lambda: None)
    found = []
    for pose in (Limbs.pose_by_constraints, Limbs.pose_by_chains, None):
        for limbs in rigs if pose else ():
            pose(limbs)
        if not pose:
            make_portable([lower for limbs in rigs for lower in limbs.lowers()])
        found.append(1e6 * (measure(lambda: None) - nothing) / count)
    constraint, live, rig = found
    print(f"{count} rigs of one limb, added to each in us: rig {rig:.2f}, live {live:.2f}, constraint {constraint:.2f}")
    print(f"    {rig / constraint:.2f} of the constraint's (bar 0.5)", flush=True)


def put_on_rig(limbs: Limbs, **settings: object) -> None:
    """Let the limbs' chains run on the rig."""
    limbs.pose_by_chains(**settings)
    make_portable(limbs.lowers())


def make_portable(lowers: list[Any]) -> None:
    """Put live chains on the rig."""
    installed.addon("addon.native.convert").make_portable(bpy.context, lowers)
    bpy.context.view_layer.update()


def add_bones(limbs: Limbs, count: int) -> None:
    """More bones, which nothing moves."""
    bpy.context.view_layer.objects.active = limbs.rig
    bpy.ops.object.mode_set(mode="EDIT")
    for i in range(count):
        bone = limbs.rig.data.edit_bones.new(f"other{i}")
        bone.head, bone.tail = (i, 1.0, 0.0), (i, 1.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")


def measure(prepare: Callable[[], None]) -> float:
    """Seconds per frame: of each frame the best of some rounds, for what else the machine does only adds."""
    prepare()
    scene = bpy.context.scene
    best = dict.fromkeys(FRAMES, float("inf"))
    for _ in range(ROUNDS):
        for frame in FRAMES:
            start = time.perf_counter()
            scene.frame_set(frame)
            best[frame] = min(best[frame], time.perf_counter() - start)
    return sum(best.values()) / len(best)
