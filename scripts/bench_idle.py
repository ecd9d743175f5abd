"""What an event costs: where there are no chains or one, the time spent in the extension's handlers; with many chains
the whole of an edit, also beside what it costs with Blender's IK constraints.

Where a chain moves, Blender evaluates its armature once more while the handlers wait: that has its own column. Among
1,000 objects the same few lines take several times as long as in an empty scene, as Blender's own work has put them out
of the processor's cache: a function that does nothing takes 3 us there, called once more 0.3. And a chain that moves
takes some fifty calls into Blender, of about 1 us each.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any, NamedTuple

import bpy
from mathutils import Vector

from . import installed
from .bench_rigs import FRAMES, Crowd, Limbs, moving_limbs, new_object, new_rig

ROUNDS = 9
EDITS = 9
RIGS = 200


class Cost(NamedTuple):
    """Seconds of an event in the handlers, and of these what Blender takes to evaluate once more what they posed."""

    handlers: float
    blender: float


class Stopwatch:
    """Times the extension's handlers of one kind of event, and what they wait for Blender to evaluate once more."""

    def __init__(self, handlers: list[Callable[..., None]]) -> None:
        self._handlers = handlers
        self._kept = list(handlers)
        self._solving: Any = installed.addon("addon.live.solving")
        self._evaluate = self._solving._evaluate
        self._waited, self._is_within = 0.0, False
        self.spent: list[float] = []
        self.waited: list[float] = []

    def __enter__(self) -> Stopwatch:
        self._solving._evaluate = self._waiting
        ours = [each for each in self._kept if each.__module__.startswith(installed.MODULE)]
        self._handlers[:] = [each for each in self._kept if each not in ours]
        self._handlers.append(partial(self._timed, ours))
        return self

    def __exit__(self, *_: object) -> None:
        self._handlers[:] = self._kept
        self._solving._evaluate = self._evaluate

    def _waiting(self, *arguments: Any) -> None:
        start = time.perf_counter()
        self._evaluate(*arguments)
        self._waited += time.perf_counter() - start

    def _timed(self, handlers: list[Callable[..., None]], *arguments: Any) -> None:
        is_outermost, self._is_within = not self._is_within, True
        start = time.perf_counter()
        for handler in handlers:
            handler(*arguments)
        if is_outermost:  # an edit calls them once more when what they posed is evaluated
            self.spent.append(time.perf_counter() - start)
            self.waited.append(self._waited)
            self._waited, self._is_within = 0.0, False

    def clear(self) -> None:
        """Forget what was timed so far."""
        self.spent.clear()
        self.waited.clear()

    def medians(self) -> Cost:
        """The median event."""
        return Cost(*(median(each or [0.0]) for each in (self.spent, self.waited)))


def main() -> None:
    print("us per event, best of the rounds' medians")
    print(f"{'':44}{'frame':>8}{'Blender':>9}{'edit':>8}{'Blender':>9}{'ours, bar':>11}")
    limbs = moving_limbs(1)
    report("an armature, no chain", limbs, 10)
    limbs = moving_limbs(100)
    for i in range(1000):
        new_object(f"other{i}")
    report("an armature of 201 bones and 1101 objects", limbs, 30)
    limbs = moving_limbs(1)
    limbs.pose_by_chains()
    report("one chain that moves", limbs, 80)
    report_edits_of_one_rig()
    report_edits_among_rigs()


def report_edits_of_one_rig() -> None:
    """What edits cost that concern many chains or none of them."""
    limbs = moving_limbs(50)
    limbs.pose_by_chains()
    other, empty = new_rig("Other", [(Vector(), Vector((0, 0.1, 1)), Vector((0, 0, 2)))] * 20), new_object("empty")
    base, bone = limbs.rig.pose.bones["base"], other.pose.bones["base"]
    print(f"\n50 chains of one rig{'whole edit, ms':>34}{'bar':>6}{'handlers, us':>15}{'bar':>6}{'Blender':>9}")
    for name, edit, bar, own in (
        ("moving an empty", partial(set_x, empty), 1.5, 100),
        ("turning a bone of another armature", partial(turn, bone), 1.5, 100),
        ("editing the bones of another armature", partial(set_roll, other), 1.5, 100),
        ("moving a bone that carries the limbs", partial(set_x, base), 1.5, 1500),
    ):
        whole, (handlers, blender) = cost_of(edit)
        print(f"{name:40}{1e3 * whole:14.2f}{bar:6}{1e6 * handlers:15.1f}{own:6}{1e6 * blender:9.1f}", flush=True)


def report_edits_among_rigs() -> None:
    """What edits cost in a crowd, beside what they cost with constraints."""
    costs = []
    for has_chains in (True, False):
        crowd = Crowd(RIGS)
        crowd.pose(has_chains)
        name = crowd.objects[RIGS // 2].name
        edits = (partial(select, new_object("other").name), partial(turn_base, name), partial(undo, name))
        costs.append([cost_of(edit) for edit in edits])
    head = f"{'chain, ms':>34}{'handlers':>10}{'constraint, ms':>18}{'ratio':>8}{'bar':>6}"
    print(f"\n{RIGS} rigs of 2 limbs{head}")
    names = ("selecting an unrelated object", "turning a control bone", "undo")
    for name, (ours, cost), (native, _) in zip(names, *costs, strict=True):
        print(
            f"{name:40}{1e3 * ours:12.2f}{1e3 * cost.handlers:10.2f}{1e3 * native:18.2f}{ours / native:8.2f}{2:6}",
            flush=True,
        )


def cost_of(edit: Callable[[int], None]) -> tuple[float, Cost]:
    """The median time of an edit until Blender has evaluated it, and the part of it spent in the handlers."""
    whole = []
    with Stopwatch(bpy.app.handlers.depsgraph_update_post) as watch:
        for i in range(EDITS + 1):
            start = time.perf_counter()
            edit(i)
            bpy.context.view_layer.update()
            whole.append(time.perf_counter() - start)
            if not i:  # the first may be dearer
                watch.clear()
                whole.clear()
    return median(whole), watch.medians()


def set_x(thing: Any, number: int) -> None:
    """Move an object or a bone."""
    thing.location.x = 0.01 * number


def turn(bone: Any, number: int) -> None:
    """Turn a bone."""
    bone.rotation_quaternion = (1.0, 0.02 * number, 0.0, 0.0)


def turn_base(name: str, number: int) -> None:
    """Turn the bone that carries a rig's limbs."""
    turn(bpy.data.objects[name].pose.bones["base"], number)


def set_roll(rig: Any, number: int) -> None:
    """Change how an armature is drawn, which to Blender is an edit of it."""
    rig.data.bones["base"].bbone_x = 0.1 + 0.01 * number


def select(name: str, number: int) -> None:
    """Select an object, or not."""
    bpy.data.objects[name].select_set(number % 2 == 0)


def undo(name: str, number: int) -> None:
    """Undo an edit of one rig, or redo it."""
    if not number:
        for step in range(2):
            turn_base(name, step)
            bpy.context.view_layer.update()
            bpy.ops.ed.undo_push(message="turn")
    (bpy.ops.ed.redo if number % 2 else bpy.ops.ed.undo)()


def report(name: str, limbs: Limbs, bar: int) -> None:
    rounds = [(frames(), edits(limbs)) for _ in range(ROUNDS)]
    best = [min(each) for each in zip(*rounds, strict=True)]
    print(f"{name:44}" + "".join(f"{1e6 * cost.handlers:8.1f}{1e6 * cost.blender:9.1f}" for cost in best) + f"{bar:11}")


def frames() -> Cost:
    """The median event of a playback."""
    with Stopwatch(bpy.app.handlers.frame_change_post) as watch:
        for frame in range(1, FRAMES + 1):
            bpy.context.scene.frame_set(frame)
    return watch.medians()


def edits(limbs: Limbs) -> Cost:
    """The median event of dragging a target."""
    target = limbs.targets[0]
    with Stopwatch(bpy.app.handlers.depsgraph_update_post) as watch:
        for i in range(FRAMES):
            target.location.z = 0.8 + 0.005 * i
            bpy.context.view_layer.update()
    return watch.medians()
