"""What limbs cost that stand among much else: on the rig, live, and by Blender's IK constraints."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import bpy

from . import installed
from .bench_idle import cost_of, select, turn_base
from .bench_native import measure, put_on_rig
from .bench_rigs import Crowd, Limbs, moving_limbs, new_object

OTHERS = 5000
RIGS = 200

WAYS = ("constraint", "rig", "live")


def main() -> None:
    print(f"{'whole, ms':44}{'constraint':>12}{'rig':>8}{'live':>8}{'rig ratio':>12}")
    poses: tuple[Callable[[Limbs], None], ...] = (Limbs.pose_by_constraints, put_on_rig, Limbs.pose_by_chains)
    report(f"a frame, 4 limbs among {OTHERS} objects", [frame_among_others(pose) for pose in poses])
    among = [edits_among_rigs(way) for way in WAYS]
    for name, costs in zip(
        ("selecting an unrelated object", "turning a control bone"), zip(*among, strict=True), strict=True
    ):
        report(f"{name}, {RIGS} rigs of 2 limbs", list(costs))


def report(name: str, costs: list[float]) -> None:
    """Print one row; seconds in the order of `WAYS`."""
    constraint, rig, live = (1e3 * cost for cost in costs)
    print(f"{name:44}{constraint:12.2f}{rig:8.2f}{live:8.2f}{rig / constraint:12.2f}", flush=True)


def frame_among_others(pose: Callable[[Limbs], None]) -> float:
    """A whole frame."""
    limbs = moving_limbs(4)
    for i in range(OTHERS):
        new_object(f"other{i}")
    return measure(partial(pose, limbs))


def edits_among_rigs(way: str) -> tuple[float, ...]:
    """Edits in a crowd, until Blender has evaluated them."""
    crowd = Crowd(RIGS)
    crowd.pose(way != "constraint")
    if way == "rig":
        lowers = [rig.pose.bones[f"lower{i}"] for rig in crowd.objects for i in range(2)]
        start = time.perf_counter()
        installed.addon("addon.native.convert").make_portable(bpy.context, lowers)
        bpy.context.view_layer.update()
        print(f"{2 * RIGS} limbs of {RIGS} rigs put on the rig in {time.perf_counter() - start:.1f} s")
    edits = partial(select, new_object("other").name), partial(turn_base, crowd.objects[RIGS // 2].name)
    return tuple(cost_of(edit)[0] for edit in edits)
