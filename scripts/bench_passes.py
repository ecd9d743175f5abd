"""Tasks over frames in passes: what each takes, divided by what stepping through the frames once takes."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import bpy
from mathutils import Quaternion, Vector

from . import installed
from .bench_scenes import in_mode, new_file, new_object

LIMBS = ("shin.L", "shin.R", "forearm.L", "forearm.R")

Work = Callable[[range], Any]


def character(frames: int) -> Any:
    """A rig of 20 bones with four limbs that walks by FK, keyed in every tenth frame."""
    new_file(frames)
    rig = new_object("Character", bpy.data.armatures.new("Character"))
    in_mode("EDIT", rig)
    edited = rig.data.edit_bones

    def bone(name: str, head: Any, tail: Any, parent: str = "") -> None:
        new = edited.new(name)
        new.head, new.tail = head, tail
        new.parent = edited[parent] if parent else None

    bone("hips", (0, 0, 1), (0, 0, 1.1))
    bone("spine", (0, 0, 1.1), (0, 0, 1.3), "hips")
    bone("chest", (0, 0, 1.3), (0, 0, 1.5), "spine")
    bone("head", (0, 0, 1.5), (0, 0, 1.7), "chest")
    for side, x in ((".L", 1.0), (".R", -1.0)):
        bone(f"thigh{side}", (0.1 * x, 0, 1), (0.1 * x, -0.03, 0.55), "hips")
        bone(f"shin{side}", (0.1 * x, -0.03, 0.55), (0.1 * x, 0.02, 0.1), f"thigh{side}")
        bone(f"foot{side}", (0.1 * x, 0.02, 0.1), (0.1 * x, -0.12, 0.02), f"shin{side}")
        bone(f"toe{side}", (0.1 * x, -0.12, 0.02), (0.1 * x, -0.2, 0.02), f"foot{side}")
        bone(f"shoulder{side}", (0.03 * x, 0, 1.45), (0.15 * x, 0, 1.45), "chest")
        bone(f"upper_arm{side}", (0.15 * x, 0, 1.45), (0.42 * x, 0.02, 1.44), f"shoulder{side}")
        bone(f"forearm{side}", (0.42 * x, 0.02, 1.44), (0.67 * x, -0.01, 1.45), f"upper_arm{side}")
        bone(f"hand{side}", (0.67 * x, -0.01, 1.45), (0.75 * x, -0.01, 1.45), f"forearm{side}")
    in_mode("OBJECT", rig)
    chance = random.Random(1)  # noqa: S311
    for frame in range(1, frames + 10, 10):
        for posed in rig.pose.bones:
            bends = posed.name.startswith(("shin", "forearm"))
            axis = (1.0, 0.0, 0.0) if bends else [chance.uniform(-1, 1) for _ in range(3)]
            posed.rotation_quaternion = Quaternion(axis, chance.uniform(0.1, 1.0) if bends else chance.uniform(0, 0.5))
            posed.keyframe_insert("rotation_quaternion", frame=frame)
        rig.pose.bones["hips"].location = [chance.uniform(-0.1, 0.1) for _ in range(3)]
        rig.pose.bones["hips"].keyframe_insert("location", frame=frame)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    in_mode("POSE", rig)
    return rig


def limbs() -> list[Any]:
    return [bpy.data.objects["Character"].pose.bones[name] for name in LIMBS]


def added(frames: int, keyed: str = "LEAVE") -> Any:
    """The character with IK on its limbs."""
    character(frames)
    return add(keyed)


def add(keyed: str) -> Any:
    adding = installed.addon("tasks.adding")
    requests = [adding.LimbRequest(limb) for limb in limbs()]
    return adding.add(bpy.context, requests, keyed=keyed, mode="RIG", knee="POLE")


def with_constraints(frames: int, poles: bool) -> None:
    """The character with Blender's own IK, whose targets are keyed in every tenth frame."""
    rig = character(frames)
    chance = random.Random(2)  # noqa: S311
    for limb in limbs():
        tip = rig.matrix_world @ limb.tail
        constraint = limb.constraints.new("IK")
        constraint.chain_count, constraint.target = 2, new_object(f"target of {limb.name}")
        if poles:
            constraint.pole_target = new_object(f"pole of {limb.name}")
            ahead = -1.0 if limb.name.startswith("shin") else 1.0
            constraint.pole_target.location = limb.head + Vector((0, ahead, 0))
            constraint.pole_angle = chance.uniform(-3, 3)
        for frame in range(1, frames + 10, 10):
            constraint.target.location = tip + Vector([chance.uniform(-0.08, 0.08) for _ in range(3)])
            constraint.target.keyframe_insert("location", frame=frame)
    bpy.context.view_layer.update()


def hold_feet(frames: range) -> None:
    holding, contacts = installed.addon("tasks.holding"), installed.addon("feet.contacts")
    spans = [contacts.FrameRange(first, first + 9) for first in range(frames[10], frames[-1] - 10, 20)]
    contacts_of = [[holding.sole_contact(span) for span in spans]] * 2
    holding.hold_tips(bpy.context, limbs()[:2], contacts_of, holding.HoldOptions())


def switch_half(frames: range) -> None:
    installed.addon("tasks.snapping").switch_over(bpy.context, limbs(), "FK", frames[50:-50])


def snapped(task: str) -> Work:
    return lambda frames: getattr(installed.addon("tasks.snapping"), task)(bpy.context, limbs(), frames)


def convert(_frames: range) -> None:
    installed.addon("tasks.converting").convert(bpy.context, limbs(), mode="RIG")


def tasks() -> dict[str, tuple[Callable[[int], Any], Work]]:
    """What each task needs to be there, and the task."""
    return {
        "Add, keys kept": (character, lambda _: add("KEEP")),
        "Snap FK to IK": (lambda frames: added(frames, "KEEP"), snapped("snap_fk")),
        "Snap IK to FK": (added, snapped("snap_target")),
        "Switch over a range": (lambda frames: added(frames, "KEEP"), switch_half),
        "Hold, both feet, half of it": (lambda frames: added(frames, "KEEP"), hold_feet),
        "Solve Exactly, with poles": (lambda frames: with_constraints(frames, True), convert),
        "Solve Exactly, without poles": (lambda frames: with_constraints(frames, False), convert),
    }


def one_pass(frames: range) -> float:
    """The seconds that stepping through the frames once takes."""
    scene = bpy.context.scene
    start = time.perf_counter()
    for frame in frames:
        scene.frame_set(frame)
    return time.perf_counter() - start


def measured(count: int) -> dict[str, tuple[float, float]]:
    """The seconds that each task takes and those of a pass, before or after, whichever is longer."""
    rows = {}
    for name, (make, work) in tasks().items():
        make(count)
        frames = range(1, count + 1)
        before = min(one_pass(frames) for _ in range(2))
        start = time.perf_counter()
        work(frames)
        taken = time.perf_counter() - start
        after = min(one_pass(frames) for _ in range(2))
        rows[name] = (taken, max(before, after))
    return rows


def numbers_read() -> int:
    """How many numbers of a frame are read of the character's limbs and what they follow."""
    added(10)
    reading, controls = installed.addon("motion.reading"), installed.addon("motion.placing").controls_of(limbs())
    recording = reading.new_recording(limbs(), None, reading.bones_to_read, True, reading.Asked(controls=controls))
    return sum(array[0].size for _, array in installed.addon("motion.passing").arrays_of(recording))


def memory(few: int = 200, many: int = 1000) -> dict[str, float]:
    """The bytes that each task needs more at most for each frame more and each number that is read of it."""
    numbers, rows = numbers_read(), {}
    for name, (make, work) in tasks().items():
        peaks = []
        for count in (few, many):
            make(count)
            tracemalloc.start()
            work(range(1, count + 1))
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        rows[name] = (peaks[1] - peaks[0]) / (many - few) / numbers
    return rows
